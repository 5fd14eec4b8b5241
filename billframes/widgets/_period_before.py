"""The period that figures are compared with: the month before a month, the year before a year."""

from __future__ import annotations

import datetime as dt

from billframes.periods import Period, month_end

__all__ = ["period_before"]

_QUARTER = 3
_YEAR = 12


def period_before(period: Period, until: dt.date) -> Period:
    """
    Return the period before, as long as the part of the period that has data.

    Whole months are compared with as many months before. What begins in January and is longer than a quarter is
    compared with the same days a year earlier, or as many years earlier as it has. Any other period is compared with
    as many days before.

    Parameters
    ----------
    period : Period
        With a first day. An open end is `until`.
    until : date
        The last day with data, in the period.

    Examples
    --------
    >>> october = Period(dt.date(2026, 10, 1), dt.date(2026, 10, 31))
    >>> period_before(october, dt.date(2026, 10, 31)) == Period(dt.date(2026, 9, 1), dt.date(2026, 9, 30))
    True
    >>> period_before(october, dt.date(2026, 10, 12)) == Period(dt.date(2026, 9, 1), dt.date(2026, 9, 12))
    True
    >>> year = Period(dt.date(2026, 1, 1), dt.date(2026, 12, 31))
    >>> period_before(year, dt.date(2026, 10, 31)) == Period(dt.date(2025, 1, 1), dt.date(2025, 10, 31))
    True
    >>> week = Period(dt.date(2026, 10, 5), dt.date(2026, 10, 11))
    >>> period_before(week, dt.date(2026, 10, 31)) == Period(dt.date(2026, 9, 28), dt.date(2026, 10, 4))
    True
    """
    start, end = period.start or until, min(period.end or until, until)
    months = _months(start, period.end or end)
    if start.day != 1 or not months:
        days = end - start + dt.timedelta(days=1)
        return Period(start - days, end - days)
    back = -(-months // _YEAR) * _YEAR if start.month == 1 and months > _QUARTER else months
    return Period(_shift(start, back), _same_day(end, back))


def _months(start: dt.date, end: dt.date) -> int:
    """Count the months if the end is the last day of one, or the period is that of a year to date; else 0."""
    if end != month_end(end) and start.month != 1:
        return 0
    return (end.year - start.year) * _YEAR + end.month - start.month + 1


def _shift(day: dt.date, months: int) -> dt.date:
    index = day.year * _YEAR + day.month - 1 - months
    return dt.date(index // _YEAR, index % _YEAR + 1, 1)


def _same_day(day: dt.date, months: int) -> dt.date:
    """Return the same day some months earlier, and for the last day of a month the last day."""
    last = month_end(_shift(day, months))
    return last if day == month_end(day) else last.replace(day=min(day.day, last.day))
