"""Declare columns (their name, the kind of value they hold, their notes), and dictionary-encode those that repeat.

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

The ids and names of clients, matters and people come thousands of times over in one load, and so do enums. A page's
values are encoded as they come, each different one once. A table's column has one dictionary for all pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "ENCODED",
    "REPEATED",
    "Column",
    "encode",
    "enum_column",
    "enum_type",
    "joined",
    "plain",
    "repeated_column",
    "schema_of",
]

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
"""The type of a column of repeated text."""
ENCODED = pa.dictionary(pa.int32(), pa.string())
"""The type of a page's encoded values."""


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


def encode(values: Sequence[str | None]) -> pa.DictionaryArray:
    """Encode a page's values."""
    return pa.array(values, pa.string()).dictionary_encode()


def joined(pages: pa.ChunkedArray) -> pa.DictionaryArray:
    """Put encoded pages together under one dictionary."""
    return pages.unify_dictionaries().combine_chunks()


def repeated_column(encoded: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return repeated text as a column of a table; its dictionary has the texts in the order of its rows."""
    named = encoded.indices.dictionary_encode()
    texts = encoded.dictionary.cast(REPEATED.value_type).take(named.dictionary)
    return pa.DictionaryArray.from_arrays(named.indices, texts)


def _undeclared(encoded: pa.DictionaryArray, declared: Sequence[str]) -> list[str]:
    """Return the values of an enum that are not declared, in order; case does not count."""
    known = {value.casefold() for value in declared}
    used = encoded.dictionary.take(pc.unique(encoded.indices.drop_null())).to_pylist()
    return sorted(text for text in used if text.casefold() not in known)


def enum_column(encoded: pa.DictionaryArray, declared: Sequence[str]) -> pa.DictionaryArray:
    """Return an enum as a column of a table: declared values in their order, then others in order of their text."""
    texts = [*declared, *_undeclared(encoded, declared)]
    place_of = {text: place for place, text in reversed(list(enumerate(texts)))}
    # Declared values are matched as they are written, else without regard to case.
    by_case = {value.casefold(): place_of[value] for value in reversed(declared)}
    places = [place_of.get(text, by_case.get(text.casefold(), 0)) for text in encoded.dictionary.to_pylist()]
    kind = enum_type(len(texts)).index_type
    numbers = pa.array(np.array(places, kind.to_pandas_dtype())).take(encoded.indices)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(texts, pa.string()))
