"""Catch-up and count: what changed while a list was read, and whether the result is what the server held at once.

A walk over windows or tiles has every record that stayed as it was. One that changed meanwhile may have moved from
where nobody had looked yet to where somebody had. `modifiedSince` finds it, asked from the server's time before the
walk less an overlap for clocks, replicas and commits that become visible late; asked again from each round's own
beginning until one answer is short, because one answer is one instant. Then the result is *complete*. A longer list of
changes is one instant, too, if it brings nothing new and as many records as its first answer counted: each of them was
known before that answer and is still the same after it, so it was the same at that instant, and there was no other. So
a load ends although more than a page was changed just before it. A longer answer
about time entries is read by key cover sorted by creation and needs no other round: a record stays among the changed,
and the instant of its creation never changes, so no edit can move it out of sight while the changed are read.

A count between two catch-ups that bring nothing new, and equal to what is here, makes it a *snapshot*: nothing was
added or changed around that instant, so nothing here was deleted before it either. On a busy list two such counts in a
row are asked for, since a record created and deleted between two catch-ups can stand in for a deleted one.

Where every answer of the walk was about the whole list and counted the same, as many as came, and the first catch-up
brings nothing new, no other count is needed: whatever was there at the walk's last answer is here.

Several lists put together (one for each id of a list of ids) are caught up after all of them were walked, by one query
that leaves out what they differ in; of its rows those are taken that one of the lists would hold. So a record that
moves from one list to another can't slip between two answers. They are complete, and not counted one by one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from billframes.errors import PagingError
from billframes.paging.date_windows import read_windows
from billframes.paging.deletions import remove_deleted
from billframes.paging.key_ranges import KeyRangeReader, read_key_ranges
from billframes.paging.list_schema import ListSchema, Query, parameter
from billframes.paging.page import Page
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler
from billframes.paging.undated import changes_request

__all__ = ["ChangeReader", "Stream", "walk"]

# Rounds of one catch-up, counts of one load, and counts that may find more there than here.
ROUNDS = 8
COUNTS = 6
SMALLER = 3


@dataclass(slots=True)
class Stream:
    """One query's list: what it asks for and what came."""

    query: Query
    store: RecordStore


def walk(scheduler: Scheduler, query: Query, store: RecordStore, first: Page | None = None) -> int | None:
    """
    Read a list in the way that proves it: by date windows where it has dates, else by key cover.

    Returns the list's length where the server counted the same in every answer.
    """
    if scheduler.schema.date_sort:
        return read_windows(scheduler, query, store, first)
    return read_key_ranges(scheduler, query, scheduler.schema.key_sorts, store, first=first)


