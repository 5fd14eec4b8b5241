"""Notes of fees: values that are hidden, invoices that were not passed, and fees that can be spread over no entry."""

from __future__ import annotations

import datetime as dt
import functools
import operator
from collections.abc import Collection, Sequence

import narwhals.stable.v2 as nw

from billframes._shared.names import join_names
from billframes._shared.notes import Count
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect_counts
from billframes.analysis.data.expressions import C, count_if, is_in_period
from billframes.analysis.declare.columns import ENUMS, MATTER_TYPES, UNKNOWN
from billframes.analysis.facts.work import is_fee, work
from billframes.analysis.keys.groupby import Keys, Sum, Totals
from billframes.analysis.rules.amounts import HIDDEN_RATES, note_high_rates
from billframes.analysis.rules.details import note_details
from billframes.analysis.rules.invoices import (
    ABSENT_FROM_INVOICES,
    CANCELLED_WORK,
    HIDDEN_BESIDE_FEES,
    NO_DUE_DATE_OF_WORK,
    UNKNOWN_INVOICE,
)
from billframes.analysis.rules.loads import has_removed_rows, need_work_on_invoices
from billframes.analysis.rules.people import UNKNOWN_TYPE
from billframes.periods import Period

_ONE = nw.lit(1.0)
_A_CENT = 0.005
_ENTRIES = ("billable time entry", "billable time entries")


FEES = (Sum("billed_amount", "fees"), Sum("fixed_fee_amount", "amount"))
"""The sums of the fees of matters of every type."""


def fee_marks() -> list[Sum]:
    """Return the counts that every analysis of fees notes: values that are hidden, and work that is cancelled."""
    cancelled = (C("kind") == "fees") & C("is_cancelled") & ~(C("fees").abs() < _A_CENT)
    return [
        Sum("_hidden", _ONE, C("value").is_nan()),
        Sum("_cancelled", _ONE, cancelled),
        Sum("_cancelled_fees", "fees", cancelled),
        Sum("_unspread", _ONE, C("is_final") & C("is_billable") & C("is_unspread")),
    ]


def lost_in(call: Call, *periods: Period) -> nw.Expr | None:
    """
    Return whether an entry is on an invoice that was not passed, and that may be of one of the periods by its date.

    It is None if no entry is, which is known of frames that are kept, or if invoices were removed after their load:
    then the result says so, and work on the others is not lost.
    """
    if has_removed_rows(call.natives["invoices"]):
        return None
    lost = (C("state") == "lost") & C("is_billable")
    if call.data.has_whole_facts:
        key, counts = ("lost entries", call.frames_key), {"rows": count_if(lost)}
        if not call.data.once(key, lambda: collect_counts((call.fact(work), counts))["rows"]):
            return None
    return lost & (C("invoice_date").is_null() | _is_in_any("invoice_date", periods).fill_null(False))


def _is_in_any(column: str, periods: Sequence[Period]) -> nw.Expr:
    return functools.reduce(operator.or_, (is_in_period(column, each) for each in periods))


def with_lost(rows: nw.Expr, lost: nw.Expr | None) -> nw.Expr:
    """Return whether a row counts, or is counted as lost."""
    return rows if lost is None else rows.fill_null(False) | lost


def all_fees(call: Call, keys: Keys, *periods: Period, sums: Sequence[Sum] = FEES, more: Sequence[str] = ()) -> Totals:
    """
    Add up the fees of final invoices of periods, of matters of every type, and note what concerns them.

    By the columns `more`, the rows stay apart.
    """
    for period in periods:
        need_work_on_invoices(call, period)
    keys.require_ids("time_entries", "fixed_fees")
    call.require("invoices", "invoice_state", "invoice_date", "amount", "balance")
    lost = lost_in(call, *periods)
    rows = call.fact(work, keys.own, only=("time", "fixed_fee", "fees"), discounts=call.settings.discounts)
    rows = rows.filter(with_lost(is_fee() & _is_in_any("invoice_date", periods), lost))
    totals = keys.sum(rows, [*sums, *fee_marks()], date="invoice_date", more=more, ungrouped=lost)
    note_fees(call, keys, totals)
    note_details(keys, rows, {"fixed_fees": "amount", "invoices": "fees"})
    return totals


