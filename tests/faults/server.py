"""A small billing API on raw sockets that can break HTTP in every way, which the sandbox's server can't.

It has a firm in memory and counts its requests, so that tests see what a write did on the server. A fault is a function
of an exchange: it performs the operation or not, and sends any response.
"""

from __future__ import annotations

import datetime as dt
import gzip
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import format_datetime
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

OLD = "2020-01-01T00:00:00Z"


def entries() -> list[dict[str, Any]]:
    """Return twenty-five time entries on as many days."""
    first = dt.date(2026, 9, 1)
    same = {"userId": "u1", "matterId": "m1", "clientId": "c1", "hours": 1.5, "billingType": "billable", "rate": 300}
    return [
        {
            "timeEntryId": f"t{i:02}",
            "date": f"{first + dt.timedelta(days=i)}",
            "description": f"Draft {i}",
            "billed": False,
            "amount": 450,
            **same,
        }
        for i in range(25)
    ]


def expense(number: int, **values: Any) -> dict[str, Any]:
    """Return an expense with its details."""
    named = {"matter": {"name": "Estate"}, "client": {"name": "Ada"}, "meta": {"createdAt": OLD, "modifiedAt": OLD}}
    plain = {"matterId": "m1", "clientId": "c1", "date": "2026-10-01", "description": "Copies", "amount": 1.0}
    return {"expenseId": f"e{number}", "billed": False, **plain, **named, **values}


@dataclass
class Firm:
    """The server's records."""

    expenses: dict[str, dict[str, Any]] = field(default_factory=lambda: {"e1": expense(1)})
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, method: str, path: str, query: dict[str, str], body: bytes) -> tuple[int, Any]:
        """Perform an operation; return the status and the body, None for no body."""
        name, _, record = path.removeprefix("/v2/").partition("/")
        with self.lock:
            if name == "expenses" and (record or method == "POST"):
                return self._single(method, record, body)
        if name == "custom-fields":
            return 200, {"data": []}
        if name == "practice-areas":
            return 200, {
                "data": [{"practiceAreaId": f"p{i}", "label": f"Area {i}", "default": not i} for i in range(3)]
            }
        rows = entries() if name == "time-entries" else [{"clientId": f"c{i}", "name": f"N{i:02}"} for i in range(25)]
        return 200, _page(rows, query)

    def _single(self, method: str, record: str, body: bytes) -> tuple[int, Any]:
        if method == "POST":
            number = len(self.expenses) + 1
            self.expenses[f"e{number}"] = expense(number, **json.loads(body))
            return 200, None
        if record not in self.expenses:
            return 404, {"title": "Not Found"}
        if method == "GET":
            return 200, {"data": self.expenses[record]}
        if method == "DELETE":
            del self.expenses[record]
            return 200, None
        self.expenses[record] |= json.loads(body)
        self.expenses[record]["meta"] = {"createdAt": OLD, "modifiedAt": dt.datetime.now(dt.UTC).isoformat()}
        return 200, None


