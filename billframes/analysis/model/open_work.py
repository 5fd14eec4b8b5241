"""Calculate work in progress: the items open on a day, with their billing state and age on that day.

Items are first added up by state and age. Only these few sums are joined with matters and users.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes._names import first_few, join_names
from billframes.analysis.declare.columns import ENUMS, ITEMS, Frame, column_names
from billframes.analysis.frames.engine import collect, collect_counts, collect_values, join_by_id, to_dicts
from billframes.analysis.frames.expressions import (
    as_float,
    columns_or_null,
    midnight,
    null_column,
    value_if,
)
from billframes.analysis.frames.frames import Frames
from billframes.analysis.model.allocation import PREBILL
from billframes.analysis.model.grouping import Grouping, known_type
from billframes.analysis.model.keys import ITEM_IDS, UNKNOWN
from billframes.analysis.model.missing_work import (
    note_details_not_in_all,
    unknown_state_reasons,
)
from billframes.analysis.model.sums import Sum, add_up
from billframes.analysis.rules.amounts import HIDDEN_RATES, UNPRICED
from billframes.analysis.rules.invoices import ABSENT_WORK, UNKNOWN_INVOICE
from billframes.analysis.rules.people import UNKNOWN_TYPE

C = nw.col

_ITEM = ("_time", "_expense", "_fee", "hours", "fixed_fee_hours", "unpriced_hours", "_hidden", "_priced", "_rows")
# Result columns that add up the items of one billing state.
_BY_STATE = {"unbilled_amount": "unbilled", "prebill_amount": "prebill", "unknown_amount": "unknown"}


@dataclass(frozen=True, slots=True)
class WipOptions:
    """The arguments of `wip`, checked."""

    day: dt.date
    bounds: tuple[int, ...]
    buckets: tuple[str, ...]
    grouping: Grouping
    include_prebill: bool
    matter_types: frozenset[str] | None
    columns: Sequence[str] = ()

    @property
    def item_columns(self) -> list[str]:
        """The columns of the items from which the keys and the matter type are derived."""
        key = self.grouping.type_key
        return list(dict.fromkeys([*self.grouping.row_columns, *(key.base if key else ())]))

    @property
    def counted(self) -> nw.Expr:
        """Whether the matter's type counts in the total."""
        if self.matter_types is None:
            return ~_is_contingent()
        return C("_type").is_in(sorted(self.matter_types))

    @property
    def shown(self) -> nw.Expr:
        """Whether an item is in any column: what does not count is shown if it is on contingency."""
        return self.counted | _is_contingent()


def _is_contingent() -> nw.Expr:
    return C("_type") == "contingency"


def open_items(frames: Frames, options: WipOptions) -> Frame:
    """Return the rows of `wip`."""
    items = collect(_with_type(_sum_items(frames, options), options))
    absent = [f"`{kind}`" for kind in ITEMS if kind not in frames]
    frames.notes.add(ABSENT_WORK, len(absent), absent=join_names(absent))
    hidden = _note(items, frames, options)
    open_of = {kind: functools.partial(_open_amounts, frames, kind, options) for kind in ITEMS if kind in frames}
    note_details_not_in_all(options.grouping, open_of)
    sums, least = _sums(options, hidden=hidden), ("oldest_date",)
    unknown = {} if options.grouping.type_key else {"contingent_amount": null_column(nw.Float64)}
    items = items.filter(options.shown).with_columns(_counted=options.counted)
    items = items.with_columns(oldest_date=nw.when(C("_counted")).then(C("oldest_date")))
    return add_up(items, sums, options.grouping, options.columns, least, **unknown)


def _sum_items(frames: Frames, options: WipOptions) -> Frame:
    """Add up the open items by kind, billing state, bucket, and the columns that the keys and the matter type need."""
    states = _invoice_states(frames, options.day)
    selected = {
        kind: _with_state(_select_dated(frames, kind, options), states, options) for kind in ITEMS if kind in frames
    }
    types = {name: dtype for rows in selected.values() for name, dtype in rows.collect_schema().items()}
    types |= {"_fixed": nw.Float64(), "hours": nw.Float64()}
    columns = list(dict.fromkeys(["date", "amount", "_fixed", "hours", "_state", *options.item_columns]))
    parts = [rows.select(*columns_or_null(rows, columns, types), _kind=nw.lit(kind)) for kind, rows in selected.items()]
    items = options.grouping.with_periods(_with_bucket(_with_worth(nw.concat(parts)), options), "date")
    by = list(dict.fromkeys([*options.grouping.base, *options.item_columns, "_state", "_bucket", "_kind"]))
    return items.group_by(*by).agg(*[C(name).sum() for name in _ITEM], oldest_date=C("date").min())


def _with_type(items: Frame, options: WipOptions) -> Frame:
    items = options.grouping.with_matter_type(items)
    return items.with_columns(C("_type").cast(nw.String)).with_columns(_type=known_type())


