"""Declare the columns of frames, and dictionary-encode those with repeated values.

A column's kind determines its type in Arrow, and by that in pandas:

======== =============================================== ==============================
kind     Arrow                                           pandas
======== =============================================== ==============================
id, text string; if repeated, dictionary of large_string str
enum     dictionary of string                            category, in declared order
date     date32                                          datetime64[us]
instant  timestamp[us, UTC]                              datetime64[us, UTC]
time     time64[us]                                      time64[us][pyarrow]
flag     bool                                            bool, or boolean if nullable
money    double                                          float64
hours    double                                          float64
rate     double                                          float64 (money an hour)
number   double                                          float64
texts    list of string                                  object: lists of str, or None
======== =============================================== ==============================

A `required` column is declared not null in Arrow. Only this decides between `bool` and `boolean` in pandas.

In one load, the ids and names of clients, matters and people repeat thousands of times, and so do the values of enums.
The values of each page are dictionary-encoded when it is received. A table's column has one dictionary for all pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
REPEATED_TEXT = pa.dictionary(pa.int32(), pa.large_string())
"""The type of a column of repeated text."""
ENCODED_TEXT = pa.dictionary(pa.int32(), pa.string())
"""The type of a page's encoded values."""


@dataclass(frozen=True, slots=True)
class Column:
    """
    One column of a frame.

    `values` are an enum's declared values. The column is filled only if the detail `select` is requested and the
    credential has the scope `scope`, if there are such. `missing` is the meaning of a missing value. `repeated` text
    (codes, and the ids and names of other records) is dictionary-encoded in Arrow. The type of its dictionary differs
    from an enum's, so that the two can be distinguished.
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
            return REPEATED_TEXT
        return enum_type(len(self.values)) if self.kind == "enum" else _TYPES[self.kind]

    @property
    def field(self) -> pa.Field:
        """The column as Arrow declares it."""
        return pa.field(self.name, self.type, nullable=not self.required)


def enum_type(value_count: int) -> pa.DataType:
    """Return the type of an enum of that many values: one byte per row for up to 128 of them."""
    return pa.dictionary(pa.int8() if value_count <= 128 else pa.int32(), pa.string())


def decode_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a dictionary-encoded column; any other column is returned unchanged."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def dictionary_encode(values: Sequence[str | None]) -> pa.DictionaryArray:
    """Dictionary-encode a page's values."""
    return pa.array(values, pa.string()).dictionary_encode()


def join_pages(pages: pa.ChunkedArray) -> pa.DictionaryArray:
    """Concatenate encoded pages, with one dictionary for all."""
    return pages.unify_dictionaries().combine_chunks()


def without_empty_texts(column: pa.DictionaryArray | pa.ChunkedArray) -> pa.DictionaryArray | pa.ChunkedArray:
    """Return a column of text, encoded or not, with empty texts as missing values."""
    encoded = isinstance(column, pa.DictionaryArray)
    values, empty = (column.indices, pc.index(column.dictionary, "")) if encoded else (column, pa.scalar(""))
    if pc.index(values, empty).as_py() < 0:
        return column
    filled = pc.if_else(pc.equal(values, empty), None, values)
    return pa.DictionaryArray.from_arrays(filled, column.dictionary) if encoded else filled


def repeated_column(encoded: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return repeated text as a column of a table; its dictionary has the texts in order of first appearance."""
    named = encoded.indices.dictionary_encode()
    texts = encoded.dictionary.cast(REPEATED_TEXT.value_type).take(named.dictionary)
    return pa.DictionaryArray.from_arrays(named.indices, texts)


def _undeclared(encoded: pa.DictionaryArray, declared: Sequence[str]) -> list[str]:
    """Return the values of an enum that are not declared, sorted; case is ignored."""
    known = {value.casefold() for value in declared}
    used = encoded.dictionary.take(pc.unique(encoded.indices.drop_null())).to_pylist()
    return sorted(text for text in used if text.casefold() not in known)


def enum_column(encoded: pa.DictionaryArray, declared: Sequence[str]) -> pa.DictionaryArray:
    """Return an enum as a column of a table; the declared values come first, then others, sorted."""
    texts = [*declared, *_undeclared(encoded, declared)]
    place_of = {text: place for place, text in reversed(list(enumerate(texts)))}
    # Declared values are matched as they are written, else without regard to case.
    by_case = {value.casefold(): place_of[value] for value in reversed(declared)}
    places = [place_of.get(text, by_case.get(text.casefold(), 0)) for text in encoded.dictionary.to_pylist()]
    kind = enum_type(len(texts)).index_type
    numbers = pa.array(np.array(places, kind.to_pandas_dtype())).take(encoded.indices)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(texts, pa.string()))
