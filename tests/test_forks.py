"""A forked process gets its own connections, locks and threads, and never touches those of its parent."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time

import httpx
import pyarrow as pa
import pytest
import trustme

import billframes as bf
from billframes._shared.forks import PerProcess, Process, hold_during_fork, remove_at_end
from billframes.mirror.lock import folder_lock
from billframes.paging.scheduler import ThreadTransport
from billframes.sandbox import Sandbox
from tests.conftest import entries, paged
from tests.faults.forks import ROUNDS, Child, Rounds, forking
from tests.faults.server import Server

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@pytest.fixture(scope="module")
def own():
    """Return a sandbox whose records and state these tests may change."""
    with Sandbox(latency_ms=5) as sandbox:
        yield sandbox


@pytest.fixture
def client(own):
    with bf.Client(own.base_url, own.tokens["full"]) as connected:
        yield connected


@pytest.fixture(scope="module")
def rounds(own):
    with bf.Client(own.base_url, own.tokens["full"]) as connected:
        yield Rounds(connected)


@pytest.mark.slow
@pytest.mark.parametrize("each", ROUNDS, ids=lambda each: each.__name__)
def test_a_parent_and_its_children_get_their_own_records(rounds, each):
    assert [each(rounds, number) for number in range(3)] == [[], [], []]


@pytest.mark.slow
def test_children_that_end_normally_leave_their_parent_alone():
    command = [sys.executable, "-W", "error", "-m", "tests.faults.forks", "--rounds", "5", "--latency", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_child_sends_nothing_on_its_parents_tls_connection():
    authority, serving = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trusting = ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(serving)
    authority.configure_trust(trusting)
    with Server(tls=serving) as server, bf.Client(f"https://localhost:{server.port}", verify=trusting) as client:

        def load_and_close():
            rows = len(client.time_entries(select=""))
            client.close()
            return rows

        client.expenses.get("e1")
        assert Child(load_and_close).result() == 25
        # A byte from the child, or a goodbye, would have ended the parent's connection.
        client.expenses.get("e1")
        ports = [each[1] for each in server.peers]
        assert ports[-1] == ports[0] != ports[1]


@pytest.mark.slow
def test_closing_a_client_in_a_child_leaves_its_parents_requests(client, own):
    expected, got = len(client.time_entries("2026-Q3")), []
    thread = threading.Thread(target=lambda: got.append(len(client.time_entries("2026-Q3"))))
    thread.start()
    assert Child(client.close).result() is None
    thread.join()
    assert got == [expected]


def test_a_client_that_was_closed_before_the_fork_is_closed_in_the_child(client):
    client.close()
    assert "The client is closed" in Child(client.practice_areas).result()


@pytest.mark.slow
def test_a_transport_of_the_caller_is_not_shared_with_a_child(own, fake):
    fake.answers["/v2/time-entries"] = paged(entries(3))
    for transport, shown in ((httpx.HTTPTransport(), "with a new transport"), (httpx.MockTransport(fake), 3)):
        address = own.base_url if shown != 3 else "https://billing.test"
        with bf.Client(address, own.tokens["full"], transport=transport) as client:
            assert len(client.time_entries("2026-10", select="")) >= 1 or shown == 3
            got = Child(lambda connected=client: len(connected.time_entries(select=""))).result()
            assert got == shown or shown in got


def test_a_fork_that_no_hook_of_python_sees_is_known_by_its_process_id(client, monkeypatch):
    before, expected = client._connection._own, len(client.expenses("2026"))
    with monkeypatch.context() as patch:
        patch.setattr(Process, "_current", Process.current())
        patch.setattr(os, "getpid", lambda: -1)
        assert client._connection._own is not before
        assert len(client.expenses("2026")) == expected
        client._connection._own.close()
    assert client._connection._own is before


def test_a_load_that_forks_is_refused_in_the_child_and_goes_on_in_the_parent(client):
    children = []

    def progress(done, total):
        if not children:
            children.append(Child(transport.receive))

    transport = ThreadTransport(lambda query: query, 2)
    assert len(client.expenses("2026", progress=progress)) == len(client.expenses("2026"))
    assert "forked from another one that began this load" in children[0].result()


def test_changes_that_fork_are_refused_in_the_child_and_go_on_in_the_parent(client, tmp_path):
    frame = client.expenses("2026-10", billed=False).head(12)
    plan = client.expenses.plan(frame.assign(description="Courier to the court"))
    reading, writing = os.pipe()
    parent, forked = os.getpid(), []

    def progress(done, total):
        if not forked:
            with forking():
                forked.append(os.fork())

    try:
        outcomes = plan.apply(journal=tmp_path / "courier.journal", progress=progress)
    except bf.errors.ConfigError as error:
        os.write(writing, str(error).encode())
    finally:
        if os.getpid() != parent:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        assert "forked from another one that began to send these changes" in file.read()
    os.waitpid(forked[0], 0)
    assert set(outcomes["outcome"]) == {"done"}


def test_a_lock_that_another_thread_holds_is_free_in_a_child():
    lock, held, done = PerProcess(threading.Lock), threading.Event(), threading.Event()

    def hold():
        with lock.own:
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    assert lock.own.locked()
    assert Child(lambda: lock.own.acquire(timeout=5)).result() is True
    done.set()
    thread.join()


def test_a_fork_waits_for_a_lock_that_is_held_briefly():
    lock, whole = threading.Lock(), []
    hold_during_fork(lock)
    started = threading.Event()

    def fill():
        with lock:
            whole.append(1)
            started.set()
            time.sleep(0.05)
            whole.append(2)

    thread = threading.Thread(target=fill)
    thread.start()
    started.wait(60)
    assert Child(lambda: [whole, lock.acquire(timeout=5)]).result() == [[1, 2], True]
    thread.join()


def test_another_process_with_the_same_id_is_another_process():
    assert Process.current().is_current
    assert Process().id == os.getpid()
    assert not Process().is_current


def test_a_child_does_not_remove_its_parents_folders(tmp_path):
    folder, owner = tmp_path / "folder", Child
    folder.mkdir()
    remove = remove_at_end(folder, owner)
    assert Child(lambda: remove() or folder.exists()).result() is True
    remove()
    assert not folder.exists()


@pytest.mark.slow
def test_a_child_does_not_end_its_parents_sandbox():
    with Sandbox() as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        areas, database, port = len(client.practice_areas()), sandbox.database, sandbox._port
        reading, writing = os.pipe()
        assert Child(lambda: [sandbox.stop(), database.exists()]).result() == [None, True]
        assert len(client.practice_areas()) == areas
        # This child lives until the sandbox is stopped.
        child = Child(lambda: os.read(reading, 1).decode())
        assert Child(lambda: sandbox.admin._store._connections.own.idle.qsize()).result() == 0
        sandbox.stop()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        os.write(writing, b"x")
        assert child.result() == "x"
        os.close(reading)
        os.close(writing)


def test_a_child_reads_a_sandboxs_database_by_a_connection_of_its_own(own):
    def clients():
        with own._store.read_transaction() as connection:
            return id(connection), connection.execute("SELECT count(*) FROM client").fetchone()[0]

    mine, number = clients()
    theirs, same = Child(clients).result()
    assert (theirs != mine, same) == (True, number)


def test_a_mirror_is_refused_in_a_child_of_a_process_that_used_one(client, tmp_path):
    mirror = bf.mirror(tmp_path, client=client)
    mirror._storage.write("codes", pa.table({"code": ["A103"]}))
    shown = Child(lambda: mirror._storage.version("codes")).result()
    assert "MirrorError: This process was forked from one that had used deltalake" in shown


def test_a_mirrors_lock_and_mask_are_its_parents(tmp_path):
    reading, writing = os.pipe()

    def private():
        path = tmp_path / f"{os.getpid()}"
        path.unlink(missing_ok=True)
        path.touch()
        return stat.S_IMODE(path.stat().st_mode) & 0o077

    open_to_others = private()
    with folder_lock(tmp_path / "firm", 0):
        assert private() == 0
        child = Child(lambda: [private(), os.read(reading, 1).decode()])
        with pytest.raises(bf.errors.MirrorError, match="Another process"), folder_lock(tmp_path / "firm", 0):
            pass
    # The child still runs, and does not keep the lock.
    with folder_lock(tmp_path / "firm", 0):
        os.write(writing, b"x")
        assert child.result() == [open_to_others, "x"]
    os.close(reading)
    os.close(writing)


def test_a_client_works_in_threads_beside_a_running_event_loop(client):
    months = ["2026-07", "2026-08", "2026-09"]
    expected = [len(client.expenses(month)) for month in months]

    async def load():
        side_by_side = await asyncio.gather(*(asyncio.to_thread(client.expenses, month) for month in months))
        return [len(frame) for frame in side_by_side], len(client.expenses(months[0]))

    assert asyncio.run(load()) == (expected, expected[0])
