"""The frames of a book under filters, except the filter of the period."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable
from typing import Any

import pandas as pd

from billframes.analysis.data.data import Data
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.loading.enrich import join_details
from billframes.loading.load_info import as_whole
from billframes.widgets.filters import Filters
from billframes.widgets.state import FilterState

MARK, YES = "passes", "yes"
"""The column that marks rows, and its value for rows that pass the filters."""
_OF_MATTERS = ("matter_", "practice_area_", "responsible_", "originator_", "ledes_")


class BookFilters:
    """The filters for each of a book's frames, which are joined with their matters, clients and people."""

    def __init__(self, book: Book, today: dt.date, payments: pd.DataFrame | None = None) -> None:
        self.book = book
        self.payments = payments
        self.today = today
        self._filters: dict[str, Filters] = {}

    def for_frame(self, name: str) -> Filters:
        """Return the filters for one of the book's frames."""
        if name not in self._filters:
            details = {"matter": self.book.matters, "client": self.book.clients, "user": self.book.users}
            self._filters[name] = Filters(join_details(getattr(self.book, name), details))
        return self._filters[name]

    @functools.cached_property
    def distinct_names(self) -> DistinctNames:
        """The names of the book's clients, matters and people, and references beside shared ones."""
        return DistinctNames(self.book.clients, self.book.matters, self.book.users)


class FilteredFrames:
    """The records that pass the filters on everything except the period."""

    def __init__(self, book_filters: BookFilters, state: FilterState) -> None:
        self.book_filters, self.book = book_filters, book_filters.book
        self.state = state
        split = criteria_by_record(state)
        self.client_state, self.matter_state, self.user_state = (split[name] for name in ("client", "matter", "user"))
        self.marks_items = len(self.user_state.criteria) < len(state.criteria)
        self._kept: dict[tuple[str, ...], pd.DataFrame] = {}
        self.data: dict[str, Data] = {}

    def _keep(self, *call: str, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Make a frame once: the same frame is checked once by all analyses."""
        if call not in self._kept:
            self._kept[call] = make()
        return self._kept[call]

    def items_with_details(self, name: str) -> pd.DataFrame:
        """Return the time entries, expenses or fixed fees that pass, with their details."""
        filters = self.book_filters.for_frame(name)
        # Expenses have no billing type, for example, so none of them pass a filter on it.
        has_columns = set(self.state.criteria) <= set(filters.columns)
        return filters.frame(self.state) if has_columns else filters.data.iloc[:0]

    def items_of_users(self, name: str) -> pd.DataFrame:
        """Return the time entries, expenses or fixed fees of the people who pass; `MARK` marks those that pass."""

        def make() -> pd.DataFrame:
            items: pd.DataFrame = getattr(self.book, name)
            if self.marks_items:
                items = marked(items, MARK, self.items_with_details(name).index)
            if not self.user_state.criteria:
                return items
            filters = self.book_filters.for_frame(name)
            first = self.book._days.first_day_of(name) if name == "time_entries" else None
            return as_whole(items[filters.mask(self.user_state.only(filters.columns))], first)

        return self._keep("items", name, make=make)

    def of_clients(self, name: str) -> pd.DataFrame:
        """Return the records of the clients that pass."""
        frame: pd.DataFrame = getattr(self.book, name)
        if not self.client_state.criteria:
            return frame
        passing = self.book_filters.for_frame(name).mask(self.client_state)
        return self._keep("of clients", name, make=lambda: as_whole(frame[passing]))

    def marked_time_entries(self) -> pd.DataFrame:
        """Return the time entries of the clients that pass; `MARK` marks those that pass."""
        entries = self.of_clients("time_entries")
        return self._keep("marked", make=lambda: marked(entries, MARK, self.items_with_details("time_entries").index))

    def payments(self) -> pd.DataFrame | None:
        """Return the payments of the clients that pass."""
        payments = self.book_filters.payments
        if payments is None or not self.client_state.criteria:
            return payments
        passing = self.passing("clients", "client", self.client_state)
        return payments[payments["client_id"].isin(passing["client_id"])]

    def users(self) -> pd.DataFrame:
        """Return the people who pass."""
        return self.passing("users", "user", self.user_state)

    def passing(self, name: str, entity: str, state: FilterState) -> pd.DataFrame:
        """Return the clients, matters or people that pass. The state has the names of the time entries' columns."""
        frame: pd.DataFrame = getattr(self.book, name)
        if not state.criteria:
            return frame

        def make() -> pd.DataFrame:
            filters = Filters(join_details(frame[[f"{entity}_id"]], {entity: frame}))
            return frame[filters.mask(state.only(filters.columns))]

        return self._keep("passing", name, make=make)

    def marked_details(self, name: str, entity: str, state: FilterState, mark: str) -> pd.DataFrame:
        """Return all clients, matters or people; `mark` marks those that pass."""
        passing = self.passing(name, entity, state).index
        return self._keep("marked", name, make=lambda: marked(getattr(self.book, name), mark, passing))

    def settings_of_users(self) -> FirmSettings | None:
        """Return the settings without people who are filtered out, so that no warning calls them unknown."""
        settings, everyone, users = self.book.settings, self.book.users, self.users()
        if settings is None or len(users) == len(everyone):
            return settings
        ids = dict(zip(everyone["email"].str.lower(), everyone["user_id"], strict=True))
        return settings.by_id(ids).without(set(everyone["user_id"]) - set(users["user_id"]))


def marked(frame: pd.DataFrame, mark: str, passing: pd.Index[Any]) -> pd.DataFrame:
    """Add a column that says which rows pass."""
    words = pd.Series(frame.index.isin(passing)).map({True: YES, False: "no"}).to_numpy()
    return frame.assign(**{mark: words})


def criteria_by_record(state: FilterState) -> dict[str, FilterState]:
    """Split a state without the period by the record that each criterion is about: client, matter, user or entry."""
    rest, split = state.criteria, {}
    for record, prefixes in (("client", ("client_",)), ("matter", _OF_MATTERS), ("user", ("user_",)), ("entry", ("",))):
        split[record] = state.only(column for column in rest if column.startswith(prefixes))
        rest = {column: each for column, each in rest.items() if column not in split[record].criteria}
    return split
