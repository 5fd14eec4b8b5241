"""A client that is closed, or that nobody holds any more, leaves no connection open."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

import billframes as bf
from billframes.transport.cancellation import Task
from billframes.transport.connections import CutError, Lines, Watch


class Connection:
    """Stands for what a line sends with."""

    closed = 0

    def close(self):
        self.closed += 1


@pytest.fixture
def silent():
    """A server that takes requests and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        yield listener


def closed_in_use(lines):
    """Close while a request is under way; return what was closed by then, and after."""
    with lines.one(Task(10)) as line, contextlib.suppress(CutError), line.used(Watch(), 10, Task(10)):
        lines.close()
        before = line.client.closed
    return before, line.client.closed


def test_a_line_in_use_is_closed_by_whoever_has_it():
    assert closed_in_use(Lines(1, Connection)) == (0, 1)


def test_a_line_that_waits_is_closed_with_its_client():
    lines = Lines(1, Connection)
    with lines.one(Task(10)) as line:
        pass
    lines.close()
    lines.close()
    assert line.client.closed == 1
    with pytest.raises(bf.ConfigError, match="closed"), lines.one(Task(10)):
        pass


def test_closing_a_client_ends_the_request_under_way(silent):
    client = bf.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", "t0ken", retries=0)
    errors = []

    def load():
        with pytest.raises(bf.BillframesError) as failure:
            client.practice_areas()
        errors.append(failure.value)

    thread = threading.Thread(target=load)
    thread.start()
    other, _ = silent.accept()
    with other:
        other.settimeout(10)
        assert other.recv(65_536)
        client.close()
        thread.join(10)
        assert not thread.is_alive()
        assert other.recv(65_536) == b""
    assert len(errors) == 1
