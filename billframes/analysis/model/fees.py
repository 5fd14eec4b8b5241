"""Add up the fees on final invoices, for time and fixed fees, by any key.

The fees of an invoice are its amount less its expenses, whatever the type of its matter. They are the net billed time
fees of its entries, the amounts of its fixed fees, and fees that can't be allocated to entries (of a credit note, or a
reduction of a fixed fee). These last fees belong only to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame
from billframes.analysis.frames.engine import collect, collect_counts, collect_sums, sum_by
from billframes.analysis.frames.expressions import as_float, is_in_period, value_if
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import allocation_rates, billable_time, time_on_invoices
from billframes.analysis.model.billed_work import (
    FIXED_FEES,
    WITHOUT_TIME,
    as_rows_of_time,
    billed_time,
    fees_without_time,
    fixed_fees,
    with_amounts,
)
from billframes.analysis.model.grouping import Grouping
from billframes.analysis.model.keys import By
from billframes.analysis.model.missing_work import (
    count_on_unknown_invoices,
    count_work_not_passed,
    note_absent_items,
    note_details_not_in_all,
    note_unknown_invoices,
    note_work_not_passed,
    with_contingent,
)
from billframes.analysis.rules.amounts import HIDDEN_RATES
from billframes.analysis.rules.cancelled_work import count_cancelled, note_cancelled
from billframes.analysis.rules.loads import is_whole, need_work_on_invoices
from billframes.config.firm import FirmSettings
from billframes.periods import Period

__all__ = ["FEES", "fees_by", "fees_of_periods"]

C = nw.col

FEES = ("worked_amount", "billed_amount", "settled_amount", "fixed_fee_amount", "fees_amount")
_AMOUNTS = ("worth", "_fees", "_paid", "_fixed", "_hidden")


def fees_by(
    analysis: str, by: By, period: Period, settings: FirmSettings | None, frames: Frames
) -> tuple[Frame, Grouping]:
    """
    Add up the fees of final invoices dated in the period, by keys.

    Parameters
    ----------
    analysis : str
        The name of the calling analysis, for messages.
    by : str or list of str, optional
        Keys of the time entries, of matters and of users.
    period : Period
        The period of the invoice dates, both ends inclusive.
    settings : FirmSettings, optional
    frames : Frames

    Returns
    -------
    Frame, Grouping
        The key columns and those of `FEES`: the value of billable time, missing if rates are hidden; its net billed
        time fees, and the settled part of these; fixed fees; and billed and fixed fees together. Also the grouping, to
        `finish` the rows.
    """
    grouping, fees = _sum_fees(analysis, by, [period], settings, frames)
    return _sum_by_keys(fees, grouping), grouping


def fees_of_periods(
    analysis: str, by: By, periods: Sequence[Period], settings: FirmSettings | None, frames: Frames
) -> tuple[list[Frame], Grouping]:
    """Add up the fees of several periods, which may overlap, in one pass; returns the result of `fees_by` for each."""
    grouping, fees = _sum_fees(analysis, by, periods, settings, frames)
    return [_sum_by_keys(fees.filter(_is_in_nth(n, periods)), grouping) for n in range(len(periods))], grouping


def _sum_fees(
    analysis: str, by: By, periods: Sequence[Period], settings: FirmSettings | None, frames: Frames
) -> tuple[Grouping, Frame]:
    """Add up the fees by the grouping's `base` and the periods, and note what is wrong."""
    for period in periods:
        need_work_on_invoices(analysis, frames, period)
    grouping = Grouping.of(by, frames, settings)
    fees, invoices = _fees(analysis, frames, grouping, periods)
    note_absent_items(analysis, frames)
    _note(analysis, invoices, periods, grouping, frames)
    return grouping, fees


def _sum_by_keys(fees: Frame, grouping: Grouping) -> Frame:
    return grouping.add_up(fees, _AMOUNTS).with_columns(
        worked_amount=nw.when(C("_hidden") == 0).then(C("worth")),
        billed_amount=C("_fees"),
        settled_amount=C("_paid"),
        fixed_fee_amount=C("_fixed"),
        fees_amount=C("_fees") + C("_fixed"),
    )


