"""The file equals the invoice to the cent, or is refused with all reasons at once."""

from __future__ import annotations

import functools
import pickle
from dataclasses import replace
from decimal import Decimal

import pandas as pd
import pytest

from billframes.ebilling import LedesFile, LedesProfile, ledes, ledes_check, read_ledes
from billframes.ebilling.ledes_formats import LEDES_1998B
from billframes.errors import LedesError, MissingColumnError, ParameterError

from .firm import PROFILE, frames

SAMPLE = (
    "19990225|96542|00711|0528|1684.45|19990101|19990131|For services rendered|1|F|2.00|-70|630|19990115|L510||A102|"
    "22547|Research Attorney's fees, Set off claim|24-6437381|350|Arnsley, Robert|PARTNR|423-987[]"
)
LINES = replace(PROFILE, adjustments="lines")


def ledes_lines(*args, profile=PROFILE, **options):
    return ledes(frames(*args, **options), "96542", profile=profile).lines


def rejections(given, profile=PROFILE, invoice="96542"):
    with pytest.raises(LedesError) as error:
        ledes(given, invoice, profile=profile)
    assert error.value.findings.equals(ledes_check(given, invoice, profile=profile))
    return error.value.findings.query("severity == 'rejected'")[["field", "problem"]].apply(tuple, axis=1).tolist()


def amounts(lines):
    names = ("exp_fee_inv_adj_type", "line_item_number_of_units", "line_item_unit_cost", "line_item_adjustment_amount")
    return lines[[*names, "line_item_total"]].fillna("").apply(tuple, axis=1).tolist()


def test_the_standards_sample_round_trips_byte_for_byte():
    text = "\r\n".join(["LEDES1998B[]", LEDES_1998B.heading, SAMPLE])
    assert LedesFile(read_ledes(text)).text == text


def test_a_line_of_time_has_all_24_fields():
    profile = replace(PROFILE, client_matter_id="cf_client_no", invoice_description="For services rendered")
    file = ledes(frames([(2.0, 350.0, 700.0)]), "96542", profile=profile)
    assert file.text.split("\r\n")[2] == (
        "20261105|96542|00711|0528|700.00|20261001|20261001|For services rendered|1|F|2.00||700.00|20261001|L110||A102|"
        "AL|Draft motion|24-6437381|350.00|Lovelace, Ada|PARTNR|423-987[]"
    )


def test_each_kind_of_item_has_its_line():
    lines = ledes_lines([(2.0, 350.0, 700.0), (0.33, 345.5, 114.02)], [25.1], [1000.0])
    assert amounts(lines) == [
        ("F", "2.00", "350.00", "", "700.00"),
        ("F", "0.33", "345.50", "", "114.02"),
        ("IF", "1.00", "", "1000.00", "1000.00"),
        ("E", "1.00", "25.10", "", "25.10"),
    ]
    assert set(lines["invoice_total"]) == {"1839.12"}
    fee = ledes_lines([], [], [1000.0], profile=replace(PROFILE, fixed_fees="F"))
    assert amounts(fee) == [("F", "1.00", "1000.00", "", "1000.00")]


def test_amounts_that_units_can_not_express_are_adjustments():
    lines = ledes_lines([(1.0, 350.0, 300.0), (-0.5, 350.0, -175.0), (0.0, 350.0, 0.0)], [-12.5])
    assert amounts(lines) == [
        ("F", "1.00", "350.00", "-50.00", "300.00"),
        ("IF", "1.00", "", "-175.00", "-175.00"),
        ("F", "0.00", "350.00", "", "0.00"),
        ("IE", "1.00", "", "-12.50", "-12.50"),
    ]


@pytest.mark.parametrize(
    ("hours", "rate", "amount", "units", "cost"),
    [
        (1 / 3, 300.0, 100.0, "0.3334", "299.95"),
        (2 / 3, 250.0, 166.67, "0.6667", "249.99"),
        (1 / 6, 345.5, 57.58, "0.1667", "345.44"),
        (1 / 12, 300.0, 25.0, "0.0834", "299.82"),
        (7 + 1 / 3, 999.99, 7333.26, "7.3334", "999.981"),
    ],
)
def test_hours_of_more_than_four_decimals_have_no_adjustment_of_a_cent(hours, rate, amount, units, cost):
    given = frames([(hours, rate, amount)])
    assert amounts(ledes(given, "96542", profile=PROFILE).lines) == [("F", units, cost, "", f"{amount:.2f}")]
    noted = ledes_check(given, "96542", profile=PROFILE, notes=True)
    assert noted["value"].tolist() == ([] if float(cost) == rate else [f"{cost}, not {rate:g}"])
    assert ledes_check(given, "96542", profile=PROFILE).empty


