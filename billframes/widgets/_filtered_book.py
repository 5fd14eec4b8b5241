"""A book under filters, with the analyses of what the filters leave.

An analysis spreads the amount of an invoice over all its items, so filters must not remove items before that. An
invoice has only one client, so clients can be filtered first. All other filters mark the items, and the analysis groups
by the mark. Figures under a filter are therefore always parts of the figures without it.

Which of these ways an analysis needs is declared with it (`TabSpec.filters`). In each of them the analysis is called
as a book calls it (`billframes._book_methods.call`), only with a `_Part` of the book in the book's place.
"""

from __future__ import annotations

import datetime as dt
import functools
import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from billframes._book_methods import FRAMES, call
from billframes._names import names_apart
from billframes._show import long_date
from billframes._user_lines import warn
from billframes.analysis.column_types import IDS, ITEM, ITEMS
from billframes.analysis.keys import By
from billframes.analysis.spec import Analysis
from billframes.analysis.totals import total_of
from billframes.book import Book
from billframes.book_slice import kept, with_keys
from billframes.config.firm import FirmSettings, describe_settings
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.loading.enrich import join_details
from billframes.loading.load_info import as_whole
from billframes.periods import Period, period_before
from billframes.report.footnotes import later_balances
from billframes.widgets._filters import Filters
from billframes.widgets._state import FilterState, Range

__all__ = ["BookFilters", "FilteredBook"]

_KEPT = "kept"
_YES = "yes"
_Way = Callable[["FilteredBook", Analysis, By], pd.DataFrame]


