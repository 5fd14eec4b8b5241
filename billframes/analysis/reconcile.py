"""Reconcile: the sum of each invoice's items next to its amount.

The API's invoices have no lines. Items show what was worked, the amount what was billed. The difference can be
write-downs, write-ups, discounts, taxes and credits; the API does not distinguish them.
"""

from __future__ import annotations

from typing import cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._warn import warn
from billframes.analysis.allocation import billable_time, warn_of_absent_items
from billframes.analysis.column_types import Frame
from billframes.analysis.coverage import need_work_on_invoices
from billframes.analysis.engine import collect_counts
from billframes.analysis.expressions import RESIDUE, as_float, value_if
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.metrics import Measure, shared, summed
from billframes.analysis.spec import Analysis, FromBook, TableSpec
from billframes.errors import IncompleteDataWarning, RatesHiddenWarning
from billframes.periods import Period

__all__ = ["ANALYSIS", "reconcile"]


C = nw.col

_AMOUNTS = {"time_entries": "time_amount", "expenses": "expense_amount", "fixed_fees": "fixed_fee_amount"}
_SUMS = (*_AMOUNTS.values(), "_hidden")


def reconcile(
    time_entries: IntoFrameT,
    invoices: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
) -> IntoFrameT:
    """
    Each invoice's items next to its amount, to check the other figures against.

    Pass wide frames: all items of the invoices, whatever their date. Invoices of every state have their row.

    Parameters
    ----------
    time_entries : frame
        With `invoice_id`, `matter_id`, `billing_type`, `hours` and `amount`.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`; `invoice_number`, `client_id` and
        `client_name` are kept if they are there.
    expenses, fixed_fees : frame, optional
        With `invoice_id`, `matter_id` and `amount`. None is taken as none at all, with a warning: pass an empty frame
        to say that there are none.

    Returns
    -------
    frame
        Of the kind passed in, a row an invoice, by date then id: `invoice_id`, what is kept, `invoice_date`,
        `invoice_state` and, as float64 money,

        - `time_amount` (worth of billable time), `expense_amount`, `fixed_fee_amount`, and their sum `items_amount`;
          if rates are hidden, time and the sum are missing
        - `amount`: of the invoice; `unexplained_amount`: amount - items, negative where time was written down
        - `balance`: what is open of the amount
        - `matter_count`: how many matters its items are on, int64

    Raises
    ------
    ParameterError
        Frames are of different engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning
        Billable entries on invoices have no amount.
    IncompleteDataWarning
        Items name an invoice that was not passed, or expenses or fixed fees were not passed.
        On lazy frames this runs two small queries; the result stays lazy.

    Examples
    --------
    Time worth 1,000 and an expense of 100 on two matters, billed at 900:

    >>> import pandas as pd
    >>> entries = pd.DataFrame({
    ...     "matter_id": ["m1", "m2"], "billing_type": ["billable", "billable"], "hours": [2.0, 2.0],
    ...     "amount": [600.0, 400.0], "invoice_id": ["i1", "i1"],
    ... })
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_date": pd.to_datetime(["2026-10-05"]), "invoice_state": ["final"],
    ...     "amount": [900.0], "balance": [225.0],
    ... })
    >>> expenses = pd.DataFrame({"invoice_id": ["i1"], "matter_id": ["m1"], "amount": [100.0]})
    >>> result = reconcile(entries, invoices, expenses, expenses.head(0))
    >>> result[["invoice_id", "items_amount", "amount", "unexplained_amount", "matter_count"]]
      invoice_id  items_amount  amount  unexplained_amount  matter_count
    0         i1        1100.0   900.0              -200.0             2
    """
    frames = from_native(time_entries=time_entries, invoices=invoices, expenses=expenses, fixed_fees=fixed_fees)
    items = {"time_entries": time_entries, "expenses": expenses, "fixed_fees": fixed_fees}
    need_work_on_invoices("reconcile", {"invoices": invoices, **items}, Period())
    heads, kept = _heads(frames["invoices"])
    rows = nw.concat([_of_matters(frames[kind], kind) for kind in _AMOUNTS if kind in frames])
    matters = rows.group_by("invoice_id", "matter_id").agg(*[C(name).sum() for name in (*_SUMS, "_rows")])
    matters = matters.with_columns(matter_count=as_float(~C("matter_id").is_null()))
    totals = matters.group_by("invoice_id").agg(*[C(name).sum() for name in (*_SUMS, "_rows", "matter_count")])
    warn_of_absent_items(expenses=expenses, fixed_fees=fixed_fees)
    _warn(totals, heads)
    return cast("IntoFrameT", to_native(_result(heads, totals, kept), time_entries))


def _heads(invoices: Frame) -> tuple[Frame, list[str]]:
    columns = ("invoice_id", "invoice_date", "invoice_state", "amount", "balance")
    heads = select_columns(invoices, "invoices", columns, ("invoice_number", "client_id", "client_name"))
    kept = [name for name in heads.collect_schema().names() if name not in columns]
    return heads, kept