@pytest.mark.parametrize(
    "given",
    [
        frames([(1.0, 100.0, 100.0)] * 3, [50.0], amount=349.0),
        frames(amount=-250.0),
        frames([{}], invoice_state="draft"),
        frames([(1.0, 100.0, 100.0)], amount=100.01),
    ],
    ids=["below its items", "a credit note", "a draft", "above its items"],
)
def test_a_check_without_a_profile_finds_what_a_file_would_be_refused_for(given):
    with pytest.raises(LedesError, match=r"No LEDES file was made\. \d+ [A-Z_]+: .*\. [A-Z].*\.$") as error:
        ledes(given, "96542", profile=LedesProfile(law_firm_id="1"))
    assert ledes_check(given, "96542").equals(error.value.findings)


def test_a_write_down_is_refused_or_written_according_to_the_profile():
    items = ([(1.0, 100.0, 100.0)] * 3, [50.0])
    assert rejections(frames(*items, amount=349.0)) == [
        ("5 INVOICE_TOTAL", "the invoice is below its items, and adjustments in the profile is 'refuse'")
    ]
    spread = ledes_lines(*items, amount=349.0, profile=LINES)
    assert spread["line_item_adjustment_amount"].fillna("").tolist() == ["-0.34", "-0.33", "-0.33", ""]
    whole = ledes_lines(*items, amount=349.0, profile=replace(PROFILE, adjustments="invoice"))
    assert amounts(whole)[-1] == ("IF", "", "", "-1.00", "-1.00")
    assert whole["line_item_date"].iloc[-1] == whole["billing_end_date"].iloc[0] == "20261105"
    for lines in (spread, whole):
        assert sum(map(Decimal, lines["line_item_total"])) == Decimal("349.00")


def test_a_write_down_of_more_than_the_fees_is_not_spread():
    given = frames([(1.0, 100.0, 100.0)], [500.0], amount=200.0)
    assert rejections(given, LINES) == [
        ("5 INVOICE_TOTAL", "the write-down is more than the fees it would be spread over")
    ]
    all_fees = ledes_lines([(1.0, 100.0, 100.0)], [500.0], amount=500.0, profile=LINES)
    assert all_fees["line_item_total"].tolist() == ["0.00", "500.00"]


def test_an_invoice_above_its_items_is_always_refused():
    for adjustments in ("refuse", "invoice", "lines"):
        profile = replace(PROFILE, adjustments=adjustments)
        assert rejections(frames([(1.0, 100.0, 100.0)], amount=100.01), profile) == [
            ("5 INVOICE_TOTAL", "the invoice is above its items")
        ]


def test_a_credit_note_is_one_adjustment():
    given = frames(amount=-250.0)
    found = rejections(given)
    assert ("5 INVOICE_TOTAL", "the invoice is a credit note") in found
    assert ("9 LINE_ITEM_NUMBER", "the invoice has no lines") in found
    lines = ledes(given, "96542", profile=replace(PROFILE, adjustments="invoice", credit_notes=True)).lines
    assert amounts(lines) == [("IF", "", "", "-250.00", "-250.00")]


def test_an_invoice_of_several_matters_names_each():
    lines = ledes_lines([(1.0, 350.0, 350.0), {"matter_id": "m2"}])
    assert lines["law_firm_matter_id"].tolist() == ["0528", "0529"]


def test_time_that_bills_nothing_is_left_out_and_listed():
    entries = [{}, {"billing_type": "nonBillable", "rate": None, "amount": None}]
    entries.append({"billing_type": "fixedFee", "rate": None, "amount": None})
    file = ledes(frames(entries, amount=350.0), "96542", profile=PROFILE)
    assert len(file.lines) == 1
    assert file.left_out[["item_id", "reason"]].to_numpy().tolist() == [
        ["t2", "not billable"],
        ["t3", "covered by a fixed fee"],
    ]


@pytest.mark.parametrize("state", ["draft", "review"])
def test_only_final_and_approved_invoices_are_written(state):
    assert rejections(frames([{}], invoice_state=state)) == [("2 INVOICE_NUMBER", f"the invoice's state is {state}")]
    assert len(ledes_lines([{}], invoice_state="approved")) == 1


