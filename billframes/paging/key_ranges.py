"""Key ranges: read a list in overlapping pages whose keys together leave no gap (keyset paging).

**What a page proves.** Sorted by a key, a page has all rows, at its instant, whose keys are strictly between the keys
of its first and its last row. The page at offset 0 has all rows before its last key, and a short page at the end has
all rows after its first key. A record that stays unchanged keeps its key. So when these open intervals cover all keys,
every such record was received, whatever else happened and in whichever order the pages were read.

**Why two ranges are joined only by a key strictly between.** Ranges X and Y leave no gap if `first(Y) < last(X)`.
Equality is not enough, because a group of equal keys may extend beyond both pages. Dates, numbers and instants compare
here as they do on the server. Text does not, because the server's collation is unknown. But a key K that is in both
ranges is between `first(Y)` and `last(X)` in any order that the server may use. If K differs from one of the two under
every collation (see `keys`), the order is strict. Two pages that share a record prove nothing: it may have moved.

**Gaps.** Ranges may not join because rows moved, because of a long group of equal keys, or because of keys that may be
equal. Then another page is fetched across the gap, within a budget of twice the pages plus ten. After that, the next
sort is tried, and finally `PagingError` is raised. A quiet list has a cheaper proof (see `undated`): when the
number of records received reaches the total that every page reported, reading can stop for that proof, and continue if
it fails.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

from billframes.errors import PagingError
from billframes.paging.keys import surely_differ
from billframes.paging.list_schema import Query, parameter, with_parameters
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler

SortKey = tuple[Any, ...]

# How many rows neighbouring pages share. Their ranges join if this is more than the number of rows with equal keys.
LEAST_OVERLAP = 10
OVERLAP_OF_TEXT = 0.02
MOST_OVERLAP = 0.05
# Ranges that are more than this many positions apart in the list of ranges are not compared.
NEAR = 8
# After this many failed attempts to join the same range, the next sort is tried.
MOST_ATTEMPTS = 7
# Where to look for the next range if rows have moved, in pages from the last joined one.
_NEARER = (0.75, 0.5, 0.25, 0.0, -0.5)


def _differ(one: SortKey, other: SortKey) -> bool:
    return any(map(surely_differ, one, other))


@dataclass(eq=False)
class KeyRange:
    """The keys of a page in its order, whether the list ends with it, and the attempts to join the next range."""

    keys: Sequence[SortKey]
    offset: int = 0
    is_last: bool = False
    attempts: int = 0
    _joins: dict[KeyRange, bool] = field(default_factory=dict)

    def joins(self, other: KeyRange) -> bool:
        """Return whether another range follows without a gap; the result is cached."""
        if other not in self._joins:
            self._joins[other] = leave_no_gap(self, other)
        return self._joins[other]

    @cached_property
    def key_set(self) -> frozenset[SortKey]:
        """The keys, for literal comparison."""
        return frozenset(self.keys)


def leave_no_gap(one: KeyRange, other: KeyRange) -> bool:
    """Return whether the first key of `other` is surely before the last key of `one`."""
    if not one.keys or not other.keys:
        return False
    first, last = other.keys[0], one.keys[-1]
    if all(isinstance(each, dt.date | int | float) for each in (first[0], last[0])) and first[0] != last[0]:
        return bool(first[0] < last[0])
    return any(_differ(key, first) or _differ(key, last) for key in one.key_set & other.key_set)


class KeyRangeReader:
    """
    Reads a list by key ranges, under one of the `sorts` after another; by default, under all that fit the list.

    `added_filters` are the parameters of the query that the reader added. `first` is the page at offset 0, in any sort.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        query: Query,
        store: RecordStore,
        *,
        sorts: Sequence[tuple[str, ...]] = (),
        added_filters: Query = (),
        first: Page | None = None,
    ) -> None:
        self._scheduler = scheduler
        self._store = store
        self._first = first
        self._sort = parameter(query, "sort")
        sorts = sorts or scheduler.schema.key_sorts
        ties = {sort: first.largest_tie(sort) if first else 0 for sort in sorts}
        most = scheduler.page_size * OVERLAP_OF_TEXT
        # First the sort that worked last time, then those with few equal keys on the first page.
        self._sorts = tuple(sorted(sorts, key=lambda sort: (sort != scheduler.last_sort, ties[sort] >= most)))
        self._range_sets = [
            KeyRangeSet(scheduler, query, sort, store, added_filters, ties=ties[sort]) for sort in self._sorts
        ]
        self._place = 0

    @property
    def count(self) -> int | None:
        """The list's total, if every page under the last sort reported the same; else None."""
        return self._range_sets[self._place].count

    @property
    def all_counted(self) -> bool:
        """Whether every page reported the same total, and that many records were received."""
        totals = set[int]().union(*(range_set.totals for range_set in self._range_sets))
        if self._first is not None:
            totals.add(self._first.total or 0)
        return totals == {len(self._store)}

    def read_first_sort(self) -> bool:
        """
        Read by the first sort until the ranges cover the list, or every record the server counts was received.

        Return whether the ranges cover the list. If not, `read` continues, with more requests.
        """
        self._begin()
        range_set = self._range_sets[0]
        return range_set.close_gaps(len(range_set.ranges) // 2 + 5, lambda: self.all_counted)

    def read(self) -> int | None:
        """
        Read until the ranges cover the list; return its total if every page reported the same, else None.

        Raise `PagingError` if the ranges cover the list under no sort within the budget.
        """
        while self._place < len(self._range_sets):
            self._begin()
            range_set = self._range_sets[self._place]
            if range_set.close_gaps(2 * len(range_set.ranges) + 10):
                self._scheduler.last_sort = self._sorts[self._place]
                return range_set.count
            self._place += 1
        tried = ", then by ".join(",".join(sort) for sort in self._sorts) or "nothing: no sort fits"
        raise PagingError(
            f"{self._scheduler.schema.name}: pages sorted by {tried} could not be joined without a gap, so the list "
            "can't be shown to be complete. Too many rows may be equal under these sorts, or the list changes too "
            "fast: try again when fewer people are writing, with a larger page_size, or narrow the list with filters."
        )

    def _begin(self) -> None:
        range_set, first = self._range_sets[self._place], self._first
        if not range_set.ranges:
            same = self._sort == ",".join(self._sorts[self._place])
            range_set.begin(first if same else None, first.total if first else None)


class KeyRangeSet:
    """
    The key ranges of one sort, the totals that pages reported, and how far the ranges cover the list.

    `ties` is how many records a page may have with equal keys.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        query: Query,
        sort: tuple[str, ...],
        store: RecordStore,
        added_filters: Query = (),
        *,
        ties: int = 0,
    ) -> None:
        self._scheduler = scheduler
        self._query = with_parameters(query, sort=",".join(sort))
        self._added_filters = added_filters
        self._store = store
        self._sort = sort
        self._instants = sort == ("created",)
        self.ties = ties
        self.ranges: list[KeyRange] = []
        self.beside: list[Page] = []
        self.totals: set[int] = set()
        self._total = 0
        self._whole = False
        self._stuck = False
        self._gave_up = False

    @property
    def count(self) -> int | None:
        """The list's total, if every page reported the same; else None."""
        return self._total if len(self.totals) == 1 else None

    def read(self, expected: int | None, beside: Sequence[PageRequest] = ()) -> bool:
        """
        Fetch pages until the ranges cover the list, and other pages `beside` them; False if the budget does not
        suffice.
        """
        self.begin(expected=expected, beside=beside)
        return self.close_gaps(2 * len(self.ranges) + 10)

    def begin(self, first: Page | None = None, expected: int | None = None, beside: Sequence[PageRequest] = ()) -> None:
        """
        Fetch overlapping pages of the whole list: all at once if its total is `expected`, or after the page at offset
        0.
        """
        if first is not None:
            self._add_page(first)
        elif expected is None:
            self._fetch([0])
        else:
            self._total = expected
        if not self._whole:
            begin = self._step if self.ranges else 0
            self._fetch(range(begin, self._total - self._overlap + 1, self._step), beside)

    def close_gaps(self, budget: int, enough: Callable[[], bool] = lambda: False) -> bool:
        """Fetch pages across the gaps; False if the budget does not suffice, or `enough` returns True."""
        while not self._whole and (gap := self._gap_offset()) is not None:
            if budget <= 0 or self._stuck or self._gave_up or enough():
                return False
            self._fetch([gap])
            budget -= 1
        return True

    @property
    def _overlap(self) -> int:
        size = self._scheduler.page_size
        least = min(LEAST_OVERLAP, size // 4) if self._instants else int(size * OVERLAP_OF_TEXT)
        return min(max(least, min(self.ties + 1, int(size * MOST_OVERLAP)), 2), size - 1)

    @property
    def _step(self) -> int:
        return self._scheduler.page_size - self._overlap

    def _fetch(self, offsets: Iterable[int], beside: Sequence[PageRequest] = ()) -> None:
        size = self._scheduler.page_size
        # Pages of names are needed even if they don't join, for the proof of quiet lists.
        requests = (
            PageRequest(self._query, size, offset, self._added_filters)
            for offset in offsets
            if not (self._stuck and self._instants)
        )
        self._scheduler.run(chain(beside, requests), lambda request, page: self._handle(page, request in beside))

    def _handle(self, page: Page, is_beside: bool) -> tuple[()]:
        if is_beside:
            self.beside.append(page)
        else:
            self._add_page(page)
        return ()

    def _add_page(self, page: Page) -> None:
        self._store.add(page)
        self._total = page.total or 0
        self.totals.add(self._total)
        self._whole = self._whole or page.is_whole
        if not page.has_keys(self._sort):
            self._stuck = True
            return
        keys = [page.keys(name) for name in self._sort]
        if self._instants:
            # Instants are compared directly, so the keys between are not needed.
            keys = [[*each[:1], *each[-1:]] for each in keys]
        key_range = KeyRange(list(zip(*keys, strict=True)), page.offset, is_last=page.is_short)
        self.ranges.append(key_range)
        # No range can cross a whole page of equal keys.
        self._stuck = self._stuck or (
            not key_range.is_last and len(key_range.keys) > 1 and key_range.keys[0] == key_range.keys[-1]
        )

    def _gap_offset(self) -> int | None:
        """Return the offset of a page across the first gap; None if there is no gap."""
        ranges = sorted((each for each in self.ranges if each.keys), key=lambda each: each.offset)
        connected = _connected_ranges(ranges)
        if any(each.is_last for each in connected):
            return None
        if not connected:
            return 0
        one = connected[-1]
        other = next((each for each in ranges if each.offset > one.offset), None)
        if other is None and one.attempts == 0 and one.offset + self._step < self._total:
            offset = one.offset + self._step
        elif other is None and one.attempts == 0:
            # The list became shorter before its last page was read.
            offset = self._total - self._scheduler.page_size // 2
        elif other is not None and one.attempts == 0:
            offset = (one.offset + other.offset) // 2
        else:
            # Rows have moved: look again after the last joined range, nearer to it each time.
            offset = one.offset + int(_NEARER[one.attempts % len(_NEARER)] * self._scheduler.page_size)
        one.attempts += 1
        self._gave_up = one.attempts > MOST_ATTEMPTS
        return max(0, offset)


def _connected_ranges(ranges: list[KeyRange]) -> list[KeyRange]:
    """Return the ranges that are joined, directly or by others, to one at offset 0; sorted by offset."""
    waiting = [place for place, each in enumerate(ranges) if each.offset == 0]
    connected = set(waiting)
    while waiting:
        place = waiting.pop()
        for near in range(max(0, place - NEAR), min(len(ranges), place + NEAR + 1)):
            if near not in connected and ranges[place].joins(ranges[near]):
                connected.add(near)
                waiting.append(near)
    return [ranges[place] for place in sorted(connected)]
