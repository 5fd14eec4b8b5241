"""Read periods as people write them: "2026-Q3" becomes 2026-07-01 to 2026-09-30.

Both ends of a period are inclusive, and either may be open (None). Upper and lower case are the same. Nothing here
reads the clock: "last month" and the like are counted from the day that the caller passes, and refused without it.
Fiscal years ("FY2026") are those of the caller's firm, and refused if the firm has not set when they begin.

A text that has different meanings in different countries, such as "10/11/2026" or "10/26", is refused. The names of
months are English on every machine.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol, TypeGuard

from billframes._shared.names import as_given
from billframes.days import (
    CALENDAR_YEAR,
    FiscalYear,
    Period,
    local_day,
    month_end,
    months_between,
    period_before,
    shift_days,
    shift_month,
    year_before,
)
from billframes.errors import ParameterError

__all__ = [
    "CALENDAR_YEAR",
    "MONTHS",
    "Calendar",
    "DateLike",
    "FiscalYear",
    "FixedCalendar",
    "Period",
    "local_day",
    "month_end",
    "months_between",
    "parse_period",
    "period_before",
    "resolve",
    "shift_days",
    "shift_month",
    "year_before",
]


class PandasPeriod(Protocol):
    """The attributes of a `pandas.Period` that are read: its first and its last instant."""

    @property
    def start_time(self) -> dt.datetime: ...
    @property
    def end_time(self) -> dt.datetime: ...


class Calendar(Protocol):
    """What the words of a period depend on: the day for "last month", and the fiscal year for "FY2026"."""

    @property
    def today(self) -> dt.date | None:
        """The day from which "last month" is counted; None if unknown."""

    @property
    def fiscal(self) -> FiscalYear | None:
        """The fiscal year; None if unknown."""


@dataclass(frozen=True, slots=True)
class FixedCalendar:
    """A calendar with a known day and a known fiscal year. Periods that need one that is None are refused."""

    today: dt.date | None = None
    fiscal: FiscalYear | None = None


DateLike = str | int | dt.date | PandasPeriod
"""
Type of date arguments: ISO text, a date, a datetime or a pandas Timestamp; for a period also its text, a pandas Period,
or a number such as 2026 or 202609.
"""

ACCEPTED = (
    "a date such as '2026-10-01', or a period such as '2026', '2026-Q3', '2026-H1', '2026-10', 'October 2026', "
    "'2026-W41', 'FY2026', 'FY2026-Q1', 'today', 'yesterday', 'this week', 'last month', 'this quarter', 'last year', "
    "'last 30 days', 'ytd' or 'fiscal ytd'"
)
# strftime's names depend on the machine's locale.
MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_NUMBERS = {name.lower()[:3]: number for number, name in enumerate(MONTHS, 1)}
_NAME = "|".join([*(name.lower() for name in MONTHS), *_NUMBERS, "sept"])
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?P<year>\d{4})",
        r"(?P<year>\d{4})-?q(?P<quarter>[1-4])",
        r"q(?P<quarter>[1-4]) (?P<year>\d{4})",
        r"(?P<year>\d{4})-?h(?P<half>[12])",
        r"h(?P<half>[12]) (?P<year>\d{4})",
        r"(?P<year>\d{4})-?w(?P<week>\d{2})",
        r"(?P<year>\d{4})-?(?P<month>\d{2})",
        r"(?P<month>\d{1,2})/(?P<year>\d{4})",
        rf"(?P<name>{_NAME})\.?,? (?P<year>\d{{4}})",
    )
)
_FISCAL = re.compile(r"fy ?(?P<year>\d{4})(?:[- ]?q(?P<quarter>[1-4]))?|fiscal ytd|(?P<which>this|last) fiscal year")
_LAST_DAYS = re.compile(r"last (\d{1,5}) days?")
# Texts that people read in two ways, with the hint for the error.
_AMBIGUOUS = (
    (
        re.compile(r"\d{1,2}([/.-])\d{1,2}\1(\d{2}|\d{4})"),
        "Some read the day first, others the month. Write the year first, such as '2026-10-01'.",
    ),
    (
        re.compile(rf"(\d{{1,2}}[/.-]|({_NAME})\.? )\d{{1,2}}"),
        "It could be a day or a month. Write the year with four digits, such as '10/2026', or a day as '2026-10-01'.",
    ),
    (re.compile(rf"({_NAME})\.?"), "Add the year, such as 'October 2026'."),
    (re.compile(r"fy ?\d{2}(-?q[1-4])?"), "Write the year with four digits, such as 'FY2026'."),
    (
        re.compile(r"\d+"),
        "A year has four digits, such as 2026, and a month six, such as 202609; write a day as '2026-09-01'.",
    ),
)


def parse_period(text: str | int, *, calendar: Calendar | None = None, name: str = "start") -> Period:
    """
    Read one period; raise `ParameterError` if people could read it in two ways, or it depends on what `calendar` lacks.

    "2026"; "2026-Q3" or "Q3 2026"; "2026-H1"; "2026-10", "202610", "10/2026", "October 2026" or "Oct 2026"; "2026-W41"
    (Monday to Sunday, as in ISO 8601); "FY2026", "FY2026-Q1", "this fiscal year" or "last fiscal year"; "today",
    "yesterday", "last 30 days" (today is the last of them); "this" or "last" with "week", "month", "quarter" or "year";
    "ytd" (from 1 January to today) or "fiscal ytd"; in any case. A number is read as its text.

    Examples
    --------
    >>> parse_period("October 2026") == parse_period("10/2026") == parse_period(202610) == parse_period("2026-10")
    True
    >>> calendar = FixedCalendar(dt.date(2026, 3, 31), FiscalYear(7))
    >>> parse_period("last month", calendar=calendar)
    Period(start=datetime.date(2026, 2, 1), end=datetime.date(2026, 2, 28))
    >>> parse_period("fiscal ytd", calendar=calendar)
    Period(start=datetime.date(2025, 7, 1), end=datetime.date(2026, 3, 31))
    """
    plain = " ".join(str(text).lower().split())
    known = calendar or FixedCalendar()
    period = (
        _calendar(plain) or _fiscal(plain, known, f"{name}={text!r}") or _relative(plain, known, f"{name}={text!r}")
    )
    if period is None:
        raise _not_a_period(text, plain, name)
    return period


def resolve(
    start: DateLike | None = None,
    end: DateLike | None = None,
    *,
    calendar: Calendar | None = None,
    names: tuple[str, str] = ("start", "end"),
) -> Period:
    """
    Turn `start` and `end` into dates. None has no beginning or end; `start` alone can be a whole period.

    Raise `ParameterError` if an end can't be read, `start` is after `end`, or `start` is a whole period and `end` is
    given too; `names` are the arguments' names for the message.

    Examples
    --------
    >>> resolve("2026-10")
    Period(start=datetime.date(2026, 10, 1), end=datetime.date(2026, 10, 31))
    >>> resolve("2026-10-05")
    Period(start=datetime.date(2026, 10, 5), end=None)
    >>> resolve("2026-10-05", "2026-10-06")
    Period(start=datetime.date(2026, 10, 5), end=datetime.date(2026, 10, 6))
    """
    whole = _whole_period(start, names[0], calendar)
    if whole is not None:
        if end is not None:
            raise ParameterError(
                f"{names[0]}={_shown(start)!r} is a whole period, so {names[1]}={_shown(end)!r} can't be given too. "
                "Give two dates, or the period alone."
            )
        return whole
    first = _read(start, names[0])
    last = _read(end, names[1])
    if last is None and isinstance(end, str):
        raise ParameterError(f"{names[1]}={end!r} is not a date; it takes a date such as '2026-10-31'.")
    if first and last and first > last:
        raise ParameterError(f"{names[0]}={first} is after {names[1]}={last}. Swap them; both ends are inclusive.")
    return Period(first, last)


def _whole_period(value: DateLike | None, name: str, calendar: Calendar | None) -> Period | None:
    """Return the period if `value` is one; None for a date and for None."""
    if isinstance(value, str) and _iso_date(value.strip()) is not None:
        return None
    if isinstance(value, str) or (isinstance(value, Integral) and not isinstance(value, bool)):
        return parse_period(value, calendar=calendar, name=name)
    if value is None or not _is_pandas_period(value):
        return None
    return Period(value.start_time.date(), value.end_time.date())


def _is_pandas_period(value: Any) -> TypeGuard[PandasPeriod]:
    return hasattr(value, "start_time") and hasattr(value, "end_time")


def _shown(value: DateLike | None) -> DateLike | str | None:
    return str(value) if value is not None and _is_pandas_period(value) else value


def _read(value: Any, name: str) -> dt.date | None:
    """Return the date in `value`; None for None and for text that is not a date."""
    if value is None:
        return None
    if isinstance(value, dt.datetime):
        if value != value:
            raise ParameterError(f"{name} is NaT, a missing date; it takes {ACCEPTED}.")
        return value.date()
    if isinstance(value, dt.date):
        return value
    if isinstance(value, str):
        return _iso_date(value.strip())
    if hasattr(value, "astype") and str(getattr(value, "dtype", "")).startswith("datetime64"):
        return _read(value.astype("datetime64[us]").item(), name)
    raise ParameterError(f"{as_given(name, _shown(value))} is not a date; it takes {ACCEPTED}.")


def _iso_date(text: str) -> dt.date | None:
    if len(text) < len("2026-10-01") or text[4:5] != "-":
        return None
    try:
        return dt.datetime.fromisoformat(text).date()
    except ValueError:
        return None


def _calendar(text: str) -> Period | None:
    """Read a period of the calendar, such as "2026-q3"; None if it is not one."""
    found = next((match.groupdict() for form in _FORMS if (match := form.fullmatch(text))), None)
    if found is None:
        return None
    year = int(found["year"])
    try:
        if week := found.get("week"):
            return _week(dt.date.fromisocalendar(year, int(week), 1))
        if half := found.get("half"):
            return Period(dt.date(year, 6 * int(half) - 5, 1), month_end(dt.date(year, 6 * int(half), 1)))
        if quarter := found.get("quarter"):
            return CALENDAR_YEAR.period(year, int(quarter))
        name, month = found.get("name"), found.get("month")
        if not (name or month):
            return CALENDAR_YEAR.period(year)
        return _month(dt.date(year, _NUMBERS[name[:3]] if name else int(month or 1), 1))
    except (ValueError, OverflowError):
        return None


def _fiscal(text: str, calendar: Calendar, shown: str) -> Period | None:
    """Read a period of the fiscal year, such as "fy2026-q1"; None if it is not one."""
    found = _FISCAL.fullmatch(text)
    if found is None:
        return None
    fiscal = calendar.fiscal
    if fiscal is None:
        raise ParameterError(
            f"{shown} is a period of the fiscal year, and it is not known when that begins. Set "
            "fiscal_year_start= of FirmSettings or of the client, such as '07' for July, or write two dates."
        )
    if found["year"]:
        number, quarter = int(found["year"]), found["quarter"]
        if not dt.MINYEAR < number < dt.MAXYEAR:
            return None
        return fiscal.period(number, int(quarter) if quarter else None)
    day = _need_today(calendar, shown)
    year = fiscal.year_of(day)
    if found["which"] == "last":
        return period_before(year)
    return year if found["which"] else Period(year.start, day)


def _relative(text: str, calendar: Calendar, shown: str) -> Period | None:
    """Read a period that is counted from a day, such as "last month"; None if it is not one."""
    last_days = _LAST_DAYS.fullmatch(text)
    which, _, unit = text.partition(" ")
    is_unit = which in {"this", "last"} and unit in _UNITS
    if not (last_days or is_unit or text in {"today", "yesterday", "ytd"}):
        return None
    day = _need_today(calendar, shown)
    if is_unit:
        now = _UNITS[unit](day)
        return now if which == "this" else period_before(now)
    if last_days:
        back = int(last_days[1]) - 1
        return Period(day - dt.timedelta(days=back), day) if back >= 0 else None
    if text == "ytd":
        return Period(day.replace(month=1, day=1), day)
    one = day - dt.timedelta(days=int(text == "yesterday"))
    return Period(one, one)


def _need_today(calendar: Calendar, shown: str) -> dt.date:
    today = calendar.today
    if today is None:
        raise ParameterError(
            f"{shown} is counted from a day, and the frames don't remember the day on which they were loaded. "
            "Write the period, such as '2026-10', or two dates."
        )
    return today


def _not_a_period(value: str | int, plain: str, name: str) -> ParameterError:
    hint = next((hint for pattern, hint in _AMBIGUOUS if pattern.fullmatch(plain)), None)
    return ParameterError(
        f"{name}={value!r} is not a date or period{f'. {hint}' if hint else f'; it takes {ACCEPTED}.'}"
    )


def _week(day: dt.date) -> Period:
    monday = shift_days(day, -day.weekday())
    return Period(monday, shift_days(monday, 6))


def _month(day: dt.date) -> Period:
    return Period(day.replace(day=1), month_end(day))


_UNITS: dict[str, Callable[[dt.date], Period]] = {
    "week": _week,
    "month": _month,
    "quarter": CALENDAR_YEAR.quarter_of,
    "year": CALENDAR_YEAR.year_of,
}
