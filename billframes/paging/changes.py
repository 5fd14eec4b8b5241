"""Catch up with what changed or was deleted while a list was read, and find out if the result is a snapshot.

**Changes.** Date windows and key ranges return every record that stayed unchanged. A record that changed meanwhile may
have moved to a part of the list that was read already. `modifiedSince` finds it: changes are requested since the
server's time before the reading, less an overlap for clocks, replicas and late commits, and then in rounds since the
beginning of the round before. The rounds end when the changes are known at one instant, and the result is *complete*:

- They fit one page.
- They have no new records, and as many as their first page counted: each was known before that page and is unchanged
  after it. So a load ends even if more than a page of records changed just before it.
- They were read by key ranges sorted by creation (time entries): a changed record stays among the changed ones, and its
  creation time never changes, so no edit can hide it.

**Count.** The result is a *snapshot* if the server counts as many records as were received, and neither the catch-up
before the count nor the one after it brings anything new. On a busy list two such counts in a row are needed, because a
record created and deleted between two catch-ups can hide a deletion. No count is needed if every page was of the whole
list and reported the same total, the number of rows equals it, and the first catch-up brings nothing new. These
requests are sent one after the other: a count sent beside a catch-up could be answered first.

**Several lists** (one for each id of a list of ids) are all read first. Then one query, without the parameters in which
they differ, catches up all of them; those of its rows that belong to one of the lists are added. So a record that moves
from one list to another can't be missed between two pages. The result is complete, and the lists are not counted.

**Deletions.** The API does not report them. After a catch-up, the number of records received less the server's total is
the number of deletions; additions can't hide them. Totals of date windows are compared, and only windows that differ
are halved, until one fits a page. A list without dates is read again by key ranges. Only records that did not stay
unchanged are removed. If one of them only moved, the next catch-up finds it, because it looks back further.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from billframes.errors import PagingError
from billframes.paging.date_windows import query_for_days, read_windows
from billframes.paging.key_ranges import KeyRangeReader
from billframes.paging.list_schema import ListSchema, Query, parameter
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler
from billframes.paging.undated import changes_request, read_undated
from billframes.schema.resources import MAX_LIMIT


def remove_deleted(
    scheduler: Scheduler, query: Query, store: RecordStore, missing: int, budget: int, overlap: dt.timedelta
) -> bool:
    """
    Remove the records that no longer exist on the server; `missing` are received minus counted.

    Return False if the budget of requests does not suffice. The deletions found are removed in any case.
    """
    if scheduler.schema.date_sort is None:
        try:
            again = read_undated(scheduler, query, scheduler.new_store(), overlap).store
        except PagingError:
            return False
        store.remove(store.positions.keys() - again.positions.keys())
        store.merge(again)
        return True
    return _DeletionSearch(scheduler, query, store, scheduler.requests + budget).search(None, None, missing)


class _DeletionSearch:
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


# The largest number of rounds of a catch-up, of counts of a load, and of counts that exceed the records received.
MOST_ROUNDS = 8
MOST_COUNTS = 4
MOST_EXCEEDED = 3


@dataclass(slots=True)
class Stream:
    """One query and the records received for it; if it is `done`, no other page has to be read."""

    query: Query
    store: RecordStore
    done: bool = False


def read_list(scheduler: Scheduler, query: Query, store: RecordStore, first: Page | None = None) -> int | None:
    """
    Read a list by date windows if it has dates, else by key ranges; every record that stays unchanged is received.

    Returns the list's total if every page reported the same, else None.
    """
    if scheduler.schema.date_sort:
        return read_windows(scheduler, query, store, first)
    return KeyRangeReader(scheduler, query, store, first=first).read()


class ChangeReader:
    """
    Adds the records that changed while lists were read, and compares counts. The reading began at the server's
    `started`.
    """

    def __init__(
        self, scheduler: Scheduler, streams: list[Stream], started: dt.datetime, overlap: dt.timedelta
    ) -> None:
        self._scheduler = scheduler
        self._streams = streams
        self._overlap = overlap
        self._since = started - overlap
        self._query, self._differing = _combine_queries([stream.query for stream in streams])
        # Changes go to the first list's store; when the lists are merged, the newest version wins.
        self._changed = scheduler.new_store() if self._differing else streams[0].store

    @staticmethod
    def can_combine(schema: ListSchema, queries: Sequence[Query]) -> bool:
        """Return whether one query can catch up the lists: whether rows show to which of the lists they belong."""
        return set(_combine_queries(queries)[1]) <= schema.filter_columns.keys()

    def prove(self, counted: int | None = None) -> str:
        """
        Catch up and, if there is only one list, count; return "snapshot" or "complete".

        `counted` is the list's total, if every page reported the same. Raise `PagingError` if records change faster
        than they can be read, or the server counts more records than it returns.
        """
        busy = self._catch_up()
        if len(self._streams) > 1:
            return "complete"
        store, agreed, exceeded = self._streams[0].store, 0, 0
        if not busy and counted == len(store):
            return "snapshot"
        for _ in range(MOST_COUNTS):
            total = self._scheduler.count(self._streams[0].query)
            if self._catch_up():
                busy, agreed = True, 0
            elif total == len(store):
                agreed += 1
                if agreed > busy:
                    return "snapshot"
            else:
                busy, agreed = True, 0
                exceeded += total > len(store)
                if exceeded == MOST_EXCEEDED:
                    raise self._too_few(len(store), total)
                if total < len(store) and not self._remove_deleted(len(store) - total):
                    break
        return "complete"

    def _remove_deleted(self, missing: int) -> bool:
        """Remove deleted records, and catch up with what changed meanwhile; return whether all were found."""
        stream = self._streams[0]
        # A search that costs more than loading the list again is useless.
        budget = len(stream.store) // self._scheduler.page_size + 10
        removed = remove_deleted(self._scheduler, stream.query, stream.store, missing, budget, self._overlap)
        self._catch_up()
        return removed

    def _catch_up(self) -> bool:
        """Add the records that changed since the last catch-up; return whether there were any new ones."""
        before = self._updates()
        for _ in range(MOST_ROUNDS):
            if self._read_changes():
                return self._updates() > before
        size, advice = self._scheduler.page_size, self._scheduler.schema.narrowing_advice
        # The rounds end when a page holds all changes of a round.
        larger = f", with a page_size larger than {size}" if size < MAX_LIMIT else ""
        raise PagingError(
            f"{self._scheduler.schema.name}: records change faster than they can be read, so the list can't be shown "
            f"to be complete. Try again when fewer people are writing{larger}, or {advice}."
        )

    def _updates(self) -> int:
        return sum(stream.store.updates for stream in self._streams)

    def _read_changes(self) -> bool:
        """Request the changes since the last round; return whether no change can have been missed."""
        scheduler = self._scheduler
        scheduler.take_earliest_time()
        request = changes_request(scheduler, self._query, self._since)
        page = scheduler.fetch(request)
        complete = page.is_whole
        if complete:
            self._changed.add(page)
        else:
            complete = self._read_many_changes(request.query, page)
        if self._differing:
            self._streams[0].store.merge(self._changed, self._differing)
        started = scheduler.take_earliest_time()
        if started is None:
            raise PagingError(
                f"{scheduler.schema.name}: a response lacks the server's time, so later changes can't be requested. "
                "Try again."
            )
        self._since = max(self._since, started - self._overlap)
        return complete

    def _read_many_changes(self, query: Query, first: Page) -> bool:
        """Read changes of more than a page; return whether no change can have been missed."""
        scheduler, created = self._scheduler, self._scheduler.schema.creation_sort
        if created:
            KeyRangeReader(scheduler, query, self._changed, sorts=[created]).read()
            return True
        read, before = scheduler.new_store(), self._changed.updates
        if scheduler.schema.date_sort:
            read_windows(scheduler, query, read, first)
            self._changed.merge(read)
        else:
            reader = KeyRangeReader(scheduler, query, read, first=first)
            complete = reader.read_first_sort()
            self._changed.merge(read)
            if not complete and (self._changed.updates > before or len(read) != first.total):
                reader.read()
                self._changed.merge(read)
        # As many as the first page counted, and each was known before: this is the state at that page's instant.
        return self._changed.updates == before and len(read) == first.total

    def _too_few(self, here: int, there: int) -> PagingError:
        return PagingError(
            f"{self._scheduler.schema.name}: {here} of the {there} records that the server counts were received, "
            f"{MOST_EXCEEDED} times in a row, so the list can't be shown to be complete. Try again in a few minutes."
        )


def _combine_queries(queries: Sequence[Query]) -> tuple[Query, dict[str, frozenset[str]]]:
    """Return the parameters that the queries have in common, and the values of the others, by parameter."""
    common = tuple(pair for pair in queries[0] if all(pair in query for query in queries))
    names = {name for query in queries for name, _ in query if (name, parameter(query, name)) not in common}
    return common, {name: frozenset((parameter(query, name) or "").casefold() for query in queries) for name in names}
