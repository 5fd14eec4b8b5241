"""The amount of each invoice beside the sum of its items."""

from __future__ import annotations

import datetime as dt

import pytest

from billframes.analysis import reconcile
from billframes.errors import IncompleteDataWarning, MissingColumnError, ParameterError, RatesHiddenWarning

WORK = (
    ("2026-08-01", "u1", "c1", "m1", "billable", 2.0, 600.0, "i1"),
    ("2026-09-01", "u2", "c1", "m2", "billable", 3.0, 600.0, "i1"),
    ("2026-09-02", "u1", "c1", "m3", "nonBillable", 1.0, None, "i1"),
    ("2026-10-03", "u1", "c1", "m1", "billable", 1.0, 300.0, "i2"),
    ("2026-10-04", "u1", "c1", "m1", "billable", -1.0, -50.0, "i2"),
    ("2026-10-10", "u2", "c1", "m1", "billable", 1.0, 200.0, None),
)
BILLS = (
    ("i3", "2026-10-20", "final", "2026-11-04", "c1", -200.0, -50.0),
    ("i2", "2026-10-06", "draft", None, "c1", 250.0, 250.0),
    ("i1", "2026-10-05", "final", "2026-11-04", "c1", 1500.0, 750.0),
)
COSTS = (("m1", "u1", 100.0, "i1"), ("m1", None, 77.0, None))
FEES = (("m4", None, 400.0, "i1"), (None, None, 5.0, "i2"))


def reconciled(firm, work=WORK, bills=BILLS, by="invoice"):
    return firm.rows(
        reconcile(
            firm.entries(*work),
            expenses=firm.items(*COSTS),
            fixed_fees=firm.items(*FEES),
            invoices=firm.invoices(*bills),
            by=by,
        )
    )


def test_each_invoice_is_one_row_sorted_by_date(firm):
    """i1 was written down by 200; the draft by 5; the credit note has no items."""
    rows = reconciled(firm)
    assert list(rows[0]) == [
        "invoice_id", "client_id", "client_name", "invoice_date", "invoice_state", "time_amount", "expense_amount",
        "fixed_fee_amount", "items_amount", "amount", "unexplained_amount", "balance", "matter_count",
    ]  # fmt: skip
    assert [list(row.values())[5:] for row in rows] == [
        [1200.0, 100.0, 400.0, 1700.0, 1500.0, -200.0, 750.0, 4],
        [250.0, 0.0, 5.0, 255.0, 250.0, -5.0, 250.0, 1],
        [0.0, 0.0, 0.0, 0.0, -200.0, -200.0, -50.0, 0],
    ]
    assert [(row["invoice_id"], row["invoice_state"]) for row in rows] == [
        ("i1", "final"), ("i2", "draft"), ("i3", "final"),
    ]  # fmt: skip
    assert rows[0]["invoice_date"] == dt.datetime(2026, 10, 5)


def test_hidden_rates_leave_costs_known(firm):
    hidden = tuple((*row[:6], None, row[7]) for row in WORK)
    with pytest.warns(RatesHiddenWarning, match="4 billable time entries on invoices have no amount"):
        rows = reconciled(firm, hidden)
    names = ("time_amount", "items_amount", "unexplained_amount", "expense_amount", "matter_count")
    assert [rows[0][name] for name in names] == [None, None, None, 100.0, 4]
    assert rows[2]["unexplained_amount"] == -200.0
    with pytest.warns(RatesHiddenWarning):
        (row,) = reconciled(firm, hidden, by=None)
    assert [row[name] for name in names[:4]] == [None, None, None, 100.0]


def test_items_on_invoices_that_were_not_passed_are_counted(firm):
    with pytest.warns(
        IncompleteDataWarning, match="3 items name an invoice that is not among those passed .1 invoice in all."
    ):
        rows = reconciled(firm, bills=(BILLS[0], BILLS[2]))
    assert [row["invoice_id"] for row in rows] == ["i1", "i3"]


def test_no_invoices_give_the_same_columns(pandas_firm):
    empty = pandas_firm.items()
    result = reconcile(pandas_firm.entries(), expenses=empty, fixed_fees=empty, invoices=pandas_firm.invoices())
    some = reconcile(
        pandas_firm.entries(*WORK),
        expenses=empty,
        fixed_fees=pandas_firm.items(*FEES),
        invoices=pandas_firm.invoices(*BILLS),
    )
    assert list(result) == list(some)
    assert result.empty


def test_bad_input_is_named(pandas_firm):
    import pyarrow as pa

    entries, bills = pandas_firm.entries(*WORK), pandas_firm.invoices(*BILLS)
    with pytest.raises(MissingColumnError, match=r"expenses has no column 'matter_id'.*expenses\(\)"):
        reconcile(
            entries,
            expenses=pandas_firm.items().drop(columns="matter_id"),
            fixed_fees=pandas_firm.items(),
            invoices=bills,
        )
    with pytest.raises(ParameterError, match="All frames must be of one engine"):
        reconcile(entries, invoices=pa.table({"invoice_id": ["i1"]}))
    with pytest.warns(IncompleteDataWarning, match="No expenses and fixed_fees were passed"):
        reconcile(entries, invoices=bills)


def test_cents_that_agree_leave_nothing_unexplained(firm):
    """0.10 and 0.20 are 0.30, although the sum of the floats is not."""
    work = [
        (f"2026-09-0{day}", "u1", "c1", "m1", "billable", 1.0, amount, "i1") for day, amount in ((1, 0.1), (2, 0.2))
    ]
    bills = firm.invoices(("i1", "2026-10-05", "final", "2026-11-04", "c1", 0.3, 0.0))
    (row,) = firm.rows(reconcile(firm.entries(*work), expenses=firm.items(), fixed_fees=firm.items(), invoices=bills))
    assert row["unexplained_amount"] == 0.0