def _select_dated(frames: Frames, kind: str, options: WipOptions, more: Sequence[str] = ()) -> Frame:
    """Select the items dated on or before the day, without non-billable time."""
    columns = ["date", "amount", "invoice_id", *(name for name in options.item_columns if name in ITEM_IDS)]
    if kind == "time_entries":
        rows = _chargeable(frames, [*columns, "hours", "billing_type"], [*options.item_columns, *more])
    else:
        rows = frames.select(kind, columns, [*options.item_columns, *more])
    return rows.filter(C("date") <= midnight(options.day))


def _chargeable(frames: Frames, columns: Sequence[str], optional: Sequence[str]) -> Frame:
    """Select billable and fixed-fee time; `_fixed` marks the latter."""
    entries = frames.select("time_entries", columns, optional)
    kind = C("billing_type")
    fixed = as_float(kind == "fixedFee")
    if not frames.unknown_values("time_entries", "billing_type"):
        return entries.filter(kind.is_in(["billable", "fixedFee"])).with_columns(_fixed=fixed)
    # Time of unknown type may be billable: it counts as billable, in the state "unknown".
    known = kind.is_in(ENUMS["billing_type"]).fill_null(False)
    return entries.filter(~(kind == "nonBillable").fill_null(False)).with_columns(
        _fixed=fixed, _untyped=as_float(~known)
    )


def _with_worth(items: Frame) -> Frame:
    """Add each item's amount and hours in the columns of its kind."""
    time, amount = C("_kind") == "time_entries", C("amount").fill_null(0.0)
    billable, fixed = time & (C("_fixed") < 1), time & (C("_fixed") > 0)
    unpriced = billable & _is_unpriced()
    return items.with_columns(
        _time=value_if(billable, amount),
        _expense=value_if(C("_kind") == "expenses", amount),
        _fee=value_if(C("_kind") == "fixed_fees", amount),
        unpriced_hours=value_if(unpriced, C("hours")),
        _hidden=as_float(unpriced),
        _priced=as_float(billable & ~C("amount").is_null()),
        _rows=nw.lit(1.0),
        fixed_fee_hours=value_if(fixed, C("hours")),
        hours=value_if(billable, C("hours")),
    )


def _is_unpriced() -> nw.Expr:
    """Return whether an entry has hours, but no amount; an entry without hours is worth 0."""
    return C("amount").is_null() & (C("hours") != 0)


def _open_amounts(frames: Frames, kind: str, options: WipOptions) -> tuple[Frame, str]:
    """Return the open items of one kind that count, and their column of amounts."""
    rows = _select_dated(frames, kind, options, ITEM_IDS)
    absent = [name for name in options.item_columns if name not in column_names(rows)]
    rows = rows.with_columns(**dict.fromkeys(absent, null_column(nw.String)))
    still_open = _with_state(rows, _invoice_states(frames, options.day), options)
    return _with_type(still_open, options).filter(options.shown), "amount"


def _invoice_states(frames: Frames, day: dt.date) -> Frame:
    """Return the state of each invoice on the day as `_then`: 2 for final, 1 for prebill, 0 for unknown."""
    rows = frames.select("invoices", ("invoice_id", "invoice_state", "invoice_date"))
    prebill = as_float(C("invoice_state").is_in([*PREBILL, "final"]))
    final = as_float((C("invoice_state") == "final") & (C("invoice_date") <= midnight(day)))
    return rows.select("invoice_id", _then=prebill + final)


def _with_state(rows: Frame, states: Frame, options: WipOptions) -> Frame:
    """Keep the items that were open on the day, and add their billing state on that day."""
    if not options.include_prebill:
        return _with_untyped(rows.filter(C("invoice_id").is_null()).with_columns(_state=nw.lit("unbilled")))
    # States of invoices are numbers: to join a text to each of a million entries takes twice as long.
    rows = join_by_id(rows, states, "invoice_id").with_columns(C("_then").fill_null(0.0))
    invoiced = nw.when(C("_then") > 0).then(nw.lit("prebill")).otherwise(nw.lit("unknown"))
    state = nw.when(C("invoice_id").is_null()).then(nw.lit("unbilled")).otherwise(invoiced)
    return _with_untyped(rows.filter(C("_then") < 2).with_columns(_state=state))


def _with_untyped(rows: Frame) -> Frame:
    if "_untyped" not in column_names(rows):
        return rows
    return rows.with_columns(_state=nw.when(C("_untyped") > 0).then(nw.lit("unknown")).otherwise(C("_state")))


def _with_bucket(rows: Frame, options: WipOptions) -> Frame:
    """Add the number of each item's bucket, which is the number of bounds below its age."""
    first = dt.date.min.toordinal()
    cuts = [dt.date.fromordinal(max(first, options.day.toordinal() - bound)) for bound in options.bounds]
    return rows.with_columns(_bucket=nw.sum_horizontal(*[as_float(C("date") < midnight(cut)) for cut in cuts]))


