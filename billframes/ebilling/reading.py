"""Read LEDES 1998B files of any software, and list their problems line by line.

Some files have other line ends, a byte-order mark, Latin-1 text, repeated headings (if two files were joined), or lines
without `[]` or with too few columns. Reading continues after each of these problems, and each becomes a finding.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from billframes._messages import warn
from billframes.ebilling.findings import FILE_COLUMNS, OFTEN, REJECTED, Finding, Severity, findings_frame
from billframes.ebilling.format import COLUMNS, END, FIELDS, FIRST_LINE
from billframes.ebilling.rules import problems
from billframes.errors import IncompleteDataWarning, ParameterError

__all__ = ["check_file", "lines_frame", "read_ledes"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_LABELS = {field.label: field.column for field in FIELDS}
_IN_ORDER = list(range(len(FIELDS)))
_ENCODINGS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_WIDTH = len(FIELDS)


@dataclass(slots=True)
class _FileLines:
    """The lines of a file: their texts, their numbers in the file, and the findings about the file."""

    # One flat list, because a list for each line would cost the garbage collector seconds on large files.
    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    have_all_columns: list[bool] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, list[str]]:
        return {name: self.texts[place::_WIDTH] for place, name in enumerate(COLUMNS)}

    def report(self, problem: str, line: int | None, fix: str, severity: Severity = REJECTED, value: str = "") -> None:
        self.findings.append(Finding(0, severity, problem, value, fix, line=line))


def read_ledes(source: str | bytes | os.PathLike[str]) -> pd.DataFrame:
    r"""
    Read a LEDES 1998B file of any software.

    Parameters
    ----------
    source : path, str or bytes
        A file, or its content: a str that begins with "LEDES" or has a line break is content, not a path.

    Returns
    -------
    DataFrame
        One row per line, with the format's 24 fields as columns in lower case (`line_item_total`). All values are texts
        as in the file, so that nothing is lost; an empty field is missing. `.map(Decimal)` converts amounts.

    Raises
    ------
    ParameterError
        The file can't be opened.

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
    parsed = _parse(_bytes_of(source))
    broken = parsed.have_all_columns.count(False)
    if broken or not parsed.numbers:
        problem = f"{broken} lines do not have {_WIDTH} columns" if broken else "there is no line of a bill"
        warn(f"In this LEDES file {problem}. ledes_check(path) lists all problems.", IncompleteDataWarning)
    return lines_frame(parsed.columns)


def lines_frame(columns: dict[str, list[str]]) -> pd.DataFrame:
    """Return lines as a frame of texts; an empty text is missing."""
    frame = {name: pd.Series([text or None for text in columns[name]], dtype="str") for name in COLUMNS}
    return pd.DataFrame(frame)


def check_file(source: str | bytes | os.PathLike[str]) -> pd.DataFrame:
    """Return all findings about a file, with one row per finding; see `ledes_check`."""
    parsed = _parse(_bytes_of(source))
    places = [at for at, has_all in enumerate(parsed.have_all_columns) if has_all]
    columns = parsed.columns
    skip: tuple[int, ...] = ()
    if len(places) < len(parsed.have_all_columns):
        # Without the broken lines, the sum of the others can't be compared with the invoice's total.
        columns = {name: [values[at] for at in places] for name, values in columns.items()}
        skip = (5,)
    findings = parsed.findings
    for each in problems(columns, skip=skip, groups=columns["invoice_number"]):
        found = Finding(each.field, each.severity, each.problem, each.value, "Correct it where the file is made.")
        found.invoice_number = columns["invoice_number"][each.at] or None
        found.line = parsed.numbers[places[each.at]]
        if FIELDS[each.field - 1].subject == "item":
            found.item_id = columns["line_item_number"][each.at] or None
        findings.append(found)
    return findings_frame(findings, FILE_COLUMNS)


