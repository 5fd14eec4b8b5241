"""Make the key columns of results: ids with their labels, single values, and the names of periods."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.data.engine import stack
from billframes.analysis.data.expressions import null_column, period_numbers
from billframes.analysis.declare.columns import UNASSIGNED, UNKNOWN, Frame
from billframes.analysis.keys.by import Key
from billframes.periods import FiscalYear

C = nw.col
_EPOCH, _DAY = dt.date(1970, 1, 1).toordinal(), 86_400_000_000  # in microseconds


def key_columns(key: Key, types: Mapping[str, Any]) -> Iterable[nw.Expr]:
    """Yield the result columns of a key; rows without an id have no label."""
    id_ = _first_known(key.parts[0], types)
    for name, parts in zip(key.columns, key.parts, strict=True):
        labelled = nw.when(~id_.is_null()).then(_first_known(parts, types))
        yield (id_ if name == key.columns[0] else labelled).alias(name)


def _first_known(columns: Sequence[str], types: Mapping[str, Any]) -> nw.Expr:
    """Return the first value that is neither missing nor an empty text, of the columns with the type of the first."""
    alike = [name for name in columns if types[name] == types[columns[0]]]
    # Readers of CSV files return empty texts for missing ones.
    known = [nw.when(C(name) != "").then(C(name)) if types[name] == nw.String else C(name) for name in alike]
    return nw.coalesce(*known) if len(known) > 1 else known[0] if known else null_column(nw.String)


def own_labels(key: Key) -> Iterable[nw.Expr]:
    """Return a key's columns, without labels that are only the id: another part may have the name."""
    id_ = C(key.columns[0])
    return [id_, *[nw.when(C(label) != id_).then(C(label)).alias(label) for label in key.columns[1:]]]


def label_of_key(key: Key) -> nw.Expr:
    """Return the label of a key; rows without a label have their id, or the word for missing values."""
    id_, label = key.columns
    return nw.coalesce(label, id_).fill_null(key.missing).alias(label)


def period_number(time: str, date: nw.Expr, fiscal: FiscalYear) -> nw.Expr:
    """Return the number of a date's week, month, quarter or year."""
    year, month, day = (part.cast(nw.Int64) for part in (date.dt.year(), date.dt.month(), date.dt.day()))
    number: nw.Expr = period_numbers(year, month, day, fiscal)[time]
    return number


def period_name(time: str) -> nw.Expr:
    """Return the name of a period, such as "2026-W41", "2026-10", "2026-Q4" or "FY2026"; a year stays a number."""
    if time == "year":
        return C("year")
    if time == "week":
        # A week belongs to the year of its Thursday.
        thursday = ((C(time) * 7 + 4 - _EPOCH) * _DAY).cast(nw.Datetime("us")).dt
        number = ((thursday.ordinal_day().cast(nw.Int64) - 1) // 7 + 1).cast(nw.String).str.zfill(2)
        return nw.concat_str(thursday.year().cast(nw.String), nw.lit("-W"), number)
    if time == "fiscal_year":
        return nw.concat_str(nw.lit("FY"), C(time).cast(nw.String))
    size, separator = (100, "-") if time == "month" else (10, "-Q")
    year = C(time) // size
    number = (C(time) - year * size).cast(nw.String)
    number = number.str.zfill(2) if time == "month" else number
    start = [nw.lit("FY")] if time == "fiscal_quarter" else []
    return nw.concat_str(*start, year.cast(nw.String), nw.lit(separator), number)


def of_fact(key: Key) -> Key:
    """Return a key as the rows of facts have it: with the matter's type as a column of their own."""
    if key.columns == ("matter_type",):
        return Key(key.columns, ("matter_type",), (("matter_type",),), missing=UNKNOWN)
    return key


def as_text(rows: Frame) -> Frame:
    """Return rows whose coded text is text."""
    coded = [name for name, dtype in rows.collect_schema().items() if dtype in (nw.Categorical, nw.Enum)]
    return rows.with_columns(C(*coded).cast(nw.String)) if coded else rows


def concat_keys(parts: Sequence[Frame], names: Sequence[str]) -> Frame:
    """Concatenate frames; columns of keys are cast to the types of the first frame."""
    types = parts[0].collect_schema()
    return stack([parts[0], *(_with_types(part, {name: types[name] for name in names}) for part in parts[1:])])


def _with_types(part: Frame, types: Mapping[str, Any]) -> Frame:
    there = part.collect_schema()
    casts = [_cast(name, there[name], dtype) for name, dtype in types.items() if there[name] != dtype]
    return part.with_columns(*casts) if casts else part


def _cast(name: str, present: Any, dtype: Any) -> nw.Expr:
    """Cast a key; a frame without a key that is a number or a date elsewhere has the label of missing keys as text."""
    is_value = ~C(name).is_in([UNASSIGNED, UNKNOWN])
    return (nw.when(is_value).then(C(name)) if present == nw.String else C(name)).cast(dtype).alias(name)
