"""A made-up firm: its people, their clients, and thirty-four months of work and bills.

`seed_database` fills an empty database. The months are simulated in order: work is done, entered late, billed early in
the next month, written down, and paid or not. The last day is 2026-10-31, so October 2026 is half billed, and unpaid
invoices are of every age. The same seed and size give the same firm, byte for byte.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

__all__ = ["SIZES", "seed_database", "template_path"]

SIZES = {"small": 1, "medium": 10, "large": 100}
_CACHE_KIB = 500_000
_LARGE_TABLES = ("time_entry", "expense", "fixed_fee", "invoice")


def seed_database(connection: sqlite3.Connection, *, seed: int = 0, size: str = "small") -> None:
    """
    Insert the whole firm into an empty database, in its transaction, which stays open. The database's cache grows.

    The same seed and size give the same rows: about 25,000, 250,000 or 2,500,000 time entries. Larger firms have more
    people, clients and matters, not more years.
    """
    # The import reads the data files, which are only needed here.
    from billframes.sandbox.seed.basics import SeededRandom
    from billframes.sandbox.seed.simulation import Simulation

    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA threads = 4")
    with _without_garbage_collector():
        indexes = _drop_indexes(connection)
        # A time entry can be inserted before its fixed fee.
        connection.execute("PRAGMA defer_foreign_keys = ON")
        Simulation(SeededRandom(seed), SIZES[size]).insert_into(connection)
        for statement in indexes:
            connection.execute(statement)


def template_path(*, seed: int = 0, size: str = "small") -> Path | None:
    """
    Return the path of a firm's template in the user's cache folder, which sandboxes copy instead of making the firm.

    The name changes if a file of the sandbox changes, because the firm is made from these files. Only the small firm of
    seed 0 has a template, because demos and tests start it often. For other firms the path is None, which saves disk
    space.
    """
    if (seed, size) != (0, "small"):
        return None
    return platformdirs.user_cache_path("billframes") / "sandbox" / f"firm-{_files_hash()}.db"


@functools.cache
def _files_hash() -> str:
    digest = hashlib.sha256(sqlite3.sqlite_version.encode())
    for path in sorted(Path(__file__).parents[1].rglob("*")):
        if path.suffix in {".py", ".sql", ".toml"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _without_garbage_collector() -> Iterator[None]:
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _drop_indexes(connection: sqlite3.Connection) -> list[str]:
    """Drop the indexes of large tables, so that inserting is faster; return the statements that recreate them."""
    marks = ", ".join("?" * len(_LARGE_TABLES))
    query = f"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL AND tbl_name IN ({marks})"  # noqa: S608
    indexes = connection.execute(query, _LARGE_TABLES).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    return [statement for _, statement in indexes]
