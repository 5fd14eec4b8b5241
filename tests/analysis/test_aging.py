"""Open balances by the days since their due date, compared with figures worked out by hand."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest

from billframes.analysis import aging
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning

BUCKETS = ["current", "1-30", "31-60", "61-90", "91+"]
COLUMNS = [*BUCKETS, "credit_amount", "total", "overdue", "weighted_days_overdue", "unknown_amount"]
DAY = "2026-10-31"
# Due today, 1, 30, 31, 60, 61, 90, 91 days ago, in the future; a credit; then what does not count.
OPEN = (
    ("i0", "2026-10-01", "final", "2026-10-31", "c1", 100.0, 1.0),
    ("i1", "2026-10-01", "final", "2026-10-30", "c1", 100.0, 2.0),
    ("i2", "2026-09-01", "final", "2026-10-01", "c1", 100.0, 4.0),
    ("i3", "2026-09-01", "final", "2026-09-30", "c1", 100.0, 8.0),
    ("i4", "2026-08-01", "final", "2026-09-01", "c2", 100.0, 16.0),
    ("i5", "2026-08-01", "final", "2026-08-31", "c2", 100.0, 32.0),
    ("i6", "2026-07-01", "final", "2026-08-02", "c3", 100.0, 64.0),
    ("i7", "2026-07-01", "final", "2026-08-01", "c3", 100.0, 128.0),
    ("i8", "2026-10-31", "final", "2026-11-30", "c3", 256.0, 256.0),
    ("i9", "2026-08-15", "final", "2026-09-15", "c3", -500.0, -500.0),
    ("x1", "2026-10-01", "draft", None, "c1", 1e6, 1e6),
    ("x2", "2026-11-01", "final", "2026-12-01", "c1", 1e6, 1e6),
    ("x3", "2026-07-01", "final", "2026-08-01", "c1", 100.0, 0.0),
)


def test_the_worked_table(firm):
    """Due today is current; 30 days are 1-30, 31 days are not."""
    (row,) = firm.rows(aging(firm.invoices(*OPEN), as_of=DAY))
    assert list(row) == COLUMNS
    assert [row[name] for name in BUCKETS] == [257.0, 6.0, 8.0 + 16.0, 96.0, 128.0]
    assert [row[name] for name in ("credit_amount", "total", "overdue")] == [-500.0, 11.0, 254.0]
    days = 2 * 1 + 4 * 30 + 8 * 31 + 16 * 60 + 32 * 61 + 64 * 90 + 128 * 91
    assert row["weighted_days_overdue"] == pytest.approx(days / 254.0)


def test_by_client_two_of_one_name_stay_two_rows(firm):
    rows = firm.rows(aging(firm.invoices(*OPEN), as_of=dt.date(2026, 10, 31), by="client"))
    assert [(row["client_id"], row["client_name"], row["total"]) for row in rows] == [
        ("c1", "Acme", 15.0),
        ("c2", "Acme", 48.0),
        ("c3", "Zenith", -52.0),
    ]


def test_by_invoice_date(firm):
    (row,) = firm.rows(aging(firm.invoices(*OPEN), as_of=DAY, basis="invoice_date"))
    assert list(row) == ["0-30", *COLUMNS[2:]]
    assert [row[name] for name in ("0-30", *BUCKETS[2:])] == [259.0, 12.0, 0.0, 240.0]
    assert [row[name] for name in ("credit_amount", "total", "overdue")] == [-500.0, 11.0, 254.0]


def test_a_client_with_only_a_credit_owes_nothing_and_is_not_overdue(firm):
    (row,) = firm.rows(aging(firm.invoices(OPEN[9]), as_of=DAY, by="client"))
    assert [str(row[name]) for name in (*BUCKETS, "overdue")] == ["0.0"] * 6
    assert (row["credit_amount"], row["total"]) == (-500.0, -500.0)


def test_other_buckets(firm):
    (row,) = firm.rows(aging(firm.invoices(*OPEN), as_of=DAY, buckets=(45,)))
    assert {name: row[name] for name in list(row)[:3]} == {"current": 257.0, "1-45": 14.0, "46+": 240.0}


def test_a_final_invoice_without_due_date_ages_from_its_own(firm):
    bill = ("i1", "2026-10-21", "final", None, "c1", 100.0, 100.0)
    with pytest.warns(IncompleteDataWarning, match="1 open final invoice has no due date"):
        (row,) = firm.rows(aging(firm.invoices(bill), as_of=DAY))
    assert row["1-30"] == 100.0
    assert row["weighted_days_overdue"] == 10.0


def test_leap_days_and_century_years_count(firm):
    bills = [
        ("i1", "2024-02-28", "final", "2024-02-28", "c1", 1.0, 1.0),
        ("i2", "1999-12-31", "final", "1999-12-31", "c2", 1.0, 1.0),
        ("i3", "1992-02-29", "final", "1992-02-29", "c3", 1.0, 1.0),
    ]
    rows = firm.rows(aging(firm.invoices(*bills), as_of="2024-03-01", by="client"))
    assert [row["weighted_days_overdue"] for row in rows] == [
        2.0,
        (dt.date(2024, 3, 1) - dt.date(1999, 12, 31)).days,
        (dt.date(2024, 3, 1) - dt.date(1992, 2, 29)).days,
    ]


WORK = (
    ("2026-08-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-08-01", "u2", "c1", "m2", "billable", 3.0, 600.0, "i1"),
    ("2026-08-01", "u1", "c1", "m1", "nonBillable", 9.0, None, "i1"),
)
BILLS = (
    ("i1", "2026-10-05", "final", "2026-10-30", "c1", 1500.0, 750.0),
    ("i3", "2026-10-20", "final", "2026-11-04", "c1", -200.0, -50.0),
)


def by_items(firm, by, work=WORK, bills=BILLS, **options):
    result = aging(
        firm.invoices(*bills),
        as_of=DAY,
        by=by,
        time_entries=firm.entries(*work),
        expenses=firm.items(("m1", "u1", 100.0, "i1")),
        fixed_fees=firm.items(("m2", None, 400.0, "i1")),
        matters=firm.matters(),
        users=firm.users(),
        **options,
    )
    return firm.rows(result)


def test_by_matter_a_balance_is_spread_over_the_items(firm):
    """i1: 500 + 100 on the sale, 500 + 400 on the lease, half of it open; the credit has no items."""
    rows = by_items(firm, "matter")
    assert [(row["matter_id"], row["matter_name"]) for row in rows] == [
        ("m2", "Lease"),
        ("m1", "Sale"),
        (None, "Unassigned"),
    ]
    assert [row["total"] for row in rows] == pytest.approx([450.0, 300.0, -50.0])
    assert [row["overdue"] for row in rows] == pytest.approx([450.0, 300.0, 0.0])
    assert [row["credit_amount"] for row in rows] == pytest.approx([0.0, 0.0, -50.0])


@pytest.mark.parametrize(
    ("by", "totals"),
    [
        ("user", {"Ada": 300.0, "Ben": 250.0, "Unassigned": 150.0}),
        ("practice_area", {"Corporate": 300.0, "Unassigned": 400.0}),
        ("responsible", {"Ada": 300.0, "Ben": 450.0, "Unassigned": -50.0}),
        ("originator", {"Ada": 150.0, "Ben": 600.0, "Unassigned": -50.0}),
        ("role", {"principal": 300.0, "attorney": 250.0, "Unknown": 150.0}),
        ("cf_tier", {"gold": 300.0, "Unassigned": 400.0}),
    ],
)
def test_by_keys_that_depend_on_items(firm, by, totals):
    rows = by_items(firm, by)
    label = next(name for name in rows[0] if not name.endswith("_id"))
    assert {row[label]: row["total"] for row in rows} == pytest.approx(totals)


def test_hidden_rates_spread_a_balance_by_hours_and_say_so(firm):
    """The net 1,000 of i1 is divided 400 to 600 by 2 and 3 hours, not 500 to 500."""
    hidden = [(*row[:6], None, row[7]) for row in WORK]
    with pytest.warns(
        RatesHiddenWarning, match="2 billable time entries on open invoices .* to their time by hours"
    ) as caught:
        rows = by_items(firm, "matter", work=hidden)
    assert len(caught) == 1
    assert [row["total"] for row in rows] == pytest.approx([500.0, 250.0, -50.0])
    paid = [(*bill[:6], 0.0) for bill in BILLS]
    assert by_items(firm, "matter", work=hidden, bills=paid) == []


def test_the_matter_of_an_invoice_counts_only_if_the_invoice_has_no_items(firm):
    """An invoice of several matters names one of them: what no item of i1 has of its balance belongs to none."""
    bills = firm.frame(
        "invoice_id invoice_date invoice_state due_date client_id client_name matter_id amount balance",
        ("i1", "2026-10-05", "final", "2026-10-30", "c1", "Acme", "m2", 500.0, 500.0),
        ("i3", "2026-10-20", "final", "2026-11-04", "c1", "Acme", "m2", -200.0, -50.0),
    )
    none = firm.items()
    others = {"time_entries": firm.entries(WORK[2]), "expenses": none, "fixed_fees": none, "matters": firm.matters()}
    rows = firm.rows(aging(bills, as_of=DAY, by="matter", **others))
    assert {row["matter_id"]: row["total"] for row in rows} == {None: 500.0, "m2": -50.0}


def test_columns_of_the_matter_that_an_invoice_names_are_not_keys(pandas_firm):
    bills = pandas_firm.invoices(*BILLS)
    bills["matter_reference"] = "R1"
    with pytest.raises(ParameterError, match="by='matter_reference' is neither"):
        aging(bills, as_of=DAY, by="matter_reference")


def test_days_overdue_weigh_debts_only(firm):
    """A credit of 900 beside a debt of 1,000 does not turn its 31 days into 300."""
    bills = [
        ("i1", "2026-09-01", "final", "2026-10-01", "c1", 1000.0, 1000.0),
        ("i2", "2026-10-01", "final", "2026-10-30", "c1", -900.0, -900.0),
    ]
    (row,) = firm.rows(aging(firm.invoices(*bills), as_of="2026-11-01"))
    assert (row["overdue"], row["weighted_days_overdue"]) == (1000.0, 31.0)
    (row,) = firm.rows(aging(firm.invoices(bills[1]), as_of="2026-11-01"))
    assert (row["overdue"], row["weighted_days_overdue"]) == (0.0, None)


def test_client_and_matter_together(firm):
    rows = by_items(firm, ["client", "matter", "month"])
    assert [(row["client_name"], row["matter_name"], row["month"]) for row in rows] == [
        ("Acme", "Lease", "2026-10"),
        ("Acme", "Sale", "2026-10"),
        ("Acme", "Unassigned", "2026-10"),
    ]


def test_items_of_one_kind_only_are_warned_about(firm):
    with pytest.warns(IncompleteDataWarning, match="No time_entries and fixed_fees were passed"):
        rows = firm.rows(
            aging(firm.invoices(*BILLS), as_of=DAY, by="matter", expenses=firm.items(("m1", "u1", 100.0, "i1")))
        )
    assert {row["matter_name"]: row["total"] for row in rows} == pytest.approx({"m1": 50.0, "Unassigned": 650.0})


def test_nothing_owed_gives_the_same_columns(firm):
    (row,) = firm.rows(aging(firm.invoices(), as_of=DAY))
    assert list(row) == COLUMNS
    assert (row["total"], row["weighted_days_overdue"]) == (0.0, None)
    assert firm.rows(aging(firm.invoices(), as_of=DAY, by="client")) == []


def test_a_day_before_the_load_needs_history(pandas_firm):
    bills = pandas_firm.invoices(*OPEN)
    bills.attrs["load"] = {"time": "2026-10-31T22:30:00Z"}
    aging(bills, as_of=DAY)
    with pytest.warns(IncompleteDataWarning, match=r"is before the day the invoices were loaded \(2026-11-01\)"):
        aging(bills, as_of=DAY, settings=FirmSettings(time_zone="Asia/Tokyo"))
    with pytest.warns(IncompleteDataWarning, match="For balances of a past day, open a mirror as of that day"):
        aging(bills, as_of="2026-10-30")


def test_a_day_long_after_the_load_gives_a_warning(pandas_firm):
    bills = pandas_firm.invoices(*OPEN)
    bills.attrs["load"] = {"time": "2026-10-31T12:00:00Z"}
    aging(bills, as_of="2026-12-01")
    with pytest.warns(IncompleteDataWarning, match=r"is 32 days after the day the invoices were loaded"):
        aging(bills, as_of="2026-12-02")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "matter"}, "needs all items of the invoices"),
        ({"by": "clint"}, "Did you mean 'client'"),
        ({"as_of": "2026-10"}, "as_of='2026-10' is not a date"),
        ({"as_of": None}, "as_of=None is not a date"),
        ({"basis": "due"}, "basis='due' is not known"),
        ({"buckets": (30, 30)}, "buckets="),
        ({"buckets": ()}, "buckets="),
        ({"buckets": (0, 30)}, "buckets="),
    ],
)
def test_bad_arguments(pandas_firm, options, message):
    with pytest.raises(ParameterError, match=message):
        aging(pandas_firm.invoices(*OPEN), **({"as_of": DAY} | options))


def test_a_missing_column_says_what_supplies_it(pandas_firm):
    with pytest.raises(MissingColumnError, match=r"no column 'due_date'.*invoices\(\)"):
        aging(pandas_firm.invoices(*OPEN).drop(columns="due_date"), as_of=DAY)


def test_inputs_are_left_alone(pandas_firm):
    bills = pandas_firm.invoices(*OPEN)
    before = bills.copy(deep=True)
    aging(bills, as_of=DAY, by="client")
    pd.testing.assert_frame_equal(before, bills)
