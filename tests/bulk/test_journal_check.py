"""A journal that billframes has not written so, or that others can write, is refused before a change is sent."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing

import pytest

import billframes as bf
from billframes.bulk import journal as journals
from billframes.bulk.journal import Journal
from billframes.bulk.journal_entry import Entry

ABOUT = {"base_url": "http://localhost:1", "resource": "time_entries", "read_at": "2026-11-05T09:00:00+00:00"}
ENTRIES = [
    Entry(0, "update", 0, "a" * 8, b'{"hours":2.0}', [("hours", 1.0, 2.0)], "2026-11-05T08:00:00+00:00"),
    Entry(1, "create", 1, None, b'{"description":"x"}', [("description", None, "x")], existing_ids=("b",)),
    Entry(2, "delete", None, "c" * 8, None, []),
]


@pytest.fixture
def journal(tmp_path):
    with Journal.create(tmp_path / "made.journal", ABOUT, ENTRIES) as made:
        made.mark_sent(ENTRIES[:1])
    return tmp_path / "made.journal"


def execute(path, sql, *values):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(sql, values)


def test_a_journal_is_read_as_it_was_written(journal):
    with Journal.open(journal) as opened:
        assert [entry.state for entry in opened.entries()] == ["sent", "planned", "planned"]
        assert list(opened.entries())[1:] == ENTRIES[1:]


@pytest.mark.parametrize(
    ("sql", "value", "problem"),
    [
        ("UPDATE change SET cells = ?", b"not json", "change 0: JSON is malformed"),
        ("UPDATE change SET cells = ?", b'[["hours",1]]', "change 0: Expected `array` of length 3"),
        ("UPDATE change SET cells = ?", b'[["hours","abc",1]]', "a value of hours is not a number"),
        ("UPDATE change SET cells = ?", b'[["secret",null,1]]', "there is no column 'secret'"),
        ("UPDATE change SET twins = ? WHERE number = 1", b"[1]", "change 1: Expected `str`"),
        ("UPDATE change SET body = ? WHERE number = 1", b"[" * 100_000, "change 1"),
        ("UPDATE change SET body = ? WHERE number = 1", b'{"secret":1}', "a field that can't be written"),
        ("UPDATE change SET body = ? WHERE number = 2", b"{}", "its request does not fit its action"),
        ("UPDATE change SET body = ?", b"x" * 10_000_001, "too big"),
        ("UPDATE change SET state = ? WHERE number = 2", "hidden", "change 2: its state 'hidden' is unknown"),
        ("UPDATE change SET action = ? WHERE number = 2", "DELETE", "change 2: Invalid enum value"),
        ("UPDATE change SET id = ? WHERE number = 2", None, "it has no id"),
        ("UPDATE change SET tries = ?", -1, "a number is negative"),
        ("UPDATE change SET sent_at = ?", None, "sent_at is not an instant"),
        ("UPDATE change SET base = ?", "2026-11-05", "base is not an instant"),
        ("UPDATE about SET value = ? WHERE name = 'resource'", "invoices", "has changes of 'invoices'"),
        ("UPDATE about SET value = ? WHERE name = 'resource'", "x", "has changes of 'x'"),
        ("UPDATE about SET value = ? WHERE name = 'base_url'", "http://x:99999", "Port out of range"),
        ("UPDATE about SET value = ? WHERE name = 'read_at'", "yesterday", "Invalid isoformat"),
        ("CREATE TRIGGER t AFTER UPDATE ON change BEGIN DELETE FROM change; END", (), "its tables are not those"),
        ("DROP INDEX change_state", (), "its tables are not those"),
    ],
)  # fmt: skip
def test_a_value_that_billframes_does_not_write_refuses_the_journal(journal, sql, value, problem):
    execute(journal, sql, *(() if value == () else (value,)))
    with pytest.raises(
        bf.errors.ParameterError, match=rf"is not a journal of billframes, or it is damaged: .*{problem}"
    ):
        Journal.open(journal)


def test_an_index_that_lacks_a_change_refuses_the_journal(journal):
    execute(journal, "CREATE TABLE other (number INTEGER PRIMARY KEY, state TEXT NOT NULL)")
    content = bytearray(journal.read_bytes())
    at = content.rindex(b"planned")
    content[at : at + 7] = b"refused"
    journal.write_bytes(bytes(content))
    with pytest.raises(bf.errors.ParameterError, match="or it is damaged"):
        Journal.open(journal)


@pytest.mark.skipif(os.name != "posix", reason="Windows has other permissions")
@pytest.mark.parametrize("beside", ["", "-wal", "-journal", "-shm"])
def test_a_journal_that_others_can_write_is_refused(journal, beside):
    path = journal.with_name(journal.name + beside)
    path.touch()
    for mode in (0o620, 0o602):
        path.chmod(mode)
        with pytest.raises(bf.errors.ParameterError, match="Other users can write .* run chmod 600"):
            Journal.open(journal)
    path.chmod(0o644)
    Journal.open(journal).close()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="changes a file's owner: root only")
def test_a_journal_of_another_user_is_refused_and_a_copy_is_read(journal, tmp_path):
    os.chown(journal, 12345, 12345)
    with pytest.raises(bf.errors.ParameterError, match="belongs to another user.*copy the journal"):
        Journal.open(journal)
    Journal.open(shutil.copyfile(journal, tmp_path / "copy.journal")).close()


def test_where_permissions_are_not_kept_nothing_is_written(tmp_path, monkeypatch):
    opened = os.open
    # As on a file system that gives all files the same permissions.
    monkeypatch.setattr(journals.os, "open", lambda path, flags, _mode: opened(path, flags, 0o666))
    before = os.umask(0)
    try:
        with pytest.raises(bf.errors.ParameterError, match="If its file system does not keep permissions"):
            Journal.create(tmp_path / "new.journal", ABOUT, ENTRIES)
    finally:
        os.umask(before)
    assert list(tmp_path.iterdir()) == []
