"""The figures of a book, and the rows behind them: each figure is that of the book's own method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from billframes.analysis.data.data_span import check_begun
from billframes.analysis.data.distinct_names import attach_names
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.figure_names import find_figures
from billframes.analysis.results.figure_source import Source, Spans, read_spans, run_in_arrow
from billframes.analysis.results.figures_side_by_side import figures_of, listed_in
from billframes.analysis.results.rows_behind import rows_from
from billframes.book.days import DATES
from billframes.book.methods import call_analysis
from billframes.periods import Period

_LISTS = ("clients", "matters", "users")


Given = Mapping[str, Any]
"""The arguments `start`, `end`, `as_of` and `payments` of a call."""


def figures_of_book(book: Any, names: Sequence[str], given: Given, spans: Spans | None, **options: Any) -> pd.DataFrame:
    """Calculate figures from a book's frames; see `Book.figures`."""
    of = [each.analysis for each in find_figures(names)]
    call = lambda analysis, how: call_analysis(analysis, book, how, run_in_arrow)  # noqa: E731
    options["spans"] = read_spans(spans, given["start"], given["end"], lambda *ends: Period(*book._days.span(*ends)))
    source = _source(book, of, given, call)
    result: pd.DataFrame = figures_of(names, source, pd.DataFrame(), listed=partial(_listed, book), **options)
    named: pd.DataFrame = attach_names(result, book._names)
    return named


def rows_of_book(book: Any, figure: str, given: Given, options: Mapping[str, Any], **how: Any) -> pd.DataFrame:
    """List the rows behind a figure of a book; see `Book.rows`."""
    source = lambda of, call: _source(book, [of], given, call)  # noqa: E731
    call = lambda run, analysis, how: call_analysis(analysis, book, how, run)  # noqa: E731
    result: pd.DataFrame = rows_from(figure, source, call, listed=partial(_listed, book), options=options, **how)
    named: pd.DataFrame = attach_names(result, book._names)
    return named


def _listed(book: Any, columns: Sequence[str]) -> list[tuple[str, str, str]]:
    return listed_in({each: getattr(book, each) for each in _LISTS}, columns)


def _source(book: Any, of: Sequence[Analysis], given: Given, call: Callable[[Analysis, dict[str, Any]], Any]) -> Source:
    takes = frozenset().union(*(each.takes for each in of))
    dated = [name for name in DATES if name in takes]
    period, loaded = Period(*book._days.span(given["start"], given["end"])), book.loaded_on(*dated)
    if loaded is not None:
        check_begun(period.start, loaded)
    days = {"loaded": loaded, "first_day": book._days.first_day_of(*dated)}
    return Source.of(call, period, given["as_of"], given["payments"], book.settings, **days)
