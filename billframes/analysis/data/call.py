"""One call of an analysis: what it reads of the data, the notes that it gives, and the days that it counts.

A fact reads its data by a `Reader`, which records the columns that were used: what the checks found in a column is
noted by every call that uses it, also if the fact was made long before.

An analysis gets a `Call`, which is a `Reader`, too. To take figures from another analysis, it asks for it by name: the
other analysis then gives its notes to the same call.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa

from billframes._shared.notes import Notes
from billframes.analysis.data.arrow import ArrowRows
from billframes.analysis.data.data import Columns, Data, FactKey
from billframes.analysis.data.data_span import counted_days, first_day, read_bounded_period, read_period
from billframes.analysis.data.distinct_names import attach_names_of
from billframes.analysis.data.engine import eager_from_arrow
from billframes.analysis.data.native import nan_to_null, to_native
from billframes.analysis.data.people import resolved_settings, without_people
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.spec import Analysis, parameters
from billframes.config.firm import FirmSettings
from billframes.loading.load_info import ANALYSIS, attach, attach_notes
from billframes.periods import DateLike, Period

Fact = Callable[..., Frame]
"""A function that takes a `Reader`, the columns to add, and choices, and returns the rows of a fact."""

FIRM_FRAMES = frozenset({"time_entries", "expenses", "fixed_fees", "invoices", "matters"})


class Reader(Mapping[str, Frame]):
    """The checked frames by name, and the columns that were used of them."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.used: dict[tuple[str, str], None] = {}
        self.also: Mapping[Fact, Iterable[str]] = {}

    def __getitem__(self, name: str) -> Frame:
        return self.data.table(name).check()[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data.natives)

    def __len__(self) -> int:
        return len(self.data.natives)

    def __contains__(self, name: object) -> bool:
        return name in self.data

    @property
    def settings(self) -> FirmSettings:
        """The firm's settings, which name people as they were passed; facts use their taxes and payment order."""
        return self.data.given_settings or FirmSettings()

    def columns(self, name: str) -> frozenset[str]:
        """Return the names of a frame's columns; without the frame, none."""
        return self.data.columns(name)

    def require(self, name: str, *columns: str) -> None:
        """Refuse a frame that lacks one of these columns."""
        self.data.require(name, *columns)

    def select(self, name: str, columns: Iterable[str], optional: Iterable[str] = ()) -> Frame:
        """
        Select and cast the columns that are used: all `columns`, and those of `optional` that the frame has.

        Polars frames are lazy.
        """
        rows, used = self.data.table(name).select(columns, optional)
        self.use(frozenset((name, column) for column in used))
        return rows

    def use(self, columns: Columns) -> None:
        """Record the columns that were used."""
        self.used |= dict.fromkeys(columns)

    def unknown_values(self, name: str, column: str) -> list[Any]:
        """Return the unknown values of an enum of a frame; None is a missing value."""
        found: list[Any] = self.data.table(name).check()[1].unknown.get((name, column), [])
        return found

    def fact(
        self,
        build: Fact,
        own: Iterable[str] = (),
        *,
        among: Collection[str] = FIRM_FRAMES,
        only: Collection[str] = (),
        **choices: Any,
    ) -> Frame:
        """
        Return the rows of a fact that `build` makes, which a book of pandas or Arrow frames keeps.

        `own` are columns of the frames to add to the rows, such as those that `by` names, and `among` the frames that
        the fact may read. `only` are the kinds of rows that are needed; a fact that is kept has all of them. `choices`
        are arguments of `build` that make another fact, such as `discounts`.
        """
        own = tuple(dict.fromkeys((*own, *self.also.get(build, ()))))
        frames = frozenset(among) & frozenset(self.data.natives)
        usual = parameters(build)
        choices = {name: each for name, each in choices.items() if each != usual[name].default}
        if not self.data.has_whole_facts:
            return self._made(build, own, frames, choices | ({"only": tuple(only)} if only else {}))
        rows = self._made(build, (), frames, choices)
        if not own:
            return rows
        # The rows are in the same order whenever they are made, so only the columns that were added are kept.
        added = [cast("ArrowRows", self._made(build, (name,), frames, choices)) for name in own]
        return cast("Frame", cast("ArrowRows", rows).beside(*added))

    @property
    def frames_key(self) -> Any:
        """What is equal if the frames and the settings are the same."""
        return frozenset(self.data.natives), id(self.settings)

    def _made(self, build: Fact, own: tuple[str, ...], frames: frozenset[str], choices: Mapping[str, Any]) -> Frame:
        def make() -> tuple[Frame, Columns]:
            reader = Reader(self.data.view(frames, self.data.given_settings))
            rows = build(reader, own=own, **choices)
            return (rows.select(*own) if own and self.data.has_whole_facts else rows), frozenset(reader.used)

        settings = self.data.given_settings or FirmSettings()
        of_settings = repr((settings.taxes, settings.payment_order))
        key = FactKey(build, own, frames, of_settings, tuple(sorted(choices.items())))
        rows, used = self.data.fact(key, make)
        self.use(used)
        return rows


