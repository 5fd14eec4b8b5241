"""What became of work: the state of its invoice, and the fees it was billed at.

An invoice has one amount and no lines. What its time was billed at, net, is its amount less its expenses and
fixed fees, spread over its billable entries in proportion to what they are worth, or over their hours where
that is hidden or adds up to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis.column_types import ENUMS, Frame
from billframes.analysis.engine import collect_row, join_by_id, sum_by
from billframes.analysis.expressions import RESIDUE, as_float, in_period, null_column
from billframes.analysis.frames import select_columns
from billframes.analysis.guards import unknown_values
from billframes.errors import IncompleteDataWarning
from billframes.periods import Period

__all__ = [
    "ON_INVOICE",
    "allocated_fee",
    "allocation_rates",
    "billable_time",
    "billed_items",
    "billing_state",
    "or_unknown_values",
    "time_on_invoices",
    "unknown_time",
    "warn_of_absent_items",
    "warn_of_unknown_count",
    "warn_of_unknown_invoices",
]

C = nw.col

PREBILL = ("draft", "review", "approved")
# A millionth of the currency is no fee but what adding doubles leaves behind.
NO_FEE = 1e-6
ON_INVOICE = ("_worth", "_hours", "_gross_worth", "_gross_hours", "_hidden")


def billable_time(time_entries: Frame, columns: Iterable[str], optional: Iterable[str] = ()) -> Frame:
    """
    Billable entries with `worth`: their amount, 0 for no hours, missing where rates are hidden.

    Other entries on an invoice are worth nothing: fixed-fee time is paid by its fee.
    """
    needed = ("billing_type", "hours", "amount", "invoice_id", *columns)
    free = C("amount").is_null() & (C("hours") == 0)
    return (
        select_columns(time_entries, "time_entries", needed, optional)
        .filter(C("billing_type") == "billable")
        .with_columns(worth=nw.when(~free).then(C("amount")).otherwise(nw.lit(0.0)))
    )


def unknown_time(time_entries: Frame, columns: Iterable[str], optional: Iterable[str] = ()) -> Frame | None:
    """
    Entries whose billing type is missing or unknown, with `worth`: their amount; None if there are none.

    They bill nothing, but may be what should have been billed.
    """
    if not unknown_values("time_entries", "billing_type"):
        return None
    needed = ("billing_type", "hours", "amount", "invoice_id", *columns)
    known = C("billing_type").is_in(ENUMS["billing_type"]).fill_null(False)
    return select_columns(time_entries, "time_entries", needed, optional).filter(~known).with_columns(worth=C("amount"))


def billing_state(invoice_id: str = "invoice_id", state: str = "_invoice_state") -> nw.Expr:
    """Tell the billing state of work from its invoice's id and the state of the invoice joined on."""
    return (
        nw.when(C(invoice_id).is_null())
        .then(nw.lit("unbilled"))
        .otherwise(
            nw.when(C(state) == "final")
            .then(nw.lit("final"))
            .otherwise(nw.when(C(state).is_in(PREBILL)).then(nw.lit("prebill")).otherwise(nw.lit("unknown")))
        )
    )


def time_on_invoices(time: Frame, by: Sequence[str] = ()) -> Frame:
    """
    Add up the billable time of each invoice that entries name (and each `by`), whether or not it is at hand.

    `_rows` counts the entries; `_named_date` is the invoice's date as the entries give it, where they do.
    """
    dated = "invoice_date" in time.collect_schema()
    rows = time.filter(~C("invoice_id").is_null()).select(
        "invoice_id",
        *by,
        *([C("invoice_date").alias("_named_date")] if dated else []),
        _worth=C("worth"),
        _hours=C("hours"),
        _gross_worth=C("worth").abs(),
        _gross_hours=C("hours").abs(),
        _hidden=as_float(C("worth").is_null()),
        _rows=nw.lit(1.0),
    )
    dates = [C("_named_date").max()] if dated else []
    return rows.group_by("invoice_id", *by).agg(C(*ON_INVOICE, "_rows").sum(), *dates)


