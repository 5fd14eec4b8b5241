"""Which way a list is read, and what may be said of the result.

One answer that holds everything is the list at one instant: a `snapshot` for one request. A longer list is walked by
date windows or key cover and caught up; it is `complete`, or a `snapshot` where the count agrees. What can't be walked
or caught up is `counted`:

- the first rows of a longer list, lists without `total`, and lists whose order only the server knows are read by plain
  pages;
- lists whose rows bring no metadata, or whose server does not say what time it is, and several lists whose rows don't
  show what they differ in (matters by assigned user, invoices by matter), are walked and counted. Records that stay as
  they are can't be missed then; one that is changed while the list is read can be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from billframes.errors import PagingError
from billframes.paging.changes import Catcher, Stream, walk
from billframes.paging.list_schema import Listing, Query
from billframes.paging.offset_pages import read_pages
from billframes.paging.page import Answer, Ask
from billframes.paging.record_store import Held, Pack
from billframes.paging.scheduler import Answered, Session, Threads, Wire
from billframes.paging.undated import read_undated
from billframes.schema.decode import Page

__all__ = ["Loaded", "Reader"]

OVERLAP = dt.timedelta(seconds=60)
# Fewer rows than this an answer prove too little: the next could hardly go on from them.
LEAST_PAGE = 4
TRIES = 3


@dataclass(slots=True)
class Loaded:
    """
    What a load brought: blocks, which of their rows count, how many requests it took, and what may be said of it.

    `rows` are numbered through all blocks, in the order the records first came.
    """

    blocks: list[Any] = field(default_factory=list)
    rows: pa.Array = field(default_factory=lambda: pa.array([], pa.int64()))
    requests: int = 0
    proof: str = "snapshot"


@dataclass(frozen=True, slots=True)
class Reader:
    """
    Reads lists.

    Parameters
    ----------
    fetch : callable
        Sends a query and returns the answer; called from several threads.
    decode : callable
        Turns a body into a `Page`; called from one.
    pack : callable
        Packs the records of a page into a `Block`.
    listing : Listing
        What is read.
    page_size : int
        Records to ask for at once.
    concurrency : int
        Most requests under way at once.
    progress : callable
        Told how many records came, and of how many; never fewer than before, and all at the end.
    overlap : timedelta
        How far before its time of asking a change is still looked for: for clocks, replicas and late commits.
    wire : callable, optional
        Returns the wire in place of a pool of threads that fetch.
    """

    fetch: Callable[[Query], Answered]
    decode: Callable[[bytes], Page[Any]]
    pack: Pack
    listing: Listing
    page_size: int
    concurrency: int
    progress: Callable[[int, int], None]
    overlap: dt.timedelta = OVERLAP
    wire: Callable[[], Wire] | None = None

    def read(self, queries: Sequence[Query], limit: int | None = None) -> Loaded:
        """
        Read the lists that the queries name, and put them together.

        Parameters
        ----------
        queries : sequence of query
            One a list; of a record that several lists hold the newest version is taken.
        limit : int, optional
            Records wanted of each list; None is all.

        Raises
        ------
        PagingError
            A list can't be shown to be complete.
        """
        streams = [Stream(query, Held(self.listing)) for query in queries]
        meter = _Meter(self.progress, streams)
        wire = self.wire() if self.wire else Threads(self.fetch, self.concurrency)
        session = Session(
            wire,
            self.decode,
            self.pack,
            self.listing,
            page_size=self.page_size,
            concurrency=self.concurrency,
            report=meter.report,
        )
        try:
            proof = _Load(session, streams, limit, self.overlap, meter).read()
        finally:
            wire.close()
        meter.end()
        together = streams[0].held if streams else Held(self.listing)
        for stream in streams[1:]:
            together.adopt(stream.held)
        rows = pa.array(together.places.values(), pa.int64(), size=len(together))
        return Loaded(together.blocks, rows, session.requests, proof)


class _Meter:
    """How far a load is: never back, and whole at the end."""

    def __init__(self, progress: Callable[[int, int], None], streams: list[Stream]) -> None:
        self._progress = progress
        self._streams = streams
        self._done = 0
        self.total = 0

    def report(self) -> None:
        """Tell how many records are here."""
        if self.total:
            here = sum(len(stream.held) for stream in self._streams)
            self._done = max(self._done, min(here, self.total))
            self._progress(self._done, self.total)

    def end(self) -> None:
        """Tell that all are here."""
        self._progress(self.total, self.total)


class _Load:
    """One load: the streams, and how each is read."""

    def __init__(
        self, session: Session, streams: list[Stream], limit: int | None, overlap: dt.timedelta, meter: _Meter
    ) -> None:
        self._session = session
        self._streams = streams
        self._limit = limit
        self._overlap = overlap
        self._meter = meter

    def read(self) -> str:
        """Read all streams; return what may be said of them."""
        firsts = self._session.ask_all([self._first(stream) for stream in self._streams])
        self._meter.total = sum(self._expected(answer) for answer in firsts)
        instants = [self._begin(stream, answer) for stream, answer in zip(self._streams, firsts, strict=True)]
        self._meter.report()
        if all(instants) and len(instants) <= 1:
            return "snapshot"
        if all(map(self._walkable, firsts)):
            return self._proved(instants, firsts)
        return self._counted(instants, firsts)

    def _first(self, stream: Stream) -> Ask:
        if not self._session.listing.resource.paginated:
            return Ask(stream.query)
        size = self._session.page_size
        return Ask(stream.query, size if self._limit is None else min(size, self._limit))

    def _expected(self, answer: Answer) -> int:
        total = len(answer.records) if answer.total is None else answer.total
        return total if self._limit is None else min(total, self._limit)

    def _begin(self, stream: Stream, answer: Answer) -> bool:
        """Keep a first answer that is all that is wanted of its list; tell whether it is."""
        unpaged = answer.total is None and not self._session.listing.resource.paginated
        enough = self._limit is not None and len(answer.records) >= self._limit
        if answer.whole or unpaged or enough:
            stream.held.take(answer)
            return True
        return False

    def _walkable(self, answer: Answer) -> bool:
        """Tell whether a list is wanted whole, and is one that can be walked."""
        listing = self._session.listing
        if answer.total is None or not listing.provable or not listing.resource.paginated:
            return False
        return self._limit is None or answer.total <= self._limit

    def _counted(self, instants: list[bool], firsts: list[Answer]) -> str:
        for stream, answer, instant in zip(self._streams, firsts, instants, strict=True):
            if not instant:
                read_pages(self._session, stream.query, stream.held, answer, self._limit)
        return "counted"

    def _proved(self, instants: list[bool], firsts: list[Answer]) -> str:
        self._session.page_size = max(self._session.page_size, LEAST_PAGE)
        if len(self._streams) == 1 and not self._session.listing.date_sort:
            (stream,) = self._streams
            read = read_undated(self._session, stream.query, stream.held, self._overlap, firsts[0])
            stream.held = read.held
            return "snapshot" if read.quiet else self._settled([False], read.count, read.started)
        counted = None
        for stream, answer, instant in zip(self._streams, firsts, instants, strict=True):
            if not instant:
                counted = walk(self._session, stream.query, stream.held, answer)
        return self._settled(instants, counted, self._session.started())

    def _settled(self, instants: list[bool], counted: int | None, started: dt.datetime | None) -> str:
        queries = [stream.query for stream in self._streams]
        dated = all(stream.held.dated for stream in self._streams)
        if started is None or not dated or not Catcher.can(self._session.listing, queries):
            return self._count_alone(instants)
        return Catcher(self._session, self._streams, started, self._overlap).settle(counted)

    def _count_alone(self, instants: list[bool]) -> str:
        """Hold the walked lists against the server's count, and read again where they differ."""
        for stream, instant in zip(self._streams, instants, strict=True):
            for _ in range(TRIES if not instant else 0):
                total = self._session.count(stream.query)
                if total == len(stream.held):
                    break
                stream.held = self._session.held()
                walk(self._session, stream.query, stream.held)
            else:
                if not instant:
                    raise PagingError(
                        f"{self._session.listing.name}: the list changed while it was read, {TRIES} times in a row, so "
                        "it can't be shown to be complete. Try again when fewer people are writing, or with "
                        'select="meta" among the details.'
                    )
        return "counted"
