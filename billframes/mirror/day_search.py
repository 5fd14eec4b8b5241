"""Find the days from which records were deleted, by the server's totals for spans of days.

The stored rows and the server's rows of a span are counted. The difference is the number of deleted records. A span
without a difference needs no more requests. Other spans are halved, all of them side by side. A page also states the
total of its list, so if many pages lack records, pages are requested: a page settles its days, and its total narrows
down the others. If few pages lack records, only totals are requested. If nearly every page lacks records, or a day has
more rows than a page, all rows of the span are loaded.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

Window = tuple[dt.date | None, dt.date | None]
"""The first and last day of a period, inclusive; None is open."""
# A page is requested, and not a total, if at least one in this many pages lacks a record.
_PAGES_PER_MISSING = 8
# All rows of a span are loaded if it lacks at least so many records per page and has at least so many pages. Shorter
# spans are read by pages, because the proof that a list is complete takes a few more requests.
_DENSE = 3
_LONG = 16
_DAY = dt.timedelta(days=1)


class DaySpan(NamedTuple):
    """The positions of the first and last day, inclusive, and the number of their rows that the server lacks."""

    first: int
    last: int
    missing: int


class SpanRequest(NamedTuple):
    """A request for the days of a span up to `last`: their total, their first page, or all of their rows."""

    span: DaySpan
    last: int
    kind: str


class SpanResult(NamedTuple):
    """
    The number of the server's rows in all days of a `SpanRequest`, and the `rows` that were compared.

    They were compared until the day `compared_until`, which is the day before the first if none were.
    """

    total: int
    compared_until: int
    rows: int


class Days:
    """The days of a list that have stored rows, in order."""

    def __init__(self, rows: Mapping[dt.date, int]) -> None:
        self._days = sorted(rows)
        self._rows = [0, *accumulate(rows[day] for day in self._days)]

    def __len__(self) -> int:
        return len(self._days)

    def window(self, first: int, last: int) -> Window:
        """Return the period of some days, extended to before the next day that has rows; open at the list's ends."""
        return self._days[first] if first else None, self._days[last + 1] - _DAY if last + 1 < len(self) else None

    def rows(self, first: int, last: int) -> int:
        """Return the number of stored rows of these days."""
        return self._rows[last + 1] - self._rows[first]

    def before(self, day: dt.date) -> int:
        """Return the position of the last day whose window ends before a date."""
        return bisect_right(self._days, day) - 2

    def middle(self, first: int, last: int, page_size: int) -> int:
        """Return the last day of the first half; the half ends at the end of a page, if days are read page by page."""
        starts = [first]
        for day in range(first + 1, last + 1):
            if self.rows(starts[-1], day) >= page_size:
                starts.append(day)
        after = starts[min(len(starts) // 2 + 1, len(starts) - 1)]
        return after - 1 if after > first else last - 1


def search_days(
    days: Days,
    missing: int,
    page_size: int,
    most_rows: int,
    send: Callable[[Sequence[SpanRequest]], Sequence[SpanResult]],
) -> None:
    """
    Search the days from which records were deleted; `missing` is their number.

    At most `most_rows` are loaded at once. `send` sends requests side by side, compares the rows that it receives, and
    returns the results.
    """
    unsettled = [DaySpan(0, len(days) - 1, missing)]
    while requests := [_next_request(days, span, page_size, most_rows) for span in unsettled if span.missing]:
        results = send(requests)
        unsettled = [
            span
            for request, result in zip(requests, results, strict=True)
            for span in _unsettled(days, request, result)
        ]


def _next_request(days: Days, span: DaySpan, page_size: int, most_rows: int) -> SpanRequest:
    rows, missing = days.rows(span.first, span.last), abs(span.missing)
    if rows < page_size:
        return SpanRequest(span, span.last, "page")
    dense = missing * page_size >= _DENSE * rows and rows >= _LONG * page_size
    if span.first == span.last or (dense and rows <= most_rows):
        return SpanRequest(span, span.last, "all")
    overflows = days.rows(span.first, span.first) >= page_size
    only_total = dense or overflows or missing * page_size * _PAGES_PER_MISSING < rows
    return SpanRequest(span, days.middle(span.first, span.last, page_size), "total" if only_total else "page")


def _unsettled(days: Days, request: SpanRequest, result: SpanResult) -> Iterator[DaySpan]:
    span, last = request.span, request.last
    if result.compared_until < last:
        first = result.compared_until + 1
        yield DaySpan(first, last, days.rows(first, last) - (result.total - result.rows))
    if last < span.last:
        yield DaySpan(last + 1, span.last, span.missing - (days.rows(span.first, last) - result.total))
