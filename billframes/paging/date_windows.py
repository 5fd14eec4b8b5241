"""Date windows: read a list with dates without offsets, so that no row can move between pages unnoticed.

**What a window proves.** A full page at offset 0, sorted by date, has all rows of its window, at its instant, that are
dated before the date of its last row. A short page has all rows of its window. A record that stays unchanged keeps its
date, so it is on the page that proves its day. When the proved days cover the whole period, every such record was
received, whatever was written meanwhile: the pages need not be of one instant.

**Order.** Each window is requested at offset 0. After a full page it continues from the date of the last row, including
that day. Two pages, one from each end of the list, show which days have data. The days between are divided into one
window per connection. A connection without work takes half of the largest remaining window. A day of more than a page
is split by `billed` and by billing type; a part of more than a page is read by key ranges.

**Dense days.** If there are many records per day, the whole list is read by key ranges sorted by creation, as soon as
this is known. If many entries were created at one instant, these ranges may not join; then date windows are read.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

from billframes.errors import PagingError
from billframes.paging.key_ranges import KeyRangeSet, read_key_ranges
from billframes.paging.list_schema import Query, parameter, with_parameters
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler

DAY = dt.timedelta(days=1)
# Days are dense if they have more than this part of a page on average: a page would complete only a few days.
DENSE = 0.2
# A window is halved only if it has about this many pages.
WORTH_HALVING = 2.0
TRIES = 3


@dataclass(eq=False, slots=True)
class _DateWindow:
    """Days still to be read, both ends included; `awaited` is True while a page of it is under way."""

    low: dt.date
    high: dt.date
    awaited: bool = False

    @property
    def days(self) -> int:
        return (self.high - self.low).days + 1


def query_for_days(query: Query, low: dt.date | None, high: dt.date | None) -> tuple[Query, Query]:
    """Return the query for a range of days, and the parameters added for it; None leaves that end unchanged."""
    ends = (("startDate", low), ("endDate", high))
    added_filters = tuple((name, day.isoformat()) for name, day in ends if day is not None)
    return with_parameters(query, **dict(added_filters)), added_filters


def read_windows(scheduler: Scheduler, query: Query, store: RecordStore, first: Page | None = None) -> int | None:
    """
    Read a list by date windows; `first` is the page at offset 0 of this query, in any sort.

    Return the list's total if every page was of the whole list and reported the same, else None. Raise `PagingError` if
    a day can't be proved complete.
    """
    sort, day = str(scheduler.schema.date_sort), scheduler.schema.date_of
    dense_days = _DenseDays(scheduler, query, store)
    if first is not None and parameter(query, "sort") == sort:
        ranges = dense_days.read(*_expected_days(query, first, day), first)
        if ranges is not None:
            return ranges.count
        pages = [first, scheduler.fetch(_page_request(scheduler, query, f"-{sort}"))]
    else:
        pages = scheduler.fetch_all(
            [_page_request(scheduler, query, sort), _page_request(scheduler, query, f"-{sort}")]
        )
    first, last = pages
    for page in pages:
        store.add(page)
    if first.is_whole or last.is_whole:
        return None
    begin, low, high, end = (day(first.records[0]), day(first.records[-1]), day(last.records[-1]), day(last.records[0]))
    # All days before `low` and all days after `high` are proved.
    if high < low:
        return first.total if first.total == last.total else None
    total = first.total or 0
    ranges = dense_days.read(begin, end, total, first)
    if ranges is not None:
        return ranges.count
    rest = max(total - len(first.records) - len(last.records), 1)
    _Windows(scheduler, with_parameters(query, sort=sort), store, low, high, rest).read()
    return None


def _expected_days(query: Query, first: Page, day: Callable[[Any], dt.date]) -> tuple[dt.date, dt.date, int]:
    """Return a first and a last day, and their number of rows: of the query's period, or else of the first page."""
    start, end = parameter(query, "startDate"), parameter(query, "endDate")
    if start and end:
        return dt.date.fromisoformat(start), dt.date.fromisoformat(end), first.total or 0
    return day(first.records[0]), day(first.records[-1]), len(first.records)


class _DenseDays:
    def __init__(self, scheduler: Scheduler, query: Query, store: RecordStore) -> None:
        self._scheduler = scheduler
        self._query = query
        self._store = store
        self._tried = False

    def read(self, low: dt.date, high: dt.date, rows: int, first: Page) -> KeyRangeSet | None:
        """Read the list if these days are dense; return None if they are not, or if the ranges don't cover the list."""
        sort, page_size = self._scheduler.schema.creation_sort, self._scheduler.page_size
        if self._tried or sort is None or rows <= DENSE * page_size * ((high - low).days + 1):
            return None
        self._tried = True
        ranges = KeyRangeSet(self._scheduler, self._query, sort, self._store, ties=first.largest_tie(sort))
        return ranges if ranges.read(first.total) else None


def _page_request(scheduler: Scheduler, query: Query, sort: str) -> PageRequest:
    return PageRequest(with_parameters(query, sort=sort), scheduler.page_size)