def fees_of_work(call: Call, keys: Keys, period: Period) -> Totals:
    """Add up the fees of the work of a period on final invoices of any date, and note what concerns them."""
    need_work_on_invoices(call, period, dated="work_date")
    keys.require_ids("time_entries", "fixed_fees")
    call.require("invoices", "invoice_state", "invoice_date", "amount", "balance")
    for name in ("time_entries", "fixed_fees"):
        if name in call:
            call.require(name, "date")
    lost = (C("state") == "lost") & C("is_billable")
    # Work that is not on a final invoice has no fees.
    counts = C("is_billable") | (C("is_final") & (C("kind") == "fixed_fee"))
    rows = call.fact(work, keys.own, only=("time", "fixed_fee"), discounts=call.settings.discounts)
    rows = rows.filter(counts & is_in_period("date", period))
    totals = keys.sum(rows, [*FEES, *fee_marks()], date="date", ungrouped=lost)
    note_fees(call, keys, totals)
    note_details(keys, rows, {"fixed_fees": "amount"})
    return totals


def note_fees(call: Call, keys: Keys, totals: Totals) -> None:
    """Note what concerns the fees of all types of matter; see `note_spread_fees`."""
    so = "the fees of their invoices are allocated by hours, and the value of the time is missing"
    call.notes.add(HIDDEN_RATES, totals.total("_hidden"), which="", consequence=so)
    note_spread_fees(call, keys, totals)


def typed_marks(call: Call, day: dt.date | None) -> list[Sum]:
    """Return the counts that realization notes."""
    final = C("is_final") & C("is_billable")
    known = C("matter_type").is_in(ENUMS["matter_type"])
    unknown = C("is_billable") & ((C("state") == "unknown") | (C("state") == "lost"))
    marks = [
        *fee_marks(),
        Sum("_unknown", _ONE, unknown),
        Sum("_unknown_type", _ONE, ~known & (C("kind") == "time")),
    ]
    if day is not None:
        marks.append(Sum("_undated", _ONE, final & C("due_date").is_null()))
    if call.settings.standard_rates:
        priced = ~C("value").is_nan() & (C("value") != 0)
        marks += [Sum("_priced", "value", priced), Sum("_priced_hours", "hours", priced)]
    return marks


def note_typed_fees(call: Call, totals: Totals, types: Collection[str] | None) -> None:
    """Note the counts of `typed_marks`."""
    notes = call.notes
    if rates := call.settings.standard_rates:
        note_high_rates(notes, "standard", rates, totals.total("_priced"), totals.total("_priced_hours"))
    note_unknown_invoices(call, totals.total("_unknown"), "counted in `unknown_amount`")
    so = "the value of time and realization are missing in the rows in which they count"
    notes.add(HIDDEN_RATES, totals.total("_hidden"), which="", consequence=so)
    if types is None or not {*types} >= {*MATTER_TYPES}:
        words = {"one": "time entry", "several": "time entries"}
        words["counted"] = "counted" if types is None or UNKNOWN in types else "left out"
        notes.add(UNKNOWN_TYPE, totals.total("_unknown_type"), **words)
    if "_undated" in totals.sums and not call.unknown_values("invoices", "due_date"):
        notes.add(NO_DUE_DATE_OF_WORK, totals.total("_undated"))


def note_spread_fees(call: Call, keys: Keys, totals: Totals) -> None:
    """Note items that were not passed, entries on invoices that were not, and invoices of cancelled work."""
    note_absent_items(call)
    note_unknown_invoices(call, totals.ungrouped, "left out")
    call.notes.add(HIDDEN_BESIDE_FEES, totals.total("_unspread"))
    if any(not key.startswith(("client_", "_")) for key in keys.base):
        call.notes.add(CANCELLED_WORK, totals.total("_cancelled"), fees=totals.total("_cancelled_fees"))


def note_absent_items(call: Call) -> None:
    """Note items that were not passed; an empty frame of items gives no note."""
    absent = [f"`{name}`" for name in ("expenses", "fixed_fees") if name not in call]
    arguments = join_names([f"{each}=" for each in absent])
    call.notes.add(ABSENT_FROM_INVOICES, len(absent), absent=join_names(absent), arguments=arguments)


def note_unknown_invoices(call: Call, count: float, consequence: str, kinds: tuple[str, str] = _ENTRIES) -> None:
    """Note entries on invoices that were not passed, or whose state is unknown."""
    n = Count.of(count)
    entries = f"{n} {kinds[0] if n == 1 else kinds[1]}"
    states = ", or whose state is unknown" if call.unknown_values("invoices", "invoice_state") else ""
    about = {"items": entries, "reasons": states, "consequence": consequence}
    call.notes.add(UNKNOWN_INVOICE, count, **about)
