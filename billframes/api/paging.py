"""Pages become one list that is known to be whole, or `PagingError`.

The API pages by offset and says how many records match (`total`). The first page is asked for alone; the pages
after it side by side, decoded one at a time in the caller's thread, because decoding in several threads fights
over the interpreter lock. What came is taken only if every page spoke of the same `total`, as many records came
as that, and no id came twice. A list that changed meanwhile is read again, three times at most.

A list that fits one page is what the server held at one instant (`snapshot`). One of several pages is `counted`:
on a server where others write at the same time, a record could in theory move unseen from one page to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from billframes.api.decoding import Page
from billframes.errors import DecodeError, PagingError

__all__ = ["Loaded", "Reader"]

Query = tuple[tuple[str, str], ...]
TRIES = 3


@dataclass(slots=True)
class Loaded:
    """The records of a load, how many requests it took, and how it is known to be whole."""

    records: list[Any] = field(default_factory=list)
    requests: int = 0
    proof: str = "snapshot"


class _ChangedError(Exception):
    """The list is not the one the first page was of; the message says how that showed."""


@dataclass(slots=True)
class _Stream:
    """One query's pages, as far as they have come."""

    query: Query
    wanted: int | None
    pages: dict[int, list[Any]] = field(default_factory=dict)
    under_way: set[int] = field(default_factory=set)
    total: int | None = None
    tries: int = 1

    @property
    def expected(self) -> int | None:
        """How many records there will be; None where the server does not say."""
        if self.total is None:
            return None
        return self.total if self.wanted is None else min(self.total, self.wanted)

    @property
    def records(self) -> list[Any]:
        """The records so far in the server's order, no more than wanted."""
        return [record for offset in sorted(self.pages) for record in self.pages[offset]][: self.wanted]

    @property
    def enough(self) -> bool:
        """Whether all the records wanted are here."""
        return self.wanted is not None and len(self.records) >= self.wanted

    def start_again(self) -> None:
        """Forget what came."""
        self.pages.clear()
        self.under_way.clear()
        self.total = None
        self.tries += 1


@dataclass(frozen=True, slots=True)
class Reader:
    """
    Reads lists page by page.

    Parameters
    ----------
    fetch : callable
        Sends a query and returns the body; called from several threads.
    decode : callable
        Turns a body into a `Page`; called from one.
    id_of : callable
        Returns a record's id.
    resource : str
        For messages.
    page_size : int or None
        Records to ask for at once; None sends no limit and offset (lists without pagination).
    concurrency : int
        Most requests under way at once.
    progress : callable
        Told how many records came, and of how many.
    """

    fetch: Callable[[Query], bytes]
    decode: Callable[[bytes], Page[Any]]
    id_of: Callable[[Any], str]
    resource: str
    page_size: int | None
    concurrency: int
    progress: Callable[[int, int], None]

    def read(self, queries: Sequence[Query], limit: int | None = None) -> Loaded:
        """
        Read the lists that the queries name, and put them together.

        Parameters
        ----------
        queries : sequence of query
            One a list; a record that several lists hold is taken once.
        limit : int, optional
            Records wanted of each list; None is all.

        Raises
        ------
        PagingError
            A list changed each time it was read.
        """
        loaded = Loaded()
        streams = [_Stream(query, limit) for query in queries]
        pool = ThreadPoolExecutor(self.concurrency, thread_name_prefix="billframes")
        try:
            self._drive(pool, streams, loaded)
        finally:
            # On Ctrl-C or an error, what has not been sent is not sent.
            pool.shutdown(wait=True, cancel_futures=True)
        loaded.records = self._together(streams)
        if any(len(stream.pages) > 1 for stream in streams):
            loaded.proof = "counted"
        return loaded

    def _drive(self, pool: ThreadPoolExecutor, streams: list[_Stream], loaded: Loaded) -> None:
        pending: dict[Future[bytes], tuple[_Stream, int]] = {}

        def ask(stream: _Stream, offset: int) -> None:
            query = (*stream.query, *self._paging(stream, offset))
            pending[pool.submit(self.fetch, query)] = (stream, offset)
            stream.under_way.add(offset)
            loaded.requests += 1

        for stream in streams:
            ask(stream, 0)
        while pending:
            for future in wait(pending, return_when=FIRST_COMPLETED).done & pending.keys():
                stream, offset = pending.pop(future)
                try:
                    following = self._take(stream, offset, self.decode(future.result()))
                except _ChangedError as change:
                    self._start_again(stream, change)
                    for stale in [each for each, (other, _) in pending.items() if other is stream]:
                        del pending[stale]
                    following = [0]
                for each in following:
                    ask(stream, each)
            self._report(streams)

    def _paging(self, stream: _Stream, offset: int) -> Query:
        if self.page_size is None and offset == 0:
            return ()
        size = self.page_size or 1000
        if stream.wanted is not None:
            size = max(1, min(size, stream.wanted - offset))
        return (("limit", str(size)), ("offset", str(offset)))

    def _take(self, stream: _Stream, offset: int, page: Page[Any]) -> list[int]:
        """Keep a page's records; return the offsets to ask for because of it."""
        records = page.data or []
        self._check(stream, offset, page)
        stream.under_way.discard(offset)
        stream.pages[offset] = records
        following = self._following(stream, offset, page)
        if not following and not stream.under_way:
            self._settle(stream)
        return following

    def _following(self, stream: _Stream, offset: int, page: Page[Any]) -> list[int]:
        came = len(page.data or ())
        if page.pagination is None:
            # Without a total, only an empty page shows the end; lists that are not paged are one answer.
            more = came and self.page_size is not None and not stream.enough
            return [offset + came] if more else []
        if offset == 0:
            return list(self._rest(stream, came, page.pagination.limit))
        return []

    def _rest(self, stream: _Stream, came: int, granted: int) -> Iterator[int]:
        expected = stream.expected or 0
        if came >= expected:
            return
        if not came:
            raise _ChangedError("the first page was empty although records match")
        # A server may grant less than was asked for; what it gave is the page size from then on.
        yield from range(came, expected, min(granted, came))

    def _check(self, stream: _Stream, offset: int, page: Page[Any]) -> None:
        where = page.pagination
        if where is None:
            return
        if where.offset != offset:
            raise DecodeError(
                f"{self.resource}: asked for the page at offset {offset}, the server sent the one at {where.offset}."
            )
        if stream.total is not None and where.total != stream.total:
            raise _ChangedError(f"the total went from {stream.total} to {where.total}")
        stream.total = where.total

    def _settle(self, stream: _Stream) -> None:
        """Check a list whose pages are all here: as many records as there should be, none twice."""
        records = stream.records
        if stream.expected is not None and len(records) != stream.expected:
            raise _ChangedError(f"{len(records)} records came of {stream.expected}")
        if len({self.id_of(record) for record in records}) < len(records):
            raise _ChangedError("a record came twice")

    def _start_again(self, stream: _Stream, change: _ChangedError) -> None:
        if stream.tries >= TRIES:
            raise PagingError(
                f"{self.resource}: the list changed while it was read, {TRIES} times in a row ({change}), so it "
                "can't be shown to be complete. Try again when fewer people are writing, or ask for a shorter period."
            ) from None
        stream.start_again()

    def _report(self, streams: list[_Stream]) -> None:
        came = sum(len(stream.records) for stream in streams)
        self.progress(came, sum(stream.expected or 0 for stream in streams))

    def _together(self, streams: list[_Stream]) -> list[Any]:
        return list({self.id_of(record): record for stream in streams for record in stream.records}.values())
