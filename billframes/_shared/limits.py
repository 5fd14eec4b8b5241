"""Limits for files from other people, and reading files within them.

A workbook of some kilobytes can unpack to gigabytes, and a file of line ends alone has millions of lines. So a reader
of such files stops at a limit, in time and memory that are proportional to what it has read. All limits are declared
here. They are far above the files that people make, and the message names the argument that raises a limit.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from billframes.errors import ParameterError

# About 500,000 lines. Portals accept less.
LEDES_BYTES = 100_000_000
# Problems of a file that are listed before reading stops.
LEDES_FINDINGS = 100_000
# About 300,000 rows of a report.
LEDGER_BYTES = 50_000_000
# About 100,000 rows of time entries, unpacked.
WORKBOOK_BYTES = 100_000_000
WORKBOOK_CELLS = 3_000_000
SETTINGS_BYTES = 250_000
# 10^13 cents: more than any firm bills, and few enough that floats have all cents.
_LARGEST = 10**11
# A key of n parts takes the parser n² steps and bytes. It begins a line, or follows a bracket or comma.
_PART = r"""(?:[\w-]++|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*+(?:{_PART}[ \t]*+\.[ \t]*+){{50}}", re.MULTILINE)


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with the home folder in place of `~`; raise `ParameterError` if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        name = Path(path).parts[0]
        raise ParameterError(
            f"{str(path)!r}: {name} is the home folder of a user, and this machine has no such user. Write ./{name} "
            "for a folder of this name."
        ) from None


def checked_limit(name: str, given: Any) -> int:
    """Return a limit that a user has passed; raise `ParameterError` unless it is a whole number of at least 1."""
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise ParameterError(f"{name}={given!r} is not a limit; it takes a whole number of at least 1.")
    return given


def checked_number(value: Any) -> float:
    """
    Return a number of a file as a float; raise `ValueError` if it is not one, or is larger than any amount.

    Examples
    --------
    >>> checked_number(7)
    7.0
    >>> checked_number(10**400)
    Traceback (most recent call last):
    ValueError: 10000000000000000000… is larger than 100,000,000,000
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise ValueError(f"{value!r:.60} is not a number")
    if not abs(value) <= _LARGEST:
        shown = str(value)
        raise ValueError(f"{shown:.20}{'…' * (len(shown) > 20)} is larger than {_LARGEST:,}")
    return float(value)


def beyond(file: object, limit: int, unit: str, name: str, hint: str = "") -> ParameterError:
    """Return the error for a file beyond a limit of some unit, with the argument that raises the limit."""
    cause = f"{hint} " if hint else ""
    return ParameterError(f"{file} has more than {limit:,} {unit}. {cause}If it is meant to be so large, raise {name}.")


@contextmanager
def open_limited(source: str | bytes | os.PathLike[str], max_bytes: int) -> Iterator[BinaryIO]:
    """
    Open a file, or a file's content, as a stream with a position; raise `ParameterError` if it is unreadable or too
    large.
    """
    if isinstance(source, bytes):
        yield _checked_size(io.BytesIO(source), "The content", max_bytes)
        return
    with ExitStack() as opened:
        try:
            file: BinaryIO = opened.enter_context(Path(source).open("rb"))
            if not Path(source).is_file():
                # A pipe has no end to seek to, and a device may have none at all.
                file = io.BytesIO(file.read(max_bytes + 1))
        except (OSError, ValueError) as error:
            raise ParameterError(f"{source} can't be read: {getattr(error, 'strerror', None) or error}.") from error
        yield _checked_size(file, source, max_bytes)


def _checked_size(file: BinaryIO, name: object, max_bytes: int) -> BinaryIO:
    if file.seek(0, os.SEEK_END) > max_bytes:
        raise beyond(name, max_bytes, "bytes", "max_bytes")
    file.seek(0)
    return file


# In this order: the mark of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def marked_encoding(beginning: bytes) -> str | None:
    """Return the encoding that a text's first bytes show, by a byte-order mark or the zeros of UTF-16; else None."""
    for mark, encoding in _MARKS.items():
        if beginning.startswith(mark):
            return encoding
    first = beginning[:2]
    return "utf-16-be" if first[:1] == b"\0" else "utf-16-le" if first[1:] == b"\0" else None


def decode_text(content: bytes) -> tuple[str, str]:
    """
    Return the text of a file, and its encoding: one of those that programs on Windows write.

    Without a mark it is UTF-8, or Windows-1252 if it can't be UTF-8. Raise `UnicodeDecodeError`, which is a
    `ValueError`, if the file does not keep to its mark.

    Examples
    --------
    >>> decode_text("Café".encode("utf-16")), decode_text("Café".encode("cp1252"))
    (('Café', 'utf-16'), ('Café', 'cp1252'))
    """
    if encoding := marked_encoding(content[:4]):
        return content.decode(encoding), encoding
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), "cp1252"


def read_toml_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a TOML file; raise `OSError`, or `ValueError` if it is not UTF-8 or UTF-16, or too large."""
    with Path(path).open("rb") as file:
        content = file.read(SETTINGS_BYTES + 1)
    if len(content) > SETTINGS_BYTES:
        raise ValueError(f"it has more than {SETTINGS_BYTES:,} bytes, and settings have less")
    text, encoding = decode_text(content)
    if encoding == "cp1252":
        raise ValueError("it is not UTF-8 text; save it as UTF-8, which editors offer as an encoding")
    return text


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file of settings; raise `OSError`, or `ValueError` if it is not TOML or larger than settings are."""
    text = read_toml_text(path)
    if _LONG_KEY.search(text):
        raise ValueError("a key has more than 50 parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