def allocation_rates(
    on_invoices: Frame | None,
    invoices: Frame,
    expenses: Frame | None,
    fixed_fees: Frame | None,
    keep: Iterable[str] = (),
    discounts: str = "time",
) -> Frame:
    """
    Work out for each invoice how its net billed time fees are spread.

    Parameters
    ----------
    on_invoices : Frame, optional
        All billable time by invoice (see `time_on_invoices`), of whatever date: the spread needs all of it.
    invoices, expenses, fixed_fees : Frame
        Those that were given.
    keep : iterable of str
        More columns of the invoices to keep, where they are there.
    discounts : {"time", "items"}
        What bears the difference between an invoice's items and its amount: its time alone, or time and fixed fees in
        proportion to their worth. Expenses never do.

    Returns
    -------
    Frame
        A row an invoice: `invoice_id`, `_invoice_state`, `_invoice_date`, `_total`, `_balance`, `_net`, what an
        entry is billed at for each unit of its worth (`_per_worth`) and for each hour (`_per_hour`), one of the
        two being 0; `_unallocated`, the net fees that no entry can take; `_settled`, the part of the invoice settled;
        `_fixed_fees`, what its fixed fees add up to, and `_hidden`, how many of its entries have no amount.
    """
    terms = _heads(invoices, keep)
    if on_invoices is None:
        terms = terms.with_columns(**dict.fromkeys(ON_INVOICE, nw.lit(0.0)))
    else:
        terms = terms.join(on_invoices.select("invoice_id", *ON_INVOICE), on="invoice_id", how="left")
    for name, frame in (("expenses", expenses), ("fixed_fees", fixed_fees)):
        terms = _with_items(terms, name, frame)
    filled = [C(name).fill_null(0.0) for name in (*ON_INVOICE, "_expenses", "_fixed_fees")]
    return (
        terms.with_columns(*filled)
        .with_columns(_net=_net_fees(discounts))
        .with_columns(_net=nw.when(~(C("_net").abs() <= NO_FEE)).then(C("_net")).otherwise(nw.lit(0.0)))
        .with_columns(
            _by_worth=as_float((C("_hidden") == 0) & (C("_worth").abs() > RESIDUE * C("_gross_worth"))),
            # Engines order NaN differently, but nothing is at most another number if one of them is NaN.
            _by_hours=as_float(~(C("_hours").abs() <= RESIDUE * C("_gross_hours"))),
        )
        .with_columns(
            _per_worth=nw.when(C("_by_worth") > 0).then(C("_net") / C("_worth")).otherwise(nw.lit(0.0)),
            _per_hour=nw.when((C("_by_worth") < 1) & (C("_by_hours") > 0))
            .then(C("_net") / C("_hours"))
            .otherwise(nw.lit(0.0)),
            _unallocated=nw.when(C("_by_worth") + C("_by_hours") > 0).then(nw.lit(0.0)).otherwise(C("_net")),
            _settled=nw.when(~(C("_total").abs() <= RESIDUE))
            .then((C("_total") - C("_balance")) / C("_total"))
            .otherwise(nw.lit(0.0)),
        )
    )


def _net_fees(discounts: str) -> nw.Expr:
    """Net billed time fees of an invoice."""
    fees = C("_total") - C("_expenses")
    on_time = fees - C("_fixed_fees")
    if discounts == "time":
        return on_time
    worth = C("_worth") + C("_fixed_fees")
    known = (C("_hidden") == 0) & (worth.abs() > RESIDUE * (C("_gross_worth") + C("_fixed_fees").abs()))
    return nw.when(known).then(fees * C("_worth") / worth).otherwise(on_time)


def allocated_fee(worth: str = "worth", hours: str = "hours") -> nw.Expr:
    """Net billed time fees of an entry, or of several on one invoice, that its terms were joined to."""
    # Hours that are missing leave fees missing only if it is by hours that they are spread.
    by_hours = nw.when(C("_per_hour") != 0).then(C(hours) * C("_per_hour")).otherwise(nw.lit(0.0))
    return C(worth).fill_null(0.0) * C("_per_worth") + by_hours


