"""Date windows: read a list with dates without offsets, so that no row can move between pages unnoticed.

**What a window proves.** A full page at offset 0, sorted by date, has all rows of its window, at its instant, that are
dated before the date of its last row. A short page has all rows of its window. A record that stays unchanged keeps its
date. So when the proved days cover the whole period, every such record was received, whatever was written meanwhile.

**Order.** After a full page, a window continues from the date of the last row, including that day. Two pages, one from
each end of the list, show which days have data; the days between are divided into one window per connection. A
connection without work takes half of the window with the most rows.

**Full days.** A day of more than a page is split by `billed` and by billing type; a part of more than a page is read by
key ranges. A record may move from one part to another meanwhile, but then it has changed.

**Time entries** of more than two pages are read by key ranges sorted by creation, all requested at once: two pages
share ten entries instead of a day. If many entries were created at one instant, these ranges may not join. Then date
windows are read.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from billframes.errors import DecodeError, PagingError, RefusedError
from billframes.paging.key_ranges import KeyRangeReader, KeyRangeSet
from billframes.paging.list_schema import Query, parameter, with_parameters
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler

DAY = dt.timedelta(days=1)
# A window is halved only if it has about this many pages.
WORTH_HALVING = 2.0
TRIES = 3


@dataclass(eq=False, slots=True)
class _DateWindow:
    """Days still to be read, both ends included, and their rows; `awaited` is True while a page is under way."""

    low: dt.date
    high: dt.date
    rows: float
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
    Read a list by creation times or date windows; `first` is the page at offset 0 of this query, in any sort.

    Return the list's total if every page was of the whole list and reported the same, else None. Raise `PagingError` if
    a day can't be proved complete.
    """
    sort, day = str(scheduler.schema.date_sort), scheduler.schema.date_of
    if first is not None and (ranges := _read_by_creation(scheduler, query, store, first)):
        return ranges.count
    if first is not None and parameter(query, "sort") == sort:
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
    low, high = (day(page.records[-1]) for page in pages)
    # All days before `low` and all days after `high` are proved.
    if high < low:
        return first.total if first.total == last.total else None
    rest = max((first.total or 0) - len(first.records) - len(last.records), 1)
    _Windows(scheduler, with_parameters(query, sort=sort), store, low, high, rest).read()
    return None


def _read_by_creation(scheduler: Scheduler, query: Query, store: RecordStore, first: Page) -> KeyRangeSet | None:
    """Read a list of more than two pages by creation times; None if its pages don't join."""
    sort, size = scheduler.schema.creation_sort, scheduler.page_size
    if sort is None or (first.total or 0) <= 2 * size or not first.has_keys(sort):
        return None
    ranges = KeyRangeSet(scheduler, query, sort, store, ties=first.largest_tie(sort))
    day = scheduler.schema.date_of(first.records[0])
    of_day, added_filters = query_for_days(query, day, day)
    is_period = {"startDate", "endDate"} & {name for name, _ in query}
    beside = [PageRequest(of_day, 1, added_filters=added_filters)] if is_period else []
    # Servers that refuse this sort, or ignore it or `offset`, may have windows.
    with suppress(DecodeError, RefusedError):
        if 2 * ranges.ties > size or not ranges.read(first.total, beside):
            return None
        if not all(page.records for page in ranges.beside):
            raise PagingError(
                f"{scheduler.schema.name}: the server sends records of {day.isoformat()}, but none if only this day is "
                "requested. If it leaves out the first and last day of a period, the list can't be shown to be "
                "complete. Try again, or see client.check()."
            )
        return ranges
    return None


def _page_request(scheduler: Scheduler, query: Query, sort: str) -> PageRequest:
    return PageRequest(with_parameters(query, sort=sort), scheduler.page_size)


