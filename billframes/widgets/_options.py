"""The values of a column to choose from: coded once as whole numbers, named, and searched.

Masks and counts work on the codes, so 200,000 rows cost a table look-up; a search looks at names only.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from billframes._names import snake_case
from billframes.widgets._fields import FilterField
from billframes.widgets._state import Value, Values

__all__ = ["UNASSIGNED", "Options", "options_of"]

UNASSIGNED = "Unassigned"
_SPOKEN = {"nonBillable": "Non-billable", "probono": "Pro bono"}
_BILLED = ("Not billed", "Billed")
_FLAG = ("No", "Yes")

Codes = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Options:
    """
    What can be chosen of a column.

    `keys` are the values themselves. `codes` hold for each row the place of its value; the last place is that of
    missing values, whether or not there are any. `totals` count the rows of each place. `order` lists the places in
    the order they are offered in.
    """

    keys: tuple[Value, ...]
    labels: tuple[str, ...]
    codes: Codes
    totals: Codes
    order: tuple[int, ...]

    @functools.cached_property
    def place(self) -> dict[Value, int]:
        """Each value's place."""
        return {value: place for place, value in enumerate(self.keys)}

    @functools.cached_property
    def _folded(self) -> list[str]:
        return [fold(label) for label in self.labels]

    def mask(self, choice: Values) -> Mask:
        """Tell which rows have one of the values."""
        wanted = np.zeros(len(self.keys), dtype=bool)
        wanted[[self.place[value] for value in choice if value in self.place]] = True
        return wanted[self.codes]

    def counts(self, mask: Mask) -> Codes:
        """Count the rows of each place among those of the mask."""
        return np.bincount(self.codes[mask], minlength=len(self.keys))

    def label(self, value: Value) -> str:
        """Name a value, also one that no row has."""
        place = self.place.get(value)
        return self.labels[place] if place is not None else f"{value} (not in these rows)"

    def search(self, text: str) -> list[int]:
        """
        Find the places whose name has all the words, those it begins with first; all of them for no words.

        Case and accents don't matter.
        """
        words = fold(text).split()
        if not words:
            return list(self.order)
        hits = [place for place in self.order if all(word in self._folded[place] for word in words)]
        return sorted(hits, key=lambda place: not self._folded[place].startswith(words[0]))


def fold(text: str) -> str:
    """
    Take case and accents off, for searching.

    Examples
    --------
    >>> fold("Söhne & Cie")
    'sohne & cie'
    """
    apart = unicodedata.normalize("NFKD", text)
    return "".join(each for each in apart if not unicodedata.combining(each)).casefold()


def options_of(frame: pd.DataFrame, field: FilterField) -> Options:
    """
    Code a column.

    Values come in their declared order where the column is of categories, else most rows first, then by name.

    Examples
    --------
    >>> frame = pd.DataFrame({"client_id": ["c1", "c2", "c2", None], "client_name": ["Acme", "Acme", "Acme", None]})
    >>> options = options_of(frame, FilterField("client_id", "Client", "choice", label="client_name"))
    >>> [options.labels[place] for place in options.order]
    ['Acme (c2)', 'Acme (c1)', 'Unassigned']
    """
    codes, values = _coded(frame[field.column])
    codes = np.where(codes < 0, len(values), codes).astype(np.intp)
    labels = [*_labels(frame, field, codes, values), UNASSIGNED]
    totals = np.bincount(codes, minlength=len(values) + 1)
    there = [place for place in range(len(values)) if totals[place]]
    if not isinstance(frame[field.column].dtype, pd.CategoricalDtype):
        there.sort(key=lambda place: (-totals[place], fold(labels[place])))
    order = (*there, *([len(values)] if totals[-1] else []))
    return Options((*values, None), tuple(labels), codes, totals, order)


def _coded(column: pd.Series[Any]) -> tuple[Any, list[Value]]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    codes, values = pd.factorize(column)
    return codes, [bool(value) if pd.api.types.is_bool_dtype(column.dtype) else value for value in values]


def _labels(frame: pd.DataFrame, field: FilterField, codes: Codes, values: Sequence[Value]) -> list[str]:
    if field.label is None:
        return [_spoken(value, field) for value in values]
    names = _first_of(frame[field.label], codes, len(values))
    shown = [str(value) if name is None else name for name, value in zip(names, values, strict=True)]
    twice = pd.Series(shown, dtype="str").duplicated(keep=False)
    if not twice.any():
        return shown
    references = _first_of(frame[field.reference], codes, len(values)) if field.reference else [None] * len(values)
    return [
        f"{name} ({reference or str(value)[:8]})" if again else name
        for name, reference, value, again in zip(shown, references, values, twice, strict=True)
    ]


def _first_of(column: pd.Series[Any], codes: Codes, size: int) -> list[str | None]:
    """Return for each value the first name that a row gives it."""
    known = np.flatnonzero((column.notna() & (column != "")).to_numpy() & (codes < size))
    names: list[str | None] = [None] * size
    places, rows = np.unique(codes[known], return_index=True)
    for place, name in zip(places.tolist(), column.iloc[known[rows]].tolist(), strict=True):
        names[place] = str(name)
    return names


def _spoken(value: Value, field: FilterField) -> str:
    if isinstance(value, bool):
        return (_BILLED if field.column == "billed" else _FLAG)[value]
    # The API's own words are camelCase; a firm's are as the firm wrote them.
    if isinstance(value, str) and "cf_" not in field.column and value.isidentifier():
        return _SPOKEN.get(value) or snake_case(value).replace("_", " ").capitalize()
    return str(value)
