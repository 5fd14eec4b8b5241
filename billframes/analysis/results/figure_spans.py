"""Several labelled spans of days in one call of `figures`: each has columns of its own, such as `client_hours_week`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from billframes._shared.names import as_given
from billframes.analysis.data.data_span import check_begun, check_known
from billframes.analysis.declare.lookup import measure
from billframes.analysis.results.figure_source import Source
from billframes.errors import ParameterError
from billframes.periods import DateLike, Period

Spans = Mapping[str, DateLike | tuple[DateLike, DateLike]]
"""Spans of days by label: whole periods such as "2026-10", or first and last days."""

_EXAMPLE = "{'week': ('2026-10-19', '2026-10-23'), 'year': '2026'}"


def read_spans(
    spans: Spans | None, start: DateLike | None, end: DateLike | None, read: Callable[[Any, Any], Period]
) -> dict[str, Period]:
    """Return the days of each span, as `read` reads them; empty without spans."""
    if spans is None:
        return {}
    if not isinstance(spans, Mapping) or not spans or not all(isinstance(each, str) and each for each in spans):
        raise ParameterError(f"{as_given('spans', spans)} must have labels with their periods, such as {_EXAMPLE}.")
    if start is not None or end is not None:
        raise ParameterError("spans= takes the place of start= and end=: leave them out.")
    return {label: _in_span(label, _read, given, read) for label, given in spans.items()}


def sources_of(
    spans: Mapping[str, Period], source: Source, columns: Sequence[str], keys: Collection[str]
) -> dict[str, Source]:
    """Return the source of each span, by the end of its columns' names; refuse labels that make names of others."""
    for label, period in spans.items():
        for column in columns:
            if measure(name := f"{column}_{label}") or name in keys:
                raise ParameterError(
                    f"spans={{{label!r}: …}}: the column {name!r} has another meaning. Choose another label."
                )
        if source.loaded is not None:
            _in_span(label, check_begun, period.start, source.loaded)
        _in_span(label, check_known, period.end, source.first_day)
    return {f"_{label}": replace(source, period=period) for label, period in spans.items()}


def _read(given: Any, read: Callable[[Any, Any], Period]) -> Period:
    ends = (given, None) if given is None or not isinstance(given, (tuple, list)) else tuple(given)
    if len(ends) != 2 or ends[0] is None:
        raise ParameterError("it takes a period such as '2026-10', or a first and a last day.")
    return read(*ends)


def _in_span(label: str, check: Callable[..., Any], given: Any, *more: Any) -> Any:
    """Call a function; its errors name the span."""
    try:
        return check(given, *more)
    except ParameterError as error:
        raise type(error)(f"spans={{{label!r}: …}}: {error}") from None
