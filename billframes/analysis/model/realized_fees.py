"""Calculate realization: the fees billed for work, the part that counts, and the figures that follow from both.

Rows are added up by the grouping's `base` and by matter type, because the type decides whether they count. Only these
few sums are then split by billing state.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import ENUMS, Frame
from billframes.analysis.frames.engine import collect, collect_counts, collect_sums, join_by_id
from billframes.analysis.frames.expressions import (
    RESIDUE,
    as_float,
    in_period,
    is_in_period,
    midnight,
    rate_at_step,
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
from billframes.analysis.model.billed_work import (
    WITHOUT_TIME,
    as_rows_of_time,
    billed_time,
    fees_without_time,
    with_amounts,
)
from billframes.analysis.model.grouping import Grouping, sum_by_type
from billframes.analysis.model.keys import UNKNOWN
from billframes.analysis.model.missing_work import (
    count_on_unknown_invoices,
    count_work_not_passed,
    note_details_not_in_all,
    note_unknown_invoices,
    note_work_not_passed,
    with_contingent,
)
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.amounts import HIDDEN_RATES, note_high_rates
from billframes.analysis.rules.cancelled_work import count_cancelled, note_cancelled
from billframes.analysis.rules.invoices import HIDDEN_BESIDE_FEES, NO_DUE_DATE_OF_WORK
from billframes.analysis.rules.people import UNKNOWN_TYPE
from billframes.periods import Period

__all__ = ["RealizationOptions", "realized_fees"]

C = nw.col

LEFT_OUT = ("contingency", "probono", "internal")
_ROW = ("worth", "hours", "_fees", "_paid", "_hidden", "_rows")
# Facts about an invoice, as bits of one number: rows are summed by it, and one column is faster than four.
MIXED, DUE, UNDATED, UNSPREAD = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class RealizationOptions:
    """The arguments of `realization`, checked; `whole` tells whether all items were loaded."""

    basis: str
    period: Period
    grouping: Grouping
    matter_types: frozenset[str] | None
    discounts: str = "time"
    as_of: dt.date | None = None
    whole: bool = False
    columns: Sequence[str] = ()

    @property
    def base(self) -> list[str]:
        """The columns by which rows are first added up."""
        rates = self.grouping.settings.standard_rates
        user = ("user_id",) if rates else ()
        step = ("_rate_step",) if rate_days(rates) else ()
        return list(dict.fromkeys(["_type", "_class", *user, *step, *self.grouping.base]))

    @property
    def counted(self) -> nw.Expr:
        """Whether the matter's type counts."""
        if self.matter_types is None:
            return ~C("_type").is_in(LEFT_OUT)
        return C("_type").is_in(sorted(self.matter_types))


def realized_fees(frames: Frames, options: RealizationOptions) -> Frame:
    """Return the rows of `realization`."""
    key = options.grouping.type_key
    columns = [name for name in ("date", *(key.base if key else ()), *options.base) if not name.startswith("_")]
    entries = frames["time_entries"]
    time = billable_time(frames, columns, ("invoice_date",), lazily=True)
    untyped = unknown_time(frames, columns, lazily=True)
    rates = _invoice_rates(collect(time_on_invoices(time), entries), frames, options)
    sum_work = _work_dated_in_period if options.basis == "work_date" else _work_on_invoices
    parts = [collect(part, entries) for part in sum_work(frames, time, untyped, rates, options)]
    if options.basis == "invoice_date":
        parts.insert(1, _unallocated_fees(rates.filter(_is_counted(options)), parts[0], options))
    rows = nw.concat([part.select(*parts[0].columns) for part in parts]) if len(parts) > 1 else parts[0]
    work = collect_sums(rows, [*options.base, "_state"], _ROW)
    _note(frames, work, with_contingent(rates, frames), options)
    # Conditions that several sums need are computed once.
    counted, final = options.counted, C("_state") == "final"
    work = work.with_columns(_counted=counted, _left_out=~counted, _worked=counted & final)
    written_down = C("worked_amount") - C("billed_amount")
    return add_up(work, _sums(options), options.grouping, options.columns, write_down_amount=written_down)


