"""Add up rows by the keys that `by=` names, and label and sort the groups.

An analysis finds its keys once, takes the rows of a fact with the columns that the keys need, and adds them up:

    keys = Keys.of(call, by)
    rows = call.fact(work, keys.own).filter(…)
    totals = keys.sum(rows, [Sum("hours", C("hours"))], date="date")
    return keys.finish(totals, ANALYSIS.measure_names)

`sum` adds up by the few columns that the keys are derived from, such as `matter_id`: to join every time entry with its
matter would take ten times as long. `finish` joins matters, users and clients to these sums, splits them among
originators, adds them up by the keys, and labels and sorts the groups. People and matters are grouped by id, so that
two clients with the same name stay two rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.notes import Rule
from billframes.analysis.data.arrow import ArrowRows
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import collect, collect_counts, eager_from_arrow, join_by_id, to_arrow
from billframes.analysis.data.expressions import RESIDUE, C, map_values, value_if
from billframes.analysis.data.native import nan_to_null
from billframes.analysis.data.repeated_ids import count_many_missing
from billframes.analysis.declare.columns import ITEMS, Frame, column_names
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.facts.labels import labels
from billframes.analysis.keys.by import ITEM_IDS, JOINED, By, Key, Sources, find_keys
from billframes.analysis.keys.formulas import with_formulas
from billframes.analysis.keys.key_columns import (
    as_text,
    concat_keys,
    key_columns,
    label_of_key,
    own_labels,
    period_name,
    period_number,
    shares_of_originators,
)
from billframes.periods import CALENDAR_YEAR

OF_MATTERS = ("responsible_", "practice_area_", "originator_")
"""The beginnings of columns that belong to matters; those of matters' own names have other beginnings."""
_UNGROUPED, _ROWS = "_ungrouped", "_rows"
_UNMATCHED = Rule(
    name="unmatched",
    seen="`by`='`{key}`': {n} of {all} {kind}s are not among the {kind}s {passed}, so they are in the row {row}.",
    remedy="Pass all {kind}s, from the same firm.",
    page="Look for them in the billing system: they may have been deleted.",
)
_LABELS = {f"{each}_name": each for each in ("client", "matter", "user")}


@dataclass(frozen=True, slots=True)
class Sum:
    """A column that is the sum of `of` over the rows in which `when` holds; it is missing if one of these is NaN."""

    name: str
    of: str | nw.Expr
    when: nw.Expr | None = None

    @property
    def value(self) -> nw.Expr:
        """The value of each row, and 0 in rows that don't count."""
        if self.when is None:
            return C(self.of) if isinstance(self.of, str) else self.of
        return value_if(self.when, self.of)


def _with_values(rows: Frame, sums: Sequence[Sum]) -> Frame:
    """Add the values of sums; rows of Arrow need no expression for a condition, which takes long to make."""
    if isinstance(rows, ArrowRows):
        return cast("Frame", rows.with_values({each.name: (each.of, each.when) for each in sums}))
    return rows.with_columns(**{each.name: each.value for each in sums}) if sums else rows


def _add_up(rows: Frame, by: Sequence[str], totals: Sequence[tuple[str, str]]) -> Frame:
    """Return the sums, and the least and greatest values, of columns by others; without these, one row."""
    if by and isinstance(rows, ArrowRows):
        return cast("Frame", rows.add_up(by, totals))
    how = {"sum": nw.Expr.sum, "min": nw.Expr.min, "max": nw.Expr.max}
    found = [how[kind](C(name)) for name, kind in totals]
    return rows.group_by(*by).agg(*found) if by else rows.select(*found)


