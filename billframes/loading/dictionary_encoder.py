"""Dictionary-encode columns with repeated values, as the values come.

The ids and names of clients, matters and people come thousands of times over in one load. A dict that gives each new
value the next number reads a whole column at the speed of its own lookups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from billframes.schema.columns import REPEATED, enum_type
from billframes.schema.decode import decoder
from billframes.schema.json_text import midnights_cut

__all__ = ["UNREADABLE", "DictionaryEncoder", "EnumEncoder", "ReferenceEncoder"]

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What is raised for a reference that breaks its declaration, is not UTF-8, or is nested too deeply."""


class DictionaryEncoder(dict[Any, Any]):
    """Numbers of texts, in the order they first came; a missing one has none."""

    def __init__(self) -> None:
        super().__init__({None: None})
        self.known: list[Any] = []

    def __missing__(self, value: Any) -> int:
        return self._add(value, value)

    def _add(self, key: Any, value: Any) -> int:
        number = self[key] = len(self.known)
        self.known.append(value)
        return number

    def encode(self, values: Iterable[Any]) -> pa.Array:
        """Return a column's numbers."""
        return pa.array(list(map(self.__getitem__, values)), pa.int32())

    def value(self, number: int | None) -> Any:
        """Return the value of a number."""
        return None if number is None else self.known[number]

    def column(self, numbers: pa.Array) -> pa.DictionaryArray:
        """Return a column of a table: texts in the order in which its rows name them, whatever order they came in."""
        named = numbers.dictionary_encode()
        texts = pa.array(self.known, REPEATED.value_type).take(named.dictionary)
        return pa.DictionaryArray.from_arrays(named.indices, texts)


class ReferenceEncoder(DictionaryEncoder):
    """
    Numbers of references to other records, which come as bytes: each different one is decoded once.

    Parameters
    ----------
    kind : type of Struct
        Its declaration.
    """

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        super().__init__()
        self._decode = decoder(kind).decode
        self.update({b"": None, b"null": None})

    def __missing__(self, raw: bytes) -> int:
        try:
            return self._add(raw, self._decode(raw))
        except msgspec.ValidationError:
            cut = midnights_cut(raw)
            if cut == raw:
                raise
            return self._add(raw, self._decode(cut))

    def encode(self, values: Iterable[msgspec.Raw]) -> pa.Array:
        """
        Return a column's numbers.

        Raises
        ------
        UNREADABLE
        """
        return super().encode(map(bytes, values))


class EnumEncoder(DictionaryEncoder):
    """
    Numbers of an enum's values: the declared ones by their place, matched without regard to case.

    Parameters
    ----------
    declared : sequence of str
    """

    def __init__(self, declared: Sequence[str]) -> None:
        super().__init__()
        self._declared = len(declared)
        self._known = {value.casefold(): place for place, value in reversed(list(enumerate(declared)))}
        self.known.extend(declared)
        self.update({value: place for place, value in reversed(list(enumerate(declared)))})

    def __missing__(self, text: str) -> int:
        place = self._known.get(text.casefold())
        if place is None:
            return super().__missing__(text)
        self[text] = place
        return place

    @property
    def strays(self) -> list[str]:
        """The values that are not declared."""
        return sorted(self.known[self._declared :])

    def column(self, numbers: pa.Array) -> pa.DictionaryArray:
        """Return a column of a table: declared values in their order, then others in order of their text."""
        texts = [*self.known[: self._declared], *self.strays]
        if self.strays:
            place_of = {text: place for place, text in enumerate(texts)}
            numbers = pa.array([place_of[text] for text in self.known], pa.int32()).take(numbers)
        numbers = numbers.cast(enum_type(len(texts)).index_type)
        return pa.DictionaryArray.from_arrays(numbers, pa.array(texts, pa.string()))
