"""Create, change and delete unbilled time entries at a given rate, as a colleague of the caller would.

The changes go to the database directly, not over HTTP.
"""

from __future__ import annotations

import random
import sqlite3
import threading
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from billframes.sandbox.credentials import Caller
from billframes.sandbox.problems import Faults
from billframes.sandbox.store import Store
from billframes.sandbox.writes.edits import Edit, Operation, perform
from billframes.sandbox.writes.items import TIME_ENTRY_WRITES

if TYPE_CHECKING:
    from billframes.sandbox.fault_injection import Trouble

__all__ = ["BackgroundWriter"]

_PATIENCE = 3.0

_CREATE, _UPDATE, _DELETE = TIME_ENTRY_WRITES


class BackgroundWriter:
    """
    A thread that changes time entries.

    Parameters
    ----------
    store : Store
        The firm.
    trouble : Trouble
        How many writes a second, and the seed of what they are.
    """

    def __init__(self, store: Store, trouble: Trouble) -> None:
        self._store = store
        self._pause = 1 / trouble.writes_per_second
        self._random = random.Random(trouble.seed)  # noqa: S311 - decides what is written, keeps no secrets
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="billframes sandbox background writer", daemon=True)

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop after the current change; give up one that waits for a lock."""
        self._end.set()
        self._thread.join(_PATIENCE)

    def _work(self) -> None:
        while not self._end.wait(self._pause):
            # Another process holds the lock, or the database has been closed.
            with suppress(sqlite3.OperationalError):
                self.write()

    def write(self) -> None:
        """Make one change: usually a new entry or a new description, sometimes a deletion."""
        kind = self._random.choices((_CREATE, _UPDATE, _DELETE), (5, 4, 1))[0]
        with self._store.writing() as (connection, at):
            matter = connection.execute(*self._some("matter", "TRUE", "matter_id, responsible_id")).fetchone()
            entry = connection.execute(*self._some("time_entry", "invoice_id IS NULL", "time_entry_id")).fetchone()
            if matter is None or (entry is None and kind is not _CREATE):
                return
            id_ = str(uuid.uuid4()) if kind is _CREATE else entry[0]
            edit = Edit(
                connection=connection,
                caller=Caller(matter[1], frozenset()),
                at=at,
                id=id_,
                sent=self._sent(kind, matter[0], at[:10]),
                faults=Faults(),
            )
            perform(kind, edit)

    def _sent(self, kind: Operation, matter_id: str, date: str) -> dict[str, Any]:
        hours = self._random.randint(1, 80) * 1_000
        if kind is _CREATE:
            return {"matterId": matter_id, "date": date, "description": "A colleague's work", "hours": hours}
        return {"description": f"A colleague's change {self._random.randint(1, 10**6)}", "hours": hours}

    def _some(self, table: str, where: str, columns: str) -> tuple[str, list[str]]:
        """Return a query for one record at a random place among the ids."""
        start = str(uuid.UUID(int=self._random.getrandbits(128)))
        key = f"{table}_id"
        sql = f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {key} < ?, {key} LIMIT 1"  # noqa: S608
        return sql, [start]
