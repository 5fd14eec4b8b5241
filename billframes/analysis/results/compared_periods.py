"""The periods that `compare` compares: their names, and which results are compared with which.

A period that is not over ends on the day of the load. It is compared with the same days of the period before and of the
year before, and its twelve months end on that day, too. A period that begins before the first day of the data is not
fully known, so nothing is compared with it.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from billframes._shared.names import join_names, type_in_words
from billframes._shared.notes import Notes
from billframes.analysis.data.data_span import CountedDays, covers
from billframes.analysis.data.expressions import period_numbers
from billframes.analysis.results.compared_results import PERIODS_PER_YEAR, REST, WHOLE, earlier_period
from billframes.analysis.rules.periods import UNEQUAL_PERIODS
from billframes.errors import ParameterError
from billframes.periods import CALENDAR_YEAR, FiscalYear, Period, parse_period, period_before, year_before

_LABELS = {
    "month": r"\d{4}-\d{2}",
    "quarter": r"\d{4}-Q[1-4]",
    "year": r"\d{4}",
    "fiscal_quarter": r"FY\d{4}-Q[1-4]",
    "fiscal_year": r"FY\d{4}",
}
_UNKNOWN = "unknown"


def time_of(results: Any) -> str:
    """Return the length of the periods: "month", "quarter" or "year"."""
    if not isinstance(results, Mapping):
        kind = type_in_words(results)
        raise ParameterError(f"results is {kind}; pass a dict of results by period, or use book.compare().")
    for time, pattern in _LABELS.items():
        if results and all(re.fullmatch(pattern, str(label)) for label in results):
            return time
    raise ParameterError(
        f"results has the periods {', '.join(map(repr, results)) or 'none'}; it takes months such as '2026-10', or "
        "quarters such as '2026-Q3', or years such as '2026'."
    )


@dataclass(frozen=True, slots=True)
class Comparison:
    """
    Which results are compared with which.

    Parameters
    ----------
    time : str
        The length of the periods.
    days : mapping of str to CountedDays
        The days that each result counts, as far as they are known.
    align : bool
    parts : mapping of (str, int) to str
        The names of more results, as in `FiguresByPeriod`.
    """

    time: str
    days: Mapping[str, CountedDays]
    align: bool
    parts: Mapping[tuple[str, int], str] = field(default_factory=dict)

    def until(self, label: str) -> dt.date | None:
        """Return the last day that a period's result counts; None if unknown."""
        return self.days.get(label, CountedDays()).until

    def is_cut(self, label: str) -> bool:
        """Tell whether a result counts a part of its period only, such as that of a period which is not over."""
        until, end = self.until(label), self._end(label)
        return self.align and until is not None and end is not None and until < end

    def instead(self) -> dict[tuple[str, int], str]:
        """Return the results to compare with in place of those of earlier periods; see `FiguresByPeriod`."""
        found: dict[tuple[str, int], str] = {}
        a_year = PERIODS_PER_YEAR[self.time]
        for label in self.days:
            for back in (1, a_year):
                cut = self.is_cut(label) or self.is_cut(earlier_period(label, back))
                if cut and not self._is_same(label, back):
                    found[label, back] = self.parts.get((label, back), _UNKNOWN)
            if self.is_cut(label):
                found |= {(label, WHOLE): _UNKNOWN, (label, REST): self.parts.get((label, REST), _UNKNOWN)}
        for label, days in self.days.items():
            if not covers(days.first_day, days.start):
                later = {back: earlier_period(label, -back) for back in (1, a_year)}
                found |= {(name, back): _UNKNOWN for back, name in later.items()}
                found |= {(later[a_year], REST): _UNKNOWN} if self.is_cut(later[a_year]) else {}
                found[label, WHOLE] = _UNKNOWN
        return found

    def note(self, shown: Sequence[str], notes: Notes) -> None:
        """Note a period that is not over and can't be compared with an earlier one that was passed."""
        a_year = PERIODS_PER_YEAR[self.time]
        for label in filter(self.days.__contains__, shown):
            whole = [earlier_period(label, back) for back in sorted({1, a_year}) if not self._is_same(label, back)]
            passed = [each for each in whole if each in self.days]
            if self.is_cut(label) and passed:
                words = {"label": label, "until": self.until(label), "others": join_names(passed)}
                notes.add(UNEQUAL_PERIODS, len(passed), about=label, **words)

    def _end(self, label: str) -> dt.date | None:
        start = self.days.get(label, CountedDays()).start
        return whole_period(label, start).end if start else None

    def _is_same(self, label: str, back: int) -> bool:
        """Tell whether an earlier result counts the same days as that of a period which is not over."""
        days, then = self.days[label], self.days.get(earlier_period(label, back))
        if then is None or then.start is None or days.start is None or days.until is None:
            return False
        year = FiscalYear(days.start.month, days.start.day)
        same = [period_before(Period(days.start, self._end(label)), days.until, year)]
        same += [year_before(days.start, days.until)] if back == PERIODS_PER_YEAR[self.time] else []
        return Period(then.start, then.until) in same


def whole_period(label: str, start: dt.date) -> Period:
    """Return the period that a label names; if it is one of the fiscal year, the one that begins on a day."""
    if not label.startswith("FY"):
        return parse_period(label)
    # The day of the month is one that every month has, in results of fiscal periods.
    year = FiscalYear(start.month, min(start.day, 28))
    return year.quarter_of(start) if "Q" in label else year.year_of(start)


def known_days(label: str, days: CountedDays) -> CountedDays:
    """Return the days that a result counts, or unknown ones if they are not those of its period alone."""
    if days.start is None or days.end is None:
        return CountedDays()
    whole = whole_period(label, days.start)
    fits = whole.start == days.start and whole.end is not None and days.end <= whole.end
    return days if fits else CountedDays()


def fiscal_year_of(every: str) -> FiscalYear:
    """Return the calendar year, or refuse fiscal periods, for a firm that has set no fiscal year."""
    if every.startswith("fiscal_"):
        raise ParameterError(
            f"every={every!r} needs the first day of the fiscal year: pass settings=FirmSettings(fiscal_year_start=…) "
            "to the book, such as '07' for July."
        )
    return CALENDAR_YEAR


def label_of(day: dt.date, every: str, fiscal: FiscalYear) -> str:
    """Return the name of the period that contains a day."""
    numbers = period_numbers(day.year, day.month, day.day, fiscal)
    number = f"{numbers[every]:04}"
    start = "FY" if every.startswith("fiscal_") else ""
    if every == "month":
        return f"{number[:-2]}-{number[-2:]}"
    return f"{start}{number[:-1]}-Q{number[-1]}" if every.endswith("quarter") else f"{start}{number}"


def aligned_parts(days: CountedDays, every: str) -> dict[int, Period]:
    """Return the days to compare a period with that is not over, and the days that its twelve months also have."""
    start, end, until = days.start, days.end, days.until
    if start is None or end is None or until is None or until == end:
        return {}
    year_ago, whole_year_ago = year_before(start, until), year_before(start, end)
    parts = {1: period_before(Period(start, end), until), PERIODS_PER_YEAR[every]: year_ago}
    if year_ago.end and year_ago != whole_year_ago:
        parts[REST] = Period(year_ago.end + dt.timedelta(days=1), whole_year_ago.end)
    return parts
