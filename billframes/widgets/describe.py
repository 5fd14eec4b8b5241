"""Describe a filter state in words, and as Python code."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import pandas as pd

from billframes._shared.export import has_only_days
from billframes.widgets.filter_fields import FilterField
from billframes.widgets.filters import Filters
from billframes.widgets.state import Criterion, FilterState, Range, Values

# The most chosen values to name, before "and 4 more".
_MOST_NAMED = 3


def describe(filters: Filters, state: FilterState) -> str:
    """Describe the filters."""
    parts = [
        f"{field.title}: {_describe_values(filters, field, state.criteria[field.column])}"
        for field in filters.fields
        if field.column in state.criteria
    ]
    return " · ".join(parts) or "No filters"


def describe_range(span: Range) -> str:
    """Describe a range of dates or numbers."""
    first, last = (_end_text(end) for end in (span.first, span.last))
    both = f"{first} to {last}" if first and last else f"from {first}" if first else f"up to {last}"
    return f"{both}, or Unassigned" if span.missing else both


def code(filters: Filters, state: FilterState, name: str) -> str:
    """Return the pandas expression that gives the same frame."""
    if not state.criteria:
        return name
    lines = [
        (_condition(filters.data, f'{name}["{field.column}"]', field, criterion), field, criterion)
        for field in filters.fields
        if (criterion := state.criteria.get(field.column)) is not None
    ]
    body = "\n".join(
        f"    {'& ' if place else ''}{text}{_comment(filters, field, criterion)}"
        for place, (text, field, criterion) in enumerate(lines)
    )
    return f"{name}[\n{body}\n]"


def _describe_values(filters: Filters, field: FilterField, criterion: Criterion) -> str:
    if isinstance(criterion, Range):
        return describe_range(criterion)
    options = filters.options(field.column)
    names = [options.label(value) for value in criterion[:_MOST_NAMED]]
    more = len(criterion) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _end_text(end: object) -> str:
    if isinstance(end, dt.date):
        return f"{end.day} {end:%b} {end.year}"
    return "" if end is None else f"{end:,g}" if abs(float(str(end))) < 1e6 else f"{end:,.0f}"


def _condition(frame: pd.DataFrame, column: str, field: FilterField, criterion: Criterion) -> str:
    if not isinstance(criterion, Range):
        return _isin(column, criterion)
    dates = frame[field.column]
    has_times = field.kind == "dates" and (dates.dt.tz is not None or not has_only_days(dates))
    values = f"{column}.dt.normalize()" if has_times else column
    ends = [repr(end.isoformat() if isinstance(end, dt.date) else end) for end in (criterion.first, criterion.last)]
    ends = [end.replace("'", '"') for end in ends]
    if criterion.first is None:
        text = f"({values} <= {ends[1]})"
    elif criterion.last is None:
        text = f"({values} >= {ends[0]})"
    else:
        text = f"{values}.between({ends[0]}, {ends[1]})"
    return f"({text} | {column}.isna())" if criterion.missing else text


def _isin(column: str, choice: Values) -> str:
    values = [value for value in choice if value is not None]
    texts = ", ".join(_literal(value) for value in values)
    isin = f"{column}.isin([{texts}])"
    if None not in choice:
        return isin
    return f"({isin} | {column}.isna())" if values else f"{column}.isna()"


def _literal(value: object) -> str:
    plain = isinstance(value, str) and value.isprintable() and not set(value) & {'"', "\\"}
    return f'"{value}"' if plain else repr(value)


def _comment(filters: Filters, field: FilterField, criterion: Criterion) -> str:
    """Return a comment with the names of the ids. Line breaks in names are replaced, because names are data."""
    if field.label is None:
        return ""
    words: Sequence[str] = f"{field.title}: {_describe_values(filters, field, criterion)}"
    return f"  # {''.join(each if each.isprintable() else ' ' for each in words)}"
