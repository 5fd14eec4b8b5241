"""Plain pages by offset, for lists that can't be proved; what they give is *counted* and promises no more.

Pages after the first are asked for side by side. What came is taken only if every page spoke of the same `total`, as
many records came as that, and no id came twice; a list that changed meanwhile is read again, three times at most. On a
server where others write at the same time a record can still move unseen from one page to another.

Read this way are lists the server does not page, or pages without saying how many there are; the first rows of a
longer list (`limit`); and lists whose order only the server knows.
"""

from __future__ import annotations

from collections.abc import Iterator

from billframes.errors import DecodeError, PagingError
from billframes.paging.list_schema import Query
from billframes.paging.page import Answer, Ask
from billframes.paging.record_store import Held
from billframes.paging.scheduler import Session

__all__ = ["read_pages"]

TRIES = 3


class _ChangedError(Exception):
    """The list is not the one the first page was of; the message says how that showed."""


def read_pages(session: Session, query: Query, held: Held, first: Answer, wanted: int | None) -> None:
    """
    Read a list page by page.

    Parameters
    ----------
    session : Session
    query : query
        Without limit and offset.
    held : Held
        Where the records go, in the server's order.
    first : Answer
        To the first page.
    wanted : int, optional
        Records wanted; None is all.

    Raises
    ------
    PagingError
        The list changed each time it was read.
    """
    answer: Answer | None = first
    for tries in range(1, TRIES + 1):
        held.clear()
        pages = _Pages(session, query, wanted, held)
        try:
            answers = pages.read(answer)
        except _ChangedError as change:
            if tries == TRIES:
                raise PagingError(
                    f"{session.listing.name}: the list changed while it was read, {TRIES} times in a row ({change}), "
                    "so it can't be shown to be complete. Try again when fewer people are writing, or "
                    f"{session.listing.smaller}."
                ) from None
            answer = None
        else:
            held.clear()
            for each in answers:
                held.take(each)
            return


class _Pages:
    """The pages of one try."""

    def __init__(self, session: Session, query: Query, wanted: int | None, held: Held) -> None:
        self._session = session
        self._held = held
        self._query = query
        self._wanted = wanted
        self._pages: dict[int, Answer] = {}
        self._total: int | None = None

    def read(self, first: Answer | None) -> list[Answer]:
        """Read them all and return them, in the server's order."""
        first = first or self._session.ask(self._ask(0))
        self._session.run(list(self._following(first)), lambda _ask, answer: list(self._following(answer)))
        return self._settled()

    def _ask(self, offset: int) -> Ask:
        size = self._session.page_size
        if self._wanted is not None:
            size = max(1, min(size, self._wanted - offset))
        return Ask(self._query, size, offset)

    def _following(self, answer: Answer) -> Iterator[Ask]:
        """Keep an answer's records; yield what to ask for because of it."""
        came, offset = len(answer.records), answer.offset
        if self._pages and answer.total != self._total:
            raise _ChangedError(f"the total went from {self._total} to {answer.total}")
        if answer.total is None and came and offset:
            self._check_new(answer)
        self._pages[offset], self._total = answer, answer.total
        self._held.take(answer)
        if answer.total is None:
            # Without a total only an empty page shows the end.
            if came and (self._wanted is None or offset + came < self._wanted):
                yield self._ask(offset + came)
        elif offset == 0:
            end = answer.total if self._wanted is None else min(answer.total, self._wanted)
            # A server may grant less than was asked for; what it granted is the page size from then on.
            yield from map(self._ask, range(came, end, max(1, min(came, self._session.page_size))))

    def _check_new(self, answer: Answer) -> None:
        """Refuse a page that brings nothing new: without a total, such pages would never end."""
        listing = self._session.listing
        if all(listing.id_of(record) in self._held for record in answer.records):
            raise DecodeError(
                f"{listing.name}: the page at offset {answer.offset} holds only records that came before, so the "
                "server does not honour offset and the rows can't be trusted."
            )

    def _settled(self) -> list[Answer]:
        answers = [self._pages[offset] for offset in sorted(self._pages)]
        ids = [self._session.listing.id_of(record) for answer in answers for record in answer.records]
        if self._total is not None:
            expected = self._total if self._wanted is None else min(self._total, self._wanted)
            if len(ids) != expected:
                raise _ChangedError(f"{len(ids)} records came of {expected}")
        if len(set(ids)) < len(ids):
            raise _ChangedError("a record came twice")
        return answers