@dataclass(frozen=True, slots=True)
class Added:
    """Rows that were added up: the columns that the keys are derived from, and the part of each row in each sum."""

    keys: Keys
    rows: Frame
    sums: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """
    Rows added up by the columns that the keys are derived from, in memory.

    `ungrouped` is the number of rows that count in no group. `added` has what was added up, if the call keeps it.
    """

    rows: Frame
    sums: tuple[str, ...]
    least: tuple[str, ...] = ()
    greatest: tuple[str, ...] = ()
    ungrouped: float = 0.0
    added: tuple[Added, ...] = ()

    def __add__(self, other: Totals) -> Totals:
        """Return the rows of both; each has 0 in the sums of the other."""
        names, tables = tuple(dict.fromkeys((*self.sums, *other.sums))), []
        base = [name for name in column_names(self.rows) if name not in self.sums]
        for part in (self, other):
            rows = to_arrow(part.rows)
            zeros = pa.repeat(0.0, len(rows))
            sums = {name: rows[name] if name in part.sums else zeros for name in names}
            tables.append(pa.table({name: rows[name] for name in base} | sums))
        together = eager_from_arrow(self.rows, concat_keys(tables, base))
        return Totals(together, names, added=(*self.added, *other.added))

    def where(self, condition: nw.Expr) -> Totals:
        """Return those rows that meet a condition on the columns by which they stay apart."""
        return self._with(lambda rows: rows.filter(condition), self.sums)

    def with_sums(self, sums: Sequence[Sum]) -> Totals:
        """Add sums of these sums, such as that of some clients."""
        values = {each.name: each.value for each in sums}
        return self._with(lambda rows: rows.with_columns(**values), (*self.sums, *values))

    def _with(self, change: Callable[[Frame], Frame], sums: tuple[str, ...]) -> Totals:
        added = tuple(replace(each, rows=change(each.rows), sums=sums) for each in self.added)
        return replace(self, rows=change(self.rows), sums=sums, added=added)

    def total(self, name: str) -> float:
        """Return the sum of a column over all rows; 0 if there are none."""
        rows: Any = self.rows
        return float(rows.get_column(name).sum() or 0.0) if len(rows) else 0.0


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a call; the module's docstring shows their use."""

    keys: tuple[Key, ...]
    sources: Sources
    call: Call

    @classmethod
    def of(cls, call: Call, by: By, rows: Iterable[str] = ("time_entries",), *, columns: Iterable[str] = ()) -> Keys:
        """
        Find the keys that `by` names; refuse other names, and keys whose columns were not passed.

        Keys can be columns of the frames `rows`, and `columns` that the rows have beside them. Lists of matters, users
        and clients are joined if they are among the frames of the call.
        """
        there = frozenset(columns).union(*(call.columns(name) for name in rows))
        kinds = {name: call.columns(name) for name in (*ITEMS, "invoices") if name in call} if rows else {}
        of_lists = {name: call.columns(f"{name}s") for name in JOINED}
        sources = Sources(there, of_lists, call.settings, kinds)
        return cls(find_keys(by, sources), sources, call)

    @classmethod
    def of_invoices(cls, call: Call, by: By) -> Keys:
        """Find the keys of invoices: matter and user are keys of their items, all others are of the invoice."""
        own = [name for name in call.columns("invoices") if not name.startswith(("matter_", "user_"))]
        # An invoice names only one of its matters, so columns of matters are taken from the items if they were passed.
        if "matters" in call and "time_entries" in call:
            own = [name for name in own if not name.startswith(OF_MATTERS)]
        return cls.of(call, by, (), columns=[*own, "matter_id", "user_id", "matter_name", "user_name"])

    @property
    def need_items(self) -> bool:
        """Whether keys of invoices need the items: they include matter, user or the type of matter."""
        return not {*self.base}.isdisjoint(("matter_id", "user_id", "matter_type"))

    @property
    def base(self) -> list[str]:
        """The columns from which the keys are derived; labels and numbers of periods are found later."""
        return list(dict.fromkeys(column for key in self.keys for column in key.base if column not in _LABELS))

    @property
    def own(self) -> list[str]:
        """The columns of the frames that the rows need besides those that every fact has."""
        return [name for name in self.base if not name.startswith("_") and name not in (*ITEM_IDS, "matter_type")]

    @property
    def of_items(self) -> list[str]:
        """The columns of `items` from which the keys are derived."""
        return [name for name in self.base if not name.startswith("_")]

    @property
    def columns(self) -> list[str]:
        """The key columns of the result: ids with their labels, and single values."""
        return [column for key in self.keys for column in key.columns]

    @property
    def order(self) -> list[str]:
        """The columns by which the result is sorted: each label, then its id."""
        return [column for key in self.keys for column in reversed(key.columns)]

    @property
    def times(self) -> list[str]:
        """The keys that are periods."""
        return [key.time for key in self.keys if key.time]

    @property
    def capacity_known(self) -> bool:
        """Whether the available hours of each group are known: all keys depend only on the person and the date."""
        return all(key.capacity_known for key in self.keys)

    def with_key(self, key: Key) -> Keys:
        """Return these keys and one more."""
        return replace(self, keys=(*self.keys, key))

    def require_ids(self, *frames: str) -> None:
        """Refuse frames of items that lack the ids of clients, matters or users that the keys need."""
        for name in frames:
            if name in self.call:
                self.call.require(name, *(each for each in self.base if each in ITEM_IDS))

    def sum(
        self,
        rows: Frame,
        sums: Sequence[Sum],
        *,
        date: str = "",
        least: Sequence[str] = (),
        greatest: Sequence[str] = (),
        more: Sequence[str] = (),
        ungrouped: nw.Expr | None = None,
    ) -> Totals:
        """
        Add up rows of a fact, with the columns of `own`, by the columns that the keys are derived from.

        Periods are those of the column `date`. Each group has the smallest and the largest value of the columns `least`
        and `greatest`, such as dates. By the columns `more`, rows stay apart. Those in which `ungrouped` holds are only
        counted, and in no group.
        """
        fiscal = self.sources.settings.fiscal_year or CALENDAR_YEAR
        periods = {f"_{time}": period_number(time, C(date), fiscal) for time in self.times}
        base = list(dict.fromkeys((*self.base, *more)))
        values = [each.name for each in sums]
        apart = {} if ungrouped is None else {_UNGROUPED: ungrouped}
        rows = rows.with_columns(**periods, **apart) if periods or apart else rows
        base += apart
        # Literals have as many rows as the other columns only in `with_columns`.
        rows = _with_values(rows, sums)
        rows = rows.with_columns(**{_ROWS: nw.lit(1.0)}) if apart else rows
        kept = self._kept(rows if ungrouped is None else rows.filter(~C(_UNGROUPED)), tuple(values))
        rows = rows.select(*dict.fromkeys([*base, *least, *greatest, *values, *([_ROWS] if apart else [])]))
        totals = [(name, "sum") for name in (*values, *([_ROWS] if apart else []))]
        totals += [(name, "min") for name in least] + [(name, "max") for name in greatest]
        added = as_text(collect(_add_up(rows, base, totals)))
        count = 0.0
        if apart:
            count = collect_counts((added.filter(C(_UNGROUPED)), {"rows": C(_ROWS).sum()}))["rows"]
            added = added.filter(~C(_UNGROUPED)).drop(_UNGROUPED, _ROWS)
            added = added if self.base or more else _add_up(added, [], [each for each in totals if each[0] != _ROWS])
        return Totals(added, tuple(values), tuple(least), tuple(greatest), count, kept)

    def listed(self, rows: Frame, sums: Sequence[str], greatest: Sequence[str] = ()) -> Totals:
        """Return rows in memory that are not to be added up by the columns that the keys are derived from."""
        return Totals(rows, tuple(sums), (), tuple(greatest), 0.0, self._kept(rows, tuple(sums)))

    def _kept(self, rows: Frame, sums: tuple[str, ...]) -> tuple[Added, ...]:
        return () if self.call.added is None else (Added(self, rows, sums),)

    def finish(self, totals: Totals, columns: Sequence[str], **others: nw.Expr) -> Frame:
        """
        Add up by the keys, and add, label, sort and order the columns; those not known from the sums are left out.

        `others` are columns that are calculated from the sums.
        """
        rows = self.by_key(totals)
        rows = with_formulas(rows.with_columns(**others) if others else rows, columns, analyses().get(self.call.name))
        there = set(column_names(rows))
        return self.labelled(rows, [name for name in columns if name in there])

    def with_shares(self, rows: Frame, amount: str, columns: Sequence[str]) -> Frame:
        """
        Sort finished rows from large to small, add the shares of an amount, and select the `columns` in order.

        Rows of a lazy engine are in memory by now.
        """
        found: Any = nan_to_null(rows)
        # Rounded, because equal amounts can differ in the last digits of a float; they are sorted by label.
        order = ["_size", *self.order]
        found = found.with_columns(_size=C(amount).round(6)).sort(
            *order, descending=[name == "_size" for name in order], nulls_last=True
        )
        known = found[amount].null_count() == 0
        whole = float(found[amount].sum() or 0.0) if known else 0.0
        share = C(amount) / whole if abs(whole) > RESIDUE else nw.lit(None).cast(nw.Float64)
        shared: Frame = found.with_columns(share=share).with_columns(running_share=C("share").cum_sum())
        return shared.select(*self.columns, *columns)

    def by_key(self, totals: Totals) -> Frame:
        """Join the frames that the keys need, and add up by the keys."""
        if self.call.added is not None:
            self.call.added += totals.added
        others = (*totals.least, *totals.greatest)
        rows = self.with_keys(totals.rows, totals.sums, others)
        return self._added_up(rows, totals.sums, totals.least, totals.greatest)

    def labelled(self, rows: Frame, columns: Sequence[str], *, named: bool = False) -> Frame:
        """
        Label and sort the rows, and order the columns.

        Months and quarters become text, unless `named`: in results of other analyses they are text already.
        """
        texts = [label_of_key(key) for key in self.keys if len(key.columns) > 1]
        rows = rows.with_columns(*texts) if texts else rows
        rows = rows.sort(*self.order, nulls_last=True) if self.keys else rows
        names = [] if named else [period_name(time).alias(time) for time in self.times]
        rows = rows.with_columns(*names) if names else rows
        return with_formulas(rows, columns, analyses().get(self.call.name)).select(*self.columns, *columns)

    def combine(
        self,
        parts: Sequence[Frame],
        sums: Sequence[str],
        dates: Sequence[str] = (),
        *,
        least: Sequence[str] = (),
        greatest: Sequence[str] = (),
    ) -> Frame:
        """
        Add up results of other analyses by the keys, in memory.

        Sums that a part does not have are 0, and its `dates` are missing; a missing sum makes the sum missing. Each
        group has the latest of `dates`, and the smallest and largest of `least` and `greatest`, which all parts have.
        """
        # Few rows have many columns here: Arrow adds them up sooner than expressions of them are made.
        tables, first = [], collect(parts[0])
        for part in map(to_arrow, parts):
            there = {*part.column_names}
            columns = {name: each for key in self.keys for name, each in own_labels(key, part)}
            zeros, no_days = pa.repeat(0.0, len(part)), pa.nulls(len(part), pa.timestamp("us"))
            columns |= {name: pc.fill_null(part[name], math.nan) if name in there else zeros for name in sums}
            columns |= {name: part[name] if name in there else no_days for name in dates}
            tables.append(pa.table(columns | {name: part[name] for name in (*least, *greatest)}))
        rows = eager_from_arrow(first, concat_keys(tables, self.columns))
        return self._added_up(rows, sums, least, (*dates, *greatest))

    def with_keys(self, rows: Frame, sums: Sequence[str], others: Sequence[str]) -> Frame:
        """Join the frames that the keys need, and select the key columns, the sums and the other columns."""
        for name in JOINED:
            columns = {alias: column for key in self.keys for alias, column in key.joined.get(name, {}).items()}
            only = [key for key in self.keys if key.only_from == name]
            rows = self._join(rows, name, columns | ({"_found": f"{name}_id"} if only else {}))
            if only:
                self._note_unmatched(rows, name, only[0])
                rows = rows.drop("_found")
        for label in dict.fromkeys(each for key in self.keys for each in key.base if each in _LABELS):
            kind = _LABELS[label]
            rows = join_by_id(rows, as_text(collect(self.call.fact(labels, kind=kind))), f"{kind}_id")
        if "user_id" in self.base:
            rows = rows.with_columns(_set_role=map_values("user_id", self.sources.settings.roles, None, nw.String))
        if any(key.by_originator for key in self.keys):
            rows = self._among_originators(rows, sums)
        types = rows.collect_schema()
        rows = rows.select(*[expr for key in self.keys for expr in key_columns(key, types)], *sums, *others)
        schema = rows.collect_schema()
        texts = [key for key in self.keys if len(key.columns) == 1 and schema[key.columns[0]] == nw.String]
        return rows.with_columns(*[C(*key.columns).fill_null(key.missing) for key in texts]) if texts else rows

    def _join(self, rows: Frame, name: str, columns: Mapping[str, str]) -> Frame:
        """Join columns of matters, users or clients under temporary names."""
        if not columns:
            return rows
        id_ = f"{name}_id"
        other = self.call.select(f"{name}s", (id_, *columns.values()))
        return join_by_id(rows, other.select(id_, **{alias: C(column) for alias, column in columns.items()}), id_)

    def _among_originators(self, rows: Frame, sums: Sequence[str]) -> Frame:
        ids = self.call.select("matters", ("matter_id",)).select("matter_id", _found=C("matter_id"))
        found = join_by_id(rows.select("matter_id"), ids, "matter_id")
        self._note_unmatched(found, "matter", next(key for key in self.keys if key.by_originator))
        # A matter has several originators, and `join_by_id` needs one row per id.
        rows = rows.join(shares_of_originators(rows, self.call), on="matter_id", how="left")
        return rows.with_columns(*[C(name) * C("_share").fill_null(1.0) for name in sums])

    def _note_unmatched(self, rows: Frame, name: str, key: Key) -> None:
        """Note that many of the rows' matters, users or clients are not in the frame of a key (`_found`)."""
        ids = rows.select(_id=C(f"{name}_id"), _found=C("_found")).filter(~C("_id").is_null()).unique()
        if many := count_many_missing(ids):
            words = {"key": key.columns[-1], "all": many[1], "kind": name, "row": key.missing}
            self.call.notes.add(_UNMATCHED, many[0], f"{name}s", about=name, **words)

    def _added_up(self, rows: Frame, sums: Sequence[str], least: Sequence[str], greatest: Sequence[str]) -> Frame:
        """Add up by ids and values; if an id has several names, its label is the last in the alphabet."""
        names = [column for key in self.keys for column in key.columns[1:]]
        by = [key.columns[0] for key in self.keys]
        totals = [(name, "sum") for name in sums] + [(name, "min") for name in least]
        return _add_up(rows, by, [*totals, *((name, "max") for name in (*names, *greatest))])
