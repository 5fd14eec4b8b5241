"""Calculate an analysis under filters.

An analysis spreads the amount of an invoice over all its items, and compares frames with each other, so filters must
not remove rows before that. They mark the rows, and the analysis groups by the mark. Figures under a filter are
therefore always parts of the figures without it. A mark of clients, matters or items is a key of the work, by which the
analyses know no available hours. Realization needs no other clients' invoices, and utilization no other people's hours,
so these are removed first.

Each analysis declares how it is filtered (`TabSpec.filters`). It is called in the same way as by a book
(`billframes.book.methods.call_analysis`), with a `_SubstituteBook` in place of the book.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import pandas as pd

from billframes._shared.format import long_span
from billframes.analysis.data.call import run
from billframes.analysis.data.data import Data
from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.spec import Analysis, FilterKind
from billframes.analysis.keys.by import By
from billframes.book.methods import FRAME_NAMES, call_analysis
from billframes.book.slices import add_keys, keep_rows, row_of_zeros
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from billframes.periods import Period
from billframes.widgets.filtered_frames import MARK, YES, FilteredFrames
from billframes.wings import module_of

Span = tuple[dt.date, dt.date]
Run = Callable[..., Any]
_Call = Callable[..., pd.DataFrame]


def calculate(
    frames: FilteredFrames, span: Span, analysis: Analysis, by: By, filters: FilterKind, run: Run = run
) -> pd.DataFrame:
    """
    Calculate an analysis of the records that pass the filters, which select the records that `TabSpec` declares.

    `span` has the first and the last day. Without `by` there is one row, except for an analysis without `by`. `run` is
    that of `call_analysis`.
    """
    return _METHODS[filters](frames, span, partial(call_analysis, analysis, run=run), analysis, by)


class _SubstituteBook:
    """What an analysis receives in place of a book: some other frames, and the filters' period."""

    def __init__(
        self,
        filtered: FilteredFrames,
        span: Span,
        frames: Mapping[str, Callable[[], pd.DataFrame]],
        settings: FirmSettings | None,
        kind: str = "",
    ) -> None:
        self._filtered, self._span, self._frames, self._kind = filtered, span, frames, kind
        self.settings = settings
        self._denied_of = filtered.book._denied_of
        # It answers for the days, too.
        self._days = self

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name not in FRAME_NAMES:
            raise AttributeError(name)
        frame: pd.DataFrame = self._frames[name]() if name in self._frames else getattr(self._filtered.book, name)
        return frame

    def _view(self, names: Collection[str], settings: FirmSettings | None) -> Data:
        """Return some of the frames for an analysis; other periods of the same filters use the same ones."""
        if not self._frames:
            return self._filtered.book._view(names, settings)
        data = self._filtered.data.setdefault(self._kind, Data.of_book())
        data.add(**{name: getattr(self, name) for name in names if name not in data})
        return data.view(names, settings)

    def span(self, _start: Any, _end: Any) -> Span:
        return self._span

    def as_of(self, _as_of: Any, _names: Any, _analysis: str) -> dt.date:
        return self._span[1]

    def until_now(self, period: Period, _analysis: Analysis, _names: Any) -> Period:
        return period

    def until_load(self, period: Period, _names: Any, _analysis: str, *, argument: str = "") -> Period:
        return period

    def loaded_on(self, name: str) -> dt.date | None:
        """Return the day of the data, for a frame whose day of loading is known."""
        return self._filtered.book_filters.today if self._filtered.book.loaded_on(name) else None


def _parts_of_items(frames: FilteredFrames, span: Span, call: _Call, analysis: Analysis, by: By) -> pd.DataFrame:
    """Add up the items of the people who pass, with their available hours, and keep the parts of the marked items."""
    items = {name: partial(frames.items_of_users, name) for name in ITEMS}
    book = _SubstituteBook(frames, span, {**items, "users": frames.users}, frames.settings_of_users(), "items")
    return _marked_parts(call, book, by, [MARK] if frames.marks_items else [])


