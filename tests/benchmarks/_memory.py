"""Measure the peak memory of a load, above the memory of the process before it.

    python -m tests.benchmarks._memory <pandas | arrow | json_normalize> <url> <entries>

Only Linux can reset the peak of a process.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import billframes as bf
from tests.benchmarks._peers import ENTRIES, PEERS
from tests.benchmarks._replay import serving

__all__ = ["measured"]

# Reading page by page takes long, so it is measured with a tenth of the entries; the bytes per entry are the same.
PART = 10
PAGE_BY_PAGE = "json_normalize, page by page"
MIB = 2**20


def measured(entries: int, shape: int = 1) -> Iterator[float]:
    """Measure each method with the shape that has the most different texts; print and return peaks and sizes."""
    sizes = {}
    for way, count in (("pandas", entries), ("arrow", entries), ("json_normalize", entries // PART)):
        with serving(shape, count) as url:
            command = [sys.executable, "-m", "tests.benchmarks._memory", way, url, str(count)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        peak, size = map(float, done.stdout.split())
        sizes[way] = size / count
        part = "" if count == entries else f", of {count:,}"
        print(f"{way:<16} peak {peak / MIB:8,.0f} MiB, result {size / MIB:8,.0f} MiB: {peak / size:.2f} times{part}")
        yield peak / size
    for way in ("pandas", "arrow"):
        print(f"{way}'s result beside json_normalize's frame: {sizes[way] / sizes['json_normalize']:.2f}")


def _measure(way: str, url: str, entries: int) -> tuple[int, int]:
    """Return the peak above the start, and the size of the result, in bytes."""
    with bf.Client(url, "benchmark") as client:
        client.time_entries(limit=1000)
        start = _reset_peak()
        result = PEERS[PAGE_BY_PAGE](url, ENTRIES, entries) if way == "json_normalize" else client.time_entries(to=way)
        peak = _status("VmHWM") - start
    size = result.memory_usage(deep=True).sum() if isinstance(result, pd.DataFrame) else result.nbytes
    return peak, int(size)


def _reset_peak() -> int:
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    print(*_measure(sys.argv[1], sys.argv[2], int(sys.argv[3])))
