"""What existed when: every change, in the order of commits, and none that was not made."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from billframes.sandbox import Sandbox


@pytest.fixture
def audited(firm, tmp_path, tools):
    path = tmp_path / "audited.db"
    shutil.copyfile(firm, path)
    with Sandbox(db=path, audit=True) as sandbox:
        api = tools.Api(sandbox)
        with api.http:
            yield api


def changes(api):
    with closing(sqlite3.connect(api.sandbox.database)) as connection:
        rows = connection.execute("SELECT resource, id, record FROM audit ORDER BY position").fetchall()
    return [(resource, name, json.loads(record) if record else None) for resource, name, record in rows]


def test_creates_changes_and_deletions_are_kept(audited):
    body = {"matterId": "a1", "date": "2026-10-30", "description": "Work", "hours": 1}
    entry = audited.done("POST", "time-entries", body)["timeEntryId"]
    audited.done("PUT", f"time-entries/{entry}", {"date": "2026-10-29"})
    audited.done("DELETE", f"time-entries/{entry}")
    kept = changes(audited)
    assert [(resource, name) for resource, name, _ in kept] == [("time_entry", entry)] * 3
    assert [record and record["date"] for _, _, record in kept] == ["2026-10-30", "2026-10-29", None]


def test_what_was_refused_never_was(audited):
    assert audited.send("POST", "time-entries", {"hours": 1}).status_code == 400
    assert changes(audited) == []


def test_a_database_keeps_its_audit(audited):
    with Sandbox(db=audited.sandbox.database, audit=True):
        pass
    assert changes(audited) == []
