"""The database under many clients at once, after a kill, with a clock that stands still, and with an audit."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from billframes.sandbox import Sandbox, store as store_module
from billframes.sandbox.clock import BEGINNING, Clock
from billframes.sandbox.store import Store

NEW = {"matterId": "a1", "date": "2026-10-30", "description": "Work", "hours": 1}


@pytest.mark.slow
def test_twenty_writers_lose_nothing(fresh_api):
    """20 writers lose nothing: every acknowledged entry is there, and no two have the same modified date."""
    before = fresh_api.list("time-entries")[1]["total"]

    def write(writer):
        made = []
        for number in range(15):
            entry = fresh_api.write("POST", "time-entries", NEW | {"description": f"{writer}.{number}"})
            made.append((entry["timeEntryId"], entry["meta"]["modifiedAt"]))
        return made

    with ThreadPoolExecutor(20) as pool:
        made = [each for entries in pool.map(write, range(20)) for each in entries]
    assert len(made) == len(set(made)) == len({at for _, at in made}) == 300
    rows = {row["timeEntryId"] for row in fresh_api.rows("time-entries")}
    assert {id_ for id_, _ in made} <= rows
    assert fresh_api.list("time-entries")[1]["total"] == before + 300


def test_twenty_writers_of_one_record(fresh_api):
    """Two fields that are sent in one update are stored together."""

    def write(number):
        # "99" would be sent as the id that it is short for.
        fresh_api.write("PUT", "time-entries/e2", {"hours": number, "description": f"{number}.0"})

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(write, range(1, 101)))
    entry = fresh_api.record("time-entries", "e2")
    assert entry["hours"] == float(entry["description"])
    assert entry["amount"] == entry["hours"] * 250


def test_readers_never_wait_for_writers(fresh_api):
    """Reads continue while another process holds the write lock, even with many waiting writers."""
    connection = sqlite3.connect(fresh_api.database, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with ThreadPoolExecutor(60) as pool:
        waiting = [pool.submit(fresh_api.write, "POST", "time-entries", NEW) for _ in range(50)]
        started = time.monotonic()
        for _ in range(20):
            assert fresh_api.call("/v2/time-entries").status_code == 200
        took = time.monotonic() - started
        assert not any(each.done() for each in waiting)
        connection.execute("ROLLBACK")
        assert all(each.result() for each in waiting)
    connection.close()
    # A reader that waited for the lock would take half a minute.
    assert took < 20


def test_a_lock_that_is_never_released(firm, tmp_path, tools, monkeypatch):
    """A write that waits too long for another process's lock gets 503 with `Retry-After`."""
    monkeypatch.setattr(store_module, "_LOCK_TIMEOUT", 0.1)
    path = tmp_path / "firm.db"
    path.write_bytes(firm.read_bytes())
    with Sandbox(db=path) as sandbox, closing(sqlite3.connect(path, isolation_level=None)) as outsider:
        api = tools.Api(sandbox)
        with api.http:
            outsider.execute("BEGIN IMMEDIATE")
            answer = api.send("POST", "time-entries", NEW)
            assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
            outsider.execute("ROLLBACK")
            api.write("POST", "time-entries", NEW)


def test_modified_dates_strictly_increase(tools, tmp_path):
    """modifiedAt strictly increases, even if the clock stands still or goes back, and across restarts."""
    real = [BEGINNING]

    def stamps(count):
        store = Store(tmp_path / "firm.db", tools.seed_by_hand)
        store.clock = Clock(BEGINNING - BEGINNING, real=lambda: real[0])
        for _ in range(count):
            with store.write_transaction() as (_, at):
                yield at
        store.close()

    found = [*stamps(5)]
    real[0] = BEGINNING.replace(hour=1)
    found += stamps(5)
    real[0] = BEGINNING.replace(hour=23)
    found += stamps(1)
    assert found == sorted(set(found))
    assert found[0] == "2026-10-31T20:00:00.000000Z"
    assert found[-1] == "2026-10-31T23:00:00.000000Z"


