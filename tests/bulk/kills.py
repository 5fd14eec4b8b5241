"""Kill applies at random moments and resume them: `python -m tests.bulk.kills 200`.

Each round plans updates of two fields, new rows and deletions, and applies them in a process that gets SIGKILL at a
random moment. Then it resumes the journal; every third resume is killed, too. At the end, the sandbox's audit must have
each change once and whole. In every fourth round, the server has faults.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pandas as pd

import billframes as bf
from billframes.bulk import apply as applying
from billframes.sandbox import Sandbox
from billframes.sandbox.fault_injection import Trouble

# Many more updates than are sent one by one, so that most are sent in waves.
UPDATES, CREATES, DELETIONS = 70, 20, 4
# Forks for each job, because importing billframes takes longer than the job.
SCRIPT = """
import json, os, pickle, signal, sys
import billframes as bf
from billframes.bulk import apply, plan
bf.bulk.resume  # imports it before a job does
from billframes.transport import http
apply.SETTLE_SECONDS = apply.ABANDONED_SECONDS = 0.6
http.backoff = lambda _attempt: 0.02
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    job = json.loads(line)
    if os.fork() == 0:
        client = bf.Client(job["url"], "sandbox-full", progress=False, retries=12)
        print(os.getpid(), flush=True)
        if job["task"] == "resume":
            try:
                bf.bulk.resume(job["journal"], client=client)
            except bf.errors.ParameterError:
                pass
        else:
            frame = pickle.loads(bytes.fromhex(job["frame"]))
            made = getattr(client, job["resource"]).plan(frame, delete=job["delete"])
            print("planned", flush=True)
            made.apply(job["journal"])
        os._exit(0)
"""


class Jobs:
    """A process that runs jobs in child processes, each of which can be killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, **job: Any) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return int(self.line())

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def kill(self, pid: int, seconds: float) -> None:
        """Kill a job after some seconds."""
        time.sleep(seconds)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        while True:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.002)

    def close(self) -> None:
        # With a job that still runs: it would write into the folder while that is removed.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def kills(number: int, seed: int = 0) -> int:
    """Kill applies, check that every change was made once and whole, and return how many were killed in between."""
    chosen, cut = random.Random(seed), 0
    applying.SETTLE_SECONDS = applying.ABANDONED_SECONDS = 0.6
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        calm = stack.enter_context(Sandbox(audit=True))
        rough = stack.enter_context(Sandbox(audit=True, trouble=Trouble(faults=0.1, seed=seed)))
        jobs = stack.enter_context(closing(Jobs()))
        for at in range(number):
            sandbox = rough if at % 4 == 3 else calm
            cut += _round(sandbox, jobs, at, chosen, folder / f"{at}.journal")
    return cut


def _round(sandbox: Sandbox, jobs: Jobs, at: int, chosen: random.Random, journal: Path) -> bool:
    resource = "expenses" if at % 3 == 1 else "time_entries"
    client = bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False, retries=12)
    frame, delete, planned = _edits(client, resource, at)
    position = _position(sandbox)
    task = {"resource": resource, "url": sandbox.base_url, "journal": str(journal), "delete": delete}
    pid = jobs.start(task="apply", frame=_pickled(frame), **task)
    assert jobs.line() == "planned"
    jobs.kill(pid, chosen.uniform(0.0, 0.4))
    if at % 3 == 0 and journal.exists():
        pid = jobs.start(task="resume", **task)
        jobs.kill(pid, chosen.uniform(0.0, 0.3))
    cut = _finish(client, journal)
    _check_audit(sandbox, position, planned, no_journal=not journal.exists())
    return cut