def _sums(options: WipOptions, *, hidden: bool) -> list[Sum]:
    worth, hides, counted = C("_time") + C("_expense") + C("_fee"), "_hidden" if hidden else None, C("_counted")
    conditions = {name: C("_bucket") == number for number, name in enumerate(options.buckets)}
    conditions |= {name: C("_state") == state for name, state in _BY_STATE.items()}
    return [
        *(Sum(name, worth, counted & condition, hides) for name, condition in conditions.items()),
        Sum("total", worth, counted, hides),
        Sum("time_amount", "_time", counted, hides),
        Sum("expense_amount", "_expense", counted),
        Sum("fixed_fee_amount", "_fee", counted),
        *(Sum(name, name, counted) for name in ("hours", "fixed_fee_hours")),
        Sum("unpriced_hours", "unpriced_hours"),
        Sum("contingent_amount", worth, ~counted, hides),
    ]


def _note(items: Frame, frames: Frames, options: WipOptions) -> bool:
    """Note missing, hidden and unknown amounts, with one query for all counts; return whether rates are hidden."""
    counts, notes = collect_counts((items, _counts(options))), frames.notes
    _note_unknown_invoices(counts, frames, options)
    # `stale` asks for every type, to show work on contingency apart.
    types = None if frames.is_inner else options.matter_types
    if types is None or UNKNOWN not in types:
        words = {"one": "item in progress", "several": "items in progress"}
        words["counted"] = "counted, and may be on contingency" if types is None else "not counted"
        notes.add(UNKNOWN_TYPE, counts.get("untyped", 0.0), **words)
    if counts["hidden"] and (counts["priced"] or _has_any_amount(frames)):
        _note_unpriced(frames, options)
        return False
    so = "amounts that include them are missing"
    notes.add(HIDDEN_RATES, counts["hidden"], which=" in progress", consequence=so)
    return bool(counts["hidden"])


def _note_unknown_invoices(counts: Mapping[str, float], frames: Frames, options: WipOptions) -> None:
    unknown = {kind: f"{int(counts[kind])} `{kind}`" for kind in ITEMS if counts[kind]}
    if unknown:
        example = _unknown_invoice(next(iter(unknown)), frames, options)
        words = {
            "items": ", ".join(unknown.values()),
            "reasons": f"{example}{unknown_state_reasons(frames, types=True)}",
        }
        count, so = sum(counts[kind] for kind in ITEMS), "counted in `unknown_amount`"
        frames.notes.add(UNKNOWN_INVOICE, count, consequence=so, **words)


def _unknown_invoice(kind: str, frames: Frames, options: WipOptions) -> str:
    """Return the id of an invoice that was not passed, in words: an id such as '' or '1.0' shows the cause."""
    items = _with_state(_select_dated(frames, kind, options), _invoice_states(frames, options.day), options)
    unknown = items.filter(C("_state") == "unknown")
    example = collect_values((unknown, {"id": C("invoice_id").cast(nw.String).min()}))["id"]
    return f" (for example `invoice_id` {example!r})" if example is not None else ""


def _counts(options: WipOptions) -> dict[str, nw.Expr]:
    counted = options.shown
    counts = {
        kind: value_if(counted & (C("_state") == "unknown") & (C("_kind") == kind), "_rows").sum() for kind in ITEMS
    }
    counts |= {name: value_if(counted, f"_{name}").sum() for name in ("hidden", "priced")}
    key = options.grouping.type_key
    if key and key.base == ("matter_id",):
        counts["untyped"] = value_if((C("_type") == UNKNOWN) & ~C("matter_id").is_null(), "_rows").sum()
    return counts


def _has_any_amount(frames: Frames) -> bool:
    """Tell whether any billable entry, whatever its date and invoice, has an amount."""
    billable = frames.select("time_entries", ("billing_type", "amount")).filter(C("billing_type") == "billable")
    return collect_counts((billable, {"rows": as_float(~C("amount").is_null()).sum()}))["rows"] > 0


def _note_unpriced(frames: Frames, options: WipOptions) -> None:
    entries = _select_dated(frames, "time_entries", options, ("time_entry_id",))
    unpriced = entries.filter((C("_fixed") < 1) & _is_unpriced())
    still_open = _with_state(unpriced, _invoice_states(frames, options.day), options)
    rows = to_dicts(_with_type(still_open, options).filter(options.shown))
    ids = sorted(str(row["time_entry_id"]) for row in rows if row.get("time_entry_id") is not None)
    named = f" (`time_entry_id` {first_few(ids)})" if ids else ""
    hours = sum(row["hours"] for row in rows)
    frames.notes.add(UNPRICED, len(rows), ids=named, hours=hours)
