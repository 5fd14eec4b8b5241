"""Parse the instants and times of day of a page together, which is faster than one by one.

A server writes all instants in one layout, or in a few: with `Z`, with an offset or with neither, and with a fixed
number of decimals or as many as needed. So texts are grouped by layout, which is their length and the characters that
are not digits. Arrow parses each group of a common layout. The parsers for single values read the rest: unusual
layouts, small groups, and groups with a value that Arrow can't parse. Both ways return the same microseconds and accept
the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from billframes.schema.decode import microseconds, parse_time

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["UnreadableError", "read_instants", "read_times"]

RowNumbers: TypeAlias = "npt.NDArray[np.int64]"
Characters: TypeAlias = "npt.NDArray[np.uint8]"

# Up to this many texts of one layout are parsed one by one, which is as fast.
FEW = 16
# Texts of one length that have more layouts than this are parsed one by one.
LAYOUTS = 16
DECIMALS = 6
_ZERO = np.uint8(ord("0"))
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.(?P<decimals>[0-9]+))?")
_INSTANT = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]{_TIME.pattern}(?P<zone>Z|[+-][0-9]{{2}}:[0-9]{{2}})?")
_FIRST_DAY = np.frombuffer(b"1970-01-01T", np.uint8)
_UTC, _UNZONED, _TIME_OF_DAY = pa.timestamp("us", "UTC"), pa.timestamp("us"), pa.time64("us")
# Arrow accepts the year 0, Python does not: groups with instants this early are parsed one by one.
_EARLY = microseconds("0001-01-03T00:00:00Z")


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
    return _read(texts, _instants_of, microseconds).view(_UTC)


def read_times(texts: Sequence[str | None]) -> pa.Array:
    """
    Parse times of day as time64[us]; parameters and errors are those of `read_instants`.

    Examples
    --------
    >>> [str(each) for each in read_times(["00:00:01", "08:30", None])]
    ['00:00:01', '08:30:00', 'None']
    """
    return _read(texts, _times_of, _microseconds_of_day).view(_TIME_OF_DAY)


def _read(
    texts: Sequence[str | None],
    read_group: Callable[[Characters], pa.Array | None],
    read_one: Callable[[str], int],
) -> pa.Array:
    """Parse each group of one layout at once if possible, else one by one."""
    written = pa.array(texts, pa.string())
    values = np.zeros(len(texts), np.int64)
    left: list[int] = []
    for rows, characters in _groups(written):
        found = None if characters is None else read_group(characters)
        if found is None:
            left.extend(rows.tolist())
        else:
            values[rows] = found.view(pa.int64())
    for row in sorted(left):
        try:
            values[row] = read_one(str(texts[row]))
        except ValueError:
            raise UnreadableError(row) from None
    return pa.array(values, mask=written.is_null().to_numpy(zero_copy_only=False) if written.null_count else None)


def _groups(written: pa.StringArray) -> Iterator[tuple[RowNumbers, Characters | None]]:
    """Yield the rows of each layout with a matrix of their characters, or None if they are parsed one by one."""
    _, places, data = written.buffers()
    ends = np.frombuffer(places, np.int32, len(written) + 1)
    lengths = np.diff(ends)
    if not written.null_count and len(lengths) > FEW and 0 < lengths.min() == lengths.max():
        # Most columns have no missing values and one length.
        every = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].reshape(-1, lengths[0])
        yield from _split(np.arange(len(written)), every)
        return
    rows = np.flatnonzero(written.is_valid()) if written.null_count else np.arange(len(written))
    for length in np.unique(lengths[rows]).tolist():
        found = rows[lengths[rows] == length]
        if len(found) <= FEW or not length:
            yield found, None
        else:
            yield from _split(found, np.frombuffer(data, np.uint8)[ends[found][:, None] + np.arange(length)])


def _split(rows: RowNumbers, characters: Characters) -> Iterator[tuple[RowNumbers, Characters | None]]:
    """Split texts of one length by their layout."""
    layouts = np.where(characters - _ZERO < 10, _ZERO, characters)
    for _ in range(LAYOUTS):
        same = layouts == layouts[0]
        if same.all():
            yield rows, characters
            return
        same = same.all(axis=1)
        yield rows[same], characters[same] if same.sum() > FEW else None
        rows, characters, layouts = rows[~same], characters[~same], layouts[~same]
    yield rows, None


def _instants_of(characters: Characters) -> pa.Array | None:
    layout = _INSTANT.fullmatch(_text(characters))
    if layout is None:
        return None
    found = _cast(_without_excess(characters, layout), _UTC if layout["zone"] else _UNZONED)
    return None if found is None or found.view(pa.int64()).to_numpy().min() < _EARLY else found


def _times_of(characters: Characters) -> pa.Array | None:
    layout = _TIME.fullmatch(_text(characters))
    if layout is None:
        return None
    # Arrow does not parse times of day, so they are parsed as instants of 1970-01-01.
    day = np.broadcast_to(_FIRST_DAY, (len(characters), len(_FIRST_DAY)))
    return _cast(np.hstack([day, _without_excess(characters, layout)]), _UNZONED)


def _text(characters: Characters) -> str:
    return bytes(characters[0]).decode("latin-1")


def _without_excess(characters: Characters, layout: re.Match[str]) -> Characters:
    """Drop the digits beyond microseconds, which Arrow does not parse."""
    begin, end = layout.span("decimals")
    if end - begin <= DECIMALS:
        return characters
    return np.delete(characters, np.s_[begin + DECIMALS : end], axis=1)


def _cast(characters: Characters, kind: pa.DataType) -> pa.Array | None:
    """Parse texts of one length with Arrow; None if it can't parse one of them."""
    size, length = characters.shape
    ends = np.arange(0, size * length + 1, length, dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(characters))]
    try:
        return pa.Array.from_buffers(pa.string(), size, buffers).cast(kind)
    except pa.ArrowInvalid:
        return None


def _microseconds_of_day(text: str) -> int:
    time = parse_time(text)
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 1_000_000 + time.microsecond
