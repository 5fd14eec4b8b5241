"""Closing or cancelling ends the requests under way and closes their connections."""

from __future__ import annotations

import contextlib
import gc
import socket
import threading
import time

import httpx
import pytest

import billframes as bf
from billframes.transport.connections import CancelledError, CancelScope, ClientPool, DeadlineError, deadline
from tests.conftest import entries, paged

# On a machine that is not busy it takes milliseconds.
PROMPT = 20


@pytest.fixture
def silent():
    """Yield a server that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listener:
        listener.settimeout(60)
        yield listener


def client_of(listener, **options):
    return bf.Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "t0ken", retries=0, **options)


@contextlib.contextmanager
def accepted(listener):
    """Accept a connection, and wait for the request on it."""
    other, _ = listener.accept()
    with other:
        other.settimeout(60)
        assert other.recv(65_536)
        yield other


@contextlib.contextmanager
def running(call):
    """Call a function in a thread; the list has its error after it has ended."""
    errors = []

    def work():
        try:
            call()
        except Exception as error:  # noqa: BLE001 - handed to the test
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    yield errors
    thread.join(60)
    assert not thread.is_alive()


def test_closing_a_client_ends_the_request_under_way(silent):
    client = client_of(silent)
    with running(client.practice_areas) as errors, accepted(silent) as other:
        client.close()
        assert other.recv(65_536) == b""
    (error,) = errors
    assert isinstance(error, bf.errors.ConfigError)
    assert "closed" in str(error)


def test_a_closed_client_sends_nothing(silent):
    client = client_of(silent)
    client.close()
    client.close()
    with pytest.raises(bf.errors.ConfigError, match="closed"):
        client.practice_areas()


@pytest.mark.slow
def test_an_unreferenced_client_closes_its_connections(fake):
    fake.answers["/v2/time-entries"] = paged(entries(3))
    client = bf.Client("https://billing.test", "t0ken", transport=httpx.MockTransport(fake))
    assert len(client.time_entries(select="")) == 3
    (idle,) = client._connection._own.clients._idle
    del client
    for _ in range(200):
        gc.collect()
        if idle.is_closed:
            break
        # A thread of the load may hold the client for a moment longer.
        time.sleep(0.05)
    assert idle.is_closed


def test_a_client_in_use_is_closed_when_its_request_ends():
    clients = ClientPool(httpx.Client)
    with clients.lend() as one:
        with clients.lend() as other:
            pass
        clients.close()
        assert other.is_closed
        assert not one.is_closed
    assert one.is_closed


def test_a_client_that_ctrl_c_interrupted_is_not_used_again():
    clients = ClientPool(httpx.Client)
    with pytest.raises(KeyboardInterrupt), clients.lend() as one:
        raise KeyboardInterrupt
    assert one.is_closed
    with clients.lend() as other:
        assert other is not one


def test_cancelling_ends_a_request_that_waits_for_its_first_byte(silent):
    client, scope = client_of(silent), CancelScope(60)
    with (
        running(lambda: client._connection.fetch("/v2/codes", resource="codes", scope=scope)) as errors,
        accepted(silent) as other,
    ):
        begun = time.monotonic()
        scope.cancel()
        assert other.recv(65_536) == b""
    assert time.monotonic() - begun < PROMPT
    assert [type(error) for error in errors] == [CancelledError]


def test_cancelling_ends_a_body_that_has_no_length(silent):
    client, scope = client_of(silent), CancelScope(60)
    with (
        running(lambda: client._connection.fetch("/v2/codes", resource="codes", scope=scope)) as errors,
        accepted(silent) as other,
    ):
        other.sendall(b'HTTP/1.1 200 OK\r\n\r\n{"data": []}')
        time.sleep(0.1)
        scope.cancel()
        assert other.recv(65_536) == b""
    assert [type(error) for error in errors] == [CancelledError]


def test_cancelling_ends_a_tls_handshake(silent):
    client, scope = bf.Client(f"https://127.0.0.1:{silent.getsockname()[1]}", "t0ken", retries=0), CancelScope(60)
    with (
        running(lambda: client._connection.fetch("/v2/codes", resource="codes", scope=scope)) as errors,
        accepted(silent) as other,
    ):
        begun = time.monotonic()
        scope.cancel()
        assert other.recv(65_536) == b""
    assert time.monotonic() - begun < PROMPT
    assert [type(error) for error in errors] == [CancelledError]


def test_cancelling_a_load_does_not_affect_other_loads(silent):
    client, scope = client_of(silent), CancelScope(60)
    with running(client.practice_areas) as errors, accepted(silent) as kept:
        call = running(lambda: client._connection.fetch("/v2/codes", resource="codes", scope=scope))
        with call as cancelled, accepted(silent) as other:
            scope.cancel()
            assert other.recv(65_536) == b""
        kept.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + b'{"data": []}')
    assert [type(error) for error in cancelled] == [CancelledError]
    assert errors == []


def test_a_handshake_obeys_the_deadline_of_its_request(silent):
    client = bf.Client(f"https://127.0.0.1:{silent.getsockname()[1]}", "t0ken", retries=0)
    client.limits.longest_request = 0.3
    begun = time.monotonic()
    with pytest.raises(bf.errors.TransportError):
        client.practice_areas()
    assert time.monotonic() - begun < PROMPT


def test_a_body_cut_by_cancellation_or_deadline_is_not_used_as_complete():
    with pytest.raises(DeadlineError), deadline(CancelScope(60), 0.0):
        pass
    scope = CancelScope(60)
    with pytest.raises(CancelledError), deadline(scope, 60):
        scope.cancel()
