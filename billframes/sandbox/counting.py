"""Totals remembered until something is written: every page of a list says how many records match in all.

Counting a long list takes longer than reading a page of it. SQLite tells each connection, through
`PRAGMA data_version`, when somebody else has committed; after its own commits a connection forgets by itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Hashable, Mapping
from typing import Any

__all__ = ["CountingConnection", "count"]

_MOST = 1_000


class CountingConnection(sqlite3.Connection):
    """A connection that remembers totals."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._version = 0
        self._totals: dict[Hashable, int] = {}

    def forget(self) -> None:
        """Forget every total, after a write of this connection's own."""
        self._totals.clear()

    def count(self, sql: str, values: Mapping[str, Any]) -> int:
        """Return a query's one number, as of this transaction's moment."""
        # Inside a transaction this also settles which moment that is.
        version = self.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version or len(self._totals) >= _MOST:
            self._totals.clear()
            self._version = version
        key = (sql, *sorted(values.items()))
        if key not in self._totals:
            self._totals[key] = self.execute(sql, values).fetchone()[0]
        return self._totals[key]


def count(connection: sqlite3.Connection, sql: str, values: Mapping[str, Any]) -> int:
    """Return a query's one number, remembered where the connection can."""
    if isinstance(connection, CountingConnection):
        return connection.count(sql, values)
    total: int = connection.execute(sql, values).fetchone()[0]
    return total
