"""Text that repeats is kept once: a column's values become small numbers as they come.

The ids and names of clients, matters and people come thousands of times over in one load. A dict that gives each new
text the next number reads a whole column at the speed of its own lookups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from billframes.frames.columns import REPEATED

__all__ = ["Enum", "Repeated"]


class Repeated(dict[Any, Any]):
    """Numbers of texts, in the order they first came; a missing one has none."""

    def __init__(self) -> None:
        super().__init__({None: None})
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self.texts)
        self.texts.append(text)
        return number

    def encode(self, values: Iterable[Any]) -> pa.Array:
        """Return a column's numbers."""
        return pa.array(list(map(self.__getitem__, values)), pa.int32())

    def text(self, number: int | None) -> str | None:
        """Return the text of a number."""
        return None if number is None else self.texts[number]

    def column(self, numbers: pa.Array) -> pa.DictionaryArray:
        """Return a column of a table: texts in the order in which its rows name them, whatever order they came in."""
        named = numbers.dictionary_encode()
        texts = pa.array(self.texts, REPEATED.value_type).take(named.dictionary)
        return pa.DictionaryArray.from_arrays(named.indices, texts)


class Enum(Repeated):
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
        self.texts.extend(declared)
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
        return sorted(self.texts[self._declared :])

    def column(self, numbers: pa.Array) -> pa.DictionaryArray:
        """Return a column of a table: declared values in their order, then others in order of their text."""
        texts = [*self.texts[: self._declared], *self.strays]
        if self.strays:
            place_of = {text: place for place, text in enumerate(texts)}
            numbers = pa.array([place_of[text] for text in self.texts], pa.int32()).take(numbers)
        return pa.DictionaryArray.from_arrays(numbers, pa.array(texts, pa.string()))
