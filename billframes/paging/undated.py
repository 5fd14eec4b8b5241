"""Read lists without dates by key ranges, or prove them complete by counts if nobody writes.

Ranges can't be joined if many neighbouring keys may be equal: names in many scripts, long groups of equal names. A
quiet list has another proof, without joins. Every page counted N records, N different records were received, no record
changed since before the reading began, and the list still has N records. So no record was added meanwhile. Then none
was deleted either, because a count would show it. So the N records received are the whole list.

This relies on `modifiedSince`. To check that it works, it is requested from just before the newest change received. The
response must have all received records that changed since then.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from itertools import count

from billframes.errors import PagingError
from billframes.paging.key_ranges import KeyRangeReader
from billframes.paging.list_schema import Query, parameter, with_parameters
from billframes.paging.page import Page, PageRequest
from billframes.paging.record_store import RecordStore
from billframes.paging.scheduler import Scheduler
from billframes.schema.decode import earlier, parse_instant

TRIES = 3


@dataclass(frozen=True, slots=True)
class UndatedResult:
    """
    The result of reading a list without dates.

    `store` has the records. `quiet` is True if no record changed while they were read. `started` is the server's time
    when the reading began; None if the server did not state it. `count` is the list's total if every page reported the
    same, else None.
    """

    store: RecordStore
    quiet: bool
    started: dt.datetime | None
    count: int | None


def read_undated(
    scheduler: Scheduler, query: Query, store: RecordStore, overlap: dt.timedelta, first: Page | None = None
) -> UndatedResult:
    """
    Read a list without dates into an empty store; `first` is the page at offset 0. Raise `PagingError` if it can't be
    proved.
    """
    for tries in count(1):
        reader = KeyRangeReader(scheduler, query, store, first=first)
        complete = reader.read_first_sort()
        started = scheduler.take_earliest_time()
        all_here = not complete and reader.all_counted
        if all_here and started is not None and _unchanged(scheduler, query, store, started - overlap):
            return UndatedResult(store, True, started, reader.count)
        try:
            if not complete:
                reader.read()
            break
        except PagingError:
            # As soon as nobody writes any more, the count can prove the list.
            if tries == TRIES or not store.shows_modified or started is None:
                raise
            store, first = scheduler.new_store(), None
    return UndatedResult(store, False, started, reader.count)


def _unchanged(scheduler: Scheduler, query: Query, store: RecordStore, mark: dt.datetime) -> bool:
    """Return whether no record changed since an instant, and the server counts as many records as were received."""
    newest = store.latest_modified() if store.shows_modified else None
    if newest is None or newest >= mark:
        return False
    request = changes_request(scheduler, query, earlier(newest, dt.timedelta(seconds=1)))
    page = scheduler.fetch(request)
    found = set(map(scheduler.schema.id_of, page.records))
    # A server that shows instants without decimals may return more records than these instants suggest.
    if not page.is_whole or not found or not found >= store.modified_since(parse_instant(request.added_filters[0][1])):
        return False
    updates = store.updates
    store.add(page)
    return store.updates == updates and scheduler.count(query) == len(store)


def changes_request(scheduler: Scheduler, query: Query, mark: dt.datetime) -> PageRequest:
    """Return the request for changes since an instant, or since the query's own `modifiedSince` if that is later."""
    own = parameter(query, "modifiedSince")
    text = (max(mark, parse_instant(own)) if own else mark).astimezone(dt.UTC).replace(tzinfo=None).isoformat() + "Z"
    return PageRequest(
        with_parameters(query, modifiedSince=text), scheduler.page_size, added_filters=(("modifiedSince", text),)
    )
