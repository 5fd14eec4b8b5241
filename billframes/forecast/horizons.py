"""The weeks or months of a forecast, from the argument `horizons`."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

from billframes._shared.format import short_date
from billframes._shared.names import as_given
from billframes.errors import ParameterError
from billframes.forecast.forecasts import Span
from billframes.periods import MONTHS

Horizons = int | Sequence[int] | Literal["weeks", "months"]

_WEEKS, _MONTHS, _LONGEST = 13, 6, 52


@dataclass(frozen=True, slots=True)
class Horizon:
    """Days in which cash counts, both inclusive, with a name."""

    name: str
    start: dt.date
    end: dt.date
    day: dt.date

    @property
    def span(self) -> Span:
        """The weeks from the day of the forecast to the start and to the end."""
        return ((self.start - self.day).days - 1) / 7, (self.end - self.day).days / 7

    @property
    def weeks(self) -> float:
        """The length in weeks."""
        return self.span[1] - self.span[0]


def read_horizons(horizons: Horizons, day: dt.date) -> list[Horizon]:
    """
    Return the horizons after a day.

    Examples
    --------
    >>> [(each.name, each.start.isoformat()) for each in read_horizons((4, 13), dt.date(2026, 10, 31))]
    [('by 28 Nov 2026', '2026-11-01'), ('by 30 Jan 2027', '2026-11-01')]
    >>> read_horizons("months", dt.date(2026, 10, 31))[1].name
    'Dec 2026'
    """
    if isinstance(horizons, str):
        if horizons == "months":
            return list(_months(day))
        if horizons == "weeks":
            starts = [day + dt.timedelta(days=7 * nth + 1) for nth in range(_WEEKS)]
            length = dt.timedelta(days=6)
            return [Horizon(f"from {short_date(start)}", start, start + length, day) for start in starts]
    weeks: list[int] = list[Any](horizons) if isinstance(horizons, Sequence) else [horizons]
    whole = all(isinstance(each, Integral) and not isinstance(each, bool) and 0 < each <= _LONGEST for each in weeks)
    if not weeks or not whole or weeks != sorted(set(weeks)):
        raise ParameterError(
            f"{as_given('horizons', horizons)} takes whole numbers of weeks from 1 to {_LONGEST}, in rising order, or "
            "'weeks' or 'months'."
        )
    ends = [day + dt.timedelta(days=7 * int(each)) for each in weeks]
    return [Horizon(f"by {short_date(end)}", day + dt.timedelta(days=1), end, day) for end in ends]


def _months(day: dt.date) -> list[Horizon]:
    found = []
    for nth in range(1, _MONTHS + 1):
        years, month = divmod(day.month - 1 + nth, 12)
        first = dt.date(day.year + years, month + 1, 1)
        last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
        found.append(Horizon(f"{MONTHS[month][:3]} {first.year}", first, last, day))
    return found
