"""JSON as servers write it: what keeps a body from being JSON, and dates that are written as datetimes.

A date that is written as midnight is the date. With another time of day it is not a date.
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
from billframes.schema.sources import fields_of

__all__ = ["TOO_DEEP", "ends_early", "flaw_of", "midnights_cut", "not_json", "parse_day"]

LARGE = 2**17
_OPEN, _CLOSED = {b"{", b"["}, {b"}", b"]"}
_JSON = msgspec.json.Decoder(msgspec.Raw)
_NOT_JSON = "is not valid JSON"
TOO_DEEP = "is nested too deeply to be read"


def flaw_of(body: bytes) -> str | None:
    """
    Return what keeps a body from being JSON, whatever its headers say; None for nothing.

    All of it must be UTF-8, including what no field is read from. The structure of a large body is only looked at from
    its ends: whoever decodes it reads the whole, and asks again if it is not JSON.

    Examples
    --------
    >>> flaw_of(b'{"data": []}')
    >>> flaw_of('{"data": [], "note": "Größe"}'.encode("latin-1"))
    'is not valid UTF-8'
    """
    if not (body.isascii() or _is_utf8(body)):
        return "is not valid UTF-8"
    try:
        if len(body) <= LARGE:
            _JSON.decode(body)
            return None
    except RecursionError:
        return TOO_DEEP
    except msgspec.DecodeError:
        return _NOT_JSON
    whole = body[:LARGE].lstrip()[:1] in _OPEN and body[-LARGE:].rstrip()[-1:] in _CLOSED
    return None if whole else _NOT_JSON


def _is_utf8(body: bytes) -> bool:
    # Arrow only checks, where `bytes.decode` would make a text of up to four times the size.
    ends = pa.py_buffer(struct.pack("=2q", 0, len(body)))
    try:
        pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(body)]).cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


def ends_early(body: bytes) -> bool:
    """Tell whether a body that is not JSON looks like JSON that was cut short."""
    text = body.strip()
    return text[:1] in _OPEN and text[-1:] not in _CLOSED


def not_json(resource: str, body: bytes, flaw: str | None = None) -> DecodeError:
    """Return the error for an answer that is not JSON."""
    page = body.lstrip()[:1] == b"<"
    advice = " It looks like a web page: check that the address is the API's own." if page else ""
    return DecodeError(f"{resource}: the server's answer {flaw or _NOT_JSON}.{advice}")


# Midnight as written, whatever its offset. Digits beyond a second must be zeros.
_MIDNIGHT = r"[Tt ]00:00(?::00(?:[.,]0+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"


@functools.cache
def _pattern() -> re.Pattern[bytes]:
    """Return what finds a property that is promised as a date and written as midnight."""
    declared = (each for each in vars(records).values() if isinstance(each, type) and issubclass(each, msgspec.Struct))
    names = {
        wire
        for record in declared
        for field, wire in zip(fields_of(record), record.__struct_encode_fields__, strict=True)
        if field.notes.get("kind") == "date"
    }
    # Within a text, a quote has a backslash before it, so a narrative that looks like a property is not taken for one.
    return re.compile(rf'(?<!\\)"({"|".join(sorted(names))})"(\s*:\s*)"([0-9-]+){_MIDNIGHT}"'.encode())


def midnights_cut(body: bytes) -> bytes:
    r"""
    Return JSON with datetimes cut to dates, where a date is promised and the time of day is midnight.

    Examples
    --------
    >>> midnights_cut(b'{"date": "2026-10-01T00:00:00Z", "opened": "2026-10-01T09:00:00"}')
    b'{"date": "2026-10-01", "opened": "2026-10-01T09:00:00"}'
    """
    return _pattern().sub(rb'"\1"\2"\3"', body)


def parse_day(text: str) -> dt.date:
    """
    Read a date, or a datetime that is midnight.

    Raises
    ------
    ValueError
        It is neither.

    Examples
    --------
    >>> parse_day("2026-10-01T00:00:00.0000000Z")
    datetime.date(2026, 10, 1)
    """
    instant = dt.datetime.fromisoformat(text)
    if instant.time() != dt.time.min:
        raise ValueError
    return instant.date()
