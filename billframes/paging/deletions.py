"""Finding what was deleted, which the API never tells.

After catch-up every added or changed record is here, so *here − total there* is the number deleted and additions can't
hide them. Totals of date windows are compared, by halves, only where they differ; a differing window that fits a page
is fetched, and what is here and not in that one answer was not there at its instant. A list without dates is read
again by key cover: what is here and did not come was deleted or changed.

Either way only records that did not stay as they were are let go. One that merely moved out of a window, or changed
while the list was read again, comes back with the next catch-up, whose mark is older than all of this.
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
    Find records that are here and no longer there, and let them go.

    Parameters
    ----------
    scheduler : Scheduler
    query : query
    store : RecordStore
    missing : int
        How many more are here than there.
    budget : int
        Most requests to spend.
    overlap : timedelta
        How far before its time of asking a change is still looked for.

    Returns
    -------
    bool
        False where it would cost more than that; what was found is let go all the same.
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
    """A search by halves of the line of days."""

    def __init__(self, scheduler: Scheduler, query: Query, store: RecordStore, end: int) -> None:
        self._scheduler = scheduler
        self._query = query
        self._store = store
        self._end = end

    def search(self, low: dt.date | None, high: dt.date | None, missing: int) -> bool:
        """Look into the days from `low` to `high`, None being open; `missing` more are here than there."""
        if missing <= 0:
            return True
        if self._scheduler.requests >= self._end:
            return False
        days = self._store.days()
        counts = days.counts(low, high)
        number = sum(count for _, count in counts)
        if number < self._scheduler.page_size:
            return self._compare(low, high, days.query_for_days(low, high))
        # The first day by whose beginning half of them are over; the second one at least.
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
