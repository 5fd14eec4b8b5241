"""Fees on final invoices: what time and fixed fees were billed at, over any key.

Everything that an invoice bills except its expenses is fees, whatever the type of matter: the net billed time fees of
its entries, its fixed fees at their amounts, and fees that no entry bears (a credit note, a fixed fee's reduction),
which stay with the client. So fees add up to the invoices' amounts less their expenses.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis.allocation import (
    allocated_fee,
    allocation_rates,
    billable_time,
    count_on_unknown_invoices,
    count_work_not_passed,
    time_on_invoices,
    warn_of_absent_items,
    warn_of_unknown_invoices,
    warn_of_work_not_passed,
    with_contingent,
)
from billframes.analysis.column_types import Frame
from billframes.analysis.coverage import need_work_on_invoices
from billframes.analysis.engine import collect_counts, sum_by
from billframes.analysis.expressions import as_float, columns_or_null, is_in_period
from billframes.analysis.frames import from_native, select_columns
from billframes.analysis.grouping import Grouping
from billframes.analysis.keys import By
from billframes.config.firm import FirmSettings
from billframes.errors import RatesHiddenWarning
from billframes.periods import Period

__all__ = ["FEES", "fees_by"]

C = nw.col

FEES = ("worked_amount", "billed_amount", "settled_amount", "fixed_fee_amount", "fees_amount")
_MEASURES = (*FEES, "_hidden")
_IDS = frozenset({"user_id", "client_id", "matter_id"})


def fees_by(
    analysis: str, by: By, period: Period, settings: FirmSettings | None, **natives: Any
) -> tuple[Frame, Grouping]:
    """
    Add up the fees of final invoices dated in the period over keys.

    Parameters
    ----------
    analysis : str
        Whose fees, for the words of errors and warnings.
    by : str or list of str, optional
        Keys of the time entries, of matters and of users.
    period : Period
        Of invoice dates, both ends inclusive.
    settings : FirmSettings, optional
    **natives
        The frames `time_entries`, `invoices`, `expenses`, `fixed_fees`, `matters`, `users` and `clients`, those given.

    Returns
    -------
    Frame, Grouping
        The keys' columns and, by the names in `FEES`: worth of the billable time, missing if rates are hidden; its net
        billed fees, and how much of these is settled; fixed fees; billed and fixed fees together. The grouping
        finishes the rows.
    """
    frames = from_native(**natives)
    need_work_on_invoices(analysis, natives, period)
    grouping = Grouping.of(by, frames, settings)
    fees, invoices = _fees(frames, grouping, period)
    warn_of_absent_items(expenses=frames.get("expenses"), fixed_fees=frames.get("fixed_fees"))
    _warn(analysis, fees, invoices, period)
    totals = grouping.add_up(fees, _MEASURES)
    return totals.with_columns(worked_amount=nw.when(C("_hidden") == 0).then(C("worked_amount"))), grouping


def _fees(frames: dict[str, Frame], grouping: Grouping, period: Period) -> tuple[Frame, Frame]:
    """Add up the fees over what the keys derive from; also return the invoices, for warnings."""
    own, times = grouping.row_columns, [f"_{time}" for time in grouping.times]
    time = billable_time(frames["time_entries"], own, ("invoice_date",))
    keep = [name for name in own if name.startswith("client_")]
    items = frames.get("expenses"), frames.get("fixed_fees")
    rates = allocation_rates(time_on_invoices(time), frames["invoices"], *items, keep)
    final = grouping.with_periods(rates.filter(_counted(period)), "_invoice_date")
    columns = ("invoice_id", "_per_worth", "_per_hour", "_settled", *times)
    work = _of_time(time.join(final.select(*columns), on="invoice_id", how="inner"))
    parts = [sum_by(work, grouping.base, _MEASURES)]
    types = time.collect_schema()
    if "fixed_fees" in frames:
        needed = ("invoice_id", "amount", *_IDS.intersection(own))
        fixed = select_columns(frames["fixed_fees"], "fixed_fees", needed, own)
        fixed = fixed.join(final.select("invoice_id", *times), on="invoice_id", how="inner")
        parts.append(_like_time(fixed, grouping, types, fixed_fee_amount=C("amount"), fees_amount=C("amount")))
    rest = final.filter(C("_by_worth") + C("_by_hours") < 1)
    parts.append(_like_time(rest, grouping, types, **_billed(C("_unallocated"))))
    return nw.concat(parts), with_contingent(rates, frames)


def _counted(period: Period) -> nw.Expr:
    return (C("_invoice_state") == "final") & is_in_period("_invoice_date", period)


def _of_time(rows: Frame) -> Frame:
    return rows.with_columns(
        **_billed(allocated_fee()),
        worked_amount=C("worth").fill_null(0.0),
        fixed_fee_amount=nw.lit(0.0),
        _hidden=as_float(C("worth").is_null()),
    )


def _billed(fees: nw.Expr) -> dict[str, nw.Expr]:
    return {"billed_amount": fees, "settled_amount": fees * C("_settled"), "fees_amount": fees}


def _like_time(rows: Frame, grouping: Grouping, types: Any, **measures: nw.Expr) -> Frame:
    """Give rows the columns of time; a key that they do not have is missing."""
    columns = columns_or_null(rows, grouping.base, types)
    return rows.select(*columns, **{name: measures.get(name, nw.lit(0.0)) for name in _MEASURES})


def _warn(analysis: str, fees: Frame, invoices: Frame, period: Period) -> None:
    """Warn of what is missing or hidden; everything is counted in one query."""
    of_invoices = count_work_not_passed(_counted(period)) | {"lost": count_on_unknown_invoices(invoices, period)}
    counts = collect_counts((fees, {"hidden": C("_hidden").sum()}), (invoices, of_invoices))
    warn_of_unknown_invoices(counts["lost"])
    warn_of_work_not_passed(analysis, counts)
    if counts["hidden"]:
        warn(
            f"{int(counts['hidden'])} billable time entries have no amount (the credential lacks read.rates); the fees "
            "of their invoices are allocated by hours, and the worth of the time is missing.",
            RatesHiddenWarning,
        )
