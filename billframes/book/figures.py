"""The figures of a book: each is that of the book's own method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes.analysis.frames.data_span import check_begun
from billframes.analysis.frames.distinct_names import attach_names
from billframes.analysis.results.figure_names import find_figures
from billframes.analysis.results.figure_source import Source
from billframes.analysis.results.figures_side_by_side import figures_of, listed_in
from billframes.book.methods import call_analysis
from billframes.periods import DateLike, Period

_LISTS = ("clients", "matters", "users")


def figures_of_book(
    book: Any,
    names: Sequence[str],
    start: DateLike | None,
    end: DateLike | None,
    as_of: DateLike | None,
    payments: pd.DataFrame | None,
    **options: Any,
) -> pd.DataFrame:
    """Calculate figures from a book's frames; see `Book.figures`."""
    takes = frozenset().union(*(each.analysis.takes for each in find_figures(names)))
    dated = [name for name in ("time_entries", "invoices") if name in takes]
    period, loaded = Period(*book._days.span(start, end)), book.loaded_on(*dated)
    if loaded is not None:
        check_begun(period.start, loaded)
    first = book._days.first_day_of(*dated)
    call = lambda analysis, how: call_analysis(analysis, book, how)  # noqa: E731
    source = Source.of(names, call, period, as_of, payments, book.settings, loaded=loaded, first_day=first)
    listed = lambda columns: listed_in({each: getattr(book, each) for each in _LISTS}, columns)  # noqa: E731
    result: pd.DataFrame = figures_of(names, source, pd.DataFrame(), listed=listed, **options)
    named: pd.DataFrame = attach_names(result, book._names)
    return named
