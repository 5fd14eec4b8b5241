"""The analyses are about as fast as code written by hand; `python -m tests.benchmarks.analyses` measures it."""

from __future__ import annotations

import time

import pytest

from tests.benchmarks import _firm, analyses, ebilling
from tests.benchmarks._timing import compare

# Twice the ratios measured with few rows, for which our fixed cost has a larger share than for a million entries.
LOOSE = {"Polars": 4.0, "pandas": 6.0}


@pytest.mark.slow
def test_analyses_take_no_more_than_a_few_times_the_same_by_hand():
    for engine, firm in zip(LOOSE, _firm.make(200_000), strict=True):
        for pair in analyses.pairs(firm, engine):
            if pair[0].startswith(("utilization", "realization")):
                analyses.check_equal(*pair)
                # The best of a few rounds, so that the test does not fail on a busy machine.
                assert min(compare(*pair, rounds=3).ratios) < LOOSE[engine], (engine, pair[0])


def test_ten_thousand_lines_of_an_e_bill_are_made_written_and_checked_twice_in_three_seconds():
    # The time of this thread does not depend on other work. `python -m tests.benchmarks.ebilling` measures 100,000.
    took = min(sum(ebilling.measured(10_000, time.thread_time).values()) for _ in range(2))
    assert took < 3
