"""Find the days from which records were deleted, by the totals of parts of a list's period.

Stored rows and the server's rows are counted for the same days. The difference is the number of deleted records; a part
without any needs no more requests. Any other is halved, all parts side by side. A page of a period shows its first days
and also states the period's total. So if many pages lack records, each request reads a page: it settles some days and
narrows the rest down. If few do, only totals are requested. If nearly every page lacks records, or a day has more rows
than a page, the part is loaded as a list of its own.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

__all__ = ["Answer", "Days", "Look", "Part", "Window", "narrow"]

Window = tuple[dt.date | None, dt.date | None]
# A page is requested, and not a total, if at least one page in this many lacks a record.
MOST = 8
# A part is loaded as a list if at least DENSE records are deleted for each of its pages and it has at least LONG pages:
# pages of whole days are partly filled, and the proof of a list takes a few requests of its own.
DENSE = 3
LONG = 16
_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Part:
    """Days by their places, both included, and how many more rows are stored than the server has."""

    first: int
    last: int
    gone: int


@dataclass(frozen=True, slots=True)
class Look:
    """
    What to request of a part.

    Parameters
    ----------
    part : Part
    last : int
        The last of its days that the request covers.
    how : {"total", "page", "all"}
        The days' total, their first page, or all of their rows.
    """

    part: Part
    last: int
    how: str


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What the response to a `Look` states.

    Parameters
    ----------
    total : int
        The server's rows, of all days of the request.
    until : int
        The last day whose rows were compared; the one before the first if none were.
    rows : int
        The server's rows, of the days whose rows were compared.
    """

    total: int
    until: int
    rows: int


class Days:
    """
    The days of a list.

    Parameters
    ----------
    days : sequence of date
        The days that have rows, in order.
    rows : sequence of int
        The number of stored rows of each day.
    """

    def __init__(self, days: Sequence[dt.date], rows: Sequence[int]) -> None:
        self._days = list(days)
        self._rows = [0, *accumulate(rows)]

    def __len__(self) -> int:
        return len(self._days)

    def window(self, first: int, last: int) -> Window:
        """Return the period of some days up to the next one that has rows; the first and last are open."""
        return (
            self._days[first] if first else None,
            self._days[last + 1] - _DAY if last + 1 < len(self) else None,
        )

    def rows(self, first: int, last: int) -> int:
        """Return how many stored rows these days have."""
        return self._rows[last + 1] - self._rows[first]

    def before(self, day: dt.date) -> int:
        """Return the place of the last day whose window ends before a day."""
        return bisect_right(self._days, day) - 2

    def middle(self, first: int, last: int, page: int) -> int:
        """Return the last day of the first half, at the end of a page if the days are read page by page."""
        starts = [first]
        for day in range(first + 1, last + 1):
            if self.rows(starts[-1], day) >= page:
                starts.append(day)
        after = starts[min(len(starts) // 2 + 1, len(starts) - 1)]
        return after - 1 if after > first else last - 1


def narrow(days: Days, gone: int, page: int, most: int, look: Callable[[Sequence[Look]], Sequence[Answer]]) -> None:
    """
    Search the days from which records were deleted.

    Parameters
    ----------
    days : Days
        At least one.
    gone : int
        How many more rows are stored than the server has.
    page : int
        Rows of a page.
    most : int
        Rows of a part that is loaded as a list.
    look : callable
        Sends the requests, side by side.
    """
    waiting = [Part(0, len(days) - 1, gone)]
    while looks := [_look(days, part, page, most) for part in waiting if part.gone]:
        answers = look(looks)
        waiting = [part for asked, answer in zip(looks, answers, strict=True) for part in _rest(days, asked, answer)]


def _look(days: Days, part: Part, page: int, most: int) -> Look:
    """Return the request that tells most about a part."""
    rows, gone = days.rows(part.first, part.last), abs(part.gone)
    if rows < page:
        return Look(part, part.last, "page")
    dense = gone * page >= DENSE * rows and rows >= LONG * page
    if part.first == part.last or (dense and rows <= most):
        return Look(part, part.last, "all")
    overflows = days.rows(part.first, part.first) >= page
    only_total = dense or overflows or gone * page * MOST < rows
    return Look(part, days.middle(part.first, part.last, page), "total" if only_total else "page")


def _rest(days: Days, asked: Look, answer: Answer) -> Iterator[Part]:
    """Return what is left of a part after a response."""
    part, through = asked.part, asked.last
    if answer.until < through:
        first = answer.until + 1
        yield Part(first, through, days.rows(first, through) - (answer.total - answer.rows))
    if through < part.last:
        yield Part(through + 1, part.last, part.gone - (days.rows(part.first, through) - answer.total))
