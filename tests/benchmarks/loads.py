"""Loads beside every other way to the same frame, from a server that costs next to nothing, on each shape of data.

    python -m tests.benchmarks.loads [rounds]

Every figure is told for each shape of `_shapes`; the worst of them counts. See docs/performance.md for what the figures
mean.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pandas as pd

import billframes as bf
from tests.benchmarks import _memory
from tests.benchmarks._decoding import decoding
from tests.benchmarks._peers import ENTRIES, MATTERS, PEERS, Listing, download
from tests.benchmarks._replay import serving
from tests.benchmarks._shapes import SHAPES
from tests.benchmarks._timing import Comparison, compare, processor, report

__all__ = ["main"]

LATENCY = 0.1
WRITES = 2.0
FEW = ("json_normalize, page by page", "orjson and Polars")


def main(rounds: int = 3, entries: int = 100_000, matters: int = 20_000, many: int = 1_000_000) -> None:
    """Measure everything and print it."""
    decoded = (compare(*pair, rounds, processor) for pair in decoding())
    _worst(report("Decoding pages of 1,000 to Arrow, beside orjson.loads", decoded))
    for listing, records in ((ENTRIES, entries), (MATTERS, matters)):
        loads = report(f"{records:,} of {listing.path}, no latency", _loads(listing, records, rounds))
        for name in FEW:
            _worst([each for each in loads if each.name.startswith(name)])
    behind = report(f"{entries:,} entries behind 100 ms, beside the bare download", _downloads(entries, rounds))
    _worst(behind)
    _worst(report(f"The same beside {WRITES:.0f} writes a second, beside quiet", _busy(entries, rounds)))
    _worst(report("First row of a month of 900 entries in a fresh process, import included", _first_rows(rounds)))
    print("\nRequests, ours and bare pages, and the proof")
    for line in _requests(entries, matters):
        print(line, flush=True)
    print(f"\nMemory to load {many:,} entries, peak above start and result, each in a process of its own")
    for line in _memory.told(many):
        print(line, flush=True)


def _worst(comparisons: list[Comparison]) -> None:
    worst = max(comparisons, key=lambda each: each.ratio)
    print(f"worst: {worst.ratio:.2f} ({worst.name})", flush=True)


def _loads(listing: Listing, records: int, rounds: int) -> Iterator[Comparison]:
    for number, shape in enumerate(SHAPES):
        with serving(number, records) as url, bf.Client(url, "benchmark") as client:
            for name in FEW if number else PEERS:
                peer = partial(_whole, PEERS[name], url, listing, records)
                yield compare(f"{name}: {shape.name}", partial(_ours, client, listing), peer, rounds, processor)


def _ours(client: bf.Client, listing: Listing) -> pd.DataFrame:
    return client.time_entries() if listing is ENTRIES else client.matters(select=listing.parameters["select"])


def _whole(peer: Callable[..., pd.DataFrame], url: str, listing: Listing, records: int) -> None:
    if (came := len(peer(url, listing, records))) != records:
        raise SystemExit(f"{came} rows came of {records}")


def _downloads(entries: int, rounds: int) -> Iterator[Comparison]:
    for number, shape in enumerate(SHAPES):
        with serving(number, entries, seconds=LATENCY) as url, bf.Client(url, "benchmark") as client:
            bare = partial(download, url, ENTRIES, entries)
            yield compare(shape.name, client.time_entries, bare, rounds, time.perf_counter)


def _busy(entries: int, rounds: int) -> Iterator[Comparison]:
    for number, shape in enumerate(SHAPES):
        with (
            serving(number, entries, seconds=LATENCY) as quiet,
            serving(number, entries, seconds=LATENCY, writes=WRITES) as busy,
            bf.Client(quiet, "benchmark") as of_quiet,
            bf.Client(busy, "benchmark") as of_busy,
        ):
            yield compare(shape.name, of_busy.time_entries, of_quiet.time_entries, rounds, time.perf_counter)


_OURS = "import billframes as bf; bf.connect({!r}, 'benchmark'); assert len(str(bf.time_entries('2022-11').head(1)))"
_THEIRS = (
    "import httpx, pandas as pd; "
    "rows = httpx.get({!r} + '/v2/time-entries', params={{'startDate': '2022-11-01', 'endDate': '2022-11-30',"
    "'limit': 1000, 'select': 'client,matter,user,meta,fixedFee'}}).json()['data'];"
    "frame = pd.json_normalize(rows); frame['date'] = pd.to_datetime(frame['date']); "
    "frame['meta.createdAt'] = pd.to_datetime(frame['meta.createdAt'], format='ISO8601', utc=True);"
    "assert len(str(frame.head(1)))"
)


def _first_rows(rounds: int) -> Iterator[Comparison]:
    for number, shape in enumerate(SHAPES):
        with serving(number, 900, a_day=30) as url:
            ours, theirs = (partial(_running, code.format(url)) for code in (_OURS, _THEIRS))
            yield compare(shape.name, ours, theirs, 3 * rounds, processor)


def _running(code: str) -> Any:
    return subprocess.run([sys.executable, "-c", code], check=True)


def _requests(entries: int, matters: int) -> Iterator[str]:
    for number, shape in enumerate(SHAPES):
        with serving(number, entries) as url, bf.Client(url, "benchmark") as client:
            load = client.time_entries().attrs["load"]
        bare = -(-entries // 1000)
        yield f"{entries:>9,} entries: {load['requests']} for {bare}, {load['proof']} ({shape.name})"
        with serving(number, matters) as url, bf.Client(url, "benchmark") as client:
            load = client.matters(select=MATTERS.parameters["select"]).attrs["load"]
        bare = -(-matters // 1000)
        yield f"{matters:>9,} matters: {load['requests']} for {bare}, {load['proof']} ({shape.name})"


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
