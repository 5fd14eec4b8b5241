"""Days and ranges of days: periods and their neighbours, the firm's fiscal year, and the day of an instant.

Both ends of a period are inclusive, and either may be open (None). Nothing here reads the clock.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from billframes.errors import ParameterError

# Months of a quarter and of a year.
_QUARTER, _YEAR = 3, 12
_OUTSIDE = "is outside the years 1 to 9999, so there is none to compare with."
# Every month has these days, so quarters can begin on them.
_MOST_DAYS = 28


@dataclass(frozen=True, slots=True)
class Period:
    """First and last day of a period, both inclusive; None is an open end."""

    start: dt.date | None = None
    end: dt.date | None = None

    @classmethod
    def stated(cls, about: Mapping[str, Any]) -> Period:
        """Return the period whose days are stated as ISO texts, as of a report of the firm's books or its payments."""
        texts = (about.get(name) for name in ("start", "end"))
        return cls(*(dt.date.fromisoformat(text) if text else None for text in texts))


@dataclass(frozen=True, slots=True)
class FiscalYear:
    """
    The day on which a firm's fiscal year begins, and the calendar year that it is named after.

    Its quarters begin on the same day of every third month. It is named after the year of its "end", or of its "start".

    Examples
    --------
    >>> july = FiscalYear(7)
    >>> july.period(2026)
    Period(start=datetime.date(2025, 7, 1), end=datetime.date(2026, 6, 30))
    >>> FiscalYear(4, 6, "start").period(2026, quarter=4)
    Period(start=datetime.date(2027, 1, 6), end=datetime.date(2027, 4, 5))
    >>> july.number(2026, 8, 15), july.quarter(2026, 8, 15)
    (2027, 20271)
    """

    month: int = 1
    day: int = 1
    named: Literal["end", "start"] = "end"

    @classmethod
    def read(cls, start: Any, named: Any = "end", *, key: str = "fiscal_year_start") -> Self:
        """Read a month such as "07", or a day such as "04-06"; raise `ParameterError` for anything else."""
        found = re.fullmatch(r"(\d{1,2})(?:-(\d{1,2}))?", str(start).strip())
        month, day = (int(found[1]), int(found[2] or 1)) if found and not isinstance(start, bool) else (0, 0)
        if not (1 <= month <= _YEAR and 1 <= day <= _MOST_DAYS):
            raise ParameterError(
                f"{key}={start!r} is not the first day of a fiscal year; it takes a month such as '07', or a month and "
                f"a day up to {_MOST_DAYS} such as '04-06'."
            )
        if named not in ("end", "start"):
            raise ParameterError(
                f"fiscal_year_name={named!r} is not known; it takes 'end' (the year in which the fiscal year ends) or "
                "'start'."
            )
        return cls(month, day, named)

    @property
    def text(self) -> str:
        """The first day as `read` takes it, such as "07" or "04-06"."""
        return f"{self.month:02}" if self.day == 1 else f"{self.month:02}-{self.day:02}"

    def number(self, year: Any, month: Any, day: Any) -> Any:
        """Return the number of the fiscal year of a day, from numbers or expressions."""
        return self._months(year, month, day) // _YEAR + self._named_later

    def quarter(self, year: Any, month: Any, day: Any) -> Any:
        """Return the number of the fiscal quarter of a day (20261 for FY2026-Q1), from numbers or expressions."""
        months = self._months(year, month, day)
        whole = months // _YEAR
        return (whole + self._named_later) * 10 + (months - whole * _YEAR) // _QUARTER + 1

    def year_of(self, day: dt.date) -> Period:
        """Return the fiscal year that contains a day."""
        return self.period(int(self.number(day.year, day.month, day.day)))

    def quarter_of(self, day: dt.date) -> Period:
        """Return the fiscal quarter that contains a day."""
        number = int(self.quarter(day.year, day.month, day.day))
        return self.period(number // 10, number % 10)

    def period(self, number: int, quarter: int | None = None) -> Period:
        """Return the first and last day of a fiscal year, or of one of its quarters."""
        year = dt.date(number - self._named_later, self.month, 1)
        first = shift_month(year, _QUARTER * ((quarter or 1) - 1)).replace(day=self.day)
        last = month_end(shift_month(first, (_QUARTER if quarter else _YEAR) - 1))
        return Period(first, last if self.day == 1 else last + dt.timedelta(days=self.day - 1))

    @property
    def _named_later(self) -> int:
        return int(self.named == "end" and (self.month, self.day) != (1, 1))

    def _months(self, year: Any, month: Any, day: Any) -> Any:
        """Count the months from the first day of the fiscal year that begins in the year 0."""
        # 0 from the fiscal year's day of the month on, else -1; every engine can compute this.
        begun = (day + 31 - self.day) // 31 - 1
        return year * _YEAR + month + begun - self.month


CALENDAR_YEAR = FiscalYear()


def local_day(instant: dt.datetime, time_zone: str) -> dt.date:
    """Return the calendar day of an instant in a time zone. An instant without a zone counts as local."""
    return (instant.astimezone(zoneinfo.ZoneInfo(time_zone)) if instant.tzinfo else instant).date()


def month_end(day: dt.date) -> dt.date:
    """Return the last day of the month of `day`."""
    return shift_month(day, 1) - dt.timedelta(days=1) if (day.year, day.month) != (9999, 12) else dt.date.max


def months_between(start: dt.date, end: dt.date) -> Iterator[dt.date]:
    """Yield the first day of each month from the month of `start` to the month of `end`."""
    for index in range(_month_index(start), _month_index(end) + 1):
        yield dt.date(index // _YEAR, index % _YEAR + 1, 1)


def _month_index(day: dt.date) -> int:
    return day.year * _YEAR + day.month - 1


def shift_month(day: dt.date, months: int) -> dt.date:
    """Return the first day of the month that is some months later; `ParameterError` if no calendar has it."""
    year, month = divmod(_month_index(day) + months, _YEAR)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise ParameterError(f"A period {abs(months)} months {'after' if months > 0 else 'before'} {day} {_OUTSIDE}")
    return dt.date(year, month + 1, 1)


def shift_days(day: dt.date, days: int) -> dt.date:
    """Return the day some days later, or the first or last day of the calendar if that is nearer."""
    return dt.date.fromordinal(min(max(day.toordinal() + days, 1), dt.date.max.toordinal()))


def period_before(period: Period, until: dt.date | None = None, year: FiscalYear = CALENDAR_YEAR) -> Period:
    """
    Return the period of the same length before a period: whole months before whole months, else as many days.

    `until` is the last day with data, if the period may not be over. The period then ends on this day, and so does a
    period with an open end. The returned period has the same days of the period before. A period that begins with the
    `year` and is longer than a quarter is compared with the same days of the year before; if it has several years, with
    those of as many years before. Without `until`, an open end is a `ParameterError`.

    Examples
    --------
    >>> period_before(Period(dt.date(2026, 3, 1), dt.date(2026, 3, 31)))
    Period(start=datetime.date(2026, 2, 1), end=datetime.date(2026, 2, 28))
    >>> period_before(Period(dt.date(2026, 3, 9), dt.date(2026, 3, 15)))
    Period(start=datetime.date(2026, 3, 2), end=datetime.date(2026, 3, 8))
    >>> october, whole_year = Period(dt.date(2026, 10, 1), dt.date(2026, 10, 31)), CALENDAR_YEAR.period(2026)
    >>> period_before(october, until=dt.date(2026, 10, 12))
    Period(start=datetime.date(2026, 9, 1), end=datetime.date(2026, 9, 12))
    >>> period_before(whole_year, until=dt.date(2026, 10, 31))
    Period(start=datetime.date(2025, 1, 1), end=datetime.date(2025, 10, 31))
    """
    start, whole_end = period.start or until, period.end or until
    if start is None or whole_end is None:
        raise ParameterError(f"The period {period.start} to {period.end} has an open end; name its first and last day.")
    end = whole_end if until is None else min(whole_end, until)
    begins_year = until is not None and (start.month, start.day) == (year.month, year.day)
    months = _whole_months(start, whole_end)
    if months is None and not begins_year:
        days = whole_end - start + dt.timedelta(days=1)
        if days > start - dt.date.min:
            raise ParameterError(f"A period {days.days} days before {start} {_OUTSIDE}")
        return Period(start - days, end - days)
    months = months or _months_begun(start, whole_end)
    if begins_year and months > _QUARTER:
        months = -(-months // _YEAR) * _YEAR
    return _months_earlier(Period(start, end), months)


def year_before(start: dt.date, end: dt.date) -> Period:
    """Return the same days of the year before; the last day of a month stands for the month's end."""
    return _months_earlier(Period(start, end), _YEAR)


def _months_earlier(period: Period, months: int) -> Period:
    start, end = period.start or dt.date.min, period.end or dt.date.max
    first = shift_month(start, -months)
    return Period(first.replace(day=min(start.day, month_end(first).day)), _same_day(end, -months))


def _whole_months(start: dt.date, end: dt.date) -> int | None:
    """Return the number of months if a period has whole months, or whole quarters from another day; else None."""
    months = (end.year - start.year) * _YEAR + end.month - start.month
    if start.day == 1:
        return months + 1 if end == month_end(end) else None
    is_quarters = end.day == start.day - 1 and start.day <= _MOST_DAYS and months > 0 and months % _QUARTER == 0
    return months if is_quarters else None


def _months_begun(start: dt.date, end: dt.date) -> int:
    return (end.year - start.year) * _YEAR + end.month - start.month + (end.day >= start.day)


def _same_day(day: dt.date, months: int) -> dt.date:
    """Return the same day some months later; for the last day of a month, the last day of that month."""
    last = month_end(shift_month(day, months))
    return last if day == month_end(day) else last.replace(day=min(day.day, last.day))
