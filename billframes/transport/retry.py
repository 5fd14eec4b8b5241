"""Decide when a request is retried, and how long to wait first.

GETs are retried after failures that may pass: connection errors, timeouts, 500, 502, 503, 504, truncated bodies and
bodies that are not JSON. The wait is exponential with full jitter, capped at 20 s; the server's `Retry-After` takes
precedence. A retry budget for the whole client ends retry storms: if a server fails most requests, each is not sent
several times.

A 429 is not a failure: the server works and limits the number of calls. One rate limiter for the whole client paces all
connections together by what the server grants (see `pacing`), because independent retries against a limit of calls a
minute make more surplus calls than calls. The request is retried as long as the server grants some.
"""

from __future__ import annotations

import datetime as dt
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from billframes.transport.connections import POLL_SECONDS, CancelScope
from billframes.transport.pacing import SLACK, Pace

__all__ = [
    "LONGEST_RETRY_AFTER",
    "RETRIED_STATUSES",
    "RateLimiter",
    "RetryBudget",
    "backoff",
    "http_date",
    "retry_after",
]

RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})
LONGEST_WAIT = 20.0
# A longer wait is reported at once: nobody waits for the end of a limit of calls a day.
LONGEST_RETRY_AFTER = 120.0


def backoff(attempt: int) -> float:
    """Return the seconds to wait before try number `attempt` + 1, at random."""
    return random.uniform(0, min(LONGEST_WAIT, 0.5 * 2**attempt))  # noqa: S311 - jitter, no secret


def retry_after(value: str | None, server_date: str | None = None) -> float | None:
    """
    Return the seconds a `Retry-After` header asks to wait; None if there is none, or it can't be read.

    A date is compared with the server's own `Date`, so that the clocks need not agree.

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
    """Return a header's date; None if there is none, or it can't be read. A date without a zone is in UTC."""
    try:
        date = parsedate_to_datetime(text) if text else None
    except (TypeError, ValueError):
        return None
    return date.replace(tzinfo=dt.UTC) if date is not None and date.tzinfo is None else date


class RateLimiter:
    """
    Decides when each request of a client may be sent, whichever thread sends it.

    Parameters
    ----------
    rate_limit : float, optional
        Most requests a second; None is no limit. The server may grant fewer.
    concurrency : int, optional
        Most requests under way at once; None is no limit. The server may grant fewer.
    """

    def __init__(self, rate_limit: float | None, concurrency: int | None = None) -> None:
        self._pace = Pace(SLACK / rate_limit if rate_limit else 0.0, concurrency)
        self._changed = threading.Condition()

    @contextmanager
    def passing(self, scope: CancelScope) -> Iterator[int]:
        """
        Wait until a request may be sent; it is under way during this block. Gives its round.

        Raises
        ------
        CancelledError
            The scope was cancelled while the request waited.
        """
        round_ = self._enter(scope)
        try:
            yield round_
        finally:
            with self._changed:
                self._pace.end()
                self._changed.notify_all()

    def granted(self, round_: int) -> None:
        """Note that a request was answered; call it within the request's block."""
        with self._changed:
            self._pace.granted(round_, time.monotonic())

    def refused(self, round_: int) -> int:
        """Note a 429 and return how many came in a row; call it within the request's block."""
        with self._changed:
            return self._pace.refused(round_, time.monotonic())

    def close_for(self, seconds: float) -> None:
        """Hold back every request for so long, because the server asked for it or failed."""
        with self._changed:
            self._pace.close_for(seconds, time.monotonic())

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        with self._changed:
            self._pace.forget_refusals()
            self._changed.notify_all()

    def _enter(self, scope: CancelScope) -> int:
        with self._changed:
            while True:
                scope.check()
                now = time.monotonic()
                left = self._pace.left(now)
                if left == 0:
                    return self._pace.begin(now)
                # Check again after waiting: `close_for` may have moved the next slot.
                self._changed.wait(POLL_SECONDS if left is None else min(left, POLL_SECONDS))


class RetryBudget:
    """
    Limits the retries of a client, all its requests together.

    Examples
    --------
    >>> budget = RetryBudget()
    >>> sum(budget.spend(timed_out=False) for _ in range(200))
    100
    """

    FULL = 500
    RETRY = 5
    TIMEOUT = 10

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = self.FULL

    def spend(self, *, timed_out: bool) -> bool:
        """Take the cost of a retry; False if not enough is left."""
        cost = self.TIMEOUT if timed_out else self.RETRY
        with self._lock:
            if self._left < cost:
                return False
            self._left -= cost
            return True

    def refill(self) -> None:
        """Give a little back after a request that succeeded."""
        with self._lock:
            self._left = min(self.FULL, self._left + 1)
