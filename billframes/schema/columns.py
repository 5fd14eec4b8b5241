"""The declaration of a column: its name, the kind of value it holds, and its notes.

A kind decides the type in Arrow, and so everywhere else:

======== ======================== ============================
kind     Arrow                    pandas
======== ======================== ============================
id, text string                   str
repeated dictionary of large_string str (ids and text of other records, codes)
enum     dictionary of string     category, in declared order
date     date32                   datetime64[us]
instant  timestamp[us, UTC]       datetime64[us, UTC]
time     time64[us]               time64[us][pyarrow]
flag     bool                     bool, or boolean if nullable
money    double                   float64
hours    double                   float64
rate     double                   float64 (money an hour)
number   double                   float64
texts    list of string           object: lists of str, or None
======== ======================== ============================

A column that is `required` is declared not null in Arrow; that alone tells `bool` from `boolean`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import pyarrow as pa

__all__ = ["REPEATED", "Column", "enum_type", "plain", "schema_of", "side_by_side"]

S = TypeVar("S")
T = TypeVar("T")

_TYPES: dict[str, pa.DataType] = {
    "id": pa.string(),
    "text": pa.string(),
    "date": pa.date32(),
    "instant": pa.timestamp("us", tz="UTC"),
    "time": pa.time64("us"),
    "flag": pa.bool_(),
    "money": pa.float64(),
    "hours": pa.float64(),
    "rate": pa.float64(),
    "number": pa.float64(),
    "texts": pa.list_(pa.string()),
}
REPEATED = pa.dictionary(pa.int32(), pa.large_string())


@dataclass(frozen=True, slots=True)
class Column:
    """
    One column of a frame.

    `values` are an enum's declared values; `select` and `scope` say what it takes for the column to be filled;
    `missing` says what it means when a value is missing. Text that is `repeated` (codes, and the ids and names of other
    records) is dictionary-encoded in Arrow, with values of another type than an enum's, so that the two can be
    distinguished.
    """

    name: str
    kind: str
    required: bool = False
    values: tuple[str, ...] = ()
    description: str = ""
    missing: str = ""
    select: str | None = None
    scope: str | None = None
    repeated: bool = False

    @property
    def type(self) -> pa.DataType:
        """The column's type in Arrow."""
        if self.repeated:
            return REPEATED
        return enum_type(len(self.values)) if self.kind == "enum" else _TYPES[self.kind]

    @property
    def field(self) -> pa.Field:
        """The column as Arrow declares it."""
        return pa.field(self.name, self.type, nullable=not self.required)


def enum_type(values: int) -> pa.DataType:
    """Return the type of an enum of so many values: a byte a row as long as that can number them."""
    return pa.dictionary(pa.int8() if values <= 128 else pa.int32(), pa.string())


def schema_of(columns: tuple[Column, ...]) -> pa.Schema:
    """Arrow's schema of a table with these columns."""
    return pa.schema([column.field for column in columns])


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary-encoded column's values, any other column as it is."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def side_by_side(function: Callable[[S], T], columns: Iterable[S]) -> list[T]:
    """Call a function for each column, a thread a processor: Arrow works without Python's lock."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(function, columns))
