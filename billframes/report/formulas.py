"""The formulas of a sheet's cells, made from what its columns declare.

A cell of a row follows from the cells beside it (`Measure.ratios` and `Measure.formula`), or is a sum of the records
that name its client or person, on another sheet. A total is the sum of the rows above it, or follows from the totals
beside it. A figure stays a number if its formula would not give it, such as a number of clients or a median.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pandas as pd

from billframes.analysis.declare.lookup import weight_of
from billframes.analysis.declare.metrics import Measure, bucket_measure
from billframes.report.cells import SheetRange, is_close
from billframes.report.month import Month
from billframes.report.table_spec import ReportTable

# A column, "buckets" or "sum(column)" in a declared formula.
_NAME = re.compile(r"(?P<of>sum\((?=\w+\)))?\b(?P<name>[A-Za-z]\w*)(?(of)\))")
_BUCKETS, _SUM = "buckets", "sum("
# A smaller sum of cents is 0 but for rounding.
_ABSOLUTE = 1e-6
_NOT_PLAIN = re.compile(r"[*?~<>=]")
# The places of the periods of headline figures that other sheets have.
_NOW, _BEFORE, _TO_DATE = 0, 1, 3
# Excel takes no longer text as a criterion.
_LONGEST = 255


class RowFormulas:
    """The formulas of cells that follow from other cells of their row."""

    def __init__(self, columns: Sequence[Measure], rows: pd.DataFrame) -> None:
        self.rows = _numbers(rows, [each.name for each in columns if each.unit not in ("date", "text")])
        self._found = {each.name: found for each in columns if (found := self._expression(each))}

    def formula(self, name: str, row: int, cell: Callable[[str], str], cells: Callable[[str], str] = str) -> str:
        """Return a formula, empty if the cell has none; `cell` returns a column's cell in this row, `cells` in all."""
        text, applies = self._found.get(name, ("", None))
        return self.excel(text, cell, cells) if applies is not None and applies.iloc[row] else ""

    def expressions(self, each: Measure) -> Iterator[str]:
        """Return what a column declares of which the rows have all columns."""
        declared = [text for text in each.formula.split(" or ") if text]
        for text in (*(f"{part} / {whole}" for part, whole in each.ratios), *declared):
            names = {*_columns_in(text, self.rows)}
            if names and {*_names(text)} <= {*names, _BUCKETS} and each.name not in names:
                yield text

    def excel(self, text: str, cell: Callable[[str], str], cells: Callable[[str], str]) -> str:
        """Return a declared expression as a formula."""

        def written(found: re.Match[str]) -> str:
            if found["name"] == _BUCKETS:
                return "+".join(map(cell, _buckets(self.rows)))
            return f"SUM({cells(found['name'])})" if found["of"] else cell(found["name"])

        formula = _NAME.sub(written, text).replace(" ", "")
        return f'=IFERROR({formula},"")' if "/" in formula else f"={formula}"

    def _expression(self, each: Measure) -> tuple[str, pd.Series[bool]] | None:
        """Return the first declared expression that gives all figures of a column, and the rows that have it."""
        for text in self.expressions(each):
            found, values = _evaluated(text, self.rows), self.rows[each.name]
            known = values.notna()
            if all(map(is_close, found[known], values[known])):
                inputs = self.rows[[*_columns_in(text, self.rows)]]
                # An empty cell counts as 0, so what follows from an unknown figure stays empty.
                return text, known | (inputs.notna().all(axis=1) & ~found.map(math.isfinite))
        return None


