"""Dates, also where a server writes them as datetimes: midnight is the date, another time of day is none."""

from __future__ import annotations

import datetime as dt
import functools
import re

import msgspec

from billframes.schema import records
from billframes.schema.sources import fields_of

__all__ = ["midnights_cut", "parse_day"]

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
    # Within a text, a quote has a backslash before it, so a narrative that looks like a property is none.
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
