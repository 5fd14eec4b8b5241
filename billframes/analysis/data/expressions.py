"""Build the expressions that the analyses share. Every engine computes the same values for them."""

from __future__ import annotations

import datetime as dt
import functools
import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.declare.columns import Frame, column_names, source_of
from billframes.periods import FiscalYear, Period

# Narwhals takes long to make an expression, and each call names a column several times.
C = functools.lru_cache(maxsize=1000)(nw.col)

RESIDUE = 1e-9
"""The largest absolute value that counts as 0: a sum of floats that should be 0 has a small rest."""

_EPOCH = dt.date(1970, 1, 1).toordinal()


def as_float(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 if the condition holds, else 0.0; every engine can add up these numbers."""
    # A cast is faster than `when`: it takes half the steps.
    return condition.cast(nw.Float64).fill_null(0.0)


def count_if(condition: nw.Expr) -> nw.Expr:
    """Count the rows for which the condition holds. Without rows, the count can be null; `collect_counts` returns 0."""
    # Spark can't add up booleans.
    return condition.cast(nw.Float64).sum()


def null_column(dtype: Any) -> nw.Expr:
    """Return a column of missing values."""
    # A null literal has no type, and a cast of it to pandas' booleans is False.
    return nw.when(nw.lit(1) == nw.lit(0)).then(nw.lit(True)) if dtype == nw.Boolean else nw.lit(None).cast(dtype)


def value_if(condition: nw.Expr, value: nw.Expr | str) -> nw.Expr:
    """Return an expression's or a column's value if the condition holds, else 0."""
    return nw.when(condition).then(C(value) if isinstance(value, str) else value).otherwise(nw.lit(0.0))


def columns_or_null(frame: Frame, names: Iterable[str], types: Mapping[str, Any]) -> list[nw.Expr]:
    """Return columns of a frame; columns that it does not have are null, with the given type. Keys have a source."""
    there = column_names(frame)
    found = {name: source_of(name, there) for name in names}
    return [(C(source) if source in there else null_column(types[name])).alias(name) for name, source in found.items()]


def map_values(column: str | nw.Expr, mapping: Mapping[str, Any], default: Any, dtype: Any) -> nw.Expr:
    """Look up each value of a column in a small mapping; other values become `default`."""
    if not mapping:
        return null_column(dtype) if default is None else nw.lit(default).cast(dtype)
    keys, values = list(mapping), list(mapping.values())
    value = C(column) if isinstance(column, str) else column
    return value.replace_strict(keys, values, default=default, return_dtype=dtype)


def ratio(numerator: str, denominator: str) -> nw.Expr:
    """Divide two columns; missing if the denominator is 0 or missing."""
    return nw.when(C(denominator).abs() > RESIDUE).then(C(numerator) / C(denominator))


def quotient(part: float, whole: float) -> float:
    """Divide two numbers; NaN if the whole is 0 or NaN."""
    return part / whole if abs(whole) > RESIDUE else math.nan


def or_nan(value: float | None) -> float:
    """Return NaN for a missing number, so that every sum with it is NaN, too."""
    return math.nan if value is None else float(value)


def as_day(value: Any) -> dt.date | None:
    """Return a date, or the date of a datetime in its own time zone; None if missing."""
    if not isinstance(value, dt.date) or value != value:
        return None
    return value.date() if isinstance(value, dt.datetime) else value


def as_midnight(value: Any) -> dt.datetime | None:
    """Return midnight of a date or datetime, as in the date columns of the analyses; None if missing."""
    day = as_day(value)
    return None if day is None else midnight(day)


def period_numbers(year: Any, month: Any, day: Any, fiscal: FiscalYear) -> dict[str, Any]:
    """
    Return the numbers of the periods of a day, from numbers or expressions.

    A month is 202610, its quarter 20264 and its year 2026; the fiscal quarter and the fiscal year are numbered alike.
    Weeks begin on Monday, and are counted from the first of year 1.
    """
    # Counted from March, the days before a month follow from its number; a leap day is the last of its year.
    late = (14 - month) // 12
    since, years = month + 12 * late - 3, year - late
    days = day + (153 * since + 2) // 5 + 365 * years + years // 4 - years // 100 + years // 400 - 306
    return {
        "week": (days - 1) // 7,
        "month": year * 100 + month,
        "quarter": year * 10 + (month + 2) // 3,
        "year": year,
        "fiscal_quarter": fiscal.quarter(year, month, day),
        "fiscal_year": fiscal.number(year, month, day),
    }


def midnight(day: dt.date) -> dt.datetime:
    """Return midnight of a day, as in the date columns of the analyses."""
    return dt.datetime(day.year, day.month, day.day)  # noqa: DTZ001


def is_in_period(column: str, period: Period) -> nw.Expr:
    """Return whether a date is in the period, both ends inclusive; a period without ends includes missing dates."""
    conditions = []
    if period.start is not None:
        conditions.append(C(column) >= midnight(period.start))
    if period.end is not None:
        conditions.append(C(column) <= midnight(period.end))
    return functools.reduce(operator.and_, conditions) if conditions else nw.lit(1) == nw.lit(1)


def in_period(frame: Frame, column: str, period: Period) -> Frame:
    """Keep the rows whose date is in the period."""
    return frame.filter(is_in_period(column, period)) if period.start or period.end else frame


def day_number(column: str, rows: Frame | None = None) -> nw.Expr:
    """
    Return the day numbers of a column of dates, as `date.toordinal` does.

    With `rows`, the frame of the column, timestamps are used on engines on which that is faster. Otherwise the number
    is computed from the year and the day of the year, and no date may be missing.
    """
    date = nw.col(column).dt
    if rows is not None and (isinstance(rows, nw.DataFrame) or rows.implementation.is_polars()):
        return date.timestamp("ms") / 86_400_000.0 + float(_EPOCH)
    past = date.year().cast(nw.Int64) - 1
    number: nw.Expr = past * 365 + past // 4 - past // 100 + past // 400 + date.ordinal_day().cast(nw.Int64)
    return number.cast(nw.Float64)
