"""Read the text formats, 1998B and 98BI, line by line.

Some files have other line ends, a byte-order mark, Latin-1 text, repeated headings (if two files were joined), or lines
without `[]` or with too few columns. Reading continues after each of these problems, and each becomes a finding.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from billframes._shared.limits import marked_encoding
from billframes._shared.messages import cut
from billframes.ebilling.ledes_formats import END, FIELDS, LEDES_98BI, LEDES_98BI_51, LEDES_1998B, OFTEN, LedesFormat
from billframes.ebilling.parsed_file import ParsedFile, unknown_format
from billframes.errors import LedesFormatError

_BY_WIDTH = {len(form.fields): form for form in (LEDES_1998B, LEDES_98BI, LEDES_98BI_51)}
_NAMES = frozenset(LEDES_98BI.labels)
_ONLY_98BI = _NAMES.difference(LEDES_1998B.labels)
# A first line without spaces, digits of the century, and what else software writes differently.
_FIRST_LINES = {"LEDES98B": LEDES_1998B, "LEDES98BI": LEDES_98BI, "LEDES98BIV2": LEDES_98BI}
_LONGEST_FIRST = 40
# Characters of the names that a heading lacks, in a finding.
_LONGEST_NAMES = 200
# Characters of a line. Some files have all records on one line.
_LONGEST_LINE = 10_000_000
_PIECE = 1 << 20
# Bytes with characters in Windows-1252 and none in Latin-1.
_WINDOWS = re.compile(rb"[\x80-\x9f]")
_LATIN_1 = "billframes.ledes.latin-1"
_Record = tuple[int, str]


def _keep_byte(error: UnicodeError) -> tuple[str, int]:
    """Decode one of the five bytes that Windows-1252 does not define as Latin-1 does."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - this codec only decodes
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error(_LATIN_1, _keep_byte)


def parse_text(stream: BinaryIO, parsed: ParsedFile, *, only_format: bool = False) -> LedesFormat:
    """
    Read a file into `parsed`, and return its format; `only_format` reads no further than to the first line of a bill.

    Raise `LedesFormatError` if it is not a LEDES file of a known format.
    """
    with io.TextIOWrapper(stream, *_encoding(stream, parsed), newline=None) as text:
        records = _records(text, parsed)
        first = next(records, None)
        if first is None:
            raise LedesFormatError("This is not a LEDES file: it is empty.")
        before = None if "|" in first[1] else first
        record = first if before is None else next(records, None)
        form = _format_of(before, record)
        _judge_first_line(before, form, parsed, first[0], len(_labels(record[1])) if record else 0)
        if not only_format:
            _Lines(form, parsed).read(chain([record] if record else [], records))
    return form


def _first_line_format(text: str) -> LedesFormat | None:
    if len(text) > _LONGEST_FIRST or "|" in text:
        return None
    return _FIRST_LINES.get("".join(text.upper().split()).rstrip("[];").replace("LEDES1998", "LEDES98"))


def _format_of(before: _Record | None, record: _Record | None) -> LedesFormat:
    """Return the format of a file. The heading decides; without one, the first line, or the number of columns."""
    said = _first_line_format(before[1]) if before else None
    labels = _labels(record[1]) if record else []
    width = record[1].count("|") + 1 if record else 0
    found = _headed(labels) if labels else _BY_WIDTH.get(width)
    if found and (labels or said is None or said.has_taxes == found.has_taxes):
        return found
    if said is None:
        raise unknown_format((before or record or (0, ""))[1])
    return said


def _headed(labels: list[str]) -> LedesFormat | None:
    """Return the format of a heading by its number of names, or 98BI if it has names that only 98BI has."""
    found = _BY_WIDTH.get(len(labels))
    return LEDES_98BI if found in {None, LEDES_1998B} and _ONLY_98BI.intersection(labels) else found


def _judge_first_line(before: _Record | None, form: LedesFormat, parsed: ParsedFile, number: int, names: int) -> None:
    fix = f"Write {form.first_line} as the first line."
    if before is None:
        parsed.report("the first line is missing", number, fix)
        return
    text = " ".join(before[1].upper().split())
    said = _first_line_format(text)
    is_version_2 = text == LEDES_98BI.first_line
    if said is not None and names and (said.has_taxes != form.has_taxes or (is_version_2 and form is LEDES_98BI_51)):
        parsed.report(f"the first line is that of {said.name}, but the heading has {names} names", number, fix)
    elif form is LEDES_98BI_51 and text in form.also:
        problem = "this is version 1 of 98BI with 51 fields; most portals take 52"
        parsed.report(problem, number, "Write LEDES98BI V2[] and 52 fields.", OFTEN)
    elif text in form.also:
        parsed.report(f"the usual first line is {form.first_line}", number, fix, OFTEN, before[1][:_LONGEST_FIRST])
    elif text != form.first_line:
        parsed.report(f"the first line is not {form.first_line}", number, fix, value=before[1][:_LONGEST_FIRST])


def _labels(record: str) -> list[str]:
    """Return the labels of a heading, which has more than half of the names; an empty list for other lines."""
    # A quick check first: each name has an underscore, and a heading has few names.
    if record.count("_") <= len(LEDES_1998B.fields) // 2 or record.count("|") > 2 * len(FIELDS):
        return []
    labels = [each.strip().upper() for each in record.split("|")]
    return labels if len(_NAMES.intersection(labels)) > len(LEDES_1998B.fields) // 2 else []