def _bytes_of(source: str | bytes | os.PathLike[str]) -> bytes:
    if isinstance(source, bytes):
        return source
    if isinstance(source, str) and (source.startswith("LEDES") or _LINE_END.search(source)):
        return source.encode("utf-8", "surrogatepass")
    if not isinstance(source, str | os.PathLike):
        raise ParameterError(f"{type(source).__name__} is not a LEDES file; it takes a path, the text or its bytes.")
    try:
        return Path(source).read_bytes()
    except (OSError, ValueError) as error:
        raise ParameterError(f"{source} can't be read: {getattr(error, 'strerror', None) or error}.") from error


def _parse(content: bytes) -> _FileLines:
    parsed = _FileLines()
    text = _decode(content, parsed)
    records = list(_records(text, parsed))
    if not records:
        parsed.report("the file is empty", None, "Write it again.")
        return parsed
    if records[0][1].strip().upper() != FIRST_LINE.removesuffix(END):
        value = records[0][1][:20]
        parsed.report(f"the first line is not {FIRST_LINE}", records[0][0], "Write LEDES 1998B.", value=value)
    else:
        records = records[1:]
    order: list[int] | None = None
    for number, record in records:
        labels = _labels(record)
        if labels:
            order = _column_order(labels, number, parsed, repeated=order is not None)
        elif "|" not in record and record.strip().upper() == FIRST_LINE.removesuffix(END):
            parsed.report("the file's first line is repeated", number, "Leave one, at the top of the file.")
        else:
            _add_line(record.split("|"), number, order, parsed)
    if order is None:
        parsed.report("the line with the names of the fields is missing", None, "Write it as the second line.")
    if not parsed.numbers:
        parsed.report("there is no line of a bill", None, "Write a line for each item.")
    return parsed


def _decode(content: bytes, parsed: _FileLines) -> str:
    mark = next((mark for mark in _ENCODINGS if content.startswith(mark)), None)
    if mark is not None:
        parsed.report("the file begins with a byte-order mark", 1, "Save it as ASCII, without a byte-order mark.")
        return content.decode(_ENCODINGS[mark], "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Latin-1 can decode any bytes. The rules report the fields with characters that are not ASCII.
        return content.decode("latin-1")


def _records(text: str, parsed: _FileLines) -> Iterator[tuple[int, str]]:
    """Yield each record without its `[]`, and the number of its line. A line can have several records."""
    ends = set(_LINE_END.findall(text))
    if ends - {"\r\n"}:
        kinds = "differ" if len(ends) > 1 else f"are {'LF' if ends == {chr(10)} else 'CR'}"
        parsed.report(f"line ends {kinds}", None, "End lines with CR and LF.", OFTEN)
    lines = _LINE_END.split(text)
    if lines and not lines[-1].strip("\x1a \t"):
        lines = lines[:-1]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            parsed.report("the line is empty", number, "Leave it out.", OFTEN)
            continue
        *records, rest = line.rstrip().split(END)
        if rest.strip():
            parsed.report("the line does not end with []", number, "End it with [].")
            records.append(rest)
        elif len(records) > 1:
            parsed.report("several records are on one line", number, "Begin a line after each [].")
        yield from ((number, record) for record in records)


def _labels(record: str) -> list[str]:
    """Return the labels of a heading, which has more than half of the names; an empty list for other lines."""
    # A quick check first: each name has an underscore.
    if record.count("_") * 2 <= _WIDTH:
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


def _add_line(values: list[str], number: int, order: list[int] | None, parsed: _FileLines) -> None:
    has_all = len(values) == _WIDTH
    if not has_all:
        count = f"{len(values)} columns"
        parsed.report(
            f"the line does not have {_WIDTH} columns", number, "Write each field, also if it is empty.", value=count
        )
        values = [*values, *([""] * _WIDTH)][:_WIDTH]
    parsed.texts += values if order is None or order is _IN_ORDER else [values[place] for place in order]
    parsed.numbers.append(number)
    parsed.have_all_columns.append(has_all)
