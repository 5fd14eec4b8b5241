"""A book under filters, with the analyses of what the filters leave.

An analysis spreads the amount of an invoice over all its items, so filters must not remove items before that. An
invoice has only one client, so clients can be filtered first. All other filters mark the items, and the analysis groups
by the mark. Figures under a filter are therefore always parts of the figures without it.
"""

from __future__ import annotations

import datetime as dt
import functools
from typing import Any

import pandas as pd

from billframes._show import long_date
from billframes.analysis.aging import aging
from billframes.analysis.column_types import ITEM, ITEMS
from billframes.analysis.realization import realization
from billframes.analysis.utilization import utilization
from billframes.analysis.wip import wip
from billframes.book import Book
from billframes.book_slice import kept, with_keys
from billframes.config.firm import FirmSettings, describe_settings
from billframes.errors import ParameterError
from billframes.loading.enrich import join_details
from billframes.loading.load_info import as_whole
from billframes.report.footnotes import later_balances
from billframes.widgets._filters import Filters
from billframes.widgets._state import FilterState, Range

__all__ = ["BookFilters", "FilteredBook"]

"""The id of a time entry, expense or fixed fee, in one column for all three."""

_KEPT = "kept"


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
        self._book_filters, self._book, self._state = book_filters, book_filters.book, state
        period = state.criteria.get("date")
        self._period = period if isinstance(period, Range) else Range()
        work = state.with_criterion("date", None)
        self._clients = work.only(name for name in work.criteria if name.startswith("client_"))
        self._people = work.only(name for name in work.criteria if name.startswith("user_"))
        about_work = {"billing_type", "billed", "invoice_state", *(n for n in work.criteria if n.startswith("cf_"))}
        self._matters = work.only(
            set(work.criteria) - set(self._clients.criteria) - set(self._people.criteria) - about_work
        )
        self.about_work = work.only(about_work)
        self._marking = len(work.criteria) > len(self._clients.criteria)

    @functools.cached_property
    def start(self) -> dt.date:
        """First day."""
        first = self._period.first or self._book.time_entries["date"].min()
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
        today = self._book_filters.today
        if self.start > today:
            raise ParameterError(f"The period begins on {long_date(self.start)}, after the data of {long_date(today)}.")
        return min(self._period.last or today, today)

    @property
    def settings(self) -> str:
        """Which firm settings the figures use."""
        return describe_settings(self._book.settings)

    @property
    def balances(self) -> str:
        """A sentence that balances are of a later day than the period's last day; empty if they are not."""
        today = self._book_filters.today
        return later_balances(today, self.end) if today > self.end else ""

    def items(self, name: str) -> pd.DataFrame:
        """Time entries, expenses or fixed fees that pass all filters except the period, with their details."""
        filters, state = self._book_filters.filters(name), self._state.with_criterion("date", None)
        # Expenses have no billing type, for example, so none of them pass a filter on it.
        answered = set(state.criteria) <= set(filters.columns)
        items = filters.frame(state) if answered else filters.data.iloc[:0]
        return items.assign(**{ITEM: items[_IDS[name]]})

    def invoices(self) -> pd.DataFrame:
        """Invoices of the clients that pass the filters."""
        return self._of_clients("invoices")

    def utilization(self, by: Any) -> pd.DataFrame:
        """Utilization of the work and people that pass the filters."""
        users = self._of("users", "user", self._people)
        result: pd.DataFrame = utilization(
            self._own(self.items("time_entries")),
            start=self.start,
            end=self.end,
            by=by,
            users=users,
            matters=self._book.matters,
            settings=self._settings_of(users),
        )
        return result

    def _settings_of(self, users: pd.DataFrame) -> FirmSettings | None:
        """Return the settings without people who are filtered out, so that no warning calls them unknown."""
        settings, everyone = self._book.settings, self._book.users
        if settings is None or len(users) == len(everyone):
            return settings
        ids = dict(zip(everyone["email"].str.lower(), everyone["user_id"], strict=True))
        return settings.by_id(ids).without(set(everyone["user_id"]) - set(users["user_id"]))

    def realization(self, by: Any) -> pd.DataFrame:
        """Realization of the work that passes the filters, on final invoices dated in the period."""
        entries = self._of_clients("time_entries")
        if self._marking:
            kept = self.items("time_entries").index
            entries = entries.assign(**{_KEPT: _words(entries.index.isin(kept))})
        result: pd.DataFrame = realization(
            entries,
            self._of_clients("invoices"),
            self._of_clients("expenses"),
            self._of_clients("fixed_fees"),
            by=with_keys(by, [_KEPT] if self._marking else []),
            start=self.start,
            end=self.end,
            as_of=self._book_filters.today,
            matters=self._book.matters,
            users=self._book.users,
            settings=self._book.settings,
        )
        return self._marked(result, [_KEPT] if self._marking else [])

    def aging(self, by: Any) -> pd.DataFrame:
        """Receivables of the clients, matters and people that pass; filters on single entries do not apply."""
        marks = self._marks()
        spread: dict[str, Any] = (
            {} if by in (None, "client") and not marks else {name: self._of_clients(name) for name in ITEMS}
        )
        result: pd.DataFrame = aging(
            self._of_clients("invoices"),
            as_of=self.end,
            by=with_keys(by, list(marks)),
            matters=self._book.matters.assign(**marks.get("matter_kept", {})),
            users=self._book.users.assign(**marks.get("user_kept", {})),
            settings=self._book.settings,
            **spread,
        )
        return self._marked(result, list(marks))

    def wip(self, by: Any) -> pd.DataFrame:
        """Work in progress of the items that pass the filters."""
        time_entries, expenses, fixed_fees = (self._own(self.items(name)) for name in ITEMS)
        result: pd.DataFrame = wip(
            time_entries,
            expenses,
            fixed_fees,
            self._book.invoices,
            as_of=self.end,
            by=by,
            matters=self._book.matters,
            users=self._book.users,
            settings=self._book.settings,
        )
        return result

    def _marks(self) -> dict[str, dict[str, Any]]:
        """Return a column for the matters frame and the users frame that marks what passes the filters."""
        wanted = {"matter_kept": ("matters", "matter", self._matters), "user_kept": ("users", "user", self._people)}
        marks = {}
        for mark, (name, entity, state) in wanted.items():
            if state.criteria:
                frame, key = getattr(self._book, name), f"{entity}_id"
                marks[mark] = {mark: _words(frame[key].isin(self._of(name, entity, state)[key]))}
        return marks

    def _of(self, name: str, entity: str, state: FilterState) -> pd.DataFrame:
        """Return the matters or people that pass, with the column names that the time entries' filters use."""
        frame: pd.DataFrame = getattr(self._book, name)
        if not state.criteria:
            return frame
        key = f"{entity}_id"
        joined = join_details(frame[[key]], {entity: frame})
        filters = Filters(joined)
        return frame[filters.mask(state.only(filters.columns))]

    def _of_clients(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = getattr(self._book, name)
        if not self._clients.criteria:
            return frame
        filters = self._book_filters.filters(name)
        return as_whole(frame[filters.mask(self._clients)])

    def _own(self, items: pd.DataFrame) -> pd.DataFrame:
        """Remove the details; the analyses join what they need."""
        own = self._book.time_entries.columns.union([*_IDS.values(), "check_number", ITEM], sort=False)
        return as_whole(items[[name for name in own if name in items]])

    def _marked(self, result: pd.DataFrame, marks: list[str]) -> pd.DataFrame:
        return kept(result, dict.fromkeys(marks, _YES)).drop(columns=marks)


_IDS = {"time_entries": "time_entry_id", "expenses": "expense_id", "fixed_fees": "fixed_fee_id"}
_YES = "yes"


def _words(flags: Any) -> pd.Series[str]:
    return pd.Series(flags).map({True: _YES, False: "no"}).to_numpy()  # type: ignore[return-value]
