"""The frames of a book under filters, except the filter of the period."""

from __future__ import annotations

import datetime as dt
import functools

import pandas as pd

from billframes.analysis.column_types import IDS, ITEM_ID
from billframes.book import Book
from billframes.config.firm import FirmSettings
from billframes.loading.enrich import join_details
from billframes.loading.load_info import as_whole
from billframes.report.distinct_names import DistinctNames
from billframes.widgets._filters import Filters
from billframes.widgets._state import FilterState

__all__ = ["BookFilters", "FilteredFrames"]


class BookFilters:
    """
    The filters for each of a book's frames, which are joined with their matters, clients and people.

    Parameters
    ----------
    book : Book
    today : date
        The day of the data.
    """

    def __init__(self, book: Book, today: dt.date) -> None:
        self.book = book
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
    """
    The records that pass the filters on everything except the period.

    Parameters
    ----------
    book_filters : BookFilters
    state : FilterState
        The state of the panel for the time entries, without the period.
    """

    def __init__(self, book_filters: BookFilters, state: FilterState) -> None:
        self.book_filters, self.book = book_filters, book_filters.book
        self.state = state
        names = state.criteria
        self.client_state = state.only(name for name in names if name.startswith("client_"))
        self.user_state = state.only(name for name in names if name.startswith("user_"))
        of_work = {"billing_type", "billed", "invoice_state", *(name for name in names if name.startswith("cf_"))}
        others = {*self.client_state.criteria, *self.user_state.criteria, *of_work}
        self.matter_state = state.only(set(names) - others)
        self._items: dict[str, pd.DataFrame] = {}

    def items_with_details(self, name: str) -> pd.DataFrame:
        """Return the time entries, expenses or fixed fees that pass, with their details."""
        filters = self.book_filters.for_frame(name)
        # Expenses have no billing type, for example, so none of them pass a filter on it.
        has_columns = set(self.state.criteria) <= set(filters.columns)
        items = filters.frame(self.state) if has_columns else filters.data.iloc[:0]
        return items.assign(**{ITEM_ID: items[IDS[name]]})

    def items(self, name: str) -> pd.DataFrame:
        """Return the time entries, expenses or fixed fees that pass; analyses join the details that they need."""
        if name not in self._items:
            whole = getattr(self.book, name)
            # Without filters no details are needed.
            items = (
                self.items_with_details(name) if self.state.criteria else whole.assign(**{ITEM_ID: whole[IDS[name]]})
            )
            self._items[name] = as_whole(items[[*(column for column in whole if column in items), ITEM_ID]])
        return self._items[name]

    def of_clients(self, name: str) -> pd.DataFrame:
        """Return the records of the clients that pass."""
        frame: pd.DataFrame = getattr(self.book, name)
        if not self.client_state.criteria:
            return frame
        return as_whole(frame[self.book_filters.for_frame(name).mask(self.client_state)])

    def users(self) -> pd.DataFrame:
        """Return the people who pass."""
        return self.passing("users", "user", self.user_state)

    def passing(self, name: str, entity: str, state: FilterState) -> pd.DataFrame:
        """Return the clients, matters or people that pass. The state has the names of the time entries' columns."""
        frame: pd.DataFrame = getattr(self.book, name)
        if not state.criteria:
            return frame
        filters = Filters(join_details(frame[[f"{entity}_id"]], {entity: frame}))
        return frame[filters.mask(state.only(filters.columns))]

    def settings_of_users(self) -> FirmSettings | None:
        """Return the settings without people who are filtered out, so that no warning calls them unknown."""
        settings, everyone, users = self.book.settings, self.book.users, self.users()
        if settings is None or len(users) == len(everyone):
            return settings
        ids = dict(zip(everyone["email"].str.lower(), everyone["user_id"], strict=True))
        return settings.by_id(ids).without(set(everyone["user_id"]) - set(users["user_id"]))
