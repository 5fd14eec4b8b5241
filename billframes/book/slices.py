"""Slice a book by client, practice area or responsible lawyer.

Analyses allocate the amount of an invoice to all work on it, so no rows may be removed before they run. They run on the
whole book instead, grouped by the slice's key as well, and a slice is the rows of one value of that key. All slices,
with the slice of missing values, therefore add up to the book to the cent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import pandas as pd

from billframes.analysis.declare.columns import ITEMS
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.spec import parameters
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.sheets.lockup import lockup_of_book
from billframes.book import Book
from billframes.book.kept import KeptResults
from billframes.periods import DateLike

SliceKey = Literal["client", "practice_area", "responsible"]
SLICE_KEYS: tuple[SliceKey, ...] = ("client", "practice_area", "responsible")
# A client can be new, although the firm's data go back further.
_OF_BOOK = ("settings", "clients", "first_day", "_days")
_DIVIDED = ("utilization", "realization", "aging", "wip", "contribution")


def add_keys(by: By, keys: Sequence[str]) -> By:
    """Add keys to `by`."""
    if not keys:
        return by
    names = list(dict.fromkeys([*names_in(by), *keys]))
    return names[0] if len(names) == 1 else names


def keep_rows(result: pd.DataFrame, values: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have these values; None stands for a missing value."""
    for column, value in values.items():
        result = result[result[column].isna() if value is None else (result[column] == value).fillna(False)]
    return result.reset_index(drop=True)


class SlicedBook:
    """A book sliced by one of `SLICE_KEYS`; each analysis runs once for all slices."""

    def __init__(self, book: Book, key: SliceKey) -> None:
        self.book = book
        self.key = key
        # The warnings concern every slice, not only the first one.
        self._results = KeptResults()

    def slice(self, id_: str | None) -> BookSlice:
        """Return the slice of an id; None is the slice without a client, practice area or responsible lawyer."""
        return BookSlice(self, id_)

    def result(self, analysis: str, by: By, options: Mapping[str, Any]) -> pd.DataFrame:
        """Return an analysis of the whole book, grouped by the key as well."""
        method = getattr(self.book, analysis)
        return self._results.get((analysis, by, options), lambda: method(add_keys(by, [self.key]), **options))


class BookSlice:
    """
    The part of a book that belongs to one client, practice area or responsible lawyer.

    It has the analyses that can be divided. Results have the columns of the book's results, without those of the key.
    An invoice of several matters counts with the share of this slice's matters. Available hours can't be divided, so
    utilization is missing.
    """

    def __init__(self, sliced: SlicedBook, id_: str | None) -> None:
        self.sliced = sliced
        self.id = id_
        self._column, self._label = PEOPLE_AND_MATTERS[sliced.key]

    @property
    def time_entries(self) -> pd.DataFrame:
        """Time entries on the slice's matters, whatever their date."""
        return self._items("time_entries")

    @property
    def invoices(self) -> pd.DataFrame:
        """Invoices of the client, or invoices with an item on the slice's matters, each with its whole amount."""
        invoices = self.sliced.book.invoices
        if self.sliced.key == "client":
            return keep_rows(invoices, {"client_id": self.id})
        on_slice = invoices["invoice_id"].isin(_invoice_ids(self._items(name) for name in ITEMS))
        if self.id is None:
            # An invoice without items, such as a credit note, has no matter.
            on_slice |= ~invoices["invoice_id"].isin(_invoice_ids(getattr(self.sliced.book, name) for name in ITEMS))
        return invoices[on_slice].reset_index(drop=True)

    def __getattr__(self, name: str) -> Any:
        """Return what is the same for all slices, or a method, such as `realization`, that gives the slice's rows."""
        if name in _OF_BOOK:
            return getattr(self.sliced.book, name)
        if name not in _DIVIDED:
            raise AttributeError(f"A slice of a book has no {name!r}.")
        default = parameters(analyses()[name].function)["by"].default
        return lambda by=default, **options: self._rows(name, by, **options)

    def lockup(self, by: By = None, *, as_of: DateLike | None = None, days: int = 365) -> pd.DataFrame:
        """Days of the slice's fees tied up in its work in progress and receivables; see `Book.lockup`."""
        return lockup_of_book(self, by=by, as_of=as_of, days=days)

    def reconcile(self, *, start: DateLike | None = None, end: DateLike | None = None) -> pd.DataFrame:
        """Compare the client's invoices with their items; other keys have no rows, but only parts of invoices."""
        whole = self.sliced.book.reconcile(start=start, end=end)
        return keep_rows(whole, {"client_id": self.id}) if self.sliced.key == "client" else whole.iloc[:0]

    def _rows(self, analysis: str, by: By, **options: Any) -> pd.DataFrame:
        whole = self.sliced.result(analysis, by, options)
        rows = keep_rows(whole, {self._column: self.id})
        if by == self.sliced.key:
            return rows
        rows = rows.drop(columns=[self._column, self._label])
        return rows if len(rows) or by is not None else row_of_zeros(whole.drop(columns=[self._column, self._label]))

    def _items(self, name: str) -> pd.DataFrame:
        """Return the slice's records: by their own client, or by their matter's practice area or lawyer."""
        items: pd.DataFrame = getattr(self.sliced.book, name)
        if self.sliced.key == "client":
            return keep_rows(items, {"client_id": self.id})
        matters = self.sliced.book.matters
        of_matter = items["matter_id"].map(matters.set_index("matter_id")[self._column])
        return items[of_matter.isna() if self.id is None else of_matter == self.id].reset_index(drop=True)


def _invoice_ids(items: Iterable[pd.DataFrame]) -> pd.Series[str]:
    ids: pd.Series[str] = pd.concat([each["invoice_id"].dropna() for each in items])
    return ids


def row_of_zeros(result: pd.DataFrame) -> pd.DataFrame:
    """Return the one row for a slice without rows: sums are 0; ratios, and columns that no slice has, are missing."""
    known = {name for name in result if (found := measure(str(name))) and found.adds_up}
    known -= {name for name in result if len(result) and result[name].isna().all()}
    row = {name: [0.0] if name in known else [None] for name in result}
    return pd.DataFrame(row).astype({name: result[name].dtype for name in result}).reset_index(drop=True)
