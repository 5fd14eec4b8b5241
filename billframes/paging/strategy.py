"""Choose how to read a list, and what can be claimed of the result.

A response that holds the whole list is the list at one instant: a `snapshot` for one request. A longer list is read by
date windows or key ranges and caught up; it is `complete`, or a `snapshot` if the count agrees. The rest is `counted`:

- The first rows of a longer list, lists without `total`, and lists whose order only the server knows are read by plain
  pages.
- If rows have no metadata, or the server does not state its time, or several lists are read whose rows don't show
  what they differ in (matters by assigned user, invoices by matter), the lists are read by windows or key ranges and
  counted. Then records that stay unchanged can't be missed; one that changes while the list is read can be.
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
# Pages with fewer rows than this prove too little to continue from.
LEAST_PAGE = 4
TRIES = 3


@dataclass(slots=True)
class LoadResult:
    """
    The result of a load: packed pages, the rows of them that count, the number of requests, and what is proved.

    `rows` are numbered through all blocks, in the order the records were first received.
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
        Sends a query and returns the response; called from several threads.
    decode : callable
        Turns a body into a `ListBody`; called from one.
    pack : callable
        Packs the records of a page into a `RecordBlock`.
    schema : ListSchema
        The list to read.
    page_size : int
        Records to request at once.
    concurrency : int
        Most requests under way at once.
    progress : callable
        Called with the number of records received and the total; the number never falls, and equals the total at
        the end.
    overlap : timedelta
        How far before the previous request changes are looked for, because of clocks, replicas and late commits.
    transport : callable, optional
        Returns the transport to use instead of `ThreadTransport`.
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
        Read the lists of the queries and merge them.

        Parameters
        ----------
        queries : sequence of query
            One for each list. If several lists hold a record, its newest version is taken.
        limit : int, optional
            Number of records wanted of each list; None is all.

        Raises
        ------
        PagingError
            A list can't be proved complete.
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
    """Reports progress that never falls and ends at the total."""

    def __init__(self, progress: Callable[[int, int], None], streams: list[Stream]) -> None:
        self._progress = progress
        self._streams = streams
        self._done = 0
        self.total = 0

    def report(self) -> None:
        """Report the number of records received."""
        if self.total:
            here = sum(len(stream.store) for stream in self._streams)
            self._done = max(self._done, min(here, self.total))
            self._progress(self._done, self.total)

    def end(self) -> None:
        """Report that all were received."""
        self._progress(self.total, self.total)


class _Strategy:
    """Chooses how to read the lists of one load."""

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
        """Read all lists; return what is proved of them."""
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
        """Keep a first page if it is all that is wanted of its list; return whether it is."""
        unpaged = page.total is None and not self._scheduler.schema.resource.paginated
        enough = self._limit is not None and len(page.records) >= self._limit
        if page.is_whole or unpaged or enough:
            stream.store.add(page)
            return True
        return False

    def _walkable(self, page: Page) -> bool:
        """Return whether the whole list is wanted, and can be read by windows or key ranges."""
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
        """Compare each list with the server's count, and read it again if they differ."""
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
