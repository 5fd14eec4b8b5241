"""Send the requests of one load side by side, and check their pages one at a time.

Threads fetch the pages, and the caller's thread decodes them, because several decoding threads would compete for the
interpreter lock. The threads belong to the transport. The simulation replaces it to choose the order of requests and
responses.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

from billframes._shared.forks import Process, check_own
from billframes.errors import BillframesError, DecodeError, PagingError
from billframes.paging.list_schema import ListSchema, Query
from billframes.paging.page import Pack, Page, PageRequest, check_page
from billframes.paging.record_store import RecordStore
from billframes.schema.decode import ListBody
from billframes.transport.connections import POLL_SECONDS
from billframes.transport.request import Response

Q = TypeVar("Q")
A = TypeVar("A")
# Requests given to the transport for each connection: one under way and one waiting, so that no connection is idle
# while pages are processed.
AHEAD = 2


class ThreadTransport(Generic[Q, A]):
    """Sends requests from daemon threads, so that neither Ctrl-C nor the end of the process waits for a response."""

    def __init__(self, fetch: Callable[[Q], A], concurrency: int) -> None:
        self._fetch = fetch
        self._most = concurrency
        self._process = Process.current()
        self._threads = 0
        self._under_way = 0
        self._queries: SimpleQueue[tuple[int, Q] | None] = SimpleQueue()
        self._results: SimpleQueue[tuple[int, A | BaseException]] = SimpleQueue()

    def send(self, ticket: int, query: Q) -> None:
        """Send a query from one of the threads."""
        self._under_way += 1
        if self._threads < min(self._under_way, self._most):
            self._threads += 1
            Thread(target=self._work, name=f"billframes {self._threads}", daemon=True).start()
        self._queries.put((ticket, query))

    def receive(self) -> tuple[int, A | BaseException]:
        """Wait for the next response, or the error that it ended with."""
        while True:
            try:
                ticket, result = self._results.get(timeout=POLL_SECONDS)
            except Empty:
                check_own(self._process, "began this load")
                continue
            self._under_way -= 1
            return ticket, result

    def close(self) -> None:
        """End the threads; queries that are not sent yet are dropped."""
        while not self._queries.empty():
            with suppress(Empty):
                self._queries.get_nowait()
        for _ in range(self._threads):
            self._queries.put(None)

    def _work(self) -> None:
        while (item := self._queries.get()) is not None:
            ticket, query = item
            try:
                self._results.put((ticket, self._fetch(query)))
            except BaseException as error:  # noqa: BLE001 - `run` raises it
                self._results.put((ticket, error))


class Scheduler:
    """
    Sends the requests of one load and checks the pages.

    `pack` raises `DecodeError` if a record breaks the API's description. `page_size` is reduced to the limit that the
    server grants. `report` is called after each page. `last_sort` is the sort by which key ranges last read a list of
    this load.
    """

    def __init__(
        self,
        transport: ThreadTransport[Query, Response],
        decode: Callable[[bytes], ListBody[Any]],
        pack: Pack,
        schema: ListSchema,
        *,
        page_size: int,
        concurrency: int,
        report: Callable[[], None],
    ) -> None:
        self.schema = schema
        self.page_size = page_size
        self.concurrency = concurrency
        self.requests = 0
        self.last_sort: tuple[str, ...] | None = None
        self._transport = transport
        self._decode = decode
        self._pack = pack
        self._report = report
        self._dates: list[dt.datetime | None] = []
        # Whether responses state a total; then all of them must.
        self._is_paged = False

    def new_store(self) -> RecordStore:
        """Return an empty store for the list's records."""
        return RecordStore(self.schema)

    def run(
        self,
        requests: Iterable[PageRequest],
        handle: Callable[[PageRequest, Page], Iterable[PageRequest]],
        more: Callable[[], PageRequest | None] = lambda: None,
    ) -> None:
        """
        Send requests until no more follow: those that `handle` returns for a page, and `more` while a connection is
        idle. `requests` are taken only when they can be sent.
        """
        waiting, queue, under_way = iter(requests), deque[PageRequest](), dict[int, tuple[PageRequest, int]]()

        def send(request: PageRequest, tries: int) -> None:
            self.requests += 1
            under_way[self.requests] = (request, tries)
            self._transport.send(self.requests, request.full_query)

        while True:
            while len(under_way) < AHEAD * self.concurrency and (
                request := queue.popleft() if queue else next(waiting, None)
            ):
                send(request, 1)
            while len(under_way) < self.concurrency and (request := more()):
                send(request, 1)
            if not under_way:
                return
            ticket, raw = self._transport.receive()
            if ticket not in under_way:
                # It belongs to a run that an error ended.
                continue
            if isinstance(raw, BaseException):
                raise raw
            request, tries = under_way.pop(ticket)
            page = self._checked(request, raw, tries)
            if page is None:
                send(request, tries + 1)
                continue
            queue.extend(handle(request, page))
            self._report()

    def fetch(self, request: PageRequest) -> Page:
        """Send one request and return its page."""
        return self.fetch_all([request])[0]

    def fetch_all(self, requests: list[PageRequest]) -> list[Page]:
        """Send requests side by side; return their pages in the order of the requests."""
        pages: dict[int, Page] = {}

        def handle(request: PageRequest, page: Page) -> tuple[PageRequest, ...]:
            pages[next(i for i, each in enumerate(requests) if each is request)] = page
            return ()

        self.run(requests, handle)
        return [pages[i] for i in range(len(requests))]

    def count(self, query: Query, added_filters: Query = ()) -> int:
        """Return how many records match."""
        total = self.fetch(PageRequest(query, 1, added_filters=added_filters)).total
        if total is None:
            raise self._no_total()
        return total

    def _no_total(self) -> PagingError:
        return PagingError(
            f"{self.schema.name}: a response lacks the total, so the list can't be shown to be complete. Try again."
        )

    def take_earliest_time(self) -> dt.datetime | None:
        """Return the earliest server time of the responses since the last call; None if one lacks it."""
        dates, self._dates = self._dates, []
        known = [date for date in dates if date is not None]
        return min(known) if known and len(known) == len(dates) else None

    def _checked(self, request: PageRequest, raw: Response, tries: int) -> Page | None:
        """Return the page if it passes the checks; None if it should be requested again."""
        wrong: BillframesError | None
        try:
            page = Page(self._decode(raw.body), self.schema, raw.date, request.offset)
            wrong = check_page(request, page)
            if self._is_paged and page.total is None:
                wrong = wrong or self._no_total()
            if wrong is None:
                page.block = self._pack(page.records)
        except DecodeError as error:
            wrong = error
        if wrong is not None and tries > 1:
            raise wrong
        if wrong is not None:
            return None
        self._is_paged = page.total is not None
        self._dates.append(raw.date)
        if page.granted_limit and page.granted_limit < (request.limit or self.page_size):
            # The server grants fewer rows, or pages a list without a limit: that is the page size from now on.
            self.page_size = page.granted_limit
        return page
