"""Certificates, deadlines and cancellation for httpx's connections.

httpx limits how long a server may be silent, not how long a request may take. It has no way to end a request from
another thread either: closing its client closes the socket's file, which does not wake a thread that is reading from
the socket. So its connections are opened by a network backend (httpcore's extension point) that

- lets no connect, TLS handshake, read or write wait beyond the deadline of its request, so that a server that sends one
  byte at a time can't delay a request without end;
- records which socket each request is waiting for. Cancelling a load shuts the sockets down, which wakes its threads.

A forked process closes its copies of the sockets, by the system's call: the parent's connections don't notice it.

Name resolution and connecting can't be interrupted. A cancelled thread notices the cancellation when they end; no other
thread waits for it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self, TypeVar

import httpcore
import httpx
import truststore

from billframes._shared.forks import Process, check_own, in_each_child
from billframes.errors import ConfigError

T = TypeVar("T")
# Waits are split into pieces of this length, because on Windows Ctrl-C does not interrupt a wait.
POLL_SECONDS = 0.5


class CancelledError(Exception):
    """The load that sent this request was cancelled."""


class DeadlineError(Exception):
    """The request took too long."""


class CancelScope:
    """
    Cancels the requests of one load together; after `seconds`, no request is retried.

    Leaving its `with` block cancels the requests still under way, and so does cancelling its parent. Other loads of the
    same client continue.
    """

    def __init__(self, seconds: float, parent: CancelScope | None = None) -> None:
        self._ends = time.monotonic() + seconds
        self._parent = parent
        self._cancelled = False
        self._process = Process.current()
        # Reentrant, because the garbage collector may close a client in a thread that holds this lock.
        self._lock: threading.RLock = parent._lock if parent else threading.RLock()
        # The sockets that requests are waiting for, of this scope, its parent and the parent's other scopes.
        self._waiting: dict[socket.socket, CancelScope] = parent._waiting if parent else {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()

    @property
    def expired(self) -> bool:
        """Whether no request should be retried any more."""
        return self._cancelled or time.monotonic() >= self._ends

    def cancel(self) -> None:
        """Cancel every request of the scope, waiting or under way. Returns at once."""
        if not self._process.is_current:
            # The requests are the parent's, and shutting down a copy of a socket would end the connection.
            return
        with self._lock:
            self._cancelled = True
            for each, scope in self._waiting.items():
                if self in (scope, scope._parent):
                    # Bypass TLS, whose shutdown would wait for the server.
                    with contextlib.suppress(OSError):
                        socket.socket.shutdown(each, socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise `CancelledError` if the scope or its parent was cancelled, `ConfigError` in a child of its process."""
        check_own(self._process, "began this load")
        self._check_cancelled()

    def _check_cancelled(self) -> None:
        if self._parent is not None:
            self._parent._check_cancelled()
        if self._cancelled:
            raise CancelledError

    def add(self, waiting_socket: socket.socket) -> None:
        """Let `cancel` shut this socket down, until it is removed."""
        check_own(self._process, "began this load")
        with self._lock:
            self._check_cancelled()
            self._waiting[waiting_socket] = self

    def remove(self, waiting_socket: socket.socket) -> None:
        """Don't let `cancel` shut this socket down any more."""
        if self._process.is_current:
            with self._lock:
                self._waiting.pop(waiting_socket, None)


class _Exchange:
    """One request under way: its cancel scope, and the time by which it must have ended."""

    def __init__(self, scope: CancelScope, seconds: float) -> None:
        self.scope = scope
        self._ends = time.monotonic() + seconds

    @property
    def overdue(self) -> bool:
        return time.monotonic() >= self._ends

    def wait(self, waiting_socket: socket.socket, step: Callable[[float], T], timeout: float | None) -> T:
        """Run a step that waits for a socket; it ends at the deadline, or when the scope is cancelled."""
        self.scope.add(waiting_socket)
        try:
            return step(self.seconds_left(timeout))
        finally:
            self.scope.remove(waiting_socket)

    def seconds_left(self, timeout: float | None) -> float:
        """Return the seconds that a step may wait: `timeout`, or less if the deadline is nearer."""
        seconds_left = self._ends - time.monotonic()
        if seconds_left <= 0:
            raise DeadlineError
        # A socket accepts no more than TIMEOUT_MAX, some 292 years; `timeout` may be infinite.
        return min(seconds_left, threading.TIMEOUT_MAX if timeout is None else timeout, threading.TIMEOUT_MAX)


