"""How realization is worked out: what work was billed at, what of it counts, and the figures that follow.

Rows are added up over what the keys derive from and the matter's type, which tells what counts; only these few sums
are told apart by state.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis.allocation import (
    allocated_fee,
    allocation_rates,
    billable_time,
    billing_state,
    time_on_invoices,
    unknown_time,
    warn_of_unknown_count,
    warn_of_unknown_invoices,
)
from billframes.analysis.arguments import MATTER_TYPES
from billframes.analysis.column_types import ENUMS, Frame
from billframes.analysis.coverage import warn_of_work_not_passed
from billframes.analysis.engine import collect, collect_row, join_by_id, lazy
from billframes.analysis.expressions import RESIDUE, as_float, in_period, map_values, midnight, null_column, ratio
from billframes.analysis.frames import require
from billframes.analysis.grouping import add_up, attach, base_of, finish, sums_by_type, with_matter_type, with_times
from billframes.analysis.guards import unknown_values
from billframes.analysis.keys import UNKNOWN, Key, Sources
from billframes.errors import IncompleteDataWarning, RatesHiddenWarning
from billframes.periods import Period

__all__ = ["Question", "realized"]

C = nw.col

LEFT_OUT = ("contingency", "probono", "internal")
_ROW = ("worth", "hours", "_fees", "_paid", "_hidden", "_rows")
# Result columns that are worth something, and the billing state that each adds up.
_BY_STATE = {
    "worked_amount": "final",
    "unbilled_amount": "unbilled",
    "prebill_amount": "prebill",
    "unknown_amount": "unknown",
}
_AMOUNTS = (*_BY_STATE, "cohort_amount", "left_out_amount", "standard_amount", "mixed_amount")
# Result columns that follow from how the invoices' fees are spread; missing where that is not known.
_FEES = ("billed_amount", "settled_amount", "due_amount", "due_settled_amount")
_MEASURES = (
    *_AMOUNTS,
    *(f"_hidden_{name}" for name in _AMOUNTS),
    *_FEES,
    "_unspread",
    "billable_hours",
    "left_out_hours",
    "left_out_billed_amount",
    "_left_out_unspread",
)
# What is known of an invoice, added up to one number: rows are added up by it, so that it costs one column, not four.
MIXED, DUE, UNDATED, UNSPREAD = 1, 2, 4, 8


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, once the arguments are checked."""

    basis: str
    period: Period
    keys: tuple[Key, ...]
    sources: Sources
    kind: Key | None
    matter_types: frozenset[str] | None
    discounts: str = "time"
    as_of: dt.date | None = None

    @property
    def base(self) -> list[str]:
        """What rows are first added up over."""
        user = ("user_id",) if self.sources.settings.standard_rates else ()
        return list(dict.fromkeys(["_type", "_class", *user, *base_of(self.keys)]))

    @property
    def counted(self) -> nw.Expr:
        """Whether a matter's type is one that counts."""
        if self.matter_types is None:
            return ~C("_type").is_in(LEFT_OUT)
        return C("_type").is_in(sorted(self.matter_types))


