"""Unpack and parse the parts of an .xlsx file: within limits, and without a declaration of a document type.

A part is unpacked and parsed piece by piece, and bytes and cells are counted, so that a small file that unpacks to
gigabytes is refused early. A declaration of a document type, by which a file could define entities, is refused. The
formats of numbers and the texts are parts that all sheets share.

openpyxl only decides which number formats are dates.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from billframes._shared.export import neutralize
from billframes._shared.limits import beyond
from billframes.errors import ParameterError

# The namespaces of the two editions of the standard, and of relationships.
_SPACES = (
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "http://schemas.openxmlformats.org/package/2006/relationships",
)
# Bytes that are unpacked at once. With less, expat would parse a long token again and again.
_PIECE = 1 << 20
_DEEPEST = 100
# The characters of a number format.
_FORMAT = 255
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
NUMBER, DATE, SPAN, PERCENT = range(4)
"""What a number is by its format."""

Starts = Mapping[str, Callable[[dict[str, str]], Any]]
Ends = Mapping[str, Callable[[], Any]]


class DamagedWorkbookError(Exception):
    """The file is not a workbook as the standard says."""


class Archive:
    """An open .xlsx file, and the most bytes and cells that it may have."""

    def __init__(self, source: Path | BinaryIO, max_bytes: int, max_cells: int, name: str = "") -> None:
        self._name = name or Path(getattr(source, "name", source)).name  # type: ignore[arg-type]
        self._max_bytes, self.max_cells = max_bytes, max_cells
        self._bytes = self._cells = 0
        self._archive = zipfile.ZipFile(source)
        names = self._archive.namelist()
        if len({*names}) < len(names):
            raise DamagedWorkbookError("two parts have one name")

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def count_cells(self, number: int = 1) -> None:
        """Count cells; raise `ParameterError` if there are too many."""
        self._cells += number
        if self._cells > self.max_cells:
            raise self.too_many_cells()

    def too_many_cells(self, row: int | None = None) -> ParameterError:
        """Return the error for too many cells, with the row of a value that is far down."""
        hint = "Delete its rows without records in the spreadsheet, and save it again."
        if row is not None:
            hint = f"It has a value in row {row:,}. {hint}"
        return beyond(self._name, self.max_cells, "cells", "max_cells (--max-cells)", hint)

    def targets(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the kind and the part of each relationship of a part, by its id."""
        folder, name = posixpath.split(part)
        listed: list[dict[str, str]] = []
        self.parse(posixpath.join(folder, "_rels", f"{name}.rels"), {"Relationship": listed.append})
        return {
            each["Id"]: (
                each["Type"].rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, each["Target"])).lstrip("/"),
            )
            for each in listed
            if each.get("TargetMode") != "External"
        }

    def parse(self, part: str, starts: Starts, ends: Ends | None = None, text: Any = None) -> None:
        """Parse a part of the file, with handlers of the starts and ends of elements, and one of texts."""
        starts = {f"{space} {tag}": each for space in _SPACES for tag, each in starts.items()}
        ends = {f"{space} {tag}": each for space in _SPACES for tag, each in (ends or {}).items()}
        depth = 0

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > _DEEPEST:
                raise DamagedWorkbookError("its elements are nested too deeply")
            handler = starts.get(tag)
            if handler is not None:
                handler(attributes)

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1
            handler = ends.get(tag)
            if handler is not None:
                handler()

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse_document_type
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
        with self._archive.open(part) as file:
            while piece := file.read(_PIECE):
                self._bytes += len(piece)
                if self._bytes > self._max_bytes:
                    raise beyond(self._name, self._max_bytes, "bytes when unpacked", "max_bytes (--max-bytes)")
                parser.Parse(piece, False)
            parser.Parse(b"", True)


def _refuse_document_type(*_: object) -> None:
    raise DamagedWorkbookError("it declares a document type")


class Formats:
    """The kind of number of each format in the part of styles."""

    def __init__(self, archive: Archive, part: str) -> None:
        self.formats: list[int] = []
        self._codes: dict[str, str] = {}
        self._kinds: dict[str, int] = {}
        self._section = ""
        sections = ("numFmts", "cellXfs")
        starts = {each: lambda _, each=each: self._enter(each) for each in sections}
        ends = {each: lambda: self._enter("") for each in sections}
        archive.parse(part, {**starts, "numFmt": self._code, "xf": self._format}, ends)

    def _enter(self, section: str) -> None:
        self._section = section

    def _code(self, attributes: dict[str, str]) -> None:
        if self._section == "numFmts":
            self._codes[attributes["numFmtId"]] = attributes["formatCode"]

    def _format(self, attributes: dict[str, str]) -> None:
        if self._section == "cellXfs":
            number = attributes.get("numFmtId", "0")
            if number not in self._kinds:
                self._kinds[number] = self._kind_of(number)
            self.formats.append(self._kinds[number])

    def _kind_of(self, number: str) -> int:
        from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format, is_timedelta_format

        code = self._codes.get(number) or BUILTIN_FORMATS.get(int(number), "General")
        if len(code) > _FORMAT:
            raise DamagedWorkbookError("a number format is too long")
        if is_date_format(code):
            return SPAN if is_timedelta_format(code) else DATE
        return PERCENT if "%" in code else NUMBER


class TextReader:
    """Collects texts that consist of runs, without the phonetic hints of East Asian texts."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.runs: list[str] = []
        self._is_phonetic = False
        self.starts: dict[str, Callable[[dict[str, str]], Any]] = {"t": self.begin_text, "rPh": self._begin_phonetic}
        self.ends: dict[str, Callable[[], Any]] = {"t": self._end_run, "rPh": self._end_phonetic}

    def begin_text(self, _: dict[str, str]) -> None:
        """Begin a run of text."""
        self.pieces.clear()

    def _begin_phonetic(self, _: dict[str, str]) -> None:
        self._is_phonetic = True

    def _end_phonetic(self) -> None:
        self._is_phonetic = False

    def _end_run(self) -> None:
        if not self._is_phonetic:
            self.runs.append("".join(self.pieces))


class Strings(TextReader):
    """The texts that cells refer to by number."""

    def __init__(self, archive: Archive, part: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._archive = archive
        archive.parse(part, self.starts, self.ends | {"si": self._end_string}, self.pieces.append)

    def _end_string(self) -> None:
        # Each is for one cell or more.
        if len(self.texts) >= self._archive.max_cells:
            raise self._archive.too_many_cells()
        self.texts.append(plain("".join(self.runs)))
        self.runs.clear()


def plain(text: str) -> str:
    """Return a text without the apostrophe that marks it, and with the characters that XML has to escape."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text
    return text[1:] if text.startswith("'") and neutralize(text[1:]) == text else text
