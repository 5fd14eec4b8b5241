"""How work in progress is found: the items open on a day, their state and age then, and what is not known of them.

Items are told apart by state and age first, and only these few sums are joined with matters and users.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw

from billframes._warn import warn
from billframes.analysis.allocation import PREBILL, or_unknown_values
from billframes.analysis.column_types import ENUMS, Frame
from billframes.analysis.engine import collect_row, to_dicts
from billframes.analysis.expressions import as_float, midnight, null_column
from billframes.analysis.frames import select_columns
from billframes.analysis.grouping import add_up, attach, base_of, finish, known_type, with_matter_type, with_times
from billframes.analysis.guards import unknown_values
from billframes.analysis.keys import UNKNOWN, Key, Sources
from billframes.errors import IncompleteDataWarning, RatesHiddenWarning

__all__ = ["KINDS", "Question", "in_progress"]

C = nw.col

KINDS = ("time_entries", "expenses", "fixed_fees")
_IDS = frozenset({"user_id", "client_id", "matter_id"})
_ITEM = ("_time", "_expense", "_fee", "hours", "fixed_fee_hours", "unpriced_hours", "_hidden", "_priced", "_rows")
# A warning names so many entries and counts the others.
_NAMED = 5
# Result columns that add up what is in one state.
_BY_STATE = {"unbilled_amount": "unbilled", "prebill_amount": "prebill", "unknown_amount": "unknown"}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, once the arguments are checked."""

    day: dt.date
    bounds: tuple[int, ...]
    buckets: tuple[str, ...]
    keys: tuple[Key, ...]
    include_prebill: bool
    kind: Key | None
    matter_types: frozenset[str] | None

    @property
    def own(self) -> list[str]:
        """Columns of the items that the keys and the matter type derive from."""
        kind = self.kind.base if self.kind else ()
        return [name for name in dict.fromkeys([*base_of(self.keys), *kind]) if not name.startswith("_")]

    @property
    def counted(self) -> nw.Expr:
        """Whether a matter's type is one that counts."""
        if self.matter_types is None:
            return ~C("_type").is_null()
        return C("_type").is_in(sorted(self.matter_types))

    @property
    def worths(self) -> tuple[str, ...]:
        """Result columns that time of unknown worth leaves missing."""
        return (*self.buckets, "total", *_BY_STATE, "time_amount", "contingent_amount")

    @property
    def measures(self) -> tuple[str, ...]:
        """All that is added up."""
        others = ("expense_amount", "fixed_fee_amount", "hours", "fixed_fee_hours", "unpriced_hours")
        return (*self.worths, *others, *(f"_hidden_{name}" for name in self.worths))

    @property
    def columns(self) -> tuple[str, ...]:
        """Result columns behind the keys, in order."""
        worths = [name for name in self.worths if name != "contingent_amount"]
        others = ("expense_amount", "fixed_fee_amount", "hours", "fixed_fee_hours", "oldest_date")
        return (*worths, *others, "unpriced_hours", "contingent_amount")


def in_progress(frames: dict[str, Frame], sources: Sources, asked: Question) -> Frame:
    """Answer a question, from the frames that were given: the rows of `wip`."""
    items = _typed(_items(frames, asked), sources, asked)
    _warn_of_absent(frames)
    hidden = _warn(items, frames, sources, asked)
    counted = _measured(items.filter(asked.counted), asked)
    totals = attach(counted, asked.keys, sources, asked.measures, kept=("oldest_date",))
    return _result(add_up(totals, asked.keys, asked.measures, ("oldest_date",)), asked, hidden=hidden)


def _items(frames: dict[str, Frame], asked: Question) -> Frame:
    """Add up the open items of all kinds over what the keys derive from, their state, their bucket and their kind."""
    states = _states(frames["invoices"], asked.day)
    taken = {kind: _with_state(_dated(frames[kind], kind, asked), states, asked) for kind in KINDS if kind in frames}
    schema = {name: dtype for rows in taken.values() for name, dtype in rows.collect_schema().items()}
    schema |= {"_fixed": nw.Float64(), "hours": nw.Float64()}
    columns = list(dict.fromkeys(["date", "amount", "_fixed", "hours", "_state", *asked.own]))
    parts = []
    for kind, rows in taken.items():
        there = rows.collect_schema()
        filled = [C(name) if name in there else null_column(schema[name]).alias(name) for name in columns]
        parts.append(rows.select(*filled, _kind=nw.lit(kind)))
    items = with_times(_in_buckets(_worth(nw.concat(parts)), asked), asked.keys, "date")
    by = list(dict.fromkeys([*base_of(asked.keys), *asked.own, "_state", "_bucket", "_kind"]))
    return items.group_by(*by).agg(*[C(name).sum() for name in _ITEM], oldest_date=C("date").min())


