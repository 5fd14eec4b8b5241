"""When a request is tried again, and how long to wait before.

GETs are repeated on failures that pass: connection errors, timeouts, 429 and 500, 502, 503, 504. The wait is
exponential with full jitter, capped at 20 s; a `Retry-After` of the server goes before it, up to a ceiling. One
gate for the whole client slows every connection together, because independent retries against a limit of calls a
minute make more surplus calls than calls.
"""

from __future__ import annotations

import datetime as dt
import random
import threading
import time
from email.utils import parsedate_to_datetime

__all__ = ["PASSING_STATUSES", "Gate", "backoff", "retry_after"]

PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
LONGEST_WAIT = 20.0
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
    if value.strip().isdigit():
        return min(float(value), LONGEST_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(value)
        now = parsedate_to_datetime(server_date) if server_date else dt.datetime.now(dt.UTC)
        seconds = (until - now).total_seconds()
    except (TypeError, ValueError):
        return None
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


class Gate:
    """
    Paces all requests of a client, whichever thread sends them.

    Parameters
    ----------
    rate_limit : float, optional
        Most requests a second; None is no limit.
    """

    def __init__(self, rate_limit: float | None) -> None:
        self._spacing = 1 / rate_limit if rate_limit else 0.0
        self._lock = threading.Lock()
        self._opens = 0.0

    def wait(self) -> None:
        """Return when the next request may be sent."""
        with self._lock:
            now = time.monotonic()
            turn = max(now, self._opens)
            self._opens = turn + self._spacing
        time.sleep(max(0.0, turn - now))

    def close_for(self, seconds: float) -> None:
        """Hold back every request for so long: the server asked for it."""
        with self._lock:
            self._opens = max(self._opens, time.monotonic() + seconds)
