"""Choose how to read a list, and determine what is proved of the result.

A response with the whole list is the list at one instant: a `snapshot` with one request. A longer list is read by date
windows or key ranges, and changes are added. It is then `complete`, or a `snapshot` if the count agrees. All other
lists are `counted`:

- The first rows of a longer list, lists without `total`, and lists whose order only the server knows are read by plain
  pages.
- Lists are read by windows or key ranges and counted if their rows have no metadata, if the server does not state its
  time, or if several lists are read and the rows don't show to which list they belong (matters by assigned user,
  invoices by matter). Records that stay unchanged can't be missed then. A record that changes during the load can be.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from billframes.errors import PagingError
from billframes.paging.changes import ChangeReader, Stream, read_list
from billframes.paging.list_schema import ListSchema, Query
from billframes.paging.offset_pages import read_pages
from billframes.paging.page import Pack, Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler, ThreadTransport
from billframes.paging.undated import read_undated
from billframes.schema.decode import ListBody
from billframes.transport.request import Response

OVERLAP = dt.timedelta(seconds=60)
# Pages with fewer rows than this prove too little to make progress.
LEAST_PAGE = 4
TRIES = 3


@dataclass(slots=True)
class LoadResult:
    """
    The result of a load: packed pages, the numbers of the rows to use, the number of requests, and the proof.

    `rows` are numbered through all blocks, and are in the order in which the records were first received.
    """

    blocks: list[Any] = field(default_factory=list)
    rows: pa.Array = field(default_factory=lambda: pa.array([], pa.int64()))
    requests: int = 0
    proof: str = "snapshot"


@dataclass(frozen=True, slots=True)
class ListReader:
    """
    Reads lists.

    `fetch` is called from several threads, `decode` from one. `progress` is called with the number of records received
    and the total; the number never decreases, and equals the total at the end.
    """

    fetch: Callable[[Query], Response]
    decode: Callable[[bytes], ListBody[Any]]
    pack: Pack
    schema: ListSchema
    page_size: int
    concurrency: int
    progress: Callable[[int, int], None]
    overlap: dt.timedelta = OVERLAP
    transport: Callable[[], ThreadTransport[Query, Response]] | None = None

    def read(self, queries: Sequence[Query], limit: int | None = None) -> LoadResult:
        """
        Read the lists of the queries and merge them; if a record is in several, its newest version is used.

        At most `limit` records of each list are read. Raise `PagingError` if a list can't be proved complete.
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
        merged = streams[0].store if streams else RecordStore(self.schema)
        for stream in streams[1:]:
            merged.merge(stream.store)
        rows = pa.array(merged.positions.values(), pa.int64(), size=len(merged))
        return LoadResult(merged.blocks, rows, scheduler.requests, proof)


class _ProgressMeter:
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
        """Report that all records were received."""
        self._progress(self.total, self.total)


class _Strategy:
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
        """Read all lists; return the proof: "snapshot", "complete" or "counted"."""
        first_pages = self._scheduler.fetch_all([self._first_request(stream) for stream in self._streams])
        self._meter.total = sum(self._wanted_rows(page) for page in first_pages)
        for stream, page in zip(self._streams, first_pages, strict=True):
            stream.done = self._is_enough(page)
            if stream.done:
                stream.store.add(page)
        self._meter.report()
        if len(self._streams) <= 1 and all(stream.done for stream in self._streams):
            return "snapshot"
        remaining = [(stream, page) for stream, page in zip(self._streams, first_pages, strict=True) if not stream.done]
        if all(map(self._can_prove, first_pages)):
            return self._prove(remaining)
        for stream, page in remaining:
            read_pages(self._scheduler, stream.query, stream.store, page, self._limit)
        return "counted"

    def _first_request(self, stream: Stream) -> PageRequest:
        if not self._scheduler.schema.resource.paginated:
            return PageRequest(stream.query)
        size = self._scheduler.page_size
        return PageRequest(stream.query, size if self._limit is None else min(size, self._limit))

    def _wanted_rows(self, page: Page) -> int:
        total = len(page.records) if page.total is None else page.total
        return total if self._limit is None else min(total, self._limit)

    def _is_enough(self, page: Page) -> bool:
        unpaged = page.total is None and not self._scheduler.schema.resource.paginated
        return page.is_whole or unpaged or (self._limit is not None and len(page.records) >= self._limit)

    def _can_prove(self, page: Page) -> bool:
        schema = self._scheduler.schema
        if page.total is None or not schema.provable or not schema.resource.paginated:
            return False
        return self._limit is None or page.total <= self._limit

    def _prove(self, remaining: list[tuple[Stream, Page]]) -> str:
        """Read the remaining lists, given with their first pages; return the proof."""
        self._scheduler.page_size = max(self._scheduler.page_size, LEAST_PAGE)
        if len(self._streams) == 1 and not self._scheduler.schema.date_sort:
            ((stream, page),) = remaining
            result = read_undated(self._scheduler, stream.query, stream.store, self._overlap, page)
            stream.store = result.store
            return "snapshot" if result.quiet else self._catch_up(result.count, result.started)
        counted = None
        for stream, page in remaining:
            counted = read_list(self._scheduler, stream.query, stream.store, page)
        return self._catch_up(counted, self._scheduler.take_earliest_time())

    def _catch_up(self, counted: int | None, started: dt.datetime | None) -> str:
        """Add what changed since `started`, or only count if that is not possible; return the proof."""
        queries = [stream.query for stream in self._streams]
        shows_modified = all(stream.store.shows_modified for stream in self._streams)
        if started is None or not shows_modified or not ChangeReader.can_combine(self._scheduler.schema, queries):
            return self._count()
        return ChangeReader(self._scheduler, self._streams, started, self._overlap).prove(counted)

    def _count(self) -> str:
        """Compare the number of records of each list with the server's count; read it again if they differ."""
        for stream in self._streams:
            for _ in range(0 if stream.done else TRIES):
                if self._scheduler.count(stream.query) == len(stream.store):
                    stream.done = True
                    break
                stream.store = self._scheduler.new_store()
                read_list(self._scheduler, stream.query, stream.store)
            if not stream.done:
                raise PagingError(
                    f"{self._scheduler.schema.name}: the list changed while it was read, {TRIES} times in a row, so it "
                    'can\'t be shown to be complete. Try again when fewer people are writing, or include "meta" in '
                    "select=."
                )
        return "counted"