_current: ContextVar[_Exchange] = ContextVar("billframes_exchange")


@contextmanager
def deadline(scope: CancelScope, seconds: float) -> Iterator[None]:
    """Limit the time of the request sent in this block; raise `DeadlineError`, or `CancelledError` by its scope."""
    exchange = _Exchange(scope, seconds)
    token = _current.set(exchange)
    try:
        yield
    except Exception as error:
        scope.check()
        # A failure to connect in time is reported as such, because then nothing was sent.
        if exchange.overdue and not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            raise DeadlineError from error
        raise
    finally:
        _current.reset(token)
    # A body without a length ends with its connection, so after a cancellation it would look complete.
    scope.check()
    if exchange.overdue:
        raise DeadlineError


class ClientPool:
    """
    A pool of httpx clients, each with one connection; it has as many as there are requests under way.

    A single client with eight connections sends 11 % fewer requests per second, because each request checks all idle
    connections.
    """

    def __init__(self, open_client: Callable[[], httpx.Client]) -> None:
        self._open_client = open_client
        self._idle: deque[httpx.Client] = deque()
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[httpx.Client]:
        """Lend a client to a request during this block."""
        try:
            client = self._idle.pop()
        except IndexError:
            client = self._open_client()
        try:
            yield client
        except Exception:
            self._return(client)
            raise
        except BaseException:
            # Ctrl-C may have interrupted the client anywhere, so it is not used again.
            client.close()
            raise
        self._return(client)

    def close(self) -> None:
        """Close the idle clients now, and each other client when its request ends. Safe to call twice."""
        self._closed = True
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def _return(self, client: httpx.Client) -> None:
        self._idle.append(client)
        if self._closed:
            self.close()


def trusted_certificates(verify: bool | str | ssl.SSLContext) -> bool | ssl.SSLContext:
    """Return httpx's `verify` argument; True checks against the operating system's trust store."""
    if verify is True:
        return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if isinstance(verify, str):
        try:
            return ssl.create_default_context(cafile=verify)
        except OSError as error:
            raise ConfigError(f"verify={verify!r} is not a readable file of certificates: {error}.") from None
    return verify


def add_deadlines(client: httpx.Client) -> None:
    """Make the connections of a client, including those to proxies, obey `deadline` and `CancelScope`."""
    # httpx has no argument for a network backend.
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx.HTTPTransport):
            pool = transport._pool
            if not hasattr(pool, "_network_backend"):
                raise RuntimeError("This version of httpcore has no network backend to replace; billframes needs it.")
            pool._network_backend = _Backend()


class _Backend(httpcore.SyncBackend):
    """Opens connections that obey the deadline and the cancel scope of the request that uses them."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _CancellableStream(
            super().connect_tcp(host, port, _current.get().seconds_left(timeout), local_address, socket_options)
        )


class _CancellableStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self._socket: socket.socket = stream.get_extra_info("socket")
        _streams.add(self)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return _current.get().wait(self._socket, lambda seconds: self._stream.read(max_bytes, seconds), timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        _current.get().wait(self._socket, lambda seconds: self._stream.write(buffer, seconds), timeout)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        # The handshake detaches the socket, so `cancel` needs a duplicate to shut it down. A socket with TLS, that of a
        # proxy, has no `dup`.
        own = self._socket
        with socket.fromfd(own.fileno(), own.family, own.type, own.proto) as duplicate:
            stream = _current.get().wait(
                duplicate, lambda seconds: self._stream.start_tls(ssl_context, server_hostname, seconds), timeout
            )
        return _CancellableStream(stream)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close_copy(self) -> None:
        """Close the socket in this process only, and send nothing."""
        if (copy := self._socket.detach()) >= 0:
            os.close(copy)


_streams: weakref.WeakSet[_CancellableStream] = weakref.WeakSet()


def _close_copies() -> None:
    for each in list(_streams):
        each.close_copy()


in_each_child(_close_copies)