def test_hidden_rates_are_one_finding_and_a_missing_rate_another():
    hidden = {"rate": None, "amount": None}
    assert ("21 LINE_ITEM_UNIT_COST", "rates are hidden") in rejections(frames([hidden, hidden], amount=700.0))
    assert ("21 LINE_ITEM_UNIT_COST", "the rate or amount is missing or too large") in rejections(frames([{}, hidden]))


def test_a_finding_of_an_item_on_a_draft_names_the_draft():
    given = frames([{}, {"rate": None, "amount": None}], invoice_state="draft")
    given["time_entries"] = given["time_entries"].assign(invoice_number="96542")
    found = ledes_check(given).set_index("item_id").loc["t2"]
    assert (found["problem"], found["invoice_number"]) == ("the rate or amount is missing or too large", "96542")


def test_a_check_of_days_has_the_items_of_its_first_and_last_day():
    days = ["2026-09-30", "2026-10-01", "2026-10-31", "2026-11-01"]
    given = frames([{"date": day, "task_code": "L100"} for day in days], invoice_state="draft")
    found = ledes_check(given, start="2026-10-01", end="2026-10-31")
    assert found["item_id"].unique().tolist() == ["t2", "t3"]


def test_all_reasons_are_reported_at_once():
    users = {"u1": {"initials": None}, "u3": {}}
    matters = {"m1": {"reference": None, "client_reference": "R" * 21, "ledes_task_code_required": True}}
    given = frames(
        [{"task_code": None}, {"task_code": "L100"}, {"task_code": "P100", "user_id": "u3"}],
        amount=9999.0,
        invoice_state="draft",
        matters=matters,
        users=users,
    )
    assert rejections(given) == [
        ("2 INVOICE_NUMBER", "the invoice's state is draft"),
        ("3 CLIENT_ID", "has 21 characters; the format takes 20"),
        ("4 LAW_FIRM_MATTER_ID", "is empty"),
        ("5 INVOICE_TOTAL", "the invoice is above its items"),
        ("15 LINE_ITEM_TASK_CODE", "missing"),
        ("15 LINE_ITEM_TASK_CODE", "not selectable"),
        ("15 LINE_ITEM_TASK_CODE", "outside the code sets"),
        ("18 TIMEKEEPER_ID", "is empty"),
        ("18 TIMEKEEPER_ID", "is empty"),
        ("23 TIMEKEEPER_CLASSIFICATION", "is empty"),
    ]


def test_the_profile_supplies_values_that_the_records_lack():
    profile = LedesProfile(
        law_firm_id="24",
        client_id="GRANITE",
        matter_ids={"m1": "M-1"},
        timekeeper_ids={"CY@firm.example": "77"},
        timekeeper_names={"u3": "Clay-Smith, Cyril"},
        classifications={"timekeeper": "LGLAST"},
    )
    matters = {"m1": {"reference": "R" * 21, "client_reference": None}}
    lines = ledes_lines([{"user_id": "u3"}], profile=profile, matters=matters)
    names = ("client_id", "law_firm_matter_id", "timekeeper_id", "timekeeper_name", "timekeeper_classification")
    assert [lines[name].iloc[0] for name in names] == ["GRANITE", "M-1", "77", "Clay-Smith, Cyril", "LGLAST"]


def test_a_client_with_its_own_ids_needs_one_for_every_timekeeper():
    profile = replace(PROFILE, timekeeper_ids="cf_own_id")
    assert ledes_lines([{}], profile=profile)["timekeeper_id"].tolist() == ["T-1"]
    assert rejections(frames([{"user_id": "u2"}]), profile) == [("18 TIMEKEEPER_ID", "is empty")]
    with pytest.raises(MissingColumnError, match="cf_own"):
        ledes_lines([{}], profile=replace(PROFILE, timekeeper_ids="cf_owned"))


def test_the_clients_matter_number_is_required_if_the_profile_names_its_field():
    profile = replace(PROFILE, client_matter_id="cf_client_no")
    given = frames([{}], matters={"m1": {"cf_client_no": None}})
    assert rejections(given, profile) == [("24 CLIENT_MATTER_ID", "the client's number of the matter is missing")]
    profile = replace(profile, client_matter_ids={"0528": "CL-9"})
    assert ledes(given, "96542", profile=profile).lines["client_matter_id"].tolist() == ["CL-9"]


def test_two_people_never_share_an_id():
    users = {"u2": {"initials": "AL"}}
    given = frames([{}, {"user_id": "u2"}], users=users)
    assert rejections(given) == [("18 TIMEKEEPER_ID", "is the id of two people")]


