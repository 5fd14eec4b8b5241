"""Group the rows of an analysis by keys, and label and sort the groups.

A `Grouping` is made once, from `by=` and the frames that were passed. An analysis uses it in four steps:

1. It selects `row_columns` with its other columns. `with_periods` adds the numbers of months, quarters and years, and
   `with_matter_type` the type of each row's matter.
2. It adds up the rows by `base` (`engine.sum_by`), so that few rows remain. To join every time entry with its matter
   and its user would take ten times as long.
3. `add_up` collects these few rows, joins matters, users and clients, splits the rows among originators, and adds them
   up by the keys. People and matters are grouped by id, so that two clients with the same name stay two rows.
4. `finish` labels and sorts the rows and orders the columns.

`combine` adds up results of other analyses with the same grouping, so that each figure is defined once: leverage takes
its hours from utilization, and profitability its fees from realization.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw

from billframes._notes import Notes
from billframes.analysis.declare.columns import ENUMS, ITEMS, Frame, column_names
from billframes.analysis.frames.engine import collect, join_by_id, sum_by
from billframes.analysis.frames.expressions import map_values, null_column
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.repeated_ids import count_many_missing
from billframes.analysis.model.arguments import resolve_users
from billframes.analysis.model.formulas import with_formulas
from billframes.analysis.model.key_columns import key_columns, label_of_key, own_labels, period_name, period_number
from billframes.analysis.model.keys import (
    ITEM_IDS,
    JOINED,
    UNASSIGNED,
    UNKNOWN,
    By,
    Key,
    Sources,
    find_keys,
    matter_type_key,
)
from billframes.analysis.model.originators import shares_of_originators
from billframes.analysis.rules.people import UNMATCHED
from billframes.config.firm import FirmSettings
from billframes.periods import CALENDAR_YEAR

C = nw.col


@dataclass(frozen=True, slots=True)
class Grouping:
    """
    The grouping of an analysis; the module's docstring shows its use.

    Parameters
    ----------
    keys : tuple of Key
        The keys that `by=` names, in order.
    sources : Sources
        The frames to join for the keys, and the firm's settings.
    type_key : Key, optional
        The key of a row's matter type; None if no frame has it.
    notes : Notes
        The notes of the call.
    """

    keys: tuple[Key, ...]
    sources: Sources
    type_key: Key | None
    notes: Notes

    @classmethod
    def of(
        cls,
        by: By,
        frames: Frames,
        settings: FirmSettings | None,
        rows: Iterable[str] | None = None,
    ) -> Grouping:
        """
        Find the keys that `by` names.

        Parameters
        ----------
        by : str or sequence of str, optional
        frames : Frames
            `matters`, `users` and `clients` are joined if they are among them.
        settings : FirmSettings, optional
            E-mail addresses of users are replaced by their ids.
        rows : iterable of str, optional
            The columns of the rows, if they are not items. By default, the rows have the columns of the time entries.
        """
        kinds = {} if rows is not None else _columns_of_items(frames)
        rows = column_names(frames["time_entries"]) if rows is None else rows
        sources = _sources(frames, settings, rows, kinds)
        return cls(find_keys(by, sources), sources, matter_type_key(sources), frames.notes)

    @classmethod
    def of_items(cls, by: By, frames: Frames, settings: FirmSettings | None) -> Grouping:
        """
        Find the keys of time entries, expenses and fixed fees; see `of`.

        The keys can be columns that only some of these frames have. Matter types are those of the matters, if passed.
        """
        kinds = _columns_of_items(frames)
        rows = frozenset().union(*(kinds[name] for name in ITEMS if name in kinds))
        sources = _sources(frames, settings, rows, kinds)
        return cls(find_keys(by, sources), sources, matter_type_key(sources, prefer_matters=True), frames.notes)

    @property
    def settings(self) -> FirmSettings:
        """The firm's settings, in which all users are named by id."""
        return self.sources.settings

    @property
    def base(self) -> list[str]:
        """The columns from which the keys are derived, including those of periods, such as `_month`."""
        return list(dict.fromkeys(column for key in self.keys for column in key.base))

    @property
    def row_columns(self) -> list[str]:
        """The columns of `base` that the rows have before `with_periods`."""
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
    def details(self) -> dict[str, str]:
        """The columns of matters, users or clients that the rows have themselves, with the frame to take them from."""
        return {column: frame for key in self.keys for column, frame in key.details.items()}

    @property
    def capacity_known(self) -> bool:
        """Whether the available hours of each group are known: all keys depend only on the person and the date."""
        return all(key.capacity_known for key in self.keys)

    def with_key(self, key: Key) -> Grouping:
        """Return this grouping with one more key."""
        return replace(self, keys=(*self.keys, key))

    def with_periods(self, frame: Frame, date: str) -> Frame:
        """Add `_month` and the like of a date column, if they are keys."""
        fiscal = self.settings.fiscal_year or CALENDAR_YEAR
        numbers = {f"_{time}": period_number(time, C(date), fiscal) for time in self.times}
        return frame.with_columns(**numbers) if numbers else frame

    def with_matter_type(self, frame: Frame) -> Frame:
        """Add `_type`, the type of each row's matter. It can be categorical; `sum_by_type` makes it text."""
        key = self.type_key
        if key is None:
            return frame.with_columns(_type=nw.lit(UNKNOWN))
        columns = key.joined.get("matter", {})
        joined = self._join(frame, "matter", columns, coded=True)
        return joined.with_columns(_type=C(key.parts[0][0])).drop(*columns)

    def select_items(self, name: str, columns: Iterable[str], *, lazily: bool = False) -> Frame:
        """
        Select columns of a frame of items, and the columns from which the keys are derived; see `Frames.select`.

        The items must have the ids of clients, matters and users that the keys need. Other columns are null if the
        items don't have them.
        """
        ids = [each for each in self.row_columns if each in ITEM_IDS]
        optional = (*self.row_columns, *ITEM_IDS)
        items: Frame = self.sources.frames.select(name, (*columns, *ids), optional, lazily=lazily)
        there = column_names(items)
        absent = {each: null_column(nw.String) for each in self.row_columns if each not in there}
        return items.with_columns(**absent) if absent else items

    def concat(self, parts: Sequence[Frame], names: Sequence[str] | None = None) -> Frame:
        """Concatenate frames; columns of `base` (or `names`) are cast to the types of the first frame."""
        types = parts[0].collect_schema()
        keys = self.base if names is None else names
        return nw.concat([parts[0], *(_with_types(part, {name: types[name] for name in keys}) for part in parts[1:])])

    def add_up(
        self, frame: Frame, measures: Sequence[str], least: Sequence[str] = (), greatest: Sequence[str] = ()
    ) -> Frame:
        """
        Join the frames that the keys need, and add up by the keys.

        Parameters
        ----------
        frame : Frame
            Sums by at least `base`. A lazy frame is first added up by `base`, and only these sums are collected.
        measures : sequence of str
            The columns to add up. They are split among originators.
        least, greatest : sequence of str
            The columns, such as dates, of which each group has the smallest or the largest value.

        Returns
        -------
        Frame
            The key columns and the other columns, in memory.
        """
        if isinstance(frame, nw.LazyFrame):
            frame = collect(_aggregate(frame, self.base, measures, least, greatest))
        return self._totals(self._with_keys(frame, measures, (*least, *greatest)), measures, least, greatest)

    def combine(
        self,
        parts: Sequence[Frame],
        measures: Sequence[str],
        dates: Sequence[str] = (),
        *,
        least: Sequence[str] = (),
        greatest: Sequence[str] = (),
    ) -> Frame:
        """
        Add up finished results by the keys, in memory.

        Measures that a part does not have are 0, and its `dates` are missing. Each group has the latest of `dates`, and
        the smallest and largest values of `least` and `greatest`, which all parts must have.
        """
        rows = []
        for part in map(collect, parts):
            there = column_names(part)
            # NaN makes every sum with it NaN, so a missing figure stays missing.
            known = [C(name).fill_null(float("nan")) for name in measures if name in there]
            zeros = [nw.lit(0.0).alias(name) for name in measures if name not in there]
            labels = [expr for key in self.keys for expr in own_labels(key)]
            days = [C(name) if name in there else null_column(nw.Datetime("us")).alias(name) for name in dates]
            extremes = [C(name) for name in (*least, *greatest)]
            columns = (*self.columns, *measures, *dates, *least, *greatest)
            rows.append(part.select(*labels, *known, *zeros, *days, *extremes).select(*columns))
        return self._totals(self.concat(rows, self.columns), measures, least, (*dates, *greatest))

    def finish(self, frame: Frame, columns: Sequence[str], *, named: bool = False) -> Frame:
        """
        Label and sort the rows, add the `columns` that follow from others, and order the columns.

        Months and quarters become text, unless `named`: in results from `combine` they are text already.
        """
        labels = [label_of_key(key) for key in self.keys if len(key.columns) > 1]
        frame = frame.with_columns(*labels) if labels else frame
        frame = frame.sort(*self.order, nulls_last=True) if self.keys else frame
        names = [] if named else [period_name(time).alias(time) for time in self.times]
        frame = frame.with_columns(*names) if names else frame
        return with_formulas(frame, columns).select(*self.columns, *columns)

    def _with_keys(self, frame: Frame, measures: Sequence[str], others: Sequence[str]) -> Frame:
        """Join the frames that the keys need, and select the key columns, the measures and the other columns."""
        for name in JOINED:
            columns = {alias: column for key in self.keys for alias, column in key.joined.get(name, {}).items()}
            only = [key for key in self.keys if key.only_from == name]
            frame = self._join(frame, name, columns | ({"_found": f"{name}_id"} if only else {}))
            if only:
                self._note_unmatched(frame, name, only[0])
                frame = frame.drop("_found")
        if "user_id" in self.base:
            frame = frame.with_columns(_set_role=map_values("user_id", self.settings.roles, None, nw.String))
        if any(key.by_originator for key in self.keys):
            matters = self.sources.frames.select("matters", ("matter_id",))
            found = join_by_id(frame.select("matter_id"), matters.select("matter_id", _found="matter_id"), "matter_id")
            self._note_unmatched(found, "matter", next(key for key in self.keys if key.by_originator))
            # A matter has several originators, and `join_by_id` needs one row per id.
            frame = frame.join(shares_of_originators(frame, self.sources), on="matter_id", how="left")
            frame = frame.with_columns(*[C(measure) * C("_share").fill_null(1.0) for measure in measures])
        types = frame.collect_schema()
        rows = frame.select(*[expr for key in self.keys for expr in key_columns(key, types)], *measures, *others)
        schema = rows.collect_schema()
        texts = [key for key in self.keys if len(key.columns) == 1 and schema[key.columns[0]] == nw.String]
        return rows.with_columns(*[C(*key.columns).fill_null(key.missing) for key in texts]) if texts else rows

    def _join(self, frame: Frame, name: str, columns: Mapping[str, str], *, coded: bool = False) -> Frame:
        """Join columns of matters, users or clients under temporary names; they stay categorical if `coded`."""
        if not columns:
            return frame
        id_ = f"{name}_id"
        coded_columns = columns.values() if coded else ()
        other = self.sources.frames.select(f"{name}s", (id_, *columns.values()), coded=coded_columns)
        return join_by_id(frame, other.select(id_, **{alias: C(column) for alias, column in columns.items()}), id_)

    def _note_unmatched(self, frame: Frame, name: str, key: Key) -> None:
        """Note that many of the rows' matters, users or clients are not in the frame of a key (`_found`)."""
        ids = frame.select(_id=C(f"{name}_id"), _found=C("_found")).filter(~C("_id").is_null()).unique()
        if many := count_many_missing(ids):
            words = {"key": key.columns[-1], "all": many[1], "kind": name, "row": key.missing}
            self.notes.add(UNMATCHED, many[0], f"{name}s", about=name, **words)

    def _totals(
        self, frame: Frame, measures: Sequence[str], least: Sequence[str] = (), greatest: Sequence[str] = ()
    ) -> Frame:
        """Add up by ids and values; if an id has several names, its label is the last in the alphabet."""
        names = [column for key in self.keys for column in key.columns[1:]]
        return _aggregate(frame, [key.columns[0] for key in self.keys], measures, least, (*names, *greatest))