def test_a_refused_write_leaves_no_trace(tools, tmp_path):
    """If anything is raised in a write transaction, all of it is rolled back."""
    store = Store(tmp_path / "firm.db", tools.seed_by_hand)

    def fail():
        with store.write_transaction() as (connection, _):
            connection.execute("DELETE FROM time_entry")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.read_transaction() as connection:
        assert connection.execute("SELECT count(*) FROM time_entry").fetchone() == (5,)
    store.close()


def test_totals_are_current(fresh_api):
    """Totals are current right after writes through the server, and after writes by another process."""

    def totals():
        return [fresh_api.list("time-entries", limit=1, **f)[1]["total"] for f in ({}, {"billingType": "billable"})]

    assert totals() == totals() == [5, 3]
    entry = fresh_api.write("POST", "time-entries", NEW)["timeEntryId"]
    assert totals() == totals() == [6, 4]
    with closing(sqlite3.connect(fresh_api.database)) as connection:
        connection.execute("UPDATE time_entry SET billing_type = 'nonBillable' WHERE time_entry_id = ?", [entry])
        connection.commit()
    assert totals() == [6, 3]
    fresh_api.write("DELETE", f"time-entries/{entry}")
    assert totals() == [5, 3]


def test_pages_are_current(fresh_api):
    """Pages are current right after writes through the server or by another process, and rates stay hidden."""

    def rows(token="sandbox-full"):
        again = [
            fresh_api.list("time-entries", token=token, billingType="billable", sort="-created")[0] for _ in range(2)
        ]
        assert again[0] == again[1]
        return again[0]

    entry = fresh_api.write("POST", "time-entries", NEW)["timeEntryId"]
    assert rows()[0]["timeEntryId"] == entry
    assert all("rate" in row for row in rows())
    assert not any("rate" in row for row in rows("sandbox-norates"))
    with closing(sqlite3.connect(fresh_api.database)) as connection:
        connection.execute("UPDATE time_entry SET description = 'Past the server' WHERE time_entry_id = ?", [entry])
        connection.commit()
    assert rows()[0]["description"] == "Past the server"
    fresh_api.write("PUT", f"time-entries/{entry}", {"description": "By the server"})
    assert rows()[0]["description"] == "By the server"
    fresh_api.write("DELETE", f"time-entries/{entry}")
    assert entry not in [row["timeEntryId"] for row in rows()]


def test_a_value_read_before_a_commit_is_not_cached_for_later_transactions(firm, tmp_path, tools):
    """A transaction sees the database as it was when it began, and later transactions don't get its values."""
    store = Store(tmp_path / "firm.db", tools.seed_by_hand)
    number = "SELECT count(*) FROM time_entry"

    def counted(connection):
        return connection.cached("number", lambda: connection.execute(number).fetchone()[0])

    with store.read_transaction() as early:
        with store.write_transaction() as (connection, _):
            (first,) = connection.execute("SELECT min(time_entry_id) FROM time_entry").fetchone()
            connection.execute("DELETE FROM time_entry WHERE time_entry_id = ?", [first])
        with store.read_transaction() as late:
            assert counted(late) == 4
        assert counted(early) == 5
        with store.read_transaction() as late:
            assert counted(late) == 4
    store.close()


def test_pages_from_either_end(fresh_api):
    """The pages of a list, read with `offset`, make up the list."""
    for number in range(7):
        fresh_api.write("POST", "time-entries", NEW | {"hours": number % 2})
    for sort in ("date", "-date", "hours,-description", "-created"):
        whole = fresh_api.ids("time-entries", sort=sort, limit=1000)
        for limit in (1, 2, 5, 12):
            pages = [fresh_api.ids("time-entries", sort=sort, limit=limit, offset=o) for o in range(0, 12, limit)]
            assert " ".join(pages) == whole
        assert fresh_api.ids("time-entries", sort=sort, offset=12) == ""


