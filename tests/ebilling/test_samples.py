"""Files of other software, each with what must come of it. Their amounts were calculated by hand."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from billframes.ebilling import LedesFile, LedesProfile, ledes_check, ledes_format, read_ledes
from billframes.errors import LedesFormatError

SAMPLES = Path(__file__).parent / "samples"
REJECTED, OFTEN = "rejected", "often rejected"
WRONG_FORMAT = (0, REJECTED)
NEGATIVE = [(11, OFTEN), (5, OFTEN)]

# The file, its format, the number of lines, the totals and taxes of its invoices, and its findings by field.
CASES = [
    ("ledes1998b", "1998B", 3, ["1241.40"], ["0"], []),
    ("ledes1998b_two_clients", "1998B", 4, ["1241.40", "400.00"], ["0", "0"], []),
    ("ledes1998b_vat_line", "1998B", 4, ["1489.68"], ["248.28"], []),
    ("ledes1998b_numbers", "1998B", 4, ["1241.90"], ["0"], []),
    ("whole-numbers-with-a-point", "1998B", 6, ["1684.45", "1250"], ["0", "0"], []),
    ("ledes1998b_code_families", "1998B", 10, ["400.00"], ["0"], []),
    ("ledes1998b_one_invoice_two_matters", "1998B", 2, ["600.00"], ["0"], []),
    ("client-id-by-matter", "1998B", 2, ["1260"], ["0"], []),
    (
        "ledes1998b_wrong_fields",
        "1998B",
        6,
        ["1640.00"],
        ["0"],
        [(15, REJECTED)] * 2 + [(16, OFTEN)] + [(16, REJECTED)] * 2 + [(17, REJECTED)] * 2,
    ),
    ("ledes1998b_first_space", "1998B", 3, ["1241.40"], ["0"], [WRONG_FORMAT]),
    ("ledes1998b_first_semicolon", "1998B", 3, ["1241.40"], ["0"], [WRONG_FORMAT]),
    ("ledes1998b_first_noend", "1998B", 3, ["1241.40"], ["0"], [WRONG_FORMAT]),
    ("another-first-line", "1998B", 1, ["630"], ["0"], [WRONG_FORMAT]),
    ("ledes1998b_first_lower", "1998B", 3, ["1241.40"], ["0"], []),
    ("ledes1998b_cp1252", "1998B", 3, ["1241.40"], ["0"], [(0, OFTEN), (19, REJECTED)]),
    ("ledes1998b_utf16", "1998B", 3, ["1241.40"], ["0"], [(0, REJECTED), (19, REJECTED)]),
    ("ledes1998b_credit_note", "1998B", 2, ["-1050.00"], ["0"], NEGATIVE),
    ("98BI-V2", "98BI", 1, ["717.41"], ["41.41"], []),
    ("ledes98bi_v2_vat", "98BI", 3, ["1489.68"], ["248.28"], []),
    ("ledes98bi_v2_hst", "98BI", 3, ["1402.78"], ["161.38"], []),
    ("ledes98bi_v2_no_tax", "98BI", 3, ["1241.40"], ["0"], []),
    ("ledes98bi_v2_mixed_rates", "98BI", 3, ["1472.60"], ["231.20"], []),
    ("ledes98bi_v2_flat_fee", "98BI", 1, ["1500.00"], ["250.00"], []),
    ("ledes98bi_v2_credit_note", "98BI", 2, ["-1302.48"], ["-217.08"], [*NEGATIVE, (11, OFTEN)]),
    ("ledes98bi_v2_bad_rate_as_percent", "98BI", 3, ["1489.68"], ["248.28"], [(48, REJECTED)] * 3),
    ("ledes98bi_v2_bad_tax_total", "98BI", 3, ["1489.68"], ["248.28"], [(28, OFTEN), (29, OFTEN)]),
    (
        "ledes98bi_v2_bad_totals_without_tax",
        "98BI",
        3,
        ["1241.40"],
        ["248.28"],
        [(13, REJECTED)] * 3 + [(29, OFTEN)],
    ),
    *((f"ledes98bi_first_{each}", "98BI", 3, ["1489.68"], ["248.28"], [(0, OFTEN)]) for each in "abc"),
    ("ledes98bi_v1_51_fields", "98BI 51 fields", 3, ["1489.68"], ["248.28"], [(0, OFTEN)]),
    *((f"ledesxml_2_{n}", f"XML 2.{n}", 3, ["1489.68"], ["248.28"], []) for n in range(3)),
    ("ledes2000", "2000", 3, ["1241.40"], ["0"], []),
]


def path_of(name):
    return next(SAMPLES.glob(f"{name}.*"))


@pytest.mark.parametrize(
    ("name", "form", "count", "totals", "taxes", "findings"), CASES, ids=lambda each: str(each)[:40]
)
def test_a_file_of_other_software_is_read_and_judged(name, form, count, totals, taxes, findings):
    path = path_of(name)
    assert ledes_format(path) == ledes_format(path.read_bytes()) == form
    file = LedesFile(read_ledes(path))
    assert len(file.lines) == count
    assert list(file.totals.values()) == list(map(Decimal, totals))
    assert list(file.taxes.values()) == list(map(Decimal, taxes))
    found = ledes_check(path)
    numbers = [0 if field == "the file" else int(field.split()[0]) for field in found["field"]]
    assert Counter(zip(numbers, found["severity"], strict=True)) == Counter(findings)
    assert found["invoice_number"].dropna().isin(file.totals).all()


def test_every_sample_is_in_the_table():
    assert {path_of(name) for name, *_ in CASES} | {path_of("ledesxml_doctype_refused")} == {*SAMPLES.iterdir()}


@pytest.mark.parametrize("name", ["ledes98bi_v2_vat", "ledesxml_2_1", "ledes1998b_utf16", "ledes2000"])
def test_a_path_the_text_and_the_bytes_are_read_alike(name):
    path = path_of(name)
    content = path.read_bytes()
    text = content.decode("utf-16" if "utf16" in name else "iso-8859-1")
    for source in (str(path), content, text):
        assert read_ledes(source).equals(read_ledes(path))
    assert ledes_check(content).equals(ledes_check(path))
    if "utf16" not in name:
        assert ledes_check(text).equals(ledes_check(path))


def test_letters_of_windows_are_read_as_they_were_written():
    for name in ("ledes1998b_cp1252", "ledes1998b_utf16"):
        assert "Müller’s “final” offer – € 5,000 cap" in read_ledes(path_of(name))["line_item_description"][0]
    undefined = path_of("ledes1998b_cp1252").read_bytes().replace(b"Draft", b"Dr\x81ft")
    assert read_ledes(undefined)["line_item_description"][0].startswith("Dr\x81ft")


def test_xml_is_read_with_the_fields_of_98bi():
    xml, text = read_ledes(path_of("ledesxml_2_1")), read_ledes(path_of("ledes98bi_v2_vat"))
    assert tuple(xml.columns) == tuple(text.columns)
    same = ["invoice_date", "line_item_total", "line_item_tax_total", "line_item_tax_type", "timekeeper_name"]
    same += ["line_item_task_code", "line_item_expense_code", "client_name", "client_city", "law_firm_name"]
    same += ["matter_name"]
    assert xml[same].equals(text[same])
    assert xml["law_firm_country"].tolist() == ["GBR"] * 3


def test_a_document_type_that_could_define_entities_is_refused():
    for read in (ledes_format, read_ledes, ledes_check):
        with pytest.raises(LedesFormatError, match="refused: its document type could define entities"):
            read(path_of("ledesxml_doctype_refused"))


def test_codes_of_no_known_shape_and_lines_of_tax_are_notes():
    found = ledes_check(path_of("ledes1998b_code_families"), notes=True)
    assert found[["severity", "value"]].to_numpy().tolist() == [["note", "CLIENT-7"]]
    tax = ledes_check(path_of("ledes1998b_vat_line"), notes=True)
    assert tax[["severity", "line", "value"]].to_numpy().tolist() == [["note", 6, "248.28"]]
    own = path_of("ledes1998b_vat_line").read_bytes().replace(b"|E124|", b"|L210|")
    assert ledes_check(own)["problem"].tolist() == ["is a task code, not an expense code"]
    assert ledes_check(own, profile=LedesProfile(law_firm_id="-", tax_codes=["L210"])).empty
