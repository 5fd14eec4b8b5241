"""Read the sheets of an .xlsx file in one pass, and keep only the columns that have a heading.

openpyxl only converts dates. Its parser makes an empty row for each gap, and an object for each cell and each format in
a file's list of styles.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from billframes._shared.workbook_archive import (
    NUMBER,
    PERCENT,
    SPAN,
    Archive,
    DamagedWorkbookError,
    Formats,
    Strings,
    TextReader,
    plain,
)
from billframes.errors import ConfigError

# Excel's last row, and its columns.
_LAST_ROW, _COLUMNS = 1_048_576, 16_384
_TRUE = frozenset({"1", "true"})
# QuickBooks writes amounts as formulas such as =1400.00, without results.
_ONE_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?")


class Percentage(float):
    """A number that the workbook shows as a percentage."""

    def __str__(self) -> str:
        return f"{float(self):.10g} (shown as a percentage)"


@dataclass(frozen=True, slots=True)
class CellError:
    """A cell without a usable value, and the text that it shows, such as `#REF!`."""

    shown: str

    def __str__(self) -> str:
        return self.shown


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """
    A sheet with its row of headings, numbered from 1.

    `columns` are the values below each heading, all of one length. `hidden` are the numbers of hidden rows, and
    `merged` are cells below the headings that are merged, such as "B3:B7".
    """

    heading: int
    names: list[str]
    columns: list[list[Any]]
    hidden: list[int]
    merged: str


class Workbook(Archive):
    """The sheets of an open .xlsx file."""

    def __init__(self, source: Path | BinaryIO, max_bytes: int, max_cells: int, name: str = "") -> None:
        try:
            from openpyxl.utils.datetime import CALENDAR_MAC_1904, WINDOWS_EPOCH
        except ImportError:
            raise ConfigError("Reading Excel files needs openpyxl: pip install 'billframes[excel]'.") from None
        super().__init__(source, max_bytes, max_cells, name)
        main = next(target for kind, target in self.targets("").values() if kind == "officeDocument")
        listed: list[dict[str, str]] = []
        properties: dict[str, str] = {}
        self.parse(main, {"sheet": listed.append, "workbookPr": properties.update})
        self.epoch = CALENDAR_MAC_1904 if properties.get("date1904") in _TRUE else WINDOWS_EPOCH
        targets = self.targets(main)
        # The attribute's namespace depends on the edition.
        keys = [next(each[name] for name in each if name.endswith("/relationships id")) for each in listed]
        self.sheets = [
            (sheet["name"], targets[key][1])
            for sheet, key in zip(listed, keys, strict=True)
            if targets[key][0] == "worksheet"
        ]
        parts = dict(targets.values())
        self.formats = Formats(self, parts["styles"]).formats if "styles" in parts else [NUMBER]
        self.strings = Strings(self, parts["sharedStrings"]).texts if "sharedStrings" in parts else []

    def read(self, part: str, is_heading: Callable[[list[str]], bool], first_rows: int) -> ReadSheet | None:
        """Read a sheet; return None if `is_heading` is False for the texts of each of its first rows."""
        reader = _SheetReader(self, is_heading, first_rows)
        try:
            reader.read(part)
        except _NoHeadingsError:
            return None
        return reader.sheet()

    def rows(self, part: str) -> tuple[list[tuple[int, list[Any]]], tuple[int, str]]:
        """
        Return the number and the cells of each row that has a value, and the last row with merged cells with their
        places.

        A formula without a saved result, or with 0, is a `CellError` that begins with "="; one number is that number.
        """
        reader = _RowReader(self, lambda names: False, 0)
        reader.read(part)
        return reader.found, reader.merged


class _NoHeadingsError(Exception):
    """A sheet has no headings in its first rows."""


class _SheetReader(TextReader):
    def __init__(self, book: Workbook, is_heading: Callable[[list[str]], bool], first_rows: int) -> None:
        super().__init__()
        self._book, self._is_heading, self._first_rows = book, is_heading, first_rows
        self._names: dict[int, str] = {}
        self._columns: dict[int, list[Any]] = {}
        self._heading = self._row = self._column = self._most_rows = self._longest = 0
        self._hidden: list[int] = []
        self.merged = (0, "")
        self._places: dict[str, int] = {}
        self._attributes: dict[str, str] = {}
        self._value = ""
        self._formula: str | None = None
        self._convert: dict[str, Callable[[str], Any]] = {
            "s": self._shared,
            "str": plain,
            "b": _flag,
            "e": CellError,
            "d": _iso_date,
        }

    def read(self, part: str) -> None:
        """Read the part of the file."""
        self._book.parse(
            part,
            self.starts
            | {"row": self._begin_row, "c": self._begin_cell, "mergeCell": self._merge}
            | dict.fromkeys(("v", "f"), self.begin_text),
            self.ends | {"row": self._end_row, "c": self._end_cell, "v": self._end_value, "f": self._end_formula},
            self.pieces.append,
        )

    def sheet(self) -> ReadSheet | None:
        """Return what was read."""
        if not self._heading:
            return None
        for column in self._columns.values():
            column.extend([None] * (self._longest - len(column)))
        last, merged = self.merged
        return ReadSheet(
            self._heading,
            list(self._names.values()),
            list(self._columns.values()),
            [row for row in self._hidden if self._heading < row <= self._heading + self._longest],
            merged if last > self._heading else "",
        )

    def _begin_row(self, attributes: dict[str, str]) -> None:
        number = int(attributes.get("r", self._row + 1))
        if not self._row < number <= _LAST_ROW:
            raise DamagedWorkbookError("its rows are not in order")
        self._row, self._column = number, 0
        if not self._heading and number > self._first_rows:
            raise _NoHeadingsError
        if attributes.get("hidden") in _TRUE:
            self._hidden.append(number)

    def _end_row(self) -> None:
        if self._heading:
            return
        if self._is_heading(list(self._names.values())):
            self._heading = self._row
            self._columns = {place: [] for place in self._names}
            self._most_rows = self._book.max_cells // len(self._names)
        else:
            self._names.clear()

    def _begin_cell(self, attributes: dict[str, str]) -> None:
        self._book.count_cells()
        self._attributes, self._value, self._formula = attributes, "", None
        self.runs.clear()

    def _end_value(self) -> None:
        self._value = "".join(self.pieces)

    def _end_formula(self) -> None:
        self._formula = "".join(self.pieces)

    def _end_cell(self) -> None:
        self._column = place = self._place(self._attributes.get("r"))
        if not self._heading:
            name = str(self._cell_value() or "").strip()
            if name:
                self._names[place] = name
            return
        column = self._columns.get(place)
        value = self._cell_value() if column is not None else None
        if column is None or value is None:
            return
        at = self._row - self._heading
        if at > self._most_rows:
            raise self._book.too_many_cells(self._row)
        if len(column) >= at:
            raise DamagedWorkbookError("a cell is there twice")
        column.extend([None] * (at - 1 - len(column)))
        column.append(value)
        self._longest = max(self._longest, at)

    def _place(self, reference: str | None) -> int:
        if reference is None:
            return self._column + 1
        letters = reference.rstrip("0123456789")
        if reference[len(letters) :] != str(self._row):
            raise DamagedWorkbookError("a cell is not in its row")
        place = self._places.get(letters)
        if place is None:
            place = self._places[letters] = _column_number(letters)
        return place

    def _cell_value(self) -> Any:
        kind, text = self._attributes.get("t", "n"), self._value
        if self._is_one_number():
            return self._number(self._formula or "")
        if kind == "inlineStr":
            return plain("".join(self.runs)) or None
        if not text:
            if self._formula is not None:
                return CellError(f"={self._formula} (without its result; calculate it, and save the file again)")
            return None
        return self._number(text) if kind == "n" else self._convert[kind](text)

    def _is_one_number(self) -> bool:
        """Tell whether the cell has a formula that needs no calculation."""
        return self._formula is not None and bool(_ONE_NUMBER.fullmatch(self._formula))

    def _shared(self, text: str) -> str:
        number = int(text)
        if number < 0:
            raise DamagedWorkbookError("a text has a negative number")
        return self._book.strings[number]

    def _number(self, text: str) -> Any:
        style = int(self._attributes.get("s", 0))
        if style < 0:
            raise DamagedWorkbookError("a style has a negative number")
        value = float(text) if "." in text or "E" in text or "e" in text else int(text)
        kind = self._book.formats[style]
        if kind == NUMBER:
            return value
        return Percentage(value) if kind == PERCENT else _date(value, self._book.epoch, is_span=kind == SPAN)

    def _merge(self, attributes: dict[str, str]) -> None:
        places = attributes["ref"]
        last = int(places.rpartition(":")[2].lstrip("$ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
        self.merged = max(self.merged, (last, places), key=lambda each: each[0])


class _RowReader(_SheetReader):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.found: list[tuple[int, list[Any]]] = []

    def _begin_row(self, attributes: dict[str, str]) -> None:
        self._first_rows = _LAST_ROW
        super()._begin_row(attributes)

    def _end_row(self) -> None:
        pass

    def _end_cell(self) -> None:
        self._column = place = self._place(self._attributes.get("r"))
        value = self._cell_value()
        if self._formula is not None and value == 0 and not self._is_one_number():
            value = CellError(f"={self._formula}")
        if value is None:
            return
        if not self.found or self.found[-1][0] != self._row:
            self.found.append((self._row, []))
        cells = self.found[-1][1]
        if len(cells) >= place:
            raise DamagedWorkbookError("a cell is there twice")
        # Rows with a single cell far to the right would need more memory than the file.
        self._book.count_cells(place - 1 - len(cells))
        cells.extend([None] * (place - 1 - len(cells)))
        cells.append(value)


def _column_number(letters: str) -> int:
    """Return the number of a column from 1, such as 27 for "AA"."""
    number = 0
    if 0 < len(letters) <= 3 and letters.isascii() and letters.isupper():
        for letter in letters:
            number = number * 26 + ord(letter) - 64
    if not 0 < number <= _COLUMNS:
        raise DamagedWorkbookError("a cell is in no column")
    return number


def _flag(text: str) -> bool:
    return bool(int(text))


def _date(value: float, epoch: Any, *, is_span: bool) -> Any:
    from openpyxl.utils.datetime import from_excel

    try:
        return from_excel(value, epoch, timedelta=is_span)
    except (OverflowError, ValueError):
        return CellError(f"{value} (shown as a date, and there is no such date)")


def _iso_date(text: str) -> Any:
    from openpyxl.utils.datetime import from_ISO8601

    return from_ISO8601(text)
