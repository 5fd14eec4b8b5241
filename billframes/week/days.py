"""The days of a week, and of its month and year, closed on the same working day."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from billframes._shared.format import long_date, span_name
from billframes.analysis.facts.capacity import working_days
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.periods import CALENDAR_YEAR, MONTHS

_DAY, _FAR = dt.timedelta(days=1), dt.timedelta(days=366)


@dataclass(frozen=True, slots=True)
class WeekDays:
    """The first days of the week, the month and the year, and the day on which all of them are closed."""

    week: dt.date
    month: dt.date
    year: dt.date
    closed: dt.date
    year_name: str

    @property
    def spans(self) -> dict[str, tuple[dt.date, dt.date]]:
        """The days by label, for `figures`."""
        return {label: (getattr(self, label), self.closed) for label in ("week", "month", "year")}

    @property
    def titles(self) -> list[str]:
        """The headings of the spans."""
        return ["Week", MONTHS[self.closed.month - 1], self.year_name]

    @property
    def week_name(self) -> str:
        """The days of the week in words."""
        return span_name(self.week, self.closed)


def week_days(before: dt.date, settings: FirmSettings) -> WeekDays:
    """
    Return the days of the week that is closed on the last working day before a date.

    Examples
    --------
    >>> days = week_days(dt.date(2026, 10, 26), FirmSettings())
    >>> days.week_name, weekday_name(days.closed), days.titles
    ('17–23 October 2026', 'Friday 23 October', ['Week', 'October', '2026'])
    """
    closed = _last_working_day(before, settings)
    if closed is None:
        raise ParameterError(
            f"The firm's settings have no working day in the year before {long_date(before)}: correct `working_days` "
            "and `holidays`."
        )
    monday = closed - closed.weekday() * _DAY
    year = settings.fiscal_year or CALENDAR_YEAR
    name = year.number(closed.year, closed.month, closed.day)
    first = year.year_of(closed).start or closed
    begin = (_last_working_day(monday, settings) or monday - _DAY) + _DAY
    return WeekDays(begin, closed.replace(day=1), first, closed, f"FY{name}" if settings.fiscal_year else f"{name}")


def weekday_name(day: dt.date) -> str:
    """Return a day without its year, such as "Friday 23 October"."""
    names = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"{names[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"


def _last_working_day(before: dt.date, settings: FirmSettings) -> dt.date | None:
    return max(working_days(settings, before - _FAR, before - _DAY), default=None)
