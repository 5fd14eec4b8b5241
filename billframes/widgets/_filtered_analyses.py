"""Calculate an analysis under filters.

An analysis spreads the amount of an invoice over all its items, so filters must not remove items before that. An
invoice has only one client, so clients can be filtered first. All other filters mark the items, and the analysis groups
by the mark. Figures under a filter are therefore always parts of the figures without it.

Each analysis declares how it is filtered (`TabSpec.filters`). It is called in the same way as by a book
(`billframes.book.methods.call_analysis`), with a `_SubstituteBook` in place of the book.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from billframes._messages import warn
from billframes.analysis.column_types import ITEMS
from billframes.analysis.keys import By
from billframes.analysis.spec import Analysis
from billframes.book.methods import FRAME_NAMES, call_analysis
from billframes.book.slices import add_keys, keep_rows
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning
from billframes.periods import Period
from billframes.widgets._filtered_frames import FilteredFrames

__all__ = ["calculate"]

_MARK, _YES = "passes", "yes"
Span = tuple[dt.date, dt.date]


def calculate(frames: FilteredFrames, span: Span, analysis: Analysis, by: By) -> pd.DataFrame:
    """
    Calculate an analysis of the records that pass the filters.

    Parameters
    ----------
    frames : FilteredFrames
    span : (date, date)
        First and last day, inclusive.
    analysis : Analysis
    by : str, list of str or None
        None gives one row, except for an analysis without `by`.
    """
    return _METHODS[analysis.tab.filters if analysis.tab else "rows"](frames, span, analysis, by)


class _SubstituteBook:
    """
    What an analysis receives in place of a book: some other frames, and the filters' period.

    Parameters
    ----------
    filtered : FilteredFrames
    span : (date, date)
    frames : mapping of str to callable
        Frames in place of the book's.
    settings : FirmSettings, optional
    """

    def __init__(
        self,
        filtered: FilteredFrames,
        span: Span,
        frames: Mapping[str, Callable[[], pd.DataFrame]],
        settings: FirmSettings | None,
    ) -> None:
        self._filtered, self._span, self._frames = filtered, span, frames
        self.settings = settings

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name not in FRAME_NAMES:
            raise AttributeError(name)
        frame: pd.DataFrame = self._frames[name]() if name in self._frames else getattr(self._filtered.book, name)
        return frame

    def span(self, _start: Any, _end: Any) -> Span:
        """Return the first and last day."""
        return self._span

    def day(self, _as_of: Any, _names: Any, _analysis: str) -> dt.date:
        """Return the day to which balances are aged."""
        return self._span[1]

    def until_load(self, period: Period, _names: Any, _analysis: str, *, argument: str = "") -> Period:
        """Return the period, which never ends after the day of the data."""
        return period

    def loaded_on(self, name: str) -> dt.date | None:
        """Return the day of the data, for a frame whose day of loading is known."""
        return self._filtered.book_filters.today if self._filtered.book.loaded_on(name) else None


def _filter_items(frames: FilteredFrames, span: Span, analysis: Analysis, by: By) -> pd.DataFrame:
    """Add up the items that pass, with the available hours of the people who pass."""
    items = {name: partial(frames.items, name) for name in ITEMS}
    book = _SubstituteBook(frames, span, {**items, "users": frames.users}, frames.settings_of_users())
    return call_analysis(analysis, book, {"by": by})


def _mark_items(frames: FilteredFrames, span: Span, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread invoices over all their items, and keep the parts of the time entries that pass."""
    others: dict[str, Callable[[], pd.DataFrame]] = {
        name: partial(frames.of_clients, name) for name in (*ITEMS, "invoices")
    }
    marks = [_MARK] if frames.state.criteria.keys() - frames.client_state.criteria.keys() else []
    if marks:
        passing = frames.items_with_details("time_entries").index
        others["time_entries"] = lambda: _marked(frames.of_clients("time_entries"), _MARK, passing)
    book = _SubstituteBook(frames, span, others, frames.book.settings)
    return _keep_marked(call_analysis(analysis, book, {"by": add_keys(by, marks)}), marks)


def _mark_matters(frames: FilteredFrames, span: Span, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread balances over all items of the invoices, and keep the parts of the matters and people that pass."""
    others = {name: partial(frames.of_clients, name) for name in (*ITEMS, "invoices")}
    marks = []
    for name, entity, state in (("matters", "matter", frames.matter_state), ("users", "user", frames.user_state)):
        if state.criteria:
            mark = f"{entity}_{_MARK}"
            passing = frames.passing(name, entity, state).index
            others[name] = partial(_marked, getattr(frames.book, name), mark, passing)
            marks.append(mark)
    book = _SubstituteBook(frames, span, others, frames.book.settings)
    return _keep_marked(call_analysis(analysis, book, {"by": add_keys(by, marks)}), marks)


def _filter_rows(frames: FilteredFrames, span: Span, analysis: Analysis, by: By) -> pd.DataFrame:
    """Calculate for the whole book, and keep the rows of the clients, matters and people that pass."""
    takes = inspect.signature(analysis.function).parameters
    book = _SubstituteBook(frames, span, {}, frames.book.settings)
    result = call_analysis(analysis, book, {"by": by} if "by" in takes else {})
    entities = (
        ("clients", "client", frames.client_state),
        ("matters", "matter", frames.matter_state),
        ("users", "user", frames.user_state),
    )
    unused = set(frames.state.criteria)
    for name, entity, state in entities:
        key = f"{entity}_id"
        if state.criteria and key in result:
            result = result[result[key].isin(frames.passing(name, entity, state)[key])]
            unused -= state.criteria.keys()
    if unused:
        fields = frames.book_filters.for_frame("time_entries").fields
        titles = ", ".join(each.title for each in fields if each.column in unused)
        warn(f"These filters do not apply to this tab: {titles}.", IncompleteDataWarning)
    return result.reset_index(drop=True)


_METHODS: dict[str, Callable[[FilteredFrames, Span, Analysis, By], pd.DataFrame]] = {
    "items": _filter_items,
    "marked_items": _mark_items,
    "marked_matters": _mark_matters,
    "rows": _filter_rows,
}


def _marked(frame: pd.DataFrame, mark: str, passing: pd.Index[Any]) -> pd.DataFrame:
    """Add a column that says which rows pass."""
    words = pd.Series(frame.index.isin(passing)).map({True: _YES, False: "no"}).to_numpy()
    return frame.assign(**{mark: words})


def _keep_marked(result: pd.DataFrame, marks: list[str]) -> pd.DataFrame:
    return keep_rows(result, dict.fromkeys(marks, _YES)).drop(columns=marks)
