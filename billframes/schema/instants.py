"""Parse the instants and times of day of a page together.

A server writes all instants in one form, such as with `Z` or with offsets, which Arrow parses at once. If Arrow can't
parse one of them, the parsers for single values read all. Both ways return the same microseconds and accept the same
texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from billframes.schema.decode import microseconds, parse_time

_UTC, _TIME_OF_DAY = pa.timestamp("us", "UTC"), pa.time64("us")
_ZONE, _NANOSECONDS = re.compile("Z$|[+-][0-9]{2}:?[0-9]{2}$"), re.compile("[.][0-9]{7}")
# The first instants that are sure to be parsed alike: Arrow accepts the year 0, and nanoseconds are dropped upwards
# before 1970.
_FIRST = {"us": microseconds("0001-01-03T00:00:00Z"), "ns": 0}


class UnreadableError(ValueError):
    """A text can't be parsed; `row` is its position."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def read_instants(texts: Sequence[str | None]) -> pa.Array:
    """
    Parse instants. An instant without a time zone is in UTC; digits beyond microseconds are dropped.

    Examples
    --------
    >>> read_instants(["1970-01-01T00:00:01Z", "1970-01-01T05:30:00.0000029+05:30", None]).cast("int64").to_pylist()
    [1000000, 2, None]
    """
    instants = _parse_together(texts)
    return _one_by_one(texts, microseconds).view(_UTC) if instants is None else instants


def read_times(texts: Sequence[str | None]) -> pa.Array:
    """Parse times of day as time64[us]; parameters and errors are those of `read_instants`."""
    return _one_by_one(texts, _microseconds_of_day).view(_TIME_OF_DAY)


def _parse_together(texts: Sequence[str | None]) -> pa.Array | None:
    """Parse instants with Arrow; None if it can't parse all of them."""
    written, first = pa.array(texts, pa.string()), next(filter(None, texts), "")
    zone = "UTC" if _ZONE.search(first) else None
    for unit in ("ns",) if _NANOSECONDS.search(first) else ("us", "ns"):
        try:
            instants = written.cast(pa.timestamp(unit, zone))
        except pa.ArrowInvalid:
            continue
        if (pc.min(instants.view(pa.int64())).as_py() or 0) >= _FIRST[unit]:
            return instants.cast(pa.timestamp("us", zone), safe=False).view(_UTC)
    return None


def _one_by_one(texts: Sequence[str | None], parse: Callable[[str], int]) -> pa.Array:
    values: list[int | None] = []
    try:
        values.extend(None if text is None else parse(text) for text in texts)
    except ValueError:
        raise UnreadableError(len(values)) from None
    return pa.array(values, pa.int64())


def _microseconds_of_day(text: str) -> int:
    time = parse_time(text)
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 1_000_000 + time.microsecond
