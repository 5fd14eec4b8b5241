"""Measure bulk edits: writes per second compared with bare PUTs, and memory while many rows are planned and applied.

    python -m tests.benchmarks.bulk [rows of the largest plan]

The sandbox runs in another process. Applies and bare PUTs of the same records take turns, so that a busy machine slows
both alike. Each plan's memory is measured in a new process, above its memory before the plan.
"""

from __future__ import annotations

import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec

import billframes as bf
from tests.benchmarks._memory import MIB, _reset_peak, _status
from tests.benchmarks.mirror import serving

__all__ = ["main"]

CONNECTIONS = 8
ROUNDS = 3
# The delay of each response in milliseconds, and the writes of a round.
DELAYS = ((0, 1_500), (20, 1_000))


def main(rows: int = 10_000) -> None:
    """Measure everything and print it."""
    print(f"\nBulk edits, {CONNECTIONS} connections: writes a second (at least 0.80 of bare PUTs)")
    with tempfile.TemporaryDirectory() as folder:
        for delay, writes in DELAYS:
            with serving(Path(folder) / f"{delay}.db", "--latency-ms", str(delay)) as (url, token):
                print(_summary(delay, list(_pairs(url, token, writes, Path(folder)))), flush=True)
        database = Path(folder) / "many.db"
        with serving(database):
            pass
        _grow(database, rows)
        for line in _memory(database, rows):
            print(line, flush=True)


def _summary(delay: int, pairs: list[tuple[float, float]]) -> str:
    ratios = sorted(ours / bare for ours, bare in pairs)
    ours, bare = (statistics.median(each) for each in zip(*pairs, strict=True))
    return (
        f"answers delayed by {delay} ms: apply {ours:.0f}, bare PUTs {bare:.0f}: {statistics.median(ratios):.2f} "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


def _pairs(url: str, token: str, writes: int, folder: Path) -> Iterator[tuple[float, float]]:
    """Yield the writes per second of an apply and of bare PUTs, in turn."""
    with bf.Client(url, token, progress=False, concurrency=CONNECTIONS) as client:
        ids = client.time_entries(billed=False).head(writes)["time_entry_id"].tolist()
        for nth in range(ROUNDS + 1):
            bare = _bare(client, ids, f"Bare {nth}") if nth % 2 else 0.0
            plan = client.time_entries.plan(
                client.time_entries(billed=False).head(writes).assign(description=f"Planned {nth}")
            )
            began = time.perf_counter()
            outcomes = plan.apply(folder / f"{url.rpartition(':')[2]}-{nth}.journal")
            took = time.perf_counter() - began
            assert (outcomes["outcome"] == "done").all()
            bare = bare or _bare(client, ids, f"Bare {nth}")
            if nth:
                yield writes / took, writes / bare


def _bare(client: bf.Client, ids: list[str], text: str) -> float:
    body = msgspec.json.encode({"description": text})

    def put(id_: str) -> None:
        client._connection.send("PUT", f"/v2/time-entries/{id_}", body, resource="time_entries")

    began = time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(put, ids))
    return time.perf_counter() - began


def _grow(database: Path, rows: int) -> None:
    """Copy unbilled entries until there are this many."""
    with closing(sqlite3.connect(database)) as connection, connection:
        names = [row[1] for row in connection.execute("PRAGMA table_info(time_entry)")]
        copied = ", ".join(names).replace("time_entry_id", "{id}")
        new = (
            "lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' ||"
        )
        new += " substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))"
        unbilled = connection.execute("SELECT count(*) FROM time_entry WHERE invoice_id IS NULL").fetchone()[0]
        while unbilled < rows:
            added = min(unbilled, rows - unbilled)
            connection.execute(
                f"INSERT INTO time_entry ({', '.join(names)}) SELECT {copied.format(id=new)} FROM time_entry"
                f" WHERE invoice_id IS NULL LIMIT {added}"
            )
            unbilled += added


def _memory(database: Path, rows: int) -> Iterator[str]:
    with serving(database) as (url, token):
        for count in (rows // 10, rows):
            command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.bulk", "apply", url, token, str(count)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            figures = json.loads(done.stdout.splitlines()[-1])
            yield (
                f"{count:,} rows: plan {figures['plan']:.1f} s and {figures['requests']:.0f} requests, "
                f"{figures['planned']:.0f} MiB; apply {count / figures['apply']:.0f} a second, "
                f"{figures['applied']:.0f} MiB more at its peak"
            )


def _apply(url: str, token: str, rows: int) -> dict[str, float]:
    """Plan and apply this many rows; return the times and the memory."""
    with tempfile.TemporaryDirectory() as folder, bf.Client(url, token, progress=False) as client:
        frame = client.time_entries(billed=False).head(rows)
        edited = frame.assign(description=[f"Edited {number}" for number in range(len(frame))])
        start, began = _reset_peak(), time.perf_counter()
        plan = client.time_entries.plan(edited)
        planned, peak = time.perf_counter() - began, _status("VmHWM")
        before, began = _reset_peak(), time.perf_counter()
        outcomes = plan.apply(Path(folder) / "edits.journal")
        assert (outcomes["outcome"] == "done").all()
        return {
            "plan": planned,
            "requests": plan.requests,
            "planned": (peak - start) / MIB,
            "apply": time.perf_counter() - began,
            "applied": (_status("VmHWM") - before) / MIB,
        }


if __name__ == "__main__":
    if sys.argv[1:2] == ["apply"]:
        print(json.dumps(_apply(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main(*map(int, sys.argv[1:2]))
