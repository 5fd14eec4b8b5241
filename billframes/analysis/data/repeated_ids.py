"""Check quickly whether ids are unique and written alike in all frames, and drop repeated rows.

An unchanged frame of a loader has unique ids, because the load proved it. In other frames, every id is converted to a
number, and equal numbers are searched for. If two different ids have the same number, the ids themselves are compared.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any, NoReturn, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from billframes._shared.notes import Notes, Rule
from billframes.analysis.data.engine import arrow_rows, collect_counts, collect_values
from billframes.analysis.data.expressions import C
from billframes.analysis.declare.columns import IDS, Frame, column_names
from billframes.errors import ParameterError
from billframes.loading.load_info import load_info

Numbers = npt.NDArray[np.uint64]

# Numbers of bytes that can be read as one number.
_PARTS: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = ((8, np.uint64), (4, np.uint32))
# The first id among so many rows shows how the ids of a frame are written.
_FIRST = 1_000
# Fewer ids that another frame lacks are exceptions, such as deleted matters, unless it lacks all of a few.
_SEVERAL, _FEW, _SHARE = 5, 3, 0.1
_REPEATED_ROWS = Rule(
    name="repeated_rows",
    seen="{subject}: {n} {n:row|rows} repeated, equal in every column (for example {id} {example}). Each record counts "
    "once.",
    causes="A merge may have repeated rows, or two overlapping loads may have been concatenated.",
    unit="rows",
)
_UUID = re.compile(r"\{?[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}\}?", re.IGNORECASE)


def is_unique(frame: nw.DataFrame[Any], native: Any, column: str) -> bool:
    """
    Tell whether the ids of a frame are certainly unique; False if the ids must be counted.

    `native` is the frame as the user passed it, which may have information about its load.
    """
    info = load_info(native)
    if (info is not None and info.rows == len(frame)) or len(frame) < 2:
        return True
    numbers = _as_numbers(frame.get_column(column))
    return numbers is not None and not _has_repeats(numbers)


def _as_numbers(ids: nw.Series[Any]) -> Numbers | None:
    """Convert each id to a number; None if the ids are not text or not of one length, or some are missing."""
    if ids.null_count():
        return None
    if ids.implementation.is_polars():
        hashed: Numbers = ids.to_native().hash().to_numpy()
        return hashed
    if ids.dtype != nw.String:
        return None
    texts: pa.ChunkedArray = ids.to_native()
    return _texts_as_numbers(texts.combine_chunks().cast(pa.large_string()))


def _texts_as_numbers(texts: pa.LargeStringArray) -> Numbers | None:
    """Add up the parts of each text, of eight or four bytes, times odd numbers; the last two parts may overlap."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    size = int(bounds[1] - bounds[0])
    width, kind = next((each for each in _PARTS if each[0] <= size), (0, None))
    if kind is None or data is None or not bool((np.diff(bounds) == size).all()):
        return None
    total = np.zeros(len(texts), np.uint64)
    for nth, start in enumerate([*range(0, size - width, width), size - width], 1):
        # This view of the same part of each text copies nothing.
        part = np.ndarray(len(texts), kind, data, int(bounds[0]) + start, (size,))
        total += part * np.uint64(pow(0x9E3779B97F4A7C15, nth, 1 << 64) | 1)
    return total


def _has_repeats(numbers: Numbers) -> bool:
    """
    Tell whether a number occurs twice.

    The first bits of a number are its place in a table that has two to four times as many places. Only numbers that
    share their place with another are sorted, so that equal ones are neighbours. Up to some hundred thousand numbers,
    the table fits the processor's cache.
    """
    bits = len(numbers).bit_length() + 1
    places = (numbers >> np.uint64(64 - bits)).view(np.int64)
    rows = np.arange(len(numbers), dtype=np.uint32)
    row_at = np.empty(1 << bits, np.uint32)
    row_at[places] = rows
    same_place = row_at[places]
    sharing = np.flatnonzero(same_place != rows)
    sharers = numbers[sharing]
    if (sharers == numbers[same_place[sharing]]).any():
        return True
    sharers.sort()
    return bool((sharers[1:] == sharers[:-1]).any())


