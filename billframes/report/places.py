"""Find a table's cells on its sheet of the workbook."""

from __future__ import annotations

import math
from dataclasses import dataclass

from billframes.report.definitions import sheet_name
from billframes.report.table_spec import ReportTable

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

    def letter(self, name: str) -> str:
        """Return the letters of a column."""
        from xlsxwriter.utility import xl_col_to_name

        columns = [*self.table.labels, *(each.name for each in self.table.columns)]
        return str(xl_col_to_name(columns.index(name)))

    def column(self, name: str) -> str:
        """Return the cells of a column in all rows."""
        letter = self.letter(name)
        return f"{letter}${self.first}:{letter}${self.last}"


def is_close(found: float, value: float) -> bool:
    """Tell whether a formula gives the figure of a frame, but for rounding."""
    return math.isclose(found, value, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
