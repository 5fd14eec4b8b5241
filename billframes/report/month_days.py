"""The days of a month, quarter or year that its report counts, and those that it compares with them."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field

from billframes._shared.format import month_name, span_name
from billframes.analysis.data.data_span import covers, is_known
from billframes.book import Book
from billframes.book.slices import BookSlice
from billframes.config.firm import FirmSettings
from billframes.periods import CALENDAR_YEAR, FiscalYear, Period, month_end, months_between, period_before, year_before

# In months.
YEAR = 12
_QUARTER = 3


def period_code(period: Period) -> str:
    """Return a period of whole months for the name of a file."""
    start, end = period.start or dt.date.min, period.end or dt.date.max
    months = len(list(months_between(start, end)))
    if months == 1:
        return f"{start:%Y-%m}"
    if months == YEAR and start.month == 1:
        return str(start.year)
    quarter = months == _QUARTER and start.month % _QUARTER == 1
    return f"{start.year}-Q{end.month // _QUARTER}" if quarter else f"{start:%Y-%m}-to-{end:%Y-%m}"


@dataclass
class MonthDays:
    """
    The days of a month, or of a period of several months, and of the periods beside it.

    `first` and `last` are the first and last day counted; while the period is not over, `last` is the day of the data.
    `as_of` is the day to which receivables are aged. `end` is the last day of a period of several months.
    """

    first: dt.date
    last: dt.date
    as_of: dt.date
    book: Book | BookSlice
    end: dt.date | None = field(default=None, kw_only=True)

    @property
    def firm_book(self) -> Book:
        """The firm's book."""
        return self.book.sliced.book if isinstance(self.book, BookSlice) else self.book

    @property
    def settings(self) -> FirmSettings:
        """The firm's settings, or the defaults if none were given."""
        return self.book.settings or FirmSettings()

    @property
    def first_day(self) -> dt.date | None:
        """The first day of the data; None if it is not known."""
        return self.firm_book.first_day

    @property
    def year_start(self) -> dt.date:
        """The first day of the year to date: that of the fiscal year, or else 1 January."""
        return self.fiscal_year.year_of(self.last).start or self.first

    @property
    def fiscal_year(self) -> FiscalYear:
        """The firm's fiscal year, or the calendar year."""
        return self.settings.fiscal_year or CALENDAR_YEAR

    @property
    def whole(self) -> Period:
        """The whole period, also if it is not over."""
        return Period(self.first, self.end or month_end(self.first))

    @property
    def name(self) -> str:
        """The period in words, such as "October 2026" or "July–September 2026"."""
        return span_name(self.first, self.end or month_end(self.first))

    @property
    def code(self) -> str:
        """The period in names of files, such as "2026-10", "2026-Q3" or "2026"."""
        return period_code(self.whole)

    @property
    def noun(self) -> str:
        """What it is called in sentences."""
        return "month" if len(list(months_between(self.first, self.end or self.first))) == 1 else "period"

    @property
    def is_over(self) -> bool:
        """Whether the figures cover the whole period."""
        return self.as_of >= (self.end or month_end(self.first))

    @property
    def ends_month(self) -> bool:
        """Whether the last month is counted to its end."""
        return self.last == month_end(self.last)

    def earlier(self, months: int) -> dt.date:
        """Return the first day of the month that many months before the last one."""
        index = self.last.year * 12 + self.last.month - 1 - months
        return dt.date(index // 12, index % 12 + 1, 1)

    @property
    def months_back(self) -> int:
        """The months before the last one: back to the start of last year, so that both years to date are known."""
        start = min(self.year_start, self.first)
        return YEAR + (self.last.year - start.year) * YEAR + self.last.month - start.month

    def same_days(self, back: int) -> Period:
        """Return the days that are compared with this period, all of them if it is over: before it, or a year ago."""
        if back == YEAR:
            return year_before(self.first, self.last)
        if back:
            return period_before(self.whole, self.last, self.fiscal_year)
        return Period(self._known_from(self.first), self.last)

    @property
    def comparisons(self) -> tuple[int, ...]:
        """The periods that it is compared with: the one before, and the same days a year ago unless they are those."""
        return (1,) if self.same_days(1) == self.same_days(YEAR) else (1, YEAR)

    @property
    def earlier_days(self) -> list[dt.date]:
        """The last days of the period before, and of the same period a year ago, for balances."""
        days = (self.first - dt.timedelta(1), month_end(year_before(self.first, self.earlier(0)).end or self.first))
        return list(dict.fromkeys(days))

    def same_days_name(self, months: int, *, short: bool = True) -> str:
        """Return these days in words, such as "Sep 2026", or "1–14 Sep 2026" if the month is not over."""
        span = self.same_days(months)
        return span_name(span.start or self.first, span.end or self.last, short=short)

    @property
    def names_of_parts(self) -> dict[str, str]:
        """The names of months of which only some days are counted, such as "5–31 Aug 2026", by month."""
        days = [(self._known_from(each), min(month_end(each), self.last)) for each in self._months()]
        names = {
            f"{first:%Y-%m}": (span_name(first, last, short=True), month_name(last, short=True)) for first, last in days
        }
        return {month: name for month, (name, whole) in names.items() if name != whole}

    def is_known(self, span: Period) -> bool:
        """Tell whether the data begin early enough for the figures of these days."""
        return covers(self.first_day, span.start)

    def to_date_name(self, years_back: int = 0) -> str:
        """Return the year to date in words, such as "Jan–Oct 2026", or "Jul 2025–14 Feb 2026"."""
        span = self._year_to_date(years_back)
        return span_name(span.start or self.first, span.end or self.last, short=True)

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
