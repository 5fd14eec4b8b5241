"""Narrow down on which days records are gone, by the totals of parts of a list's period.

What is here and what is there are counted for the same days; the difference is how many are gone from them, so a part
without any is left alone and any other is halved, until loading it takes no more requests than to go on. All parts are
halved side by side.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

__all__ = ["Days", "Part", "Window", "narrowed"]

Window = tuple[dt.date | None, dt.date | None]
# A part is loaded if it has no more pages than records that are gone, nor than this: one more request may halve it.
MOST = 8
_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Part:
    """Days by their places, both included, and how many more rows are here than there."""

    first: int
    last: int
    gone: int


class Days:
    """
    The days of a list.

    Parameters
    ----------
    days : sequence of date
        Those that rows have, in order.
    rows : sequence of int
        Each day's rows here.
    looked_through : sequence of int
        Those of each day that are loaded when the day is looked through.
    """

    def __init__(self, days: Sequence[dt.date], rows: Sequence[int], looked_through: Sequence[int]) -> None:
        self._days = list(days)
        self._rows = [0, *accumulate(rows)]
        self._loads = [0, *accumulate(looked_through)]

    def __len__(self) -> int:
        return len(self._days)

    def window(self, first: int, last: int) -> Window:
        """Return the period of some days up to the next one that has rows; the first and last are open."""
        return (
            self._days[first] if first else None,
            self._days[last + 1] - _DAY if last + 1 < len(self) else None,
        )

    def rows(self, first: int, last: int) -> int:
        """Return how many rows these days have here."""
        return self._rows[last + 1] - self._rows[first]

    def loads(self, first: int, last: int) -> int:
        """Return how many rows are loaded to look through these days."""
        return self._loads[last + 1] - self._loads[first]

    def middle(self, first: int, last: int) -> int:
        """Return the last day of the first half, by what is loaded."""
        half = self._loads[last + 1] - self.loads(first, last) // 2
        return min(max(bisect_right(self._loads, half) - 2, first), last - 1)

    def cut(self, parts: Sequence[Part], page: int, most: int) -> tuple[list[Window], list[Window]]:
        """
        Cut parts into windows to be loaded.

        Parameters
        ----------
        parts : sequence of Part
        page : int
            Rows of a page.
        most : int
            Rows of a window of days that are too full for a page to hold a few.

        Returns
        -------
        tuple
            Windows of many pages, and those that are smaller than a page and so take one request each.
        """
        windows: tuple[list[Window], list[Window]] = [], []
        for part in parts:
            full = self.loads(part.first, part.last) > page * (part.last - part.first + 1) / 2
            starts = [part.first]
            for day in range(part.first + 1, part.last + 1):
                if self.loads(starts[-1], day) > (most if full else page - 1):
                    starts.append(day)
            found = [self.window(first, after - 1) for first, after in pairwise([*starts, part.last + 1])]
            windows[not full].extend(found)
        return windows


def narrowed(days: Days, total: int, page: int, count: Callable[[Sequence[Window]], Sequence[int]]) -> list[Part]:
    """
    Return the parts of the days whose totals differ and that are best loaded, in order.

    Parameters
    ----------
    days : Days
        Some, at least one.
    total : int
        Rows there.
    page : int
        Rows of a page.
    count : callable
        Returns how many rows there are there in each of some windows.
    """
    found: list[Part] = []
    waiting = [Part(0, len(days) - 1, days.rows(0, len(days) - 1) - total)]
    while waiting:
        differing = [part for part in waiting if part.gone]
        found += [part for part in differing if _best_loaded(days, part, page)]
        halved = [
            (part, days.middle(part.first, part.last)) for part in differing if not _best_loaded(days, part, page)
        ]
        there = count([days.window(part.first, middle) for part, middle in halved])
        waiting = []
        for (part, middle), total_before in zip(halved, there, strict=True):
            before = days.rows(part.first, middle) - total_before
            waiting += [Part(part.first, middle, before), Part(middle + 1, part.last, part.gone - before)]
    return sorted(found, key=lambda part: part.first)


def _best_loaded(days: Days, part: Part, page: int) -> bool:
    return part.first == part.last or days.loads(part.first, part.last) <= page * min(max(1, part.gone), MOST)