def realized(frames: dict[str, Frame], asked: Question) -> Frame:
    """Answer a question, from the frames that were given: the rows of `realization`."""
    kind = asked.kind.base if asked.kind else ()
    columns = [name for name in ("date", *kind, *asked.base) if not name.startswith("_")]
    entries = frames["time_entries"]
    time = billable_time(lazy(entries), columns, ("invoice_date",))
    untyped = unknown_time(lazy(entries), columns)
    on_invoices = collect(time_on_invoices(time), entries)
    terms = _terms(on_invoices, frames, asked)
    if asked.basis == "work_date":
        work = collect(_followed(time, terms, asked), entries)
        unknown = [("untyped", in_period(untyped, "date", asked.period))] if untyped is not None else []
        warn_of_work_not_passed(
            "realization", terms.filter(C("_invoice_state") == "final", C("_gross_hours") > 0), frames
        )
    else:
        final = in_period(terms.filter(C("_invoice_state") == "final"), "_invoice_date", asked.period)
        unknown = _on_unknown(time, untyped, terms, final, asked)
        warn_of_unknown_invoices(on_invoices, terms, asked.period)
        warn_of_work_not_passed("realization", final, frames)
        work = collect(_invoiced(time, final, asked), entries)
        work = nw.concat([work, _beside_work(final, work, asked)]).with_columns(_state=nw.lit("final"))
    more = [collect(_unknown_worth(rows, state, asked), entries).select(*work.columns) for state, rows in unknown]
    work = nw.concat([work, *more]) if more else work
    _warn(work, asked)
    totals = add_up(attach(_measured(work, asked), asked.keys, asked.sources, _MEASURES), asked.keys, _MEASURES)
    return _result(totals, asked)


def _terms(on_invoices: Frame, frames: dict[str, Frame], asked: Question) -> Frame:
    """Work out how invoices are spread, and what class each is of."""
    keep = [name for name in asked.base if name.startswith("client_")]
    if asked.as_of is not None:
        require(frames["invoices"], "invoices", ("due_date",))
        keep.append("due_date")
    items = frames.get("expenses"), frames.get("fixed_fees")
    terms = allocation_rates(on_invoices, frames["invoices"], *items, keep, asked.discounts)
    mixed = C("_fixed_fees").abs() > RESIDUE
    number = MIXED * as_float(mixed)
    if asked.discounts == "items":
        number = number + UNSPREAD * as_float(mixed & (C("_hidden") > 0))
    if asked.as_of is not None:
        number = number + UNDATED * as_float(C("due_date").is_null())
        number = number + DUE * as_float(nw.coalesce("due_date", "_invoice_date") <= midnight(asked.as_of))
    return terms.with_columns(_class=number.cast(nw.Int64))


def _is(*bits: int) -> nw.Expr:
    """Tell whether an invoice is of any of the classes."""
    return C("_class").is_in([number for number in range(16) if any(number & bit for bit in bits)])


def _invoiced(time: Frame, final: Frame, asked: Question) -> Frame:
    """Add up all work on final invoices dated in the period."""
    terms = final.select("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_date", "_class")
    rows = with_times(join_by_id(time, terms, "invoice_id", "inner"), asked.keys, "_invoice_date")
    return sums_by_type(_rows(rows.with_columns(_fees=allocated_fee()), asked), asked.base, _ROW)


def _beside_work(final: Frame, work: Frame, asked: Question) -> Frame:
    """Give a row of no hours to each invoice whose fees no entry can take: credit notes, fixed fees only."""
    rest = with_times(final.filter(C("_by_worth") + C("_by_hours") < 1), asked.keys, "_invoice_date")
    rest = rest.with_columns(_type=nw.lit(UNKNOWN))
    there, wanted = rest.collect_schema(), work.collect_schema()
    keys = [C(name) if name in there else null_column(wanted[name]).alias(name) for name in asked.base]
    measures = dict.fromkeys(_ROW, nw.lit(0.0)) | {
        "_fees": C("_unallocated"),
        "_paid": C("_unallocated") * C("_settled"),
    }
    return rest.select(*keys, **measures)


def _followed(time: Frame, terms: Frame, asked: Question) -> Frame:
    """Add up the billable time dated in the period, by the state of the invoice it is on."""
    columns = ("invoice_id", "_per_worth", "_per_hour", "_settled", "_invoice_state", "_class")
    rows = join_by_id(in_period(time, "date", asked.period), terms.select(*columns), "invoice_id")
    rows = with_times(rows.with_columns(_state=billing_state()), asked.keys, "date")
    billed = nw.when(C("_state") == "final").then(allocated_fee()).otherwise(nw.lit(0.0))
    return sums_by_type(_rows(rows.with_columns(_fees=billed), asked), [*asked.base, "_state"], _ROW)


