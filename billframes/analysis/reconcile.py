"""Reconcile: the sum of each invoice's items next to its amount.

The API's invoices have no lines. Items show what was worked, the amount what was billed. The difference can be
write-downs, write-ups, discounts, taxes and credits; the API does not distinguish them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import narwhals.stable.v2 as nw
from narwhals.stable.v2.typing import IntoFrameT

from billframes._messages import warn
from billframes.analysis.allocation import billable_time, warn_of_absent_items
from billframes.analysis.column_types import Frame, column_names
from billframes.analysis.coverage import need_work_on_invoices
from billframes.analysis.engine import collect_counts
from billframes.analysis.expressions import as_float, in_period, is_in_period, value_if
from billframes.analysis.frames import from_native, select_columns, to_native
from billframes.analysis.grouping import Grouping
from billframes.analysis.guards import called_by_another
from billframes.analysis.keys import PEOPLE_AND_MATTERS, By, names_in
from billframes.analysis.metrics import Measure, shared_measures, sum_measure
from billframes.analysis.partial_frames import warn_of_missing_work
from billframes.analysis.spec import Analysis, FromBook, TableSpec
from billframes.errors import IncompleteDataWarning, ParameterError, RatesHiddenWarning
from billframes.periods import DateLike, Period, resolve

__all__ = ["ANALYSIS", "reconcile"]


C = nw.col

_AMOUNTS = {"time_entries": "time_amount", "expenses": "expense_amount", "fixed_fees": "fixed_fee_amount"}
_SUMS = (*_AMOUNTS.values(), "_hidden")
_MONEY = (*_AMOUNTS.values(), "items_amount", "amount", "unexplained_amount", "balance")
# A millionth of the currency: sums over thousands of invoices leave such residues.
_RESIDUE = 1e-6
_WORK_KEYS = ("matter_type", "role")


def reconcile(
    time_entries: IntoFrameT,
    invoices: IntoFrameT,
    expenses: IntoFrameT | None = None,
    fixed_fees: IntoFrameT | None = None,
    *,
    by: By = "invoice",
    start: DateLike | None = None,
    end: DateLike | None = None,
    clients: IntoFrameT | None = None,
) -> IntoFrameT:
    """
    Each invoice's items next to its amount, to check the other figures against.

    Pass wide frames: all items of the invoices, whatever their date. Invoices of every state are counted.

    Parameters
    ----------
    time_entries : frame
        With `invoice_id`, `matter_id`, `billing_type`, `hours` and `amount`.
    invoices : frame
        With `invoice_id`, `invoice_date`, `invoice_state`, `amount` and `balance`; `invoice_number`, `client_id` and
        `client_name` are kept if they are there.
    expenses, fixed_fees : frame, optional
        With `invoice_id`, `matter_id` and `amount`. None counts as no rows, with a warning; if there are no rows,
        pass an empty frame.
    by : str or list of str, optional
        "invoice" for a row an invoice, or what to add invoices up over: "client", "month", "quarter", "year" (of their
        dates), `invoice_state`, or another column of the invoices or clients. None gives one row.
    start, end : str or date, optional
        First and last day of the invoices' dates, inclusive; None leaves an end open. `start` also takes a whole
        period.
    clients : frame, optional
        With `client_id` and the columns that `by` names, such as custom fields (`client_cf_…`).

    Returns
    -------
    frame
        Of the same kind as the input. A row an invoice, by date then id: `invoice_id`, what is kept, `invoice_date` and
        `invoice_state`; or the keys, sorted by label, and `invoices`, how many they are. Then, as float64 money,

        - `time_amount` (worth of billable time), `expense_amount`, `fixed_fee_amount`, and their sum `items_amount`;
          if rates are hidden, time and the sum are missing
        - `amount`: of the invoice; `unexplained_amount`: amount - items, negative where time was written down
        - `balance`: what is open of the amount
        - `matter_count`: how many matters its items are on, int64; only of single invoices

    Raises
    ------
    ParameterError
        `by` is unknown or a key of matters or people (an invoice has one amount, whoever worked on it; see
        `write_downs`), the period can't be read, or frames are of different engines.
    MissingColumnError
        A column is missing.

    Warns
    -----
    RatesHiddenWarning
        Billable entries on invoices have no amount.
    IncompleteDataWarning
        Items name an invoice that was not passed, or expenses or fixed fees were not passed.

    Notes
    -----
    On lazy frames this runs two queries for the warnings. By invoice the result stays lazy; by anything else a
    third query adds up the rows, and the result, made in memory, is lazy again.

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
    period = resolve(start, end)
    items: dict[str, Any] = {"time_entries": time_entries, "expenses": expenses, "fixed_fees": fixed_fees}
    frames = from_native(**items, invoices=invoices, clients=clients)
    grouping = None if by == "invoice" else _grouping(by, frames)
    need_work_on_invoices("reconcile", {"invoices": invoices, **items}, period)
    heads, kept = _heads(frames["invoices"], () if grouping is None else grouping.row_columns)
    rows = nw.concat([_of_matters(frames[kind], kind) for kind in _AMOUNTS if kind in frames])
    matters = rows.group_by("invoice_id", "matter_id").agg(*[C(name).sum() for name in (*_SUMS, "_rows")])
    matters = matters.with_columns(matter_count=as_float(~C("matter_id").is_null()))
    totals = matters.group_by("invoice_id").agg(*[C(name).sum() for name in (*_SUMS, "_rows", "matter_count")])
    warn_of_absent_items(expenses=expenses, fixed_fees=fixed_fees)
    _warn(totals, heads, period)
    rows = _reconciled(in_period(heads, "invoice_date", period), totals)
    result = _by_invoice(rows, kept) if grouping is None else _added_up(rows, grouping)
    return cast("IntoFrameT", to_native(result, time_entries))