def _fees(analysis: str, frames: Frames, grouping: Grouping, periods: Sequence[Period]) -> tuple[Frame, Frame]:
    """Add up the fees by the grouping's `base` and the periods; also return the invoices, for warnings."""
    entries = frames["time_entries"]
    columns, times = grouping.row_columns, [f"_{time}" for time in grouping.times]
    # To group a million rows by one more column takes time, and with one period it is not needed.
    periods_of = ["_periods"] if len(periods) > 1 else []
    time = billable_time(frames, columns, ("invoice_date",), lazily=True)
    keep = [name for name in columns if name.startswith("client_")]
    on_invoices = collect(time_on_invoices(time), entries)
    rates = allocation_rates(on_invoices, frames, grouping.settings, keep, unknown_invoices=True)
    # Each bit of `_periods` is one period, so that an invoice in several periods stays one row.
    number = sum((2.0**n * as_float(_is_counted(period)) for n, period in enumerate(periods)), nw.lit(0.0))
    final = rates.with_columns(_periods=number.cast(nw.Int64)).filter(C("_periods") > 0)
    final = grouping.with_periods(final, "_invoice_date")
    of_invoice, by = [*periods_of, *times], [*grouping.base, *periods_of]
    work = with_amounts(billed_time(time, final, of_invoice)).with_columns(_fixed=nw.lit(0.0))
    parts, types = [collect(sum_by(work, by, _AMOUNTS), entries)], time.collect_schema()
    without_time: dict[str, Callable[[], tuple[Frame, str]]] = {}
    if "fixed_fees" in frames:
        fixed = fixed_fees(frames, grouping, final, of_invoice)
        parts.append(as_rows_of_time(fixed, by, types, _AMOUNTS, FIXED_FEES))
        without_time["fixed_fees"] = lambda: (fixed, "amount")
    rest = fees_without_time(final)
    without_time["invoices"] = lambda: (rest, "_unallocated")
    note_details_not_in_all(analysis, grouping.notes, grouping, without_time)
    parts.append(as_rows_of_time(rest, by, types, _AMOUNTS, WITHOUT_TIME))
    return collect_sums(nw.concat(parts), by, _AMOUNTS), with_contingent(rates, frames)


def _is_counted(period: Period) -> nw.Expr:
    return (C("_invoice_state") == "final") & is_in_period("_invoice_date", period)


def _is_in_nth(n: int, periods: Sequence[Period]) -> nw.Expr:
    """Return whether fees are in the nth period, counted from 0."""
    if len(periods) == 1:
        return nw.lit(True)
    return C("_periods").is_in([each for each in range(2 ** len(periods)) if each >> n & 1])


def _note(analysis: str, invoices: Frame, periods: Sequence[Period], grouping: Grouping, frames: Frames) -> None:
    """Note missing work, hidden amounts and cancelled work, for each period, with all counts in one query."""
    of_invoices: list[tuple[Frame, dict[str, nw.Expr]]] = []
    for n, period in enumerate(periods):
        rows, counted = count_work_not_passed(invoices, _is_counted(period))
        counted["hidden"] = value_if(_is_counted(period), "_hidden").sum()
        counted |= count_cancelled(_is_counted(period))
        counted["on_unknown"] = count_on_unknown_invoices(invoices, period)
        of_invoices.append((rows, {f"{n} {name}": each for name, each in counted.items()}))
    found, notes = collect_counts(*of_invoices), frames.notes
    taxed, whole = bool(grouping.settings.taxes), is_whole(frames.natives)
    for n in range(len(periods)):
        counts = {name.removeprefix(f"{n} "): each for name, each in found.items() if name.startswith(f"{n} ")}
        note_unknown_invoices(frames, analysis, counts["on_unknown"])
        note_work_not_passed(notes, analysis, counts, rows, taxed=taxed, whole=whole)
        note_cancelled(notes, analysis, counts, grouping.base)
        so = "the fees of their invoices are allocated by hours, and the value of the time is missing"
        notes.add(HIDDEN_RATES, counts["hidden"], analysis, which="", consequence=so)
