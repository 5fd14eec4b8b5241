"""Open a report that an accounting system exported: CSV or Excel, as rows of cells."""

from __future__ import annotations

import csv
import datetime as dt
import io
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from billframes._shared.limits import beyond, decode_text, open_limited
from billframes._shared.messages import warn
from billframes._shared.workbook_archive import DamagedWorkbookError
from billframes._shared.workbook_sheets import CellError, Workbook
from billframes.errors import BillframesError, IncompleteDataWarning, LedgerError

_ZIP, _OLD_EXCEL = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
# Lines in which separators are counted: titles and headings.
_FIRST_LINES = 20
_TITLE = 200


@dataclass(frozen=True, slots=True)
class Cells:
    """
    The rows of a report that have a value, by number: texts, numbers, dates and `CellError`; None is empty.

    `padded` rows have a cell for each column, also for empty ones at their end. `merged` is the last row with merged
    cells, and their places.
    """

    file: str
    rows: list[tuple[int, list[Any]]]
    padded: bool
    merged: tuple[int, str] = (0, "")

    def first_texts(self, count: int) -> list[str]:
        """Return the first value of each of the first rows as text; titles are short."""
        return [str(next(cell for cell in cells if cell is not None))[:_TITLE] for _, cells in self.rows[:count]]


def is_unsaved(cell: object) -> bool:
    """Tell whether a cell has a formula without a saved result."""
    return isinstance(cell, CellError) and cell.shown.startswith("=")


def read_cells(source: str | bytes | os.PathLike[str], max_bytes: int, max_cells: int) -> Cells:
    """Read a CSV file or the only sheet of an Excel file."""
    file = "The report" if isinstance(source, bytes) else Path(source).name
    with open_limited(source, max_bytes) as stream:
        beginning = stream.read(4)
        stream.seek(0)
        if beginning == _OLD_EXCEL:
            raise LedgerError(f"{file} is an Excel file of an old format; save it as .xlsx, or export it again.")
        if beginning == _ZIP:
            return _read_excel(stream, file, max_bytes, max_cells)
        return Cells(file, list(_csv_rows(_decode(stream.read(), file), file, max_cells)), padded=True)


def _read_excel(stream: BinaryIO, file: str, max_bytes: int, max_cells: int) -> Cells:
    try:
        with closing(Workbook(stream, max_bytes, max_cells, file)) as book:
            count = len(book.sheets)
            rows, merged = book.rows(book.sheets[0][1]) if count == 1 else ([], (0, ""))
    except BillframesError:
        raise
    except Exception as error:
        # A damaged file can raise any error of the parser and of the converters of numbers and dates.
        reason = str(error) if isinstance(error, DamagedWorkbookError) else type(error).__name__
        raise LedgerError(f"{file} can't be read as an Excel workbook: it is damaged ({reason}).") from error
    if count != 1:
        raise LedgerError(f"{file} has {count} sheets; export the report again, or keep one of them.")
    cleaned = ((number, [_clean(cell) for cell in cells]) for number, cells in rows)
    return Cells(file, [each for each in cleaned if _has_value(each[1])], padded=False, merged=merged)


def _decode(content: bytes, file: str) -> str:
    try:
        text, encoding = decode_text(content)
    except UnicodeDecodeError as error:
        raise LedgerError(
            f"{file} begins as {error.encoding} text, but is not, so it is cut off or damaged: export it again."
        ) from error
    if encoding == "cp1252":
        warn(
            f"{file} is not UTF-8: another program opened and saved it. It is read as Windows-1252, so check the names "
            "with accents.",
            IncompleteDataWarning,
        )
    return text


def _csv_rows(text: str, file: str, max_cells: int) -> Iterator[tuple[int, list[Any]]]:
    head = "\n".join(text[:100_000].splitlines()[:_FIRST_LINES])
    # Excel saves with semicolons where the comma separates decimals.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count), strict=True)
    count = 0
    try:
        for number, row in enumerate(reader, 1):
            count += max(len(row), 1)
            if count > max_cells:
                raise beyond(file, max_cells, "cells", "max_cells", "Choose a shorter period.")
            cells = [_clean(cell) for cell in row]
            if _has_value(cells):
                yield number, cells
    except csv.Error as error:
        if "end of data" in str(error):
            raise LedgerError(f"{file} has a quoted cell without an end, so it is cut off: export it again.") from error
        raise LedgerError(f"{file}, line {reader.line_num} can't be read as CSV: {error}.") from error


def _clean(cell: Any) -> Any:
    if isinstance(cell, str):
        return cell.strip() or None
    return cell.date() if isinstance(cell, dt.datetime) else cell


def _has_value(cells: list[Any]) -> bool:
    return any(cell is not None for cell in cells)
