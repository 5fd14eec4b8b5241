"""Measure loads, compared with other tools that load the same frame from a very fast server, for each shape of data.

    python -m tests.benchmarks.loads [rounds]

Every figure is measured for each shape of `_shapes`; the worst of them is the result. A round takes about five minutes,
and three rounds give more stable figures. The last output is the table of docs/performance.md, which explains the
figures. Decoding is half of a load, and costs more than `orjson.loads`, which makes no columns: this bounds the aims.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory
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
FEW = ("orjson and Polars", "json_normalize, page by page")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table in docs/performance.md: its name, the largest acceptable figure, and one figure per shape."""

    what: str
    aim: float
    figures: tuple[float, ...]

    def __str__(self) -> str:
        worst = max(self.figures)
        shapes = ", ".join(f"{each:.2f}" for each in self.figures)
        reached = "yes" if worst <= self.aim else "**no**"
        return f"| {self.what} | ≤ {self.aim:g} | {shapes} | {worst:.2f} | {reached} |"


HEAD = "| what | aim | all shapes | worst | reached |\n| --- | --- | --- | --- | --- |"


def main(rounds: int = 1, entries: int = 100_000, matters: int = 20_000, many: int = 1_000_000) -> None:
    """Measure everything and print it, and at the end the table of all rows."""
    rows = []
    for row in _rows(rounds, entries, matters, many):
        print(f"worst: {max(row.figures):.2f}", flush=True)
        rows.append(row)
    print(f"\n{HEAD}", *rows, sep="\n", flush=True)


def _rows(rounds: int, entries: int, matters: int, many: int) -> Iterator[Row]:
    title = "Decoding pages of 1,000 to Arrow, beside orjson.loads"
    decoded = report(title, (compare(*pair, 4 * rounds, processor) for pair in decoding()))
    yield _row("decode 20 pages of time entries to Arrow, beside `orjson.loads`", 1.2, decoded[::2])
    yield _row("decode 5 pages of matters with 0, 20, 5 and 5 custom fields", 1.5, decoded[1::2])
    lists = ((ENTRIES, entries, "entries", (0.9, 0.65)), (MATTERS, matters, "matters", (0.75, 0.7)))
    for listing, records, name, aims in lists:
        loads = report(f"{records:,} of {listing.path}, no latency", _loads(listing, records, rounds))
        for peer, aim in zip(FEW, aims, strict=True):
            found = [each for each in loads if each.name.startswith(peer)]
            yield _row(f"{records:,} {name} to pandas, no latency, beside {peer}", aim, found)
    behind = report(f"{entries:,} entries behind 100 ms, beside the bare download", _downloads(entries, rounds))
    yield _row(f"{entries:,} entries behind 100 ms, beside the bare download on 8 connections", 1.4, behind)
    busy = report(f"The same beside {WRITES:.0f} writes a second, beside quiet", _busy(entries, rounds))
    yield _row(f"{entries:,} entries behind 100 ms beside 2 writes a second, beside the same quiet", 1.6, busy)
    first = report("First row of a month of 900 entries in a fresh process, import included", _first_rows(rounds))
    yield _row("first row of a month in a fresh process, import included, beside `httpx` and pandas", 1.2, first)
    for listing, records, name, _ in lists:
        print(f"\nRequests for {records:,} {name}, and the proof")
        sent = tuple(_requests(listing, records))
        pages = -(-records // 1000)
        yield Row(f"requests for {pages} pages of {name}", 1.05 * pages if listing is ENTRIES else 1.15 * pages, sent)
    print(f"\nMemory to load {many:,} entries, peak above start and result, each in a process of its own")
    taken = list(_memory.measured(many))
    what = f"memory of {many:,} entries into pandas, peak above start beside the frame, second shape"
    yield Row(what, 1.8, tuple(taken[:1]))


def _row(what: str, aim: float, comparisons: list[Comparison]) -> Row:
    return Row(what, aim, tuple(each.ratio for each in comparisons))


def _loads(listing: Listing, records: int, rounds: int) -> Iterator[Comparison]:
    for number, shape in enumerate(SHAPES):
        with serving(number, records) as url, bf.Client(url, "benchmark") as client:
            for name in FEW if number else _installed_peers():
                peer = partial(_whole, PEERS[name], url, listing, records)
                yield compare(f"{name}: {shape.name}", partial(_ours, client, listing), peer, rounds, processor)


def _installed_peers() -> list[str]:
    if importlib.util.find_spec("dlt"):
        return list(PEERS)
    print("dlt is not installed, so it is left out")
    return [name for name in PEERS if not name.startswith("dlt")]


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
    # The unmeasured run writes the bytecode, which installed packages have, even if the environment disables it.
    with TemporaryDirectory() as bytecode:
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**inherited, "PYTHONPYCACHEPREFIX": bytecode}
        for number, shape in enumerate(SHAPES):
            with serving(number, 900, a_day=30) as url:
                ours, theirs = (partial(_running, code.format(url), environment) for code in (_OURS, _THEIRS))
                yield compare(shape.name, ours, theirs, 3 * rounds, processor)


def _running(code: str, environment: dict[str, str]) -> Any:
    return subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def _requests(listing: Listing, records: int) -> Iterator[int]:
    for number, shape in enumerate(SHAPES):
        with serving(number, records) as url, bf.Client(url, "benchmark") as client:
            load = _ours(client, listing).attrs["load"]
        print(f"{load['requests']}, {load['proof']} ({shape.name})", flush=True)
        yield load["requests"]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
