"""The sandbox's tables, and the triggers of an audit, which record every change in the table `audit`.

Money, rates and hours are whole ten-thousandths (`SCALE`), so sums are exact and any amount with up to four decimals
survives a round trip. Dates are yyyy-MM-dd and instants yyyy-MM-ddTHH:mm:ss.ffffffZ, so text order is time order.
Derived values are not stored: an item's client is its matter's client, and it is billed if it is on an invoice. The two
rules that both the seed and the writes apply, `value_at_rate` and `BILLING_TYPES`, are here, too.

The triggers run inside the transaction that makes the change, and writers take turns, so the order of positions is the
order of commits.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

SCALE = 10_000
CENT = SCALE // 100

# The billing type of a matter's time entries by the type of the matter, unless an entry has another one.
BILLING_TYPES = {
    "hourly": "billable",
    "contingency": "billable",
    "fixedFee": "fixedFee",
    "probono": "nonBillable",
    "internal": "nonBillable",
}


def value_at_rate(hours: int, rate: int) -> int:
    """Return hours times rate, rounded to the cent, halves away from zero."""
    product = abs(hours) * rate
    cents = (product + SCALE * CENT // 2) // (SCALE * CENT) * CENT
    return cents if hours >= 0 else -cents


SCHEMA = Path(__file__).with_name("tables.sql").read_text(encoding="utf-8")

_AUDITED_TABLES = ("client", "matter", "time_entry", "fixed_fee", "expense", "invoice")

# `record` is the row after the change as JSON, or null after a deletion; `at` is sandbox time.
_AUDIT_TABLE = """
CREATE TABLE IF NOT EXISTS audit (
    position INTEGER PRIMARY KEY, at TEXT NOT NULL, resource TEXT NOT NULL, id TEXT NOT NULL, record TEXT
)
"""
_NOW = """strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (
    SELECT value FROM setting WHERE name = 'clock_offset_seconds') || ' seconds')"""


def add_audit(connection: sqlite3.Connection) -> None:
    """
    Make a database record every change from now on; call it outside a transaction.

    The triggers are stored in the file, so they also record the changes of those who open it later. A database that has
    an audit is left unchanged.
    """
    connection.execute(_AUDIT_TABLE)
    for table in _AUDITED_TABLES:
        for event in ("INSERT", "UPDATE", "DELETE"):
            connection.execute(_trigger(connection, table, event))


def table_columns(connection: sqlite3.Connection, table: str) -> dict[str, bool]:
    """Return for each column of a table whether it needs a value."""
    return {row[1]: bool(row[3]) for row in connection.execute(f"PRAGMA table_info({table})")}


def _trigger(connection: sqlite3.Connection, table: str, event: str) -> str:
    pairs = ", ".join(f"'{name}', NEW.{name}" for name in table_columns(connection, table))
    changed, record = ("OLD", "NULL") if event == "DELETE" else ("NEW", f"json_object({pairs})")
    return f"""
        CREATE TRIGGER IF NOT EXISTS audit_{table}_{event} AFTER {event} ON {table} BEGIN
            INSERT INTO audit (at, resource, id, record)
            VALUES ({_NOW}, '{table}', {changed}.{table}_id, {record});
        END"""  # noqa: S608
