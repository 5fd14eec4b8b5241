"""Two ways to one result, timed in turn.

A busy machine slows both alike, so what is told is the ratio of each pair of runs, not seconds: its median, and
the lowest and highest. Where nothing is waited for, processor time is taken: on a shared machine the time on the wall
tells what others do.
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
    """Seconds of both ways, a pair a round."""

    name: str
    seconds: tuple[tuple[float, float], ...]

    @property
    def ratios(self) -> list[float]:
        """How many times as long ours took as the other, rising."""
        return sorted(ours / other for ours, other in self.seconds)

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)

    def __str__(self) -> str:
        ours, other = (1000 * statistics.median(each) for each in zip(*self.seconds, strict=True))
        low, high = self.ratios[0], self.ratios[-1]
        return f"{self.name:<44} {ours:8.0f} ms {other:8.0f} ms  {self.ratio:5.2f}  ({low:.2f} to {high:.2f})"


def compare(
    name: str,
    ours: Callable[[], Any],
    other: Callable[[], Any],
    rounds: int = 9,
    clock: Clock = time.perf_counter,
) -> Comparison:
    """Time both in turn, after one unmeasured run each; who goes first changes from round to round."""
    ours(), other()
    seconds = []
    # What is there already is no garbage of either: among all the tests, looking through it takes longer than they do.
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
    """Print each comparison as it comes."""
    print(f"\n{title}\n{'':<44} {'ours':>11} {other:>11}  ratio  (lowest to highest)")
    done = []
    for each in comparisons:
        print(each, flush=True)
        done.append(each)
    return done


def processor() -> float:
    """Processor time of this process, its threads and the processes it waited for."""
    # `os.times` counts in hundredths of a second.
    waited_for = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + waited_for.ru_utime + waited_for.ru_stime


def _seconds(call: Callable[[], Any], clock: Clock) -> float:
    gc.collect()
    began = clock()
    call()
    return clock() - began