class SheetFormulas:
    """The formulas of one sheet."""

    def __init__(self, place: SheetRange, records: Sequence[Records] = ()) -> None:
        table = place.table
        # Records of the same analysis come first.
        self._place, self._records = place, sorted(records, key=lambda each: each.analysis != table.analysis)
        self._of_rows = RowFormulas(table.columns, table.rows)
        self._total = _numbers(table.total, [name for name in map(str, self._of_rows.rows) if name in table.total])

    def in_row(self, name: str, row: int) -> str:
        """Return the formula of a cell; empty if it has none. Rows are counted from 0."""
        table = self._place.table

        def cell(column: str) -> str:
            return f"{self._place.letter(column)}{self._place.first + row}"

        found = self._of_rows.formula(name, row, cell, self._place.column)
        if found or name not in self._of_rows.rows or table.label not in table.labels:
            return found
        # The letter of the names keeps its place if the formula is copied to other columns.
        names = f"${cell(table.label)}"
        return next(filter(None, (each.sum_of(table, row, name, names) for each in self._records)), "")

    def in_total(self, each: Measure) -> str:
        """Return the formula of a cell in the row of the total; empty if it has none."""
        if each.name not in self._total or self._of_rows.rows.empty:
            return ""
        value = float(self._total[each.name].iloc[0])
        return next((text for text, found in self._totals(each) if is_close(found, value)), "")

    def _totals(self, each: Measure) -> Iterator[tuple[str, float]]:
        rows, cells = self._of_rows.rows, self._place.column(each.name)
        values = rows[each.name]
        # It would be shown as -0.00.
        if each.adds_up and (abs(values.sum()) > _ABSOLUTE or not values.any()):
            yield f"=SUM({cells})", float(values.sum())
        cell = lambda column: f"{self._place.letter(column)}{self._place.total}"  # noqa: E731
        for text in self._of_rows.expressions(each):
            if _SUM not in text:
                yield self._of_rows.excel(text, cell, cell), float(_evaluated(text, self._total).iloc[0])
        if (weight := weight_of(each)) in rows:
            weights, whole = rows[weight], self._place.column(weight)
            mean = (values * weights).sum() / weights.sum() if weights.sum() else math.nan
            yield f'=IFERROR(SUMPRODUCT({cells},{whole})/SUM({whole}),"")', float(mean)


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

    def formula(self, column: str, period: int, value: float) -> str:
        """Return the formula of a headline figure, empty if no sheet has it; `period` is its place in `by_period`."""
        return next((text for text, found in self._found(column, period) if value and is_close(found, value)), "")

    def _found(self, column: str, period: int) -> Iterator[tuple[str, float]]:
        for place in self._places:
            table = place.table
            declared = next((each for each in table.columns if each.name == column), None)
            if declared is None:
                continue
            if period == _NOW and len(table.total) and column in table.total:
                yield f"={place.sheet}{place.letter(column)}{place.total}", float(table.total[column].iloc[0])
            if table.label == "month":
                yield from self._months(place, column, period, adds_up=declared.adds_up)

    def _months(self, place: SheetRange, column: str, period: int, *, adds_up: bool) -> Iterator[tuple[str, float]]:
        rows, letter = place.table.rows, place.letter(column)
        names = pd.Series(rows["month"].astype("str").to_list())
        start = {
            _NOW: self._month.first,
            _BEFORE: self._month.same_days(1).start,
            _TO_DATE: self._month.first_of_year,
        }
        if period not in start or (period != _TO_DATE and self._month.noun == "period"):
            return
        for first in names.index[names == f"{start[period]:%Y-%m}"]:
            if period != _TO_DATE:
                yield f"={place.sheet}{letter}{place.first + first}", float(rows[column].iloc[first])
            elif adds_up:
                cells = f"{letter}{place.first + first}:{letter}{place.last}"
                yield f"=SUM({place.sheet}{cells})", float(rows[column].iloc[first:].sum())


def _numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    columns = {name: pd.to_numeric(frame[name], errors="coerce").astype("float64").round(8) for name in names}
    return pd.DataFrame(columns, index=frame.index)


def _buckets(frame: pd.DataFrame) -> list[str]:
    return [str(name) for name in frame.columns if name == "current" or bucket_measure(str(name))]


def _names(text: str) -> list[str]:
    return [found["name"] for found in _NAME.finditer(text)]


def _columns_in(text: str, frame: pd.DataFrame) -> list[str]:
    names = [name for found in _names(text) for name in (_buckets(frame) if found == _BUCKETS else [found])]
    return [name for name in names if name in frame]


def _evaluated(text: str, frame: pd.DataFrame) -> pd.Series[float]:
    parts: dict[str, Any] = {}

    def named(found: re.Match[str]) -> str:
        column = frame[_buckets(frame)].sum(axis=1, skipna=False) if found["name"] == _BUCKETS else frame[found["name"]]
        whole = found["of"]
        name = f"{'all' if whole else 'of'}_{found['name']}"
        parts[name] = column.sum() if whole else column
        return name

    expression = _NAME.sub(named, text)
    result: Any = pd.DataFrame(parts, index=frame.index).eval(expression, engine="python")
    return cast("pd.Series[float]", result)
