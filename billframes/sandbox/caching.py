"""Remember totals and pages until something is written.

Every page of a list gives the total, and counting a long list takes longer than reading a page of it. A notebook asks
for the same month again and again. What a connection read is of use to the others if the database has not changed since
before its snapshot: a connection of the cache's own tells by `PRAGMA data_version` whether anyone has committed.
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
        """Return the database's version, to be asked for before a transaction begins."""
        with self._turn:
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._version:
                self._version = version
                self._clear()
            return version

    def get(self, version: int, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return what `read` returns in a transaction that began with this version; `key` identifies it."""
        if self.version() == version and (found := self._kept.get(key)) is not None:
            return found  # type: ignore[return-value]
        value = read()
        if self.version() == version:
            self._keep(key, value)
        return value

    def close(self) -> None:
        """Forget everything, and close the connection."""
        with self._turn:
            self._clear()
            self._connection.close()

    def _keep(self, key: Hashable, value: int | bytes) -> None:
        size = _SMALL + (len(value) if isinstance(value, bytes) else 0)
        with self._turn:
            if self._bytes + size > _MOST_BYTES:
                self._clear()
            self._kept[key] = value
            self._bytes += size

    def _clear(self) -> None:
        self._kept.clear()
        self._bytes = 0


class CachingConnection(sqlite3.Connection):
    """A connection that reads through a cache, if it is lent with one."""

    cache: Cache | None = None
    version = 0

    def cached(self, key: Hashable, read: Callable[[], _T]) -> _T:
        """Return what `read` returns; `key` identifies it."""
        return self.cache.get(self.version, key, read) if self.cache else read()
