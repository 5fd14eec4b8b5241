"""Dictionary-encode columns with repeated values.

The ids and names of clients, matters and people come thousands of times over in one load, and so do enums. A page's
values are encoded as they come, each different one once. A table's column has one dictionary for all pages.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from billframes.schema.columns import REPEATED, enum_type

__all__ = ["ENCODED", "encode", "enum_column", "joined", "repeated_column", "undeclared"]

ENCODED = pa.dictionary(pa.int32(), pa.string())
"""The type of a page's encoded values."""


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


def undeclared(encoded: pa.DictionaryArray, declared: Sequence[str]) -> list[str]:
    """Return the values of an enum that are not declared, in order; case does not count."""
    known = {value.casefold() for value in declared}
    used = encoded.dictionary.take(pc.unique(encoded.indices.drop_null())).to_pylist()
    return sorted(text for text in used if text.casefold() not in known)


def enum_column(encoded: pa.DictionaryArray, declared: Sequence[str]) -> pa.DictionaryArray:
    """Return an enum as a column of a table: declared values in their order, then others in order of their text."""
    texts = [*declared, *undeclared(encoded, declared)]
    place_of = {text: place for place, text in reversed(list(enumerate(texts)))}
    # Declared values are matched as they are written, else without regard to case.
    by_case = {value.casefold(): place_of[value] for value in reversed(declared)}
    places = [place_of.get(text, by_case.get(text.casefold(), 0)) for text in encoded.dictionary.to_pylist()]
    kind = enum_type(len(texts)).index_type
    numbers = pa.array(np.array(places, kind.to_pandas_dtype())).take(encoded.indices)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(texts, pa.string()))