def _grouping(by: By, frames: dict[str, Frame]) -> Grouping:
    """Find the keys of whole invoices; those of matters and people would divide an invoice."""
    whole = [name for name in column_names(frames["invoices"]) if not name.startswith(("matter_", "user_"))]
    of_work = {*PEOPLE_AND_MATTERS, *(each for pair in PEOPLE_AND_MATTERS.values() for each in pair), *_WORK_KEYS}
    of_work -= {"client", *PEOPLE_AND_MATTERS["client"]}
    for name in names_in(by):
        if name in of_work:
            raise ParameterError(
                f"by={name!r} divides invoices, and reconcile shows whole ones: by='invoice', 'client', 'month', "
                "'quarter', 'year' or another column of the invoices. write_downs(by=…) divides them among their work."
            )
    return Grouping.of(by, {name: frames[name] for name in ("clients",) if name in frames}, None, whole)


def _heads(invoices: Frame, keys: Sequence[str]) -> tuple[Frame, list[str]]:
    columns = ("invoice_id", "invoice_date", "invoice_state", "amount", "balance")
    heads = select_columns(invoices, "invoices", columns, ("invoice_number", "client_id", "client_name", *keys))
    kept = [name for name in column_names(heads) if name not in columns]
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


def _reconciled(heads: Frame, totals: Frame) -> Frame:
    """Put the items of each invoice beside it."""
    counts = [C(name).fill_null(0.0) for name in (*_SUMS, "matter_count")]
    rows = heads.join(totals, on="invoice_id", how="left").with_columns(*counts)
    rows = rows.with_columns(time_amount=nw.when(C("_hidden") == 0).then(C("time_amount")))
    rows = rows.with_columns(items_amount=C("time_amount") + C("expense_amount") + C("fixed_fee_amount"))
    return rows.with_columns(unexplained_amount=C("amount") - C("items_amount"), invoices=nw.lit(1.0))


def _without_residue(rows: Frame) -> Frame:
    """Make residues of adding doubles 0: people filter for amounts below 0."""
    apart = C("unexplained_amount")
    return rows.with_columns(unexplained_amount=nw.when(apart.abs() <= _RESIDUE).then(nw.lit(0.0)).otherwise(apart))


def _by_invoice(rows: Frame, kept: list[str]) -> Frame:
    rows = _without_residue(rows).with_columns(C("matter_count").cast(nw.Int64))
    columns = ("invoice_id", *kept, "invoice_date", "invoice_state", *_MONEY, "matter_count")
    return rows.sort("invoice_date", "invoice_id", nulls_last=True).select(*columns)


def _added_up(rows: Frame, grouping: Grouping) -> Frame:
    rows = grouping.with_periods(rows, "invoice_date")
    # What is missing for one invoice is missing in the sum.
    known = [C(name).fill_null(float("nan")) for name in _MONEY]
    totals = grouping.add_up(rows.with_columns(*known), ("invoices", *_MONEY))
    return grouping.finish(_without_residue(totals), ("invoices", *_MONEY))


def _warn(totals: Frame, heads: Frame, period: Period) -> None:
    """Warn of what is missing or hidden; everything is counted in one query."""
    passed = heads.select("invoice_id", _passed=as_float(is_in_period("invoice_date", period)))
    rows = totals.join(passed, on="invoice_id", how="left")
    lost = C("_passed").is_null()
    hidden = value_if(lost | (C("_passed") > 0), "_hidden")
    sums = {"rows": value_if(lost, "_rows"), "invoices": as_float(lost), "hidden": hidden}
    sums["items"] = value_if(C("_passed") > 0, nw.sum_horizontal(*_AMOUNTS.values()))
    billed = value_if(is_in_period("invoice_date", period), "amount").sum()
    count = collect_counts((rows, {name: column.sum() for name, column in sums.items()}), (heads, {"billed": billed}))
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
    elif not called_by_another():
        warn_of_missing_work("reconcile", count["billed"], count["items"], "amounts look unexplained that are not")


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
        *shared_measures("time_amount", "expense_amount", "fixed_fee_amount"),
        *shared_measures("items_amount"),
        sum_measure("amount", "Amount", "money", "Amount of the invoice."),
        *shared_measures("unexplained_amount", "balance", "invoices"),
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
            "invoices",
        ),
        optional=("matter_count", "invoices"),
        keys=("invoice_number", "client_name", "invoice_date", "invoice_state"),
        cents=True,
    ),
    book=FromBook(note="Of invoices dated in the period."),
)