class _Windows:
    def __init__(
        self, scheduler: Scheduler, query: Query, store: RecordStore, low: dt.date, high: dt.date, rows: int
    ) -> None:
        self._scheduler = scheduler
        self._query = query
        self._store = store
        self._density = rows / ((high - low).days + 1)
        self._overfull: list[dt.date] = []
        pages = rows / scheduler.page_size
        self._windows = _cut_days(low, high, max(1, min(scheduler.concurrency, round(pages / WORTH_HALVING))))

    def read(self) -> None:
        """Read every day."""
        self._scheduler.run((), self._handle, self._next_request)
        for day in self._overfull:
            _read_day(self._scheduler, self._query, day, self._store)

    def _next_request(self) -> PageRequest | None:
        """Return a request for an idle connection: for a window without one, or for half of the largest window."""
        window = next((each for each in self._windows if not each.awaited), None) or self._split_largest()
        if window is None:
            return None
        window.awaited = True
        query, added_filters = query_for_days(self._query, window.low, window.high)
        return PageRequest(query, self._scheduler.page_size, added_filters=added_filters, tag=window)

    def _split_largest(self) -> _DateWindow | None:
        """Split off the later half of the largest window; None if no window is large enough."""
        largest = max(self._windows, key=lambda each: each.days, default=None)
        # The page that is under way will prove about one page of the window.
        worth = (WORTH_HALVING + 1) * self._scheduler.page_size
        if largest is None or largest.days < 3 or largest.days * self._density < worth:
            return None
        first_page = min(largest.days - 2, int(self._scheduler.page_size / self._density))
        middle = largest.low + DAY * ((first_page + largest.days) // 2)
        half = _DateWindow(middle, largest.high)
        largest.high = middle - DAY
        self._windows.append(half)
        return half

    def _handle(self, request: PageRequest, page: Page) -> tuple[PageRequest, ...]:
        window: _DateWindow = request.tag
        self._store.add(page)
        window.awaited = False
        if page.is_whole or self._advance(window, self._scheduler.schema.date_of(page.records[-1])):
            self._windows.remove(window)
        return ()

    def _advance(self, window: _DateWindow, last: dt.date) -> bool:
        """Move the window's start after a full page that ends on day `last`; return whether the window is complete."""
        if last == window.low:
            self._overfull.append(last)
            if last == dt.date.max:
                return True
            last += DAY
        window.low = last
        return window.low > window.high


def _cut_days(low: dt.date, high: dt.date, parts: int) -> list[_DateWindow]:
    days = (high - low).days + 1
    parts = min(parts, days)
    cuts = [low + DAY * (days * part // parts) for part in range(parts)]
    return [_DateWindow(one, other - DAY) for one, other in pairwise(cuts)] + [_DateWindow(cuts[-1], high)]


def _read_day(scheduler: Scheduler, query: Query, day: dt.date, store: RecordStore) -> None:
    """Read a day of more than a page: by `billed` and billing type, then by key ranges."""
    of_day, added_filters = query_for_days(query, day, day)
    parts = _day_filters(scheduler, of_day)
    if len(parts) == 1:
        read_key_ranges(scheduler, of_day, scheduler.schema.key_sorts, store, added_filters=added_filters)
        return
    requests = [
        PageRequest(with_parameters(of_day, **dict(part)), scheduler.page_size, added_filters=(*added_filters, *part))
        for part in parts
    ]
    pages = _agreeing_pages(scheduler, requests, PageRequest(of_day, 1, added_filters=added_filters), day)
    for request, page in zip(requests, pages, strict=True):
        store.add(page)
        if not page.is_whole:
            read_key_ranges(
                scheduler,
                request.query,
                scheduler.schema.key_sorts,
                store,
                added_filters=request.added_filters,
                first=page,
            )


def _agreeing_pages(scheduler: Scheduler, requests: list[PageRequest], whole: PageRequest, day: dt.date) -> list[Page]:
    """Fetch the first page of each part of a day; the totals must add up to the day's total."""
    for _ in range(TRIES):
        *pages, counted = scheduler.fetch_all([*requests, whole])
        # If they don't add up, a filter omits rows, or the day changed meanwhile.
        if sum(each.total or 0 for each in pages) == counted.total:
            return pages
    raise PagingError(
        f"{scheduler.schema.name}: the parts of {day.isoformat()} don't add up to its total, {TRIES} times in a "
        "row, so the list can't be shown to be complete. Try again when fewer people are writing."
    )


def _day_filters(scheduler: Scheduler, query: Query) -> list[Query]:
    """Return the combinations of filters that split a day; one empty combination if no filter splits it."""
    choices = []
    for each in scheduler.schema.resource.filters:
        values = {"billed": ("true", "false"), "billingType": each.values}.get(each.name)
        if values and parameter(query, each.name) is None:
            choices.append([(each.name, value) for value in values])
    return [tuple(combination) for combination in product(*choices)]