def _typed(items: Frame, sources: Sources, asked: Question) -> Frame:
    """Add the matter type."""
    typed = with_matter_type(items, asked.kind, sources)
    return typed.with_columns(C("_type").cast(nw.String)).with_columns(_type=known_type())


def _dated(frame: Frame, kind: str, asked: Question, more: Sequence[str] = ()) -> Frame:
    """Take the items dated on or before the day; of time only what can be billed, by the hour or as a fixed fee."""
    columns = ["date", "amount", "invoice_id", *(name for name in asked.own if name in _IDS)]
    if kind == "time_entries":
        rows = _chargeable(select_columns(frame, kind, [*columns, "hours", "billing_type"], [*asked.own, *more]))
    else:
        rows = select_columns(frame, kind, columns, asked.own)
    return rows.filter(C("date") <= midnight(asked.day))


def _chargeable(entries: Frame) -> Frame:
    """Keep billable and fixed-fee time, and say which is which."""
    kind = C("billing_type")
    fixed = as_float(kind == "fixedFee")
    if not unknown_values("time_entries", "billing_type"):
        return entries.filter(kind.is_in(["billable", "fixedFee"])).with_columns(_fixed=fixed)
    # Time of unknown type may be billable: it counts as that, in a state of its own.
    known = kind.is_in(ENUMS["billing_type"]).fill_null(False)
    return entries.filter(~(kind == "nonBillable").fill_null(False)).with_columns(
        _fixed=fixed, _untyped=as_float(~known)
    )


def _worth(items: Frame) -> Frame:
    """Put each item's amount and hours into the columns of its kind."""

    def only(condition: nw.Expr, value: nw.Expr) -> nw.Expr:
        return nw.when(condition).then(value).otherwise(nw.lit(0.0))

    time, amount = C("_kind") == "time_entries", C("amount").fill_null(0.0)
    billable, fixed = time & (C("_fixed") < 1), time & (C("_fixed") > 0)
    unpriced = billable & _unpriced()
    return items.with_columns(
        _time=only(billable, amount),
        _expense=only(C("_kind") == "expenses", amount),
        _fee=only(C("_kind") == "fixed_fees", amount),
        unpriced_hours=only(unpriced, C("hours")),
        _hidden=as_float(unpriced),
        _priced=as_float(billable & ~C("amount").is_null()),
        _rows=nw.lit(1.0),
        fixed_fee_hours=only(fixed, C("hours")),
        hours=only(billable, C("hours")),
    )


def _unpriced() -> nw.Expr:
    """Tell whether an entry has hours and no amount; no hours are worth nothing."""
    return C("amount").is_null() & (C("hours") != 0)


def _states(invoices: Frame, day: dt.date) -> Frame:
    """Tell what each invoice was on the day: 2 for final, 1 for prebill, 0 for a state that is not known."""
    heads = select_columns(invoices, "invoices", ("invoice_id", "invoice_state", "invoice_date"))
    prebill = as_float(C("invoice_state").is_in([*PREBILL, "final"]))
    final = as_float((C("invoice_state") == "final") & (C("invoice_date") <= midnight(day)))
    return heads.select("invoice_id", _then=prebill + final)


def _with_state(rows: Frame, states: Frame, asked: Question) -> Frame:
    """Keep the items that were open on the day, and tell their state then."""
    if not asked.include_prebill:
        return _with_untyped(rows.filter(C("invoice_id").is_null()).with_columns(_state=nw.lit("unbilled")))
    # Numbers until only few rows are left: a text for each of a million entries costs as much as the join.
    rows = rows.join(states, on="invoice_id", how="left").with_columns(C("_then").fill_null(0.0))
    invoiced = nw.when(C("_then") > 0).then(nw.lit("prebill")).otherwise(nw.lit("unknown"))
    state = nw.when(C("invoice_id").is_null()).then(nw.lit("unbilled")).otherwise(invoiced)
    return _with_untyped(rows.filter(C("_then") < 2).with_columns(_state=state))


def _with_untyped(rows: Frame) -> Frame:
    if "_untyped" not in rows.collect_schema():
        return rows
    return rows.with_columns(_state=nw.when(C("_untyped") > 0).then(nw.lit("unknown")).otherwise(C("_state")))


def _in_buckets(rows: Frame, asked: Question) -> Frame:
    """Find the number of the bucket of each item's age: how many bounds it has passed."""
    first = dt.date.min.toordinal()
    cuts = [dt.date.fromordinal(max(first, asked.day.toordinal() - bound)) for bound in asked.bounds]
    return rows.with_columns(_bucket=nw.sum_horizontal(*[as_float(C("date") < midnight(cut)) for cut in cuts]))