def drop_repeated(frame: Frame, name: str, id_: str, notes: Notes) -> Frame:
    """
    Keep one of the rows of each id, and all rows without an id, which may be different records; note dropped rows.

    Different rows with the same id are refused.
    """
    named = frame.filter(~C(id_).is_null())
    ids = named.select(id_).group_by(id_).agg(_rows=nw.len()).filter(C("_rows") > 1)
    repeated = collect_values((ids, {"count": nw.len(), "rows": C("_rows").sum(), "example": C(id_).min()}))
    if not repeated["count"]:
        return frame
    distinct = _comparable(named)
    distinct = distinct.join(arrow_rows(ids.select(id_)), on=id_, how="inner")
    unequal = distinct.unique().group_by(id_).agg(_rows=nw.len()).filter(C("_rows") > 1)
    different = collect_values((unequal, {"count": nw.len(), "example": C(id_).min()}))
    if different["count"]:
        _refuse(name, id_, different)
    rows = repeated["rows"] - repeated["count"]
    notes.add(_REPEATED_ROWS, rows, name, about=name, id=f"`{id_}`", example=repeated["example"])
    unique = named.unique(subset=[id_], keep="any")
    unnamed = frame.filter(C(id_).is_null())
    return nw.concat([unique, unnamed]) if collect_values((unnamed, {"count": nw.len()}))["count"] else unique


def _refuse(name: str, id_: str, different: Mapping[str, Any]) -> NoReturn:
    raise ParameterError(
        f"{name} has different rows with the same {id_}, for example {different['example']} ({different['count']:,} in "
        "all). Each record must occur once. If two loads are concatenated, a record that changed between them occurs "
        f"twice. Load {name} once for the whole period, or keep the later version of each record."
    )


def _comparable(frame: Frame) -> Frame:
    """Convert lists in Arrow tables to text, because Arrow can't compare lists."""
    frame = arrow_rows(frame)
    table = frame.to_native()
    if not isinstance(table, pa.Table):
        return frame
    for at, each in enumerate(table.schema):
        if pa.types.is_nested(each.type):
            table = table.set_column(at, each.name, pa.array([repr(value) for value in table[each.name].to_pylist()]))
    return cast("Frame", nw.from_native(table))


def refuse_unlike_ids(frames: Mapping[str, Frame]) -> None:
    """
    Refuse frames in memory that write the same ids differently, because their rows would not find each other.

    These are spaces around an id, and UUIDs in capital letters, in braces or without hyphens, as databases export them.
    """
    eager: dict[str, Any] = {name: frame for name, frame in frames.items() if isinstance(frame, nw.DataFrame)}
    for column in IDS.values():
        there = [name for name, frame in eager.items() if column in column_names(frame)]
        first = {name: _first_id(eager[name], column) for name in there if len(there) > 1}
        for one, other in itertools.combinations([name for name in first if first[name]], 2):
            if _is_unlike(first[one], first[other]):
                raise ParameterError(
                    f"{column} is written in different ways: {one} has {first[one]!r}, and {other} has "
                    f"{first[other]!r}. Rows with the same id would not find each other. Write the ids alike in all "
                    f"frames, in pandas for example frame['{column}'].str.strip().str.lower()."
                )


def _first_id(frame: nw.DataFrame[Any], column: str) -> str:
    """Return the first id among the first rows; an empty text if it is not text."""
    ids = frame.get_column(column).head(_FIRST).to_list()
    return next((each for each in ids if isinstance(each, str) and each.strip()), "")


def _is_unlike(one: str, other: str) -> bool:
    uuids = all(_UUID.fullmatch(each.strip()) for each in (one, other))
    return _spelling(one, uuid=uuids) != _spelling(other, uuid=uuids)


def _spelling(id_: str, *, uuid: bool) -> tuple[bool, ...]:
    """Tell whether an id has spaces around it, and whether a UUID has braces, hyphens and capital letters."""
    spaces = id_ != id_.strip()
    return (spaces, "{" in id_, "-" in id_, id_ != id_.lower()) if uuid else (spaces,)


def are_many(missing: int, count: int) -> bool:
    """
    Tell whether another frame lacks so many of the ids of a frame that these are not exceptions.

    Examples
    --------
    >>> are_many(5, 20), are_many(5, 100), are_many(1, 3), are_many(3, 3), are_many(1, 1)
    (True, False, False, True, False)
    """
    return (missing >= _SEVERAL and missing > count * _SHARE) or missing == count >= _FEW


def count_many_missing(ids: Frame) -> tuple[int, int] | None:
    """
    Count the ids that another frame lacks (rows without `_found`), and all ids; None if they are not many.

    One query is computed.
    """
    counts = collect_counts((ids, {"all": nw.len(), "found": C("_found").count()}))
    missing, count = int(counts["all"] - counts["found"]), int(counts["all"])
    return (missing, count) if are_many(missing, count) else None
