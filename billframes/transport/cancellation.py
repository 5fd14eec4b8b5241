"""What belongs together: the requests of one load, which end together.

A load that fails or is interrupted stops its task. What waits is woken, what is under way is cut off, and nothing of it
is tried again; other loads of the same client go on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

__all__ = ["PIECE", "StoppedError", "Task"]

# Waiting is cut into pieces, so that Ctrl-C gets through on every platform.
PIECE = 0.5


class StoppedError(Exception):
    """The task was stopped; nobody waits for what this request would have brought."""


class Task:
    """
    The requests of one load.

    Parameters
    ----------
    seconds : float
        After so long nothing is tried again.
    """

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._cuts: set[Callable[[], None]] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def over(self) -> bool:
        """Whether nothing should be tried again."""
        return self._stopped.is_set() or time.monotonic() >= self._ends

    def stop(self) -> None:
        """Wake what waits and cut what is under way; returns at once."""
        self._stopped.set()
        with self._lock:
            cuts = list(self._cuts)
        for cut in cuts:
            cut()

    def check(self) -> None:
        """Raise `StoppedError` where the task was stopped."""
        if self._stopped.is_set():
            raise StoppedError

    def sleep(self, seconds: float) -> None:
        """Wait; raise `StoppedError` where the task is stopped meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._stopped.wait(min(left, PIECE))
            self.check()

    @contextmanager
    def holding(self, cut: Callable[[], None]) -> Iterator[None]:
        """Have `cut` called if the task is stopped within this block."""
        with self._lock:
            self._cuts.add(cut)
        try:
            # Stopped just before `cut` was known: nobody else would call it.
            self.check()
            yield
        finally:
            with self._lock:
                self._cuts.discard(cut)
