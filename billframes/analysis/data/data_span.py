"""The days that frames know: the day on which they were loaded, and the first day with a record.

A period is counted from the day of the load, and ends there if it is not over. Before the first day nothing is known,
so figures there are missing and not 0. Frames that remember no load know neither day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw

from billframes._shared.format import long_date, span_name
from billframes.analysis.data.engine import collect_values
from billframes.analysis.data.expressions import C, as_day, midnight
from billframes.analysis.declare.columns import DATE_OF, PLAUSIBLE_DAYS, Frame
from billframes.config.firm import FirmSettings, check_settings
from billframes.errors import NoDataError, ParameterError
from billframes.loading.load_info import attached, load_day, load_info
from billframes.periods import DateLike, FixedCalendar, Period, resolve

DAYS = "days"
"""
The name under which a result remembers the days that it counts, such as in a pandas frame's `attrs`.

Results of one day, such as `aging`, remember it as "as_of".
"""

# A period that begins with a holiday or a long weekend is known from its first day.
_DAYS_OFF = dt.timedelta(days=3)


def _loaded_on(natives: Iterable[Any], settings: FirmSettings | None) -> dt.date | None:
    """Return the first day on which frames were loaded, in the firm's time zone; None if no frame remembers it."""
    check_settings(settings)
    zone = (settings or FirmSettings()).time_zone
    days = (load_day(each, zone) for each in natives if each is not None)
    return min((day for day in days if day is not None), default=None)


def read_period(start: DateLike | None, end: DateLike | None, settings: FirmSettings | None, *natives: Any) -> Period:
    """
    Read `start=` and `end=` of an analysis, whose frames are `natives` as the user passed them.

    "last month" and the like are counted from the day of the load, and refused if no frame remembers it. A period that
    begins after that day is refused, too.
    """
    today = _loaded_on(natives, settings)
    period = resolve(start, end, calendar=FixedCalendar(today, settings.fiscal_year if settings else None))
    if today is not None:
        check_begun(period.start, today)
    return period


def read_bounded_period(
    start: DateLike, end: DateLike | None, needed_by: str, settings: FirmSettings | None, *natives: Any
) -> tuple[dt.date, dt.date]:
    """Return both ends of a period; refuse an open end."""
    period = read_period(start, end, settings, *natives)
    if period.start is None or period.end is None:
        raise ParameterError(
            f"start={start!r}, end={end!r}: {needed_by} needs a first and a last day, such as start='2026-10'."
        )
    return period.start, period.end


def check_begun(start: dt.date | None, day: dt.date, meaning: str = "the day of the data") -> None:
    """Refuse a period that begins after the day of the data; `meaning` is what the day is, for the message."""
    if start is not None and start > day:
        raise ParameterError(
            f"The period begins on {long_date(start)}, after {meaning}, {long_date(day)}. Choose a period that has "
            "begun."
        )


def check_known(end: dt.date | None, first: dt.date | None) -> None:
    """Refuse a period that ends before the first day of the data, because nothing is known of it."""
    if not is_known(first, end) and end is not None and first is not None:
        raise NoDataError(
            f"The period ends on {long_date(end)}, before the first day of the data, {long_date(first)}. Choose a "
            "later period."
        )


def is_known(first: dt.date | None, end: dt.date | None) -> bool:
    """Tell whether data that begin on a day have a part of a period that ends on another day."""
    return first is None or end is None or end >= first


def first_day(**natives: Any) -> dt.date | None:
    """
    Return the first day with a record in whole loads of time entries or invoices; None if that is unknown.

    A frame is a whole load if it remembers that it was loaded without dates and filters.
    """
    days = [_first_day(native, DATE_OF[name]) for name, native in natives.items() if native is not None]
    return min((day for day in days if day is not None), default=None)


def _first_day(native: Any, column: str) -> dt.date | None:
    info, attrs = load_info(native), attached(native, "load")
    if info is None or info.first_day is not None:
        return info.first_day if info else None
    # Whether rows were removed, dates are missing in the load, or other filters were set.
    is_whole = "period" in attrs and info.start is None and not info.arguments and info.rows == len(native)
    return first_date(native, column) if is_whole else None


def first_date(native: Any, column: str) -> dt.date | None:
    """Return the first plausible date in a column of a frame of any engine; None if there is none."""
    frame = cast("Frame", nw.from_native(native))
    dtype = frame.collect_schema().get(column)
    if dtype not in (nw.Date, nw.Datetime):
        return None
    low, high = PLAUSIBLE_DAYS if dtype == nw.Date else map(midnight, PLAUSIBLE_DAYS)
    plausible = frame.filter(C(column).is_between(low, high))
    return as_day(collect_values((plausible, {"first": C(column).min()}))["first"])


def covers(first: dt.date | None, start: dt.date | None) -> bool:
    """
    Tell whether data that begin on a day cover a period from its start, apart from a long weekend or New Year's Day.

    Examples
    --------
    >>> covers(dt.date(2026, 8, 3), dt.date(2026, 8, 1)), covers(dt.date(2026, 8, 10), dt.date(2026, 8, 1))
    (True, False)
    """
    return first is None or (start is not None and start >= first - _DAYS_OFF)


@dataclass(frozen=True, slots=True)
class CountedDays:
    """
    The days that a result counts; None is open or unknown.

    `until` is the last day counted: the period's end, or the day of the load if that is earlier. `first_day` is the
    first of the data.
    """

    start: dt.date | None = None
    end: dt.date | None = None
    until: dt.date | None = None
    first_day: dt.date | None = None


def counted_days(
    period: Period, settings: FirmSettings | None, first: dt.date | None, **natives: Any
) -> dict[str, str]:
    """Return the days that a result of a period counts, as JSON values for `attach`."""
    today = _loaded_on(natives.values(), settings)
    until = min((day for day in (period.end, today) if day is not None), default=None)
    days = {"start": period.start, "end": period.end, "until": until, "first_day": first}
    return {name: day.isoformat() for name, day in days.items() if day is not None}


def read_counted_days(result: Any) -> CountedDays:
    """Return the days that a result counts, as far as it remembers them."""
    days = attached(result, DAYS)
    known = days if isinstance(days, Mapping) else {}
    names = ("start", "end", "until", "first_day")
    return CountedDays(**{name: dt.date.fromisoformat(str(known[name])) for name in names if name in known})


def both_spans(before: Any, after: Any) -> dict[str, str]:
    """Return the days that two results count, for `attach` to a result of both; empty if they are unknown."""
    known = {
        f"{of}{name}": day
        for of, result in (("before_", before), ("", after))
        for name, day in (attached(result, DAYS) or {}).items()
        if name in {"start", "until"}
    }
    return known if len(known) == 4 else {}


def days_in_words(result: Any) -> str:
    """Return the days that a result counts, such as "October 2026", or of two periods both; empty if unknown."""
    known = attached(result, DAYS)
    known = {name: dt.date.fromisoformat(str(day)) for name, day in (known or {}).items()}
    if "as_of" in known:
        return long_date(known["as_of"])
    spans = [(known.get(f"{of}start"), known.get(f"{of}until")) for of in ("before_", "")]
    names = [span_name(start, until) for start, until in spans if start and until and start <= until]
    return " to ".join(names)
