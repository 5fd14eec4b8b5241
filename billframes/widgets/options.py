"""The values of a column as options: encoded as integers, with names, counts and a search.

Masks and counts use the integers, which is fast for 200,000 rows. A search reads only the names.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from billframes._shared.format import enum_label
from billframes._shared.names import distinct_names
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.widgets.filter_fields import FilterField
from billframes.widgets.state import Value, Values

_BILLED = ("Not billed", "Billed")
_FLAG = ("No", "Yes")

Positions = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class ColumnOptions:
    """
    The options of a column.

    `codes` has for each row the position of its value in `keys`; the last position is for missing values, even if there
    are none. `totals` counts the rows of each position, and `order` lists the positions in the order of display.
    """

    keys: tuple[Value, ...]
    labels: tuple[str, ...]
    codes: Positions
    totals: Positions
    order: tuple[int, ...]

    @functools.cached_property
    def place(self) -> dict[Value, int]:
        """Each value's position in `keys`."""
        return {value: place for place, value in enumerate(self.keys)}

    @functools.cached_property
    def _folded(self) -> list[str]:
        return [fold(label) for label in self.labels]

    def mask(self, choice: Values) -> Mask:
        """Return which rows have one of the values."""
        wanted = np.zeros(len(self.keys), dtype=bool)
        wanted[[self.place[value] for value in choice if value in self.place]] = True
        return wanted[self.codes]

    def counts(self, mask: Mask) -> Positions:
        """Count the rows in the mask by position."""
        return np.bincount(self.codes[mask], minlength=len(self.keys))

    def label(self, value: Value) -> str:
        """Return the name of a value, even if no row has it."""
        place = self.place.get(value)
        return self.labels[place] if place is not None else f"{value} (not in these rows)"

    def search(self, text: str) -> list[int]:
        """
        Return the positions of the names that contain all words. Names that begin with the first word come first.

        Case and accents are ignored. Without words, all positions are returned.
        """
        words = fold(text).split()
        if not words:
            return list(self.order)
        folded, hits = self._folded, list(self.order)
        for word in words:
            hits = [place for place in hits if word in folded[place]]
        return sorted(hits, key=lambda place: not folded[place].startswith(words[0]))


def fold(text: str) -> str:
    """Remove case and accents for searching."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(each for each in decomposed if not unicodedata.combining(each)).casefold()


def options_of(frame: pd.DataFrame, field: FilterField) -> ColumnOptions:
    """Encode a column. Values of a categorical column keep their order; others are sorted by name, numbers by size."""
    codes, values = _encode(frame[field.column])
    codes = np.where(codes < 0, len(values), codes).astype(np.intp)
    labels = [*_labels(frame, field, codes, values), f"{UNASSIGNED} (no {field.noun})"]
    totals = np.bincount(codes, minlength=len(values) + 1)
    present = [place for place in range(len(values)) if totals[place]]
    if not isinstance(frame[field.column].dtype, pd.CategoricalDtype):
        present.sort(key=lambda place: _sort_key(values[place], labels[place]))
    order = (*present, *([len(values)] if totals[-1] else []))
    return ColumnOptions((*values, None), tuple(labels), codes, totals, order)


def _encode(column: pd.Series[Any]) -> tuple[Any, list[Value]]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    codes, values = pd.factorize(column)
    return codes, [bool(value) if pd.api.types.is_bool_dtype(column.dtype) else value for value in values]


def _labels(frame: pd.DataFrame, field: FilterField, codes: Positions, values: Sequence[Value]) -> list[str]:
    if field.label is None:
        return [_value_label(value, field) for value in values]
    names = _first_of(frame[field.label], codes, len(values))
    labels = [str(value) if name is None else name for name, value in zip(names, values, strict=True)]
    if len(set(labels)) == len(labels):
        return labels
    references = _first_of(frame[field.reference], codes, len(values)) if field.reference else [None] * len(values)
    return distinct_names(labels, values, references)


def _first_of(column: pd.Series[Any], codes: Positions, size: int) -> list[str | None]:
    """Return for each value the name in the first row that has one."""
    known = np.flatnonzero((column.notna() & (column != "")).to_numpy() & (codes < size))
    names: list[str | None] = [None] * size
    places, rows = np.unique(codes[known], return_index=True)
    for place, name in zip(places.tolist(), column.iloc[known[rows]].tolist(), strict=True):
        names[place] = str(name)
    return names


def _sort_key(value: Value, label: str) -> tuple[float, str]:
    number = isinstance(value, int) and not isinstance(value, bool)
    return (float(value), "") if number else (0.0, fold(label))  # type: ignore[arg-type]


def _value_label(value: Value, field: FilterField) -> str:
    if isinstance(value, bool):
        return (_BILLED if field.column == "billed" else _FLAG)[value]
    # The API's enum values are camelCase; a firm's own texts are shown as written.
    if isinstance(value, str) and "cf_" not in field.column and value.isidentifier():
        return enum_label(value)
    return str(value)
