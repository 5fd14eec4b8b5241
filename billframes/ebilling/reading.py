"""Read LEDES 1998B files of any software, and list their problems line by line.

Some files have other line ends, a byte-order mark, Latin-1 text, repeated headings (if two files were joined), or lines
without `[]` or with too few columns. Reading continues after each of these problems, and each becomes a finding.

A file is never in memory as a whole. Its lines are read one by one, and the values of some thousand lines are packed
into Arrow columns in which a repeated value is there once. Reading stops at a limit of bytes and of findings.
"""

from __future__ import annotations

import codecs
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes._limits import LEDES_BYTES, LEDES_FINDINGS, checked_limit, open_limited
from billframes._messages import warn
from billframes.ebilling.findings import FILE_COLUMNS, OFTEN, REJECTED, Finding, Severity, findings_frame
from billframes.ebilling.format import COLUMNS, END, FIELDS, FIRST_LINE
from billframes.ebilling.rules import problems
from billframes.errors import IncompleteDataWarning, ParameterError

__all__ = ["check_file", "lines_frame", "read_ledes"]

_LINE_END = re.compile(r"[\r\n]")
_LABELS = {field.label: field.column for field in FIELDS}
_IN_ORDER = list(range(len(FIELDS)))
_ENCODINGS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_WIDTH = len(FIELDS)
# Lines, and characters, that are packed at once.
_LINES, _CHARACTERS = 10_000, 20_000_000
# Of so many lines, the least average of characters, so that memory is in proportion to the file's size. The fields that
# the format requires have more.
_MANY, _SHORTEST = 200_000, 60
# Characters of a line. Some files have all records on one line.
_LONGEST_LINE = 10_000_000
# Characters of a value in a finding. A long value can be in many of them.
_LONGEST_VALUE = 1_000
_PIECE = 1 << 20


class _StopError(Exception):
    """Reading stops here, because of the problem that was reported last."""


class _Columns:
    """The values of lines by column, packed."""

    def __init__(self) -> None:
        self._packed: dict[str, list[pa.DictionaryArray]] = {name: [] for name in COLUMNS}
        # One flat list, because a list for each line would cost the garbage collector seconds on large files.
        self._texts: list[str] = []
        self._unpacked = self.characters = 0

    def add(self, values: list[str], characters: int) -> bool:
        """Add a line; return whether lines were packed."""
        self._texts += values
        self._unpacked += characters
        if len(self._texts) < _LINES * _WIDTH and self._unpacked < _CHARACTERS:
            return False
        self.pack()
        return True

    def pack(self) -> None:
        """Pack the lines that were added last."""
        for place, packed in enumerate(self._packed.values()):
            packed.append(pa.array(self._texts[place::_WIDTH], pa.string()).dictionary_encode())
        self.characters += self._unpacked
        self._texts, self._unpacked = [], 0

    def lists(self) -> dict[str, list[str]]:
        """Return the columns as texts, and give up the packed ones."""
        return {name: list(_texts_of(self._packed.pop(name))) for name in COLUMNS}

    def frame(self) -> pd.DataFrame:
        """Return the columns as a frame, and give up the packed ones; an empty text is missing."""
        return pd.DataFrame({name: _series_of(self._packed.pop(name)) for name in COLUMNS})


def _texts_of(packed: Iterable[pa.DictionaryArray]) -> Iterator[str]:
    for each in packed:
        texts: list[str] = each.dictionary.to_pylist()
        yield from map(texts.__getitem__, each.indices.to_numpy().tolist())


def _series_of(packed: Iterable[pa.DictionaryArray]) -> pd.Series[str]:
    chunks = []
    for each in packed:
        texts = pc.if_else(pc.equal(each.dictionary, ""), None, each.dictionary)
        chunks.append(pa.DictionaryArray.from_arrays(each.indices, texts).cast(pa.large_string()))
    dtype: Any = pd.StringDtype(na_value=float("nan"))
    return pd.Series(dtype.__from_arrow__(pa.chunked_array(chunks, pa.large_string())))


@dataclass(slots=True)
class _FileLines:
    """The lines of a file: their texts, their numbers in the file, and the findings about the file."""

    max_findings: int
    columns: _Columns = field(default_factory=_Columns)
    numbers: list[int] = field(default_factory=list)
    broken: set[int] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    stopped: bool = False

    def report(self, problem: str, line: int | None, fix: str, severity: Severity = REJECTED, value: str = "") -> None:
        self.add(Finding(0, severity, problem, value, fix, line=line))

    def add(self, finding: Finding) -> None:
        """Add a finding; stop if there are too many."""
        if len(self.findings) >= self.max_findings:
            fix = "Correct these first, or raise max_findings."
            stop = f"there are more than {self.max_findings:,} findings, and the others are not listed"
            self.stop(stop, finding.line, fix)
        self.findings.append(finding)

    def stop(self, problem: str, line: int | None, fix: str) -> None:
        """Add a last finding, and stop."""
        self.findings.append(Finding(0, REJECTED, problem, "", fix, line=line))
        self.stopped = True
        raise _StopError


