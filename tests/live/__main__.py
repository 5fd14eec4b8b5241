"""`python -m tests.live --seconds 60 --writers 8`: compare loads, made while others write, with the sandbox's audit."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

import billframes as bf
from tests.live.audit import Audit
from tests.live.runner import TOKEN, Outcome, bare_load, billframes_load, load_for, make_firm, serving, writing


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long billframes loads")
    parser.add_argument("--bare", type=float, default=10, help="how long bare pages are read, for comparison")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--pause", type=float, default=0, help="seconds each writer waits after each write")
    parser.add_argument("--rows", type=int, default=50_000, help="time entries at the beginning")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "firm.db"
        make_firm(database, arguments.rows)
        with serving(database) as address, bf.Client(address, TOKEN) as client:
            audit = Audit(database)
            begun = time.monotonic()
            with writing(address, arguments.writers, arguments.pause) as counts:
                ours = load_for(arguments.seconds, billframes_load(client), audit)
                with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
                    theirs = load_for(arguments.bare, bare_load(http), audit)
            print_writes(counts, time.monotonic() - begun)
            audit.close()
    report(ours, theirs)
    return 1 if any(outcome.differences.broken for outcome in ours) else 0


def print_writes(counts: Counter[str], seconds: float) -> None:
    """Print the number of writes of each kind."""
    done = sum(number for kind, number in counts.items() if not kind.startswith("refused"))
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in counts.most_common())
    print(f"writers: {done:,} writes in {seconds:.0f} s, {done / seconds:.0f} a second ({kinds})")


def report(ours: list[Outcome], theirs: list[Outcome]) -> None:
    """Print the results of the loads."""
    proofs = Counter(outcome.proof for outcome in ours)
    loaded = [outcome for outcome in ours if outcome.proof != "raised"]
    broken = [outcome.differences.broken for outcome in ours if outcome.differences.broken]
    print(f"billframes: {_sizes(loaded)}")
    print("  " + ", ".join(f"{kind} {proofs[kind]}" for kind in ("snapshot", "complete", "counted", "raised")))
    for error in {outcome.error for outcome in ours if outcome.error}:
        print(f"  raised: {error}")
    print(f"  promises broken: {len(broken)}")
    for text in broken[:20]:
        print(f"    {text}")
    losing = sum(bool(outcome.differences.lost) for outcome in theirs)
    lost = sum(len(outcome.differences.lost) for outcome in theirs)
    doubled = sum(len(outcome.differences.doubled) for outcome in theirs)
    print(f"bare pages: {_sizes(theirs)}")
    print(f"  {losing} loads lost {lost:,} records that never changed, and doubled {doubled:,}")


def _sizes(outcomes: list[Outcome]) -> str:
    """Return the average size of the loads."""
    number = max(len(outcomes), 1)
    rows, requests, changes = (
        sum(getattr(each, name) for each in outcomes) / number for name in ("rows", "requests", "changes")
    )
    seconds = sum(each.seconds for each in outcomes) / number
    return (
        f"{len(outcomes)} loads of {rows:,.0f} rows, each with {requests:.0f} requests in {seconds:.1f} s, while "
        f"{changes:,.0f} changes were committed"
    )


if __name__ == "__main__":
    raise SystemExit(main())
