"""Allocate invoices' fees to the work on them, and find the billing state of work.

An invoice has one amount and no lines. Its net billed time fees are its amount less its tax, expenses and fixed fees
(see `invoice_parts`). They are allocated to its billable entries in proportion to the entries' value, or to their hours
if the value is hidden or always 0. If entries below 0 nearly cancel the others, the proportions would be arbitrary:
then the fees are allocated to no entry, as those of an invoice without time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.frames.engine import full_join_by_id, join_by_id, sum_by
from billframes.analysis.frames.expressions import as_float, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.invoice_parts import (
    columns_for_taxes,
    has_time,
    with_net_fees,
    with_settled_fees,
    with_tax_rates,
)
from billframes.config.firm import FirmSettings

C = nw.col

PREBILL = ("draft", "review", "approved")
# If the sum of worth, or of hours, is a smaller part of the sum of its absolute values, fees are not allocated by it.
_NEARLY_CANCELLED = 0.1
NOT_TIME = ("expenses", "fixed_fees")
ON_INVOICE = ("_worth", "_hours", "_gross_worth", "_gross_hours", "_hidden")


def billable_time(
    frames: Frames, columns: Iterable[str], optional: Iterable[str] = (), *, lazily: bool = False
) -> Frame:
    """
    Select billable entries, and add `worth`: their amount, 0 without hours, missing if rates are hidden.

    Other entries on an invoice are not selected. They are worth 0; fixed-fee time is paid by its fee.
    """
    needed = ("billing_type", "hours", "amount", "invoice_id", *columns)
    optional = [name for name in optional if name != "invoice_date" or _is_date(frames["time_entries"], name)]
    without_hours = C("amount").is_null() & (C("hours") == 0)
    return (
        frames.select("time_entries", needed, optional, lazily=lazily)
        .filter(C("billing_type") == "billable")
        .with_columns(worth=nw.when(~without_hours).then(C("amount")).otherwise(nw.lit(0.0)))
    )


def _is_date(frame: Frame, column: str) -> bool:
    """Tell whether a column that is not needed has dates: in a file read by hand, it can be text."""
    dtype = frame.collect_schema().get(column)
    return dtype == nw.Date or (dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None)


def time_on_invoices(time: Frame, by: Sequence[str] = ()) -> Frame:
    """
    Add up billable time by invoice (and `by`), also for invoices that were not passed.

    `_rows` is the number of entries. `_named_date` is the date of the invoice in the entries, if they have that column.
    """
    dated = "invoice_date" in column_names(time)
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
    frames: Frames,
    settings: FirmSettings,
    keep: Iterable[str] = (),
    discounts: str = "time",
    *,
    unknown_invoices: bool = False,
) -> Frame:
    """
    Calculate how the net billed time fees of each invoice are allocated.

    Parameters
    ----------
    on_invoices : Frame, optional
        All billable time by invoice, from `time_on_invoices`, whatever its date: the allocation needs all time.
    frames : Frames
        `invoices` and, if they were passed, `expenses` and `fixed_fees`.
    settings : FirmSettings
        With `taxes` and `payment_order`.
    keep : iterable of str
        More columns of the invoices to keep, if they have them.
    discounts : {"time", "items"}
        The items that bear the difference between the invoice's amount and the value of its items. "time" is time
        only; "items" is time and fixed fees in proportion to their value. Expenses never bear it.
    unknown_invoices : bool
        Whether to add a row for each invoice that entries name and that was not passed; its `_passed` is missing. Some
        warnings need these rows. On a database, they take more time.

    Returns
    -------
    Frame
        One row per invoice, with these columns:

        - `invoice_id`, `_invoice_state`, `_invoice_date`, `_balance`, and `_total`, the invoice's amount
        - `_net`: the net billed time fees; `_fees`: these and the fixed fees as billed; `_tax`
        - `_tax_on_time`, `_tax_on_fixed_fees`, `_tax_on_expenses`: the rates of tax
        - `_per_worth`, `_per_hour`: the fee of an entry for each unit of its value and for each hour; one of them is 0
        - `_unallocated`: the net fees of an invoice without time to which they could be allocated
        - `_cancelled`: 1.0 if it has time, and corrections nearly cancel it
        - `_settled`: the settled part of its fees, as a ratio
        - `_expenses`, `_fixed_fees`: the sums of its expenses and fixed fees
        - `_hidden`: the number of its entries without an amount
    """
    invoices = _select_invoices(frames, keep, columns_for_taxes(settings))
    rates = _with_time(with_tax_rates(invoices, settings), on_invoices, unknown_invoices=unknown_invoices)
    for name in NOT_TIME:
        rates = _with_items(rates, name, frames)
    filled = [C(name).fill_null(0.0) for name in (*ON_INVOICE, "_expenses", "_fixed_fees")]
    rates = with_settled_fees(with_net_fees(rates.with_columns(*filled), settings, discounts), settings)
    # Engines sort NaN differently, but on all of them `<` is false if the left number is NaN.
    worthless = (C("_hidden") > 0) | (C("_gross_worth") <= 0)
    rates = rates.with_columns(
        _by_worth=as_float(~worthless & ~is_nearly_cancelled("_worth", "_gross_worth")),
        _by_hours=as_float(worthless & ~is_nearly_cancelled("_hours", "_gross_hours") & ~(C("_gross_hours") <= 0)),
    )
    unshared = C("_by_worth") + C("_by_hours") < 1
    return rates.with_columns(
        _per_worth=value_if(C("_by_worth") > 0, C("_net") / C("_worth")),
        _per_hour=value_if(C("_by_hours") > 0, C("_net") / C("_hours")),
        _unallocated=value_if(unshared, "_net"),
        _cancelled=as_float(unshared & has_time()),
    )


def is_nearly_cancelled(total: str, gross: str) -> nw.Expr:
    """Return whether values below 0 nearly cancel the others, by their sum and the sum of their absolute values."""
    return C(total).abs() < C(gross) * _NEARLY_CANCELLED


def _select_invoices(frames: Frames, keep: Iterable[str], needed: Iterable[str]) -> Frame:
    columns = ("invoice_id", "invoice_state", "invoice_date", "amount", "balance")
    rows = frames.select("invoices", (*columns, *needed), keep)
    others = [name for name in column_names(rows) if name not in columns]
    return rows.select(
        "invoice_id",
        *others,
        _invoice_state=C("invoice_state"),
        _invoice_date=C("invoice_date"),
        _total=C("amount"),
        _balance=C("balance"),
        _passed=nw.lit(1.0),
    )


def _with_time(invoices: Frame, on_invoices: Frame | None, *, unknown_invoices: bool) -> Frame:
    """Add the time on each invoice, and with `unknown_invoices` a row for each invoice that was not passed."""
    if on_invoices is None:
        return invoices.with_columns(**dict.fromkeys((*ON_INVOICE, "_rows"), nw.lit(0.0)))
    return (full_join_by_id if unknown_invoices else join_by_id)(invoices, on_invoices, "invoice_id")


def _with_items(rates: Frame, name: str, frames: Frames) -> Frame:
    if name not in frames:
        return rates.with_columns(nw.lit(0.0).alias(f"_{name}"))
    amounts = frames.select(name, ("invoice_id", "amount")).filter(~C("invoice_id").is_null())
    totals = sum_by(amounts, ["invoice_id"], ["amount"]).rename({"amount": f"_{name}"})
    return join_by_id(rates, totals, "invoice_id")