def _on_unknown(
    time: Frame, untyped: Frame | None, terms: Frame, final: Frame, asked: Question
) -> list[tuple[str, Frame]]:
    """List work that may be on final invoices of the period: the state of its invoice or its own type is unknown."""
    if untyped is None and not unknown_values("invoices", "invoice_state"):
        return []
    strange = terms.filter(~C("_invoice_state").is_in(ENUMS["invoice_state"]).fill_null(False))
    heads = [each.select("invoice_id", "_invoice_date")
             for each in (in_period(strange, "_invoice_date", asked.period), final)]  # fmt: skip
    parts = [("unknown", join_by_id(time, heads[0], "invoice_id", "inner"))]
    if untyped is not None:
        parts += [("untyped", join_by_id(untyped, head, "invoice_id", "inner")) for head in heads]
    return parts


def _unknown_worth(rows: Frame, state: str, asked: Question) -> Frame:
    """Add up work of which nobody knows whether it was billed: it has worth and no fees."""
    date = "date" if asked.basis == "work_date" else "_invoice_date"
    # No fees, and so of no class of invoice.
    none = {"_fees": nw.lit(0.0), "_settled": nw.lit(0.0), "_class": nw.lit(0).cast(nw.Int64)}
    rows = with_times(rows, asked.keys, date).with_columns(**none)
    return sums_by_type(_rows(rows, asked), asked.base, _ROW).with_columns(_state=nw.lit(state))


def _rows(rows: Frame, asked: Question) -> Frame:
    return with_matter_type(rows, asked.kind, asked.sources).with_columns(
        worth=C("worth").fill_null(0.0),
        _paid=C("_fees") * C("_settled").fill_null(0.0),
        _hidden=as_float(C("worth").is_null()),
        _rows=nw.lit(1.0),
    )


def _measured(work: Frame, asked: Question) -> Frame:
    """Tell apart what counts from what is left out, and the billing states."""

    def only(condition: nw.Expr, value: str | nw.Expr) -> nw.Expr:
        return nw.when(condition).then(C(value) if isinstance(value, str) else value).otherwise(nw.lit(0.0))

    counted, final = asked.counted, C("_state") == "final"
    where = {name: counted & (C("_state") == state) for name, state in _BY_STATE.items()}
    where["unknown_amount"] = counted & C("_state").is_in(["unknown", "untyped"])
    where |= {"cohort_amount": counted, "left_out_amount": ~counted, "mixed_amount": counted & final & _is(MIXED)}
    rate = map_values("user_id", asked.sources.settings.standard_rates, None, nw.Float64)
    if "user_id" not in asked.base:
        rate = null_column(nw.Float64)
    return work.with_columns(
        **{name: only(condition, "worth") for name, condition in where.items()},
        **{f"_hidden_{name}": only(condition, "_hidden") for name, condition in where.items()},
        standard_amount=only(counted & final, (C("hours") * rate).fill_null(0.0)),
        _hidden_standard_amount=only(counted & final & rate.is_null(), "_rows"),
        billed_amount=only(counted, "_fees"),
        settled_amount=only(counted, "_paid"),
        due_amount=only(counted & _is(DUE), "_fees"),
        due_settled_amount=only(counted & _is(DUE), "_paid"),
        _unspread=only(counted & _is(UNSPREAD), "_rows"),
        _left_out_unspread=only(~counted & _is(UNSPREAD), "_rows"),
        billable_hours=only(counted & final, "hours"),
        left_out_hours=only(~counted, "hours"),
        left_out_billed_amount=only(~counted, "_fees"),
    )


