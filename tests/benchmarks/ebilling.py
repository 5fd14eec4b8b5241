"""How long a LEDES file of many lines takes to be made, written as text, and checked as a file of anybody's.

python -m tests.benchmarks.ebilling [lines]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from billframes.ebilling import LedesProfile, ledes
from billframes.ebilling.reading import check_file
from tests.ebilling.firm import frames

__all__ = ["invoice", "main", "measured"]


def invoice(lines: int) -> dict[str, Any]:
    """Make the frames of one invoice with so many time entries, written down a little."""
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


def measured(lines: int, clock: Callable[[], float]) -> dict[str, float]:
    """Return the seconds of each step."""
    given, profile = invoice(lines), LedesProfile(law_firm_id="24-6437381", adjustments="lines")
    times = [clock()]
    file = ledes(given, "96542", profile=profile)
    times.append(clock())
    text = file.text
    times.append(clock())
    assert len(check_file(text)) == 0
    times.append(clock())
    names = ("made and checked", "written as text", "checked as a file")
    return {name: after - before for name, (before, after) in zip(names, pairwise(times), strict=True)}


def main(lines: int = 100_000) -> None:
    """Measure and print it."""
    for name, seconds in measured(lines, time.perf_counter).items():
        print(f"{lines:,} lines {name:<20} {seconds:6.2f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
