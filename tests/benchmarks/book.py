"""Measure the processor time of each analysis from a book of the demo firm, and of the monthly report.

    python -m tests.benchmarks.book [rounds]

A book keeps what its analyses are made of, so the first call of each is shown apart. "Before" are the medians of the
same calls at commit ab91d5a4, which made everything in each call, measured on the machine of docs/performance.md.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

import billframes as bf
from billframes.analysis.declare.lookup import analyses
from tests.benchmarks._timing import processor

__all__ = ["main"]

PLAIN, COMPOSED, REPORT = 10.0, 20.0, 4000.0
"""The aims, in milliseconds: for an analysis of one fact, for one of several analyses, and for the report."""

BEFORE = {
    "aging": 12,
    "billing_lag": 39,
    "bridge": 184,
    "budget_burn": 60,
    "cash_forecast": 43,
    "code_check": 19,
    "compare": 1337,
    "contribution": 75,
    "duplicates": 19,
    "effective_rates": 84,
    "exposure": 84,
    "fixed_fee_realization": 28,
    "leverage": 49,
    "lockup": 132,
    "missing_time": 44,
    "new_business": 91,
    "overdue_invoices": 56,
    "prebill_review": 107,
    "profitability": 72,
    "realization": 69,
    "reconcile": 56,
    "scorecard": 219,
    "stale": 104,
    "timekeeping_lag": 26,
    "utilization": 34,
    "wip": 49,
    "write_downs": 90,
}
_COMPOSED = (
    *("bridge", "cash_forecast", "compare", "exposure", "lockup", "overdue_invoices", "prebill_review"),
    *("scorecard", "stale", "write_downs"),
)
_FRAMES = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "users", "clients", "codes", "code_sets")
FIGURES = ("utilization", "worked_amount", "billed_amount", "wip", "receivable_amount")


def main(rounds: int = 15) -> None:
    """Measure everything with one thread and print it."""
    pa.set_cpu_count(1)
    bf.connect("sandbox")
    book = bf.book("2026-10")
    entries = {name: len(getattr(book, name)) for name in _FRAMES}["time_entries"]
    print(f"\nBook of {entries:,} time entries\n{'':<24} {'first':>10} {'median':>10} {'before':>10} {'aim':>10}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in [each for each in analyses() if each in BEFORE]:
            aim = COMPOSED if name in _COMPOSED else PLAIN
            _print(name, getattr(book, name), rounds, aim)
        _print("figures of five measures", lambda: book.figures(*FIGURES, by="user"), rounds, 15.0)
    print(f"{book._data.nbytes / entries:.0f} bytes of facts for each entry")
    with tempfile.TemporaryDirectory() as folder:
        took = min(_seconds(lambda: _report(Path(folder))) for _ in range(2))
        print(f"{'billframes report --demo':<24} {'':>13} {1000 * took:7.0f} ms {'':>13} {REPORT:7.0f} ms")


def _print(name: str, call: Callable[[], Any], rounds: int, aim: float) -> None:
    first, *others = (1000 * _seconds(call) for _ in range(rounds + 1))
    before = f"{BEFORE[name]:7.0f} ms" if name in BEFORE else ""
    median = statistics.median(others)
    print(f"{name:<24} {first:7.1f} ms {median:7.1f} ms {before:>10} {aim:7.0f} ms", flush=True)


def _report(folder: Path) -> None:
    command = [sys.executable, "-m", "billframes", "report", "--demo", "--out", str(folder / "report.html")]
    subprocess.run(
        command, check=True, capture_output=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )


def _seconds(call: Callable[[], Any]) -> float:
    began = processor()
    call()
    return processor() - began


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
