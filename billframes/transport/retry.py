"""Decide when a request is retried, and how long to wait first.

GETs are retried after failures that may be temporary: connection errors, timeouts, 500, 502, 503, 504, truncated bodies
and bodies that are not JSON. The wait is exponential with full jitter and at most 20 s; the server's `Retry-After`
takes precedence. A retry budget for the whole client prevents retry storms: if a server fails most requests, not every
request is repeated several times.

A 429 is not a failure: the server works and limits the number of requests. One rate limiter for the whole client paces
all connections together by what the server grants (see `pacing`). Independent retries against a limit of requests per
minute would send more unnecessary requests than useful ones. A request is retried as long as the server grants other
requests.
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
# A longer wait is reported at once. It means a limit such as requests per day.
LONGEST_RETRY_AFTER = 120.0


def backoff(attempt: int) -> float:
    """Return a random number of seconds to wait before retry `attempt`, which counts from 0."""
    return random.uniform(0, min(LONGEST_WAIT, 0.5 * 2**attempt))  # noqa: S311 - jitter, no secret


def retry_after(value: str | None, server_date: str | None = None) -> float | None:
    """
    Return the seconds to wait by a `Retry-After` header; None if it is missing or can't be parsed.

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
    """Parse the date in a header; None if it is missing or can't be parsed. A date without a time zone is in UTC."""
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
        Largest number of requests per second; None is no limit. The server may grant fewer.
    concurrency : int, optional
        Largest number of requests under way at once; None is no limit. The server may grant fewer.
    """

    def __init__(self, rate_limit: float | None, concurrency: int | None = None) -> None:
        self._pace = Pace(SLACK / rate_limit if rate_limit else 0.0, concurrency)
        self._condition = threading.Condition()

    @contextmanager
    def slot(self, scope: CancelScope) -> Iterator[int]:
        """
        Wait until a request may be sent, and yield its round; the request is under way during this block.

        Raises
        ------
        CancelledError
            The scope was cancelled while the request waited.
        """
        round_ = self._enter(scope)
        try:
            yield round_
        finally:
            with self._condition:
                self._pace.end()
                self._condition.notify_all()

    def record_grant(self, round_: int) -> None:
        """Record that a request was granted; call it within the request's block."""
        with self._condition:
            self._pace.record_grant(round_, time.monotonic())

    def record_refusal(self, round_: int) -> int:
        """Record a 429; return how many rounds in a row were refused. Call it within the request's block."""
        with self._condition:
            return self._pace.record_refusal(round_, time.monotonic())

    def hold_back(self, seconds: float) -> None:
        """Let no request be sent for that many seconds, because the server asked for it or failed."""
        with self._condition:
            self._pace.hold_back(seconds, time.monotonic())

    def forget_refusals(self) -> None:
        """Forget the refusals: a load gave up, and the next one should not fail because of them."""
        with self._condition:
            self._pace.forget_refusals()
            self._condition.notify_all()

    def _enter(self, scope: CancelScope) -> int:
        with self._condition:
            while True:
                scope.check()
                now = time.monotonic()
                seconds_left = self._pace.seconds_left(now)
                if seconds_left == 0:
                    return self._pace.begin(now)
                # Check again after waiting: `hold_back` may have moved the next slot.
                self._condition.wait(POLL_SECONDS if seconds_left is None else min(seconds_left, POLL_SECONDS))


class RetryBudget:
    """
    Limits the retries of all requests of a client together.

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
        """Add 1 to the budget after a request that succeeded."""
        with self._lock:
            self._left = min(self.FULL, self._left + 1)
