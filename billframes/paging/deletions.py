"""Find the records that were deleted during a load; the API does not report deletions.

After catch-up every added or changed record was received, so *received − server's total* is the number deleted, and
additions can't hide deletions. Totals of date windows are compared, halving only windows that differ. A differing
window that fits a page is fetched, and a record that was received before and is not on that page did not exist in the
window at that instant. A list without dates is read again by key ranges: what is missing then was deleted or changed.

Either way only records that did not stay unchanged are removed. One that merely moved to another window, or changed
while the list was read again, returns with the next catch-up, which looks back further than all of this.
"""

from __future__ import annotations

import datetime as dt
from itertools import accumulate

from billframes.errors import PagingError
from billframes.paging.date_windows import query_for_days
from billframes.paging.list_schema import Query
from billframes.paging.page import PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler
from billframes.paging.undated import read_undated

__all__ = ["remove_deleted"]


def remove_deleted(
    scheduler: Scheduler, query: Query, store: RecordStore, missing: int, budget: int, overlap: dt.timedelta
) -> bool:
    """
    Remove the records that no longer exist on the server.

    Parameters
    ----------
    scheduler : Scheduler
    query : query
    store : RecordStore
    missing : int
        How many records more than the server counts were received.
    budget : int
        Most requests to send.
    overlap : timedelta
        How far before the previous request changes are looked for.

    Returns
    -------
    bool
        False if the budget does not suffice; the deletions found are removed all the same.
    """
    if scheduler.schema.date_sort is None:
        try:
            again = read_undated(scheduler, query, scheduler.new_store(), overlap).store
        except PagingError:
            return False
        store.remove(store.positions.keys() - again.positions.keys())
        store.merge(again)
        return True
    return _Search(scheduler, query, store, scheduler.requests + budget).search(None, None, missing)


class _Search:
    """A binary search over the days of a list."""

    def __init__(self, scheduler: Scheduler, query: Query, store: RecordStore, end: int) -> None:
        self._scheduler = scheduler
        self._query = query
        self._store = store
        self._end = end

    def search(self, low: dt.date | None, high: dt.date | None, missing: int) -> bool:
        """Search the days from `low` to `high` (None is open), which have `missing` records too many."""
        if missing <= 0:
            return True
        if self._scheduler.requests >= self._end:
            return False
        days = self._store.days()
        counts = days.counts(low, high)
        number = sum(count for _, count in counts)
        if number < self._scheduler.page_size:
            return self._compare(low, high, days.ids(low, high))
        # Split at the day by whose beginning half of the records are counted, but not at the first day.
        over = list(accumulate(count for _, count in counts))
        place = next((place for place, so_far in enumerate(over) if so_far >= number / 2), 0)
        place = max(1, place)
        if place >= len(counts):
            return False
        middle = counts[place][0]
        before = middle - dt.timedelta(days=1)
        query, added_filters = query_for_days(self._query, low, before)
        earlier = over[place - 1] - self._scheduler.count(query, added_filters)
        return self.search(low, before, earlier) and self.search(middle, high, missing - earlier)

    def _compare(self, low: dt.date | None, high: dt.date | None, here: set[str]) -> bool:
        query, added_filters = query_for_days(self._query, low, high)
        page = self._scheduler.fetch(PageRequest(query, self._scheduler.page_size, added_filters=added_filters))
        if not page.is_whole:
            return False
        self._store.remove(here - {self._scheduler.schema.id_of(record) for record in page.records})
        self._store.add(page)
        return True
