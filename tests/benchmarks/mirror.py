"""Measure the mirror: first refresh, small refresh, a month's load, size on disk, and analyses of large data.

    python -m tests.benchmarks.mirror [copies of the sandbox's firm] [copies of its entries for the engines]

39 copies have 1,000,000 time entries, 2,340 clients and 57,000 invoices. Each figure is measured in a new process; the
sandbox runs in another one. Memory is the peak above the memory of the process after its imports.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import httpx

import billframes as bf
from tests.benchmarks._engines import grown, realized
from tests.benchmarks._memory import MIB, _reset_peak, _status
from tests.benchmarks._mirror_firm import change, make_large_firm

__all__ = ["main"]

Figures = dict[str, float]
# The periods of the changes, with the first day of changes and that of deletions.
PLACES = (("a month", "2026-10-02", "2026-10-02"), ("all months, and a year", "2024-01-01", "2025-11-01"))


def main(copies: int = 39, more: int = 10) -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as folder:
        database, place = make_large_firm(Path(folder) / "firm.db", copies), Path(folder) / "mirror"
        for line in figures(database, place, more):
            print(line, flush=True)


def figures(database: Path, place: Path, more: int) -> Iterator[str]:
    """Measure each figure, and print one line for it."""
    with serving(database) as (url, token):
        bare = _alone("bare", url, token)
        first = _alone("first", url, token, str(place))
        yield (
            f"first refresh: {first['rows']:,.0f} entries, {first['requests']:,.0f} requests, "
            f"{first['seconds']:.0f} s ({first['processor']:.0f} s of processor time), peak {first['peak']:,.0f} MiB"
        )
        yield (
            f"  beside the same pages thrown away: {bare['processor']:.0f} s of processor time, "
            f"{first['processor'] / bare['processor']:.2f} (at most 1.5); peak {bare['peak']:,.0f} MiB"
        )
        for seed, (where, changed, deleted) in enumerate(PLACES):
            change(database, 500, 50, seed, changed, deleted)
            small = _alone("refresh", url, token, str(place))
            yield (
                f"refresh after 500 changes and 50 deletions in {where} "
                f"({small['updated']:.0f} and {small['removed']:.0f} found): "
                f"{small['requests']:,.0f} requests ({small['requests'] / first['requests']:.1%}, at most 3 %), "
                f"{small['seconds']:.1f} s ({small['seconds'] / first['seconds']:.1%}, at most 10 %), "
                f"{small['processor']:.1f} s of processor time"
            )
        page = _page_bytes(url, token)
    disk = _bytes(place / "time_entries") / first["rows"]
    yield f"disk: {disk:.0f} bytes an entry, 1/{page / disk:.1f} of its {page:.0f} bytes of JSON (at most 1/5)"
    opened = [_alone("month", str(place)) for _ in range(3)]
    for what in ("first", "next"):
        times = ", ".join(f"{each[what]:.0f}" for each in opened)
        yield f"a month's load in a fresh process, {what}: {times} ms (at most 150)"
    grown(place, more)
    # Polars keeps whole columns in memory, and DuckDB does not.
    for (engine, most), columns in product((("duckdb", 2048), ("polars", 2560)), ("needed", "all")):
        big = _alone("engine", str(place), engine, columns)
        yield (
            f"realization by client over {big['rows']:,.0f} entries on {engine}, {columns} columns: "
            f"{big['seconds']:.1f} s, peak {big['peak']:,.0f} MiB (at most {most:,})"
        )


@contextmanager
def serving(database: Path, *options: str) -> Iterator[tuple[str, str]]:
    """Serve a database from another process; yield its address and a token."""
    command = [sys.executable, "-m", "billframes", "sandbox", "--db", str(database), "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            ready = json.loads(process.stdout.readline())
            yield ready["base_url"], ready["tokens"]["full"]
        finally:
            process.terminate()


def _page_bytes(url: str, token: str) -> float:
    """Return the bytes of JSON per entry, with all details selected."""
    query = {"limit": 1000, "select": "client,matter,user,meta,fixedFee", "sort": "-date"}
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx.get(f"{url}/v2/time-entries", params=query, headers=headers, timeout=60).raise_for_status()
    return len(answer.content) / len(answer.json()["data"])


def _bytes(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*.parquet"))


def _alone(what: str, *arguments: str) -> Figures:
    """Measure in a new process."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.mirror", what, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # an error is shown
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def _measured(call: Callable[[], Figures]) -> Figures:
    start, began, processor = _reset_peak(), time.perf_counter(), time.process_time()
    figures = call()
    times = {"seconds": time.perf_counter() - began, "processor": time.process_time() - processor}
    return {**times, "peak": (_status("VmHWM") - start) / MIB, **figures}


def _bare(url: str, token: str) -> Figures:
    """Load the pages of a first refresh, window by window, and discard them."""
    from billframes.mirror.server_lists import ServerLists, cut_windows
    from billframes.mirror.tables import TABLES

    with bf.Client(url, token, progress=False) as client:

        def call() -> Figures:
            server = ServerLists(client, False)
            for table in TABLES.values():
                if not table.incremental:
                    server.load(table.name)
                    continue
                for window in cut_windows(server, table, server.count(table.name)):
                    server.load(table.name, *window) if table.date else server.load(table.name)
            return {"requests": server.requests}

        return _measured(call)


def _refresh(url: str, token: str, place: str) -> Figures:
    with bf.Client(url, token, progress=False) as client:
        mirror = bf.mirror(place, client=client)

        def call() -> Figures:
            summary = mirror.refresh()
            entries = summary.set_index("resource").loc["time_entries"]
            return {
                "requests": float(summary["requests"].sum()),
                "rows": float(entries["added"]),
                **{name: float(entries[name]) for name in ("updated", "removed")},
            }

        return _measured(call)


def _month(place: str) -> Figures:
    mirror = bf.mirror(place)
    times = []
    for opened in (mirror, bf.mirror(place)):
        began = time.perf_counter()
        opened.time_entries("2026-10")
        times.append(1000 * (time.perf_counter() - began))
    return {"first": times[0], "next": times[1]}


WAYS: dict[str, Callable[..., Figures]] = {
    "bare": _bare,
    "first": _refresh,
    "refresh": _refresh,
    "month": _month,
    "engine": lambda *what: _measured(lambda: realized(*what)),
}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WAYS:
        print(json.dumps(WAYS[sys.argv[1]](*sys.argv[2:])))
    else:
        main(*map(int, sys.argv[1:3]))
