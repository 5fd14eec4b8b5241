"""Keep totals and pages until something is written.

Every page of a list gives the total, and counting a long list takes longer than reading a page of it. A notebook often
requests the same month again. All connections share one cache, which holds values of one version of the database. The
cache has its own connection, whose `PRAGMA data_version` changes with every commit of another connection.

A transaction uses the cache only if no commit happened while it began, because only then is its snapshot known to be of
the cache's version.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

_T = TypeVar("_T", int, bytes)
_MAX_BYTES = 64 << 20
# The memory that a total takes with its key.
_ENTRY_BYTES = 500


class Cache:
    """Values that were read from one version of a database, over a connection that nothing else uses."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._version = 0
        self._values: dict[Hashable, int | bytes] = {}
        self._bytes = 0

    def current_version(self) -> int:
        """Return the database's version now; drop the values of an older one."""
        with self._lock:
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self._version = version
                self._clear()
            return version

    def get(self, version: int, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return the value of `key`, else of `read`, which must read in a transaction of this version."""
        found = self._values.get((version, key))
        if found is not None:
            return found  # type: ignore[return-value]
        value = read()
        self._put(version, key, value)
        return value

    def close(self) -> None:
        """Drop all values, and close the connection."""
        with self._lock:
            self._clear()
            self._connection.close()

    def _put(self, version: int, key: Hashable, value: int | bytes) -> None:
        size = _ENTRY_BYTES + (len(value) if isinstance(value, bytes) else 0)
        with self._lock:
            if version != self._version:
                return
            if self._bytes + size > _MAX_BYTES:
                self._clear()
            self._values[version, key] = value
            self._bytes += size

    def _clear(self) -> None:
        self._values.clear()
        self._bytes = 0


class CachingConnection(sqlite3.Connection):
    """A connection whose transactions can read through a cache."""

    cache: Cache | None = None
    version = 0

    def begin(self, cache: Cache | None) -> None:
        """Begin a transaction with a snapshot of now. It uses the cache if its snapshot is of the cache's version."""
        version = cache.current_version() if cache else 0
        self.execute("BEGIN")
        if cache:
            # SQLite takes the snapshot at the first read.
            self.execute("SELECT 1 FROM sqlite_schema").fetchone()
            self.cache, self.version = (cache if cache.current_version() == version else None), version

    def end(self) -> None:
        """End the transaction."""
        self.rollback()
        self.cache = None

    def cached(self, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return the cached value of `key`, else the value that `read` returns."""
        return self.cache.get(self.version, key, read) if self.cache else read()
