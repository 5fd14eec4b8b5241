"""A sandbox with an audit of every change, for the tests of bulk edits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

import billframes as bf
from billframes.sandbox import Sandbox


class Firm(SimpleNamespace):
    """A sandbox with an audit, and a client of it."""

    sandbox: Sandbox
    client: bf.Client

    def sql(self, sql: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self.sandbox.database)) as database:
            return database.execute(sql, values).fetchall()

    def position(self) -> int:
        """Return the current position in the audit."""
        return int(self.sql("SELECT coalesce(max(position), 0) FROM audit")[0][0])

    def changes(self, since: int) -> list[tuple[str, dict[str, Any] | None]]:
        """Return the later changes: the id of each record, and the record after the change (None if deleted)."""
        rows = self.sql("SELECT id, record FROM audit WHERE position > ? ORDER BY position", since)
        return [(id_, json.loads(record) if record else None) for id_, record in rows]


@pytest.fixture(scope="module")
def firm() -> Iterator[Firm]:
    with (
        Sandbox(audit=True) as sandbox,
        bf.Client(sandbox.base_url, sandbox.tokens["full"], progress=False) as client,
    ):
        yield Firm(sandbox=sandbox, client=client)


@pytest.fixture(scope="module")
def entries(firm) -> Any:
    """October's time entries that are on no invoice."""
    return firm.client.time_entries("2026-10", billed=False)


@pytest.fixture
def journal(tmp_path) -> Any:
    return tmp_path / "edits.journal"