def _invoice_rates(on_invoices: Frame, frames: Frames, options: RealizationOptions) -> Frame:
    """Calculate how the invoices' fees are allocated, and `_class`, the facts about each invoice."""
    keep = [name for name in options.base if name.startswith("client_")]
    if options.as_of is not None:
        require(frames["invoices"], "invoices", ("due_date",))
        keep.append("due_date")
    rates = allocation_rates(
        on_invoices, frames, options.grouping.settings, keep, options.discounts, unknown_invoices=True
    )
    mixed = C("_fixed_fees").abs() > RESIDUE
    number = MIXED * as_float(mixed)
    if options.discounts == "items":
        number = number + UNSPREAD * as_float(mixed & (C("_hidden") > 0))
    if options.as_of is not None:
        number = number + UNDATED * as_float(C("due_date").is_null())
        number = number + DUE * as_float(nw.coalesce("due_date", "_invoice_date") <= midnight(options.as_of))
    return rates.with_columns(_class=number.cast(nw.Int64))


def _is_counted(options: RealizationOptions) -> nw.Expr:
    """Return whether an invoice counts: it is final and, if the basis is its date, in the period."""
    final = C("_invoice_state") == "final"
    if options.basis == "work_date":
        return final & (C("_gross_hours") > 0)
    return final & is_in_period("_invoice_date", options.period)


def _has_bits(*bits: int) -> nw.Expr:
    """Return whether `_class` has any of these bits."""
    return C("_class").is_in([number for number in range(16) if any(number & bit for bit in bits)])


def _work_on_invoices(
    frames: Frames, time: Frame, untyped: Frame | None, rates: Frame, options: RealizationOptions
) -> list[Frame]:
    """Add up all work on final invoices of the period, and work whose state or billing type is unknown."""
    final = rates.filter(_is_counted(options))
    times = [f"_{time}" for time in options.grouping.times]
    dated = options.grouping.with_periods(final, "_invoice_date")
    rows = _with_measures(billed_time(time, dated, ("_class", *times)), options)
    work = sum_by_type(rows, options.base, _ROW).with_columns(_state=nw.lit("final"))
    if untyped is None and not frames.unknown_values("invoices", "invoice_state"):
        return [work]
    unknown = ~C("_invoice_state").is_in(ENUMS["invoice_state"]).fill_null(False) & ~C("_passed").is_null()
    of_unknown_state = in_period(rates.filter(unknown), "_invoice_date", options.period)
    invoices = [each.select("invoice_id", "_invoice_date") for each in (of_unknown_state, final)]
    parts = [work, _unknown_worth(join_by_id(time, invoices[0], "invoice_id", "inner"), "unknown", options)]
    if untyped is not None:
        joined = [join_by_id(untyped, each, "invoice_id", "inner") for each in invoices]
        parts += [_unknown_worth(rows, "untyped", options) for rows in joined]
    return parts


def _unallocated_fees(final: Frame, work: Frame, options: RealizationOptions) -> Frame:
    """Return one row per invoice without time to which its fees can be allocated, such as a credit note."""
    rest, notes = fees_without_time(final), options.grouping.notes
    note_details_not_in_all("realization", notes, options.grouping, {"invoices": lambda: (rest, "_unallocated")})
    dated = options.grouping.with_periods(rest, "_invoice_date").with_columns(_type=nw.lit(UNKNOWN))
    rows = as_rows_of_time(dated, options.base, work.collect_schema(), _ROW, WITHOUT_TIME)
    return rows.with_columns(_state=nw.lit("final"))


def _work_dated_in_period(
    _frames: Frames, time: Frame, untyped: Frame | None, rates: Frame, options: RealizationOptions
) -> list[Frame]:
    """Add up the billable time dated in the period, by its billing state."""
    columns = ("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_state", "_class")
    rows = join_by_id(in_period(time, "date", options.period), rates.select(*columns), "invoice_id")
    rows = options.grouping.with_periods(rows.with_columns(_state=billing_state()), "date")
    rows = _with_measures(rows.with_columns(_fees=value_if(C("_state") == "final", allocated_fee())), options)
    parts = [sum_by_type(rows, [*options.base, "_state"], _ROW)]
    if untyped is not None:
        parts.append(_unknown_worth(in_period(untyped, "date", options.period), "untyped", options))
    return parts


def _unknown_worth(rows: Frame, state: str, options: RealizationOptions) -> Frame:
    """Add up the value of work of which it is unknown whether it was billed; it has no fees."""
    date = "date" if options.basis == "work_date" else "_invoice_date"
    # The facts about invoices concern only fees.
    none = {"_fees": nw.lit(0.0), "_settled": nw.lit(0.0), "_class": nw.lit(0).cast(nw.Int64)}
    rows = options.grouping.with_periods(rows, date).with_columns(**none)
    return sum_by_type(_with_measures(rows, options), options.base, _ROW).with_columns(_state=nw.lit(state))


