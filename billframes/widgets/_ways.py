"""The ways to calculate an analysis under filters.

An analysis spreads the amount of an invoice over all its items, so filters must not remove items before that. An
invoice has only one client, so clients can be filtered first. All other filters mark the items, and the analysis groups
by the mark. Figures under a filter are therefore always parts of the figures without it.

Which of these ways an analysis needs is declared with it (`TabSpec.filters`). In each of them the analysis is called
as a book calls it (`billframes._book_methods.call`), only with a `_Part` of the book in the book's place.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes._book_methods import FRAMES, call
from billframes._messages import warn
from billframes.analysis.column_types import ITEMS
from billframes.analysis.keys import By
from billframes.analysis.spec import Analysis
from billframes.book_slice import kept, with_keys
from billframes.config.firm import FirmSettings
from billframes.errors import IncompleteDataWarning

if TYPE_CHECKING:
    from billframes.widgets._filtered_book import FilteredBook

__all__ = ["WAYS"]

_KEPT = "kept"
_YES = "yes"
_Way = Callable[["FilteredBook", Analysis, By], pd.DataFrame]


class _Part:
    """
    What an analysis is given in the book's place: some frames of its own, and the filters' period.

    Parameters
    ----------
    filtered : FilteredBook
    frames : mapping of str to callable
        Frames other than the book's.
    settings : FirmSettings, optional
    """

    def __init__(
        self,
        filtered: FilteredBook,
        frames: Mapping[str, Callable[[], pd.DataFrame]],
        settings: FirmSettings | None,
    ) -> None:
        self._filtered, self._frames = filtered, frames
        self.settings = settings

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name not in FRAMES:
            raise AttributeError(name)
        frame: pd.DataFrame = self._frames[name]() if name in self._frames else getattr(self._filtered.book, name)
        return frame

    def span(self, _start: Any, _end: Any) -> tuple[dt.date, dt.date]:
        """Return the first and last day."""
        return self._filtered.start, self._filtered.end

    def day(self, _as_of: Any) -> dt.date:
        """Return the day that balances are of."""
        return self._filtered.end

    def loaded_on(self, name: str) -> dt.date | None:
        """Return the day on which a frame was loaded; the explorer counts as of this day."""
        return self._filtered.book_filters.today if self._filtered.book.loaded_on(name) else None


def _of_items(filtered: FilteredBook, analysis: Analysis, by: By) -> pd.DataFrame:
    """Add up the items that pass, with the available hours of the people who pass."""
    items = {name: partial(filtered.own_items, name) for name in ITEMS}
    part = _Part(filtered, {**items, "users": filtered.users}, filtered.settings_of_people())
    return call(analysis, part, {"by": by})


def _of_marked_items(filtered: FilteredBook, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread invoices over all their items, and keep what time entries that pass have of it."""
    frames: dict[str, Callable[[], pd.DataFrame]] = {
        name: partial(filtered.of_clients, name) for name in (*ITEMS, "invoices")
    }
    marks = [_KEPT] if filtered.work.criteria.keys() - filtered.clients.criteria.keys() else []
    if marks:
        passing = filtered.items("time_entries").index
        frames["time_entries"] = lambda: _marked(filtered.of_clients("time_entries"), _KEPT, passing)
    return _kept(call(analysis, _Part(filtered, frames, filtered.book.settings), {"by": with_keys(by, marks)}), marks)


def _of_marked_matters(filtered: FilteredBook, analysis: Analysis, by: By) -> pd.DataFrame:
    """Spread balances over all items of the invoices, and keep what matters and people that pass have of them."""
    frames = {name: partial(filtered.of_clients, name) for name in (*ITEMS, "invoices")}
    marks = []
    for name, entity, state in (("matters", "matter", filtered.matters), ("users", "user", filtered.people)):
        if state.criteria:
            mark = f"{entity}_{_KEPT}"
            passing = filtered.passing(name, entity, state).index
            frames[name] = partial(_marked, getattr(filtered.book, name), mark, passing)
            marks.append(mark)
    return _kept(call(analysis, _Part(filtered, frames, filtered.book.settings), {"by": with_keys(by, marks)}), marks)


def _of_rows(filtered: FilteredBook, analysis: Analysis, by: By) -> pd.DataFrame:
    """Calculate for the whole book, and keep the rows of clients, matters and people that pass."""
    takes = inspect.signature(analysis.function).parameters
    result = call(analysis, _Part(filtered, {}, filtered.book.settings), {"by": by} if "by" in takes else {})
    entities = (
        ("clients", "client", filtered.clients),
        ("matters", "matter", filtered.matters),
        ("users", "user", filtered.people),
    )
    unused = set(filtered.work.criteria)
    for name, entity, state in entities:
        key = f"{entity}_id"
        if state.criteria and key in result:
            result = result[result[key].isin(filtered.passing(name, entity, state)[key])]
            unused -= state.criteria.keys()
    if unused:
        fields = filtered.book_filters.filters("time_entries").fields
        titles = ", ".join(each.title for each in fields if each.column in unused)
        warn(f"These filters do not apply to this tab: {titles}.", IncompleteDataWarning)
    return result.reset_index(drop=True)


WAYS: dict[str, _Way] = {
    "items": _of_items,
    "marked_items": _of_marked_items,
    "marked_matters": _of_marked_matters,
    "rows": _of_rows,
}
"""By what `TabSpec.filters` says."""


def _marked(frame: pd.DataFrame, mark: str, passing: pd.Index[Any]) -> pd.DataFrame:
    """Add a column that says which rows pass."""
    words = pd.Series(frame.index.isin(passing)).map({True: _YES, False: "no"}).to_numpy()
    return frame.assign(**{mark: words})


def _kept(result: pd.DataFrame, marks: list[str]) -> pd.DataFrame:
    return kept(result, dict.fromkeys(marks, _YES)).drop(columns=marks)
