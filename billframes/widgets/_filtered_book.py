"""A book under filters, with the analyses of what the filters leave.

Each result is calculated once, in the way that its analysis needs (`_ways`). What does not depend on the period is kept
when the period changes, and the results of a few filters are kept, among them those of the period before.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import warnings

import pandas as pd

from billframes._show import long_date
from billframes.analysis.checked_frames import CheckedFrames, remembered
from billframes.analysis.column_types import IDS, ITEM
from billframes.analysis.keys import By
from billframes.analysis.result_rows import total_of
from billframes.analysis.spec import Analysis
from billframes.book import Book
from billframes.config.firm import FirmSettings, describe_settings
from billframes.errors import ParameterError
from billframes.loading.enrich import join_details
from billframes.loading.load_info import as_whole
from billframes.periods import Period, period_before
from billframes.report.footnotes import later_balances
from billframes.report.tables import NamesApart
from billframes.widgets._filters import Filters
from billframes.widgets._state import FilterState, Range
from billframes.widgets._ways import WAYS

__all__ = ["BookFilters", "FilteredBook"]

# So many filters keep their results, which include those of the period before.
_RECENT = 16


class BookFilters:
    """A book's frames joined with their matters, clients and people, and filters for each."""

    def __init__(self, book: Book, today: dt.date) -> None:
        self.book = book
        self.today = today
        self.checked = CheckedFrames()
        self._filters: dict[str, Filters] = {}
        self._picked: tuple[FilterState, dict[str, pd.DataFrame]] = (FilterState(), {})
        self._recent: dict[str, FilteredBook] = {}

    def filtered(self, state: FilterState) -> FilteredBook:
        """Return the part that passes, with what was calculated of it if it was asked for a moment ago."""
        asked = repr(state.as_dict())
        known = self._recent.pop(asked) if asked in self._recent else None
        found = self._recent[asked] = known or FilteredBook(self, state)
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return found

    def picked(self, work: FilterState) -> dict[str, pd.DataFrame]:
        """Return where frames are kept that were picked by filters other than the period, which they outlast."""
        if self._picked[0] != work:
            self._picked = (work, {})
        return self._picked[1]

    def filters(self, name: str) -> Filters:
        """Return the filters for one of the book's frames, with its details joined."""
        if name not in self._filters:
            details = {"matter": self.book.matters, "client": self.book.clients, "user": self.book.users}
            self._filters[name] = Filters(join_details(getattr(self.book, name), details))
        return self._filters[name]

    @functools.cached_property
    def named(self) -> NamesApart:
        """Adds the reference to the names of clients, matters and people that share their name with another."""
        return NamesApart(self.book.clients, self.book.matters, self.book.users)


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
        self._frames = book_filters.picked(self.work)
        self.charts: dict[tuple[str, str | None, bool], str] = {}
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
        return self.book_filters.filtered(self.work.with_criterion("date", Range(period.start, period.end)))

    @property
    def settings(self) -> str:
        """Which firm settings the figures use."""
        return describe_settings(self.book.settings)

    @property
    def currency(self) -> str:
        """The currency's code; empty if the firm's settings do not name it."""
        return self.book.settings.currency if self.book.settings else ""

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
            with warnings.catch_warnings(record=True) as said, remembered(self.book_filters.checked):
                warnings.simplefilter("always")
                found = WAYS[analysis.tab.filters if analysis.tab else "rows"](self, analysis, by)
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
            # Without filters, nothing is joined that would only be taken off again.
            whole = getattr(self.book, name)
            items = self.items(name) if self.work.criteria else whole.assign(**{ITEM: whole[IDS[name]]})
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