def test_durability_of_kept_firms(tools, tmp_path):
    """`synchronous` is FULL for a file that is kept, and OFF for a temporary file."""
    kept, temporary = Store(tmp_path / "firm.db", tools.seed_by_hand), Store(None, tools.seed_by_hand)
    for store, expected in ((kept, 2), (temporary, 0)):
        with store.read_transaction() as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (expected,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
        store.close()


@pytest.mark.slow
def test_acknowledged_writes_survive_a_kill(firm, tmp_path):
    """Acknowledged writes survive `kill -9`; other writes are complete or absent."""
    path = tmp_path / "firm.db"
    path.write_bytes(firm.read_bytes())
    acknowledged = [each for number in (3, 8, 15) for each in _written_until_killed(path, number)]
    assert len(acknowledged) >= 26
    store = Store(path, _never)
    with store.read_transaction() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        kept = {row[0] for row in connection.execute("SELECT time_entry_id FROM time_entry")}
        late = connection.execute("SELECT max(modified_at) FROM time_entry").fetchone()[0]
    with store.write_transaction() as (_, at):
        assert at > late
    store.close()
    assert set(acknowledged) <= kept


CODE = (
    "import argparse, sys; from billframes.sandbox import command; parser = argparse.ArgumentParser();"
    "command.add_arguments(parser); sys.exit(command.run(parser.parse_args()))"
)


def _written_until_killed(path, number):
    """Write from four threads, and kill the server after a number of responses."""
    arguments = [sys.executable, "-c", CODE, "--json", "--db", str(path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        ready = json.loads(process.stdout.readline())
        ids: list[str] = []
        writers = [threading.Thread(target=_write_until_gone, args=(ready, ids)) for _ in range(4)]
        for each in writers:
            each.start()
        while len(ids) < number and any(each.is_alive() for each in writers):
            time.sleep(0.001)
        os.kill(process.pid, signal.SIGKILL)
        for each in writers:
            each.join()
    return ids


def _write_until_gone(ready, ids):
    body = NEW | {"matterId": "a0000001-0000-4000-8000-000000000000"}
    headers = {"Authorization": f"Bearer {ready['tokens']['full']}"}
    with httpx.Client(base_url=ready["base_url"], headers=headers, timeout=60) as http:
        try:
            while True:
                answer = http.post("/v2/time-entries", json=body)
                assert answer.status_code == 200
                ids.append(answer.json()["data"]["timeEntryId"])
        except httpx.TransportError:
            pass


def _never(_connection):
    raise AssertionError


@pytest.fixture
def audited_api(firm, tmp_path, tools):
    path = tmp_path / "audited_api.db"
    shutil.copyfile(firm, path)
    with Sandbox(db=path, audit=True) as sandbox:
        api = tools.Api(sandbox)
        with api.http:
            yield api


def changes(api):
    with closing(sqlite3.connect(api.sandbox.database)) as connection:
        rows = connection.execute("SELECT resource, id, record FROM audit ORDER BY position").fetchall()
    return [(resource, name, json.loads(record) if record else None) for resource, name, record in rows]


def test_creates_updates_and_deletes_are_in_the_audit(audited_api):
    body = {"matterId": "a1", "date": "2026-10-30", "description": "Work", "hours": 1}
    entry = audited_api.write("POST", "time-entries", body)["timeEntryId"]
    audited_api.write("PUT", f"time-entries/{entry}", {"date": "2026-10-29"})
    audited_api.write("DELETE", f"time-entries/{entry}")
    kept = changes(audited_api)
    assert [(resource, name) for resource, name, _ in kept] == [("time_entry", entry)] * 3
    assert [record and record["date"] for _, _, record in kept] == ["2026-10-30", "2026-10-29", None]


def test_refused_writes_are_not_in_the_audit(audited_api):
    assert audited_api.send("POST", "time-entries", {"hours": 1}).status_code == 400
    assert changes(audited_api) == []


def test_a_database_keeps_its_audit(audited_api):
    with Sandbox(db=audited_api.sandbox.database, audit=True):
        pass
    assert changes(audited_api) == []
