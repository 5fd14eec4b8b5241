"""A made-up firm: its people, their clients, and thirty-four months of work and bills.

`seed_database` fills an empty database. The months are simulated in order: work is done, entered late, billed
early the next month, written down, and paid or not. The last day is 2026-10-31, so October 2026 is half billed and the
unpaid invoices are of every age. The same seed and size make the same firm, byte for byte.
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

from billframes.sandbox.seed.basics import SeededRandom

__all__ = ["SIZES", "seed_database", "template_path"]

SIZES = {"small": 1, "medium": 10, "large": 100}

_CACHE_KIB = 500_000

_BUSY_TABLES = ("time_entry", "expense", "fixed_fee", "invoice")


def seed_database(connection: sqlite3.Connection, *, seed: int = 0, size: str = "small") -> None:
    """
    Insert the whole firm into an empty database.

    Parameters
    ----------
    connection : sqlite3.Connection
        A database with the sandbox's tables and nothing in them. Everything is inserted in one transaction;
        one that is open already is left open.
    seed : int
        Which firm: the same seed and size give the same rows.
    size : {"small", "medium", "large"}
        About 25,000, 250,000 or 2,500,000 time entries: more people, clients and matters, not more years.

    Raises
    ------
    ValueError
        The size is none of the three.
    """
    # The data files are only read when a firm is created.
    from billframes.sandbox.seed.years import Firm

    if size not in SIZES:
        raise ValueError(f"size is {size!r}; expected one of {', '.join(SIZES)}")
    with _transaction(connection), _room_to_work(connection):
        indexes = _drop_indexes(connection)
        # A time entry may be inserted before the fixed fee it is recorded under.
        connection.execute("PRAGMA defer_foreign_keys = ON")
        Firm(SeededRandom(seed), SIZES[size]).live(connection)
        for statement in indexes:
            connection.execute(statement)


def template_path(*, seed: int = 0, size: str = "small") -> Path | None:
    """
    Return the path of a firm's template, in the user's cache folder: sandboxes copy it instead of making the firm anew.

    Its name changes with every file of the sandbox, of which the firm is made. None for any firm but the small one of
    seed 0, which demos and tests start again and again: others would fill the disk.
    """
    if (seed, size) != (0, "small"):
        return None
    return platformdirs.user_cache_path("billframes") / "sandbox" / f"firm-{_made_from()}.db"


@functools.cache
def _made_from() -> str:
    digest = hashlib.sha256(sqlite3.sqlite_version.encode())
    for path in sorted(Path(__file__).parents[1].rglob("*")):
        if path.suffix in {".py", ".toml"}:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one transaction, the caller's if one is open."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def _room_to_work(connection: sqlite3.Connection) -> Iterator[None]:
    """Keep pages in memory, sort indexes on several threads, and pause the garbage collector."""
    (cached,) = connection.execute("PRAGMA cache_size").fetchone()
    (threads,) = connection.execute("PRAGMA threads").fetchone()
    collecting = gc.isenabled()
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA threads = 4")
    gc.disable()
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {cached}")
        connection.execute(f"PRAGMA threads = {threads}")
        if collecting:
            gc.enable()


def _drop_indexes(connection: sqlite3.Connection) -> list[str]:
    """Drop the indexes of the large tables and return the statements that recreate them, which is faster at the end."""
    marks = ", ".join("?" * len(_BUSY_TABLES))
    query = f"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL AND tbl_name IN ({marks})"  # noqa: S608
    indexes = connection.execute(query, _BUSY_TABLES).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    return [statement for _, statement in indexes]
