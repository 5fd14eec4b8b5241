"""Read any LEDES 1998B file, whoever wrote it, and say line by line what is wrong with it.

Files come with other line ends, with a byte-order mark, in Latin-1, with headings repeated where two were put together,
and with lines that lack `[]` or columns. None of this ends the reading; each is a finding.
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
class _Parsed:
    """The lines of a file: texts by column, the number of each line in the file, and what is wrong with the rest."""

    # One flat list: a list a line costs the garbage collector seconds on large files.
    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def columns(self) -> dict[str, list[str]]:
        return {name: self.texts[at::_WIDTH] for at, name in enumerate(COLUMNS)}

    def find(self, problem: str, line: int | None, fix: str, severity: Severity = REJECTED, value: str = "") -> None:
        self.findings.append(Finding(0, severity, problem, value, fix, line=line))


def read_ledes(source: str | bytes | os.PathLike[str]) -> pd.DataFrame:
    r"""
    Read a LEDES 1998B file of any software.

    Parameters
    ----------
    source : path, str or bytes
        A file, or the text of one: what begins with "LEDES" or has a line break is taken for text.

    Returns
    -------
    DataFrame
        A row a line, with the format's 24 fields as columns in lower case (`line_item_total`). All are texts just as
        they stand in the file, so that nothing is lost; what is empty is missing. `.map(Decimal)` makes amounts of
        them.

    Raises
    ------
    ParameterError
        The file can't be opened.

    Warns
    -----
    IncompleteDataWarning
        Lines don't have 24 columns; they are padded or cut. `ledes_check(path)` says which.

    Examples
    --------
    >>> line = "20261105|10412|1004|1004-001|350.00|20261001|20261001||1|F|1.00||350.00|20261001|L110||A102|AL|Draft"
    >>> text = f"{FIRST_LINE}\r\n{'|'.join(_LABELS)}[]\r\n{line}|06-1|350.00|Lovelace, Ada|PARTNR|[]"
    >>> read_ledes(text)[["invoice_number", "timekeeper_name", "line_item_total"]]
      invoice_number timekeeper_name line_item_total
    0          10412   Lovelace, Ada          350.00
    """
    parsed = _parse(_bytes_of(source))
    broken = parsed.whole.count(False)
    if broken or not parsed.numbers:
        what = f"{broken} lines do not have {_WIDTH} columns" if broken else "there is no line of a bill"
        warn(f"In this LEDES file {what}. ledes_check(path) lists what is wrong.", IncompleteDataWarning)
    return lines_frame(parsed.columns)


def lines_frame(columns: dict[str, list[str]]) -> pd.DataFrame:
    """Return lines as a frame of texts; what is empty is missing."""
    frame = {name: pd.Series([text or None for text in columns[name]], dtype="str") for name in COLUMNS}
    return pd.DataFrame(frame)


def check_file(source: str | bytes | os.PathLike[str]) -> pd.DataFrame:
    """Return everything that is wrong with a file, a row each; see `ledes_check`."""
    parsed = _parse(_bytes_of(source))
    places = [at for at, whole in enumerate(parsed.whole) if whole]
    columns = parsed.columns
    skip: tuple[int, ...] = ()
    if len(places) < len(parsed.whole):
        # Where a line can't be read, the sum of the others says nothing.
        columns = {name: [values[at] for at in places] for name, values in columns.items()}
        skip = (5,)
    findings = parsed.findings
    for each in problems(columns, skip=skip, groups=columns["invoice_number"]):
        found = Finding(each.field, each.severity, each.problem, each.value, "Correct it where the file is made.")
        found.invoice_number = columns["invoice_number"][each.at] or None
        found.line = parsed.numbers[places[each.at]]
        if FIELDS[each.field - 1].about == "item":
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


def _parse(content: bytes) -> _Parsed:
    parsed = _Parsed()
    text = _decoded(content, parsed)
    records = list(_records(text, parsed))
    if not records:
        parsed.find("the file is empty", None, "Write it again.")
        return parsed
    if records[0][1].strip().upper() != FIRST_LINE.removesuffix(END):
        said = records[0][1][:20]
        parsed.find(f"the first line is not {FIRST_LINE}", records[0][0], "Write LEDES 1998B.", value=said)
    else:
        records = records[1:]
    order: list[int] | None = None
    for number, record in records:
        labels = _labels(record)
        if labels:
            order = _heading(labels, number, parsed, again=order is not None)
        elif "|" not in record and record.strip().upper() == FIRST_LINE.removesuffix(END):
            parsed.find("the file's first line is repeated", number, "Leave one, at the top of the file.")
        else:
            _add(record.split("|"), number, order, parsed)
    if order is None:
        parsed.find("the line with the names of the fields is missing", None, "Write it as the second line.")
    if not parsed.numbers:
        parsed.find("there is no line of a bill", None, "Write a line for each item.")
    return parsed


def _decoded(content: bytes, parsed: _Parsed) -> str:
    mark = next((mark for mark in _ENCODINGS if content.startswith(mark)), None)
    if mark is not None:
        parsed.find("the file begins with a byte-order mark", 1, "Save it as ASCII, without a byte-order mark.")
        return content.decode(_ENCODINGS[mark], "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Each byte is a character of Latin-1; the rules say which fields have one that is not ASCII.
        return content.decode("latin-1")


def _records(text: str, parsed: _Parsed) -> Iterator[tuple[int, str]]:
    """Yield the number of each line and what is on it, without its end; several records on one line are apart."""
    ends = set(_LINE_END.findall(text))
    if ends - {"\r\n"}:
        kinds = "differ" if len(ends) > 1 else f"are {'LF' if ends == {chr(10)} else 'CR'}"
        parsed.find(f"line ends {kinds}", None, "End lines with CR and LF.", OFTEN)
    lines = _LINE_END.split(text)
    if lines and not lines[-1].strip("\x1a \t"):
        lines = lines[:-1]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            parsed.find("the line is empty", number, "Leave it out.", OFTEN)
            continue
        *records, rest = line.rstrip().split(END)
        if rest.strip():
            parsed.find("the line does not end with []", number, "End it with [].")
            records.append(rest)
        elif len(records) > 1:
            parsed.find("several records are on one line", number, "Begin a line after each [].")
        yield from ((number, record) for record in records)


def _labels(record: str) -> list[str]:
    """Return the labels of a line that is a heading, having more than half of the names; else nothing."""
    # Each name has an underscore.
    if record.count("_") * 2 <= _WIDTH:
        return []
    labels = [each.strip().upper() for each in record.split("|")]
    return labels if len(_LABELS.keys() & labels) * 2 > _WIDTH else []


def _heading(labels: list[str], number: int, parsed: _Parsed, *, again: bool) -> list[int] | None:
    """Return where each field stands under a heading; report one that is not the format's."""
    if again:
        parsed.find("the names of the fields are repeated", number, "Leave one line of them, the second of the file.")
    if labels == list(_LABELS):
        return _IN_ORDER
    parsed.find("the names of the fields are not those of LEDES 1998B in their order", number, "Write the 24 names.")
    return [labels.index(label) for label in _LABELS] if sorted(labels) == sorted(_LABELS) else _IN_ORDER


def _add(values: list[str], number: int, order: list[int] | None, parsed: _Parsed) -> None:
    whole = len(values) == _WIDTH
    if not whole:
        said = f"{len(values)} columns"
        parsed.find(
            f"the line does not have {_WIDTH} columns", number, "Write each field; empty ones, too.", value=said
        )
        values = [*values, *([""] * _WIDTH)][:_WIDTH]
    parsed.texts += values if order is None or order is _IN_ORDER else [values[place] for place in order]
    parsed.numbers.append(number)
    parsed.whole.append(whole)
