"""Billed work: the parts of the fees on invoices, allocated once for all analyses of fees.

A row is a billable entry, a fixed fee, or the fees of an invoice without time to which they can be allocated, such as a
credit note. Its keys are those of the item. By invoice date, the rows are those of final invoices dated in the period;
by work date, billable time dated in the period, on invoices of any date or on none.

The fees of an invoice are its amount less its expenses and tax, whatever the type of its matter. So `fees` and
`fixed_fees` of all rows by invoice date add up to the invoices' amounts without these.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import ENUMS, Frame, column_names
from billframes.analysis.declare.facts import Fact
from billframes.analysis.frames.engine import collect, collect_counts, collect_sums, join_by_id, sum_by
from billframes.analysis.frames.expressions import (
    RESIDUE,
    as_float,
    columns_or_null,
    in_period,
    is_in_period,
    midnight,
    rate_days,
    value_if,
    with_rate_step,
)
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.native import require
from billframes.analysis.model.allocation import (
    allocated_fee,
    allocation_rates,
    billable_time,
    billing_state,
    time_on_invoices,
    unknown_time,
)
from billframes.analysis.model.arguments import MATTER_TYPES
from billframes.analysis.model.grouping import Grouping, sum_by_type
from billframes.analysis.model.keys import ITEM_IDS, UNKNOWN
from billframes.analysis.model.missing_work import (
    count_on_unknown_invoices,
    count_work_not_passed,
    note_absent_items,
    note_details_not_in_all,
    note_unknown_invoices,
    note_work_not_passed,
    with_contingent,
)
from billframes.analysis.model.recorded_time import note_empty_months
from billframes.analysis.rules.amounts import HIDDEN_RATES, note_high_rates
from billframes.analysis.rules.cancelled_work import count_cancelled, note_cancelled
from billframes.analysis.rules.invoices import HIDDEN_BESIDE_FEES, NO_DUE_DATE_OF_WORK
from billframes.analysis.rules.loads import is_whole, need_work_on_invoices
from billframes.analysis.rules.people import UNKNOWN_TYPE
from billframes.periods import Period

__all__ = ["FACT", "BilledWork", "has_mark", "is_in_nth"]

C = nw.col

FIXED_FEES = {"_fixed": C("amount")}
WITHOUT_TIME = {"_fees": C("_unallocated"), "_paid": C("_unallocated") * C("_settled")}
"""The amounts of the rows of these kinds; they have no others."""
_TIME = ("worth", "hours", "_fees", "_paid", "_hidden", "_rows")
# Facts about an invoice, as bits of one number: rows are summed by it, and one column is faster than four.
MIXED, DUE, UNDATED, UNSPREAD = 1, 2, 4, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledWork:
    """
    What rows of billed work are chosen by.

    Parameters
    ----------
    analysis : str
        The name of the analysis, for its notes.
    grouping : Grouping
    periods : sequence of Period
        Several can overlap: then a row has the mark `_periods` (`is_in_nth`).
    basis : {"invoice_date", "work_date"}
    typed : bool
        Whether rows have the marks `_type` and `_class`, the person and the step of the standard rates. Then there are
        also rows of work whose state or billing type is unknown.
    fixed_fees : bool
        Whether there are rows of fixed fees.
    matter_types : frozenset of str, optional
        The types that count, for notes.
    discounts : {"time", "items"}
    as_of : date, optional
        The day on which invoices are due or not.
    """

    analysis: str
    grouping: Grouping
    periods: Sequence[Period]
    basis: str = "invoice_date"
    typed: bool = False
    fixed_fees: bool = True
    matter_types: frozenset[str] | None = None
    discounts: str = "time"
    as_of: dt.date | None = None

    @property
    def by(self) -> list[str]:
        """The columns by which rows are added up."""
        rates = self.grouping.settings.standard_rates if self.typed else {}
        marks = [
            *(["_type", "_class"] if self.typed else ()),
            *(["user_id"] if rates else ()),
            *(["_rate_step"] if rate_days(rates) else ()),
            # To group a million rows by one more column takes time, and with one period it is not needed.
            *(["_periods"] if len(self.periods) > 1 else ()),
        ]
        return list(dict.fromkeys([*marks, *self.grouping.base]))

    @property
    def of_invoice(self) -> list[str]:
        """The columns that rows by invoice date have from their invoice."""
        times = [f"_{time}" for time in self.grouping.times]
        return [*(name for name in ("_class", "_periods") if name in self.by), *times]

    @property
    def of_entry(self) -> list[str]:
        """The columns of time entries from which the others are derived."""
        key = self.grouping.type_key if self.typed else None
        more = ("date", *(key.base if key else ())) if self.typed else ()
        return [*more, *(name for name in self.by if not name.startswith("_"))]

    def counts(self, period: Period) -> nw.Expr:
        """Return whether an invoice counts: it is final and, if the basis is its date, in the period."""
        final = C("_invoice_state") == "final"
        if self.basis == "work_date":
            return final & (C("_gross_hours") > 0)
        return final & is_in_period("_invoice_date", period)


def has_mark(*bits: int) -> nw.Expr:
    """Return whether `_class` has any of these bits."""
    return C("_class").is_in([number for number in range(16) if any(number & bit for bit in bits)])


def is_in_nth(n: int, of: BilledWork) -> nw.Expr:
    """Return whether a row is in the nth period, counted from 0."""
    numbers = [each for each in range(2 ** len(of.periods)) if each >> n & 1]
    return C("_periods").is_in(numbers)


def _rows(frames: Frames, of: BilledWork) -> Frame:
    for period in of.periods:
        need_work_on_invoices(of.analysis, frames, period, dated=of.basis)
    if of.basis == "work_date":
        note_empty_months(frames, of.periods[0], "the figures lack the work of these days")
    note_absent_items(of.analysis, frames)
    entries = frames["time_entries"]
    time = billable_time(frames, of.of_entry, ("invoice_date",), lazily=True)
    untyped = unknown_time(frames, of.of_entry, lazily=True) if of.typed else None
    invoices = _invoices(collect(time_on_invoices(time), entries), frames, of)
    if of.basis == "work_date":
        parts = [collect(each, entries) for each in _dated_work(time, untyped, invoices, of)]
    else:
        final = of.grouping.with_periods(invoices.filter(C("_periods") > 0), "_invoice_date")
        parts = [collect(each, entries) for each in _work_on_invoices(frames, time, untyped, invoices, final, of)]
        parts[1:1] = _without_time(frames, final, parts[0], of)
    by = [*of.by, "_state"]
    rows = [part.select(*by, *_amounts(part)) for part in parts]
    work = collect_sums(nw.concat(rows) if len(rows) > 1 else rows[0], by, AMOUNTS)
    _note(frames, work, with_contingent(invoices, frames), of)
    return work


def _amounts(part: Frame) -> list[nw.Expr]:
    there = column_names(part)
    return [C(name) if name in there else nw.lit(0.0).alias(name) for name in AMOUNTS]


def _invoices(on_invoices: Frame, frames: Frames, of: BilledWork) -> Frame:
    """Return the invoices with how their fees are allocated, and the marks that their work gets."""
    keep = [name for name in of.by if name.startswith("client_")]
    if of.as_of is not None:
        require(frames["invoices"], "invoices", ("due_date",))
        keep.append("due_date")
    settings = of.grouping.settings
    rates = allocation_rates(on_invoices, frames, settings, keep, of.discounts, unknown_invoices=True)
    # Each bit of `_periods` is one period, so that an invoice in several periods stays one row.
    number = sum((2.0**n * as_float(of.counts(period)) for n, period in enumerate(of.periods)), nw.lit(0.0))
    rates = rates.with_columns(_periods=number.cast(nw.Int64))
    if not of.typed:
        return rates
    mixed = C("_fixed_fees").abs() > RESIDUE
    marks = MIXED * as_float(mixed)
    if of.discounts == "items":
        marks = marks + UNSPREAD * as_float(mixed & (C("_hidden") > 0))
    if of.as_of is not None:
        marks = marks + UNDATED * as_float(C("due_date").is_null())
        marks = marks + DUE * as_float(nw.coalesce("due_date", "_invoice_date") <= midnight(of.as_of))
    return rates.with_columns(_class=marks.cast(nw.Int64))


def _work_on_invoices(
    frames: Frames, time: Frame, untyped: Frame | None, invoices: Frame, final: Frame, of: BilledWork
) -> list[Frame]:
    """Add up all work on final invoices of the periods, and work whose state or billing type is unknown."""
    needed = final.select("invoice_id", "_per_worth", "_per_hour", "_settled", *of.of_invoice)
    # The other amounts are added after the last join, which would otherwise copy them.
    rows = join_by_id(time, needed, "invoice_id", "inner").with_columns(_fees=allocated_fee())
    parts = [_sum(rows, of, of.by).with_columns(_state=nw.lit("final"))]
    if not of.typed or (untyped is None and not frames.unknown_values("invoices", "invoice_state")):
        return parts
    unknown = ~C("_invoice_state").is_in(ENUMS["invoice_state"]).fill_null(False) & ~C("_passed").is_null()
    of_unknown_state = in_period(invoices.filter(unknown), "_invoice_date", of.periods[0])
    dated = [each.select("invoice_id", "_invoice_date") for each in (of_unknown_state, final)]
    parts.append(_unknown(join_by_id(time, dated[0], "invoice_id", "inner"), "unknown", of))
    if untyped is not None:
        parts += [_unknown(join_by_id(untyped, each, "invoice_id", "inner"), "untyped", of) for each in dated]
    return parts


def _dated_work(time: Frame, untyped: Frame | None, invoices: Frame, of: BilledWork) -> list[Frame]:
    """Add up the billable time dated in the period, by its billing state."""
    columns = ("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_state", "_class")
    rows = join_by_id(in_period(time, "date", of.periods[0]), invoices.select(*columns), "invoice_id")
    rows = of.grouping.with_periods(rows.with_columns(_state=billing_state()), "date")
    rows = rows.with_columns(_fees=value_if(C("_state") == "final", allocated_fee()))
    parts = [_sum(rows, of, [*of.by, "_state"])]
    if untyped is not None:
        parts.append(_unknown(in_period(untyped, "date", of.periods[0]), "untyped", of))
    return parts


def _without_time(frames: Frames, final: Frame, work: Frame, of: BilledWork) -> list[Frame]:
    """Return the fixed fees on final invoices, and the fees that can be allocated to no time."""
    kinds: dict[str, tuple[Frame, str, dict[str, nw.Expr]]] = {}
    if of.fixed_fees and "fixed_fees" in frames:
        needed = ("invoice_id", "amount", *(name for name in ITEM_IDS if name in of.grouping.row_columns))
        items = frames.select("fixed_fees", needed, (*of.grouping.row_columns, *ITEM_IDS))
        fixed = join_by_id(items, final.select("invoice_id", *of.of_invoice), "invoice_id", "inner")
        kinds["fixed_fees"] = (fixed, "amount", FIXED_FEES)
    rest = final.filter(C("_by_worth") + C("_by_hours") < 1)
    kinds["invoices"] = (rest, "_unallocated", WITHOUT_TIME)
    sums = {name: functools.partial(_pair, rows, amount) for name, (rows, amount, _) in kinds.items()}
    note_details_not_in_all(of.analysis, frames.notes, of.grouping, sums)
    types, parts = work.collect_schema(), []
    for rows, _, given in kinds.values():
        typed = rows.with_columns(_type=nw.lit(UNKNOWN)) if of.typed else rows
        amounts = {name: given.get(name, nw.lit(0.0)) for name in AMOUNTS}
        parts.append(typed.select(*columns_or_null(typed, of.by, types), _state=nw.lit("final"), **amounts))
    return parts


def _pair(rows: Frame, amount: str) -> tuple[Frame, str]:
    return rows, amount


def _unknown(rows: Frame, state: str, of: BilledWork) -> Frame:
    """Add up the value of work of which it is unknown whether it was billed; it has no fees."""
    date = "date" if of.basis == "work_date" else "_invoice_date"
    # The facts about invoices concern only fees.
    none = {"_fees": nw.lit(0.0), "_settled": nw.lit(0.0), "_class": nw.lit(0).cast(nw.Int64)}
    rows = of.grouping.with_periods(rows, date).with_columns(**none)
    return _sum(rows, of, of.by).with_columns(_state=nw.lit(state))


def _sum(rows: Frame, of: BilledWork, by: Sequence[str]) -> Frame:
    """Add up entries whose fees, and the settled part of these, are known, with their other amounts and marks."""
    if of.typed:
        rows = of.grouping.with_matter_type(with_rate_step(rows, of.grouping.settings.standard_rates))
    rows = rows.with_columns(
        worth=C("worth").fill_null(0.0),
        _paid=C("_fees") * C("_settled").fill_null(0.0),
        _hidden=as_float(C("worth").is_null()),
        _rows=nw.lit(1.0),
    )
    return sum_by_type(rows, by, _TIME) if of.typed else sum_by(rows, by, _TIME)


def _note(frames: Frames, work: Frame, invoices: Frame, of: BilledWork) -> None:
    """Note missing, hidden and unknown amounts, with all counts in one query."""
    queries = [(work, _counts(of))]
    for n, period in enumerate(of.periods):
        rows, counted = count_work_not_passed(invoices, of.counts(period))
        counted |= count_cancelled(of.counts(period))
        if of.basis == "invoice_date":
            counted["on_unknown"] = count_on_unknown_invoices(invoices, period)
        queries.append((rows, {f"{n} {name}": each for name, each in counted.items()}))
    found, notes, settings = collect_counts(*queries), frames.notes, of.grouping.settings
    if "priced" in found:
        note_high_rates(notes, "standard", settings.standard_rates, found["priced"], found["hours"])
    for n in range(len(of.periods)):
        counts = {name.removeprefix(f"{n} "): each for name, each in found.items() if name.startswith(f"{n} ")}
        note_unknown_invoices(frames, of.analysis, counts.get("on_unknown", 0.0))
        whole = is_whole(frames.natives)
        note_work_not_passed(notes, of.analysis, counts, rows, taxed=bool(settings.taxes), whole=whole)
        note_cancelled(notes, of.analysis, counts, of.grouping.base)
    if not of.typed:
        so = "the fees of their invoices are allocated by hours, and the value of the time is missing"
        notes.add(HIDDEN_RATES, found["hidden"], of.analysis, which="", consequence=so)
        return
    note_unknown_invoices(frames, of.analysis, found["unknown"], "counted in `unknown_amount`")
    so = "worth and realization are missing in the rows in which they count"
    notes.add(HIDDEN_RATES, found["hidden"], of.analysis, which="", consequence=so)
    types = of.matter_types
    if types is None or not types >= frozenset(MATTER_TYPES):
        words = {"one": "time entry", "several": "time entries"}
        words["counted"] = "counted" if types is None or UNKNOWN in types else "left out"
        notes.add(UNKNOWN_TYPE, found["unknown_type"], of.analysis, **words)
    if not frames.unknown_values("invoices", "due_date"):
        notes.add(NO_DUE_DATE_OF_WORK, found["undated"], of.analysis)
    notes.add(HIDDEN_BESIDE_FEES, found["unspread"], of.analysis)


def _counts(of: BilledWork) -> dict[str, nw.Expr]:
    """Return the counts of rows for the notes."""
    counts = {"hidden": C("_hidden").sum()}
    if not of.typed:
        return counts
    final, rows = C("_state") == "final", C("_rows")
    counts["unknown"] = value_if(C("_state") == "unknown", rows).sum()
    counts["unknown_type"] = value_if(C("_type") == UNKNOWN, rows).sum()
    counts["undated"] = value_if(final & has_mark(UNDATED), rows).sum()
    counts["unspread"] = value_if(final & has_mark(UNSPREAD), rows).sum()
    if of.grouping.settings.standard_rates:
        priced = (C("_hidden") == 0) & (C("worth") != 0)
        counts |= {name: value_if(priced, column).sum() for name, column in (("priced", "worth"), ("hours", "hours"))}
    return counts


FACT = Fact(
    name="billed_work",
    row="a billable time entry, a fixed fee, or the fees of an invoice without time",
    frames=("time_entries", "invoices"),
    date="invoice",
    amounts={
        "worth": "the value of an entry at its rates, 0 if that is hidden",
        "hours": "its hours",
        "_fees": "the net billed time fees",
        "_paid": "the settled part of these",
        "_fixed": "the amount of a fixed fee",
        "_hidden": "1.0 for an entry whose value is hidden",
        "_rows": "1.0 for an entry",
    },
    marks={
        "_state": "final, or for typed rows unbilled, prebill, unknown, and untyped if the billing type is unknown",
        "_type": "the type of the matter",
        "_class": "facts about the invoice (`has_mark`)",
        "_periods": "the periods that the invoice is in (`is_in_nth`)",
        "_rate_step": "the step of standard rates",
    },
    grouping=Grouping.of,
    rows=_rows,
)
AMOUNTS = tuple(FACT.amounts)
