"""When a request is tried again, and how long to wait before.

GETs are repeated on failures that pass: connection errors, timeouts, 500, 502, 503, 504, bodies cut short and bodies
that are not JSON. The wait is exponential with full jitter, capped at 20 s; a `Retry-After` of the server takes
precedence. A quota for the whole client ends a storm: a server that fails most requests is not asked several times for
each.

A 429 is no failure: the server works, and grants so many calls. One gate for the whole client paces every connection
together by what is granted (see `_pace`), because independent retries against a limit of calls a minute make more
surplus calls than calls. The request is tried again as long as something is granted.
"""

from __future__ import annotations

import datetime as dt
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from billframes.transport.cancellation import PIECE, Task
from billframes.transport.pacing import SLACK, Pace

__all__ = ["LONGEST_RETRY_AFTER", "PASSING_STATUSES", "Gate", "Quota", "backoff", "http_date", "retry_after"]

PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
LONGEST_WAIT = 20.0
# Whoever is asked to wait longer is told so at once: a limit of calls a day is not waited for.
LONGEST_RETRY_AFTER = 120.0


def backoff(attempt: int) -> float:
    """Return the seconds to wait before try number `attempt` + 1, drawn anew each time."""
    return random.uniform(0, min(LONGEST_WAIT, 0.5 * 2**attempt))  # noqa: S311 - jitter, no secret


def retry_after(value: str | None, server_date: str | None = None) -> float | None:
    """
    Return the seconds a `Retry-After` header asks for; None where there is none that can be read.

    A date is counted from the server's own `Date`, so that clocks need not agree.

    Examples
    --------
    >>> retry_after("7")
    7.0
    >>> retry_after("Sat, 31 Oct 2026 20:00:30 GMT", "Sat, 31 Oct 2026 20:00:00 GMT")
    30.0
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value)
    until, now = http_date(value), http_date(server_date) or dt.datetime.now(dt.UTC)
    return None if until is None else max((until - now).total_seconds(), 0.0)


def http_date(text: str | None) -> dt.datetime | None:
    """Return a header's date; None where there is none that can be read. One without a zone is in UTC."""
    try:
        date = parsedate_to_datetime(text) if text else None
    except (TypeError, ValueError):
        return None
    return date.replace(tzinfo=dt.UTC) if date is not None and date.tzinfo is None else date


class Gate:
    """
    Paces all requests of a client, whichever thread sends them.

    Parameters
    ----------
    rate_limit : float, optional
        Most requests a second; None is no limit. What the server grants may be less.
    """

    def __init__(self, rate_limit: float | None) -> None:
        self._pace = Pace(SLACK / rate_limit if rate_limit else 0.0)
        self._turn = threading.Condition()

    @contextmanager
    def passing(self, task: Task) -> Iterator[int]:
        """
        Wait until a request may be sent, and let it be under way for this block; gives its round.

        Raises
        ------
        StoppedError
            Its task was stopped before.
        """
        round_ = self._enter(task)
        try:
            yield round_
        finally:
            with self._turn:
                self._pace.end()
                self._turn.notify_all()

    def granted(self, round_: int) -> None:
        """Note that a request was answered, within its block."""
        with self._turn:
            self._pace.granted(round_, time.monotonic())

    def refused(self, round_: int) -> int:
        """Note a 429, within its request's block; return how many came in a row with nothing granted between."""
        with self._turn:
            return self._pace.refused(round_, time.monotonic())

    def close_for(self, seconds: float) -> None:
        """Hold back every request for so long: the server asked for it, or failed."""
        with self._turn:
            self._pace.close_for(seconds, time.monotonic())

    def forget_refusals(self) -> None:
        """Begin anew: a load gave up, and the next one should not fail for its refusals."""
        with self._turn:
            self._pace.forget_refusals()
            self._turn.notify_all()

    def _enter(self, task: Task) -> int:
        with self._turn:
            while True:
                task.check()
                now = time.monotonic()
                left = self._pace.left(now)
                if left == 0:
                    return self._pace.begin(now)
                # Nobody has a turn before it comes: the gate may be closed meanwhile.
                self._turn.wait(PIECE if left is None else min(left, PIECE))


class Quota:
    """
    How many retries a client has, all its requests together.

    Examples
    --------
    >>> quota = Quota()
    >>> sum(quota.spend(timed_out=False) for _ in range(200))
    100
    """

    FULL = 500
    RETRY = 5
    TIMEOUT = 10

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = self.FULL

    def spend(self, *, timed_out: bool) -> bool:
        """Take what a retry costs; False where there is not enough left."""
        cost = self.TIMEOUT if timed_out else self.RETRY
        with self._lock:
            if self._left < cost:
                return False
            self._left -= cost
            return True

    def earn(self) -> None:
        """Give back a little: a request went well."""
        with self._lock:
            self._left = min(self.FULL, self._left + 1)
