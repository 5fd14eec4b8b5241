"""XML e-bills are read within limits, and what can't be calculated is missing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from billframes.ebilling import ledes_check, ledes_format, parsed_file, read_ledes
from billframes.errors import IncompleteDataWarning, LedesFormatError, ParameterError

GOOD = (Path(__file__).parent / "samples" / "ledesxml_2_1.xml").read_text(encoding="utf-8")
EXTERNAL = '<!DOCTYPE ledesxml SYSTEM "http://www.ledes.org/ledes2000.dtd">'


def changed(before, after):
    assert before in GOOD
    return GOOD.replace(before, after)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("<units>2.50", "<units>2.60", [("13", "rejected"), ("13", "often rejected")]),
        ("<base_amount>1000.00", "<base_amount>990.00", [("13", "often rejected")]),
        ("<inv_total_net_due>1489.68", "<inv_total_net_due>1500.00", [("5", "rejected")]),
        ("<inv_total_tax>248.28", "<inv_total_tax>240.00", [("5", "rejected"), ("28", "often rejected")]),
        ("<inv_total_tax>248.28", "<inv_total_tax>248.27", []),
        ("detail_fees>1156.00</", "detail_fees>1100.00</", [("5", "often rejected")]),
        ("<task_code>L210", "<task_code>A103", [("15", "rejected")]),
        ("2026-03-03", "2026-02-30", [("14", "rejected")]),
        ("2026-03-03", "2026-04-03", [("14", "rejected")]),
        ("<total_amount>85.40", "<total_amount>85,40", [("13", "rejected")]),
        ("<tk_id>MV01</tk_id><tk_level>PARTNR</tk_level><charge", "<charge", [("18", "often rejected")] * 3),
        ("<charge_desc>Draft", "<charge_desc>Entwürfe: Draft", []),
    ],
)
def test_a_wrong_value_is_found(before, after, found):
    result = ledes_check(changed(before, after))
    numbers = [
        (field.split()[0], severity) for field, severity in zip(result["field"], result["severity"], strict=True)
    ]
    if found == [("18", "often rejected")] * 3:
        # Without its id a fee has no person: neither id nor name nor classification.
        assert numbers == [("18", "often rejected"), ("22", "often rejected"), ("23", "often rejected")]
    else:
        assert sorted(numbers) == sorted(found)
    assert (result["invoice_number"].dropna() == "601").all()


@pytest.mark.parametrize("tag", ["<tax_tiers>N", "<tax_on_tax>N", "<increase_decrease>Increase"])
def test_a_tax_that_is_more_than_a_rate_is_missing_and_noted(tag):
    text = changed(tag, f"{tag[: tag.index('>') + 1]}{'Decrease' if 'Increase' in tag else 'Y'}")
    with pytest.warns(IncompleteDataWarning, match="the taxes of 3 items are more than a rate"):
        lines = read_ledes(text)
    assert lines["line_item_total"].isna().all()
    assert lines["line_item_tax_total"].isna().all()
    assert ledes_check(text).empty
    assert ledes_check(text, notes=True)["severity"].tolist() == ["note"]


def test_an_adjustment_of_a_matter_is_a_line():
    adjustment = (
        "<matter_disc_cred><disc_cred>MIA</disc_cred><disc_cred_category>Fee</disc_cred_category>"
        "<increase_decrease>Decrease</increase_decrease><disc_cred_amount>100.00</disc_cred_amount></matter_disc_cred>"
    )
    text = changed("</matter>", f"{adjustment}</matter>").replace("1489.68</inv", "1389.68</inv")
    last = read_ledes(text).iloc[-1]
    assert last[["exp_fee_inv_adj_type", "line_item_adjustment_amount", "line_item_total"]].tolist() == [
        "IF",
        "-100.00",
        "-100.00",
    ]
    assert ledes_check(text).empty


def test_the_declared_encoding_is_used_for_bytes_only():
    text = changed("Draft answer", "Entwürfe").replace('encoding="utf-8"', 'encoding="iso-8859-1"')
    for source in (text, text.encode("iso-8859-1")):
        assert read_ledes(source)["line_item_description"][0].startswith("Entwürfe")
    assert (
        ledes_format(changed("utf-8", "utf-16").encode("utf-16"))
        == ledes_format(b"\xef\xbb\xbf" + GOOD.encode())
        == "XML 2.1"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "{"&a;" * 50}">]>' + GOOD, "document type could define entities"),
        (f"{EXTERNAL}<!-- {GOOD}", "damaged"),
        ("<!DOCTYPE ledesxmlebilling2.1 SYSTEM 'x.dtd'><ledesxmlebilling2.1/>", "document type could define entities"),
        (f"{EXTERNAL}<ledesxml>&boom;</ledesxml>", "uses the entity 'boom'"),
        ("<ledesxml>" + "<a>" * 200, "nested too deeply"),
        (GOOD[:2000], "damaged"),
        (GOOD.replace("</invoice>", ""), "damaged"),
        ("<ledesxml>\x00</ledesxml>", "damaged"),
        ("<html><body>404</body></html>", "begins with: <html><body>404"),
        ("<ledesxmlebilling2.9/>", "begins with: <ledesxmlebilling2.9/>"),
        ("<?xml version='1.0' encoding='klingon'?><ledesxml/>", "its XML is damaged (unknown encoding"),
        ("", "it is empty"),
        ("\n\n", "it is empty"),
        (
            "PK\x03\x04 no e-bill of any kind whatsoever, and long\n",
            "no e-bill of any kind whatsoever, a",
        ),
        ("a|b|c\n1|2|3\n", "begins with: a|b|c"),
    ],
)
def test_another_file_is_refused_with_one_sentence(text, said):
    for read in (read_ledes, ledes_check):
        with pytest.raises(LedesFormatError) as error:
            read(text.encode())
        assert said in str(error.value)
        assert len(str(error.value)) < 200


def test_a_file_without_a_bill_has_no_rows():
    with pytest.warns(IncompleteDataWarning, match="there is no line of a bill"):
        assert len(read_ledes("<ledesxml></ledesxml>")) == 0


def test_many_elements_and_long_texts_stop_soon(monkeypatch):
    monkeypatch.setattr(parsed_file, "_MANY", 100)
    monkeypatch.setattr(parsed_file, "_LINES", 10)
    head = "<ledesxml><client><invoice><matter>"
    tail = "</matter></invoice></client></ledesxml>"
    with pytest.raises(ParameterError, match="the lines have fewer than 60 characters"):
        read_ledes(f"{head}{'<fee/>' * 2000}{tail}")
    begun = time.process_time()
    with pytest.raises(LedesFormatError, match="a text in it has more than 10,000,000 characters"):
        read_ledes(f"{head}<fee><charge_desc>{'x' * 11_000_000}</charge_desc></fee>{tail}")
    with pytest.raises(ParameterError, match="more than 1,000 bytes"):
        ledes_format(GOOD, max_bytes=1000)
    found = ledes_check(f"{head}{'<fee/>' * 50}{tail}", max_findings=20)
    assert len(found) == 21
    assert time.process_time() - begun < 5
