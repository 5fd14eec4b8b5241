"""When a request is tried again, and how long to wait before.

GETs are repeated on failures that pass: connection errors, timeouts, 429 and 500, 502, 503, 504, bodies cut short and
bodies that are not JSON. The wait is exponential with full jitter, capped at 20 s; a `Retry-After` of the server goes
before it. One gate for the whole client slows every connection together, because independent retries against a limit
of calls a minute make more surplus calls than calls. A quota, shared too, ends a storm: a server that fails most
requests is not asked several times for each.
"""

from __future__ import annotations

import datetime as dt
import random
import threading
import time
from email.utils import parsedate_to_datetime

from billframes.api._task import Task

__all__ = ["LONGEST_RETRY_AFTER", "PASSING_STATUSES", "Gate", "Quota", "backoff", "http_date", "retry_after"]

PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
LONGEST_WAIT = 20.0
# Whoever is asked to wait longer is told so at once: a limit of calls a day is not waited for.
LONGEST_RETRY_AFTER = 120.0
# Requests are spaced a little wider than the limit, so that those held up on their way don't exceed it on arrival.
_SLACK = 1.05


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
        Most requests a second; None is no limit.
    """

    def __init__(self, rate_limit: float | None) -> None:
        self._spacing = _SLACK / rate_limit if rate_limit else 0.0
        self._lock = threading.Lock()
        self._opens = 0.0

    def wait(self, task: Task) -> None:
        """Return when the next request may be sent; raise `StoppedError` where its task is stopped before."""
        while True:
            task.check()
            with self._lock:
                now = time.monotonic()
                if now >= self._opens:
                    self._opens = now + self._spacing
                    return
                left = self._opens - now
            # Nobody has a turn before it comes: the gate may have been closed meanwhile.
            task.sleep(left)

    def close_for(self, seconds: float) -> None:
        """Hold back every request for so long: the server asked for it."""
        with self._lock:
            self._opens = max(self._opens, time.monotonic() + seconds)


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
