"""Read an edited Excel workbook, as `billframes export` wrote it and people changed it.

Columns are found by their headings, so they may be hidden or in another order; a heading can have rows above it. The
sheet says by its id column which resource it is. Texts lose the apostrophe that marks what would run as a formula. A
cell with an error, or with a formula whose result the file does not have, is not read as empty: it becomes a cell that
can't be sent.
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

from billframes._export import neutral
from billframes._names import snake_case
from billframes.bulk.columns import columns_of
from billframes.bulk.edited import Percentage
from billframes.errors import ConfigError, ParameterError
from billframes.schema.resources import CLIENTS, EXPENSES, FIXED_FEES, MATTERS, TIME_ENTRIES, Resource

__all__ = ["CellError", "read_workbook"]

# The first whose id a sheet has: records name others' ids, too.
_RESOURCES = (TIME_ENTRIES, EXPENSES, FIXED_FEES, MATTERS, CLIENTS)
# The heading is among the first rows.
_HEADING_WITHIN = 20
# In the sheet's part of the file.
_MERGED = re.compile(rb'<mergeCell [^>]*ref="([A-Z]+[0-9]+:[A-Z]+([0-9]+))"')
_HIDDEN = re.compile(rb'<row [^>]*hidden="(?:1|true)"[^>]*>')
_ROW_NUMBER = re.compile(rb' r="([0-9]+)"')
_SPELLED = re.compile(r"_x([0-9A-Fa-f]{4})_")


class CellError:
    """
    A cell without a value that can be used, such as `#REF!`.

    Parameters
    ----------
    shown : str
        What the cell shows.
    """

    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __str__(self) -> str:
        return self._shown


def read_workbook(path: Path) -> tuple[Resource, pd.DataFrame]:
    """
    Read the sheet with records.

    Parameters
    ----------
    path : Path
        An .xlsx file.

    Returns
    -------
    resource : Resource
        Whose records they are, by the id column.
    frame : DataFrame
        The cells as the file has them, by heading; missing ones are None. `attrs["first_row"]` is the sheet's row of
        the first record, `attrs["hidden"]` are the places of rows that are hidden, from 0.

    Raises
    ------
    ParameterError
        The file can't be read, no sheet or more than one has records, a heading stands twice, cells are merged, or
        the id's column is missing.
    ConfigError
        The Excel reader is not installed.
    """
    sheet, content, formulas = _read_sheet(path)
    _check_headings(sheet.names, path.name)
    _check_resource(sheet)
    _check_merged(content, sheet)
    places = {name: place for place, name in enumerate(sheet.names) if name}
    first = sheet.heading + 1
    lists = {
        name: [_value(row, place, formulas.get((at, place))) for at, row in enumerate(sheet.rows, start=first)]
        for name, place in places.items()
    }
    frame = pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in lists.items()})
    frame.attrs["first_row"] = first
    frame.attrs["hidden"] = [row - first for row in _hidden(content) if row >= first]
    return sheet.resource, frame


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet with records: its name, its part of the file, and the number and texts of its heading."""

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
        content = _content(path, found[0].part) if len(found) == 1 else b""
        formulas = _formulas(path, found[0].name) if b"<f>" in content or b"<f " in content else {}
    except ParameterError:
        raise
    except Exception as error:
        # openpyxl raises whatever its parsers do for a damaged file.
        raise ParameterError(
            f"{path.name} can't be read as an Excel workbook: it is damaged, or of another format "
            f"({type(error).__name__})."
        ) from error
    if not found:
        ids = ", ".join(snake_case(each.id) for each in _RESOURCES)
        raise ParameterError(f"{path.name} has no sheet with records: none has one of the columns {ids}.")
    if len(found) > 1:
        named = ", ".join(repr(each.name) for each in found)
        raise ParameterError(f"{path.name} has several sheets with records ({named}); keep one of them.")
    return found[0], content, formulas


def _records(sheet: Any) -> _Sheet | None:
    """Return a sheet's records; None if it has none."""
    # Some programs write a wrong size of the sheet.
    sheet.reset_dimensions()
    rows: Iterator[Sequence[Any]] = iter(sheet.iter_rows())
    for number, row in zip(range(1, _HEADING_WITHIN + 1), rows, strict=False):
        names = [_heading(cell.value) for cell in row]
        resource = next((each for each in _RESOURCES if snake_case(each.id) in names), None)
        if resource is not None:
            # openpyxl does not say otherwise what it reads.
            return _Sheet(sheet.title, sheet._worksheet_path, resource, number, names, list(rows))
    return None


def _heading(value: Any) -> str:
    return str(_plain(value)).strip() if value is not None else ""


def _check_headings(names: Iterable[str], file: str) -> None:
    twice = [name for name, uses in Counter(filter(None, names)).items() if uses > 1]
    if twice:
        raise ParameterError(f"{file} has the heading {twice[0]!r} more than once; rename or delete one column.")


def _check_resource(sheet: _Sheet) -> None:
    """Refuse a sheet whose own id was deleted: its rows would be taken for the records that they name."""
    headings = set(sheet.names)
    like = max((sheet.resource, *_RESOURCES), key=lambda each: len(headings & columns_of(each).keys()))
    if like is not sheet.resource:
        raise ParameterError(
            f"The rows of the sheet {sheet.name!r} look like {like.name.replace('_', ' ')}, but it has no column "
            f"{snake_case(like.id)!r}. Add it; it is empty in rows that are to be created."
        )


def _value(row: Sequence[Any], place: int, formula: str | None) -> Any:
    """Return a cell's value; `formula` is what it calculates, if it does."""
    cell = row[place] if place < len(row) else None
    if getattr(cell, "data_type", "") == "e":
        return CellError(str(cell.value) if cell else "")
    value = cell.value if cell is not None else None
    if value is None and formula:
        return CellError(f"{formula} (without its result; calculate it, and save the file again)")
    if cell is not None and isinstance(value, float | int) and "%" in str(cell.number_format):
        return Percentage(value)
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a text without the apostrophe that marks it, and with the characters that the file can only spell."""
    if not isinstance(value, str):
        return value
    text = _SPELLED.sub(lambda found: chr(int(found[1], 16)), value)
    return text[1:] if text.startswith("'") and neutral(text[1:]) == text else text


def _check_merged(content: bytes, sheet: _Sheet) -> None:
    """Refuse merged cells: all but one of them are empty in the file, although the sheet shows one value for all."""
    for place, last in _MERGED.findall(content):
        if int(last) > sheet.heading:
            raise ParameterError(
                f"The sheet {sheet.name!r} has merged cells ({place.decode()}). Only the first of them has the value, "
                "and the others would be emptied: unmerge them, and fill every cell."
            )


def _hidden(content: bytes) -> list[int]:
    """Return the numbers of the rows that a filter or a person has hidden."""
    numbers = (_ROW_NUMBER.search(row) for row in _HIDDEN.findall(content))
    return [int(number[1]) for number in numbers if number]


def _content(path: Path, part: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(part.lstrip("/"))


def _formulas(path: Path, sheet: str) -> dict[tuple[int, int], str]:
    """Return the formulas of a sheet by row, counted from 1, and column, counted from 0."""
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
