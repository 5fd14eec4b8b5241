"""Measure two ways to the same result in turn.

A busy machine slows both alike, so the result is the ratio of each pair of runs: its median, lowest and highest value.
For code without waits, processor time is measured, because elapsed time also depends on other processes.
"""

from __future__ import annotations

import gc
import resource
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["Comparison", "compare", "processor", "report"]

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The seconds of both ways, one pair for each round."""

    name: str
    seconds: tuple[tuple[float, float], ...]

    @property
    def ratios(self) -> list[float]:
        """The ratios of our time to the other's, sorted."""
        return sorted(ours / other for ours, other in self.seconds)

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    @property
    def milliseconds(self) -> tuple[float, float]:
        """The median times of both ways."""
        ours, other = (1000 * statistics.median(each) for each in zip(*self.seconds, strict=True))
        return ours, other

    def __str__(self) -> str:
        ours, other = self.milliseconds
        low, high = self.ratios[0], self.ratios[-1]
        return f"{self.name:<44} {ours:8.0f} ms {other:8.0f} ms  {self.ratio:5.2f}  ({low:.2f} to {high:.2f})"


def compare(
    name: str,
    ours: Callable[[], Any],
    other: Callable[[], Any],
    rounds: int = 9,
    clock: Clock = time.perf_counter,
) -> Comparison:
    """Measure both in turn, after one unmeasured run each; the order changes from round to round."""
    ours(), other()
    seconds = []
    # Existing objects are excluded from garbage collection, which would take longer than the code that is measured.
    gc.freeze()
    try:
        for nth in range(rounds):
            first, second = (ours, other) if nth % 2 else (other, ours)
            pair = (_seconds(first, clock), _seconds(second, clock))
            seconds.append(pair if nth % 2 else pair[::-1])
    finally:
        gc.unfreeze()
    return Comparison(name, tuple(seconds))


def report(title: str, comparisons: Iterable[Comparison], other: str = "by hand") -> list[Comparison]:
    """Print each comparison."""
    print(f"\n{title}\n{'':<44} {'ours':>11} {other:>11}  ratio  (lowest to highest)")
    done = []
    for each in comparisons:
        print(each, flush=True)
        done.append(each)
    return done


def processor() -> float:
    """Return the processor time of this process, its threads and its ended child processes."""
    # `os.times` has a resolution of a hundredth of a second.
    waited_for = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + waited_for.ru_utime + waited_for.ru_stime


def _seconds(call: Callable[[], Any], clock: Clock) -> float:
    gc.collect()
    began = clock()
    call()
    return clock() - began
