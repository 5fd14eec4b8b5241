"""Find the records that were changed by one list request, instead of reading each record.

A record that a list with `modifiedSince` shows with another `modified_at` than the plan has was changed by somebody
else. The next list begins a little before the newest `modified_at` of this one, so only the server's clock counts.
Every ten seconds, a whole minute is requested again, because a change can become visible late.

A list is used only if it is proved right: it contains the records that were just written, has a `modified_at` for each
record, and no record that was last changed long before.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from billframes.bulk.cells import read_cell
from billframes.bulk.columns import EditColumn, raw_value
from billframes.errors import BillframesError
from billframes.loading.connection import WritingConnection
from billframes.paging.strategy import OVERLAP
from billframes.schema.decode import decode_page, earlier
from billframes.schema.resources import Resource

# How far before the newest change of one list the next one begins. A fast server shows its writes within milliseconds,
# and to list a record again takes it about a hundredth of the time of a write.
_OVERLAP = dt.timedelta(seconds=0.25)
# Servers state the time in whole seconds, and some compare whole seconds.
_SECOND = dt.timedelta(seconds=1)
# Pages overlap by this many records, in case earlier records are deleted between two pages.
_PAGES_OVERLAP = 50


class ChangedRecord(NamedTuple):
    """A record in a list of changes: its id in lower case, and whether it is on an invoice."""

    id: str
    modified_at: dt.datetime
    billed: bool


class ChangeList(NamedTuple):
    """A list of changes, when it was requested by `time.monotonic`, and the `modifiedSince` of the next list."""

    records: list[ChangedRecord]
    requested_at: float
    next_start: dt.datetime


class ChangedRecords:
    """The records of one resource that were changed, read by list requests."""

    def __init__(
        self, connection: WritingConnection, resource: Resource, columns: Mapping[str, EditColumn], since: dt.datetime
    ) -> None:
        self._connection, self._resource = connection, resource
        self._id = resource.id_column
        self._columns = [columns[name] for name in ("modified_at", "billed") if name in columns]
        # A change can become visible late, so that the plan did not see it.
        self._first = self._since = earlier(since, OVERLAP)
        # The records of the last list by id.
        self._last: dict[str, ChangedRecord] = {}
        self._lock = threading.Lock()

    @property
    def since(self) -> dt.datetime:
        """The `modifiedSince` of the next list: changes before it are known."""
        return self._since

    def next_list(self, written: Collection[str], pages: int) -> ChangeList | None:
        """
        Return the records that were changed since the last call, in at most `pages` requests; None if the list is not
        proved right: it must contain the ids that were `written` since.
        """
        changes = self._read(self._since, pages)
        if changes is None:
            return None
        before, now = self._last, {each.id: each for each in changes.records}
        if not {id_.casefold() for id_ in written} <= now.keys() | before.keys():
            return None
        self._last = now
        with self._lock:
            self._since = max(self._since, changes.next_start)
        return changes._replace(records=[each for each in changes.records if before.get(each.id) != each])

    def last_minute(self, pages: int) -> ChangeList | None:
        """Return the records that were changed in the last minute; None if the list is not proved right."""
        with self._lock:
            since = max(self._first, earlier(self._since, OVERLAP))
        return self._read(since, pages)

    def _read(self, since: dt.datetime, pages: int) -> ChangeList | None:
        records: dict[str, ChangedRecord] = {}
        requested_at, offset, now = time.monotonic(), 0, None
        try:
            for _ in range(pages):
                size, total, date = self._add_page(since, offset, records)
                now = now or date
                if now is None or total is None or not size:
                    break
                if offset + size >= total:
                    # The next list must not begin in the future, even if a record has such a date.
                    dates = [each.modified_at for each in records.values() if each.modified_at <= now + _SECOND]
                    next_start = earlier(max(dates), _OVERLAP) if dates else since
                    return ChangeList(list(records.values()), requested_at, next_start)
                offset += max(1, size - _PAGES_OVERLAP)
            empty = now is not None and not records and total == 0
            return ChangeList([], requested_at, since) if empty else None
        except (BillframesError, _UnreliableError):
            return None

    def _add_page(
        self, since: dt.datetime, offset: int, records: dict[str, ChangedRecord]
    ) -> tuple[int, int | None, dt.datetime | None]:
        """Request a page and add its records; return its size, the list's total, and the server's time."""
        query = (
            ("limit", str(self._connection.page_size)),
            ("offset", str(offset)),
            ("select", "meta"),
            ("modifiedSince", since.replace(tzinfo=None).isoformat() + "Z"),
        )
        answer = self._connection.fetch(self._resource.path, query, resource=self._resource.name)
        page = decode_page(answer.body, self._resource)
        for record in page.data or ():
            changed = self._changed_record(record)
            if changed.modified_at < since - _SECOND:
                raise _UnreliableError
            records[changed.id] = changed
        return len(page.data or ()), page.pagination.total if page.pagination else None, answer.date

    def _changed_record(self, record: Any) -> ChangedRecord:
        modified_at, *billed = (read_cell(each, raw_value(record, each)) for each in self._columns)
        if modified_at is None:
            raise _UnreliableError
        return ChangedRecord(str(getattr(record, self._id)).casefold(), modified_at, billed == [True])


class _UnreliableError(Exception):
    """The list is not what was requested."""
