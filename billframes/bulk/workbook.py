"""Read an Excel workbook that `billframes export` wrote and people edited.

Columns are found by their headings, so they can be hidden or in another order, and there can be rows above the
headings. The column of ids shows which resource a sheet has. The apostrophe is removed that marks a text which would
otherwise run as a formula. A cell with an error, or with a formula whose result is not in the file, is not read as
empty. It becomes a cell that can't be sent.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._export import neutralize
from billframes.bulk.columns import columns_of
from billframes.bulk.edited_frame import Percentage
from billframes.errors import ConfigError, ParameterError
from billframes.schema.resources import CLIENTS, EXPENSES, FIXED_FEES, MATTERS, TIME_ENTRIES, Resource

__all__ = ["CellError", "read_workbook"]

# In this order, because records also have the ids of others: the first resource whose id a sheet has is the sheet's.
_RESOURCES = (TIME_ENTRIES, EXPENSES, FIXED_FEES, MATTERS, CLIENTS)
# The row of headings is searched in the first rows.
_FIRST_ROWS = 20
# Patterns in the XML of a sheet.
_MERGED_CELLS = re.compile(rb'<mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+([0-9]+))"')
_HIDDEN_ROW = re.compile(rb'<row [^>]*hidden="(?:1|true)"[^>]*>')
_ROW_NUMBER = re.compile(rb' r="([0-9]+)"')
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True, slots=True)
class CellError:
    """A cell without a usable value, and the text that it shows, such as `#REF!`."""

    shown: str

    def __str__(self) -> str:
        return self.shown


def read_workbook(path: Path) -> tuple[Resource, pd.DataFrame]:
    """
    Read the sheet that has records.

    Parameters
    ----------
    path : Path
        An .xlsx file.

    Returns
    -------
    resource : Resource
        The resource of the records, by the column of ids.
    frame : DataFrame
        The cells as they are in the file, by heading; None is missing. `attrs["first_row"]` is the row of the first
        record in the sheet. `attrs["hidden"]` are the positions of hidden rows in the frame, from 0.

    Raises
    ------
    ParameterError
        The file can't be read, no sheet or more than one has records, a heading is there twice, cells are merged, or
        the column of ids is missing.
    ConfigError
        The Excel reader is not installed.
    """
    sheet, xml, formulas = _read_sheet(path)
    _check_headings(sheet.names, path.name)
    _check_resource(sheet)
    _check_merged(xml, sheet)
    places = {name: place for place, name in enumerate(sheet.names) if name}
    first = sheet.heading + 1
    lists = {
        name: [_value(row, place, formulas.get((at, place))) for at, row in enumerate(sheet.rows, start=first)]
        for name, place in places.items()
    }
    frame = pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in lists.items()})
    frame.attrs["first_row"] = first
    frame.attrs["hidden"] = [row - first for row in _hidden_rows(xml) if row >= first]
    return sheet.resource, frame


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet with records: its name, its part of the file, the number and texts of its headings' row, and its rows."""

    name: str
    part: str
    resource: Resource
    heading: int
    names: list[str]
    rows: list[Sequence[Any]]


def _read_sheet(path: Path) -> tuple[_Sheet, bytes, dict[tuple[int, int], str]]:
    """Return the only sheet with records, its part of the file, and its formulas by row and place."""
    try:
        import openpyxl
    except ImportError:
        raise ConfigError("Reading Excel files needs openpyxl: pip install 'billframes[excel]'.") from None
    if not path.is_file():
        raise ParameterError(f"There is no file {path}.")
    try:
        # Read-only workbooks keep the file open.
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
            found = [each for sheet in book.worksheets if (each := _records(sheet)) is not None]
        xml = _sheet_xml(path, found[0].part) if len(found) == 1 else b""
        formulas = _formulas(path, found[0].name) if b"<f>" in xml or b"<f " in xml else {}
    except ParameterError:
        raise
    except Exception as error:
        # For a damaged file, openpyxl raises the errors of its parsers.
        raise ParameterError(
            f"{path.name} can't be read as an Excel workbook: it is damaged, or of another format "
            f"({type(error).__name__})."
        ) from error
    if not found:
        ids = ", ".join(each.id_column for each in _RESOURCES)
        raise ParameterError(f"{path.name} has no sheet with records: no sheet has one of the columns {ids}.")
    if len(found) > 1:
        named = ", ".join(repr(each.name) for each in found)
        raise ParameterError(f"{path.name} has several sheets with records ({named}); keep one of them.")
    return found[0], xml, formulas


