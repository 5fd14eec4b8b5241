"""A mirror of the seeded firm, and a firm with fewer entries whose nights pass when a test says so."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import billframes as bf
from billframes import mirror
from billframes.cli import main
from billframes.mirror import Mirror
from billframes.sandbox import Sandbox

HEAD = 'currency = "USD"\ntime_zone = "America/New_York"\n'


@pytest.fixture(scope="session")
def watched(client, tmp_path_factory) -> Mirror:
    """A mirror that is not refreshed again."""
    opened = mirror(tmp_path_factory.mktemp("watched") / "firm", client=client)
    opened.refresh()
    return opened


class Firm:
    """A firm, its mirror, and the watch of its rules."""

    def __init__(self, sandbox: Sandbox, client: bf.Client, folder: Path, capsys) -> None:
        self.sandbox, self.client, self.folder, self._capsys = sandbox, client, folder, capsys
        self.mirror = mirror(folder / "firm", client=client)

    def night(self, days: int = 1) -> None:
        """Let days pass, and refresh the mirror."""
        clock = self.sandbox._store.clock
        object.__setattr__(clock, "offset", clock.offset + dt.timedelta(days=days))
        self.mirror.refresh()

    def rules(self, text: str) -> None:
        (self.folder / "firm.toml").write_text(HEAD + text)

    def watch(self, *options: str) -> tuple[int, str]:
        place = ["--mirror", self.mirror.path, "--settings", str(self.folder / "firm.toml")]
        code = main(["watch", *place, *options])
        return code, "".join(self._capsys.readouterr())

    def report(self) -> dict:
        (line,) = self.watch("--json")[1].splitlines()
        return json.loads(line)


@pytest.fixture
def firm(tmp_path, capsys) -> Iterator[Firm]:
    path = tmp_path / "firm.db"
    Sandbox(db=path).start().stop()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM time_entry WHERE billed AND rowid % 12")
    with Sandbox(db=path) as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False) as client:
        yield Firm(sandbox, client, tmp_path, capsys)
