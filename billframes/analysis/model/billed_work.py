"""Billed work: the parts of the fees on invoices, allocated once for all analyses of fees.

A row is a billable entry, a fixed fee, or the fees of an invoice without time to which they can be allocated, such as a
credit note. Its keys are those of the item. By invoice date, the rows are those of final invoices dated in the period;
by work date, billable time dated in the period, on invoices of any date or on none.

The fees of an invoice are its amount less its expenses and tax, whatever the type of its matter. So `fees` and
`fixed_fees` of all rows by invoice date add up to the invoices' amounts without these.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import ENUMS, Frame, column_names
from billframes.analysis.declare.facts import Fact
from billframes.analysis.frames.engine import collect, collect_counts, collect_sums, join_by_id, sum_by
from billframes.analysis.frames.expressions import (
    RESIDUE,
    as_float,
    columns_or_null,
    in_period,
    midnight,
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
from billframes.analysis.model.billed_work_choice import DUE, MIXED, OF_TIME, UNDATED, UNSPREAD, BilledWork, has_mark
from billframes.analysis.model.grouping import Grouping, sum_by_type
from billframes.analysis.model.keys import ITEM_IDS, UNKNOWN
from billframes.analysis.model.missing_work import (
    count_on_unknown_invoices,
    note_absent_items,
    note_details_not_in_all,
    note_unknown_invoices,
    with_contingent,
)
from billframes.analysis.rules.amounts import HIDDEN_RATES, note_high_rates
from billframes.analysis.rules.cancelled_work import count_cancelled, note_cancelled
from billframes.analysis.rules.invoices import HIDDEN_BESIDE_FEES, NO_DUE_DATE_OF_WORK
from billframes.analysis.rules.loads import need_work_on_invoices
from billframes.analysis.rules.people import UNKNOWN_TYPE

C = nw.col


def _rows(frames: Frames, of: BilledWork) -> Frame:
    for period in of.periods:
        need_work_on_invoices(frames, period, dated=of.basis)
    note_absent_items(frames)
    work, invoices = allocated_work(frames, of)
    _note(frames, work, with_contingent(invoices, frames), of)
    return work


def allocated_work(frames: Frames, of: BilledWork) -> tuple[Frame, Frame]:
    """Return the rows, and all invoices with how their fees are allocated; the frames are not checked."""
    entries = frames["time_entries"]
    time = billable_time(frames, of.of_entry, ("invoice_date",), lazily=True)
    untyped = unknown_time(frames, of.of_entry, lazily=True) if of.typed else None
    invoices = _invoices(collect(time_on_invoices(time), entries), frames, of)
    if of.basis == "work_date":
        counted = invoices.filter(C("_invoice_state") == "final")
        parts = [collect(each, entries) for each in _dated_work(time, untyped, invoices, of)]
    else:
        counted = of.grouping.with_periods(invoices.filter(C("_periods") > 0), "_invoice_date")
        parts = [collect(each, entries) for each in _work_on_invoices(frames, time, untyped, invoices, counted, of)]
    parts[1:1] = _without_time(frames, counted, parts[0], of)
    by = [*of.by, "_state"]
    rows = [part.select(*by, *_or_zero(of.amounts, part)) for part in parts]
    return collect_sums(nw.concat(rows) if len(rows) > 1 else rows[0], by, of.amounts), invoices


def _or_zero(amounts: Sequence[str], part: Frame) -> list[nw.Expr]:
    there = column_names(part)
    return [C(name) if name in there else nw.lit(0.0).alias(name) for name in amounts]


def _invoices(on_invoices: Frame, frames: Frames, of: BilledWork) -> Frame:
    """Return the invoices with how their fees are allocated, and the marks that their work gets."""
    keep = [name for name in of.by if name.startswith("client_")]
    if of.as_of is not None:
        require(frames["invoices"], "invoices", ("due_date",))
        keep.append("due_date")
    settings = of.grouping.settings
    rates = allocation_rates(on_invoices, frames, settings, keep, of.discounts, unknown_invoices=True)
    parts: dict[str, nw.Expr] = {}
    if of.paid is not None:
        rates = join_by_id(rates, of.paid.with_columns(_is_paid=nw.lit(1.0)), "invoice_id")
        spread = (C("_fees").abs() > RESIDUE) & (C("_total").abs() > RESIDUE)
        parts = {name: value_if(spread, C(name).fill_null(0.0) / C("_fees")) for name in of.settled}
    # Each bit of `_periods` is one period, so that an invoice in several periods stays one row.
    number = sum((2.0**n * as_float(of.counts(period)) for n, period in enumerate(of.periods)), nw.lit(0.0))
    rates = rates.with_columns(_periods=number.cast(nw.Int64), **parts)
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
    needed = final.select("invoice_id", "_per_worth", "_per_hour", "_settled", *of.settled, *of.of_invoice)
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
    columns = ("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_state", "_class", *of.settled)
    rows = join_by_id(in_period(time, "date", of.periods[0]), invoices.select(*columns), "invoice_id")
    rows = of.grouping.with_periods(rows.with_columns(_state=billing_state()), "date")
    rows = rows.with_columns(_fees=value_if(C("_state") == "final", allocated_fee()))
    parts = [_sum(rows, of, [*of.by, "_state"])]
    if untyped is not None:
        parts.append(_unknown(in_period(untyped, "date", of.periods[0]), "untyped", of))
    return parts


def _without_time(frames: Frames, counted: Frame, work: Frame, of: BilledWork) -> list[Frame]:
    """Return the fixed fees on these invoices and, by invoice date, the fees that can be allocated to no time."""
    kinds: dict[str, tuple[Frame, str, dict[str, nw.Expr]]] = {}
    if of.fixed_fees and "fixed_fees" in frames:
        kinds["fixed_fees"] = (_fixed_fees(frames, counted, of), "amount", {"_fixed": C("amount")})
    if of.basis == "invoice_date":
        rest, fees = counted.filter(C("_by_worth") + C("_by_hours") < 1), C("_unallocated")
        parts = {name: fees * C(name) for name in of.settled}
        kinds["invoices"] = (rest, "_unallocated", {"_fees": fees, "_paid": fees * C("_settled"), **parts})
    sums = {name: functools.partial(_pair, rows, amount) for name, (rows, amount, _) in kinds.items()}
    note_details_not_in_all(of.grouping, sums)
    types, found = work.collect_schema(), []
    for rows, _, amounts in kinds.values():
        typed = rows.with_columns(_type=nw.lit(UNKNOWN)) if of.typed else rows
        found.append(typed.select(*columns_or_null(typed, of.by, types), _state=nw.lit("final"), **amounts))
    return found


def _fixed_fees(frames: Frames, counted: Frame, of: BilledWork) -> Frame:
    by_work = of.basis == "work_date"
    ids = [name for name in ITEM_IDS if name in of.grouping.row_columns]
    columns = ("invoice_id", "amount", *ids, *(["date"] if by_work else ()))
    items = frames.select("fixed_fees", columns, (*of.grouping.row_columns, *ITEM_IDS))
    marks = [name for name in of.of_invoice if name in ("_class", "_periods") or not by_work]
    rows = join_by_id(items, counted.select("invoice_id", *marks), "invoice_id", "inner")
    return of.grouping.with_periods(in_period(rows, "date", of.periods[0]), "date") if by_work else rows


def _pair(rows: Frame, amount: str) -> tuple[Frame, str]:
    return rows, amount


def _unknown(rows: Frame, state: str, of: BilledWork) -> Frame:
    """Add up the value of work of which it is unknown whether it was billed; it has no fees."""
    date = "date" if of.basis == "work_date" else "_invoice_date"
    # The facts about invoices concern only fees.
    none = dict.fromkeys(("_fees", "_settled", *of.settled), nw.lit(0.0)) | {"_class": nw.lit(0).cast(nw.Int64)}
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
        **{name: C("_fees") * C(name).fill_null(0.0) for name in of.settled},
    )
    amounts = (*OF_TIME, *of.settled)
    return sum_by_type(rows, by, amounts) if of.typed else sum_by(rows, by, amounts)


def _note(frames: Frames, work: Frame, invoices: Frame, of: BilledWork) -> None:
    of_invoices: dict[str, nw.Expr] = {}
    for n, period in enumerate(of.periods):
        counted = count_cancelled(of.counts(period))
        if of.basis == "invoice_date":
            counted["on_unknown"] = count_on_unknown_invoices(invoices, period)
        of_invoices |= {f"{n} {name}": each for name, each in counted.items()}
    queries = [(work, _counts(of)), (invoices, of_invoices)]
    found, notes, settings = collect_counts(*queries), frames.notes, of.grouping.settings
    if "priced" in found:
        note_high_rates(notes, "standard", settings.standard_rates, found["priced"], found["hours"])
    for n in range(len(of.periods)):
        counts = {name.removeprefix(f"{n} "): each for name, each in found.items() if name.startswith(f"{n} ")}
        note_unknown_invoices(frames, counts.get("on_unknown", 0.0))
        note_cancelled(notes, counts, of.grouping.base)
    if not of.typed:
        so = "the fees of their invoices are allocated by hours, and the value of the time is missing"
        notes.add(HIDDEN_RATES, found["hidden"], which="", consequence=so)
        return
    note_unknown_invoices(frames, found["unknown"], "counted in `unknown_amount`")
    so = "the value of time and realization are missing in the rows in which they count"
    notes.add(HIDDEN_RATES, found["hidden"], which="", consequence=so)
    types = of.matter_types
    if types is None or not types >= frozenset(MATTER_TYPES):
        words = {"one": "time entry", "several": "time entries"}
        words["counted"] = "counted" if types is None or UNKNOWN in types else "left out"
        notes.add(UNKNOWN_TYPE, found["unknown_type"], **words)
    if not frames.unknown_values("invoices", "due_date"):
        notes.add(NO_DUE_DATE_OF_WORK, found["undated"])
    notes.add(HIDDEN_BESIDE_FEES, found["unspread"])


def _counts(of: BilledWork) -> dict[str, nw.Expr]:
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
