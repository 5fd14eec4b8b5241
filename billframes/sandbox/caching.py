"""Remember totals and pages until something is written.

Every page of a list gives the total, and counting a long list takes longer than reading a page of it. A notebook asks
for the same month again and again. What one connection read is kept under the version of the database, and all others
use it: a connection of the cache's own tells by `PRAGMA data_version` whether anyone has committed. A transaction takes
part if nobody committed while it began, for then its snapshot is of the version known before.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Hashable
from typing import TypeVar

__all__ = ["Cache", "CachingConnection"]

_T = TypeVar("_T", int, bytes)
_MOST_BYTES = 64 << 20
# A total with its key.
_SMALL = 500


class Cache:
    """
    What was read from one version of a database.

    Parameters
    ----------
    connection : sqlite3.Connection
        For this cache alone: a connection does not notice its own commits.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._turn = threading.Lock()
        self._version = 0
        self._kept: dict[Hashable, int | bytes] = {}
        self._bytes = 0

    def version(self) -> int:
        """Return the database's version now; forget what is kept of another."""
        with self._turn:
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self._version = version
                self._clear()
            return version

    def get(self, version: int, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return what `read` returns in a transaction that sees this version; `key` identifies it."""
        found = self._kept.get((version, key))
        if found is not None:
            return found  # type: ignore[return-value]
        value = read()
        self._keep(version, key, value)
        return value

    def close(self) -> None:
        """Forget everything, and close the connection."""
        with self._turn:
            self._clear()
            self._connection.close()

    def _keep(self, version: int, key: Hashable, value: int | bytes) -> None:
        size = _SMALL + (len(value) if isinstance(value, bytes) else 0)
        with self._turn:
            if version != self._version:
                return
            if self._bytes + size > _MOST_BYTES:
                self._clear()
            self._kept[version, key] = value
            self._bytes += size

    def _clear(self) -> None:
        self._kept.clear()
        self._bytes = 0


class CachingConnection(sqlite3.Connection):
    """A connection that reads through a cache, in transactions that take part."""

    cache: Cache | None = None
    version = 0

    def begin(self, cache: Cache | None) -> None:
        """Begin a transaction whose snapshot is of now, and which takes part if it is given a cache."""
        version = cache.version() if cache else 0
        self.execute("BEGIN")
        if cache:
            # The snapshot is of the first read.
            self.execute("SELECT 1 FROM sqlite_schema").fetchone()
            self.cache, self.version = (cache if cache.version() == version else None), version

    def end(self) -> None:
        """End the transaction."""
        self.rollback()
        self.cache = None

    def cached(self, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return what `read` returns; `key` identifies it."""
        return self.cache.get(self.version, key, read) if self.cache else read()
