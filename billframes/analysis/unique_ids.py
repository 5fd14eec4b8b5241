"""Find out quickly whether ids are unique, and drop rows that are repeated.

A frame that is as its loader made it has unique ids: the load has proved it. For others, every id is made a number, and
the numbers are sorted, so that equal ones are neighbours. Different ids with the same number only lead to a closer
look.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, cast

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from billframes._messages import warn
from billframes.analysis.column_types import Frame, as_arrow
from billframes.analysis.engine import to_dicts
from billframes.errors import IncompleteDataWarning, ParameterError
from billframes.loading.load_info import load_info

__all__ = ["drop_repeated", "is_unique", "repeated_span", "row_count"]

C = nw.col

Numbers = npt.NDArray[np.uint64]

# Bytes that are read as one number: as many as the ids have.
_PARTS: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = ((8, np.uint64), (4, np.uint32))
# Without an id, two calls on one day are equal rows; but so many rows are not all there twice by chance.
_MANY = 10
# Of more rows, those of the second Wednesday of each month are looked at.
_ALL_DAYS = 50_000


def is_unique(frame: nw.DataFrame[Any], native: Any, column: str) -> bool:
    """
    Return whether the ids of a frame are surely unique; False if a closer look is needed.

    Parameters
    ----------
    frame : DataFrame
    native : frame
        The same frame as it was passed in, which may remember its load.
    column : str
    """
    if _as_loaded(native, len(frame)) or len(frame) < 2:
        return True
    numbers = _numbers(frame.get_column(column))
    return numbers is not None and not _repeat(numbers)


def _as_loaded(native: Any, rows: int) -> bool:
    info = load_info(native)
    return info is not None and info.rows == rows


def _numbers(ids: nw.Series[Any]) -> Numbers | None:
    """Make each id a number; None if the ids are not text, not of one length, or some are missing."""
    if ids.null_count():
        return None
    if ids.implementation.is_polars():
        hashed: Numbers = ids.to_native().hash().to_numpy()
        return hashed
    if ids.dtype != nw.String:
        return None
    native = ids.to_native()
    texts = pa.array(native) if isinstance(native, pd.Series) else native
    texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    return _of_texts(texts.cast(pa.large_string()))


def _of_texts(texts: pa.LargeStringArray) -> Numbers | None:
    """Add up the parts of each text, of eight or four bytes, times odd numbers; the last may overlap the one before."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    size = int(bounds[1] - bounds[0])
    width, kind = next((each for each in _PARTS if each[0] <= size), (0, None))
    if kind is None or data is None or not bool((np.diff(bounds) == size).all()):
        return None
    total = np.zeros(len(texts), np.uint64)
    for nth, start in enumerate([*range(0, size - width, width), size - width], 1):
        # A view of the same part of each text, which copies nothing.
        part = np.ndarray(len(texts), kind, data, int(bounds[0]) + start, (size,))
        total += part * np.uint64(pow(0x9E3779B97F4A7C15, nth, 1 << 64) | 1)
    return total


def _repeat(numbers: Numbers) -> bool:
    """Return whether a number occurs twice; NumPy sorts a million numbers in a quarter of the time a table takes."""
    ordered = np.sort(numbers)
    return bool((ordered[1:] == ordered[:-1]).any())


def drop_repeated(frame: Frame, name: str, id_: str) -> Frame:
    """
    Keep one of the rows of each id, if they are equal.

    All rows without an id are kept: they may be different records.
    """
    named = frame.filter(~C(id_).is_null())
    ids = named.group_by(id_).agg(_rows=nw.len()).filter(C("_rows") > 1)
    if not (again := to_dicts(ids.select(count=nw.len(), more=C("_rows").sum(), example=C(id_).min()))[0])["count"]:
        return frame
    distinct = _comparable(named)
    distinct = distinct.join(as_arrow(ids.select(id_)), on=id_, how="inner")
    unequal = distinct.unique().group_by(id_).agg(_rows=nw.len()).filter(C("_rows") > 1)
    different = to_dicts(unequal.select(count=nw.len(), example=C(id_).min()))[0]
    if different["count"]:
        _refuse(name, id_, different)
    warn(
        f"{name}: {row_count(again['more'] - again['count'])} repeated, equal in every column (for example {id_} "
        f"{again['example']}); each record counts once. Two loads that overlap were probably put together.",
        IncompleteDataWarning,
    )
    kept = named.unique(subset=[id_], keep="any")
    unnamed = frame.filter(C(id_).is_null())
    return nw.concat([kept, unnamed]) if to_dicts(unnamed.select(count=nw.len()))[0]["count"] else kept


def _refuse(name: str, id_: str, different: Mapping[str, Any]) -> NoReturn:
    raise ParameterError(
        f"{name} has different rows with the same {id_}, for example {different['example']} ({different['count']:,} in "
        "all). Each record must be there once. Two loads put together have a record twice if it was changed between "
        f"them: load {name} once for the whole period, or keep the later version of each record."
    )


def _comparable(frame: Frame) -> Frame:
    """Make rows comparable: Arrow compares no lists, so there they become text."""
    frame = as_arrow(frame)
    table = frame.to_native()
    if not isinstance(table, pa.Table):
        return frame
    for at, each in enumerate(table.schema):
        if pa.types.is_nested(each.type):
            table = table.set_column(at, each.name, pa.array([repr(value) for value in table[each.name].to_pylist()]))
    return cast("Frame", nw.from_native(table))


def repeated_span(frame: nw.DataFrame[Any]) -> tuple[str, int] | None:
    """
    Find a day or a month of which every row is there twice (or four times, and so on), in items without an id.

    Parameters
    ----------
    frame : DataFrame
        With `date`.

    Returns
    -------
    tuple of str and int, or None
        The first such month or day, and how many rows too many it has. Of frames of over 50,000 rows only the
        second Wednesday of each month is looked at.
    """
    if len(frame) < 2 * _MANY or frame.collect_schema()["date"] not in (nw.Date, nw.Datetime):
        return None
    some = C("date").dt.day().is_between(8, 14) & (C("date").dt.weekday() == 3)
    rows = frame.filter(some) if len(frame) > _ALL_DAYS else frame
    plain: Any = _comparable(cast("Frame", rows))
    texts = [name for name, dtype in plain.schema.items() if dtype in (nw.Categorical, nw.Enum, nw.Object)]
    plain = plain.with_columns(C("date").dt.date(), *[C(name).cast(nw.String) for name in texts])
    counted = plain.group_by(plain.columns).agg(_rows=nw.len())
    single = counted.with_columns(_single=C("_rows") % 2)
    days = to_dicts(single.group_by("date").agg(C("_rows", "_single").sum(), _distinct=nw.len()))
    names = ["_rows", "_single", "_distinct"]
    by_day = pd.DataFrame(days, columns=["date", *names]).astype({"date": "str"}).set_index("date")[names]
    for spans in (by_day.groupby(by_day.index.str[:7]).sum(), by_day.sort_index()):
        for span, total, odd, distinct in spans.itertuples(name=None):
            if not odd and distinct >= _MANY:
                return span, int(total - distinct)
    return None


def row_count(rows: float) -> str:
    """Return a number of rows in words, such as "1 row"."""
    return "1 row" if rows == 1 else f"{rows:,.0f} rows"
