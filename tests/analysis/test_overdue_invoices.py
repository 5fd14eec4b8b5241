"""Overdue invoices, compared with figures worked out by hand and with `aging`."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest
from hypothesis import given

from billframes.analysis import aging, overdue_invoices
from billframes.errors import MissingColumnError, RatesHiddenWarning
from tests.analysis.test_properties_money import BOOKS, QUICK, frames

WORK = (
    ("2026-09-10", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-10-01", "u1", "c1", "m1", "billable", 8.0, 2400.0, None),
    ("2026-10-02", "u1", "c1", "m2", "billable", 1.0, 300.0, "i1"),
    ("2026-10-20", "u2", "c1", "m1", "fixedFee", 2.0, None, None),
    ("2026-10-21", "u2", "c1", "m1", "nonBillable", 5.0, None, None),
    ("2026-11-01", "u1", "c1", "m1", "billable", 9.0, 2700.0, None),
    ("2026-10-30", "u1", "c2", "m2", "billable", 1.0, 300.0, None),
)
BILLS = (
    ("i1", "2026-09-01", "final", "2026-10-01", "c1", 900.0, 500.0),
    ("i2", "2026-10-20", "final", "2026-10-31", "c1", 80.0, 80.0),
    ("i3", "2026-09-20", "final", "2026-10-20", "c1", 70.0, 70.0),
    ("i4", "2026-09-20", "final", "2026-10-20", "c1", -20.0, -20.0),
    ("i5", "2026-09-20", "draft", "2026-10-20", "c2", 70.0, 70.0),
    ("i6", "2026-09-20", "final", "2026-10-31", None, 10.0, 10.0),
    ("i7", "2026-09-20", "final", "2026-10-20", None, 10.0, 10.0),
)


def run(firm, work=WORK, **options):
    options = {"as_of": "2026-10-31", "matters": firm.matters(), **options}
    return firm.rows(overdue_invoices(firm.invoices(*BILLS), time_entries=firm.entries(*work), **options))


def test_each_overdue_invoice_is_one_row_with_the_clients_other_balances_and_the_work_since(firm):
    rows = run(firm)
    names = ("invoice_id", "balance", "days_overdue", "other_balance", "other_overdue", "hours_since_due",
             "worked_since_due")  # fmt: skip
    assert [[row[name] for name in names] for row in rows] == [
        ["i1", 500.0, 30.0, 130.0, 70.0, 3.0, 300.0],
        ["i3", 70.0, 11.0, 560.0, 500.0, 0.0, 0.0],
        ["i7", 10.0, 11.0, None, None, None, None],
    ]
    assert [row["last_date_since_due"] for row in rows] == [dt.datetime(2026, 10, 20), None, None]
    assert [row["responsible_name"] for row in rows] == ["Ada, Ben", *["Unassigned"] * 2]
    assert rows[0]["responsible_id"] is None


def test_hidden_rates_leave_the_worth_missing_and_hours_known(firm):
    hidden = [(*row[:6], None, row[7]) for row in WORK]
    with pytest.warns(RatesHiddenWarning, match="for clients with overdue invoices has no amount"):
        rows = run(firm, hidden)
    assert (rows[0]["hours_since_due"], rows[0]["worked_since_due"]) == (3.0, None)
    assert rows[1]["worked_since_due"] == 0.0


def test_nothing_overdue_gives_the_same_columns_and_types(pandas_firm):
    none = overdue_invoices(pandas_firm.invoices(), time_entries=pandas_firm.entries(), as_of="2026-10-31")
    some = overdue_invoices(pandas_firm.invoices(*BILLS), time_entries=pandas_firm.entries(*WORK), as_of="2026-10-31")
    assert none.empty
    assert none.dtypes.to_dict() == some.dtypes.to_dict()


def test_without_time_entries_balances_are_the_same_and_the_work_is_missing(firm):
    work = ("hours_since_due", "worked_since_due", "last_date_since_due")
    every, rows = run(firm), firm.rows(overdue_invoices(firm.invoices(*BILLS), as_of="2026-10-31"))
    names = ("invoice_id", "balance", "days_overdue", "other_balance", "other_overdue")
    assert [[row[name] for name in names] for row in rows] == [[row[name] for name in names] for row in every]
    assert {row[name] for row in rows for name in work} == {None}


def test_work_long_before_and_missing_hours_do_not_spoil_others(pandas_firm):
    work = (*WORK, ("0001-01-01", "u1", "c2", "m1", "billable", 1.0, 1.0, None))
    entries = pandas_firm.entries(*work)
    entries.loc[entries["date"] == pd.Timestamp("2026-10-30"), "hours"] = None
    bills = pandas_firm.invoices(*BILLS, ("i9", "2026-10-01", "final", "2026-10-02", "c2", 30.0, 30.0))
    with pytest.warns(UserWarning, match="hours is missing"), pytest.warns(UserWarning, match="date is before 1990"):
        rows = pandas_firm.rows(overdue_invoices(bills, time_entries=entries, as_of="2026-10-31"))
    hours = {row["invoice_id"]: row["hours_since_due"] for row in rows}
    assert (hours["i9"], hours["i1"]) == (None, 3.0)


def test_a_missing_column_is_named(pandas_firm):
    with pytest.raises(MissingColumnError, match="matters has no column 'responsible_id'"):
        run(pandas_firm, matters=pandas_firm.matters().drop(columns="responsible_id"))


@pytest.mark.filterwarnings("ignore:.*may be missing:billframes.errors.IncompleteDataWarning")
@given(book=BOOKS)
@QUICK
def test_rows_add_up_to_what_aging_calls_overdue(pandas_firm, book):
    entries, bills, costs, fees = frames(pandas_firm, book)
    rows = overdue_invoices(bills, time_entries=entries, expenses=costs, fixed_fees=fees, as_of="2026-10-31")
    aged = aging(bills, as_of="2026-10-31", by="client").set_index("client_id")
    owed = rows.groupby("client_id")["balance"].sum()
    for client, overdue in aged["overdue"].items():
        assert owed.get(client, 0.0) == pytest.approx(overdue, abs=1e-6)
    for row in rows.to_dict("records"):
        since = entries["date"].between(row["due_date"], pd.Timestamp("2026-10-31"), inclusive="right")
        mine = entries[since & (entries["client_id"] == row["client_id"]) & (entries["billing_type"] != "nonBillable")]
        assert row["hours_since_due"] == pytest.approx(mine["hours"].sum(), abs=1e-9)
        assert row["worked_since_due"] == pytest.approx(mine["amount"].sum(), abs=1e-6)
        assert row["balance"] + row["other_balance"] == pytest.approx(aged.loc[row["client_id"], "total"], abs=1e-6)
