"""Loads from a real sandbox while others write at full speed are as promised, by comparison with its audit."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import httpx
import pytest

import billframes as bf
from tests.live.audit import Audit, compare
from tests.live.runner import TOKEN, bare_load, billframes_load, load_for, make_firm, serving, writing

pytestmark = pytest.mark.slow

ROWS, PAGE = 4_000, 100


@pytest.fixture(scope="module")
def served(sandbox, tmp_path_factory):
    database = tmp_path_factory.mktemp("live") / "firm.db"
    with closing(sqlite3.connect(sandbox.database)) as firm:
        firm.execute("VACUUM INTO ?", [str(database)])
    with closing(sqlite3.connect(database)) as firm:
        firm.execute("PRAGMA journal_mode = WAL")
    make_firm(database, ROWS)
    with serving(database) as address:
        audit = Audit(database)
        yield address, audit
        audit.close()


@pytest.fixture(scope="module")
def client(served):
    with bf.Client(served[0], TOKEN, page_size=PAGE) as connected:
        yield connected


def test_loads_while_eight_writers_work_are_as_promised_and_bare_pages_lose_records(served, client):
    address, audit = served
    with writing(address, 8) as counts:
        ours = load_for(2, billframes_load(client), audit)
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
            losing = any(load_for(0, bare_load(http, PAGE), audit)[0].differences.lost for _ in range(20))
    assert {(outcome.error, outcome.differences.broken) for outcome in ours} == {("", "")}
    assert min(outcome.changes for outcome in ours) > 0
    assert min(counts[kind] for kind in ("insert", "edit", "move", "delete")) > 0
    assert [kind for kind in counts if kind not in {"insert", "edit", "move", "delete"}] == []
    assert losing


def test_a_load_after_the_last_write_is_a_snapshot(served, client):
    (outcome,) = load_for(0, billframes_load(client), served[1])
    assert (outcome.proof, outcome.changes, outcome.differences.broken) == ("snapshot", 0, "")


def test_the_audit_agrees_with_the_database(served):
    address, audit = served
    with writing(address, 2):
        pass
    audit.advance(audit.now())
    afresh = Audit(audit.database)
    assert audit.state == afresh.state
    afresh.close()


A, B, C = ("a",), ("b",), ("c",)


@pytest.mark.parametrize(
    ("rows", "changes", "proof", "broken"),
    [
        ([("x", A), ("y", A)], [], "snapshot", ""),
        ([("x", A)], [], "complete", "1 lost"),
        ([("x", A), ("y", A), ("y", A)], [], "complete", "1 doubled"),
        ([("x", A), ("y", B)], [], "complete", "1 wrong"),
        ([("x", A), ("y", A), ("z", A)], [], "complete", "1 wrong"),
        ([("x", A), ("y", B)], [("y", C)], "complete", "1 stale"),
        ([("x", A)], [("y", C)], "complete", "1 gone"),
        ([("x", A)], [("y", None)], "snapshot", ""),
        ([("x", A), ("y", A)], [("y", None)], "snapshot", ""),
        ([("x", B), ("y", A), ("z", A)], [("x", B), ("z", A), ("y", B)], "snapshot", ""),
        ([("x", A), ("y", A), ("z", A)], [("x", B), ("z", A)], "complete", ""),
        ([("x", A), ("y", A), ("z", A)], [("x", B), ("z", A)], "snapshot", "1 never"),
    ],
)
def test_the_comparison_finds_each_kind_of_difference(rows, changes, proof, broken):
    assert compare({"x": A, "y": A}, changes, rows, proof).broken == broken
