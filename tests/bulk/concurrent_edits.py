"""Apply a plan while a colleague edits the same records: `python -m tests.bulk.concurrent_edits 20`.

Applies in waves and applies that read each record take turns. The sandbox's audit shows which of the colleague's edits
the apply overwrote, and whether one of these was made before the apply read the record.
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
from billframes.bulk import sender, writer
from billframes.sandbox import Sandbox

MINE, THEIRS = "Edited in bulk", "A colleague's edit"


@dataclass(frozen=True)
class Result:
    """
    The result of one apply.

    `lost` counts the colleague's edits that the apply overwrote. `lost_before_read` are the ids of those among them
    that were made before the apply read the record, which must not happen.
    """

    outcomes: Counter[str]
    edits: int
    lost: int
    lost_before_read: list[str]
    waves: int


@contextmanager
def note_reads(sandbox: Sandbox) -> Any:
    """Note the earliest time at which the apply can have read each record, and the ids that are sent in waves."""
    read_at: dict[str, dt.datetime] = {}
    waves: list[str] = []
    write = writer.Writer.write

    def noting(self: Any, entry: Any, unchanged_at: float | None = None) -> Any:
        waves.extend([entry.id] if unchanged_at is not None else [])
        # The clock first: if this thread has to wait between the two, the read is dated too early and never too late.
        now = sandbox._store.clock.now()
        ago = 0.0 if unchanged_at is None else time.monotonic() - unchanged_at
        read_at[entry.id] = now - dt.timedelta(seconds=ago)
        return write(self, entry, unchanged_at)

    writer.Writer.write = noting  # type: ignore[method-assign]
    try:
        yield read_at, waves
    finally:
        writer.Writer.write = write  # type: ignore[method-assign]


def apply_beside_colleague(
    sandbox: Sandbox, client: bf.Client, rows: int, rate: float, journal: Path, seed: int = 0
) -> Result:
    """Apply a plan of so many rows while a colleague edits its records, `rate` times a second."""
    chosen = random.Random(seed)
    frame = client.time_entries("2026-10", billed=False).head(rows)
    plan = client.time_entries.plan(frame.assign(description=f"{MINE} {seed}"))
    ids, stop, begun = frame["time_entry_id"].tolist(), threading.Event(), threading.Event()
    position = _sql(sandbox, "SELECT coalesce(max(position), 0) FROM audit")[0][0]
    # An edit counts as made when its response is received: only then can others see it.
    made: dict[str, dt.datetime] = {}

    def edit() -> None:
        while not stop.wait(1 / rate):
            description = f"{THEIRS} {chosen.random()}"
            client.time_entries.update(chosen.choice(ids), description=description)
            made[description] = sandbox._store.clock.now()
            begun.set()

    colleague = threading.Thread(target=edit)
    with note_reads(sandbox) as (read_at, waves):
        colleague.start()
        try:
            # At least one edit is made before the apply.
            begun.wait(60)
            outcomes = plan.apply(journal)
        finally:
            stop.set()
            colleague.join()
    edits, lost, lost_before_read = 0, 0, []
    theirs: dict[str, str] = {}
    for id_, record in _sql(sandbox, "SELECT id, record FROM audit WHERE position > ? ORDER BY position", position):
        after = json.loads(record)
        if after["description"].startswith(THEIRS):
            edits, theirs[id_] = edits + 1, after["description"]
        elif id_ in theirs:
            lost += 1
            lost_before_read += [id_] if made[theirs[id_]] < read_at[id_] else []
    return Result(Counter(outcomes["outcome"].astype(str)), edits, lost, lost_before_read, len(waves))


def _sql(sandbox: Sandbox, sql: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(sandbox.database)) as database:
        return database.execute(sql, values).fetchall()


def main(rounds: int) -> None:
    totals: dict[str, Counter[str]] = {"in waves": Counter(), "one by one": Counter()}
    with tempfile.TemporaryDirectory() as folder, Sandbox(audit=True, latency_ms=20) as sandbox:
        client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False)
        for at in range(2 * rounds):
            mode = list(totals)[at % 2]
            sender.READ_SINGLY_FIRST = 20 if mode == "in waves" else 10**9
            result = apply_beside_colleague(sandbox, client, 150, 40, Path(folder) / f"{at}.journal", at)
            assert not result.lost_before_read, result
            totals[mode] += Counter(
                edits=result.edits,
                lost=result.lost,
                held=result.outcomes["changed since planned"],
                done=result.outcomes["done"],
            )
        client.close()
    for mode, counts in totals.items():
        print(
            f"{mode}: {counts['edits']} edits of a colleague, {counts['held']} records held back for them, "
            f"{counts['done']} written, {counts['lost']} edits lost between reading and writing, 0 from before."
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