@dataclass(frozen=True, slots=True)
class Asked:
    """
    An analysis that another one asked, and what it added up.

    `figures` has the figures of the other analysis that follow from its figures: of each the name there, and the value
    of a row, by which it is replaced. None stands for all its figures under their names.
    """

    analysis: str
    added: list[Any]
    figures: Mapping[str, tuple[str, nw.Expr]] | None


class Call(Reader):
    """
    A call of an analysis.

    `outer` is the call that asked for this one, and gets its notes.
    """

    def __init__(self, data: Data, analysis: str, outer: Call | None = None) -> None:
        super().__init__(data)
        self.name, self.outer = analysis, outer
        self.notes: Notes = Notes(subject=analysis) if outer is None else outer.notes
        # The days that the result counts, and what else it remembers, by name.
        self.days: dict[str, str] = {}
        self.more: dict[str, Any] = {}
        # What the keys add up, and the analyses that were asked (`Asked`); None if nobody wants to know.
        self.added: list[Any] | None = None if outer is None or outer.added is None else []
        # More columns of the frames for the rows of a fact.
        self.also = {} if outer is None else outer.also
        data.check()
        for name in data.natives:
            self.notes.merge(data.table(name).check()[2])
        if outer is None:
            self.notes.merge(data.of_loads())

    @property
    def is_inner(self) -> bool:
        """Whether another analysis asked for this one. The other then warns of whole frames, and says the notes."""
        return self.outer is not None

    @property
    def analysis(self) -> str:
        """The name of the analysis that was called."""
        return self.notes.subject

    @property
    def natives(self) -> Mapping[str, Any]:
        """The frames as they were passed."""
        return self.data.natives

    @property
    def settings(self) -> FirmSettings:
        """
        The firm's settings; what is wrong in them is noted.

        All users are named by id, unless the analysis takes no users.
        """
        found, notes = resolved_settings(self.data, people="users" in analyses()[self.name].takes)
        self.notes.merge(notes)
        return found

    def leave_out_people(self) -> None:
        """Use settings that name no people, for an analysis without users to look up the names in the settings."""
        given = self.data.given_settings
        known = self.data.once(("without people", id(given)), lambda: (without_people(given), given))[0]
        self.data = self.data.view(self.data.natives, known)

    def passed(self, *names: str) -> dict[str, Any]:
        """Return some of the frames as they were passed."""
        return {name: self.natives[name] for name in names if name in self.natives}

    def use(self, columns: Columns) -> None:
        """Note what the checks found in columns, and between frames."""
        self.notes.merge(self.data.found_between(columns))
        for name, column in columns:
            if found := self.data.table(name).check()[1].notes.get((name, column)):
                self.notes.merge(found)

    def whole(self, name: str) -> Frame:
        """Return a frame with all its columns as they were passed, with unique ids."""
        rows, _, notes = self.data.table(name).check(ids_only=True)
        self.notes.merge(notes)
        return rows

    def period(self, start: DateLike | None, end: DateLike | None) -> Period:
        """Read `start=` and `end=`; the result remembers the days."""
        dated = self.passed("time_entries", "invoices")
        return self.count(read_period(start, end, self.data.given_settings, *dated.values()))

    def count(self, period: Period) -> Period:
        """Return a period, which the result remembers."""
        dated = self.passed("time_entries", "invoices")
        self.days = counted_days(period, self.data.given_settings, self.first_day(*dated), **dated)
        return period

    def first_day(self, *names: str) -> dt.date | None:
        """Return the first day with a record in whole loads; None if that is unknown."""
        return cast("dt.date | None", self.data.once(("first day", names), lambda: first_day(**self.passed(*names))))

    def bounded_period(self, start: DateLike, end: DateLike | None) -> tuple[dt.date, dt.date]:
        """Return both ends of a period; refuse an open end."""
        dated = self.passed("time_entries", "invoices")
        return read_bounded_period(start, end, self.analysis, self.data.given_settings, *dated.values())

    def day(self, day: dt.date) -> dt.date:
        """Return the day of the balances, which the result remembers."""
        self.days = {"as_of": day.isoformat()}
        return day

    def ask(
        self, name: str, *frames: str, figures: Mapping[str, tuple[str, nw.Expr]] | None = None, **options: Any
    ) -> Frame:
        """
        Return the result of another analysis of these frames (by default all that it takes), in memory.

        `figures` adds columns that follow from a figure of the other analysis, if it has that (see `Asked`).
        """
        analysis = analyses()[name]
        view = self.data.view(frames or analysis.takes, self.data.given_settings)
        call = Call(view, analysis.name, self)
        rows = nan_to_null(rows_of(analysis, call, options))
        if self.added is not None:
            self.added.append(Asked(name, call.added or [], figures))
        there = column_names(rows) if figures else ()
        more = {each: value for each, (of, value) in (figures or {}).items() if of in there}
        return rows.with_columns(**more) if more else rows

    def derive(self, name: str, figures: Mapping[str, tuple[str, nw.Expr]]) -> None:
        """Declare figures that follow from those of an analysis that was asked, if somebody wants to know."""
        if self.added is not None:
            of = next(each for each in reversed(self.added) if isinstance(each, Asked) and each.analysis == name)
            self.added.append(replace(of, figures=figures))

    def ask_of(self, rows: Mapping[str, Frame], name: str, *frames: str, **options: Any) -> Frame:
        """Return the result of another analysis of `rows`, such as a part of the entries, and of these frames."""
        view = self.data.view(frames, self.data.given_settings).with_rows(**rows)
        return nan_to_null(rows_of(analyses()[name], Call(view, self.analysis, self), options))

    def listed(self, rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> Frame:
        """Return the rows of a list, whose missing columns become null."""
        table = pa.Table.from_pylist(list(rows), schema)
        return eager_from_arrow(next(iter(self.values())), table)

    def result(self, rows: Frame) -> Any:
        """
        Convert a result to the kind of frame that the user passed first, and give the notes.

        It is lazy if that frame is lazy, even if it was computed in memory. pandas frames get a RangeIndex. The result
        remembers the days that it counts, and the references of those who share a name.
        """
        return finished(rows, self.data.first, self.notes, self.natives, self.days, self.more)


def finished(
    rows: Frame,
    like: Any,
    notes: Notes,
    natives: Mapping[str, Any],
    days: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Any:
    """Convert a result to the kind of frame of `like`, and give the notes; see `Call.result`."""
    result = to_native(nan_to_null(rows), like, days)
    notes.finish()
    if isinstance(result, pd.DataFrame):
        result.attrs[ANALYSIS] = notes.subject
    for name, value in (more or {}).items():
        result = attach(result, name, value)
    return attach_names_of(attach_notes(result, notes), natives.values())


def run(analysis: Analysis, data: Data, **options: Any) -> Any:
    """Return the result of an analysis of the data, as the kind of frame that the user passed first."""
    call = Call(data, analysis.name)
    return call.result(rows_of(analysis, call, options))


def rows_of(analysis: Analysis, call: Call, options: Mapping[str, Any]) -> Frame:
    """Return the rows of an analysis that is made of facts."""
    if (rows := analysis.rows_of) is None:
        raise TypeError(f"{analysis.name} is not made by `sheet`.")
    return cast("Frame", rows(call, **options))
