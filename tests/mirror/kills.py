"""Refreshes killed at random moments: `python -m tests.mirror.kills 100` beside a colleague who writes throughout."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import billframes as bf
from billframes import mirror
from billframes.sandbox import Sandbox
from billframes.sandbox.fault_injection import BackgroundWriter, Trouble
from tests.frames import assert_frame_equal

TABLES = ["time_entries", "expenses", "fixed_fees", "invoices", "clients", "matters", "users", "client_balances"]
SCRIPT = """
import sys
import billframes as bf
from billframes import mirror
path, url = sys.argv[1:]
client = bf.Client(url, "sandbox-full", progress=False)
m = mirror(path, client=client)
import deltalake
print("ready", flush=True)
while True:
    m.refresh(full=("expenses",))
"""


@dataclass
class Kills:
    """How many refreshes were killed, and what those said that ended of themselves before they could be."""

    killed: int = 0
    ended: list[str] = field(default_factory=list)


def kills(number: int, seed: int = 0) -> Kills:
    """
    Kill so many refreshes, each at a random moment; raise unless the next one always finishes.

    A refresh that ends before it is killed is no kill: another one is started in its place, up to `number` more.
    """
    counted = Kills()
    chosen = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        Sandbox() as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False) as client,
    ):
        _thin_out(sandbox)
        assert sandbox._store is not None
        path = Path(folder) / "firm"
        environment = dict(os.environ)
        if environment.pop("PYTHONDONTWRITEBYTECODE", None):
            # Children compile billframes once, not each.
            environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        at = 0
        while counted.killed < number and at < 2 * number:
            # Every sixth time the first refresh of a new mirror is killed.
            place = path if at % 6 else Path(folder) / f"new{at}"
            colleague = BackgroundWriter(sandbox._store, Trouble(writes_per_second=10, seed=at)).start()
            said = _kill(place, sandbox.base_url, chosen.uniform(0.05, 2.0), environment)
            # The colleague rests while both are compared.
            colleague.stop()
            _finish(place, client)
            at += 1
            if said is None:
                counted.killed += 1
            else:
                counted.ended.append(said)
    return counted


def _thin_out(sandbox: Sandbox) -> None:
    """Leave every eighth time entry: what a kill can break is in the tables' number and order, not in their size."""
    with contextlib.closing(sqlite3.connect(str(sandbox.database), timeout=30)) as connection, connection:
        connection.execute("DELETE FROM time_entry WHERE rowid % 8")


def _kill(path: Path, url: str, seconds: float, environment: dict[str, str]) -> str | None:
    """Start refreshing and kill it; if it had ended by then, return what it said last."""
    command = [sys.executable, "-c", SCRIPT, str(path), url]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
    return None if process.returncode == -signal.SIGKILL else f"{process.returncode}: {said.strip()[-500:]}"


def _finish(path: Path, client: bf.Client) -> None:
    opened = mirror(path, client=client)
    try:
        before = mirror(path).version
    except bf.MirrorError:
        before = 0
    opened.refresh()
    assert opened.version > before
    for name in TABLES:
        assert_frame_equal(getattr(client, name)(), getattr(opened, name)(), obj=name)


if __name__ == "__main__":
    done = kills(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    print(f"{done.killed} kills, each followed by a refresh that was equal; {len(done.ended)} ended before they were")
    print(*done.ended, sep="\n")