class BookFilters:
    """A book's frames joined with their matters, clients and people, and filters for each."""

    def __init__(self, book: Book, today: dt.date) -> None:
        self.book = book
        self.today = today
        self._filters: dict[str, Filters] = {}

    def filters(self, name: str) -> Filters:
        """Return the filters for one of the book's frames, with its details joined."""
        if name not in self._filters:
            details = {"matter": self.book.matters, "client": self.book.clients, "user": self.book.users}
            self._filters[name] = Filters(join_details(getattr(self.book, name), details))
        return self._filters[name]

    def named_apart(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Add the reference to the names of clients, matters and people that share their name with another."""
        for key, shared in self._shared_names.items():
            name = f"{key}_name"
            if f"{key}_id" in frame and name in frame and shared:
                frame = frame.assign(**{name: frame[f"{key}_id"].map(shared).fillna(frame[name])})
        return frame

    @functools.cached_property
    def _shared_names(self) -> dict[str, dict[str, str]]:
        """Names with references, by kind and id, of those whose name is not theirs alone."""
        book = self.book
        people = _shared(book.users, "user_id", "email")
        return {
            "client": _shared(book.clients, "client_id", "reference"),
            "matter": _shared(book.matters, "matter_id", "reference"),
            **dict.fromkeys(("user", "responsible", "originator"), people),
        }


class FilteredBook:
    """
    The part of a book that passes the filters, and its analyses.

    Parameters
    ----------
    book_filters : BookFilters
    state : FilterState
        The state of the panel for the time entries.
    """

    def __init__(self, book_filters: BookFilters, state: FilterState) -> None:
        self.book_filters, self.book = book_filters, book_filters.book
        period = state.criteria.get("date")
        self._period = period if isinstance(period, Range) else Range()
        self.work = state.with_criterion("date", None)
        names = self.work.criteria
        self.clients = self.work.only(name for name in names if name.startswith("client_"))
        self.people = self.work.only(name for name in names if name.startswith("user_"))
        about_work = {"billing_type", "billed", "invoice_state", *(name for name in names if name.startswith("cf_"))}
        self.matters = self.work.only(set(names) - set(self.clients.criteria) - set(self.people.criteria) - about_work)
        self._frames: dict[str, pd.DataFrame] = {}
        self.charts: dict[tuple[str, str | None], str] = {}
        self._results: dict[str, tuple[pd.DataFrame, list[warnings.WarningMessage]]] = {}

    @functools.cached_property
    def start(self) -> dt.date:
        """First day."""
        first = self._period.first or self.book.time_entries["date"].min()
        return dt.date(first.year, first.month, first.day)

    @functools.cached_property
    def end(self) -> dt.date:
        """
        Last day, at most the day of the data: next month has no hours yet.

        Raises
        ------
        ParameterError
            The period is in the future.
        """
        today = self.book_filters.today
        if self.start > today:
            raise ParameterError(f"The period begins on {long_date(self.start)}, after the data of {long_date(today)}.")
        return min(self._period.last or today, today)

    @functools.cached_property
    def before(self) -> FilteredBook | None:
        """The same filters in the period before; None if the period is open, or there are no data of that time."""
        if self._period.first is None:
            return None
        period = period_before(Period(self.start, self._period.last), self.end)
        if period.start is None or pd.Timestamp(period.start) < self.book.time_entries["date"].min().replace(day=1):
            return None
        return FilteredBook(self.book_filters, self.work.with_criterion("date", Range(period.start, period.end)))

    @property
    def settings(self) -> str:
        """Which firm settings the figures use."""
        return describe_settings(self.book.settings)

    @property
    def balances(self) -> str:
        """A sentence that balances are of a later day than the period's last day; empty if they are not."""
        today = self.book_filters.today
        return later_balances(today, self.end) if today > self.end else ""

    def result(self, analysis: Analysis, by: By) -> pd.DataFrame:
        """
        Return the analysis of what passes the filters; calculated once, with its warnings each time.

        Parameters
        ----------
        analysis : Analysis
            One that declares a tab.
        by : str, list of str or None
            None gives one row, except for an analysis without `by`.
        """
        asked = repr((analysis.name, by))
        if asked not in self._results:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                found = _WAYS[analysis.tab.filters if analysis.tab else "rows"](self, analysis, by)
            self._results[asked] = found, said
        found, said = self._results[asked]
        for each in said:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
        return found

    def total(self, analysis: Analysis) -> dict[str, float]:
        """Return the figures of everything that passes the filters; empty if nothing does."""
        keys = analysis.tab.by if analysis.tab else ()
        for key in keys:
            # Rows that are shown anyway often add up to the whole, which saves an analysis.
            if repr((analysis.name, key)) in self._results:
                added = total_of(self.result(analysis, key))
                if added and not any(map(math.isnan, added.values())):
                    return added
        if analysis.tab and analysis.tab.filters == "rows":
            return total_of(self.result(analysis, next(iter(keys), None)))
        rows = self.result(analysis, None).to_dict("records")
        return {str(name): value for name, value in rows[0].items()} if rows else {}

    def items(self, name: str) -> pd.DataFrame:
        """Time entries, expenses or fixed fees that pass all filters except the period, with their details."""
        filters = self.book_filters.filters(name)
        # Expenses have no billing type, for example, so none of them pass a filter on it.
        answered = set(self.work.criteria) <= set(filters.columns)
        items = filters.frame(self.work) if answered else filters.data.iloc[:0]
        return items.assign(**{ITEM: items[IDS[name]]})

    def own_items(self, name: str) -> pd.DataFrame:
        """Time entries, expenses or fixed fees that pass, without the details; the analyses join what they need."""
        if name not in self._frames:
            items, whole = self.items(name), getattr(self.book, name)
            self._frames[name] = as_whole(items[[*(column for column in whole if column in items), ITEM]])
        return self._frames[name]

    def of_clients(self, name: str) -> pd.DataFrame:
        """Return the records of the clients that pass the filters."""
        frame: pd.DataFrame = getattr(self.book, name)
        if not self.clients.criteria:
            return frame
        return as_whole(frame[self.book_filters.filters(name).mask(self.clients)])

    def users(self) -> pd.DataFrame:
        """Return the people who pass the filters."""
        return self.passing("users", "user", self.people)

    def passing(self, name: str, entity: str, state: FilterState) -> pd.DataFrame:
        """Return the matters or people that pass, with the column names that the time entries' filters use."""
        frame: pd.DataFrame = getattr(self.book, name)
        if not state.criteria:
            return frame
        filters = Filters(join_details(frame[[f"{entity}_id"]], {entity: frame}))
        return frame[filters.mask(state.only(filters.columns))]

    def settings_of_people(self) -> FirmSettings | None:
        """Return the settings without people who are filtered out, so that no warning calls them unknown."""
        settings, everyone, users = self.book.settings, self.book.users, self.users()
        if settings is None or len(users) == len(everyone):
            return settings
        ids = dict(zip(everyone["email"].str.lower(), everyone["user_id"], strict=True))
        return settings.by_id(ids).without(set(everyone["user_id"]) - set(users["user_id"]))


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


_WAYS: dict[str, _Way] = {
    "items": _of_items,
    "marked_items": _of_marked_items,
    "marked_matters": _of_marked_matters,
    "rows": _of_rows,
}


def _shared(frame: pd.DataFrame, key: str, reference: str) -> dict[str, str]:
    shared = frame[frame["name"].duplicated(keep=False) & frame["name"].notna()]
    references = [None if pd.isna(each) else str(each) for each in shared[reference]]
    names = names_apart(shared["name"].tolist(), shared[key].tolist(), references)
    return dict(zip(shared[key], names, strict=True))


def _marked(frame: pd.DataFrame, mark: str, passing: pd.Index[Any]) -> pd.DataFrame:
    """Add a column that says which rows pass."""
    words = pd.Series(frame.index.isin(passing)).map({True: _YES, False: "no"}).to_numpy()
    return frame.assign(**{mark: words})


def _kept(result: pd.DataFrame, marks: list[str]) -> pd.DataFrame:
    return kept(result, dict.fromkeys(marks, _YES)).drop(columns=marks)