def _result(totals: Frame, asked: Question) -> Frame:
    known = {name: nw.when(C(f"_hidden_{name}") == 0).then(C(name)) for name in _AMOUNTS}
    if asked.discounts == "items":
        known |= {name: nw.when(C("_unspread") == 0).then(C(name)) for name in _FEES}
        left_out = nw.when(C("_left_out_unspread") == 0).then(C("left_out_billed_amount"))
        known["left_out_billed_amount"] = left_out
    totals = (
        totals.with_columns(**known)
        .with_columns(
            write_down_amount=C("worked_amount") - C("billed_amount"),
            billing_realization=ratio("billed_amount", "worked_amount"),
            settlement_ratio=ratio("settled_amount", "billed_amount"),
            due_settlement_ratio=ratio("due_settled_amount", "due_amount"),
            effective_rate=ratio("billed_amount", "billable_hours"),
            billed_to_worked=ratio("billed_amount", "cohort_amount"),
            worked_to_standard=ratio("worked_amount", "standard_amount"),
            billed_to_standard=ratio("billed_amount", "standard_amount"),
        )
        .with_columns(overall_realization=C("billing_realization") * C("settlement_ratio"))
    )
    return finish(totals, asked.keys, _columns(asked))


def _columns(asked: Question) -> Sequence[str]:
    of_cohort = ("unbilled_amount", "prebill_amount", "unknown_amount", "cohort_amount", "billed_to_worked")
    of_due = ("due_amount", "due_settled_amount", "due_settlement_ratio")
    of_standard = ("standard_amount", "worked_to_standard", "billed_to_standard")
    return (
        "worked_amount",
        "billed_amount",
        "write_down_amount",
        "billing_realization",
        "settled_amount",
        "settlement_ratio",
        "overall_realization",
        "billable_hours",
        "effective_rate",
        *(of_cohort if asked.basis == "work_date" else ("unknown_amount",)),
        *(of_standard if asked.sources.settings.standard_rates else ()),
        "left_out_hours",
        "left_out_amount",
        "left_out_billed_amount",
        "mixed_amount",
        *(of_due if asked.as_of is not None else ()),
    )


def _warn(work: Frame, asked: Question) -> None:
    """Say what could be counted and not placed, or not be known."""
    count = collect_row(
        work,
        hidden=C("_hidden").sum(),
        unknown=nw.when(C("_state") == "unknown").then(C("_rows")).otherwise(nw.lit(0.0)).sum(),
        untyped=nw.when(C("_type") == UNKNOWN).then(C("_rows")).otherwise(nw.lit(0.0)).sum(),
        undated=nw.when(C("_state") == "final", _is(UNDATED)).then(C("_rows")).otherwise(nw.lit(0.0)).sum(),
        unspread=nw.when(C("_state") == "final", _is(UNSPREAD)).then(C("_rows")).otherwise(nw.lit(0.0)).sum(),
    )
    warn_of_unknown_count(int(count["unknown"]), "counted in unknown_amount")
    if count["hidden"]:
        warn(
            f"{int(count['hidden'])} billable time entries have no amount (the credential lacks read.rates); "
            "what they are worth, and realization, is missing where they count.",
            RatesHiddenWarning,
        )
    _warn_of_invoices(int(count["undated"]), int(count["unspread"]))
    every_type = asked.matter_types is not None and asked.matter_types >= frozenset(MATTER_TYPES)
    if count["untyped"] and not every_type:
        verb = "counted" if asked.matter_types is None or UNKNOWN in asked.matter_types else "left out"
        warn(
            f"{int(count['untyped'])} time entries are on matters of unknown type; they are {verb}. "
            "Pass matters= (the loader matters(), archived ones too).",
            IncompleteDataWarning,
        )


def _warn_of_invoices(undated: int, unspread: int) -> None:
    if undated:
        warn(
            f"{undated} billable time entries are on final invoices without a due date; the invoice date stands in for "
            "it in what is due.",
            IncompleteDataWarning,
        )
    if unspread:
        warn(
            f"{unspread} billable time entries are on final invoices that also bill fixed fees and have time without "
            'an amount (the credential lacks read.rates); with discounts="items" what they were billed at is missing.',
            RatesHiddenWarning,
        )