def _records(sheet: Any) -> _Sheet | None:
    """Return a sheet's records; None if it has none."""
    # Some programs store a wrong size of the sheet.
    sheet.reset_dimensions()
    rows: Iterator[Sequence[Any]] = iter(sheet.iter_rows())
    for number, row in zip(range(1, _FIRST_ROWS + 1), rows, strict=False):
        names = [_heading(cell.value) for cell in row]
        resource = next((each for each in _RESOURCES if each.id_column in names), None)
        if resource is not None:
            # openpyxl has no public name for the sheet's part of the file.
            return _Sheet(sheet.title, sheet._worksheet_path, resource, number, names, list(rows))
    return None


def _heading(value: Any) -> str:
    return str(_unescaped(value)).strip() if value is not None else ""


def _check_headings(names: Iterable[str], file: str) -> None:
    repeated = [name for name, uses in Counter(filter(None, names)).items() if uses > 1]
    if repeated:
        raise ParameterError(f"{file} has the heading {repeated[0]!r} more than once; rename or delete one column.")


def _check_resource(sheet: _Sheet) -> None:
    """Refuse a sheet whose own column of ids was deleted: its rows would be read as other records, such as matters."""
    headings = set(sheet.names)
    most_similar = max((sheet.resource, *_RESOURCES), key=lambda each: len(headings & columns_of(each).keys()))
    if most_similar is not sheet.resource:
        nouns = most_similar.nouns
        raise ParameterError(
            f"The rows of the sheet {sheet.name!r} look like {nouns}, but it has no column "
            f"{most_similar.id_column!r}. Add it; it is empty in rows that are to be created."
        )


def _value(row: Sequence[Any], place: int, formula: str | None) -> Any:
    """Return a cell's value; `formula` is the cell's formula, if it has one."""
    cell = row[place] if place < len(row) else None
    if getattr(cell, "data_type", "") == "e":
        return CellError(str(cell.value) if cell else "")
    value = cell.value if cell is not None else None
    if value is None and formula:
        return CellError(f"{formula} (without its result; calculate it, and save the file again)")
    if cell is not None and isinstance(value, float | int) and "%" in str(cell.number_format):
        return Percentage(value)
    return _unescaped(value)


def _unescaped(value: Any) -> Any:
    """Return a text without the apostrophe that marks it, and with the characters that XML has to escape."""
    if not isinstance(value, str):
        return value
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
    return text[1:] if text.startswith("'") and neutralize(text[1:]) == text else text


def _check_merged(xml: bytes, sheet: _Sheet) -> None:
    """Refuse merged cells: the sheet shows one value for all of them, and in the file only the first one has it."""
    for place, last in _MERGED_CELLS.findall(xml):
        if int(last) > sheet.heading:
            raise ParameterError(
                f"The sheet {sheet.name!r} has merged cells ({place.decode()}). Only the first of them has the value, "
                "and the others would be emptied: unmerge them, and fill every cell."
            )


def _hidden_rows(xml: bytes) -> list[int]:
    """Return the numbers of the rows that are hidden, by a filter or by hand."""
    numbers = (_ROW_NUMBER.search(row) for row in _HIDDEN_ROW.findall(xml))
    return [int(number[1]) for number in numbers if number]


def _sheet_xml(path: Path, part: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(part.lstrip("/"))


def _formulas(path: Path, sheet: str) -> dict[tuple[int, int], str]:
    """Return the formulas of a sheet by row, from 1, and column, from 0."""
    import openpyxl

    with closing(openpyxl.load_workbook(path, read_only=True)) as book:
        page = book[sheet]
        page.reset_dimensions()
        return {
            (number, place): str(cell.value)
            for number, row in enumerate(page.iter_rows(), start=1)
            for place, cell in enumerate(row)
            if getattr(cell, "data_type", "") == "f"
        }