def _with_measures(rows: Frame, options: RealizationOptions) -> Frame:
    """Add the amounts, matter types and, because sums have no date, the steps of rates."""
    rows = with_rate_step(rows, options.grouping.settings.standard_rates)
    return with_amounts(options.grouping.with_matter_type(rows))


def _sums(options: RealizationOptions) -> list[Sum]:
    """Declare the amounts that count, by billing state, and the amounts left out."""
    counted, left_out, worked = C("_counted"), C("_left_out"), C("_worked")
    # Fees are missing if the worth that decides their allocation is hidden.
    unspread = value_if(_has_bits(UNSPREAD), "_rows") if options.discounts == "items" else None
    sums = [
        Sum("worked_amount", "worth", worked, "_hidden"),
        Sum("billed_amount", "_fees", counted, unspread),
        Sum("settled_amount", "_paid", counted, unspread),
        Sum("billable_hours", "hours", worked),
        Sum("unknown_amount", "worth", counted & C("_state").is_in(["unknown", "untyped"]), "_hidden"),
        Sum("left_out_hours", "hours", left_out),
        Sum("left_out_amount", "worth", left_out, "_hidden"),
        Sum("left_out_billed_amount", "_fees", left_out, unspread),
        Sum("mixed_amount", "worth", worked & _has_bits(MIXED), "_hidden"),
    ]
    if options.basis == "work_date":
        states = {"unbilled_amount": "unbilled", "prebill_amount": "prebill"}
        sums += [Sum(name, "worth", counted & (C("_state") == state), "_hidden") for name, state in states.items()]
        sums.append(Sum("cohort_amount", "worth", counted, "_hidden"))
    if options.as_of is not None:
        due = counted & _has_bits(DUE)
        sums += [Sum("due_amount", "_fees", due, unspread), Sum("due_settled_amount", "_paid", due, unspread)]
    if rates := options.grouping.settings.standard_rates:
        rate = rate_at_step(rates)
        unrated = value_if(rate.is_null(), "_rows")
        sums.append(Sum("standard_amount", (C("hours") * rate).fill_null(0.0), worked, unrated))
    return sums


def _note(frames: Frames, work: Frame, rates: Frame, options: RealizationOptions) -> None:
    """Warn of missing, hidden and unknown amounts, with all counts in one query."""
    final, rows = C("_state") == "final", C("_rows")
    of_work = {
        "hidden": C("_hidden").sum(),
        "unknown": value_if(C("_state") == "unknown", rows).sum(),
        "unknown_type": value_if(C("_type") == UNKNOWN, rows).sum(),
    }
    if options.as_of is not None:
        of_work["undated"] = value_if(final & _has_bits(UNDATED), rows).sum()
    if options.discounts == "items":
        of_work["unspread"] = value_if(final & _has_bits(UNSPREAD), rows).sum()
    if rates_of := options.grouping.settings.standard_rates:
        priced = (C("_hidden") == 0) & (C("worth") != 0)
        of_work |= {name: value_if(priced, column).sum() for name, column in (("priced", "worth"), ("hours", "hours"))}
    is_counted = _is_counted(options)
    invoices, of_invoices = count_work_not_passed(rates, is_counted)
    of_invoices |= count_cancelled(is_counted)
    if options.basis == "invoice_date":
        of_invoices["on_unknown"] = count_on_unknown_invoices(rates, options.period)
    counts = collect_counts((work, of_work), (invoices, of_invoices))
    notes = options.grouping.notes
    if rates_of:
        note_high_rates(notes, "standard", rates_of, counts["priced"], counts["hours"])
    note_unknown_invoices(frames, "realization", counts.get("on_unknown", 0.0))
    taxed = bool(options.grouping.settings.taxes)
    note_work_not_passed(notes, "realization", counts, invoices, taxed=taxed, whole=options.whole)
    note_cancelled(notes, "realization", counts, options.grouping.base)
    note_unknown_invoices(frames, "realization", counts["unknown"], "counted in `unknown_amount`")
    so = "worth and realization are missing in the rows in which they count"
    notes.add(HIDDEN_RATES, counts["hidden"], "realization", which="", consequence=so)
    types = options.matter_types
    if types is None or not types >= frozenset(MATTER_TYPES):
        words = {"one": "time entry", "several": "time entries"}
        words["counted"] = "counted" if types is None or UNKNOWN in types else "left out"
        notes.add(UNKNOWN_TYPE, counts["unknown_type"], "realization", **words)
    if not frames.unknown_values("invoices", "due_date"):
        notes.add(NO_DUE_DATE_OF_WORK, counts.get("undated", 0.0), "realization")
    notes.add(HIDDEN_BESIDE_FEES, counts.get("unspread", 0.0), "realization")