class ChangeReader:
    """
    Catches lists up.

    Parameters
    ----------
    scheduler : Scheduler
    streams : list of Stream
        Walked before.
    started : datetime
        The server's time when the walk began.
    overlap : timedelta
        How far before its time of asking a change is still looked for.
    """

    def __init__(
        self, scheduler: Scheduler, streams: list[Stream], started: dt.datetime, overlap: dt.timedelta
    ) -> None:
        self._scheduler = scheduler
        self._streams = streams
        self._overlap = overlap
        self._mark = started - overlap
        self._query, self._differing = _combine_queries([stream.query for stream in streams])
        # What changed goes to the first list; where they are put together the newest version wins.
        self._changed = scheduler.new_store() if self._differing else streams[0].store

    @staticmethod
    def can_combine(schema: ListSchema, queries: Sequence[Query]) -> bool:
        """Tell whether lists can be caught up as one: whether their rows show what they differ in."""
        return set(_combine_queries(queries)[1]) <= schema.shown.keys()

    def prove(self, counted: int | None = None) -> str:
        """
        Catch up and, where one list was read, count.

        Parameters
        ----------
        counted : int, optional
            The list's length, where every answer of the walk said the same.

        Returns
        -------
        {"snapshot", "complete"}

        Raises
        ------
        PagingError
            More changes come than can be read, or the server counts more records than it hands out.
        """
        busy = self._catch_up()
        if len(self._streams) > 1:
            return "complete"
        store, agreed, smaller = self._streams[0].store, 0, 0
        if not busy and counted == len(store):
            return "snapshot"
        for _ in range(COUNTS):
            total = self._scheduler.count(self._streams[0].query)
            if self._catch_up():
                busy, agreed = True, 0
            elif total == len(store):
                agreed += 1
                if agreed > busy:
                    return "snapshot"
            else:
                busy, agreed = True, 0
                smaller += total > len(store)
                if smaller == SMALLER:
                    raise self._too_few(len(store), total)
                if total < len(store) and not self._remove_deleted(len(store) - total):
                    break
        self._catch_up()
        return "complete"

    def _remove_deleted(self, missing: int) -> bool:
        stream = self._streams[0]
        # Looking for more than a reload costs is no use.
        budget = len(stream.store) // self._scheduler.page_size + 10
        return remove_deleted(self._scheduler, stream.query, stream.store, missing, budget, self._overlap)

    def _catch_up(self) -> bool:
        """Take in what changed since the last mark; tell whether anything did."""
        before = self._updates()
        for _ in range(ROUNDS):
            if self._round():
                return self._updates() > before
        raise PagingError(
            f"{self._scheduler.schema.name}: records change faster than they can be read, so the list can't be shown "
            f"to be complete. Try again when fewer people are writing, or {self._scheduler.schema.smaller}."
        )

    def _updates(self) -> int:
        return sum(stream.store.updates for stream in self._streams)

    def _round(self) -> bool:
        """Ask for what changed since the mark, move the mark, and tell whether nothing can have slipped by."""
        scheduler = self._scheduler
        scheduler.started()
        request = changes_request(scheduler, self._query, self._mark)
        page = scheduler.fetch(request)
        sure = page.is_whole
        if sure:
            self._changed.add(page)
        else:
            sure = self._read_many_changes(request.query, page)
        if self._differing:
            self._streams[0].store.merge(self._changed, self._differing)
        started = scheduler.started()
        if started is None:
            raise PagingError(f"{scheduler.schema.name}: the server stopped saying what time it is; try again.")
        self._mark = max(self._mark, started - self._overlap)
        return sure

    def _read_many_changes(self, query: Query, first: Page) -> bool:
        """Read changes that are more than a page; tell whether nothing can have slipped by."""
        scheduler, created = self._scheduler, self._scheduler.schema.creation_sort
        if created:
            read_key_ranges(scheduler, query, (created,), self._changed)
            return True
        read, before = scheduler.new_store(), self._changed.updates
        if scheduler.schema.date_sort:
            read_windows(scheduler, query, read, first)
            self._changed.merge(read)
        else:
            reader = KeyRangeReader(scheduler, query, scheduler.schema.key_sorts, read, first=first)
            complete = reader.read_first_sort()
            self._changed.merge(read)
            if not complete and (self._changed.updates > before or len(read) != first.total):
                reader.read()
                self._changed.merge(read)
        # As many as the first answer counted, each known from before it: they are what was there at that instant.
        return self._changed.updates == before and len(read) == first.total

    def _too_few(self, here: int, there: int) -> PagingError:
        return PagingError(
            f"{self._scheduler.schema.name}: {here} records came of {there} that the server counts, {SMALLER} times in "
            "a row, so the list can't be shown to be complete. Try again in a few minutes."
        )


def _combine_queries(queries: Sequence[Query]) -> tuple[Query, dict[str, frozenset[str]]]:
    """Return what queries have in common, and the values they differ in, by parameter."""
    common = tuple(pair for pair in queries[0] if all(pair in query for query in queries))
    names = {name for query in queries for name, _ in query if (name, parameter(query, name)) not in common}
    return common, {name: frozenset((parameter(query, name) or "").casefold() for query in queries) for name in names}
