"""A mirror of the small seeded firm, and a firm with fewer entries for each test file that changes it."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import billframes as bf
from billframes import mirror
from billframes.mirror import Mirror
from billframes.sandbox import Sandbox


@pytest.fixture(scope="session")
def refreshed(client, tmp_path_factory) -> Mirror:
    """A mirror that is not refreshed again."""
    opened = mirror(tmp_path_factory.mktemp("mirror") / "firm", client=client)
    opened.refresh()
    return opened


@pytest.fixture(scope="session")
def thin(tmp_path_factory) -> Path:
    """
    The database of a firm without most of its billed entries; tests copy it.

    It has entries in every month and all unbilled entries, so searches for deletions take as many requests as in the
    whole firm. A load of all entries takes a fifth of the time.
    """
    path = tmp_path_factory.mktemp("thin") / "firm.db"
    Sandbox(db=path).start().stop()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM time_entry WHERE billed AND rowid % 12")
        connection.commit()
        connection.execute("VACUUM")
    return path


@pytest.fixture(scope="module")
def firm(thin, tmp_path_factory) -> Iterator[Sandbox]:
    """A firm that the tests of a file may change."""
    path = tmp_path_factory.mktemp("firm") / "firm.db"
    shutil.copyfile(thin, path)
    with Sandbox(db=path) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def writer(firm) -> Iterator[bf.Client]:
    """That firm's bookkeeper."""
    with bf.Client(firm.base_url, firm.tokens["full"], progress=False) as connected:
        yield connected
