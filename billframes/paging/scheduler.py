"""One load's conversation with the server: several requests under way, answers taken one at a time.

Fetching is done in threads, decoding in the caller's, because decoding in several threads fights over the
interpreter lock. A `Wire` is where the threads are; a simulation puts another in its place and decides itself which
request the server sees when.
"""

from __future__ import annotations

import datetime as dt
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, Protocol, TypeVar

from billframes.errors import BillframesError, DecodeError, PagingError
from billframes.paging.list_schema import Listing, Query
from billframes.paging.page import Answer, Ask, check
from billframes.paging.record_store import Held, Pack
from billframes.schema.decode import Page
from billframes.transport.cancellation import PIECE

__all__ = ["Answered", "Session", "Threads", "Wire"]

Q = TypeVar("Q")
A = TypeVar("A")
# Asks handed to the wire, a connection: one to send, one that waits, so that none is idle while answers are taken.
AHEAD = 2


class Answered(Protocol):
    """An answer as it comes from the network: a body and, maybe, the server's time."""

    @property
    def body(self) -> bytes:
        """The answer's bytes."""

    @property
    def date(self) -> dt.datetime | None:
        """The `Date` header."""


class Wire(Protocol):
    """Where requests go and answers come from."""

    def send(self, ticket: int, query: Query) -> None:
        """Send a query when a connection is free; its answer comes under this ticket."""

    def receive(self) -> tuple[int, Answered]:
        """Return the next answer there is, whichever it is; raise what its request raised."""

    def close(self) -> None:
        """Send nothing more, and wait for nothing."""


class Threads(Generic[Q, A]):
    """
    The wire in use: threads that fetch.

    They are daemons, so that neither Ctrl-C nor the interpreter's end waits for an answer.
    """

    def __init__(self, fetch: Callable[[Q], A], concurrency: int) -> None:
        self._fetch = fetch
        self._most = concurrency
        self._threads = 0
        self._under_way = 0
        self._asks: SimpleQueue[tuple[int, Q] | None] = SimpleQueue()
        self._answers: SimpleQueue[tuple[int, A | BaseException]] = SimpleQueue()

    def send(self, ticket: int, query: Q) -> None:
        """Send a query from one of the threads."""
        self._under_way += 1
        if self._threads < min(self._under_way, self._most):
            self._threads += 1
            Thread(target=self._work, name=f"billframes {self._threads}", daemon=True).start()
        self._asks.put((ticket, query))

    def receive(self) -> tuple[int, A]:
        """Wait for the next answer."""
        while True:
            try:
                ticket, answer = self._answers.get(timeout=PIECE)
            except Empty:
                continue
            self._under_way -= 1
            if isinstance(answer, BaseException):
                raise answer
            return ticket, answer

    def close(self) -> None:
        """Let go: on Ctrl-C or an error, what has not been sent is not sent."""
        while not self._asks.empty():
            with suppress(Empty):
                self._asks.get_nowait()
        for _ in range(self._threads):
            self._asks.put(None)

    def _work(self) -> None:
        while (asked := self._asks.get()) is not None:
            ticket, query = asked
            try:
                self._answers.put((ticket, self._fetch(query)))
            except BaseException as error:  # noqa: BLE001 - raised where the answer is waited for
                self._answers.put((ticket, error))


class Session:
    """
    Asks for parts of a list and takes checked answers.

    Parameters
    ----------
    wire : Wire
    decode : callable
        Turns a body into a `Page`.
    pack : callable
        Packs records into a `Block`; raises `DecodeError` where one breaks the description.
    listing : Listing
    page_size : int
        Rows to ask for at once; goes down to what the server grants.
    concurrency : int
        Most requests under way at once.
    report : callable
        Called after each answer was taken.

    Attributes
    ----------
    covered_by : tuple of str, optional
        The sort by which key cover read a list of this load last.
    """

    def __init__(
        self,
        wire: Wire,
        decode: Callable[[bytes], Page[Any]],
        pack: Pack,
        listing: Listing,
        *,
        page_size: int,
        concurrency: int,
        report: Callable[[], None],
    ) -> None:
        self.listing = listing
        self.page_size = page_size
        self.concurrency = concurrency
        self.requests = 0
        self.covered_by: tuple[str, ...] | None = None
        self._wire = wire
        self._decode = decode
        self._pack = pack
        self._report = report
        self._dates: list[dt.datetime | None] = []

    def held(self) -> Held:
        """Return a place for records of the list."""
        return Held(self.listing)

    def run(
        self,
        asks: Iterable[Ask],
        take: Callable[[Ask, Answer], Iterable[Ask]],
        more: Callable[[], Ask | None] = lambda: None,
    ) -> None:
        """
        Ask until nothing is left to ask.

        Parameters
        ----------
        asks : iterable of Ask
            What to begin with.
        take : callable
            Is given each answer; returns what to ask because of it.
        more : callable
            Asked for further work while a connection is idle.
        """
        queue, under_way = deque(asks), dict[int, tuple[Ask, int]]()

        def send(ask: Ask, tries: int) -> None:
            self.requests += 1
            under_way[self.requests] = (ask, tries)
            self._wire.send(self.requests, ask.sent)

        while True:
            while queue and len(under_way) < AHEAD * self.concurrency:
                send(queue.popleft(), 1)
            while len(under_way) < self.concurrency and (ask := more()):
                send(ask, 1)
            if not under_way:
                return
            ticket, answered = self._wire.receive()
            ask, tries = under_way.pop(ticket)
            answer = self._checked(ask, answered, tries)
            if answer is None:
                send(ask, tries + 1)
                continue
            queue.extend(take(ask, answer))
            self._report()

    def ask(self, ask: Ask) -> Answer:
        """Ask for one part of a list."""
        return self.ask_all([ask])[0]

    def ask_all(self, asks: list[Ask]) -> list[Answer]:
        """Ask for several parts side by side; the answers come in the order of the asks."""
        answers: dict[int, Answer] = {}

        def take(ask: Ask, answer: Answer) -> tuple[Ask, ...]:
            answers[next(i for i, each in enumerate(asks) if each is ask)] = answer
            return ()

        self.run(asks, take)
        return [answers[i] for i in range(len(asks))]

    def count(self, query: Query, narrowed: Query = ()) -> int:
        """Ask how many records match."""
        total = self.ask(Ask(query, 1, narrowed=narrowed)).total
        if total is None:
            raise PagingError(f"{self.listing.name}: the server stopped saying how many records match.")
        return total

    def started(self) -> dt.datetime | None:
        """Return the earliest server's time since this was last asked; None where an answer came without."""
        dates, self._dates = self._dates, []
        known = [date for date in dates if date is not None]
        return min(known) if known and len(known) == len(dates) else None

    def _checked(self, ask: Ask, answered: Answered, tries: int) -> Answer | None:
        """Return an answer fit for use; None where it should be asked for again."""
        wrong: BillframesError | None
        try:
            answer = Answer(self._decode(answered.body), self.listing, answered.date, ask.offset)
            wrong = check(ask, answer)
            if wrong is None:
                answer.block = self._pack(answer.records)
        except DecodeError as error:
            wrong = error
        if wrong is not None and tries > 1:
            raise wrong
        if wrong is not None:
            return None
        self._dates.append(answered.date)
        if answer.granted and answer.granted < (ask.limit or self.page_size):
            # A server that pages a list unasked has its own page size.
            self.page_size = answer.granted
        return answer
