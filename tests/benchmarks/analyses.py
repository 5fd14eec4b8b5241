"""Measure the analyses of a firm with 1,000,000 time entries, compared with the same figures written by hand.

    python -m tests.benchmarks.analyses [rounds]

The results are compared before the time is measured. Firms of other shapes follow, in fewer rounds: a few large
matters, many small ones, and pandas frames with the dtypes of a file read by hand. The last measurements are of the
sheets for partners, on three engines, compared with the analyses that they are built from. docs/performance.md explains
the figures.
"""

from __future__ import annotations

import datetime as dt
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from billframes import analysis
from tests.benchmarks import _by_pandas, _by_polars, _firm
from tests.benchmarks._firm import Firm
from tests.benchmarks._sheets import LIMIT, SHEETS, Sheet, computed
from tests.benchmarks._timing import Comparison, compare, processor, report

__all__ = ["LONGEST", "main", "pairs", "sheets"]

# Milliseconds of one call. Code written by hand checks nothing, and has no labels, rates or kinds of time.
LONGEST = 1500

START, END, AS_OF = map(dt.date.fromisoformat, (_firm.START, _firm.END, _firm.AS_OF))
CAPACITY = 8.0 * float(np.busday_count(START, END + dt.timedelta(days=1)))

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]


def pairs(firm: Firm, engine: str) -> Iterator[Pair]:
    """Yield the name of each analysis, ours, and the one written by hand."""
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
        "aging by client",
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


def main(rounds: int = 5, entries: int = 1_000_000) -> list[Comparison]:
    """Compare the results, measure both in turn, and print the ratios; then those of the sheets."""
    firms = dict(zip(("Polars", "pandas"), _firm.make(entries), strict=True))
    fewer = max(2, rounds // 3)
    done = [
        each for engine, firm in firms.items() for each in _beside_hand(engine, firm, f"{entries:,} entries", rounds)
    ]
    for a_matter, matters in ((4_000, "few large matters"), (50, "many small matters")):
        for engine, firm in zip(firms, _firm.make(entries, a_matter=a_matter), strict=True):
            done += _beside_hand(engine, firm, f"{entries:,} entries, {matters}", fewer)
    done += _beside_hand("pandas", _firm.typed_by_hand(firms["pandas"]), f"{entries:,} entries, typed by hand", fewer)
    print(f"The longest call: {max(each.milliseconds[0] for each in done):,.0f} ms (at most {LONGEST:,})")
    return [*done, *sheets(firms | {"DuckDB": _firm.in_duckdb(firms["Polars"])}, fewer)]


def _beside_hand(engine: str, firm: Firm, what: str, rounds: int) -> list[Comparison]:
    all_pairs = list(pairs(firm, engine))
    for pair in all_pairs:
        check_equal(*pair)
    return report(f"{engine}, {what}", (compare(*pair, rounds) for pair in all_pairs))


def sheets(firms: Mapping[str, Firm], rounds: int = 3) -> list[Comparison]:
    """Measure the processor time of each sheet and of its parts in turn; print the ratios and the worst."""
    done = []
    with warnings.catch_warnings():
        # The random firm gives warnings: entries of internal matters on invoices, fees without work.
        warnings.simplefilter("ignore")
        for engine, firm in firms.items():
            title = f"{engine}, sheets beside the analyses they are built from; the aim is at most {LIMIT} times these"
            done += report(title, (_sheet(each, firm, rounds) for each in SHEETS), "its parts")
    worst = max(done, key=lambda each: each.ratio)
    print(f"The worst of all sheets: {worst.name}, {worst.ratio:.2f}")
    return done


def _sheet(sheet: Sheet, firm: Firm, rounds: int) -> Comparison:
    ours, parts = (lambda way=way: computed(way(firm)) for way in (sheet.ours, sheet.of_parts))
    return compare(sheet.name, ours, parts, rounds, processor)


def check_equal(name: str, ours: Callable[[], Any], other: Callable[[], Any]) -> None:
    """Raise an error if the two ways don't have the same figures."""
    one, two = (each if isinstance(each, pd.DataFrame) else each.to_pandas() for each in (ours(), other()))
    try:
        # A division by 0 is infinite by hand, and missing in ours.
        two = two.replace([np.inf, -np.inf], np.nan)
        shared = [name for name in one if name in two]
        pd.testing.assert_frame_equal(one[shared], two[shared], check_dtype=False, rtol=1e-9, atol=1e-6)
    except AssertionError as error:
        raise SystemExit(f"{name}: ours and the one by hand differ.\n{error}") from None


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
