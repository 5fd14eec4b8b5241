"""`python -m tests.faults`: every fault on every class of endpoints, once and for good, and mixtures; a row a fault."""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from unittest import mock

from billframes.transport import http
from tests.faults.cases import ENDPOINTS, Outcome, applies, judged, try_out
from tests.faults.kinds import KINDS
from tests.faults.mixed import mixture
from tests.faults.server import Server


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seeds", type=int, default=25, help="mixtures on each class of endpoints")
    asked = parser.parse_args()
    begun = time.monotonic()
    waits = mock.patch.multiple(http, backoff=lambda _attempt: 0.01, pause_after=lambda _refusals: 0.01)
    with waits:
        tried = [*alone(), *mixed(asked.seeds)]
    wrong = [outcome for outcome in tried if outcome.wrong]
    for outcome in wrong[:20]:
        print(outcome)
    summary("each alone", tried[: -len(ENDPOINTS) * asked.seeds])
    summary("mixed, on 30 % of requests", tried[-len(ENDPOINTS) * asked.seeds :])
    print(f"{len(tried)} calls in {time.monotonic() - begun:.0f} s; {len(wrong)} ended otherwise than they should.")
    return 1 if wrong else 0


def alone() -> list[Outcome]:
    """Try each fault by itself and print a row for it."""
    print("| fault | endpoint classes | struck once | struck each time | most requests | most seconds |")
    print("| --- | ---: | --- | --- | ---: | ---: |")
    tried: list[Outcome] = []
    for kind in KINDS:
        here = [endpoint for endpoint in ENDPOINTS if applies(kind, endpoint)]
        once = [try_out(kind, endpoint, stays=False) for endpoint in here]
        always = [] if kind.waits else [try_out(kind, endpoint, stays=True) for endpoint in here]
        row(kind.name, len(here), once, always)
        tried += [*once, *always]
    return tried


def mixed(seeds: int) -> list[Outcome]:
    """Try mixtures: a third of the requests meet any fault."""
    tried: list[Outcome] = []
    for seed in range(seeds):
        for endpoint in ENDPOINTS:
            dice = random.Random(f"{seed} {endpoint.name}")
            with Server(mixture(dice, counting=endpoint.name == "count")) as server:
                tried.append(judged(server, endpoint, retries=6))
    row("any of them, 30 % of requests", len(ENDPOINTS), tried, [])
    return tried


def summary(name: str, outcomes: list[Outcome]) -> None:
    """Print how many calls ended in what."""
    good = [outcome.came for outcome in outcomes if not outcome.wrong]
    right, uncertain = good.count("right"), good.count("UncertainWriteError")
    named, wrong = len(good) - right - uncertain, len(outcomes) - len(good)
    print(f"| {name} | {len(outcomes)} | {right} | {named} | {uncertain} | {wrong} |")


def row(name: str, classes: int, once: list[Outcome], always: list[Outcome]) -> None:
    every = [*once, *always]
    most = max(outcome.requests for outcome in every), max(outcome.seconds for outcome in every)
    print(f"| {name} | {classes} | {told(once)} | {told(always)} | {most[0]} | {most[1]:.1f} |", flush=True)


def told(outcomes: list[Outcome]) -> str:
    """Say what came, the most frequent first."""
    counts = Counter(f"**{outcome.wrong}**" if outcome.wrong else outcome.came for outcome in outcomes)
    return ", ".join(f"{number} {came}" for came, number in counts.most_common())


if __name__ == "__main__":
    raise SystemExit(main())
