"""The frames of a call: as passed, checked once, and what was found in them.

An analysis makes its `Frames` from its arguments. To take figures from another analysis, it passes them on with `call`:
the other analysis then checks nothing again, and its notes join those of the call.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrameT

from billframes._notes import Notes
from billframes.analysis.data.call import ask
from billframes.analysis.data.data import Data
from billframes.analysis.data.stamp import compare_loads, compare_with_load
from billframes.analysis.declare.columns import IDS, Frame, as_arrow
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.frames.checked_frames import Findings
from billframes.analysis.frames.data_span import counted_days, read_bounded_period, read_period
from billframes.analysis.frames.distinct_names import attach_names_of
from billframes.analysis.frames.engine import eager_from_arrow, lazy
from billframes.analysis.frames.native import nan_to_null, select_columns, to_native, wrap_frames
from billframes.analysis.frames.values import check_values
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import attach_notes
from billframes.periods import DateLike, Period

_LISTS = frozenset((*IDS, "codes", "code_sets"))


class Frames(dict[str, Frame]):
    """
    The checked frames of a call, by the argument's name; those that are None are left out.

    Attributes
    ----------
    natives : dict of str to frame
        The same frames as the user passed them.
    notes : Notes
        The notes of the call, also of the analyses that it calls.
    findings : Findings
        What the checks found.
    is_inner : bool
        Whether another analysis called the present one. The other then warns of whole frames, and says the notes.
    """

    def __init__(
        self,
        checked: Mapping[str, Frame],
        natives: Mapping[str, Any],
        findings: Findings,
        notes: Notes,
        *,
        is_inner: bool = False,
    ) -> None:
        super().__init__(checked)
        self.natives, self.findings, self.notes, self.is_inner = dict(natives), findings, notes, is_inner

    @classmethod
    def of(
        cls,
        analysis: str = "",
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        ids_only: bool = False,
        **natives: Any,
    ) -> Frames:
        """
        Convert users' frames to Narwhals, and check them.

        Parameters
        ----------
        analysis : str
            The name of the analysis, for notes and errors. In a call of another analysis, it is the other's.
        arguments : mapping of str to object, optional
            The `locals()` of an analysis: the arguments with names of a firm's lists are frames.
        ids_only : bool
            Whether to check ids only and leave all values unchanged, for analyses that return whole rows.
        **natives : frame, optional
            Frames by name. From `call`, each is the calling analysis's `Frames`.

        Raises
        ------
        ParameterError
            An argument is not a frame or is another argument's frame, the frames are of different engines or write ids
            differently, or different rows of a frame have the same id.
        """
        natives |= {name: each for name, each in (arguments or {}).items() if name in _LISTS}
        given = {name: native for name, native in natives.items() if native is not None}
        for outer in given.values():
            if isinstance(outer, Frames):
                inner = outer.only(*given)
                inner.is_inner = True
                return inner
        notes = Notes(subject=analysis)
        checked, findings = check_values(wrap_frames(given, ids_only=ids_only), given, notes, ids_only=ids_only)
        for name, native in given.items():
            notes.merge(compare_with_load(name, native))
        notes.merge(compare_loads(given))
        return cls(checked, given, findings, notes)

    def __missing__(self, name: str) -> Frame:
        raise ParameterError(f"{name} is missing; pass the frame that the loader {name}() returns.")

    def only(self, *names: str) -> Frames:
        """Return some of the frames, to call another analysis with these only."""
        return self._with({name: self[name] for name in names if name in self}, self.passed(*names))

    def _with(self, checked: Mapping[str, Frame], natives: Mapping[str, Any]) -> Frames:
        return Frames(checked, natives, self.findings, self.notes, is_inner=self.is_inner)

    def passed(self, *names: str) -> dict[str, Any]:
        """Return some of the frames as the user passed them."""
        return {name: self.natives[name] for name in names if name in self.natives}

    def select(
        self,
        name: str,
        columns: Iterable[str],
        optional: Iterable[str] = (),
        coded: Iterable[str] = (),
        *,
        lazily: bool = False,
    ) -> Frame:
        """
        Select and cast the columns that an analysis uses: all `columns`, and those of `optional` that the frame has.

        What the checks found in these columns is noted.

        Parameters
        ----------
        name : str
        columns, optional : iterable of str
        coded : iterable of str
            Columns that stay categorical until `sum_by`: casting a million rows to text costs as much as summing them.
        lazily : bool
            Whether an eager Polars frame becomes lazy, until `engine.collect`.
        """
        rows, used = select_columns(lazy(self[name]) if lazily else self[name], name, columns, optional, coded)
        for column in used:
            self.notes.merge(self.findings.notes.get((name, column), ()))
        return rows

    def unknown_values(self, name: str, column: str) -> list[Any]:
        """Return the unknown values of an enum of a frame; None is a missing value."""
        return self.findings.unknown.get((name, column), [])

    def call(self, analysis: Callable[..., Any], **options: Any) -> Frame:
        """Return the result of another analysis of these frames, with other arguments by name."""
        found = analyses()[analysis.__name__]
        if found.rows_of is not None:
            data = Data(options.pop("settings", None), **self.passed(*found.takes))
            rows = ask(found, data, self.analysis, self.notes, options)
            return as_arrow(rows)
        own = {name: self for name in self if name in _parameters(analysis)}
        return as_arrow(cast("Frame", nw.from_native(analysis(**own, **options))))

    def period(self, start: DateLike | None, end: DateLike | None, settings: FirmSettings | None) -> Period:
        """Read `start=` and `end=`; see `read_period`."""
        return read_period(start, end, settings, *self._dated.values())

    def bounded_period(
        self, start: DateLike, end: DateLike | None, settings: FirmSettings | None
    ) -> tuple[dt.date, dt.date]:
        """Return both ends of a period; refuse an open end."""
        return read_bounded_period(start, end, self.analysis, settings, *self._dated.values())

    @property
    def analysis(self) -> str:
        """The name of the analysis that was called."""
        return self.notes.subject

    @property
    def _dated(self) -> dict[str, Any]:
        return self.passed("time_entries", "invoices")

    def list_to_native(
        self, rows: Iterable[Mapping[str, Any]], schema: pa.Schema, like: IntoFrameT, *, as_of: dt.date | None = None
    ) -> IntoFrameT:
        """Convert the rows of a list, whose missing columns become null, as `to_native` does."""
        table = pa.Table.from_pylist(list(rows), schema)
        return self.to_native(eager_from_arrow(next(iter(self.values())), table), like, as_of=as_of)

    def to_native(
        self,
        rows: Frame,
        like: IntoFrameT,
        period: Period | None = None,
        settings: FirmSettings | None = None,
        *,
        as_of: dt.date | None = None,
    ) -> IntoFrameT:
        """
        Convert a result to the kind of frame that the user passed, `like`, and say the notes.

        It is lazy if `like` is lazy, even if it was computed in memory. pandas frames get a RangeIndex. The result
        remembers the days that it counts, those of `period` or `as_of`, and the references of those who share a name.
        If another analysis called the present one, the result is returned unchanged.
        """
        rows = nan_to_null(rows)
        if self.is_inner:
            return cast("IntoFrameT", rows.to_native())
        days = {"as_of": as_of.isoformat()} if as_of else {}
        result = to_native(rows, like, counted_days(period, settings, **self._dated) if period else days)
        self.notes.finish()
        result = attach_notes(result, self.notes)
        return cast("IntoFrameT", attach_names_of(result, self.natives.values()))


@cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
