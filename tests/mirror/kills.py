"""Kill refreshes and vacuums at random moments while a colleague writes: `python -m tests.mirror.kills 100`."""

from __future__ import annotations

import contextlib
import json
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
# Forks for each refresh, because importing billframes takes as long as a refresh.
SCRIPT = """
import json, os, pathlib, sys, traceback
import billframes as bf
from billframes import mirror
import billframes.mirror.refresh, deltalake
for line in sys.stdin:
    path, url, error_file = json.loads(line)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    try:
        m = mirror(path, client=bf.Client(url, "sandbox-full", progress=False))
        print(os.getpid(), flush=True)
        while True:
            m.refresh(full=("expenses",))
            m.vacuum("0 days")
    except BaseException:
        pathlib.Path(error_file).write_text(traceback.format_exc())
    finally:
        os._exit(1)
"""


@dataclass
class Kills:
    """The number of killed refreshes, and the errors of those that ended before they were killed."""

    killed: int = 0
    ended: list[str] = field(default_factory=list)


def kills(number: int, seed: int = 0) -> Kills:
    """
    Kill refreshes and vacuums at random moments, and check that the next refresh always finishes with equal tables.

    After it, a vacuum leaves only the files of the newest version and of the tag.

    If a refresh ends before it is killed, another one is started in its place, up to `number` more.
    """
    counted = Kills()
    chosen = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        Sandbox() as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False) as client,
        contextlib.closing(Refreshes(Path(folder))) as refreshes,
    ):
        _thin_out(sandbox)
        assert sandbox._store is not None
        path = Path(folder) / "firm"
        at = 0
        while counted.killed < number and at < 2 * number:
            # Every sixth time the first refresh of a new mirror is killed.
            place = path if at % 6 else Path(folder) / f"new{at}"
            colleague = BackgroundWriter(sandbox._store, Trouble(writes_per_second=10, seed=at)).start()
            error = refreshes.kill(place, sandbox.base_url, chosen.uniform(0.05, 0.8))
            # No changes while the mirror and the server are compared.
            colleague.stop()
            _finish(place, client)
            at += 1
            if error is None:
                counted.killed += 1
            else:
                counted.ended.append(error)
    return counted


def _thin_out(sandbox: Sandbox) -> None:
    """Keep every 24th item: the number and order of tables matter for kills, and not their size."""
    with contextlib.closing(sqlite3.connect(str(sandbox.database), timeout=30)) as connection, connection:
        for name in ("time_entry", "expense"):
            connection.execute(f"DELETE FROM {name} WHERE rowid % 24")


class Refreshes:
    """A process that refreshes mirrors, each time in a child that can be killed."""

    def __init__(self, folder: Path) -> None:
        self._error_file = folder / "error"
        self._process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def kill(self, path: Path, url: str, seconds: float) -> str | None:
        """Start refreshing and kill the process; if it had ended by then, return its error."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([str(path), url, str(self._error_file)]) + "\n")
        self._process.stdin.flush()
        child = self._line()
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        code = self._line()
        return None if code == -signal.SIGKILL else f"{code}: {self._error_file.read_text().strip()[-500:]}"

    def _line(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        # With a child that still runs: it would write into the folder while that is removed.
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def _finish(path: Path, client: bf.Client) -> None:
    opened = mirror(path, client=client)
    try:
        before = mirror(path).version
    except bf.errors.MirrorError:
        before = 0
    else:
        opened.tag("before")
        entries = opened.time_entries()
    opened.refresh()
    assert opened.version > before
    for name in TABLES:
        assert_frame_equal(getattr(client, name)(), getattr(opened, name)(), obj=name)
    assert opened.vacuum("0 days")["version"].tolist() == [*([before] if before else []), opened.version]
    if before:
        assert_frame_equal(mirror(path).as_of("before").time_entries(), entries)
    _check_files(path)


def _check_files(path: Path) -> None:
    """Check that the folder has no other data files than those of its versions."""
    opened = mirror(path)
    versions = opened._catalogue.read()
    needed = {
        file.uri
        for each in versions
        for name, version in each.tables.items()
        for file in opened._storage.data_files(name, version)
    }
    found = {str(each) for each in path.rglob("*") if each.is_file() and "_delta_log" not in each.parts}
    assert {each for each in found - needed if Path(each).parts[len(path.parts)] not in {"versions", ".lock"}} == set()


if __name__ == "__main__":
    done = kills(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
    print(f"{done.killed} kills, each followed by a refresh that was equal; {len(done.ended)} ended before they were")
    print(*done.ended, sep="\n")
