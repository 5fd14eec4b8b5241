"""The days that a book's analyses count: until the day of the load, and from the first day of the data on."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Iterable
from typing import Any

import pandas as pd

from billframes._shared.notes import note
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.data_span import check_begun, check_known, first_date, is_known
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.rules.periods import LATER_RECORDS, LATER_RECORDS_OF_PERIOD
from billframes.config.firm import FirmSettings
from billframes.config.firm_calendar import FirmCalendar
from billframes.errors import ParameterError
from billframes.loading.load_info import load_day
from billframes.periods import DateLike, Period, resolve

DATES = {"time_entries": "date", "invoices": "invoice_date"}
"""The frames whose days are known, with their column of dates."""


class BookDays:
    """The days of a book."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._said: set[tuple[str, Any]] = set()
        self._first_days: dict[str, dt.date | None] = {}

    def span(self, start: DateLike | None, end: DateLike | None) -> tuple[dt.date | None, dt.date | None]:
        """Return the first and last day of a period, or of the book's period if neither day is given."""
        calendar = FirmCalendar(lambda: self._book.client, self._book.settings)
        period = self._book.period if start is None and end is None else resolve(start, end, calendar=calendar)
        return period.start, period.end

    def until_now(self, period: Period, analysis: Analysis, names: Collection[str]) -> Period:
        """
        End a period on the day of the load if it is not over on that day, for an analysis that ends with the load.

        It warns as `until_load` does. A period that begins after the load, or ends before the first day of the data, is
        a `ParameterError`.
        """
        dated = [name for name in DATES if name in names]
        day = self.loaded_on(*dated)
        if day is not None:
            check_begun(period.start, day)
        self._check_known(period.end, dated)
        return self.until_load(period, dated, analysis.name) if analysis.book.ends_with_load else period

    def as_of(self, as_of: DateLike | None, names: Iterable[str], analysis: str) -> DateLike:
        """
        Return `as_of`; by default the last day of the book's period, or the day of the load if that is earlier.

        `names` are the frames that the analysis uses. Raise `ParameterError` if `as_of` is None, and the book's period
        has no last day, or begins after the load; or if the day is before the first day of the data.
        """
        if as_of is None and self._book.period.end is None:
            raise ParameterError("as_of is needed: the book's period has no last day.")
        dated = [name for name in DATES if name in names]
        if as_of is not None:
            self._check_known(read_date(as_of, "as_of"), dated)
            return as_of
        self._check_known(self._book.period.end, dated)
        return self._until_load(self._book.period, names)[0].end or dt.date.max

    def _check_known(self, day: dt.date | None, dated: Collection[str]) -> None:
        """Refuse a period or a day before the first day of the data."""
        # The other frame is only loaded if it can make a difference.
        if dated and not is_known(self.first_day_of(*dated), day):
            check_known(day, self.first_day)

    def until_load(self, period: Period, names: Iterable[str], analysis: str, *, argument: str = "") -> Period:
        """
        End a period on the day of the load if it is not over on that day: later work and balances are not known yet.

        `names` are the frames that the analysis uses: of time entries and invoices, the first day of load counts.
        `argument` is the one with which a user can choose another day; empty for none. A period that begins after the
        load is a `ParameterError`. Warn if time entries or final invoices of the period are dated after the load.
        """
        names = list(names)
        ended, day = self._until_load(period, names)
        for name in [each for each in DATES if each in names]:
            later = 0 if day is None or period.end is None else self._rows_after(name, day, period.end)
            if later and (name, period.end) not in self._said:
                self._said.add((name, period.end))
                words = {"what": _later_records(name, later), "day": day, "argument": argument, "about": name}
                note(LATER_RECORDS if argument else LATER_RECORDS_OF_PERIOD, later, analysis, **words)
        return ended

    def _until_load(self, period: Period, names: Iterable[str]) -> tuple[Period, dt.date | None]:
        """End a period on the day of the load if it is not over then; also return that day, or None if it is over."""
        day = self.loaded_on(*[name for name in DATES if name in names])
        if day is None or period.end is None or period.end <= day:
            return period, None
        check_begun(period.start, day)
        return Period(period.start, day), day

    def _rows_after(self, name: str, day: dt.date, last: dt.date) -> int:
        rows: pd.DataFrame = getattr(self._book, name)
        later = rows[DATES[name]].between(pd.Timestamp(day), pd.Timestamp(last), inclusive="right")
        # The date of a draft can still change, and leave is entered in advance.
        counts = rows["invoice_state"] == "final" if name == "invoices" else rows["billing_type"] != "nonBillable"
        return int((later & counts).sum())

    def loaded_on(self, *names: str) -> dt.date | None:
        """Return the first day on which one of the frames was loaded; see `Book.loaded_on`."""
        zone = (self._book.settings or FirmSettings()).time_zone
        days = (load_day(getattr(self._book, name), zone) for name in names)
        return min((day for day in days if day is not None), default=None)

    @functools.cached_property
    def first_day(self) -> dt.date | None:
        """The first day with a time entry or an invoice; see `Book.first_day`."""
        return self.first_day_of(*DATES)

    def first_day_of(self, *names: str) -> dt.date | None:
        """Return the first day in the time entries, the invoices or both; None if there is none."""
        for name in names:
            if name not in self._first_days:
                self._first_days[name] = first_date(getattr(self._book, name), DATES[name])
        return min((day for name in names if (day := self._first_days[name]) is not None), default=None)


def _later_records(name: str, count: int) -> str:
    one = {"time_entries": "time entry", "invoices": "invoice"}[name]
    return f"1 {one} of the period is" if count == 1 else f"{count:,} {name.replace('_', ' ')} of the period are"
