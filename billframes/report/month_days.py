"""The days of a month that its report counts, and those that it compares with them."""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from dataclasses import dataclass

from billframes._shared.format import days_name, month_name
from billframes.analysis.data.data_span import covers, is_known
from billframes.periods import Period, month_end, period_before, year_before

# In months.
YEAR = 12


@dataclass
class MonthDays(ABC):
    """
    The days of a month and of the periods beside it.

    `first` and `last` are the first and last day counted; while the month is not over, `last` is the day of the data.
    `as_of` is the day to which receivables are aged.
    """

    first: dt.date
    last: dt.date
    as_of: dt.date

    @property
    @abstractmethod
    def first_day(self) -> dt.date | None:
        """The first day of the data; None if it is not known."""

    @property
    @abstractmethod
    def year_start(self) -> dt.date:
        """The first day of the year to date."""

    @property
    def name(self) -> str:
        """The month in words, such as "October 2026"."""
        return month_name(self.first)

    @property
    def is_over(self) -> bool:
        """Whether the figures cover the whole month."""
        return self.as_of >= month_end(self.first)

    def earlier(self, months: int) -> dt.date:
        """Return the first day of the month that many months earlier."""
        index = self.first.year * 12 + self.first.month - 1 - months
        return dt.date(index // 12, index % 12 + 1, 1)

    @property
    def months_back(self) -> int:
        """The number of earlier months: back to the start of last year, so that both years to date are known."""
        start = self.year_start
        return YEAR + (self.first.year - start.year) * YEAR + self.first.month - start.month

    def same_days(self, months: int) -> Period:
        """Return the days of an earlier month that are compared with this month: all of them if it is over."""
        if months == YEAR:
            return year_before(self.first, self.last)
        if months:
            return period_before(Period(self.first, month_end(self.first)), self.last)
        return Period(self._known_from(self.first), self.last)

    def same_days_name(self, months: int, *, short: bool = True) -> str:
        """Return these days in words, such as "Sep 2026", or "1–14 Sep 2026" if the month is not over."""
        span = self.same_days(months)
        return days_name(span.start or self.first, span.end or self.last, short=short)

    @property
    def names_of_parts(self) -> dict[str, str]:
        """The names of months of which only some days are counted, such as "5–31 Aug 2026", by month."""
        days = [(self._known_from(each), min(month_end(each), self.last)) for each in self._months()]
        names = {
            f"{first:%Y-%m}": (days_name(first, last, short=True), month_name(last, short=True)) for first, last in days
        }
        return {month: name for month, (name, whole) in names.items() if name != whole}

    def is_known(self, span: Period) -> bool:
        """Tell whether the data begin early enough for the figures of these days."""
        return covers(self.first_day, span.start)

    def to_date_name(self, years_back: int = 0) -> str:
        """Return the year to date in words, such as "Jan–Oct 2026", or "Jul 2025–14 Feb 2026"."""
        span = self._year_to_date(years_back)
        start, end = span.start or self.first, span.end or self.last
        if (start.year, start.month) == (end.year, end.month):
            return days_name(start, end, short=True)
        first = month_name(start, short=True)
        first = first if start.year != end.year else first.partition(" ")[0]
        day = "" if end == month_end(end) else f"{end.day} "
        return f"{f'{start.day} ' if start.day > 1 else ''}{first}–{day}{month_name(end, short=True)}"

    def _year_to_date(self, years_back: int) -> Period:
        if years_back:
            return year_before(self.year_start, self.last)
        return Period(self._known_from(self.year_start), self.last)

    @property
    def counted_from(self) -> dt.date:
        """The first day of the month of which data are known."""
        return self._since(self.first)

    @property
    def first_of_year(self) -> dt.date:
        """The first day of the year to date of which data are known."""
        return self._since(self.year_start)

    def _since(self, start: dt.date) -> dt.date:
        return max(start, self.first_day or start)

    def _known_from(self, start: dt.date) -> dt.date:
        """Return the first day counted of days that begin on `start`; a month's days off before the data count."""
        day = self._since(start)
        month = max(start, day.replace(day=1))
        return month if self.is_known(Period(month)) else day

    def _months(self, back: int = 0) -> list[dt.date]:
        """Return the first days of this month and of the months before it of which data are known."""
        months = map(self.earlier, range(back or self.months_back, -1, -1))
        return [each for each in months if is_known(self.first_day, month_end(each))]
