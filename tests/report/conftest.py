"""A firm, and a report of it that is made as users make it: over HTTP."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import billframes as bf
from billframes import _session
from billframes.report.building import build
from billframes.report.loading import load
from billframes.report.month import Month
from billframes.report.sheet_plan import planned
from billframes.report.table_spec import ReportTable
from billframes.sandbox import Sandbox
from tests.frames import sharing_frames

HOSTILE_NAME = "<script>alert('x')</script> & Söhne $5 $6"


@pytest.fixture(scope="session")
def firm() -> Iterator[Sandbox]:
    """The seeded firm; the client billed most in October 2026 has a script as its name."""
    with Sandbox() as sandbox, sqlite3.connect(sandbox.database) as database:
        database.execute(
            """UPDATE client SET name = ? WHERE client_id = (
                SELECT client_id FROM invoice WHERE invoice_date LIKE '2026-10-%' AND invoice_state = 'final'
                GROUP BY client_id ORDER BY SUM(amount) DESC LIMIT 1)""",
            [HOSTILE_NAME],
        )
        database.commit()
        yield sandbox
    database.close()


@pytest.fixture(scope="session")
def client(firm) -> Iterator[bf.Client]:
    with bf.Client(firm.base_url, firm.tokens["full"], profile="") as client, sharing_frames(client):
        yield client


@pytest.fixture(scope="session")
def html(request, tmp_path_factory) -> str:
    """The report, made once for all processes of the tests, because their firms and tokens are the same."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    out = folder / "october.html"
    parameters = {"month": "2026-10", "title": "Bold <b>&</b> Sons", "generated": "1 November 2026, 08:00"}
    with (folder / "october.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            build(parameters, out, client=request.getfixturevalue("client"))
    return out.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def page(html) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


@contextmanager
def connection(base_url: str, token: str) -> Iterator[None]:
    """Set a default client for the block."""
    before = list(_session._default)
    try:
        with bf.connect(base_url, token):
            yield
    finally:
        _session._default[:] = before


@pytest.fixture
def connected(firm) -> Iterator[None]:
    with connection(firm.base_url, firm.tokens["full"]):
        yield


@pytest.fixture
def without_rates(firm) -> Iterator[None]:
    with connection(firm.base_url, firm.tokens["norates"]):
        yield


@pytest.fixture(scope="session")
def october(firm) -> Month:
    """October 2026, loaded once. Other months are made from it."""
    with connection(firm.base_url, firm.tokens["full"]):
        return load("2026-10")


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "report.html"


def sheets(month: Month, **options: bool) -> list[ReportTable]:
    """The tables of the month's workbook, each with its place."""
    return [table for each in planned(month, **options) for table in each.tables]
