"""The cells of a workbook: where those of a table are on its sheet, and how numbers, days and texts are written."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._shared.export import excel_text
from billframes.report.table_spec import ReportTable

WRITER_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
# XML can't contain control characters.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_RELATIVE, _ABSOLUTE = 1e-9, 1e-6


@dataclass(frozen=True)
class SheetRange:
    """Where the rows and the total of a table are on its sheet. Rows have the numbers that the sheet shows."""

    table: ReportTable

    @property
    def name(self) -> str:
        """The name of the sheet."""
        return self.table.sheet or sheet_name(self.table.title)

    @property
    def heading(self) -> int:
        """The number of the row with the headings, below the title of a table on a planned sheet, and the note."""
        return self.table.above + 1 + bool(self.table.sheet) + bool(self.table.notes)

    @property
    def first(self) -> int:
        """The number of the first row."""
        return self.heading + 1

    @property
    def sheet(self) -> str:
        """The name of the sheet as a formula on another sheet writes it."""
        return "'" + self.name.replace("'", "''") + "'!"

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.first + len(self.table.rows) - 1

    @property
    def total(self) -> int:
        """The number of the row with the total, below an empty row."""
        return self.last + 2

    @property
    def columns(self) -> list[str]:
        """The names of the columns in order."""
        return [*self.table.labels, *(each.name for each in self.table.columns)]

    def letter(self, name: str) -> str:
        """Return the letters of a column."""
        from xlsxwriter.utility import xl_col_to_name

        return str(xl_col_to_name(self.columns.index(name)))

    def column(self, name: str) -> str:
        """Return the cells of a column in all rows."""
        letter = self.letter(name)
        return f"{letter}${self.first}:{letter}${self.last}"


def is_close(found: float, value: float) -> bool:
    """Tell whether a formula gives the figure of a frame, but for rounding."""
    return math.isclose(found, value, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)


def sheet_name(title: str) -> str:
    """Shorten a title to the name of a sheet, which Excel limits to 31 characters."""
    return title if len(title) <= 31 else title[:32].rpartition(" ")[0]


def write_cell(page: Any, row: int, column: int, value: Any, form: Any) -> None:
    """Write a number, a date or text with its type. Missing values are empty cells."""
    if isinstance(value, str):
        if value:
            page.write_string(row, column, str(excel_text(_CONTROL.sub(" ", value))), form)
        else:
            page.write_blank(row, column, None, form)
    elif pd.isna(value) or (isinstance(value, float) and not math.isfinite(value)):
        page.write_blank(row, column, None, form)
    elif isinstance(value, pd.Timestamp):
        page.write_datetime(row, column, value.to_pydatetime(), form)
    else:
        # Rounding errors in sums of cents would show as -0.00.
        page.write_number(row, column, round(float(value), 8) + 0.0, form)


def write_figure(page: Any, row: int, column: int, value: Any, form: Any, formula: str) -> None:
    """Write a figure with the formula that makes it; without one, as `write_cell` does."""
    if formula:
        known = not pd.isna(value) and math.isfinite(value)
        page.write_formula(row, column, formula, form, round(float(value), 8) + 0.0 if known else "")
    else:
        write_cell(page, row, column, value, form)
