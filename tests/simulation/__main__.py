"""`python -m tests.simulation --seeds 10000`: loads from a server that changes, compared with bare pages."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.runner import SETTINGS, Outcome, read_bare_pages, simulate


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000, help="number of loads; the settings take turns")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    begun = time.monotonic()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    with ProcessPoolExecutor(arguments.processes) as pool:
        ours = list(pool.map(simulate, seeds, chunksize=50))
        theirs = list(pool.map(read_bare_pages, seeds, chunksize=50))
    report(seeds, ours, theirs)
    broken = [outcome for outcome in ours if outcome.broken]
    for outcome in broken[:20]:
        print(f"seed {outcome.seed}: {outcome.broken}")
    print(f"{len(seeds)} loads in {time.monotonic() - begun:.0f} s; {len(broken)} broke a promise.")
    return 1 if broken else 0


def report(seeds: range, ours: list[Outcome], theirs: list[Outcome]) -> None:
    """Print one row for each setting."""
    print(
        f"{'setting':42}{'loads':>7}{'snapshot':>10}{'complete':>10}{'counted':>9}{'raised':>8}{'broken':>8}"
        f"{'bare loses':>12}"
    )
    for place, (name, _setting) in enumerate(SETTINGS):
        here = [i for i, seed in enumerate(seeds) if seed % len(SETTINGS) == place]
        kinds = Counter(ours[i].proof for i in here)
        shown = [kinds[kind] for kind in ("snapshot", "complete", "counted", "raised")]
        broken = sum(bool(ours[i].broken) for i in here)
        lost = sum(bool(theirs[i].broken) for i in here)
        print(f"{name:42}{len(here):>7}{shown[0]:>10}{shown[1]:>10}{shown[2]:>9}{shown[3]:>8}{broken:>8}{lost:>12}")


if __name__ == "__main__":
    raise SystemExit(main())
