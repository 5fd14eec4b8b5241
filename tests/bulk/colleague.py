"""A colleague who edits the records of a plan while it is applied: `python -m tests.bulk.colleague 20`.

Reads in waves and one read a record take turns. The sandbox's audit tells which of the colleague's edits the apply
overwrote, and whether one of them was made before the apply looked.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import billframes as bf
from billframes.bulk import sending, writing
from billframes.sandbox import Sandbox

MINE, THEIRS = "Edited in bulk", "A colleague's edit"


@dataclass(frozen=True)
class Seen:
    """What happened: outcomes, the colleague's edits, those lost in the gap, those lost unseen, and writes in waves."""

    outcomes: Counter[str]
    edits: int
    lost: int
    unseen: list[str]
    waves: int


@contextmanager
def looked_at(sandbox: Sandbox) -> Any:
    """Note when the apply looked at each record at the earliest, by the sandbox's clock, and what is sent in waves."""
    looked: dict[str, dt.datetime] = {}
    waves: list[str] = []
    send = writing.Writer.send

    def noted(self: Any, entry: Any, unmoved_at: float | None = None) -> Any:
        waves.extend([entry.id] if unmoved_at is not None else [])
        # The clock first: if this thread has to wait between the two, the look is dated too early and never too late.
        now = sandbox._store.clock.now()
        ago = 0.0 if unmoved_at is None else time.monotonic() - unmoved_at
        looked[entry.id] = now - dt.timedelta(seconds=ago)
        return send(self, entry, unmoved_at)

    writing.Writer.send = noted  # type: ignore[method-assign]
    try:
        yield looked, waves
    finally:
        writing.Writer.send = send  # type: ignore[method-assign]


def edited_beside(sandbox: Sandbox, client: bf.Client, rows: int, rate: float, journal: Path, seed: int = 0) -> Seen:
    """Apply a plan of so many rows while a colleague edits its records at a rate; say what the audit shows."""
    chosen = random.Random(seed)
    frame = client.time_entries("2026-10", billed=False).head(rows)
    plan = client.time_entries.plan(frame.assign(description=f"{MINE} {seed}"))
    ids, over, begun = frame["time_entry_id"].tolist(), threading.Event(), threading.Event()
    position = _sql(sandbox, "SELECT coalesce(max(position), 0) FROM audit")[0][0]
    # An edit is made when it is answered: it has its date before others can see it.
    made: dict[str, dt.datetime] = {}

    def edit() -> None:
        while not over.wait(1 / rate):
            description = f"{THEIRS} {chosen.random()}"
            client.time_entries.update(chosen.choice(ids), description=description)
            made[description] = sandbox._store.clock.now()
            begun.set()

    colleague = threading.Thread(target=edit)
    with looked_at(sandbox) as (looked, waves):
        colleague.start()
        try:
            # However quick the apply is, one edit was made before it.
            begun.wait(60)
            outcomes = plan.apply(journal)
        finally:
            over.set()
            colleague.join()
    edits, lost, unseen = 0, 0, []
    theirs: dict[str, str] = {}
    for id_, record in _sql(sandbox, "SELECT id, record FROM audit WHERE position > ? ORDER BY position", position):
        after = json.loads(record)
        if after["description"].startswith(THEIRS):
            edits, theirs[id_] = edits + 1, after["description"]
        elif id_ in theirs:
            lost += 1
            unseen += [id_] if made[theirs[id_]] < looked[id_] else []
    return Seen(Counter(outcomes["outcome"].astype(str)), edits, lost, unseen, len(waves))


def _sql(sandbox: Sandbox, sql: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(sandbox.database)) as database:
        return database.execute(sql, values).fetchall()


def main(rounds: int) -> None:
    told: dict[str, Counter[str]] = {"in waves": Counter(), "one by one": Counter()}
    with tempfile.TemporaryDirectory() as folder, Sandbox(audit=True, latency_ms=20) as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        for at in range(2 * rounds):
            way = list(told)[at % 2]
            sending.STRICT = 20 if way == "in waves" else 10**9
            seen = edited_beside(sandbox, client, 150, 40, Path(folder) / f"{at}.journal", at)
            assert not seen.unseen, seen
            told[way] += Counter(
                edits=seen.edits,
                lost=seen.lost,
                held=seen.outcomes["changed since planned"],
                done=seen.outcomes["done"],
            )
        client.close()
    for way, counts in told.items():
        print(
            f"{way}: {counts['edits']} edits of a colleague, {counts['held']} records held back for them, "
            f"{counts['done']} written, {counts['lost']} edits lost between looking and writing, 0 from before it."
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
