"""Check that a body is JSON, and accept dates that a server writes as datetimes.

A datetime at midnight is accepted as a date. A datetime with another time of day is not a date.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
import struct

import msgspec
import pyarrow as pa

from billframes.errors import DecodeError
from billframes.schema import records
from billframes.schema.sources import fields_of, json_name

LARGE = 2**17
_OPEN, _CLOSED = {b"{", b"["}, {b"}", b"]"}
_JSON = msgspec.json.Decoder(msgspec.Raw)
_NOT_JSON = "is not valid JSON"
TOO_DEEP = "is nested too deeply to be read"


def json_flaw(body: bytes) -> str | None:
    """
    Return why a body is not JSON, for a message; None if it is JSON. The headers are ignored.

    The whole body must be UTF-8, including properties that are not used. Of a large body only the two ends are checked
    for JSON: the whole is decoded later, and requested again if it is not JSON.

    Examples
    --------
    >>> json_flaw(b'{"data": []}')
    >>> json_flaw('{"data": [], "note": "Größe"}'.encode("latin-1"))
    'is not valid UTF-8'
    """
    if not body or body.isspace():
        return "is empty"
    if not (body.isascii() or _is_utf8(body)):
        return "is not valid UTF-8"
    try:
        if len(body) <= LARGE:
            _JSON.decode(body)
            return None
    except RecursionError:
        return TOO_DEEP
    except msgspec.DecodeError:
        mended = replace_surrogates(body)
        return _NOT_JSON if mended == body else json_flaw(mended)
    whole = body[:LARGE].lstrip()[:1] in _OPEN and body[-LARGE:].rstrip()[-1:] in _CLOSED
    return None if whole else _NOT_JSON


def _is_utf8(body: bytes) -> bool:
    # Arrow checks without a copy; `bytes.decode` would make a text of up to four times the size.
    ends = pa.py_buffer(struct.pack("=2q", 0, len(body)))
    try:
        pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(body)]).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def ends_early(body: bytes) -> bool:
    """Return whether a body that is not JSON looks like truncated JSON."""
    text = body.strip()
    return text[:1] in _OPEN and text[-1:] not in _CLOSED


def not_json_error(resource: str, body: bytes, flaw: str | None = None) -> DecodeError:
    """Return the error for a response that is not JSON."""
    page = body.lstrip()[:1] == b"<"
    advice = " It looks like a web page: check that the address is the API's own." if page else ""
    return DecodeError(f"{resource}: the server's response {flaw or _NOT_JSON}.{advice}")


# An escaped backslash, an escaped pair of surrogates, or one surrogate without the other.
_SURROGATES = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


def replace_surrogates(body: bytes) -> bytes:
    r"""
    Return JSON in which each escaped surrogate without its other half is U+FFFD, the replacement character.

    JSON can escape half of a character, such as half of an emoji that a program cut off. No text can hold it.

    Examples
    --------
    >>> replace_surrogates(rb'{"description": "Call \ud83d", "name": "\ud83d\ude00"}')
    b'{"description": "Call \\ufffd", "name": "\\ud83d\\ude00"}'
    """
    if rb"\u" not in body:
        return body
    return _SURROGATES.sub(lambda found: found[1] or rb"\ufffd", body)


# The time part of a datetime at midnight, with any offset. Decimals of the second must be zeros.
_MIDNIGHT = r"[Tt ]00:00(?::00(?:[.,]0+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"


@functools.cache
def _midnight_pattern() -> re.Pattern[bytes]:
    """Return the pattern of a property that is declared as a date and written as a datetime at midnight."""
    declared = (each for each in vars(records).values() if isinstance(each, type) and issubclass(each, msgspec.Struct))
    names = {
        json_name(record, field.name)
        for record in declared
        for field in fields_of(record)
        if field.notes.get("kind") == "date"
    }
    # Within a text, each quote is escaped by a backslash, so a narrative that contains such JSON does not match.
    return re.compile(rf'(?<!\\)"({"|".join(sorted(names))})"(\s*:\s*)"([0-9-]+){_MIDNIGHT}"'.encode())


def cut_midnights(body: bytes) -> bytes:
    """Return JSON in which properties that are declared as dates are cut from datetimes at midnight to dates."""
    return _midnight_pattern().sub(rb'"\1"\2"\3"', body)


def parse_day(text: str) -> dt.date:
    """Parse a date, or a datetime at midnight; raise `ValueError` for anything else."""
    instant = dt.datetime.fromisoformat(text)
    if instant.time() != dt.time.min:
        raise ValueError
    return instant.date()
