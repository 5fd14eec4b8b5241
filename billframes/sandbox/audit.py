"""Every change of a record, in the order in which the changes were committed; kept only where it is asked for.

Triggers write it inside the transaction that makes the change, so it says neither more nor less than what became
visible. Writers take turns, so the order of positions is the order of commits: whoever reads the last position
before and after some deed knows every state there was in between, whatever the clocks say.
"""

from __future__ import annotations

import sqlite3

__all__ = ["keep_audit"]

_TABLES = ("client", "matter", "time_entry", "fixed_fee", "expense", "invoice")

# `record` is the row after the change as JSON, null where it was deleted; `at` is sandbox time.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS audit (
    position INTEGER PRIMARY KEY, at TEXT NOT NULL, resource TEXT NOT NULL, id TEXT NOT NULL, record TEXT
)
"""
_AT = """strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (
    SELECT value FROM setting WHERE name = 'clock_offset_seconds') || ' seconds')"""


def keep_audit(connection: sqlite3.Connection) -> None:
    """
    Have a database keep an audit from now on.

    It belongs to the file: whoever opens it later keeps it too. Asking twice is fine.

    Parameters
    ----------
    connection : sqlite3.Connection
        A sandbox database, outside a transaction.
    """
    connection.execute(_SCHEMA)
    for table in _TABLES:
        for event in ("INSERT", "UPDATE", "DELETE"):
            connection.execute(_trigger(connection, table, event))


def _trigger(connection: sqlite3.Connection, table: str, event: str) -> str:
    """Return the statement that makes a trigger; names come from the schema."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    pairs = ", ".join(f"'{name}', NEW.{name}" for name in names)
    changed, record = ("OLD", "NULL") if event == "DELETE" else ("NEW", f"json_object({pairs})")
    return f"""
        CREATE TRIGGER IF NOT EXISTS audit_{table}_{event} AFTER {event} ON {table} BEGIN
            INSERT INTO audit (at, resource, id, record)
            VALUES ({_AT}, '{table}', {changed}.{table}_id, {record});
        END"""  # noqa: S608