def read_ledes(
    source: str | bytes | os.PathLike[str], *, max_bytes: int = LEDES_BYTES, max_findings: int = LEDES_FINDINGS
) -> pd.DataFrame:
    r"""
    Read a LEDES 1998B file of any software.

    Parameters
    ----------
    source : path, str or bytes
        A file, or its content: a str that begins with "LEDES" or has a line break is content, not a path.
    max_bytes : int, default 100_000_000
        The most bytes that a file may have: about 500,000 lines.
    max_findings : int, default 100_000
        A file with more problems of its lines, such as a wrong number of columns, is refused.

    Returns
    -------
    DataFrame
        One row per line, with the format's 24 fields as columns in lower case (`line_item_total`). All values are texts
        as in the file, so that nothing is lost; an empty field is missing. `.map(Decimal)` converts amounts.

    Raises
    ------
    ParameterError
        The file can't be opened, or is beyond a limit.

    Warns
    -----
    IncompleteDataWarning
        Some lines don't have 24 columns, and are padded or cut. `ledes_check(path)` lists them.

    Examples
    --------
    >>> line = "20261105|10412|1004|1004-001|350.00|20261001|20261001||1|F|1.00||350.00|20261001|L110||A102|AL|Draft"
    >>> text = f"{FIRST_LINE}\r\n{'|'.join(_LABELS)}[]\r\n{line}|06-1|350.00|Lovelace, Ada|PARTNR|[]"
    >>> read_ledes(text)[["invoice_number", "timekeeper_name", "line_item_total"]]
      invoice_number timekeeper_name line_item_total
    0          10412   Lovelace, Ada          350.00
    """
    parsed = _parse(source, max_bytes, max_findings)
    if parsed.stopped:
        last = parsed.findings[-1]
        raise ParameterError(f"This is not a LEDES file that can be read: {last.problem}. {last.fix}")
    if parsed.broken or not parsed.numbers:
        broken = len(parsed.broken)
        problem = f"{broken:,} lines do not have {_WIDTH} columns" if broken else "there is no line of a bill"
        warn(f"In this LEDES file {problem}. ledes_check(path) lists all problems.", IncompleteDataWarning)
    return parsed.columns.frame()


def lines_frame(columns: dict[str, list[str]]) -> pd.DataFrame:
    """Return lines as a frame of texts; an empty text is missing."""
    frame = {name: pd.Series([text or None for text in columns[name]], dtype="str") for name in COLUMNS}
    return pd.DataFrame(frame)


def check_file(
    source: str | bytes | os.PathLike[str], *, max_bytes: int = LEDES_BYTES, max_findings: int = LEDES_FINDINGS
) -> pd.DataFrame:
    """Return all findings about a file, with one row per finding; see `ledes_check`."""
    parsed = _parse(source, max_bytes, max_findings)
    if not parsed.stopped:
        with suppress(_StopError):
            _check_lines(parsed)
    return findings_frame(parsed.findings, FILE_COLUMNS)


def _check_lines(parsed: _FileLines) -> None:
    """Add the findings about the values of the lines that have all columns."""
    columns = parsed.columns.lists()
    places = list(range(len(parsed.numbers)))
    skip: tuple[int, ...] = ()
    if parsed.broken:
        # Without the broken lines, the sum of the others can't be compared with the invoice's total.
        places = [at for at in places if at not in parsed.broken]
        columns = {name: [values[at] for at in places] for name, values in columns.items()}
        skip = (5,)
    invoices, items = columns["invoice_number"], columns["line_item_number"]
    for each in problems(columns, skip=skip, groups=invoices):
        found = Finding(each.field, each.severity, each.problem, _cut(each.value), "Correct it where the file is made.")
        found.invoice_number = _cut(invoices[each.at]) or None
        found.line = parsed.numbers[places[each.at]]
        if FIELDS[each.field - 1].subject == "item":
            found.item_id = _cut(items[each.at]) or None
        parsed.add(found)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _opened(source: str | bytes | os.PathLike[str], max_bytes: int) -> AbstractContextManager[BinaryIO]:
    """Open a file or its content; raise `ParameterError` if it is too large."""
    if isinstance(source, str) and (source.startswith("LEDES") or _LINE_END.search(source)):
        source = source.encode("utf-8", "surrogatepass")
    if not isinstance(source, str | bytes | os.PathLike):
        raise ParameterError(f"{type(source).__name__} is not a LEDES file; it takes a path, the text or its bytes.")
    return open_limited(source, max_bytes)


def _parse(source: str | bytes | os.PathLike[str], max_bytes: int, max_findings: int) -> _FileLines:
    parsed = _FileLines(checked_limit("max_findings", max_findings))
    with (
        _opened(source, checked_limit("max_bytes", max_bytes)) as stream,
        suppress(_StopError),
        io.TextIOWrapper(stream, _encoding(stream, parsed), "replace", newline=None) as text,
    ):
        _parse_lines(text, parsed)
    parsed.columns.pack()
    return parsed


