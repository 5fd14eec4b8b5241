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
from billframes.paging.changes import ChangeReader, Stream, walk
from billframes.paging.list_schema import ListSchema, Query
from billframes.paging.offset_pages import read_pages
from billframes.paging.page import Pack, Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import RawPage, Scheduler, ThreadTransport, Transport
from billframes.paging.undated import read_undated
from billframes.schema.decode import ListBody

__all__ = ["ListReader", "LoadResult"]

OVERLAP = dt.timedelta(seconds=60)
# Fewer rows than this an answer prove too little: the next could hardly go on from them.
LEAST_PAGE = 4
TRIES = 3


@dataclass(slots=True)
class LoadResult:
    """
    What a load brought: blocks, which of their rows count, how many requests it took, and what may be said of it.

    `rows` are numbered through all blocks, in the order the records first came.
    """

    blocks: list[Any] = field(default_factory=list)
    rows: pa.Array = field(default_factory=lambda: pa.array([], pa.int64()))
    requests: int = 0
    proof: str = "snapshot"


@dataclass(frozen=True, slots=True)
class ListReader:
    """
    Reads lists.

    Parameters
    ----------
    fetch : callable
        Sends a query and returns the answer; called from several threads.
    decode : callable
        Turns a body into a `ListBody`; called from one.
    pack : callable
        Packs the records of a page into a `RecordBlock`.
    schema : ListSchema
        What is read.
    page_size : int
        Records to ask for at once.
    concurrency : int
        Most requests under way at once.
    progress : callable
        Told how many records came, and of how many; never fewer than before, and all at the end.
    overlap : timedelta
        How far before its time of asking a change is still looked for: for clocks, replicas and late commits.
    transport : callable, optional
        Returns the wire in place of a pool of threads that fetch.
    """

    fetch: Callable[[Query], RawPage]
    decode: Callable[[bytes], ListBody[Any]]
    pack: Pack
    schema: ListSchema
    page_size: int
    concurrency: int
    progress: Callable[[int, int], None]
    overlap: dt.timedelta = OVERLAP
    transport: Callable[[], Transport] | None = None

    def read(self, queries: Sequence[Query], limit: int | None = None) -> LoadResult:
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
        streams = [Stream(query, RecordStore(self.schema)) for query in queries]
        meter = _ProgressMeter(self.progress, streams)
        transport = self.transport() if self.transport else ThreadTransport(self.fetch, self.concurrency)
        scheduler = Scheduler(
            transport,
            self.decode,
            self.pack,
            self.schema,
            page_size=self.page_size,
            concurrency=self.concurrency,
            report=meter.report,
        )
        try:
            proof = _Strategy(scheduler, streams, limit, self.overlap, meter).read()
        finally:
            transport.close()
        meter.end()
        together = streams[0].store if streams else RecordStore(self.schema)
        for stream in streams[1:]:
            together.merge(stream.store)
        rows = pa.array(together.positions.values(), pa.int64(), size=len(together))
        return LoadResult(together.blocks, rows, scheduler.requests, proof)


class _ProgressMeter:
    """How far a load is: never back, and whole at the end."""

    def __init__(self, progress: Callable[[int, int], None], streams: list[Stream]) -> None:
        self._progress = progress
        self._streams = streams
        self._done = 0
        self.total = 0

    def report(self) -> None:
        """Tell how many records are here."""
        if self.total:
            here = sum(len(stream.store) for stream in self._streams)
            self._done = max(self._done, min(here, self.total))
            self._progress(self._done, self.total)

    def end(self) -> None:
        """Tell that all are here."""
        self._progress(self.total, self.total)