def _measured(items: Frame, asked: Question) -> Frame:
    """Tell buckets and states apart, and how many entries of unknown worth are in each."""
    where = {name: C("_bucket") == number for number, name in enumerate(asked.buckets)}
    where |= {name: C("_state") == state for name, state in _BY_STATE.items()}
    where["contingent_amount"] = C("_type") == "contingency"
    worth = C("_time") + C("_expense") + C("_fee")
    return items.with_columns(
        **{name: nw.when(condition).then(worth).otherwise(nw.lit(0.0)) for name, condition in where.items()},
        **{
            f"_hidden_{name}": nw.when(condition).then(C("_hidden")).otherwise(nw.lit(0.0))
            for name, condition in where.items()
        },
        total=worth,
        time_amount=C("_time"),
        expense_amount=C("_expense"),
        fixed_fee_amount=C("_fee"),
        _hidden_total=C("_hidden"),
        _hidden_time_amount=C("_hidden"),
    )


def _result(totals: Frame, asked: Question, *, hidden: bool) -> Frame:
    if hidden:
        known = {name: nw.when(C(f"_hidden_{name}") == 0).then(C(name)) for name in asked.worths}
        totals = totals.with_columns(**known)
    if asked.kind is None:
        totals = totals.with_columns(contingent_amount=null_column(nw.Float64))
    return finish(totals, asked.keys, asked.columns)


def _warn_of_absent(frames: dict[str, Frame]) -> None:
    absent = [kind for kind in KINDS if kind not in frames]
    if absent:
        warn(
            f"No {' and '.join(absent)} were passed, so there are taken to be none. Pass an empty frame to say so.",
            IncompleteDataWarning,
        )


def _warn(items: Frame, frames: dict[str, Frame], sources: Sources, asked: Question) -> bool:
    """Say what could be counted and not placed, or not be known; tell whether all rates are hidden."""
    count = collect_row(items, **_counts(asked))
    lost = [f"{int(count[kind])} {kind}" for kind in KINDS if count[kind]]
    if lost:
        warn(
            f"{', '.join(lost)} name an invoice that is not among those passed{or_unknown_values(types=True)}; they "
            "count, in unknown_amount. Load invoices over a wider window, by the ids that the work refers to.",
            IncompleteDataWarning,
        )
    if count.get("untyped"):
        left = "contingent_amount is" if asked.matter_types is None else "figures are"
        warn(
            f"{int(count['untyped'])} items in progress are on matters of unknown type; {left} without them. "
            "Load all matters, archived ones too.",
            IncompleteDataWarning,
        )
    if not count["hidden"]:
        return False
    if count["priced"] or _any_amount(frames["time_entries"]):
        _warn_of_unpriced(frames, sources, asked)
        return False
    warn(
        f"{int(count['hidden'])} billable time entries in progress have no amount (the credential lacks "
        "read.rates); amounts they are part of are missing.",
        RatesHiddenWarning,
    )
    return True


def _counts(asked: Question) -> dict[str, nw.Expr]:
    """Count what warnings name, over the summed items."""

    def counted(column: str, *conditions: nw.Expr) -> nw.Expr:
        return nw.when(asked.counted, *conditions).then(C(column)).otherwise(nw.lit(0.0)).sum()

    counts = {kind: counted("_rows", C("_state") == "unknown", C("_kind") == kind) for kind in KINDS}
    counts |= {"hidden": counted("_hidden"), "priced": counted("_priced")}
    if (
        asked.kind
        and asked.kind.base == ("matter_id",)
        and (not asked.matter_types or UNKNOWN not in asked.matter_types)
    ):
        untyped = (C("_type") == UNKNOWN) & ~C("matter_id").is_null()
        counts["untyped"] = nw.when(untyped).then(C("_rows")).otherwise(nw.lit(0.0)).sum()
    return counts


def _any_amount(entries: Frame) -> bool:
    """Tell whether any billable entry, whatever its date and invoice, shows an amount."""
    shown = select_columns(entries, "time_entries", ("billing_type", "amount")).filter(C("billing_type") == "billable")
    return collect_row(shown, rows=as_float(~C("amount").is_null()).sum())["rows"] > 0


def _warn_of_unpriced(frames: dict[str, Frame], sources: Sources, asked: Question) -> None:
    """Name the open entries that have no amount although others show theirs."""
    dated = _dated(frames["time_entries"], "time_entries", asked, ("time_entry_id",))
    unpriced = dated.filter((C("_fixed") < 1) & _unpriced())
    still_open = _with_state(unpriced, _states(frames["invoices"], asked.day), asked)
    rows = to_dicts(_typed(still_open, sources, asked).filter(asked.counted))
    ids = sorted(str(row["time_entry_id"]) for row in rows if row.get("time_entry_id") is not None)
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    named = f" (time_entry_id {', '.join(ids[:_NAMED])}{more})" if ids else ""
    hours = sum(row["hours"] for row in rows)
    warn(
        f"{len(rows)} of the billable time entries in progress have no amount, although others show theirs{named}. "
        f"Amounts are without them; their {hours:g} hours are in unpriced_hours. Give these entries a rate and load "
        "again.",
        IncompleteDataWarning,
    )
