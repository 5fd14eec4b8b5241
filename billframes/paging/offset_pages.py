"""Read plain pages by offset, for lists that can't be proved complete; the result is only *counted*.

Pages after the first are requested side by side. The result is used only if every page reported the same `total`, that
many records were received, and no id was received twice. A list that changed meanwhile is read again, up to three times
in all. If others write at the same time, a record can still move unnoticed from one page to another.

Lists are read this way if the server does not page them or reports no total, if only the first rows are requested
(`limit`), or if only the server knows their order.
"""

from __future__ import annotations

from collections.abc import Iterator

from billframes.errors import DecodeError, PagingError
from billframes.paging.list_schema import Query
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler

TRIES = 3


class _ChangedError(Exception):
    """The list changed since its first page; the message says how this was noticed."""


def read_pages(scheduler: Scheduler, query: Query, store: RecordStore, first: Page, wanted: int | None) -> None:
    """Read a list page by page, at most `wanted` records; raise `PagingError` if it changed during each attempt."""
    page: Page | None = first
    for tries in range(1, TRIES + 1):
        store.clear()
        attempt = _Attempt(scheduler, query, wanted, store)
        try:
            pages = attempt.read(page)
        except _ChangedError as change:
            if tries == TRIES:
                raise PagingError(
                    f"{scheduler.schema.name}: the list changed while it was read, {TRIES} times in a row ({change}), "
                    "so it can't be shown to be complete. Try again when fewer people are writing, or "
                    f"{scheduler.schema.narrowing_advice}."
                ) from None
            page = None
        else:
            store.clear()
            for each in pages:
                store.add(each)
            return


class _Attempt:
    def __init__(self, scheduler: Scheduler, query: Query, wanted: int | None, store: RecordStore) -> None:
        self._scheduler = scheduler
        self._store = store
        self._query = query
        self._wanted = wanted
        self._pages: dict[int, Page] = {}
        self._total: int | None = None

    def read(self, first: Page | None) -> list[Page]:
        """Read all pages and return them in the server's order."""
        first = first or self._scheduler.fetch(self._request(0))
        self._scheduler.run(list(self._following(first)), lambda _request, page: list(self._following(page)))
        return self._checked_pages()

    def _request(self, offset: int) -> PageRequest:
        size = self._scheduler.page_size
        if self._wanted is not None:
            size = max(1, min(size, self._wanted - offset))
        return PageRequest(self._query, size, offset)

    def _following(self, page: Page) -> Iterator[PageRequest]:
        received, offset = len(page.records), page.offset
        if self._pages and page.total != self._total:
            raise _ChangedError(f"the total changed from {self._total} to {page.total}")
        if page.total is None and received and offset:
            self._check_new(page)
        self._pages[offset], self._total = page, page.total
        self._store.add(page)
        if page.total is None:
            # Without a total, only an empty page shows the end.
            if received and (self._wanted is None or offset + received < self._wanted):
                yield self._request(offset + received)
        elif offset == 0:
            end = page.total if self._wanted is None else min(page.total, self._wanted)
            # If the server grants fewer rows than requested, that is the page size from then on.
            yield from map(self._request, range(received, end, max(1, min(received, self._scheduler.page_size))))

    def _check_new(self, page: Page) -> None:
        """Raise an error if a page has no new records: in a list without a total, such pages would never end."""
        schema = self._scheduler.schema
        if all(schema.id_of(record) in self._store for record in page.records):
            raise DecodeError(
                f"{schema.name}: the page at offset {page.offset} has only records of earlier pages. The server "
                "ignores offset, so the list can't be loaded."
            )

    def _checked_pages(self) -> list[Page]:
        pages = [self._pages[offset] for offset in sorted(self._pages)]
        ids = [self._scheduler.schema.id_of(record) for page in pages for record in page.records]
        if self._total is not None:
            expected = self._total if self._wanted is None else min(self._total, self._wanted)
            if len(ids) != expected:
                raise _ChangedError(f"{len(ids)} of {expected} records were received")
        if len(set(ids)) < len(ids):
            raise _ChangedError("a record was received twice")
        return pages
