"""Sandbox time: it begins at a seeded month-end and then runs as fast as ours.

A firm seeded up to 2026-10-31 would look stale, and a different kind of stale every day, if the server told
today's date. So a new database starts at the evening of that day; the distance to real time is kept in the
database and a server started on it again goes on from there.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import format_datetime

__all__ = ["BEGINNING", "Clock", "instant_text"]

BEGINNING = dt.datetime(2026, 10, 31, 20, tzinfo=dt.UTC)


def _real_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def instant_text(instant: dt.datetime) -> str:
    """
    Write an instant as the tables hold it.

    Examples
    --------
    >>> instant_text(BEGINNING)
    '2026-10-31T20:00:00.000000Z'
    """
    return instant.astimezone(dt.UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


@dataclass(frozen=True, slots=True)
class Clock:
    """
    What time it is in the sandbox.

    Parameters
    ----------
    offset : timedelta
        Sandbox time less real time.
    real : callable
        Where real time comes from; tests stop it.
    """

    offset: dt.timedelta
    real: Callable[[], dt.datetime] = _real_now

    @classmethod
    def starting(cls, instant: dt.datetime = BEGINNING) -> Clock:
        """Return a clock at which it is `instant` now."""
        return cls(instant - _real_now())

    def now(self) -> dt.datetime:
        """Return the instant, in UTC."""
        return self.real() + self.offset

    def today(self) -> dt.date:
        """Return the day, in UTC."""
        return self.now().date()

    def http_date(self) -> str:
        """Return the instant as the `Date` header has it."""
        return format_datetime(self.now(), usegmt=True)
