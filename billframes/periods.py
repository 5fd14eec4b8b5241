"""Read periods as people write them: "2026-Q3" becomes 2026-07-01 to 2026-09-30.

Both ends of a period are inclusive, and either may be open (None). Upper and lower case are the same. Only relative
periods ("last month", "ytd") read the clock.

A text that has different meanings in different countries, such as "10/11/2026" or "10/26", is refused. The names of
months are English on every machine.
"""

from __future__ import annotations

import datetime as dt
import re
import zoneinfo
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from billframes.errors import ParameterError

__all__ = ["MONTHS", "DateLike", "Period", "local_day", "month_end", "parse_period", "period_before", "resolve"]


class PandasPeriod(Protocol):
    """The attributes of a `pandas.Period` that are read: its first and its last instant."""

    @property
    def start_time(self) -> dt.datetime: ...
    @property
    def end_time(self) -> dt.datetime: ...


DateLike = str | dt.date | PandasPeriod
"""Type of date arguments: ISO text, a date, a datetime or a pandas Timestamp; for a period also a pandas Period."""

ACCEPTED = (
    "a date such as '2026-10-01', or a period such as '2026', '2026-Q3', '2026-10', 'October 2026', 'this month', "
    "'last month', 'this quarter', 'last quarter', 'this year', 'last year' or 'ytd'"
)
# Months of a quarter.
_QUARTER = 3
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
        r"(?P<year>\d{4})-(?P<month>\d{2})",
        r"(?P<month>\d{1,2})/(?P<year>\d{4})",
        rf"(?P<name>{_NAME})\.?,? (?P<year>\d{{4}})",
    )
)
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
)


@dataclass(frozen=True, slots=True)
class Period:
    """
    First and last day of a period, both inclusive; None is an open end.

    Examples
    --------
    >>> parse_period("2026-Q3")
    Period(start=datetime.date(2026, 7, 1), end=datetime.date(2026, 9, 30))
    """

    start: dt.date | None = None
    end: dt.date | None = None


def local_day(instant: dt.datetime, time_zone: str) -> dt.date:
    """
    Return the calendar day of an instant in a time zone. An instant without a zone counts as local.

    Examples
    --------
    >>> local_day(dt.datetime(2026, 10, 31, 23, 30, tzinfo=dt.UTC), "Europe/Berlin")
    datetime.date(2026, 11, 1)
    """
    return (instant.astimezone(zoneinfo.ZoneInfo(time_zone)) if instant.tzinfo else instant).date()


def month_end(day: dt.date) -> dt.date:
    """
    Return the last day of the month of `day`.

    Examples
    --------
    >>> month_end(dt.date(2024, 2, 3))
    datetime.date(2024, 2, 29)
    """
    return _shift_month(day, 1) - dt.timedelta(days=1) if (day.year, day.month) != (9999, 12) else dt.date.max


def months_between(start: dt.date, end: dt.date) -> Iterator[dt.date]:
    """Yield the first day of each month from the month of `start` to the month of `end`."""
    month = start.replace(day=1)
    while month <= end:
        yield month
        month = _shift_month(month, 1)