def _of_matters(frame: Frame, kind: str) -> Frame:
    """Select the items on invoices, with their amount in the column of its kind."""
    if kind == "time_entries":
        # Time that is not billed is on the invoice too, and its matter counts.
        every = select_columns(frame, kind, ("invoice_id", "matter_id")).with_columns(
            worth=nw.lit(0.0), _rows=nw.lit(1.0)
        )
        worth = billable_time(frame, ("matter_id",)).with_columns(_rows=nw.lit(0.0))
        columns = ("invoice_id", "matter_id", "worth", "_rows")
        rows = nw.concat([every.select(*columns), worth.select(*columns)]).with_columns(_amount=C("worth"))
    else:
        rows = select_columns(frame, kind, ("invoice_id", "matter_id", "amount")).with_columns(
            _amount=C("amount"), _rows=nw.lit(1.0)
        )
    amounts = dict.fromkeys(_AMOUNTS.values(), nw.lit(0.0)) | {_AMOUNTS[kind]: C("_amount").fill_null(0.0)}
    hidden = as_float(C("_amount").is_null()) if kind == "time_entries" else nw.lit(0.0)
    on_invoices = rows.filter(~C("invoice_id").is_null())
    return on_invoices.select("invoice_id", "matter_id", "_rows", **amounts, _hidden=hidden)


def _result(heads: Frame, totals: Frame, kept: list[str]) -> Frame:
    counts = [C(name).fill_null(0.0) for name in (*_SUMS, "matter_count")]
    rows = heads.join(totals, on="invoice_id", how="left").with_columns(*counts)
    rows = rows.with_columns(time_amount=nw.when(C("_hidden") == 0).then(C("time_amount")))
    rows = rows.with_columns(items_amount=C("time_amount") + C("expense_amount") + C("fixed_fee_amount"))
    apart = C("amount") - C("items_amount")
    rows = rows.with_columns(
        # Sums of cents leave a residue, and people filter for amounts below 0.
        unexplained_amount=nw.when(apart.abs() <= RESIDUE).then(nw.lit(0.0)).otherwise(apart),
        matter_count=C("matter_count").cast(nw.Int64),
    )
    columns = (*_AMOUNTS.values(), "items_amount", "amount", "unexplained_amount", "balance", "matter_count")
    return rows.sort("invoice_date", "invoice_id", nulls_last=True).select(
        "invoice_id", *kept, "invoice_date", "invoice_state", *columns
    )


def _warn(totals: Frame, heads: Frame) -> None:
    """Warn of what is missing or hidden; everything is counted in one query."""
    rows = totals.join(heads.select("invoice_id", _passed=nw.lit(1.0)), on="invoice_id", how="left")
    lost = C("_passed").is_null()
    sums = {"rows": value_if(lost, "_rows"), "invoices": as_float(lost), "hidden": C("_hidden")}
    count = collect_counts((rows, {name: column.sum() for name, column in sums.items()}))
    if count["rows"]:
        warn(
            f"{int(count['rows'])} items name {int(count['invoices'])} invoices that are not among those passed; they "
            "are left out. Load invoices over a wider window, by the ids that the work refers to.",
            IncompleteDataWarning,
        )
    if count["hidden"]:
        warn(
            f"{int(count['hidden'])} billable time entries on invoices have no amount (the credential lacks "
            "read.rates); the items of their invoices can't be added up.",
            RatesHiddenWarning,
        )


ANALYSIS = Analysis(
    name="reconcile",
    question="Do an invoice's items explain its amount?",
    summary=(
        "It puts the items of each invoice beside its amount. What the items do not explain is a discount, a "
        "write-up or something the billing system does not show."
    ),
    example=(
        "Items of 1100 (time worth 1000 and an expense of 100) are billed at 900: -200 is unexplained, which "
        "is a discount."
    ),
    formula="amount − (time + expenses + fixed fees)",
    left_out=(
        "Items on no invoice.",
        "Items on invoices that are not among those passed; they are counted in a warning.",
        "Non-billable and fixed-fee time has no amount, but its matter is counted.",
    ),
    cannot_tell=("What the unexplained amount is: write-down, write-up, discount, tax or credit.",),
    columns=(
        *shared("time_amount", "expense_amount", "fixed_fee_amount"),
        summed("items_amount", "Items", "money", "Time, expenses and fixed fees together."),
        summed("amount", "Amount", "money", "Amount of the invoice."),
        summed("unexplained_amount", "Unexplained", "money", "Amount − items; negative where time was written down."),
        summed("balance", "Balance", "money", "What is open of the amount."),
        Measure("matter_count", "Matters", "count", "How many matters the items are on."),
    ),
    table=TableSpec(
        title="Invoices and their items",
        columns=(
            "time_amount",
            "expense_amount",
            "fixed_fee_amount",
            "items_amount",
            "amount",
            "unexplained_amount",
            "balance",
            "matter_count",
        ),
        keys=("invoice_number", "client_name", "invoice_date", "invoice_state"),
        cents=True,
    ),
    book=FromBook(dated="invoice_date", note="Of invoices dated in the period."),
)
