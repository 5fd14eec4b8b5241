"""Keep totals and pages until something is written.

Every page of a list gives the total, and counting a long list takes longer than reading a page of it. A notebook often
requests the same month again. All connections share the values of the database's current version. The cache has its own
connection, whose `PRAGMA data_version` changes with every commit of another connection.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_T = TypeVar("_T")
# A page of time entries is some 700 kB.
_MOST_VALUES = 100


class Cache:
    """Values that were read from one version of a database; nothing else may use the connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._version = 0
        self._values: dict[Hashable, Any] = {}

    def current_values(self) -> dict[Hashable, Any]:
        """Return the values of the database's version now: the same dict as long as nothing is committed."""
        with self._lock:
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version or len(self._values) >= _MOST_VALUES:
                self._version, self._values = version, {}
            return self._values

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._connection.close()


class CachingConnection(sqlite3.Connection):
    """A connection whose transactions can read through a cache."""

    values: dict[Hashable, Any] | None = None

    def begin(self, cache: Cache | None) -> None:
        """Begin a transaction with a snapshot of now. It uses the cache if nothing was committed while it began."""
        values = cache.current_values() if cache else None
        self.execute("BEGIN")
        if cache:
            # SQLite takes the snapshot at the first read.
            self.execute("SELECT 1 FROM sqlite_schema").fetchone()
            self.values = values if cache.current_values() is values else None

    def end(self) -> None:
        """End the transaction."""
        self.rollback()
        self.values = None

    def cached(self, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return the cached value of `key`, else the value that `read` returns."""
        if self.values is None:
            return read()
        if key not in self.values:
            self.values[key] = read()
        value: _T = self.values[key]
        return value
