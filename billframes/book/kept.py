"""A book that calculates each analysis once, for code that needs the same results several times."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes.analysis.declare.lookup import analyses
from billframes.book.book import Book
from billframes.book.kept_results import KeptResults

if TYPE_CHECKING:
    from billframes.book.slices import BookSlice


class KeptBook:
    """
    A book, or a slice of one, whose results are kept: calls with the same arguments calculate an analysis once.

    The warnings of an analysis are given again whenever its result is used. Frames and settings are always those of the
    book, which must not change meanwhile.
    """

    def __init__(self, book: Book | BookSlice) -> None:
        self._book = book
        self._results = KeptResults()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._book, name)
        return partial(self._result, name, found) if name in analyses() else found

    def _result(self, name: str, method: Callable[..., pd.DataFrame], *args: Any, **options: Any) -> pd.DataFrame:
        call = inspect.signature(method).bind(*args, **options)
        # Lock-up is calculated from results of a book, which are kept, too.
        of_book = analyses()[name].book.method
        calculate = partial(of_book, self, **call.arguments) if of_book else partial(method, *args, **options)
        call.apply_defaults()
        return self._results.get((name, call.arguments), calculate)
