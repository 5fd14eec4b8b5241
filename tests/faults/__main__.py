"""`python -m tests.faults`: each fault for each kind of request, once and at every request, and faults at random."""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from unittest import mock

from billframes.transport import http, pacing
from tests.faults.cases import ENDPOINTS, Outcome, applies, check_call, try_fault
from tests.faults.kinds import KINDS, random_faults
from tests.faults.server import Server


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seeds", type=int, default=25, help="calls with random faults for each kind of request")
    arguments = parser.parse_args()
    begun = time.monotonic()
    waits = (
        mock.patch.object(http, "backoff", return_value=0.01),
        mock.patch.object(pacing, "pause_after", return_value=0.01),
    )
    with waits[0], waits[1]:
        tried = [*alone(), *mixed(arguments.seeds)]
    failed = [outcome for outcome in tried if outcome.problem]
    for outcome in failed[:20]:
        print(outcome)
    summary("each alone", tried[: -len(ENDPOINTS) * arguments.seeds])
    summary("mixed, on 30 % of requests", tried[-len(ENDPOINTS) * arguments.seeds :])
    print(f"{len(tried)} calls in {time.monotonic() - begun:.0f} s; {len(failed)} had a wrong outcome.")
    return 1 if failed else 0


def alone() -> list[Outcome]:
    """Try each fault alone, and print one row for it."""
    print("| fault | kinds of requests | once | at every request | most requests | most seconds |")
    print("| --- | ---: | --- | --- | ---: | ---: |")
    tried: list[Outcome] = []
    for kind in KINDS:
        here = [endpoint for endpoint in ENDPOINTS if applies(kind, endpoint)]
        once = [try_fault(kind, endpoint, stays=False) for endpoint in here]
        always = [] if kind.asks_to_wait else [try_fault(kind, endpoint, stays=True) for endpoint in here]
        print_row(kind.name, len(here), once, always)
        tried += [*once, *always]
    return tried


def mixed(seeds: int) -> list[Outcome]:
    """Try random faults on a third of the requests."""
    tried: list[Outcome] = []
    for seed in range(seeds):
        for endpoint in ENDPOINTS:
            randomness = random.Random(f"{seed} {endpoint.name}")
            with Server(random_faults(randomness, counting=endpoint.name == "count")) as server:
                tried.append(check_call(server, endpoint, retries=6))
    print_row("any of them, 30 % of requests", len(ENDPOINTS), tried, [])
    return tried


def summary(name: str, outcomes: list[Outcome]) -> None:
    """Print the number of calls with each kind of outcome."""
    good = [outcome.result for outcome in outcomes if not outcome.problem]
    correct, uncertain = good.count("correct"), good.count("UncertainWriteError")
    named, wrong = len(good) - correct - uncertain, len(outcomes) - len(good)
    print(f"| {name} | {len(outcomes)} | {correct} | {named} | {uncertain} | {wrong} |")


def print_row(name: str, endpoints: int, once: list[Outcome], always: list[Outcome]) -> None:
    every = [*once, *always]
    most = max(outcome.requests for outcome in every), max(outcome.seconds for outcome in every)
    print(f"| {name} | {endpoints} | {counts_of(once)} | {counts_of(always)} | {most[0]} | {most[1]:.1f} |", flush=True)


def counts_of(outcomes: list[Outcome]) -> str:
    """Return the number of each result, the most frequent first."""
    counts = Counter(f"**{outcome.problem}**" if outcome.problem else outcome.result for outcome in outcomes)
    return ", ".join(f"{number} {result}" for result, number in counts.most_common())


if __name__ == "__main__":
    raise SystemExit(main())
