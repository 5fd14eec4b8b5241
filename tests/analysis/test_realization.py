"""Realization by invoice date and by work date, compared with figures worked out by hand."""

from __future__ import annotations

import functools

import pandas as pd
import pytest

from billframes.analysis import realization
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning
from tests.analysis.conftest import Firm

COLUMNS = [
    "worked_amount",
    "billed_amount",
    "write_down_amount",
    "billing_realization",
    "settled_amount",
    "settlement_ratio",
    "overall_realization",
    "billable_hours",
    "effective_rate",
]
COHORT = ["unbilled_amount", "prebill_amount", "unknown_amount", "cohort_amount", "billed_to_worked"]
LEFT_OUT = ["left_out_hours", "left_out_amount", "left_out_billed_amount", "mixed_amount"]
DUE = ["due_amount", "due_settled_amount", "due_settlement_ratio"]

# i1 covers two matters, i2 is a draft, i3 a credit note, i4 all fixed fee, i6 has contingency work on it.
WORK = (
    ("2026-08-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "billable", 3.0, 600.0, "i1"),
    ("2026-09-02", "u1", "c1", "m1", "nonBillable", 1.0, None, "i1"),
    ("2026-09-03", "u2", "c1", "m2", "fixedFee", 4.0, None, "i1"),
    ("2026-10-03", "u1", "c1", "m1", "billable", 1.0, 300.0, "i2"),
    ("2026-10-15", "u1", "c3", "m2", "billable", 2.0, 500.0, "i5"),
    ("2026-10-10", "u2", "c1", "m1", "billable", 1.0, 200.0, None),
    ("2026-10-01", "u2", "c1", "m5", "billable", 1.0, 300.0, "i6"),
    ("2026-10-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i6"),
)
INVOICES = (
    ("i1", "2026-10-05", "final", "2026-11-04", "c1", 1500.0, 750.0),
    ("i2", "2026-10-06", "draft", None, "c1", 300.0, 300.0),
    ("i3", "2026-10-20", "final", "2026-11-04", "c1", -200.0, -50.0),
    ("i4", "2026-10-25", "final", "2026-11-04", "c3", 900.0, 0.0),
    ("i5", "2026-11-02", "final", "2026-11-04", "c3", 500.0, 500.0),
    ("i6", "2026-10-30", "final", "2026-11-04", "c1", 900.0, 0.0),
)
EXPENSES = (("m1", "u1", 100.0, "i1"), ("m1", None, 77.0, None))
FEES = (("m2", "u2", 400.0, "i1"), ("m2", None, 900.0, "i4"))


def run(firm, work=WORK, bills=INVOICES, **options):
    options = {"start": "2026-10", "matters": firm.matters()} | options
    result = realization(
        firm.entries(*work),
        expenses=firm.items(*EXPENSES),
        fixed_fees=firm.items(*FEES),
        invoices=firm.invoices(*bills),
        **options,
    )
    return firm.rows(result)


def test_the_worked_table(firm):
    """Net fees: i1 1500 - 100 - 400 = 1000, i3 -200, i4 0, i6 900 of which a third is contingency work."""
    (row,) = run(firm)
    assert list(row) == [*COLUMNS, "unknown_amount", *LEFT_OUT]
    assert list(row.values()) == pytest.approx(
        [
            1800.0,
            1400.0,
            400.0,
            1400 / 1800,
            950.0,
            950 / 1400,
            950 / 1800,
            7.0,
            200.0,
            0.0,
            1.0,
            300.0,
            300.0,
            1200.0,
        ]
    )


def test_only_invoices_that_are_due_should_be_settled(firm):
    """i1 was due on the 20th and half of it is open. If i6 has no due date, its invoice date is used."""
    bills = [("i1", "2026-10-05", "final", "2026-10-20", "c1", 1500.0, 750.0), *INVOICES[1:]]
    (row,) = run(firm, bills=bills, as_of="2026-10-20")
    assert list(row) == [*COLUMNS, "unknown_amount", *LEFT_OUT, *DUE]
    assert [row[name] for name in DUE] == pytest.approx([1000.0, 500.0, 0.5])
    (early,) = run(firm, bills=bills, as_of="2026-10-19")
    assert [early[name] for name in DUE] == [0.0, 0.0, None]
    bills[-1] = ("i6", "2026-10-30", "final", None, "c1", 900.0, 0.0)
    with pytest.warns(IncompleteDataWarning, match="2 billable time entries are on final invoices without a due date"):
        (later,) = run(firm, bills=bills, as_of="2026-10-30")
    assert [later[name] for name in DUE] == pytest.approx([1600.0, 1100.0, 1100 / 1600])


def test_a_discount_falls_on_time_or_on_time_and_fixed_fees_alike(firm):
    """i1 has time of 1,200 and fixed fees of 400, billed at 1,400: at 1,000 and 400, or at seven eighths of both."""
    of_time = {row["matter_name"]: row["billed_amount"] for row in run(firm, by="matter")}
    alike = {row["matter_name"]: row["billed_amount"] for row in run(firm, by="matter", discounts="items")}
    assert of_time == pytest.approx({"Sale": 1100.0, "Lease": 500.0, "Contingent": 0.0, "Unassigned": -200.0})
    assert alike == pytest.approx({"Sale": 1125.0, "Lease": 525.0, "Contingent": 0.0, "Unassigned": -200.0})
    (row,) = run(firm, discounts="items")
    assert (row["worked_amount"], row["mixed_amount"]) == (1800.0, 1200.0)
    assert row["settled_amount"] == pytest.approx(975.0)


def test_a_discount_on_a_fixed_fee_alone_falls_on_time_or_on_the_fee(firm):
    bill = ("i4", "2026-10-25", "final", "2026-11-04", "c3", 800.0, 0.0)
    assert run(firm, (), [bill])[0]["billed_amount"] == -100.0
    assert run(firm, (), [bill], discounts="items")[0]["billed_amount"] == 0.0


def test_a_discount_on_items_of_hidden_worth_is_missing(firm):
    """Ben's hour on i1 has no amount, so the share of time is unknown; i6 has no fixed fees and is known."""
    work = [(*row[:6], None, row[7]) if row[1] == "u2" and row[7] == "i1" else row for row in WORK]
    with pytest.warns(RatesHiddenWarning) as caught:
        rows = {row["user_name"]: row for row in run(firm, work, by="user", discounts="items")}
    assert "2 billable time entries are on final invoices that also bill fixed fees" in str(caught[1].message)
    for name in ("Ada", "Ben"):
        assert [rows[name][each] for each in ("billed_amount", "settled_amount", "billing_realization")] == [None] * 3
    assert rows["Ben"]["left_out_billed_amount"] == 300.0
    assert rows["Unassigned"]["billed_amount"] == -200.0


def test_by_user_the_credit_note_is_unassigned(firm):
    rows = run(firm, by="user")
    assert [(row["user_id"], row["user_name"], row["worked_amount"], row["billed_amount"]) for row in rows] == [
        ("u1", "Ada", 1200.0, 1100.0),
        ("u2", "Ben", 600.0, 500.0),
        (None, "Unassigned", 0.0, -200.0),
    ]
    assert [row["settled_amount"] for row in rows] == pytest.approx([850.0, 250.0, -150.0])
    assert rows[-1]["billing_realization"] is None
    assert rows[-1]["effective_rate"] is None


def test_by_client_the_credit_note_is_the_clients(firm):
    rows = run(firm, by="client")
    assert [(row["client_name"], row["billed_amount"]) for row in rows] == [("Acme", 1400.0), ("Zenith", 0.0)]
    assert rows[1]["billing_realization"] is None


def test_an_invoice_over_several_matters_follows_each_entry(firm):
    rows = {row["matter_name"]: row["billed_amount"] for row in run(firm, by="matter")}
    assert rows == pytest.approx({"Sale": 1100.0, "Lease": 500.0, "Contingent": 0.0, "Unassigned": -200.0})


@pytest.fixture(scope="module")
def totals():
    """The figures of the whole firm, to which the rows by every key add up."""
    return functools.cache(lambda make, **options: run(Firm(make), **options)[0])


@pytest.mark.parametrize(
    "by",
    [
        "practice_area",
        "responsible",
        "originator",
        "matter_type",
        "role",
        "month",
        "quarter",
        "year",
        "cf_tier",
        "matter_cf_tier",
        "cf_office",
        "billing_type",
        ["user", "client", "month"],
        "matter_id",
        "client_name",
    ],
)
def test_rows_re_add_by_every_key(firm, by, totals):
    for basis, discounts in (("invoice_date", "time"), ("work_date", "items")):
        options = {"basis": basis, "discounts": discounts, "as_of": "2026-11-04"}
        total = totals(firm.make, **options)
        rows = run(firm, by=by, users=firm.users(), **options)
        for name in total:
            if not name.endswith(("realization", "ratio", "rate", "_worked")):
                assert sum(row[name] for row in rows) == pytest.approx(total[name], rel=1e-9), name


def test_labels_of_rows_without_a_key(firm):
    areas = run(firm, by="practice_area")
    assert [(row["practice_area_id"], row["practice_area_label"]) for row in areas] == [
        ("p1", "Corporate"),
        ("p2", "Litigation"),
        (None, "Unassigned"),
    ]
    kinds = [row["matter_type"] for row in run(firm, by="matter_type")]
    assert kinds == ["Unknown", "contingency", "hourly"]


def test_by_work_date_time_is_followed_to_its_invoice(firm):
    (row,) = run(firm, basis="work_date")
    assert list(row) == COLUMNS + COHORT + LEFT_OUT
    assert row["worked_amount"] == row["billed_amount"] == 1100.0
    assert [row[name] for name in COHORT] == pytest.approx([200.0, 300.0, 0.0, 1600.0, 1100 / 1600])
    assert row["settled_amount"] == 600.0
    assert [row[name] for name in LEFT_OUT] == pytest.approx([1.0, 300.0, 300.0, 0.0])


def test_an_invoice_that_was_not_passed_is_unknown(firm):
    with pytest.warns(IncompleteDataWarning, match="1 billable time entry names an invoice"):
        (row,) = run(firm, bills=INVOICES[:4] + INVOICES[5:], basis="work_date")
    assert row["unknown_amount"] == 500.0
    assert row["cohort_amount"] == 1600.0
    with pytest.warns(IncompleteDataWarning, match="1 billable time entry names an invoice"):
        (row,) = run(firm, bills=INVOICES[:4] + INVOICES[5:])
    assert row["billed_amount"] == pytest.approx(1400.0)


def test_entries_whose_invoice_date_is_in_another_period_give_no_warning(pandas_firm):
    bills = pandas_firm.invoices(*INVOICES[:4], INVOICES[5])
    dates = bills.set_index("invoice_id")["invoice_date"]
    entries = pandas_firm.entries(*WORK)
    entries["invoice_date"] = entries["invoice_id"].map(dates).fillna(pd.Timestamp("2026-11-02"))
    row = realization(
        entries,
        expenses=pandas_firm.items(*EXPENSES),
        fixed_fees=pandas_firm.items(*FEES),
        invoices=bills,
        matters=pandas_firm.matters(),
        start="2026-10",
    )
    assert row["billed_amount"].tolist() == pytest.approx([1400.0])


def test_matter_types_choose_what_counts(firm):
    (row,) = run(firm, matter_types=["contingency"])
    assert (row["worked_amount"], row["billed_amount"]) == (300.0, 300.0)
    assert row["left_out_amount"] == 1800.0
    every = ["hourly", "fixedFee", "contingency", "probono", "internal", "Unknown"]
    (row,) = run(firm, matter_types=every, matters=None)
    assert (row["worked_amount"], row["left_out_amount"]) == (2100.0, 0.0)


def test_hidden_rates_leave_hours_and_billed_amounts(firm):
    """The net 1000 of i1 over 5 hours is 200 per hour; worth and realization are missing, not zero."""
    hidden = tuple((*row[:6], None, row[7]) for row in WORK)
    with pytest.warns(RatesHiddenWarning):
        rows = {row["user_name"]: row for row in run(firm, hidden, by="user")}
    assert rows["Ada"]["billed_amount"] == pytest.approx(400.0 + 600.0)
    assert rows["Ada"]["effective_rate"] == pytest.approx(250.0)
    for name in ("worked_amount", "write_down_amount", "billing_realization", "overall_realization"):
        assert rows["Ada"][name] is None
    assert rows["Ben"]["left_out_amount"] is None
    assert rows["Unassigned"]["worked_amount"] == 0.0


def test_a_fixed_fee_invoice_has_no_realization(firm):
    (row,) = run(firm, work=(), bills=(INVOICES[3],))
    assert (row["billed_amount"], row["billing_realization"], row["effective_rate"]) == (0.0, None, None)


def test_fees_of_time_without_worth_are_spread_by_hours(firm):
    """With rates of 0, the net 500 is spread over 1 and 4 hours. Without hours, the fees stay with the client."""
    work = [
        ("2026-10-01", user, "c1", "m1", "billable", hours, 0.0, "i7") for user, hours in (("u1", 1.0), ("u2", 4.0))
    ]
    bill = ("i7", "2026-10-07", "final", "2026-11-01", "c1", 500.0, 0.0)
    rows = {row["user_name"]: row["billed_amount"] for row in run(firm, work, (bill,), by="user")}
    assert rows == pytest.approx({"Ada": 100.0, "Ben": 400.0})
    nothing = [("2026-10-01", "u1", "c1", "m1", "billable", 0.0, None, "i7")]
    rows = {row["user_name"]: row for row in run(firm, nothing, (bill,), by="user")}
    assert rows["Unassigned"]["billed_amount"] == 500.0
    assert rows["Ada"]["worked_amount"] == 0.0


def test_negative_entries_correct(firm):
    """A worth of 600 - 200 is billed at 300; the correction has its negative part."""
    work = [
        ("2026-10-01", "u1", "c1", "m1", "billable", 3.0, 600.0, "i7"),
        ("2026-10-02", "u2", "c1", "m1", "billable", -1.0, -200.0, "i7"),
    ]
    bill = ("i7", "2026-10-07", "final", "2026-11-01", "c1", 300.0, 300.0)
    rows = run(firm, work, (bill,), by="user")
    assert [row["billed_amount"] for row in rows] == pytest.approx([450.0, -150.0])
    assert [row["billing_realization"] for row in rows] == pytest.approx([0.75, 0.75])


def test_an_invoice_of_zero_settles_zero(firm):
    work = [("2026-10-01", "u1", "c1", "m1", "billable", 3.0, 600.0, "i7")]
    bill = ("i7", "2026-10-07", "final", "2026-11-01", "c1", 0.0, 0.0)
    (row,) = run(firm, work, (bill,))
    assert (row["billing_realization"], row["settled_amount"], row["settlement_ratio"]) == (0.0, 0.0, None)


def test_standard_rates(firm):
    """Ada 4 hours at 400, Ben 3 at 300; a person without a rate makes it missing."""
    settings = FirmSettings(standard_rates={"ada@firm.example": 400, "u2": 300})
    (row,) = run(firm, settings=settings, users=firm.users())
    assert row["standard_amount"] == pytest.approx(2500.0)
    assert row["worked_to_standard"] == pytest.approx(1800 / 2500)
    assert row["billed_to_standard"] == pytest.approx(1400 / 2500)
    rows = run(firm, settings=FirmSettings(standard_rates={"u1": 400}), by="user")
    assert [row["standard_amount"] for row in rows] == [1600.0, None, 0.0]


def test_several_originators_share(firm):
    rows = {row["originator_name"]: row["billed_amount"] for row in run(firm, by="originator")}
    assert rows == pytest.approx({"Ada": 550.0, "Ben": 1050.0, "Unassigned": -200.0})


def test_by_a_boolean_key_the_credit_note_is_a_separate_row(firm):
    entries = firm.frame(
        "date user_id client_id matter_id billing_type hours amount invoice_id billed",
        ("2026-08-01", "u1", "c1", "m1", "billable", 4.0, 1200.0, "i1", True),
    )
    bills = firm.invoices(INVOICES[0], INVOICES[2])
    rows = firm.rows(
        realization(
            entries,
            expenses=firm.items(*EXPENSES),
            fixed_fees=firm.items(*FEES),
            invoices=bills,
            matters=firm.matters(),
            by="billed",
        )
    )
    assert [(row["billed"], row["billed_amount"]) for row in rows] == [(True, 1000.0), (None, -200.0)]


@pytest.mark.parametrize("by", ["user", "matter", "originator", "practice_area", "month", "cf_tier"])
def test_pandas_columns_have_pandas_types(pandas_firm, by):
    result = realization(
        pandas_firm.entries(*WORK),
        expenses=pandas_firm.items(*EXPENSES),
        fixed_fees=pandas_firm.items(*FEES),
        invoices=pandas_firm.invoices(*INVOICES),
        matters=pandas_firm.matters(),
        by=by,
    )
    assert {str(dtype) for dtype in result.dtypes} == {"str", "float64"}


def test_months_are_those_of_the_basis(firm):
    rows = run(firm, by="month", start=None)
    assert [(row["month"], row["worked_amount"]) for row in rows] == [("2026-10", 1800.0), ("2026-11", 500.0)]
    rows = run(firm, by="month", start=None, basis="work_date")
    assert [(row["month"], row["worked_amount"]) for row in rows] == [
        ("2026-08", 600.0),
        ("2026-09", 600.0),
        ("2026-10", 1100.0),
    ]


def test_empty_frames_give_the_same_columns(firm):
    (row,) = run(firm, work=(), bills=())
    assert list(row) == [*COLUMNS, "unknown_amount", *LEFT_OUT]
    assert (row["worked_amount"], row["billing_realization"]) == (0.0, None)
    assert run(firm, work=(), bills=(), by="user", basis="work_date") == []


def test_absent_expenses_and_matters_are_warned_about(pandas_firm):
    entries, bills = pandas_firm.entries(WORK[0]), pandas_firm.invoices(INVOICES[0])
    with pytest.warns(IncompleteDataWarning) as caught:
        row = realization(entries, invoices=bills)
    messages = " ".join(str(each.message) for each in caught)
    assert "No expenses and fixed_fees were passed" in messages
    assert "1 time entry is on matters of unknown type; it is counted" in messages
    assert row["billed_amount"].tolist() == [1500.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "usr"}, "Did you mean 'user'"),
        ({"discounts": "fees"}, "discounts='fees' is not known"),
        ({"as_of": "2026-10"}, "as_of='2026-10' is not a date"),
        ({"basis": "work"}, "basis='work' is not known.*'work_date'"),
        ({"matter_types": ["hurly"]}, "Did you mean 'hourly'"),
        ({"matter_types": []}, "matter_types"),
        ({"start": "2026-10-02", "end": "2026-10-01"}, "is after"),
    ],
)
def test_bad_arguments(pandas_firm, options, message):
    with pytest.raises(ParameterError, match=message):
        run(pandas_firm, **options)


def test_missing_columns_say_what_supplies_them(pandas_firm):
    with pytest.raises(MissingColumnError, match=r"invoices has no column 'balance'.*invoices\(\)"):
        realization(
            pandas_firm.entries(*WORK),
            expenses=pandas_firm.items(),
            fixed_fees=pandas_firm.items(),
            invoices=pandas_firm.invoices(*INVOICES).drop(columns="balance"),
        )
    with pytest.raises(MissingColumnError, match="select=.*responsible"):
        run(pandas_firm, by="responsible", matters=None)
