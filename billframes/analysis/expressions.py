"""Expressions that every engine computes alike, which the analyses are written with."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.column_types import Frame
from billframes.periods import Period

__all__ = ["RESIDUE", "as_float", "day_number", "in_period", "map_values", "midnight", "null_column", "ratio"]

C = nw.col

# Sums of doubles that should be zero come out as a residue; a ratio over a residue would be nonsense.
RESIDUE = 1e-9


def as_float(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 where the condition holds and 0.0 elsewhere: counts that every engine can add up."""
    return nw.when(condition).then(nw.lit(1.0)).otherwise(nw.lit(0.0))


def null_column(dtype: Any) -> nw.Expr:
    """Return a column of missing values."""
    # A missing literal has no type: cast to pandas' booleans it reads False.
    return nw.when(nw.lit(1) == nw.lit(0)).then(nw.lit(True)) if dtype == nw.Boolean else nw.lit(None).cast(dtype)


def map_values(column: str, mapping: Mapping[str, Any], default: Any, dtype: Any) -> nw.Expr:
    """Look each value of a column up in a small mapping; `default`, or None, where it is not there."""
    if not mapping:
        return null_column(dtype) if default is None else nw.lit(default).cast(dtype)
    keys, values = list(mapping), list(mapping.values())
    return C(column).replace_strict(keys, values, default=default, return_dtype=dtype)


def ratio(numerator: str, denominator: str) -> nw.Expr:
    """Divide two columns; missing where the denominator is 0 or missing."""
    return nw.when(C(denominator).abs() > RESIDUE).then(C(numerator) / C(denominator))


def midnight(day: dt.date) -> dt.datetime:
    """Return midnight of a day, which is what date columns hold inside."""
    return dt.datetime(day.year, day.month, day.day)  # noqa: DTZ001


def in_period(frame: Frame, column: str, period: Period) -> Frame:
    """Keep rows whose date lies in the period, both ends inclusive; None is open."""
    if period.start is not None:
        frame = frame.filter(nw.col(column) >= midnight(period.start))
    if period.end is not None:
        frame = frame.filter(nw.col(column) <= midnight(period.end))
    return frame


def day_number(column: str) -> nw.Expr:
    """Give the day number of a date column that has no missing values, as `date.toordinal` counts."""
    date = nw.col(column).dt
    past = date.year().cast(nw.Int64) - 1
    number: nw.Expr = past * 365 + past // 4 - past // 100 + past // 400 + date.ordinal_day().cast(nw.Int64)
    return number
