"""The analyses of a firm with 1,000,000 time entries, beside the same figures written by hand.

    python -m tests.benchmarks.analyses [rounds]

The results are compared before anything is timed. See docs/performance.md for what the figures mean.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from billframes import analysis
from tests.benchmarks import _by_pandas, _by_polars, _firm
from tests.benchmarks._firm import Firm
from tests.benchmarks._timing import Comparison, compare, report

__all__ = ["LIMITS", "main", "pairs"]

LIMITS = {"Polars": 2.0, "pandas": 1.5}

START, END, AS_OF = map(dt.date.fromisoformat, (_firm.START, _firm.END, _firm.AS_OF))
CAPACITY = 8.0 * float(np.busday_count(START, END + dt.timedelta(days=1)))

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]


def pairs(firm: Firm, engine: str) -> Iterator[Pair]:
    """Each analysis that there is: its name, ours, and the one by hand."""
    hand: ModuleType = {"Polars": _by_polars, "pandas": _by_pandas}[engine]
    dates = [pd.Timestamp(day) if engine == "pandas" else day for day in (START, END, AS_OF)]
    start, end, as_of = dates
    items = {"expenses": firm.expenses, "fixed_fees": firm.fixed_fees}
    work = {"time_entries": firm.time_entries, **items}
    yield (
        "utilization by user",
        lambda: analysis.utilization(firm.time_entries, start=START, end=END, users=firm.users, matters=firm.matters),
        lambda: hand.utilization(firm, start, end, CAPACITY),
    )
    yield (
        "realization by client",
        lambda: analysis.realization(
            **work, invoices=firm.invoices, by="client", start=START, end=END, matters=firm.matters
        ),
        lambda: hand.realization(firm, start, end),
    )
    yield (
        "aging by client (60,000 invoices)",
        lambda: analysis.aging(firm.invoices, as_of=AS_OF, by="client"),
        lambda: hand.aging(firm, as_of),
    )
    yield (
        "aging by matter",
        lambda: analysis.aging(firm.invoices, **work, as_of=AS_OF, by="matter", matters=firm.matters),
        lambda: hand.aging_by_matter(firm, as_of),
    )
    if wip := getattr(analysis, "wip", None):
        yield (
            "wip by client",
            lambda: wip(**work, invoices=firm.invoices, as_of=AS_OF, by="client"),
            lambda: hand.wip(firm, as_of),
        )


def main(rounds: int = 9, entries: int = 1_000_000) -> list[Comparison]:
    """Compare the results, time both ways in turn, and print the ratios."""
    done = []
    for engine, firm in zip(("Polars", "pandas"), _firm.make(entries), strict=True):
        all_pairs = list(pairs(firm, engine))
        for pair in all_pairs:
            check_equal(*pair)
        title = f"{engine}, {entries:,} time entries; the aim is at most {LIMITS[engine]} times the one by hand"
        done += report(title, (compare(*pair, rounds) for pair in all_pairs))
    return done


def check_equal(name: str, ours: Callable[[], Any], other: Callable[[], Any]) -> None:
    """Refuse to time two ways that do not lead to the same figures."""
    one, two = (each if isinstance(each, pd.DataFrame) else each.to_pandas() for each in (ours(), other()))
    try:
        shared = [name for name in one if name in two]
        pd.testing.assert_frame_equal(one[shared], two[shared], check_dtype=False, rtol=1e-9, atol=1e-6)
    except AssertionError as error:
        raise SystemExit(f"{name}: ours and the one by hand differ.\n{error}") from None


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
