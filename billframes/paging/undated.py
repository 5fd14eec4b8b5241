"""Lists without dates: read by key cover, or proved by counts where nothing is written.

Tiles can't be joined if many neighbours may be equal: names in many scripts, long groups of equal names. A quiet list
has another proof, without joins. Every answer counted N, N different records are here, nothing was changed since before
the reading, and the list still has N. So no record was added meanwhile; then none was deleted, because each deletion
would show in a count; and N of the N records are all of them.

That rests on `modifiedSince`. So it is asked from just before the newest change that is here, and must find exactly
what is here since then.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from billframes.errors import PagingError
from billframes.paging.key_ranges import KeyRangeReader
from billframes.paging.list_schema import Query, parameter, with_parameters
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler
from billframes.schema.decode import earlier, parse_instant

__all__ = ["UndatedResult", "changes_request", "read_undated"]

TRIES = 3


@dataclass(frozen=True, slots=True)
class UndatedResult:
    """
    The result of reading a list without dates.

    `store` holds the records. `quiet` is True if nothing changed while they were read. `started` is the server's time
    when the reading began, None if the server did not state it. `count` is the list's length if every page reported
    the same total, else None.
    """

    store: RecordStore
    quiet: bool
    started: dt.datetime | None
    count: int | None


def read_undated(
    scheduler: Scheduler, query: Query, store: RecordStore, overlap: dt.timedelta, first: Page | None = None
) -> UndatedResult:
    """
    Read a list without dates.

    Parameters
    ----------
    scheduler : Scheduler
    query : query
        Without limit and offset.
    store : RecordStore
        Empty. Where the records go, unless the list is read again.
    overlap : timedelta
        How far before its time of asking a change is still looked for.
    first : Page, optional
        One that came to this query at offset 0.

    Raises
    ------
    PagingError
        The list can't be shown to be complete.
    """
    for tries in range(1, TRIES + 1):
        reader = KeyRangeReader(scheduler, query, scheduler.schema.key_sorts, store, first=first)
        complete = reader.read_first_sort()
        started = scheduler.started()
        quiet = not complete and reader.all_counted and started is not None
        if quiet and started is not None and _unchanged(scheduler, query, store, started - overlap):
            return UndatedResult(store, True, started, reader.count)
        try:
            if not complete:
                reader.read()
            break
        except PagingError:
            # Once nobody writes any more, it can still be proved by its count.
            if tries == TRIES or not store.shows_modified or started is None:
                raise
            store, first = scheduler.new_store(), None
    return UndatedResult(store, False, started, reader.count)


def _unchanged(scheduler: Scheduler, query: Query, store: RecordStore, mark: dt.datetime) -> bool:
    """Tell whether nothing was changed since an instant, and as many records are there as here."""
    newest = store.latest_modified() if store.shows_modified else None
    if newest is None or newest >= mark:
        return False
    request = changes_request(scheduler, query, earlier(newest, dt.timedelta(seconds=1)))
    page = scheduler.fetch(request)
    found = set(map(scheduler.schema.id_of, page.records))
    # A server that shows instants cut to seconds may find more than the instants here let expect.
    if not page.is_whole or not found or not found >= store.modified_since(parse_instant(request.added_filters[0][1])):
        return False
    updates = store.updates
    store.add(page)
    return store.updates == updates and scheduler.count(query) == len(store)


def changes_request(scheduler: Scheduler, query: Query, mark: dt.datetime) -> PageRequest:
    """Return what asks for the changes after an instant, or after the query's own where that is later."""
    own = parameter(query, "modifiedSince")
    text = (max(mark, parse_instant(own)) if own else mark).astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
    return PageRequest(
        with_parameters(query, modifiedSince=text), scheduler.page_size, added_filters=(("modifiedSince", text),)
    )
