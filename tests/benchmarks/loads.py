"""Loads beside every other way to the same frame, from a server that costs next to nothing.

    python -m tests.benchmarks.loads [rounds]

See docs/performance.md for what the figures mean.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

import billframes as bf
from tests.benchmarks import _memory
from tests.benchmarks._decoding import custom_fields, decoding
from tests.benchmarks._peers import PEERS, download
from tests.benchmarks._replay import serving, stored
from tests.benchmarks._timing import Comparison, compare, processor, report

__all__ = ["main"]

LATENCY = 0.1
LOADER = "import billframes; billframes.time_entries"


def main(rounds: int = 5, entries: int = 100_000, many: int = 1_000_000) -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        stored(rows)
        report("Decoding 20 pages of 1,000, ours beside orjson.loads", _decoded(rows, rounds))
        report(f"{entries:,} entries, no latency", _loads(rows, entries, rounds, 0.0))
        report(f"{entries:,} entries, {1000 * LATENCY:.0f} ms a response", _loads(rows, entries, rounds, LATENCY))
        report(
            "Import, ours beside pandas",
            [
                compare(
                    "import billframes", *map(_importing, ("import billframes", "import pandas")), rounds, processor
                ),
                compare("and ask for a loader", *map(_importing, (LOADER, "import pandas")), rounds, processor),
            ],
        )
        print("\nRequests, ours and bare pages, and the proof")
        for count in (1000 - 1, entries, many):
            print(_requests(rows, count), flush=True)
        print(f"\nFirst row of 50,000 entries a month, {1000 * LATENCY:.0f} ms a response: {_first_row(rows):.2f} s")
        print(f"\nMemory to load {many:,} entries, peak above start and result, each in a process of its own")
        for line in _memory.told(rows, many):
            print(line, flush=True)


def _decoded(rows: Path, rounds: int) -> Iterator[Comparison]:
    templates = stored(rows)
    yield compare("time entries, everything selected", *decoding(templates), rounds, processor)
    yield compare("matters with 5 custom fields", *custom_fields(), rounds, processor)


def _loads(rows: Path, entries: int, rounds: int, seconds: float) -> Iterator[Comparison]:
    clock = time.perf_counter if seconds else processor
    with serving(rows, entries, seconds=seconds) as url, bf.Client(url, "benchmark") as client:
        ours = client.time_entries
        yield compare("download over 8 connections", ours, partial(download, url, entries), rounds, clock)
        for name, peer in PEERS.items():
            # What takes ten times as long is told well enough by fewer rounds.
            yield compare(name, ours, partial(_whole, peer, url, entries), max(1, rounds // 2), clock)


def _whole(peer: Callable[[str, int], pd.DataFrame], url: str, entries: int) -> None:
    if (came := len(peer(url, entries))) != entries:
        raise SystemExit(f"{came} rows came of {entries}")


def _importing(code: str) -> Callable[[], Any]:
    command = [sys.executable, "-c", code]
    return lambda: subprocess.run(command, check=True)


def _requests(rows: Path, entries: int) -> str:
    with serving(rows, entries) as url, bf.Client(url, "benchmark") as client:
        load = client.time_entries(to="pandas").attrs["load"]
    bare = -(-entries // 1000)
    return f"{entries:>9,} entries: {load['requests']} for {bare} ({load['requests'] / bare:.3f}), {load['proof']}"


def _first_row(rows: Path) -> float:
    """Seconds from a fresh process's call to the first rows of a month on screen."""
    with serving(rows, 200_000, a_day=50_000 // 30, seconds=LATENCY) as url:
        code = (
            "import time, billframes as bf; bf.connect({!r}, 'benchmark'); began = time.perf_counter();"
            "assert len(str(bf.time_entries('2022-12').head(1))); print(time.perf_counter() - began)"
        )
        done = subprocess.run([sys.executable, "-c", code.format(url)], check=True, capture_output=True, text=True)
    return float(done.stdout)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
