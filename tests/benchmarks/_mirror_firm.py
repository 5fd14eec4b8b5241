"""Make a large firm for the mirror: many copies of the sandbox's small firm in one database.

Each copy has its own clients, matters, invoices and items, with different ids and texts, so that the data compress no
better than those of a real firm. People and codes are shared.
"""

from __future__ import annotations

import functools
import random
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from billframes.sandbox import Sandbox

__all__ = ["change", "grow", "make_large_firm"]

# Tables before those that refer to them.
TABLES = ("client", "matter", "matter_originator", "invoice", "invoice_matter", "fixed_fee", "expense", "time_entry")
_IDS = {"client_id", "matter_id", "invoice_id", "fixed_fee_id", "expense_id", "time_entry_id", "record_id"}
_NUMBERED = {"name", "reference", "invoice_number"}


def make_large_firm(path: Path, copies: int) -> Path:
    """Make the database, unless it exists."""
    if not path.exists():
        Sandbox(db=path).start().stop()
        grow(path, copies)
    return path


def grow(path: Path, copies: int) -> None:
    """Multiply the firm of a database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.create_function("own_id", 2, _own_id, deterministic=True)
        connection.create_function("own_words", 2, _own_words, deterministic=True)
        with connection, _without_indexes(connection):
            for copy in range(1, copies):
                connection.execute(
                    "INSERT INTO custom_value SELECT own_id(record_id, ?), custom_field_id, value, option_id"
                    " FROM custom_value WHERE record_id IN (SELECT client_id FROM seed_client"
                    " UNION ALL SELECT matter_id FROM seed_matter)",
                    (copy,),
                )
                for table in TABLES:
                    connection.execute(_copying(connection, table), {"copy": copy})
            for table in TABLES:
                connection.execute(f"DROP TABLE seed_{table}")


@contextmanager
def _without_indexes(connection: sqlite3.Connection) -> Iterator[None]:
    """Yield with the seeded rows in temporary tables; make the indexes afterwards."""
    connection.execute("PRAGMA foreign_keys = OFF")
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL"
    indexes = connection.execute(query).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    for table in TABLES:
        connection.execute(f"CREATE TABLE seed_{table} AS SELECT {', '.join(_columns(connection, table))} FROM {table}")
    yield
    for _, statement in indexes:
        connection.execute(statement)


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _copying(connection: sqlite3.Connection, table: str) -> str:
    names = _columns(connection, table)
    values = ", ".join(map(_value, names))
    return f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM seed_{table}"


def _value(name: str) -> str:
    if name in _IDS:
        return f"own_id({name}, :copy)"
    if name in _NUMBERED:
        return f"{name} || '-' || :copy"
    if name in {"created_at", "modified_at"}:
        # Each copy has other seconds, because instants of a real firm rarely tie.
        return f"substr({name}, 1, 17) || printf('%09.6f', abs(random() % 60000000) / 1000000.0) || 'Z'"
    return f"own_words({name}, :copy)" if name == "description" else name


@functools.lru_cache(maxsize=100_000)
def _own_id(id_: str | None, copy: int) -> str | None:
    return (
        None if id_ is None else str(uuid.UUID(int=hash((id_, copy, 1)) % 2**64 << 64 | hash((id_, copy, 2)) % 2**64))
    )


def _own_words(text: str, copy: int) -> str:
    words = text.split()
    random.Random(f"{text}{copy}").shuffle(words)
    return " ".join(words)


def change(path: Path, changes: int, deletions: int, seed: int, changed: str, deleted: str) -> None:
    """Change unbilled time dated from `changed` on, and delete unbilled time dated from `deleted` on."""
    with closing(sqlite3.connect(path, timeout=60)) as connection, connection:
        query = "SELECT time_entry_id FROM time_entry WHERE invoice_id IS NULL AND date >= ? ORDER BY 1"
        gone = random.Random(seed).sample([row[0] for row in connection.execute(query, (deleted,))], deletions)
        left = sorted({row[0] for row in connection.execute(query, (changed,))} - {*gone})
        chosen = [*random.Random(seed).sample(left, changes), *gone]
        connection.executemany(
            "UPDATE time_entry SET hours = hours + 1000, modified_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ("
            " SELECT value FROM setting WHERE name = 'clock_offset_seconds') || ' seconds') WHERE time_entry_id = ?",
            [(id_,) for id_ in chosen[:changes]],
        )
        connection.executemany("DELETE FROM time_entry WHERE time_entry_id = ?", [(id_,) for id_ in chosen[changes:]])