def _page(rows: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    key = "date" if "date" in rows[0] else "name"
    first, last = query.get("startDate", ""), query.get("endDate", "~")
    found = sorted((row for row in rows if key == "name" or first <= row[key] <= last), key=lambda row: row[key])
    if query.get("sort", "").startswith("-"):
        found.reverse()
    limit, offset = int(query.get("limit", 1000)), int(query.get("offset", 0))
    where = {"limit": limit, "offset": offset, "total": len(found)}
    return {"data": found[offset : offset + limit], "pagination": where}


@dataclass
class Exchange:
    """One request, and the methods to respond to it."""

    connection: socket.socket
    server: Server
    method: str
    path: str
    query: dict[str, str]
    body: bytes
    answered: bool = False

    def perform(self) -> tuple[int, bytes]:
        """Perform the operation; return the correct status and body."""
        status, shown = self.server.firm.answer(self.method, self.path, self.query, self.body)
        return status, b"" if shown is None else json.dumps(shown).encode()

    def send(self, status: int, body: bytes, *headers: str, length: int | str | None = None) -> None:
        """Send a response; `length` is its `Content-Length`, by default the correct one."""
        head = self.head(status, *headers, f"Content-Length: {len(body) if length is None else length}")
        self.send_bytes(head + body)

    def head(self, status: int, *headers: str) -> bytes:
        """Return the status line and headers."""
        date = f"Date: {format_datetime(dt.datetime.now(dt.UTC), usegmt=True)}"
        return "\r\n".join([f"HTTP/1.1 {status} Said", date, *headers, "", ""]).encode()

    def send_bytes(self, data: bytes) -> None:
        """Send bytes."""
        self.server.ended(self)
        with suppress(OSError):
            self.connection.sendall(data)

    def trickle(self, data: bytes, pause: float = 0.05) -> None:
        """Send one byte at a time, until the other side closes the connection."""
        with suppress(OSError):
            for place in range(len(data)):
                self.connection.sendall(data[place : place + 1])
                if self.server.closed.wait(pause):
                    return

    def reset(self) -> None:
        """End the connection with a reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise ConnectionResetError

    def hang_up(self) -> None:
        """End the connection."""
        raise ConnectionAbortedError


Fault = Callable[[Exchange], None]


def respond_correctly(exchange: Exchange) -> None:
    """Respond as the API describes."""
    exchange.send(*exchange.perform())


class Server:
    """
    The server; `fault` responds to each request.

    `arrivals` has the time, method and path of each request. `most_at_once` is the largest number of requests at one
    time without any byte of a response.
    """

    def __init__(self, fault: Fault = respond_correctly, tls: ssl.SSLContext | None = None) -> None:
        self.fault = fault
        self.firm = Firm()
        self.closed = threading.Event()
        self.arrivals: list[tuple[float, str, str]] = []
        self.headers: list[bytes] = []
        self.peers: list[tuple[str, int]] = []
        self.connections = 0
        self.open = 0
        self.at_once = self.most_at_once = 0
        self._tls = tls
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        # Closing the socket would not wake the thread that accepts connections.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while not self.closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with self._lock:
            self.connections += 1
            self.open += 1
        try:
            with connection, suppress(OSError):
                connection.settimeout(30)
                if self._tls:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                with connection:
                    self._talk(connection)
        finally:
            with self._lock:
                self.open -= 1

    def _talk(self, connection: socket.socket) -> None:
        buffer = b""
        while True:
            while b"\r\n\r\n" not in buffer:
                if not (result := connection.recv(65536)):
                    return
                buffer += result
                if buffer.startswith(b"\x16\x03"):
                    # The beginning of a TLS handshake, which this server does not support.
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                    return
            head, _, buffer = buffer.partition(b"\r\n\r\n")
            length = next((int(x[15:]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")), 0)
            while len(buffer) < length:
                if not (result := connection.recv(65536)):
                    return
                buffer += result
            body, buffer = buffer[:length], buffer[length:]
            self._one(connection, head, body)

    def _one(self, connection: socket.socket, head: bytes, body: bytes) -> None:
        method, target, _ = head.decode().split("\r\n")[0].split(" ")
        parts = urlsplit(target)
        with self._lock:
            self.arrivals.append((time.monotonic(), method, parts.path))
            self.headers.append(head)
            self.peers.append(connection.getpeername())
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        exchange = Exchange(connection, self, method, parts.path, dict(parse_qsl(parts.query)), body)
        try:
            self.fault(exchange)
        finally:
            self.ended(exchange)

    def ended(self, exchange: Exchange) -> None:
        """Count a request as answered before the response is sent, because the next request may follow at once."""
        with self._lock:
            self.at_once -= not exchange.answered
            exchange.answered = True


def bomb(size: int = 32 * 2**20) -> bytes:
    """Return a small gzip body that decompresses to this size."""
    return gzip.compress(b'{"data": []' + b" " * size + b"}", 6)
