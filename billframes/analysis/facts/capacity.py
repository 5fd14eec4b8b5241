"""Calculate available hours and targets of a range of days, from the firm's calendar.

This is done in Python, because a calendar has a few thousand days at most.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

from billframes.analysis.data.expressions import period_numbers
from billframes.config.firm import FirmSettings
from billframes.config.firm_values import WEEKDAYS
from billframes.periods import CALENDAR_YEAR, FiscalYear, month_end, months_between

PARTIAL_HOURS = (
    "If the filters select only a part of people’s hours, figures that need all hours are missing: available and idle "
    "hours, utilization, target attainment and missing days."
)
"""A sentence for each tab of the explorer that has such figures."""


@dataclass(frozen=True, slots=True)
class DateRange:
    """A range of days, both ends inclusive, within one week, month, quarter or year if rows are grouped by these."""

    first: dt.date
    last: dt.date

    def numbers(self, fiscal: FiscalYear | None) -> dict[str, int]:
        """Return the week, month, quarter and year of the first day, as whole numbers by which rows are grouped."""
        return period_numbers(self.first.year, self.first.month, self.first.day, fiscal or CALENDAR_YEAR)


def split_dates(
    first: dt.date, last: dt.date, times: Collection[str], fiscal: FiscalYear | None = None
) -> list[DateRange]:
    """Split a range of days at the ends of the weeks, months, quarters or years that are in `times`."""
    if not times:
        return [DateRange(first, last)]
    begin = fiscal.day if fiscal else 1
    days = {first, *(day for month in months_between(first, last) for day in (month, month.replace(day=begin)))}
    if "week" in times:
        days |= {
            day for day in map(dt.date.fromordinal, range(first.toordinal(), last.toordinal() + 1)) if not day.weekday()
        }
    starts = [DateRange(day, last) for day in sorted(days) if first <= day <= last]

    def numbers(days: DateRange) -> list[int]:
        own = days.numbers(fiscal)
        return [own[time] for time in times]

    parts = [next(group).first for _, group in itertools.groupby(starts, numbers)]
    ends = [*(day - dt.timedelta(days=1) for day in parts[1:]), last]
    return [DateRange(*each) for each in zip(parts, ends, strict=True)] if first <= last else []


def working_days(settings: FirmSettings, first: dt.date, last: dt.date) -> frozenset[dt.date]:
    """
    Return the firm's working days without holidays, both ends inclusive.

    Examples
    --------
    >>> len(working_days(FirmSettings(holidays=["2026-02-16"]), dt.date(2026, 2, 1), dt.date(2026, 2, 28)))
    19
    """
    return _working_days(tuple(settings.working_days), tuple(settings.holidays), first, last)


# A call of several months asks for the days of each month and of its year again.
@functools.lru_cache(maxsize=100)
def _working_days(
    week: tuple[str, ...], holidays: tuple[Any, ...], first: dt.date, last: dt.date
) -> frozenset[dt.date]:
    numbers = {WEEKDAYS.index(day) for day in week}
    days = map(dt.date.fromordinal, range(first.toordinal(), last.toordinal() + 1))
    return frozenset(day for day in days if day.weekday() in numbers).difference(holidays)


def available_hours(settings: FirmSettings, first: dt.date, last: dt.date) -> tuple[float, dict[str, float]]:
    """Return the available hours of a person in these days, and by user those of people with other working times."""
    days = working_days(settings, first, last)
    differ = {*settings.user_hours, *settings.user_start, *settings.user_end, *settings.leave}
    return len(days) * settings.hours_per_day, {user: _hours_of(user, days, settings) for user in differ}


def prorated_targets(
    settings: FirmSettings, kind: Literal["hours", "fees"], first: dt.date, last: dt.date
) -> dict[str, float]:
    """
    Return people's targets × the working days of a range ÷ the working days of its month or year, by user.

    These are the firm's working days: leave and a later start do not lower a target. A yearly target is for the firm's
    fiscal year.

    Examples
    --------
    >>> firm = FirmSettings(targets={"u1": {"fees": 522_000, "period": "year"}})
    >>> prorated_targets(firm, "fees", dt.date(2026, 10, 1), dt.date(2026, 10, 31))
    {'u1': 44000.0}
    """
    targets = settings.targets_of(kind)
    shares = {period: share_of_target(settings, first, last, period) for _, period in targets.values()}
    return {user: amount * shares[period] for user, (amount, period) in targets.items()}


def days_at_firm(user: str, days: Iterable[dt.date], settings: FirmSettings) -> list[dt.date]:
    """Return the days on which a person is in the firm and not on leave."""
    # The types of the settings allow texts, but their values are dates.
    start = cast("dt.date", settings.user_start.get(user, dt.date.min))
    end = cast("dt.date", settings.user_end.get(user, dt.date.max))
    away = cast("list[tuple[dt.date, dt.date]]", settings.leave.get(user, []))
    return [day for day in days if start <= day <= end and not any(first <= day <= last for first, last in away)]


def _hours_of(user: str, days: frozenset[dt.date], settings: FirmSettings) -> float:
    return len(days_at_firm(user, days, settings)) * settings.user_hours.get(user, settings.hours_per_day)


def share_of_target(settings: FirmSettings, first: dt.date, last: dt.date, period: str) -> float:
    """Return the working days of a range ÷ those of its month or fiscal year; a range can have parts of several."""
    share = 0.0
    fiscal = settings.fiscal_year or CALENDAR_YEAR
    for part in split_dates(first, last, ["month" if period == "month" else "fiscal_year"], fiscal):
        month = part.first.replace(day=1), month_end(part.first)
        whole = fiscal.year_of(part.first)
        ends = month if period == "month" else cast("tuple[dt.date, dt.date]", (whole.start, whole.end))
        days = len(working_days(settings, *ends))
        share += len(working_days(settings, part.first, part.last)) / days if days else 0.0
    return share
