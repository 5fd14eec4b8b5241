"""Lines to the server: as many as requests may be under way, one request on each, and each can be cut.

A line has one connection, so that a request can be ended from another thread by shutting down the socket below it. That
is what ends an answer that trickles in for ever, and what Ctrl-C needs while other threads wait for answers: closing a
file does not wake a thread that reads from it. All loads and calls of a client, from whichever thread, share its lines.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from billframes.errors import ConfigError
from billframes.transport.cancellation import PIECE, Task

__all__ = ["CutError", "Line", "Lines", "Watch"]

_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class Closable(Protocol):
    """What a line sends with."""

    def close(self) -> None:
        """Close the connection."""


C = TypeVar("C", bound=Closable)


class CutError(Exception):
    """The request was ended from here, before its answer was whole."""


class Watch:
    """
    Cuts what takes too long, with one thread for all lines.

    The thread begins with the first request and ends when it finds nothing to watch.
    """

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._due: dict[object, tuple[float, Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None
        self._wakes = 0.0

    @contextmanager
    def over(self, cut: Callable[[], None], seconds: float) -> Iterator[None]:
        """Have `cut` called if this block takes longer."""
        key, due = object(), time.monotonic() + seconds
        with self._news:
            self._due[key] = (due, cut)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="billframes watch", daemon=True)
                self._wakes = due
                self._thread.start()
            elif due < self._wakes:
                self._news.notify()
        try:
            yield
        finally:
            with self._news:
                self._due.pop(key, None)

    def _run(self) -> None:
        with self._news:
            while self._due:
                now = time.monotonic()
                for key in [key for key, (due, _cut) in self._due.items() if due <= now]:
                    self._due.pop(key)[1]()
                if self._due:
                    self._wakes = min(due for due, _cut in self._due.values())
                    self._news.wait(self._wakes - now)
            self._thread = None


class Line(Generic[C]):
    """One connection, with one request at a time on it."""

    def __init__(self, client: C) -> None:
        self.client = client
        # A collected client ends its lines, from whichever thread the collector happens to run in.
        self._lock = threading.RLock()
        self._socket: socket.socket | None = None
        self._use = 0
        self._is_cut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take note of the connection's socket; httpcore tells of each step of a request here."""
        if event.endswith(_CONNECTED):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self._is_cut:
                    self._shut()

    @contextmanager
    def used(self, watch: Watch, seconds: float, task: Task) -> Iterator[None]:
        """
        Let a request use the line for so long at most, and no longer than its task lasts.

        Raises
        ------
        CutError
            It took longer, or the task was stopped.
        """
        with self._lock:
            self._use += 1
            self._is_cut = False
            cut = partial(self._cut, self._use)
        try:
            with watch.over(cut, seconds), task.holding(cut):
                yield
        except Exception as error:
            if self._ended():
                raise CutError from error
            raise
        # A body without a length ends where the connection does: cut, it would look whole.
        if self._ended():
            raise CutError

    def end(self) -> None:
        """End the request that is under way."""
        with self._lock:
            self._is_cut = True
            self._shut()

    def _cut(self, use: int) -> None:
        """End the request that was under way when the cut was made ready, and no later one."""
        with self._lock:
            if use == self._use:
                self.end()

    def _shut(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):
                # Not the TLS way, which would wait for the other side.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _ended(self) -> bool:
        with self._lock:
            self._use += 1
            return self._is_cut


class Lines(Generic[C]):
    """
    The lines of one client.

    Parameters
    ----------
    most : int
        How many there can be.
    make : callable
        Returns what a line sends with; it should open one connection at most.
    """

    def __init__(self, most: int, make: Callable[[], C]) -> None:
        self._make = make
        self._free = threading.Condition()
        self._spare = most
        self._idle: list[Line[C]] = []
        self._all: list[Line[C]] = []
        self._closed = False

    @contextmanager
    def one(self, task: Task) -> Iterator[Line[C]]:
        """Wait for a line and have it for this block."""
        line = self._take(task)
        kept = False
        try:
            yield line
            kept = True
        except Exception:
            kept = True
            raise
        finally:
            self._give(line, kept=kept)

    def close(self) -> None:
        """
        Close every connection. Safe to call twice.

        A request under way is ended, and its line closed by whoever has it: closed from here, a connection that is just
        being made would stay open.
        """
        with self._free:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = [each for each in self._all if each not in idle]
            self._all = busy.copy()
            self._free.notify_all()
        for line in idle:
            line.client.close()
        for line in busy:
            line.end()

    def _take(self, task: Task) -> Line[C]:
        with self._free:
            while True:
                task.check()
                if self._closed:
                    raise ConfigError("The client is closed; connect again.")
                if self._idle:
                    return self._idle.pop()
                if self._spare:
                    self._spare -= 1
                    break
                self._free.wait(PIECE)
        line = Line(self._make())
        with self._free:
            self._all.append(line)
        return line

    def _give(self, line: Line[C], *, kept: bool) -> None:
        """Take a line back; one that was interrupted in the middle of anything is not used again."""
        with self._free:
            if kept and not self._closed:
                self._idle.append(line)
                self._free.notify()
                return
        line.client.close()
        with self._free:
            self._spare += 1
            self._all = [each for each in self._all if each is not line]
            self._free.notify()
