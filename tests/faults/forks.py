"""`python -m tests.faults.forks`: one client in a process and its forks at the same time; each gets its own records."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import billframes as bf
from billframes.sandbox import Sandbox

# On a machine that is not busy it takes less than a second.
PROMPT = 60.0


@contextmanager
def forking() -> Iterator[None]:
    """Python 3.12 and later warn of a fork beside threads, which is what is tried here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


class Child:
    """
    A fork that calls a function.

    Parameters
    ----------
    function : callable
        Its result can be written as JSON.
    ends_normally : bool
        Whether the child ends like a program, with all finalizers. In pytest it must not.
    """

    def __init__(self, function: Callable[[], Any], *, ends_normally: bool = False) -> None:
        self._results, writing = os.pipe()
        sys.stdout.flush()
        with forking():
            self._id = os.fork()
        if self._id:
            os.close(writing)
            return
        try:
            shown = function()
        except BaseException as error:  # noqa: BLE001 - the parent shows it
            shown = f"{type(error).__name__}: {error}"
        os.write(writing, json.dumps(shown).encode())
        if ends_normally:
            sys.exit(0)
        os._exit(0)

    def result(self) -> Any:
        """Wait for the result, and for the child's end; "it hung" if either does not come."""
        if not select.select([self._results], [], [], PROMPT)[0]:
            os.kill(self._id, signal.SIGKILL)
        with os.fdopen(self._results, "rb") as file:
            text = file.read()
        _, status = os.waitpid(self._id, 0)
        if status and text:
            return f"ended with {status}"
        return json.loads(text) if text else "it hung"


class Rounds:
    """The rounds; each returns what was wrong."""

    def __init__(self, client: bf.Client, *, ends_normally: bool = False) -> None:
        self.client = client
        self._ends_normally = ends_normally
        self._forks = 0
        self._wanted: dict[str, Any] = {}
        matters = client.matters(archived=False)
        self._matter = matters[matters["matter_type"] == "hourly"]["matter_id"].iloc[0]

    def load(self, *period: str) -> list[Any]:
        """Return a digest of a list."""
        frame = self.client.expenses(*period)
        return [len(frame), sorted(frame["expense_id"])[:3], frame.attrs["load"]["proof"]]

    def expected(self, *period: str) -> list[Any]:
        """Return a list's digest as it is when nobody else loads."""
        return self._wanted.setdefault(str(period), self.load(*period))

    def fork(self, function: Callable[[], Any]) -> Child:
        # Ending a program with all its modules takes most of a second.
        self._forks += 1
        return Child(function, ends_normally=self._ends_normally and self._forks % 5 == 0)

    def lists(self, _number: int) -> list[str]:
        """Load a year in the child, and three days in the parent."""
        year, days = ("2026",), ("2026-10-01", "2026-10-03")
        wanted = [self.expected(*year), self.expected(*days)]
        child = self.fork(lambda: self.load(*year))
        mine = outcome(lambda: self.load(*days))
        return wrong({"child": (child.result(), wanted[0]), "parent": (mine, wanted[1])})

    def processes(self, _number: int) -> list[str]:
        """Load a month in each of three processes of `multiprocessing`, and another one in the parent."""
        months = ["2026-06", "2026-07", "2026-08", "2026-09"]
        wanted = [self.expected(month) for month in months]
        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        processes = [
            context.Process(target=lambda month=month: results.put([month, outcome(lambda: self.load(month))]))
            for month in months[1:]
        ]
        with forking():
            for each in processes:
                each.start()
        got = {months[0]: outcome(lambda: self.load(months[0]))}
        for each in processes:
            each.join(PROMPT)
            each.kill()
        while not results.empty():
            month, digest = results.get()
            got[month] = digest
        return wrong({month: (got.get(month, "it hung"), each) for month, each in zip(months, wanted, strict=True)})

    def creates(self, number: int) -> list[str]:
        """Create a time entry in the child and one in the parent."""

        def create(text: str) -> list[Any]:
            made = self.client.time_entries.create(
                matter_id=self._matter, date="2026-10-30", description=text, hours=0.1
            )
            return [made.description, self.client.time_entries.get(made.time_entry_id).description]

        child = self.fork(lambda: create(f"child {number}"))
        mine = outcome(lambda: create(f"parent {number}"))
        pairs = {"child": (child.result(), [f"child {number}"] * 2), "parent": (mine, [f"parent {number}"] * 2)}
        return wrong(pairs)

    def beside_a_thread(self, number: int) -> list[str]:
        """Fork while another thread loads."""
        year, month = ("2026",), ("2026-10",)
        wanted = [self.expected(*year), self.expected(*month)]
        loaded: list[Any] = []
        thread = threading.Thread(target=lambda: loaded.append(outcome(lambda: self.load(*year))))
        thread.start()
        time.sleep(number % 20 * 0.005)
        child = self.fork(lambda: self.load(*month))
        thread.join(PROMPT)
        return wrong({"child": (child.result(), wanted[1]), "thread": ((loaded or ["it hung"])[0], wanted[0])})


def outcome(function: Callable[[], Any]) -> Any:
    """Return a function's result, or its error as text."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - shown as wrong
        return f"{type(error).__name__}: {error}"


def wrong(pairs: dict[str, tuple[Any, Any]]) -> list[str]:
    return [f"{name}: {str(got)[:200]}" for name, (got, wanted) in pairs.items() if got != wanted]


ROUNDS = (Rounds.lists, Rounds.processes, Rounds.creates, Rounds.beside_a_thread)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.forks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="how often each round is repeated")
    parser.add_argument("--latency", type=float, default=30.0, help="milliseconds by which the server waits")
    arguments = parser.parse_args()
    failed = 0
    with (
        Sandbox(latency_ms=arguments.latency) as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client,
    ):
        rounds = Rounds(client, ends_normally=True)
        for each in ROUNDS:
            begun, found = time.monotonic(), Counter[str]()
            for number in range(arguments.rounds):
                found.update(each(rounds, number))
            failed += found.total()
            print(
                f"{each.__name__}: {found.total()} wrong in {arguments.rounds} rounds, "
                f"{time.monotonic() - begun:.0f} s",
                flush=True,
            )
            for text, times in found.most_common(5):
                print(f"    {times} times {text}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