class _Windows:
    def __init__(
        self, scheduler: Scheduler, query: Query, store: RecordStore, low: dt.date, high: dt.date, rows: int
    ) -> None:
        self._scheduler = scheduler
        self._query = query
        self._store = store
        self._overfull: list[dt.date] = []
        pages = rows / scheduler.page_size
        parts = max(1, min(scheduler.concurrency, round(pages / WORTH_HALVING)))
        self._windows = _cut_days(low, high, parts, rows)

    def read(self) -> None:
        """Read every day."""
        self._scheduler.run((), self._handle, self._next_request)
        _read_days(self._scheduler, self._query, self._overfull, self._store)

    def _next_request(self) -> PageRequest | None:
        """Return a request for an idle connection: for a window without one, or for half of the largest window."""
        window = next((each for each in self._windows if not each.awaited), None) or self._split_largest()
        if window is None:
            return None
        window.awaited = True
        query, added_filters = query_for_days(self._query, window.low, window.high)
        return PageRequest(query, self._scheduler.page_size, added_filters=added_filters, tag=window)

    def _split_largest(self) -> _DateWindow | None:
        """Split off the later half of the window with the most rows; None if no window is large enough."""
        largest = max(self._windows, key=lambda each: each.rows, default=None)
        # The page that is under way will prove about one page of the window.
        page_size = self._scheduler.page_size
        if largest is None or largest.days < 3 or largest.rows < (WORTH_HALVING + 1) * page_size:
            return None
        first_page = min(largest.days - 2, int(page_size / largest.rows * largest.days))
        middle = largest.low + DAY * ((first_page + largest.days) // 2)
        half = _DateWindow(middle, largest.high, largest.rows * ((largest.high - middle).days + 1) / largest.days)
        largest.high = middle - DAY
        largest.rows -= half.rows
        self._windows.append(half)
        return half

    def _handle(self, request: PageRequest, page: Page) -> tuple[PageRequest, ...]:
        window: _DateWindow = request.tag
        self._store.add(page)
        window.awaited = False
        if page.is_whole or self._advance(window, request, page):
            self._windows.remove(window)
        return ()

    def _advance(self, window: _DateWindow, request: PageRequest, page: Page) -> bool:
        """Move the window's start after a full page; return whether the window is complete."""
        last = self._scheduler.schema.date_of(page.records[-1])
        asked = dt.date.fromisoformat(str(parameter(request.query, "endDate")))
        if last == window.low:
            self._overfull.append(last)
            if last == dt.date.max:
                return True
            last += DAY
        window.low = last
        # The server counted the rows up to the end that was requested; the window may have been split since.
        left = max((page.total or 0) - len(page.records), 1) / max((asked - last).days + 1, 1)
        window.rows = left * window.days
        return window.low > window.high


def _cut_days(low: dt.date, high: dt.date, parts: int, rows: int) -> list[_DateWindow]:
    days = (high - low).days + 1
    parts = min(parts, days)
    cuts = [low + DAY * (days * part // parts) for part in range(parts)]
    ends = [cut - DAY for cut in cuts[1:]] + [high]
    return [_DateWindow(begin, end, rows / parts) for begin, end in zip(cuts, ends, strict=True)]


def _read_days(scheduler: Scheduler, query: Query, days: list[dt.date], store: RecordStore) -> None:
    """Read days of more than a page: by `billed` and billing type, and parts of more than a page by key ranges."""
    filters = _day_filters(scheduler, query)
    if len(filters) == 1:
        for day in days:
            _read_part(scheduler, *query_for_days(query, day, day), store)
        return
    difference, large = Counter[dt.date](), list[PageRequest]()

    def handle(request: PageRequest, page: Page) -> tuple[()]:
        is_part = request.limit != 1
        difference[request.tag] += (page.total or 0) * (1 if is_part else -1)
        store.add(page)
        if is_part and not page.is_whole:
            large.append(request)
        return ()

    for _ in range(TRIES):
        difference.clear()
        large.clear()
        scheduler.run((each for day in days for each in _requests_of_day(scheduler, query, day, filters)), handle)
        # If the parts don't add up to the day, a filter omits rows, or the day changed meanwhile.
        days = [day for day in days if difference[day]]
        for part in large:
            if part.tag not in days:
                _read_part(scheduler, part.query, part.added_filters, store)
        if not days:
            return
    raise PagingError(
        f"{scheduler.schema.name}: the parts of {days[0].isoformat()} don't add up to its total, {TRIES} times in a "
        "row, so the list can't be shown to be complete. Try again when fewer people are writing."
    )


def _read_part(scheduler: Scheduler, query: Query, added_filters: Query, store: RecordStore) -> None:
    KeyRangeReader(scheduler, query, store, added_filters=added_filters).read()


def _requests_of_day(scheduler: Scheduler, query: Query, day: dt.date, filters: list[Query]) -> Iterator[PageRequest]:
    """Yield requests for the count of a day, and for its parts."""
    of_day, added_filters = query_for_days(query, day, day)
    yield PageRequest(of_day, 1, added_filters=added_filters, tag=day)
    for part in filters:
        parameters = with_parameters(of_day, **dict(part))
        yield PageRequest(parameters, scheduler.page_size, added_filters=(*added_filters, *part), tag=day)


def _day_filters(scheduler: Scheduler, query: Query) -> list[Query]:
    """Return the combinations of filters that split a day; one empty combination if no filter splits it."""
    choices = []
    for each in scheduler.schema.resource.filters:
        values = {"billed": ("true", "false"), "billingType": each.values}.get(each.name)
        if values and parameter(query, each.name) is None:
            choices.append([(each.name, value) for value in values])
    return [tuple(combination) for combination in product(*choices)]
