"""Read LEDES files of any software and format, and list their problems line by line."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from typing import BinaryIO

import pandas as pd

from billframes._shared.limits import LEDES_BYTES, LEDES_FINDINGS, checked_limit, marked_encoding, open_limited
from billframes._shared.messages import cut, warn
from billframes._shared.names import first_few
from billframes.ebilling.findings import FILE_COLUMNS, Finding, findings_frame
from billframes.ebilling.ledes_formats import END, FIELDS, LEDES_1998B, NOTE
from billframes.ebilling.parsed_file import ParsedFile, Part, StopError
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.read_text_lines import parse_text
from billframes.ebilling.rules import problems
from billframes.ebilling.xml_files import parse_xml
from billframes.errors import IncompleteDataWarning, ParameterError

BillSource = str | bytes | os.PathLike[str]

# Characters of a value in a finding. A long value can be in many of them.
_LONGEST_VALUE = 1_000
# The example of `read_ledes`.
_HEADING = LEDES_1998B.heading


def ledes_format(source: BillSource, *, max_bytes: int = LEDES_BYTES) -> str:
    r"""
    Return the format of a LEDES file, according to its first line and the names of its fields.

    Parameters
    ----------
    source : path, str or bytes
        A file, or its content, as `read_ledes` takes it.
    max_bytes : int, default 100_000_000
        The most bytes that a file may have.

    Returns
    -------
    str
        "1998B", "98BI", "98BI 51 fields", "XML 2.0", "XML 2.1", "XML 2.2" or "2000".

    Raises
    ------
    LedesFormatError
        The file is of another format.
    ParameterError
        The file can't be opened, or is beyond the limit.

    Examples
    --------
    >>> ledes_format("LEDES98BI V2[]\r\n")
    '98BI'
    """
    return _parse(source, max_bytes, ParsedFile(LEDES_FINDINGS), only_format=True)


def read_ledes(source: BillSource, *, max_bytes: int = LEDES_BYTES, max_findings: int = LEDES_FINDINGS) -> pd.DataFrame:
    r"""
    Read a LEDES file of any software: 1998B, 98BI, XML 2.0 to 2.2, or 2000.

    Parameters
    ----------
    source : path, str or bytes
        A file, or its content: a str that begins with "<", or that has "[]" or a line break, is content, not a path.
    max_bytes : int, default 100_000_000
        The most bytes that a file may have: about 500,000 lines.
    max_findings : int, default 100_000
        A file with more problems of its lines, such as a wrong number of columns, is refused.

    Returns
    -------
    DataFrame
        One row per line of 1998B and 98BI, and per fee, expense and adjustment of XML. The columns are the format's
        fields in lower case (`line_item_total`): the 24 of 1998B, or the 52 of 98BI for all other formats. All values
        are texts as in the file, so that nothing is lost; an empty field is missing. `.map(Decimal)` converts amounts.
        XML has no amount of a line's tax and no total with tax; these are calculated from the rate.

    Raises
    ------
    LedesFormatError
        The file is of another format, damaged, or defines entities.
    ParameterError
        The file can't be opened, or is beyond a limit.

    Warns
    -----
    IncompleteDataWarning
        Some lines don't have all columns, and are padded or cut; the heading does not name some fields, which are then
        missing; or taxes of XML can't be calculated, so that tax and total of their lines are missing.
        `ledes_check(path)` lists them.

    Examples
    --------
    >>> line = "20261105|10412|1004|1004-001|350.00|20261001|20261001||1|F|1.00||350.00|20261001|L110||A102|AL|Draft"
    >>> text = f"LEDES1998B[]\r\n{_HEADING}\r\n{line}|06-1|350.00|Lovelace, Ada|PARTNR|[]"
    >>> read_ledes(text)[["invoice_number", "timekeeper_name", "line_item_total"]]
      invoice_number timekeeper_name line_item_total
    0          10412   Lovelace, Ada          350.00
    """
    parsed = ParsedFile(checked_limit("max_findings", max_findings))
    _parse(source, max_bytes, parsed)
    if parsed.stopped:
        last = parsed.findings[-1]
        raise ParameterError(f"This is not a LEDES file that can be read: {last.problem}. {last.fix}")
    for problem in _incomplete(parsed):
        warn(f"In this LEDES file {problem}. ledes_check(path) lists all problems.", IncompleteDataWarning)
    return parsed.frame()


def _incomplete(parsed: ParsedFile) -> list[str]:
    lacking = []
    broken = sum(len(part.broken) for part in parsed.parts.values())
    if broken:
        widths = " or ".join(str(len(form.fields)) for form, part in parsed.parts.items() if part.broken)
        lines = "1 line does" if broken == 1 else f"{broken:,} lines do"
        lacking.append(f"{lines} not have {widths} columns")
    elif not any(part.numbers for part in parsed.parts.values()):
        lacking.append("there is no line of a bill")
    if parsed.unnamed:
        lacking.append(f"the heading does not name {first_few(sorted(parsed.unnamed), 3)}, so these fields are missing")
    if parsed.unknown_taxes:
        taxed = "1 item is" if parsed.unknown_taxes == 1 else f"{parsed.unknown_taxes:,} items are"
        lacking.append(f"the taxes of {taxed} more than a rate of its amount, so tax and total are missing there")
    return lacking


def check_file(
    source: BillSource,
    profile: LedesProfile | None = None,
    *,
    notes: bool = False,
    max_bytes: int = LEDES_BYTES,
    max_findings: int = LEDES_FINDINGS,
) -> pd.DataFrame:
    """Return all findings about a file, with one row per finding; see `ledes_check`."""
    parsed = ParsedFile(checked_limit("max_findings", max_findings))
    _parse(source, max_bytes, parsed)
    if not parsed.stopped:
        with suppress(StopError):
            for part in parsed.parts.values():
                _check_part(part, parsed, profile, notes=notes)
    found = parsed.findings if notes else (each for each in parsed.findings if each.severity != NOTE)
    return findings_frame(found, FILE_COLUMNS)


def _check_part(part: Part, parsed: ParsedFile, profile: LedesProfile | None, *, notes: bool) -> None:
    columns = part.columns.lists()
    places = list(range(len(part.numbers)))
    skip: Collection[int] = ()
    if part.broken:
        # Without the broken lines, the sum of the others can't be compared with the invoice's total.
        places = [at for at in places if at not in part.broken]
        columns = {name: [values[at] for at in places] for name, values in columns.items()}
        skip = (5,)
    invoices, items = columns["invoice_number"], columns["line_item_number"]
    longest, tax_codes = (profile.max_description, tuple(profile.tax_codes)) if profile else (None, ())
    found_problems = problems(
        columns, part.form, skip=skip, max_description=longest, groups=invoices, tax_codes=tax_codes
    )
    for each in found_problems:
        if each.severity == NOTE and not notes:
            continue
        fix = "Nothing needs to be corrected." if each.severity == NOTE else "Correct it where the file is made."
        found = Finding(each.field, each.severity, each.problem, cut(each.value, _LONGEST_VALUE), fix)
        found.invoice_number = cut(invoices[each.at], _LONGEST_VALUE) or None
        found.line = part.numbers[places[each.at]]
        if FIELDS[each.field - 1].subject == "item":
            found.item_id = cut(items[each.at], _LONGEST_VALUE) or None
        parsed.add(found)


def _is_text(source: str) -> bool:
    return source.lstrip()[:1] == "<" or any(mark in source for mark in ("\n", "\r", END))


def _parse(source: BillSource, max_bytes: int, parsed: ParsedFile, *, only_format: bool = False) -> str:
    encoding, name = None, ""
    if isinstance(source, str) and _is_text(source):
        source, encoding = source.encode("utf-8", "surrogatepass"), "utf-8"
    if not isinstance(source, str | bytes | os.PathLike):
        raise ParameterError(f"{type(source).__name__} is not a LEDES file; it takes a path, the text or its bytes.")
    with open_limited(source, checked_limit("max_bytes", max_bytes)) as stream, suppress(StopError):
        if _is_xml(stream):
            name = parse_xml(stream, parsed, encoding=encoding, only_format=only_format).name
        else:
            name = parse_text(stream, parsed, only_format=only_format).name
    parsed.pack()
    return name


def _is_xml(stream: BinaryIO) -> bool:
    beginning = stream.read(200)
    stream.seek(0)
    return beginning.decode(marked_encoding(beginning) or "latin-1", "ignore").lstrip().startswith("<")