def test_a_profile_of_another_client_is_refused():
    given = frames([{}])
    given["invoices"] = given["invoices"].assign(client_name="Granite")
    assert rejections(given, replace(PROFILE, client="Basalt")) == [
        ("3 CLIENT_ID", "the invoice is for Granite, and the profile is for Basalt")
    ]
    for own in ("Granite", "00711", "c1"):
        given = frames([{}])
        given["invoices"] = given["invoices"].assign(client_name="Granite", client_reference="00711")
        assert len(ledes(given, "96542", profile=replace(PROFILE, client=own)).lines) == 1


def test_items_of_another_client_are_refused():
    problem = "the invoice is for c1, and has items for c2"
    assert ("3 CLIENT_ID", problem) in rejections(frames([{"client_id": "c2"}]))


def test_numbers_that_two_invoices_have_are_refused():
    given = frames([{}])
    twin = given["invoices"].assign(invoice_id="i2")
    given["invoices"] = pd.concat([given["invoices"], twin], ignore_index=True)
    with pytest.raises(ParameterError, match="2 invoices have the number '96542'. Give the id instead: i1, i2"):
        ledes(given, "96542", profile=PROFILE)
    assert rejections(given, invoice="i1") == [("2 INVOICE_NUMBER", "several invoices have this number")]


def test_an_unknown_invoice_is_named_with_the_nearest():
    with pytest.raises(ParameterError, match=r"no invoice '96543' among the 1 .* Did you mean '96542'"):
        ledes(frames([{}]), "96543", profile=PROFILE)


def test_a_load_of_a_period_is_named_if_items_are_missing():
    given = frames([{}], amount=350.0)
    loaded = {"resource": "time_entries", "rows": 1, "period": {"start": "2026-10-01", "end": "2026-10-31"}}
    given["time_entries"].attrs["load"] = loaded
    assert len(ledes(given, "96542", profile=PROFILE).lines) == 1
    given["invoices"]["amount"] = 300.0
    problem = "the items differ from the invoice, and time entries were loaded from 2026-10-01 to 2026-10-31 only"
    assert rejections(given, LINES) == [("5 INVOICE_TOTAL", problem)]


@pytest.mark.parametrize(
    ("load", "said"),
    [
        ({"rows": 2}, "rows of time entries were removed"),
        ({"rows": 1, "arguments": {"user_id": "u1"}}, "loaded with user_id="),
        ({"rows": 1, "arguments": {"client_id": ["c2"]}}, "loaded with client_id="),
    ],
)
def test_an_incomplete_load_is_named_if_items_are_missing(load, said):
    given = frames([{}], amount=300.0)
    given["time_entries"].attrs["load"] = load
    assert said in rejections(given, LINES)[0][1]


def test_a_filter_that_removes_no_items_of_the_invoice_is_accepted():
    given = frames([{}], amount=300.0)
    given["time_entries"].attrs["load"] = {"rows": 1, "arguments": {"client_id": ["c1"], "billed": True}}
    assert len(ledes(given, "96542", profile=LINES).lines) == 1


def test_names_in_other_scripts_are_refused_and_umlauts_reported():
    given = frames([{}], users={"u1": {"last_name": "李"}})
    assert rejections(given) == [("22 TIMEKEEPER_NAME", "has letters without a certain ASCII spelling")]
    profile = replace(PROFILE, timekeeper_names={"ada@firm.example": "Li, Ada"})
    assert ledes(given, "96542", profile=profile).lines["timekeeper_name"].tolist() == ["Li, Ada"]
    file = ledes(frames([{}], users={"u1": {"last_name": "Müller"}}), "96542", profile=PROFILE)
    assert file.findings[["severity", "value"]].to_numpy().tolist() == [
        ["often rejected", "Müller, Ada: written Muller, Ada"]
    ]
    assert repr(file) == "<LEDES 1998B file: invoice 96542, 1 line, 1 finding>"


def test_descriptions_are_converted_to_ascii_and_the_changes_listed():
    words = "Café – “§ 5” | re: [] \r\nbrief"
    file = ledes(frames([{"description": words}]), "96542", profile=PROFILE)
    assert file.lines["line_item_description"].tolist() == ['Cafe - "Sec. 5" / re: () brief']
    assert file.changed["item_id"].tolist() == ["t1"]
    assert rejections(frames([{"description": "Αίτηση"}])) == [
        ("19 LINE_ITEM_DESCRIPTION", "has letters without a certain ASCII spelling")
    ]