def _encoding(stream: BinaryIO, parsed: ParsedFile) -> tuple[str, str]:
    """Return the encoding (that of a byte-order mark, UTF-8, or Windows-1252), and how errors are treated."""
    encoding = marked_encoding(stream.read(4))
    stream.seek(0)
    if encoding is not None:
        has_mark = not encoding.endswith(("le", "be"))
        problem = "the file begins with a byte-order mark" if has_mark else "the text is in UTF-16"
        parsed.report(problem, 1, "Save it as ASCII, without a byte-order mark.")
        return encoding, "replace"
    if _is_utf_8(stream):
        return "utf-8", "strict"
    # The rules report the fields with characters that are not ASCII.
    if any(_WINDOWS.search(piece) for piece in _pieces(stream)):
        parsed.report("the text is in Windows-1252", None, "Save it as ASCII.", OFTEN)
    stream.seek(0)
    return "cp1252", _LATIN_1


def _is_utf_8(stream: BinaryIO) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in _pieces(stream):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        stream.seek(0)
    return True


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece


def _records(text: io.TextIOWrapper, parsed: ParsedFile) -> Iterator[_Record]:
    """Yield each record without its `[]`, or a first line as it is, and its line. A line can have several records."""
    number = 0
    while line := text.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            parsed.stop(f"the line has more than {_LONGEST_LINE:,} characters", number, "Begin a line after each [].")
        for record in _records_of(line, number, parsed):
            yield number, record
    ends = {text.newlines} if isinstance(text.newlines, str) else {*(text.newlines or ())}
    if ends - {"\r\n"}:
        kinds = "differ" if len(ends) > 1 else f"are {'LF' if ends == {chr(10)} else 'CR'}"
        parsed.report(f"line ends {kinds}", None, "End lines with CR and LF.", OFTEN)


def _records_of(line: str, number: int, parsed: ParsedFile) -> list[str]:
    if not line.strip():
        if line.endswith("\n"):
            parsed.report("the line is empty", number, "Leave it out.", OFTEN)
        return []
    if not line.endswith("\n") and not line.strip("\x1a \t"):
        return []
    if _first_line_format(line.strip()):
        return [line.strip()]
    *records, rest = line.rstrip().split(END)
    if rest.strip():
        parsed.report("the line does not end with []", number, "End it with [].")
        records.append(rest)
    elif len(records) > 1:
        parsed.report("several records are on one line", number, "Begin a line after each [].")
    return [record if _first_line_format(record) is None else record + END for record in records]


class _Lines:
    def __init__(self, form: LedesFormat, parsed: ParsedFile) -> None:
        self._parsed = parsed
        self._has_heading = False
        self._begin(form)

    def _begin(self, form: LedesFormat) -> None:
        self._part = self._parsed.part(form)
        self._width = len(form.fields)
        # The place of each field under another heading; None for a field that it lacks.
        self._places: list[int | None] | None = None
        self._is_headed = False

    def read(self, records: Iterator[_Record]) -> None:
        """Add all records."""
        for number, record in records:
            self._add(number, record)
        if not self._has_heading:
            self._parsed.report(
                "the line with the names of the fields is missing", None, "Write it as the second line."
            )
        if not any(part.numbers for part in self._parsed.parts.values()):
            self._parsed.report("there is no line of a bill", None, "Write a line for each item.")

    def _add(self, number: int, record: str) -> None:
        if labels := _labels(record):
            self._set_order(labels, number)
        elif said := _first_line_format(record):
            self._parsed.report("the file's first line is repeated", number, "Leave one, at the top of the file.")
            self._begin(said)
        else:
            self._add_line(number, record)

    def _set_order(self, labels: list[str], number: int) -> None:
        """Note the place of each field under a heading; report a heading that is not the format's."""
        if self._is_headed:
            fix = "Leave one line of them, the second of the file."
            self._parsed.report("the names of the fields are repeated", number, fix)
        form = _headed(labels) or self._part.form
        self._begin(form)
        self._is_headed = self._has_heading = True
        names = list(form.labels)
        if labels == names:
            return
        self._width = len(labels)
        self._places = [labels.index(name) if labels.count(name) == 1 else None for name in names]
        lacking = [name for name, place in zip(names, self._places, strict=True) if place is None]
        problem = f"the names of the fields are not those of LEDES {form.name} in their order"
        value = cut(f"without {', '.join(lacking)}" if lacking else "", _LONGEST_NAMES)
        self._parsed.report(problem, number, f"Write the {len(names)} names.", value=value)
        self._parsed.unnamed.update(lacking)

    def _add_line(self, number: int, record: str) -> None:
        width = self._width
        values = record.split("|", width)
        if len(values) != width:
            problem, count = f"the line does not have {width} columns", f"{record.count('|') + 1} columns"
            fix = "Write each field, also if it is empty."
            self._parsed.report(problem, number, fix, value=count)
            values = [*values, *([""] * width)][:width]
            self._part.broken.add(len(self._part.numbers))
        if self._places is not None:
            values = ["" if place is None else values[place] for place in self._places]
        self._parsed.add_line(self._part, number, values, len(record))