def _columns_of_items(frames: Frames) -> dict[str, frozenset[str]]:
    return {name: frozenset(column_names(frames[name])) for name in (*ITEMS, "invoices") if name in frames}


def _sources(
    frames: Frames,
    settings: FirmSettings | None,
    rows: Iterable[str],
    kinds: Mapping[str, frozenset[str]],
) -> Sources:
    columns = {name: frozenset(column_names(frames[f"{name}s"]) if f"{name}s" in frames else ()) for name in JOINED}
    return Sources(frozenset(rows), frames, columns, resolve_users(settings, frames), kinds)


def _aggregate(
    frame: Frame, by: Sequence[str], measures: Sequence[str], least: Sequence[str], greatest: Sequence[str]
) -> Frame:
    totals = [C(name).sum() for name in measures]
    totals += [C(name).min() for name in least] + [C(name).max() for name in greatest]
    return frame.group_by(*by).agg(*totals) if by else frame.select(*totals)


def sum_by_type(frame: Frame, by: Sequence[str], measures: Iterable[str]) -> Frame:
    """Add up by columns that include `_type`, and replace missing and undeclared types by `Unknown`."""
    return sum_by(frame, by, list(measures)).with_columns(_type=known_type())


def known_type() -> nw.Expr:
    """Return the matter type `_type`, or `Unknown` if it is missing or not declared in `ENUMS`."""
    return nw.when(C("_type").is_in(ENUMS["matter_type"])).then(C("_type")).otherwise(nw.lit(UNKNOWN))


def _with_types(part: Frame, types: Mapping[str, Any]) -> Frame:
    there = part.collect_schema()
    casts = [_cast(name, there[name], dtype) for name, dtype in types.items() if there[name] != dtype]
    return part.with_columns(*casts) if casts else part


def _cast(name: str, present: Any, dtype: Any) -> nw.Expr:
    """Cast a key; a frame without a key that is a number or a date elsewhere has the label of missing keys as text."""
    is_value = ~C(name).is_in([UNASSIGNED, UNKNOWN])
    return (nw.when(is_value).then(C(name)) if present == nw.String else C(name)).cast(dtype).alias(name)
