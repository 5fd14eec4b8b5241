"""Measure how long it takes to make a LEDES file of many lines, to write it as text, and to check it.

    python -m tests.benchmarks.ebilling [lines]

It measures 1998B, and 98BI V2 with tax on each line.

The ratios are to the time in which pandas reads and writes the same text without any check.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from billframes.ebilling import LedesProfile, ledes
from billframes.ebilling.reading import check_file
from tests.ebilling.firm import frames

__all__ = ["invoice", "main", "measured"]


def invoice(lines: int) -> dict[str, Any]:
    """Make the frames of one invoice with this many time entries and a small discount."""
    rng = np.random.default_rng(0)
    given = frames([{}])
    entry = given["time_entries"]
    hours, rate = rng.integers(1, 80, lines) / 10, rng.integers(20_000, 90_000, lines) / 100
    given["time_entries"] = entry.loc[entry.index.repeat(lines)].assign(
        time_entry_id=[f"t{nth}" for nth in range(lines)],
        description=[f"Draft motion {nth} – opposing counsel’s reply" for nth in range(lines)],
        hours=hours,
        rate=rate,
        amount=np.round(hours * rate, 2),
    )
    given["invoices"]["amount"] = round(given["time_entries"]["amount"].sum() * 0.9, 2)
    return given


TAXED: dict[str, Any] = {
    "format": "98BI V2",
    "currency": "GBP",
    "account_type": "O",
    "firm": {"name": "Vance Polk LLP", "country": "GB"},
    "tax": [{"type": "VAT", "rate": 0.2}],
}


def measured(lines: int, clock: Callable[[], float]) -> dict[str, float]:
    """Return the seconds of each step."""
    return _steps(lines, clock, {})[0]


def _steps(lines: int, clock: Callable[[], float], options: dict[str, Any]) -> tuple[dict[str, float], str]:
    given, profile = invoice(lines), LedesProfile(law_firm_id="24-6437381", adjustments="lines", **options)
    times = [clock()]
    file = ledes(given, "96542", profile=profile)
    times.append(clock())
    text = file.text
    times.append(clock())
    assert set(check_file(text)["field"]) <= {"49 LINE_ITEM_TAX_TOTAL"}
    times.append(clock())
    names = ("made and checked", "written as text", "checked as a file")
    return {name: after - before for name, (before, after) in zip(names, pairwise(times), strict=True)}, text


def _by_pandas(text: str, clock: Callable[[], float]) -> float:
    """Return the seconds in which pandas reads and writes a file's lines as text."""
    began = clock()
    lines = pd.read_csv(io.StringIO(text), sep="|", skiprows=1, dtype=str, quoting=3, keep_default_na=False)
    lines.to_csv(io.StringIO(), sep="|", index=False)
    return clock() - began


def main(lines: int = 100_000) -> None:
    """Measure and print it."""
    for form, options in (("1998B", {}), ("98BI V2", TAXED)):
        steps, text = _steps(lines, time.process_time, options)
        plain = _by_pandas(text, time.process_time)
        for name, seconds in steps.items():
            ratio = f"{seconds / plain:5.1f} times pandas"
            print(f"{form:<8} {lines:,} lines {name:<20} {seconds:6.2f} s  {ratio}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
