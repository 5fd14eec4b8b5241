"""Decide whether a request is retried, and how long to wait first.

GETs are retried after failures that may be temporary: connection errors, timeouts, 500, 502, 503, 504, truncated bodies
and bodies that are not JSON. The wait is exponential with full jitter and at most 20 s; the server's `Retry-After`
takes precedence. A retry budget for the whole client prevents retry storms: if a server fails most requests, not every
request is repeated several times.

A 429 is not a failure; see `billframes.transport.pacing`.
"""

from __future__ import annotations

import datetime as dt
import random
import threading
from email.utils import parsedate_to_datetime

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
    except (TypeError, ValueError, OverflowError):
        return None
    return date.replace(tzinfo=dt.UTC) if date is not None and date.tzinfo is None else date


class RetryBudget:
    """Limits the retries of all requests of a client together."""

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
