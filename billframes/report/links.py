"""Make formulas that take figures from other sheets: from records that name a client or person, totals, and months."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pandas as pd

from billframes.report.month import Month
from billframes.report.places import SheetRange, is_close
from billframes.report.table_spec import ReportTable

_NOT_PLAIN = re.compile(r"[*?~<>=]")
# Excel takes no longer text as a criterion.
_LONGEST = 255


class Records:
    """
    A sheet of records, whose parts in a figure the rows of other sheets add up.

    Excel compares names without regard to case, and takes `*`, `?`, `~`, `<`, `>` and `=` as more than themselves: the
    figures of such names stay numbers.
    """

    def __init__(self, place: SheetRange) -> None:
        self._place = place
        self.analysis = place.table.analysis
        self._sums: dict[tuple[str, str], dict[str, float]] = {}

    def sum_of(self, table: ReportTable, row: int, column: str, cell: str) -> str:
        """Return the formula that gives a figure of another table; empty if there is none."""
        records = self._place.table
        titles = [{each.title for each in part.columns if each.name == column} for part in (table, records)]
        if table.label not in records.labels or titles[0] != titles[1]:
            return ""
        name, value = str(table.rows[table.label].iloc[row]), float(table.rows[column].iloc[row])
        if _NOT_PLAIN.search(name) or len(name) > _LONGEST:
            return ""
        if not is_close(self._by_name(table.label, column).get(name.casefold(), 0.0), value):
            return ""
        names, figures = (f"{self._place.sheet}{self._place.column(each)}" for each in (table.label, column))
        return f"=SUMIFS({figures},{names},{cell})"

    def _by_name(self, label: str, column: str) -> dict[str, float]:
        if (label, column) not in self._sums:
            rows = self._place.table.rows
            sums = rows[column].groupby(rows[label].astype("str").str.casefold()).sum()
            self._sums[label, column] = {str(name): float(value) for name, value in sums.items()}
        return self._sums[label, column]


class Totals:
    """The totals of the sheets and the rows of the twelve months, for the headline figures."""

    def __init__(self, tables: Sequence[ReportTable], month: Month) -> None:
        self._month = month
        self._places = [SheetRange(each) for each in tables if len(each.rows)]

    def formula(self, column: str, period: str, value: float) -> str:
        """Return the formula of a headline figure, empty if no sheet has it; `period` is a field of `Headline`."""
        return next((text for text, found in self._found(column, period) if value and is_close(found, value)), "")

    def _found(self, column: str, period: str) -> Iterator[tuple[str, float]]:
        for place in self._places:
            table = place.table
            declared = next((each for each in table.columns if each.name == column), None)
            if declared is None:
                continue
            if period == "now" and len(table.total) and column in table.total:
                yield f"={place.sheet}{place.letter(column)}{place.total}", float(table.total[column].iloc[0])
            if table.label == "month":
                yield from self._months(place, column, period, adds_up=declared.adds_up)

    def _months(self, place: SheetRange, column: str, period: str, *, adds_up: bool) -> Iterator[tuple[str, float]]:
        """Return the row of one month, or the sum of the year to date."""
        rows, letter = place.table.rows, place.letter(column)
        names = pd.Series(rows["month"].astype("str").to_list())
        start = {
            "now": self._month.first,
            "before": self._month.same_days(1).start,
            "to_date": self._month.first_of_year,
        }
        if period not in start or (period != "to_date" and self._month.noun == "period"):
            return
        for first in names.index[names == f"{start[period]:%Y-%m}"]:
            if period != "to_date":
                yield f"={place.sheet}{letter}{place.first + first}", float(rows[column].iloc[first])
            elif adds_up:
                cells = f"{letter}{place.first + first}:{letter}{place.last}"
                yield f"=SUM({place.sheet}{cells})", float(rows[column].iloc[first:].sum())
