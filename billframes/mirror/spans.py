"""Spans of time as users give and read them: how old a mirror may be, and how long versions are kept."""

from __future__ import annotations

import datetime as dt

import pandas as pd

from billframes.errors import ParameterError

__all__ = ["checked_span", "in_words"]


def checked_span(name: str, given: str | dt.timedelta | None) -> dt.timedelta | None:
    """
    Return a span that was given as text; raise `ParameterError`, naming the argument, if it is none.

    Examples
    --------
    >>> checked_span("keep", "2 days")
    datetime.timedelta(days=2)
    """
    if given is None or isinstance(given, dt.timedelta):
        return given
    try:
        span: dt.timedelta = pd.Timedelta(given).to_pytimedelta()
    except ValueError:
        raise ParameterError(f"{name}={given!r} is not a span of time; it takes one such as '1 day'.") from None
    return span


def in_words(span: dt.timedelta) -> str:
    """
    Return a span in hours, or in days if it is long.

    Examples
    --------
    >>> in_words(dt.timedelta(hours=47)), in_words(dt.timedelta(hours=60))
    ('47.0 hours', '2.5 days')
    """
    hours = span / dt.timedelta(hours=1)
    return f"{hours / 24:.1f} days" if hours >= 48 else f"{hours:.1f} hours"
