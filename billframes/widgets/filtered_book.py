"""A book under filters, with analyses of the records that pass them.

Each result is calculated once. Filtered frames are reused if only the period changes, and the results of recent filters
are kept, among them those of the period before.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
from collections.abc import Iterable, Sequence
from functools import partial

import pandas as pd

from billframes.analysis.data.data_span import check_begun, covers
from billframes.analysis.declare.spec import Analysis, FilterKind, TabSpec
from billframes.analysis.keys.by import By
from billframes.analysis.results.figure_names import figure_names, find_figure
from billframes.analysis.results.result_rows import total_of
from billframes.analysis.results.rows_behind import run_rows
from billframes.book import Book
from billframes.book.kept import KeptResults
from billframes.periods import CALENDAR_YEAR, Period, period_before
from billframes.report.report_tables import later_balances
from billframes.widgets.filtered_analyses import calculate
from billframes.widgets.filtered_frames import BookFilters, FilteredFrames, criteria_by_record
from billframes.widgets.state import FilterState, Range

# The number of filter states whose results are kept. The periods before count, too.
_RECENT = 16


class FilteredBooks:
    """A book under each of the recent filters."""

    def __init__(self, book: Book, today: dt.date, payments: pd.DataFrame | None = None) -> None:
        self.book_filters = BookFilters(book, today, payments)
        # Forecasts are the same under all filters.
        self.forecasts = KeptResults()
        self._recent: dict[str, FilteredBook] = {}
        self._frames = FilteredFrames(self.book_filters, FilterState())

    def at(self, state: FilterState) -> FilteredBook:
        """Return the book under the filters of a state, with its earlier results if the state is a recent one."""
        key = repr(state.as_dict())
        self._recent[key] = found = self._recent.pop(key, None) or FilteredBook(self, state)
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        return found

    def frames(self, state: FilterState) -> FilteredFrames:
        """Return the frames under a state without the period; those of the last state are kept."""
        if self._frames.state != state:
            self._frames = FilteredFrames(self.book_filters, state)
        return self._frames


class FilteredBook:
    """The part of a book that passes the filters, and its analyses."""

    def __init__(self, books: FilteredBooks, state: FilterState) -> None:
        self._books, self.book_filters = books, books.book_filters
        self.book = books.book_filters.book
        period = state.criteria.get("date")
        self._period = period if isinstance(period, Range) else Range()
        self.frames = books.frames(state.with_criterion("date", None))
        # Its page on the first tab, once it was shown.
        self.overview = ""
        self._results = KeptResults()

    @functools.cached_property
    def start(self) -> dt.date:
        """First day."""
        first = self._period.first or self.book.time_entries["date"].min()
        return dt.date(first.year, first.month, first.day)

    @functools.cached_property
    def end(self) -> dt.date:
        """Last day, at most the day of the data; a period in the future is a `ParameterError`."""
        today = self.book_filters.today
        check_begun(self.start, today)
        return min(self._period.last or today, today)

    @property
    def last(self) -> dt.date:
        """The period's last day, also if it is after the data."""
        last: dt.date = self._period.last or self.end
        return last

    @functools.cached_property
    def before(self) -> FilteredBook | None:
        """The same filters in the period before; None if the period is open, or there are no data of that time."""
        if self._period.first is None:
            return None
        fiscal = self.book.settings and self.book.settings.fiscal_year
        period = period_before(Period(self.start, self._period.last), self.end, fiscal or CALENDAR_YEAR)
        if not covers(self.book.first_day, period.start):
            return None
        return self._books.at(self.frames.state.with_criterion("date", Range(period.start, period.end)))

    @property
    def has_filters(self) -> bool:
        """Whether there is a filter on anything but the period."""
        return bool(self.frames.state.criteria)

    def not_counted(self, tab: TabSpec) -> list[str]:
        """Return the titles of the filters that do not count in a tab."""
        records = criteria_by_record(self.frames.state)
        ignored = {column for name, each in records.items() if name not in tab.counted for column in each.criteria}
        return self.titles(ignored)

    def titles(self, columns: Iterable[str]) -> list[str]:
        """Return the titles of filters."""
        wanted = set(columns)
        return [each.title for each in self.book_filters.for_frame("time_entries").fields if each.column in wanted]

    @property
    def currency(self) -> str:
        """The currency's code; empty if the firm's settings do not name it."""
        return self.book.settings.currency if self.book.settings else ""

    @property
    def balances(self) -> str:
        """A sentence that balances are of a later day than the period's last day; empty if they are not."""
        today = self.book_filters.today
        return later_balances(today, self.end) if today > self.end else ""

    def result(self, analysis: Analysis, by: By, filters: FilterKind | None = None) -> pd.DataFrame:
        """
        Return an analysis of the records that pass the filters. It is calculated once, and its notes are repeated.

        `filters` are by default those that the analysis declares for its tab.
        """
        kind = filters or (analysis.tab.filters if analysis.tab else "items")
        results = self._books.forecasts if kind == "forecast" else self._results
        return results.get(
            (analysis.name, by, kind),
            lambda: calculate(self.frames, (self.start, self.end), analysis, by, kind),
        )

    def rows(self, analysis: Analysis, by: Sequence[str], names: Sequence[str], filters: FilterKind) -> pd.DataFrame:
        """Return the rows behind sums of the records that pass the filters, by keys."""
        run = partial(run_rows, names)
        return self._results.get(
            (analysis.name, by, tuple(names), filters),
            lambda: calculate(self.frames, (self.start, self.end), analysis, [*by], filters, run),
        )

    def total(self, analysis: Analysis) -> dict[str, float]:
        """Return the figures of all records that pass the filters; empty if there are none, or rows don't add up."""
        if analysis.tab and analysis.tab.filters == "forecast":
            return {}
        keys, kind = (analysis.tab.by, analysis.tab.filters) if analysis.tab else ((), "items")
        for key in keys:
            # Rows that are shown anyway often add up to the whole, which saves an analysis.
            if (analysis.name, key, kind) in self._results:
                added = self._add_up(self.result(analysis, key), analysis, kind)
                if added and not any(map(math.isnan, added.values())):
                    return added
        if kind == "clients":
            return total_of(self.result(analysis, next(iter(keys), None)))
        rows = self.result(analysis, None).to_dict("records")
        return {str(name): value for name, value in rows[0].items()} if rows else {}

    def _add_up(self, rows: pd.DataFrame, analysis: Analysis, kind: FilterKind) -> dict[str, float]:
        """Add up rows. Figures that don't add up are missing, unless they are known in another way."""
        total = total_of(rows)
        if self.frames.marks_items and len(rows):
            # Of parts of people's work, what is missing in each row is missing in the whole.
            total = {name: value for name, value in total.items() if rows[name].notna().any()}
        for name in [name for name, value in total.items() if math.isnan(value) and len(rows)]:
            if name.startswith("peer_") and (rows[name] == rows[name].iloc[0]).all():
                total[name] = rows[name].iloc[0]
            elif name in figure_names() and (of := find_figure(name).analysis) != analysis:
                total[name] = self.result(of, None, kind)[name].iloc[0]
        return total
