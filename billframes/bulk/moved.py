"""Find the records that changed by one list request, instead of reading each.

Lists take `modifiedSince`. A record that the list shows with another `modified_at` than the plan's was changed by
somebody else; all others are unchanged at the moment of the response. The next list begins at the newest `modified_at`
of the rows, so only the server's clock counts. It begins a little before that, because a server can show a change later
than one that it dates after it; every ten seconds, a whole minute is requested again.

A list is used only if it is proved right: it must show the records that were just written, state for each row when it
was changed, and show nothing from long before. Otherwise `recent` returns None, and each record has to be read itself.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from billframes._names import snake_case
from billframes.bulk.cells import read_cell
from billframes.bulk.columns import EditColumn, raw_value
from billframes.errors import BillframesError
from billframes.loading.connection import WritingConnection
from billframes.paging.strategy import OVERLAP
from billframes.schema.decode import decode_page, earlier
from billframes.schema.resources import Resource

__all__ = ["Changed", "ChangedRecords", "Reading"]

# How far before the newest change of one list the next one begins. A fast server shows its writes within milliseconds,
# and each row that is shown again costs it about a hundredth of a write.
_OVERLAP = dt.timedelta(seconds=0.25)
# Servers tell the time in whole seconds, and some compare whole seconds.
_SECOND = dt.timedelta(seconds=1)
# Pages overlap by this many rows, in case records before them are deleted meanwhile.
_PAGES_OVERLAP = 50


@dataclass(frozen=True, slots=True)
class Changed:
    """
    A record as the list of changes shows it.

    Parameters
    ----------
    id : str
        In lower case.
    told : tuple
        The texts that the other two were read from.
    modified_at : datetime
    billed : bool
        Whether it is on an invoice.
    """

    id: str
    told: tuple[Any, ...]
    modified_at: dt.datetime
    billed: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """
    The rows of a list of changes.

    Parameters
    ----------
    rows : list of Changed
        Without those that were the same in the list before.
    asked : float
        When it was requested, by `time.monotonic`.
    until : datetime
        Where the next list begins.
    """

    rows: list[Changed]
    asked: float
    until: dt.datetime


class ChangedRecords:
    """
    The records of one resource that changed, by list requests.

    Parameters
    ----------
    connection : WritingConnection
    resource : Resource
    columns : mapping of str to EditColumn
    since : datetime
        An instant of the server's clock before which nothing had changed.
    """

    def __init__(
        self, connection: WritingConnection, resource: Resource, columns: Mapping[str, EditColumn], since: dt.datetime
    ) -> None:
        self._connection, self._resource = connection, resource
        self._id = snake_case(resource.id)
        self._columns = [columns[name] for name in ("modified_at", "billed") if name in columns]
        # Changes that the plan did not see may have become visible late.
        self._first = self._since = earlier(since, OVERLAP)
        # The records of the last list, by id.
        self._shown: dict[str, Changed] = {}
        self._lock = threading.Lock()

    @property
    def since(self) -> dt.datetime:
        """The time up to which all changes are known."""
        return self._since

    def recent(self, written: Collection[str], pages: int) -> Reading | None:
        """
        Return what changed since the last call; None if the list can't be relied on.

        Parameters
        ----------
        written : collection of str
            Ids that were written since the last call: the list must show them.
        pages : int
            The most requests that it may take.
        """
        reading = self._read(self._since, pages)
        if reading is None:
            return None
        before, shown = self._shown, {row.id: row for row in reading.rows}
        if not {id_.casefold() for id_ in written} <= shown.keys() | before.keys():
            return None
        self._shown = shown
        with self._lock:
            self._since = max(self._since, reading.until)
        return replace(reading, rows=[row for row in reading.rows if before.get(row.id) is not row])

    def again(self, pages: int) -> Reading | None:
        """Return what changed in the last minute; None if the list can't be relied on."""
        with self._lock:
            since = max(self._first, earlier(self._since, OVERLAP))
        return self._read(since, pages)

    def _read(self, since: dt.datetime, pages: int) -> Reading | None:
        rows: dict[str, Changed] = {}
        asked, offset, now = time.monotonic(), 0, None
        try:
            for _ in range(pages):
                size, total, date = self._page(since, offset, rows)
                now = now or date
                if now is None or total is None or not size:
                    break
                if offset + size >= total:
                    # The next list does not begin in the future, even if a record is dated there.
                    dates = [row.modified_at for row in rows.values() if row.modified_at <= now + _SECOND]
                    until = earlier(max(dates), _OVERLAP) if dates else since
                    return Reading(list(rows.values()), asked, until)
                offset += max(1, size - _PAGES_OVERLAP)
            empty = now is not None and not rows and total == 0
            return Reading([], asked, since) if empty else None
        except (BillframesError, _UnreliableError):
            return None

    def _page(
        self, since: dt.datetime, offset: int, rows: dict[str, Changed]
    ) -> tuple[int, int | None, dt.datetime | None]:
        """Add a page to the rows; return its size, how many there are in all, and the server's time."""
        query = (
            ("limit", str(self._connection.page_size)),
            ("offset", str(offset)),
            ("select", "meta"),
            ("modifiedSince", since.replace(tzinfo=None).isoformat() + "Z"),
        )
        answer = self._connection.fetch(self._resource.path, query, resource=self._resource.name)
        page = decode_page(answer.body, self._resource)
        for record in page.data or ():
            row = self._changed(record)
            if row.modified_at < since - _SECOND:
                raise _UnreliableError
            rows[row.id] = row
        return len(page.data or ()), page.pagination.total if page.pagination else None, answer.date

    def _changed(self, record: Any) -> Changed:
        """Return a record of the list; the same object as in the list before if nothing changed."""
        id_ = str(getattr(record, self._id)).casefold()
        told = tuple(raw_value(record, each) for each in self._columns)
        before = self._shown.get(id_)
        if before is not None and before.told == told:
            return before
        moved, *billed = (read_cell(each, value) for each, value in zip(self._columns, told, strict=True))
        if moved is None:
            raise _UnreliableError
        return Changed(id_, told, moved, billed == [True])


class _UnreliableError(Exception):
    """The list is not the one that was requested."""