def _parts_of_time_entries(frames: FilteredFrames, span: Span, call: _Call, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread invoices over all their items, and keep the parts of the time entries that pass."""
    others: dict[str, Callable[[], pd.DataFrame]] = {
        name: partial(frames.of_clients, name) for name in (*ITEMS, "invoices")
    }
    marks = [MARK] if frames.state.criteria.keys() - frames.client_state.criteria.keys() else []
    if marks:
        others["time_entries"] = frames.marked_time_entries
    book = _SubstituteBook(frames, span, others, frames.book.settings, "time entries")
    return _marked_parts(call, book, by, marks)


def _parts_of_matters(frames: FilteredFrames, span: Span, call: _Call, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread invoices over all their items, and keep the parts of the clients, matters and people that pass."""
    others: dict[str, Callable[[], pd.DataFrame]] = {}
    marks = []
    for name, entity, state in (
        ("clients", "client", frames.client_state),
        ("matters", "matter", frames.matter_state),
        ("users", "user", frames.user_state),
    ):
        if state.criteria:
            marks.append(mark := f"{entity}_{MARK}")
            others[name] = partial(frames.marked_details, name, entity, state, mark)
    book = _SubstituteBook(frames, span, others, frames.book.settings, "matters")
    return _marked_parts(call, book, by, marks)


def _rows_of_clients(frames: FilteredFrames, span: Span, call: _Call, analysis: Analysis, by: By) -> pd.DataFrame:
    """Calculate for the whole book, and keep the rows of the clients that pass."""
    book = _SubstituteBook(frames, span, {}, frames.book.settings)
    result = call(book, {"by": by} if "by" in analysis.takes else {})
    if frames.client_state.criteria:
        passing = frames.passing("clients", "client", frames.client_state)
        result = result[result["client_id"].isin(passing["client_id"])]
    return result.reset_index(drop=True)


def _of_payments(frames: FilteredFrames, span: Span, call: _Call, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread the payments of the clients that pass over all work."""
    days = Period.stated(attached(frames.book_filters.payments, "payments") or {})
    if (days.start and days.start > span[0]) or (days.end and days.end < span[0]):
        # A part of the cash looks like all of it.
        raise ParameterError(
            f"The payments in the books are those of {long_span(days)}. Choose a period that begins in these days, or "
            "export more."
        )
    book = _SubstituteBook(frames, span, {}, frames.book.settings)
    return call(book, {"by": by, "payments": frames.payments()})


def _of_whole_book(frames: FilteredFrames, _span: Span, _call: _Call, analysis: Analysis, _by: By) -> pd.DataFrame:
    """Forecast the book from the day of the load."""
    found: pd.DataFrame = module_of("forecast", "in_report").forecast_of(getattr(frames.book, analysis.name))
    return found


_METHODS: dict[FilterKind, Callable[[FilteredFrames, Span, _Call, Analysis, By], pd.DataFrame]] = {
    "items": _parts_of_items,
    "time_entries": _parts_of_time_entries,
    "matters": _parts_of_matters,
    "clients": _rows_of_clients,
    "payments": _of_payments,
    "forecast": _of_whole_book,
}


def _marked_parts(call: _Call, book: _SubstituteBook, by: By, marks: list[str]) -> pd.DataFrame:
    """
    Group by the marks as well, and keep the marked rows.

    Sums are 0 in a total or a period without such rows; the rows behind sums stay as they are.
    """
    result = call(book, {"by": add_keys(by, marks)})
    if not marks:
        return result
    parts = keep_rows(result, dict.fromkeys(marks, YES)).drop(columns=marks)
    if "kind" in parts:
        return parts
    zeros = partial(row_of_zeros, result.drop(columns=marks))
    if by is None:
        return parts if len(parts) else zeros()
    empty = sorted(set(result[by]) - set(parts[by])) if by in TIMES else []
    if not empty:
        return parts
    rows = pd.concat([parts, *(zeros().assign(**{str(by): period}) for period in empty)])
    return rows.sort_values(by, ignore_index=True)