def period_before(period: Period, until: dt.date | None = None) -> Period:
    """
    Return the period of the same length before a period: whole months before whole months, else as many days.

    Parameters
    ----------
    period : Period
    until : date, optional
        The last day with data, if the period may not be over. The period then ends on this day, and so does a period
        with an open end. The returned period is as long. A period that begins in January and is longer than a quarter
        is compared with the same days of the year before; if it has several years, with those of as many years before.

    Raises
    ------
    ParameterError
        An end is open, and `until` is not given.

    Examples
    --------
    >>> period_before(Period(dt.date(2026, 3, 1), dt.date(2026, 3, 31)))
    Period(start=datetime.date(2026, 2, 1), end=datetime.date(2026, 2, 28))
    >>> period_before(Period(dt.date(2026, 3, 9), dt.date(2026, 3, 15)))
    Period(start=datetime.date(2026, 3, 2), end=datetime.date(2026, 3, 8))
    >>> october, year = parse_period("2026-10"), parse_period("2026")
    >>> period_before(october, until=dt.date(2026, 10, 12))
    Period(start=datetime.date(2026, 9, 1), end=datetime.date(2026, 9, 12))
    >>> period_before(year, until=dt.date(2026, 10, 31))
    Period(start=datetime.date(2025, 1, 1), end=datetime.date(2025, 10, 31))
    """
    start, whole_end = period.start or until, period.end or until
    if start is None or whole_end is None:
        raise ParameterError(f"The period {period.start} to {period.end} has an open end; name its first and last day.")
    end = whole_end if until is None else min(whole_end, until)
    ends_month = whole_end == month_end(whole_end)
    if start.day != 1 or not (ends_month or (until is not None and start.month == 1)):
        days = end - start + dt.timedelta(days=1)
        return Period(start - days, end - days)
    months = (whole_end.year - start.year) * 12 + whole_end.month - start.month + 1
    if until is not None and start.month == 1 and months > _QUARTER:
        months = -(-months // 12) * 12
    return Period(_shift_month(start, -months), _same_day(end, -months))


def parse_period(text: str, *, today: dt.date | None = None) -> Period:
    """
    Read one period.

    Parameters
    ----------
    text : str
        "2026"; "2026-Q3" or "Q3 2026"; "2026-10", "10/2026", "October 2026" or "Oct 2026"; "this month", "last month",
        "this quarter", "last quarter", "this year", "last year" or "ytd" (from 1 January to today), in any case.
    today : date, optional
        The day from which "last month" and the like are counted; the machine's local date by default.

    Raises
    ------
    ParameterError
        The text is not one of these, or people could read it in two ways.

    Examples
    --------
    >>> parse_period("October 2026") == parse_period("10/2026") == parse_period("2026-10")
    True
    >>> parse_period("last month", today=dt.date(2026, 3, 31))
    Period(start=datetime.date(2026, 2, 1), end=datetime.date(2026, 2, 28))
    >>> parse_period("ytd", today=dt.date(2026, 3, 31))
    Period(start=datetime.date(2026, 1, 1), end=datetime.date(2026, 3, 31))
    """
    period = _calendar(text.strip().lower()) or _relative(text.strip().lower(), today)
    if period is None:
        raise _not_a_period(text, "start")
    return period


def resolve(
    start: DateLike | None = None,
    end: DateLike | None = None,
    *,
    today: dt.date | None = None,
    names: tuple[str, str] = ("start", "end"),
) -> Period:
    """
    Turn a loader's `start` and `end` into dates.

    Parameters
    ----------
    start : str, date, datetime, Timestamp or Period, optional
        First day, inclusive; or, with no `end`, a whole period. None is open.
    end : str, date, datetime or Timestamp, optional
        Last day, inclusive. None is open.
    today : date, optional
        The day from which relative periods are counted; the machine's local date by default.
    names : tuple of str
        The arguments' names for error messages.

    Returns
    -------
    Period

    Raises
    ------
    ParameterError
        An end can't be read, `start` is after `end`, or `start` is a whole period and `end` is given too.

    Examples
    --------
    >>> resolve("2026-10")
    Period(start=datetime.date(2026, 10, 1), end=datetime.date(2026, 10, 31))
    >>> resolve("2026-10-05")
    Period(start=datetime.date(2026, 10, 5), end=None)
    >>> resolve("2026-10-05", "2026-10-06")
    Period(start=datetime.date(2026, 10, 5), end=datetime.date(2026, 10, 6))
    """
    whole = _whole_period(start, names[0], today)
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


def _whole_period(value: DateLike | None, name: str, today: dt.date | None) -> Period | None:
    """Return the period if `value` is one; None for a date and for None."""
    if isinstance(value, str):
        if _iso_date(value.strip()) is not None:
            return None
        text = value.strip().lower()
        period = _calendar(text) or _relative(text, today)
        if period is None:
            raise _not_a_period(value, name)
        return period
    if value is None or not _is_pandas_period(value):
        return None
    return Period(value.start_time.date(), value.end_time.date())


def _is_pandas_period(value: DateLike) -> TypeGuard[PandasPeriod]:
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
    raise ParameterError(f"{name}={_shown(value)!r} is not a date; it takes {ACCEPTED}.")


def _iso_date(text: str) -> dt.date | None:
    if len(text) < len("2026-10-01") or text[4:5] != "-":
        return None
    try:
        return dt.datetime.fromisoformat(text).date()
    except ValueError:
        return None


def _calendar(text: str) -> Period | None:
    plain = " ".join(text.split())
    found = next((match.groupdict() for form in _FORMS if (match := form.fullmatch(plain))), None)
    if found is None:
        return None
    quarter, name = found.get("quarter"), found.get("name")
    month = int(quarter) * 3 if quarter else _NUMBERS[name[:3]] if name else int(found.get("month") or 1)
    try:
        day = dt.date(int(found["year"]), month, 1)
    except ValueError:
        return None
    return _quarter(day) if quarter else _year(day) if len(found) == 1 else _month(day)


def _not_a_period(text: str, name: str) -> ParameterError:
    plain = " ".join(text.lower().split())
    hint = next((hint for pattern, hint in _AMBIGUOUS if pattern.fullmatch(plain)), None)
    return ParameterError(
        f"{name}={text!r} is not a date or period{f'. {hint}' if hint else f'; it takes {ACCEPTED}.'}"
    )


def _relative(text: str, today: dt.date | None) -> Period | None:
    # The machine's local date, because "last month" is meant by the person at the keyboard.
    day = today or dt.date.today()  # noqa: DTZ011
    if text == "ytd":
        return Period(day.replace(month=1, day=1), day)
    which, _, unit = text.partition(" ")
    period_of, months = {"month": (_month, 1), "quarter": (_quarter, 3), "year": (_year, 12)}.get(unit, (None, 0))
    if period_of is None or which not in {"this", "last"}:
        return None
    return period_of(_shift_month(day, 0 if which == "this" else -months))


def _shift_month(day: dt.date, months: int) -> dt.date:
    index = day.year * 12 + day.month - 1 + months
    return dt.date(index // 12, index % 12 + 1, 1)


def _same_day(day: dt.date, months: int) -> dt.date:
    """Return the same day some months later; for the last day of a month, the last day of that month."""
    last = month_end(_shift_month(day, months))
    return last if day == month_end(day) else last.replace(day=min(day.day, last.day))


def _month(day: dt.date) -> Period:
    return Period(day.replace(day=1), month_end(day))


def _quarter(day: dt.date) -> Period:
    first = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
    return Period(first, month_end(first.replace(month=first.month + 2)))


def _year(day: dt.date) -> Period:
    return Period(day.replace(month=1, day=1), day.replace(month=12, day=31))
