"""Run a sandbox and writers in other processes, and compare each load made meanwhile with the audit."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import billframes as bf
from billframes.errors import PagingError
from billframes.sandbox.seed import seed_database
from billframes.sandbox.store import Store
from tests.live.audit import Audit, Differences, Version, compare, rows_of_frame, rows_of_response

TOKEN = "sandbox-full"
PAGE = 1000


@dataclass(slots=True)
class Outcome:
    """How a load ended."""

    proof: str
    rows: int = 0
    requests: int = 0
    seconds: float = 0.0
    changes: int = 0
    error: str = ""
    differences: Differences = field(default_factory=Differences)


Load = Callable[[], tuple[list[tuple[str, Version]], str, int]]


def make_firm(path: Path, rows: int) -> None:
    """Make the small firm if there is none, and then delete or copy time entries until there are this many."""
    store = Store(path, seed_database)
    with store.write_transaction() as (connection, _):
        connection.create_function("new_id", 0, lambda: str(uuid.uuid4()))
        while (missing := rows - connection.execute("SELECT count(*) FROM time_entry").fetchone()[0]) > 0:
            _copy(connection, missing)
        connection.execute("DELETE FROM time_entry WHERE rowid IN (SELECT rowid FROM time_entry LIMIT ?)", (-missing,))
    store.close()


def _copy(connection: sqlite3.Connection, most: int) -> None:
    names = [row[1] for row in connection.execute("PRAGMA table_info(time_entry)")]
    own = {"time_entry_id": "new_id()", "invoice_id": "NULL"}
    values = ", ".join(own.get(name, name) for name in names)
    connection.execute(
        f"INSERT INTO time_entry ({', '.join(names)}) SELECT {values} FROM time_entry ORDER BY rowid LIMIT ?", (most,)
    )


@contextmanager
def serving(database: Path) -> Iterator[str]:
    """Run a sandbox on a database; yield its address."""
    command = [sys.executable, "-m", "billframes", "sandbox", "--db", str(database), "--audit", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(server.stdout.readline())["base_url"]
    finally:
        server.terminate()
        server.communicate(timeout=30)


@contextmanager
def writing(address: str, writers: int, pause: float = 0.0) -> Iterator[Counter[str]]:
    """Run writers, at full speed or with a pause after each write; afterwards the counter has the number of writes."""
    command = [sys.executable, "-m", "tests.live.writer", address, TOKEN]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    at_work = [subprocess.Popen([*command, str(number), str(pause)], **pipes) for number in range(writers)]
    counts: Counter[str] = Counter()
    try:
        for each in at_work:
            assert each.stdout.readline() == "ready\n"
        for each in at_work:
            each.stdin.write("go\n")
            each.stdin.flush()
        yield counts
    finally:
        for each in at_work:
            each.stdin.close()
        for each in at_work:
            counts.update(json.loads(each.stdout.read() or "{}"))
            each.stdout.close()
            each.wait(30)


def billframes_load(client: bf.Client) -> Load:
    """Return a function that loads all time entries with billframes."""

    def load() -> tuple[list[tuple[str, Version]], str, int]:
        frame = client.time_entries(progress=False)
        info = frame.attrs["load"]
        return rows_of_frame(frame), info["proof"], info["requests"]

    return load


def bare_load(http: httpx.Client, page: int = PAGE) -> Load:
    """Return a function that loads all time entries as most clients do: pages by offset, several at a time."""

    def fetch(offset: int) -> dict[str, Any]:
        query = {"sort": "date", "select": "meta", "limit": page, "offset": offset}
        return http.get("/v2/time-entries", params=query).raise_for_status().json()

    def load() -> tuple[list[tuple[str, Version]], str, int]:
        first = fetch(0)
        offsets = range(page, first["pagination"]["total"], page)
        with ThreadPoolExecutor(8) as pool:
            pages = [first, *pool.map(fetch, offsets)]
        return [row for each in pages for row in rows_of_response(each["data"])], "complete", len(pages)

    return load


def load_for(seconds: float, load: Load, audit: Audit) -> list[Outcome]:
    """Load again and again for some time, at least once; compare each load with the audit."""
    outcomes, end = [], time.monotonic() + seconds
    while not outcomes or time.monotonic() < end:
        audit.advance(audit.now())
        outcomes.append(_timed_load(load, audit))
    return outcomes


def _timed_load(load: Load, audit: Audit) -> Outcome:
    begun = time.monotonic()
    try:
        rows, proof, requests = load()
    except PagingError as error:
        return Outcome("raised", seconds=time.monotonic() - begun, error=str(error))
    seconds = time.monotonic() - begun
    changes = audit.changes(audit.now())
    return Outcome(
        proof, len(rows), requests, seconds, len(changes), differences=compare(audit.state, changes, rows, proof)
    )
