"""A change in a journal, and the checks of a journal before it is used: who can write it, its tables, each change.

A journal is a list of requests to send. So it must be the user's own: on POSIX systems, a journal that another user
owns or can write is refused, also if they are in the same group. Windows gives other users no access to a user's
folders. A file that was damaged or changed by hand is refused as a whole.
"""

from __future__ import annotations

import datetime as dt
import os
import sqlite3
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from billframes.bulk.cells import UnreadableCellError, read_cell
from billframes.bulk.columns import EditColumn, columns_of
from billframes.errors import ParameterError
from billframes.loading.ids import path_segment
from billframes.schema.resources import RESOURCES, Resource
from billframes.schema.sources import json_names

# Bytes of a value in a journal. A request of this size is refused by servers.
LONGEST_VALUE = 10_000_000
# SQLite replays these files into the database.
_BESIDE = ("", "-wal", "-shm", "-journal")
# The final states: a change with an outcome is never sent again.
OUTCOMES = ("done", "changed since planned", "billed", "refused", "gone", "uncertain", "failed")
_STATES = frozenset({"planned", "sent", "unanswered", *OUTCOMES})
_Value = str | float | bool | None
_BODY = msgspec.json.Decoder(dict[str, Any])


class Entry(msgspec.Struct, frozen=True):
    """
    A change in the journal.

    `number` is its place in the order of sending, and `place` the row in the edited frame. `cells` are the column, the
    value before and the value after; dates are ISO text. `modified_at` is when the record was last changed before the
    plan was made, and `existing_ids` are those of equal records at that time. `state` is "planned", "sent",
    "unanswered" (a create without a response) or one of `OUTCOMES`. `sent_at` is the first time, by this machine's
    clock; `tries` counts how often it was sent without a known outcome.
    """

    number: int
    action: Literal["update", "create", "delete"]
    place: int | None
    id: str | None
    body: bytes | None
    cells: list[tuple[str, _Value, _Value]]
    modified_at: str | None = None
    existing_ids: tuple[str, ...] = ()
    state: str = "planned"
    reason: str = ""
    sent_at: str | None = None
    tries: int = 0

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Entry:
        """Read an entry; raise an error of msgspec if a value is of another type."""
        values = dict(zip(cls.__struct_fields__, row, strict=True))
        lists = {name: msgspec.json.decode(values[name]) for name in ("cells", "existing_ids")}
        return msgspec.convert(values | lists, cls)

    @property
    def row(self) -> list[Any]:
        """The values of the entry's row."""
        values = msgspec.structs.astuple(self)
        return [msgspec.json.encode(each) if isinstance(each, list | tuple) else each for each in values]

    def with_outcome(self, state: str, reason: str = "", id_: str | None = None) -> Entry:
        """Return the change in another state; the id is kept unless one is given."""
        return msgspec.structs.replace(self, state=state, reason=reason, id=id_ or self.id)


class DamagedJournalError(Exception):
    """A journal has something that billframes does not write."""


def check_writers(path: Path) -> None:
    """Raise `ParameterError` if another user can write a journal, or the files that SQLite keeps beside it."""
    if not hasattr(os, "getuid"):
        return
    for each in (path.with_name(path.name + end) for end in _BESIDE):
        try:
            found = each.stat()
        except FileNotFoundError:
            continue
        if found.st_uid != os.getuid():
            raise ParameterError(
                f"{each} belongs to another user, so its changes may not be yours. If you trust it, copy the journal "
                "to a folder of your own, and resume the copy."
            )
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ParameterError(
                f"Other users can write {each}, so its changes may not be yours. If you trust it, run chmod 600 on it. "
                "If its file system does not keep permissions, copy the journal to another one, and use the copy."
            )


def check_tables(database: sqlite3.Connection, schema: str) -> None:
    """Raise `DamagedJournalError` unless the database has exactly these tables and indexes, and sound pages."""
    listed = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
    expected = sqlite3.connect(":memory:")
    try:
        expected.executescript(schema)
        if database.execute(listed).fetchall() != expected.execute(listed).fetchall():
            raise DamagedJournalError("its tables are not those of a journal")
    finally:
        expected.close()
    # An index that lacks a change would hide it.
    sound = database.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if sound != "ok":
        raise DamagedJournalError(str(sound).partition("\n")[0])


def check_changes(about: Mapping[str, Any], rows: Iterable[Sequence[Any]]) -> None:
    """Raise `DamagedJournalError` if a value is not one that billframes writes."""
    resource = next((each for each in RESOURCES if each.name == about.get("resource") and each.updates), None)
    if resource is None:
        raise DamagedJournalError(f"it has changes of {about.get('resource')!r}, which can't be edited")
    if not isinstance(about.get("base_url"), str):
        raise DamagedJournalError("it does not say for which server it is")
    # Raises a ValueError if it is not an address.
    _ = urlsplit(about["base_url"]).port
    _check_instant("read_at", about.get("read_at"))
    columns = columns_of(resource)
    for row in rows:
        try:
            _check_entry(Entry.of_row(row), resource, columns)
        except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError, DamagedJournalError) as error:
            raise DamagedJournalError(f"change {row[0]}: {error}") from error


def _check_entry(entry: Entry, resource: Resource, columns: Mapping[str, EditColumn]) -> None:
    if entry.state not in _STATES:
        raise DamagedJournalError(f"its state {entry.state!r} is unknown")
    if min(entry.number, entry.place or 0, entry.tries) < 0:
        raise DamagedJournalError("a number is negative")
    if entry.action != "create" and entry.id is None:
        raise DamagedJournalError("it has no id")
    if entry.id is not None:
        path_segment(entry.id, "id")
    if (entry.action == "delete") is not (entry.body is None):
        raise DamagedJournalError("its request does not fit its action")
    request: Any = resource.creates if entry.action == "create" else resource.updates
    if entry.body is not None and not _BODY.decode(entry.body).keys() <= {*json_names(request).values()}:
        raise DamagedJournalError("its request has a field that can't be written")
    check_cells(entry, columns, custom_known=False)
    _check_instant("base", entry.modified_at)
    _check_instant("sent_at", entry.sent_at, is_needed=entry.state in {"sent", "unanswered"})


def check_cells(entry: Entry, columns: Mapping[str, EditColumn], *, custom_known: bool = True) -> None:
    """Raise `DamagedJournalError` if a cell is of no column, or not a value of its column."""
    for name, *values in entry.cells:
        column = columns.get(name)
        if column is None and (custom_known or not name.startswith("cf_")):
            raise DamagedJournalError(f"there is no column {name!r}")
        if column is None:
            continue
        try:
            for value in values:
                read_cell(column, value)
        except (UnreadableCellError, TypeError, AttributeError) as error:
            raise DamagedJournalError(f"a value of {name} {error}") from error


def _check_instant(name: str, text: Any, *, is_needed: bool = False) -> None:
    if text is None and not is_needed:
        return
    if not isinstance(text, str) or dt.datetime.fromisoformat(text).tzinfo is None:
        raise DamagedJournalError(f"{name} is not an instant")
