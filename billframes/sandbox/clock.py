"""Sandbox time, which starts at the end of the seeded months and runs at the speed of real time.

The firm's data end on 2026-10-31. With today's date they would look older every day, so the clock of a new database
starts on the evening of that day. The offset to real time is stored in the database, so the clock runs on between two
starts of the server.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import format_datetime

BEGINNING = dt.datetime(2026, 10, 31, 20, tzinfo=dt.UTC)


def _real_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def instant_text(instant: dt.datetime) -> str:
    """
    Return an instant in the tables' format.

    Examples
    --------
    >>> instant_text(BEGINNING)
    '2026-10-31T20:00:00.000000Z'
    """
    return instant.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@dataclass(frozen=True, slots=True)
class Clock:
    """The current time in the sandbox: the real time in UTC plus `offset`."""

    offset: dt.timedelta
    real: Callable[[], dt.datetime] = _real_now

    @classmethod
    def starting(cls) -> Clock:
        """Return the clock of a new database: the time is `BEGINNING` now."""
        return cls(BEGINNING - _real_now())

    def now(self) -> dt.datetime:
        """Return the current time, in UTC."""
        return self.real() + self.offset

    def today(self) -> dt.date:
        """Return the current date, in UTC."""
        return self.now().date()

    def http_date(self) -> str:
        """Return the current time in the format of the `Date` header."""
        return format_datetime(self.now(), usegmt=True)