class _Strategy:
    """One load: the streams, and how each is read."""

    def __init__(
        self,
        scheduler: Scheduler,
        streams: list[Stream],
        limit: int | None,
        overlap: dt.timedelta,
        meter: _ProgressMeter,
    ) -> None:
        self._scheduler = scheduler
        self._streams = streams
        self._limit = limit
        self._overlap = overlap
        self._meter = meter

    def read(self) -> str:
        """Read all streams; return what may be said of them."""
        first_pages = self._scheduler.fetch_all([self._first(stream) for stream in self._streams])
        self._meter.total = sum(self._expected(page) for page in first_pages)
        instants = [self._begin(stream, page) for stream, page in zip(self._streams, first_pages, strict=True)]
        self._meter.report()
        if all(instants) and len(instants) <= 1:
            return "snapshot"
        if all(map(self._walkable, first_pages)):
            return self._proved(instants, first_pages)
        return self._counted(instants, first_pages)

    def _first(self, stream: Stream) -> PageRequest:
        if not self._scheduler.schema.resource.paginated:
            return PageRequest(stream.query)
        size = self._scheduler.page_size
        return PageRequest(stream.query, size if self._limit is None else min(size, self._limit))

    def _expected(self, page: Page) -> int:
        total = len(page.records) if page.total is None else page.total
        return total if self._limit is None else min(total, self._limit)

    def _begin(self, stream: Stream, page: Page) -> bool:
        """Keep a first answer that is all that is wanted of its list; tell whether it is."""
        unpaged = page.total is None and not self._scheduler.schema.resource.paginated
        enough = self._limit is not None and len(page.records) >= self._limit
        if page.is_whole or unpaged or enough:
            stream.store.add(page)
            return True
        return False

    def _walkable(self, page: Page) -> bool:
        """Tell whether a list is wanted whole, and is one that can be walked."""
        schema = self._scheduler.schema
        if page.total is None or not schema.provable or not schema.resource.paginated:
            return False
        return self._limit is None or page.total <= self._limit

    def _counted(self, instants: list[bool], first_pages: list[Page]) -> str:
        for stream, page, instant in zip(self._streams, first_pages, instants, strict=True):
            if not instant:
                read_pages(self._scheduler, stream.query, stream.store, page, self._limit)
        return "counted"

    def _proved(self, instants: list[bool], first_pages: list[Page]) -> str:
        self._scheduler.page_size = max(self._scheduler.page_size, LEAST_PAGE)
        if len(self._streams) == 1 and not self._scheduler.schema.date_sort:
            (stream,) = self._streams
            read = read_undated(self._scheduler, stream.query, stream.store, self._overlap, first_pages[0])
            stream.store = read.store
            return "snapshot" if read.quiet else self._settled([False], read.count, read.started)
        counted = None
        for stream, page, instant in zip(self._streams, first_pages, instants, strict=True):
            if not instant:
                counted = walk(self._scheduler, stream.query, stream.store, page)
        return self._settled(instants, counted, self._scheduler.started())

    def _settled(self, instants: list[bool], counted: int | None, started: dt.datetime | None) -> str:
        queries = [stream.query for stream in self._streams]
        shows_modified = all(stream.store.shows_modified for stream in self._streams)
        if started is None or not shows_modified or not ChangeReader.can_combine(self._scheduler.schema, queries):
            return self._count_alone(instants)
        return ChangeReader(self._scheduler, self._streams, started, self._overlap).prove(counted)

    def _count_alone(self, instants: list[bool]) -> str:
        """Hold the walked lists against the server's count, and read again where they differ."""
        for stream, instant in zip(self._streams, instants, strict=True):
            for _ in range(TRIES if not instant else 0):
                total = self._scheduler.count(stream.query)
                if total == len(stream.store):
                    break
                stream.store = self._scheduler.new_store()
                walk(self._scheduler, stream.query, stream.store)
            else:
                if not instant:
                    raise PagingError(
                        f"{self._scheduler.schema.name}: the list changed while it was read, {TRIES} times in a row, "
                        "so it can't be shown to be complete. Try again when fewer people are writing, or with "
                        'select="meta" among the details.'
                    )
        return "counted"