def test_a_long_description_is_reported_or_refused():
    given = frames([{"description": "x" * 1_025}])
    assert ledes(given, "96542", profile=PROFILE).findings["problem"].tolist() == [
        "has 1,025 characters; some portals take 1,024"
    ]
    assert rejections(given, replace(PROFILE, max_description=500)) == [
        ("19 LINE_ITEM_DESCRIPTION", "has 1,025 characters; the client's portal takes 500")
    ]


def test_unread_codes_are_refused():
    given = frames([{}], [10.0])
    given["expenses"] = given["expenses"].drop(columns="expense_code")
    assert rejections(given) == [("16 LINE_ITEM_EXPENSE_CODE", "its code is not known: the API's lists have none")]


def test_a_profile_may_require_codes_that_the_matter_does_not():
    assert rejections(frames([{"task_code": None}]), replace(PROFILE, require=["task"])) == [
        ("15 LINE_ITEM_TASK_CODE", "missing")
    ]


@pytest.mark.parametrize("engine", ["polars", "arrow"])
def test_frames_of_other_engines_give_the_same_file(engine):
    import polars as pl
    import pyarrow as pa

    to_arrow = functools.partial(pa.Table.from_pandas, preserve_index=False)
    convert = {"polars": pl.from_pandas, "arrow": to_arrow}[engine]
    given = frames([(1 / 3, 300.0, 100.0)], [25.1])
    others = {name: convert(each) for name, each in given.items()}
    assert ledes(others, "96542", profile=PROFILE).text == ledes(given, "96542", profile=PROFILE).text


def test_missing_frames_and_columns_are_refused():
    given = frames([{}])
    with pytest.raises(ParameterError, match="The frames lack expenses"):
        ledes({**given, "expenses": None}, "96542", profile=PROFILE)
    with pytest.raises(MissingColumnError, match="time_entries has no column 'rate'"):
        ledes({**given, "time_entries": given["time_entries"].drop(columns="rate")}, "96542", profile=PROFILE)
    with pytest.raises(ParameterError, match="list is neither a book nor frames"):
        ledes([], "96542", profile=PROFILE)


def test_the_file_is_saved_completely_and_does_not_replace_another(tmp_path):
    file = ledes(frames([{}]), "96542", profile=PROFILE)
    path = file.save(tmp_path / "96542.txt")
    assert path.read_bytes() == file.text.encode("ascii")
    assert path.read_bytes().count(b"\r\n") == 2
    with pytest.raises(ParameterError, match="exists already"):
        file.save(path)
    path.write_text("")
    assert file.save(path, overwrite=True).read_bytes() == file.text.encode("ascii")
    for name, said in (("a.csv", "does not end with .txt"), ("no/a.txt", "there is no folder")):
        with pytest.raises(ParameterError, match=said):
            file.save(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == ["96542.txt"]


def test_lines_with_invalid_characters_are_not_written(tmp_path):
    lines = ledes(frames([{}]), "96542", profile=PROFILE).lines
    file = LedesFile(lines.assign(line_item_description="a|b"))
    with pytest.raises(LedesError, match="line_item_description"):
        file.save(tmp_path / "x.txt")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(MissingColumnError, match="'invoice_date'"):
        LedesFile(lines.drop(columns="invoice_date"))


def test_the_error_is_pickled_with_its_findings():
    with pytest.raises(LedesError) as error:
        ledes(frames([{}], invoice_state="draft"), "96542", profile=PROFILE)
    again = pickle.loads(pickle.dumps(error.value))
    assert (
        str(again)
        == str(error.value)
        == ("No LEDES file was made. 2 INVOICE_NUMBER: the invoice's state is draft. Make the invoice final first.")
    )
    assert again.findings.equals(error.value.findings)


def test_a_file_is_displayed_in_a_notebook():
    file = ledes(frames([{}], users={"u1": {"last_name": "<b>"}}), "96542", profile=PROFILE)
    assert repr(file) == "<LEDES 1998B file: invoice 96542, 1 line>"
    assert "&lt;b&gt;" in file._repr_html_()
    assert file.totals == {"96542": Decimal("350.00")}


def test_no_findings_have_all_columns_and_types():
    none, some = ledes_check(frames([{}]), "96542"), ledes_check(frames([{}], invoice_state="draft"), "96542")
    assert len(none) == 0
    assert dict(none.dtypes) == dict(some.dtypes)


def test_a_first_file_without_a_profile_says_what_only_the_firm_knows(october_book):
    with pytest.raises(ParameterError, match=r"pass profile=bf.ebilling.LedesProfile\(law_firm_id='06-1234567'\)"):
        ledes(october_book, "11819")