def _finish(client: bf.Client, journal: Path) -> bool:
    """Resume until the journal is finished; return whether changes were left."""
    try:
        outcomes = bf.bulk.resume(journal, client=client)
    except bf.errors.ParameterError as error:
        if "is finished" in str(error):
            return False
        # Killed before the journal was whole, and so before anything was sent.
        if not any(words in str(error) for words in ("no journal", "not a journal", "another version")):
            raise
        journal.unlink(missing_ok=True)
        return False
    if (outcomes["outcome"] == "failed").any():
        # A create that was lost to faults every time it was sent. It surely did not happen, and is planned again.
        assert set(outcomes.loc[outcomes["outcome"] == "failed", "action"]) == {"create"}
        again = outcomes.failed.apply(journal.with_suffix(".again"))
        outcomes = pd.concat([outcomes[outcomes["outcome"] != "failed"], again])
    assert set(outcomes["outcome"]) == {"done"}, outcomes[outcomes["outcome"] != "done"].to_string()
    return True


def _edits(client: bf.Client, resource: str, at: int) -> tuple[pd.DataFrame, list[str], dict[str, Any]]:
    """Return an edited frame, the ids to delete, and the expected changes."""
    loader = getattr(client, resource)
    value = "hours" if resource == "time_entries" else "amount"
    id_ = "time_entry_id" if resource == "time_entries" else "expense_id"
    loaded = loader("2026-10", billed=False)
    kept = loaded.head(min(UPDATES, len(loaded) - DELETIONS))
    edited = kept.assign(
        **{value: [1 + at * 0.01 + row for row in range(len(kept))]},
        description=[f"kill {at} update {row}" for row in range(len(kept))],
    )
    one = kept.iloc[0]
    # Two of the new rows are equal, and both are wanted.
    names = [f"kill {at} new {max(row, 1)}" for row in range(CREATES)]
    new = pd.DataFrame({"matter_id": one["matter_id"], "date": one["date"], value: 0.5, "description": names})
    if resource == "time_entries":
        new["user_id"] = one["user_id"]
    delete = loaded.tail(DELETIONS)[id_].tolist()
    expected = {
        "updates": {i: (d, v) for i, d, v in zip(edited[id_], edited["description"], edited[value], strict=True)},
        "creates": Counter(names),
        "deletions": delete,
        "value": value,
    }
    return pd.concat([edited, new], ignore_index=True), delete, expected


def _pickled(frame: pd.DataFrame) -> str:
    import pickle

    return pickle.dumps(frame).hex()


def _position(sandbox: Sandbox) -> int:
    return int(_sql(sandbox, "SELECT coalesce(max(position), 0) FROM audit")[0][0])


def _sql(sandbox: Sandbox, sql: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(sandbox.database)) as database:
        return database.execute(sql, values).fetchall()


def _check_audit(sandbox: Sandbox, position: int, planned: dict[str, Any], *, no_journal: bool) -> None:
    rows = _sql(sandbox, "SELECT id, record FROM audit WHERE position > ? ORDER BY position", position)
    if no_journal:
        assert rows == []
        return
    updates: dict[str, list[tuple[str, float]]] = {}
    created: Counter[str] = Counter()
    deleted: Counter[str] = Counter()
    for id_, record in rows:
        if record is None:
            deleted[id_] += 1
            continue
        now = json.loads(record)
        if id_ in planned["updates"]:
            updates.setdefault(id_, []).append((now["description"], now[planned["value"]] / 10_000))
        else:
            created[now["description"]] += 1
    # Each record was changed once, with both fields at the same time.
    found = {id_: [(d, round(v, 4)) for d, v in each] for id_, each in updates.items()}
    expected = {id_: [(d, round(float(v), 4))] for id_, (d, v) in planned["updates"].items()}
    assert found == expected, {id_: (found.get(id_), each) for id_, each in expected.items() if found.get(id_) != each}
    assert created == planned["creates"]
    assert deleted == Counter(planned["deletions"])


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    begun = time.monotonic()
    in_between = kills(number)
    print(
        f"{number} kills, {in_between} of them in the middle; every change was made once and whole, "
        f"{time.monotonic() - begun:.0f} s."
    )
