"""Measure the milliseconds of calls that must be fast: the sandbox's pages, and the filter panel.

    python -m tests.benchmarks.bounds [sandbox size]

The time depends on the machine and its other work, so no test checks it; see docs/performance.md.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx

import billframes as bf
from billframes.sandbox import Sandbox
from tests.benchmarks import _firm

__all__ = ["main"]

Bound = tuple[str, float, Callable[[], Any]]


def main(size: str = "large", rows: int = 200_000, rounds: int = 9) -> None:
    """Measure everything and print it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "firm.sqlite"
        Sandbox(size=size, db=file).start().stop()
        _measure(f"Sandbox, --size {size}: start", [("an existing database", 2000, lambda: _started(file, size))], 3)
        with Sandbox() as sandbox, _http(sandbox) as http:
            everything = "client,matter,user,meta,fixedFee"
            bound = ("1,000 entries, everything selected", 30.0, _page(http, select=everything))
            _measure("Sandbox, --size small: a page", [bound], rounds)
        with Sandbox(size=size, db=file) as sandbox, _http(sandbox) as http:
            total = _page(http, limit=1)().json()["pagination"]["total"]
            _measure(f"Sandbox, {total:,} time entries: pages of 1,000", _pages(http, total), rounds)
    _measure(f"Filter panel, {rows:,} rows, 5,000 matters", _panel(rows), rounds)


def _measure(title: str, bounds: Iterator[Bound] | list[Bound], rounds: int) -> None:
    print(f"\n{title}\n{'':<44} {'median':>10} {'highest':>10} {'at most':>10}")
    for name, most, call in bounds:
        call()
        took = [1000 * _seconds(call) for _ in range(rounds)]
        print(f"{name:<44} {statistics.median(took):7.0f} ms {max(took):7.0f} ms {most:7.0f} ms", flush=True)


def _seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _started(file: Path, size: str) -> None:
    with Sandbox(size=size, db=file) as sandbox:
        httpx.get(f"{sandbox.base_url}{sandbox.health_path}").raise_for_status()


def _http(sandbox: Sandbox) -> httpx.Client:
    return httpx.Client(base_url=sandbox.base_url, headers={"Authorization": f"Bearer {sandbox.tokens['full']}"})


def _page(http: httpx.Client, **query: Any) -> Callable[[], httpx.Response]:
    params = {"limit": 1000, **query}
    return lambda: http.get("/v2/time-entries", params=params, timeout=60).raise_for_status()


def _pages(http: httpx.Client, total: int) -> Iterator[Bound]:
    user = _page(http, limit=1)().json()["data"][0]["userId"]
    month = {"startDate": "2026-10-01", "endDate": "2026-10-31"}
    yield "filtered by month and billing type", 50, _page(http, **month, billingType="billable", sort="date")
    yield "filtered by timekeeper", 50, _page(http, userId=user, sort="date")
    for sort in ("date", "created", "hours"):
        yield f"the deepest, sorted by {sort}", 250, _page(http, sort=sort, offset=total - 1000)


def _panel(rows: int) -> Iterator[Bound]:
    # A million entries of this firm are of 5,000 matters, in random order.
    frame = _firm.make(1_000_000)[1].time_entries.head(rows)
    panel = bf.widgets.filter_panel(frame)
    clients, turn = frame["client_id"].unique(), count()

    def change(states: list[dict[str, Any]]) -> Callable[[], Any]:
        def call() -> None:
            panel.state = states[next(turn) % len(states)]
            len(panel.frame)

        return call

    matters = panel.controls["matter_id"]
    # Open balances are counted again after each change.
    matters.open()
    panel.controls["client_id"].open()
    months = [{"date": "2026-03"}, {"date": "2026-04"}]
    yield "a change of period", 300, change(months)
    yield "a change of client", 300, change([{"client_id": [each]} for each in clients[:2]])
    yield "a search among matters", 300, lambda: setattr(matters.search, "value", str(next(turn) % 90 + 10))


if __name__ == "__main__":
    main(*sys.argv[1:2])