def _parse_lines(text: io.TextIOWrapper, parsed: _FileLines) -> None:
    records = _records(text, parsed)
    first = next(records, None)
    if first is None:
        parsed.report("the file is empty", None, "Write it again.")
        return
    order: list[int] | None = None
    if first[1].strip().upper() != FIRST_LINE.removesuffix(END):
        parsed.report(f"the first line is not {FIRST_LINE}", first[0], "Write LEDES 1998B.", value=first[1][:20])
        order = _add_record(*first, order, parsed)
    for number, record in records:
        order = _add_record(number, record, order, parsed)
    if order is None:
        parsed.report("the line with the names of the fields is missing", None, "Write it as the second line.")
    if not parsed.numbers:
        parsed.report("there is no line of a bill", None, "Write a line for each item.")


def _add_record(number: int, record: str, order: list[int] | None, parsed: _FileLines) -> list[int] | None:
    """Add a line, or note a heading; return the place of each field from here on."""
    labels = _labels(record)
    if labels:
        return _column_order(labels, number, parsed, repeated=order is not None)
    if "|" not in record and record.strip().upper() == FIRST_LINE.removesuffix(END):
        parsed.report("the file's first line is repeated", number, "Leave one, at the top of the file.")
    else:
        _add_line(record, number, order, parsed)
    return order


def _encoding(stream: BinaryIO, parsed: _FileLines) -> str:
    """Return the encoding of a file: that of its byte-order mark, or UTF-8, or Latin-1, which can decode any bytes."""
    beginning = stream.read(3)
    stream.seek(0)
    mark = next((mark for mark in _ENCODINGS if beginning.startswith(mark)), None)
    if mark is not None:
        parsed.report("the file begins with a byte-order mark", 1, "Save it as ASCII, without a byte-order mark.")
        return _ENCODINGS[mark]
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while piece := stream.read(_PIECE):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        # The rules report the fields with characters that are not ASCII.
        return "latin-1"
    finally:
        stream.seek(0)
    return "utf-8"


def _records(text: io.TextIOWrapper, parsed: _FileLines) -> Iterator[tuple[int, str]]:
    """Yield each record without its `[]`, and the number of its line. A line can have several records."""
    number = 0
    while line := text.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            parsed.stop(f"the line has more than {_LONGEST_LINE:,} characters", number, "Begin a line after each [].")
        if not line.strip():
            if line.endswith("\n"):
                parsed.report("the line is empty", number, "Leave it out.", OFTEN)
            continue
        if not line.endswith("\n") and not line.strip("\x1a \t"):
            continue
        *records, rest = line.rstrip().split(END)
        if rest.strip():
            parsed.report("the line does not end with []", number, "End it with [].")
            records.append(rest)
        elif len(records) > 1:
            parsed.report("several records are on one line", number, "Begin a line after each [].")
        for record in records:
            yield number, record
    ends = {text.newlines} if isinstance(text.newlines, str) else {*(text.newlines or ())}
    if ends - {"\r\n"}:
        kinds = "differ" if len(ends) > 1 else f"are {'LF' if ends == {chr(10)} else 'CR'}"
        parsed.report(f"line ends {kinds}", None, "End lines with CR and LF.", OFTEN)


def _labels(record: str) -> list[str]:
    """Return the labels of a heading, which has more than half of the names; an empty list for other lines."""
    # A quick check first: each name has an underscore, and a heading has few names.
    if record.count("_") * 2 <= _WIDTH or record.count("|") > 2 * _WIDTH:
        return []
    labels = [each.strip().upper() for each in record.split("|")]
    return labels if len(_LABELS.keys() & labels) * 2 > _WIDTH else []


def _column_order(labels: list[str], number: int, parsed: _FileLines, *, repeated: bool) -> list[int]:
    """Return the place of each field under a heading; report a heading that is not the format's."""
    if repeated:
        parsed.report("the names of the fields are repeated", number, "Leave one line of them, the second of the file.")
    if labels == list(_LABELS):
        return _IN_ORDER
    parsed.report("the names of the fields are not those of LEDES 1998B in their order", number, "Write the 24 names.")
    return [labels.index(label) for label in _LABELS] if sorted(labels) == sorted(_LABELS) else _IN_ORDER


def _add_line(record: str, number: int, order: list[int] | None, parsed: _FileLines) -> None:
    values = record.split("|", _WIDTH)
    if len(values) != _WIDTH:
        count = f"{record.count('|') + 1} columns"
        parsed.report(
            f"the line does not have {_WIDTH} columns", number, "Write each field, also if it is empty.", value=count
        )
        values = [*values, *([""] * _WIDTH)][:_WIDTH]
        parsed.broken.add(len(parsed.numbers))
    if order is not None and order is not _IN_ORDER:
        values = [values[place] for place in order]
    parsed.numbers.append(number)
    lines = len(parsed.numbers)
    if parsed.columns.add(values, len(record)) and lines > _MANY and parsed.columns.characters < _SHORTEST * lines:
        fix = "Write the fields that the format requires."
        parsed.stop(f"the lines have fewer than {_SHORTEST} characters, and those of a bill have more", None, fix)
