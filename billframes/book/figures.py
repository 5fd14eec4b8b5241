"""The figures of a book: each is that of the book's own method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes.analysis.declare.spec import Analysis
from billframes.analysis.frames.data_span import check_begun
from billframes.analysis.frames.distinct_names import attach_names
from billframes.analysis.model.arguments import read_date
from billframes.analysis.results.figures import Source, figures_of
from billframes.analysis.results.names import find_figures
from billframes.analysis.results.payments_given import needs_payments, payment_days
from billframes.book.methods import call_analysis
from billframes.days import CALENDAR_YEAR
from billframes.periods import DateLike, Period

__all__ = ["figures_of_book"]


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
    paid = payment_days(names, payments)
    takes = frozenset().union(*(each.analysis.takes for each in find_figures(names)))
    dated = [name for name in ("time_entries", "invoices") if name in takes]
    period, loaded = Period(*book._days.span(start, end)), book.loaded_on(*dated)
    if loaded is not None:
        check_begun(period.start, loaded)

    def call(analysis: Analysis, **how: Any) -> Any:
        given = how | ({"payments": payments} if needs_payments(analysis) else {})
        return call_analysis(analysis, book, {name: each for name, each in given.items() if name in analysis.takes})

    day = None if as_of is None else read_date(as_of, "as_of")
    year = (book.settings and book.settings.fiscal_year) or CALENDAR_YEAR
    source = Source(call, period, day, loaded, book._days.first_day_of(*dated), year, paid)
    result: pd.DataFrame = attach_names(figures_of(names, source, pd.DataFrame(), **options), book._names)
    return result