def billed_items(
    time: Frame | None, terms: Frame, expenses: Frame | None, fixed_fees: Frame | None, by: list[str]
) -> Frame:
    """
    Add up what items were billed at, over their invoice and `by` (`matter_id`, `user_id` and their names).

    Time, from `time_on_invoices` over the same, is at its net billed fees, expenses and fixed fees at their amounts.
    What an invoice has more than that is not here.
    """
    parts = []
    if time is not None:
        fees = join_by_id(time, terms.select("invoice_id", "_per_worth", "_per_hour"), "invoice_id", "inner")
        parts.append(_like(fees.with_columns(_billed=allocated_fee("_worth", "_hours")), by))
    for name, frame in (("expenses", expenses), ("fixed_fees", fixed_fees)):
        if frame is not None:
            ids = [column for column in by if column.endswith("_id")]
            items = select_columns(frame, name, ("invoice_id", "amount", *ids), by)
            parts.append(_like(items.with_columns(_billed=C("amount")), by))
    return sum_by(nw.concat(parts), ["invoice_id", *by], ["_billed"])


def warn_of_absent_items(**items: object) -> None:
    """Say that what was not passed is taken as none; an empty frame says that there are none."""
    absent = [name for name, each in items.items() if each is None]
    if absent:
        warn(
            f"No {' and '.join(absent)} were passed, so the invoices are taken to have none, and what they "
            f"have is not told apart. Pass {' and '.join(f'{each}=' for each in absent)}, empty if there are none.",
            IncompleteDataWarning,
        )


def warn_of_unknown_invoices(on_invoices: Frame, terms: Frame, period: Period) -> None:
    """Warn of entries whose invoice was not passed, unless they say that it is of another period."""
    lost = on_invoices.join(terms.select("invoice_id"), on="invoice_id", how="anti")
    if "_named_date" in lost.collect_schema():
        undated = lost.filter(C("_named_date").is_null())
        lost = nw.concat([undated, in_period(lost.filter(~C("_named_date").is_null()), "_named_date", period)])
    warn_of_unknown_count(int(collect_row(lost, rows=C("_rows").sum())["rows"]), "left out")


def warn_of_unknown_count(count: int, what: str) -> None:
    """Warn of entries whose invoice was not passed, and say what became of them."""
    if count:
        warn(
            f"{count} billable time entries name an invoice that is not among those passed{or_unknown_values()}; "
            f"they are {what}. Load invoices over a wider window, by the ids that the work refers to.",
            IncompleteDataWarning,
        )


def or_unknown_values(*, types: bool = False) -> str:
    """Say what else makes the state of work unknown, if it does: for warnings of invoices that were not passed."""
    states = ", or whose state is unknown" if unknown_values("invoices", "invoice_state") else ""
    return states + (
        ", or are of unknown billing type" if types and unknown_values("time_entries", "billing_type") else ""
    )


def _heads(invoices: Frame, keep: Iterable[str]) -> Frame:
    columns = ("invoice_id", "invoice_state", "invoice_date", "amount", "balance")
    renamed = {
        "_invoice_state": C("invoice_state"),
        "_invoice_date": C("invoice_date"),
        "_total": C("amount"),
        "_balance": C("balance"),
    }
    heads = select_columns(invoices, "invoices", columns, keep)
    kept = [name for name in heads.collect_schema() if name not in columns]
    return heads.select("invoice_id", *kept, **renamed)


def _with_items(terms: Frame, name: str, items: Frame | None) -> Frame:
    if items is None:
        return terms.with_columns(nw.lit(0.0).alias(f"_{name}"))
    amounts = select_columns(items, name, ("invoice_id", "amount")).filter(~C("invoice_id").is_null())
    totals = sum_by(amounts, ["invoice_id"], ["amount"]).rename({"amount": f"_{name}"})
    return join_by_id(terms, totals, "invoice_id")


def _like(items: Frame, by: list[str]) -> Frame:
    there = items.collect_schema()
    columns = [C(name) if name in there else null_column(nw.String).alias(name) for name in by]
    return items.filter(~C("invoice_id").is_null()).select("invoice_id", *columns, "_billed")
