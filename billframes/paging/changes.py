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
from billframes.paging.deletions import drop_gone
from billframes.paging.key_ranges import Covering, read_cover
from billframes.paging.list_schema import Listing, Query, asked
from billframes.paging.page import Answer
from billframes.paging.record_store import Held
from billframes.paging.scheduler import Session
from billframes.paging.undated import since

__all__ = ["Catcher", "Stream", "walk"]

# Rounds of one catch-up, counts of one load, and counts that may find more there than here.
ROUNDS = 8
COUNTS = 6
SMALLER = 3


@dataclass(slots=True)
class Stream:
    """One query's list: what it asks for and what came."""

    query: Query
    held: Held


def walk(session: Session, query: Query, held: Held, first: Answer | None = None) -> int | None:
    """
    Read a list in the way that proves it: by date windows where it has dates, else by key cover.

    Returns the list's length where the server counted the same in every answer.
    """
    if session.listing.date_sort:
        return read_windows(session, query, held, first)
    return read_cover(session, query, session.listing.covers, held, first=first)


class Catcher:
    """
    Catches lists up.

    Parameters
    ----------
    session : Session
    streams : list of Stream
        Walked before.
    started : datetime
        The server's time when the walk began.
    overlap : timedelta
        How far before its time of asking a change is still looked for.
    """

    def __init__(self, session: Session, streams: list[Stream], started: dt.datetime, overlap: dt.timedelta) -> None:
        self._session = session
        self._streams = streams
        self._overlap = overlap
        self._mark = started - overlap
        self._query, self._apart = _in_one([stream.query for stream in streams])
        # What changed goes to the first list; where they are put together the newest version wins.
        self._changed = session.held() if self._apart else streams[0].held

    @staticmethod
    def can(listing: Listing, queries: Sequence[Query]) -> bool:
        """Tell whether lists can be caught up as one: whether their rows show what they differ in."""
        return set(_in_one(queries)[1]) <= listing.shown.keys()

    def settle(self, counted: int | None = None) -> str:
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
        held, agreed, smaller = self._streams[0].held, 0, 0
        if not busy and counted == len(held):
            return "snapshot"
        for _ in range(COUNTS):
            total = self._session.count(self._streams[0].query)
            if self._catch_up():
                busy, agreed = True, 0
            elif total == len(held):
                agreed += 1
                if agreed > busy:
                    return "snapshot"
            else:
                busy, agreed = True, 0
                smaller += total > len(held)
                if smaller == SMALLER:
                    raise self._too_few(len(held), total)
                if total < len(held) and not self._drop_gone(len(held) - total):
                    break
        self._catch_up()
        return "complete"

    def _drop_gone(self, missing: int) -> bool:
        stream = self._streams[0]
        # Looking for more than a reload costs is no use.
        budget = len(stream.held) // self._session.page_size + 10
        return drop_gone(self._session, stream.query, stream.held, missing, budget, self._overlap)

    def _catch_up(self) -> bool:
        """Take in what changed since the last mark; tell whether anything did."""
        before = self._news()
        for _ in range(ROUNDS):
            if self._round():
                return self._news() > before
        raise PagingError(
            f"{self._session.listing.name}: records change faster than they can be read, so the list can't be shown to "
            f"be complete. Try again when fewer people are writing, or {self._session.listing.smaller}."
        )

    def _news(self) -> int:
        return sum(stream.held.news for stream in self._streams)

    def _round(self) -> bool:
        """Ask for what changed since the mark, move the mark, and tell whether nothing can have slipped by."""
        session = self._session
        session.started()
        ask = since(session, self._query, self._mark)
        answer = session.ask(ask)
        sure = answer.whole
        if sure:
            self._changed.take(answer)
        else:
            sure = self._longer(ask.query, answer)
        if self._apart:
            self._streams[0].held.adopt(self._changed, self._apart)
        started = session.started()
        if started is None:
            raise PagingError(f"{session.listing.name}: the server stopped saying what time it is; try again.")
        self._mark = max(self._mark, started - self._overlap)
        return sure

    def _longer(self, query: Query, first: Answer) -> bool:
        """Read changes that are more than a page; tell whether nothing can have slipped by."""
        session, created = self._session, self._session.listing.dense_cover
        if created:
            read_cover(session, query, (created,), self._changed)
            return True
        read, before = session.held(), self._changed.news
        if session.listing.date_sort:
            read_windows(session, query, read, first)
            self._changed.adopt(read)
        else:
            covering = Covering(session, query, session.listing.covers, read, first=first)
            covered = covering.look()
            self._changed.adopt(read)
            if not covered and (self._changed.news > before or len(read) != first.total):
                covering.read()
                self._changed.adopt(read)
        # As many as the first answer counted, each known from before it: they are what was there at that instant.
        return self._changed.news == before and len(read) == first.total

    def _too_few(self, here: int, there: int) -> PagingError:
        return PagingError(
            f"{self._session.listing.name}: {here} records came of {there} that the server counts, {SMALLER} times in "
            "a row, so the list can't be shown to be complete. Try again in a few minutes."
        )


def _in_one(queries: Sequence[Query]) -> tuple[Query, dict[str, frozenset[str]]]:
    """Return what queries have in common, and the values they differ in, by parameter."""
    common = tuple(pair for pair in queries[0] if all(pair in query for query in queries))
    names = {name for query in queries for name, _ in query if (name, asked(query, name)) not in common}
    return common, {name: frozenset((asked(query, name) or "").casefold() for query in queries) for name in names}
