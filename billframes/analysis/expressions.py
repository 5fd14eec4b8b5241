"""Expressions that the analyses are built from; every engine computes the same values for them."""

from __future__ import annotations

import datetime as dt
import functools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.column_types import Frame, column_names
from billframes.periods import Period

__all__ = [
    "RESIDUE",
    "as_day",
    "as_float",
    "columns_or_null",
    "count_if",
    "day_number",
    "in_period",
    "is_in_period",
    "map_values",
    "midnight",
    "null_column",
    "or_nan",
    "quotient",
    "rate_at_step",
    "rate_days",
    "ratio",
    "value_at_rates",
    "value_if",
    "with_rate_step",
]

C = nw.col

Rates = Mapping[str, float | Mapping[Any, float]]

# Sums of doubles that should be zero come out as a residue; a ratio over a residue would be nonsense.
RESIDUE = 1e-9
_EPOCH = dt.date(1970, 1, 1).toordinal()


def as_float(condition: nw.Expr) -> nw.Expr:
    """Return 1.0 if the condition holds, else 0.0: every engine can add these up."""
    # A cast is half as many steps as a choice between 1.0 and 0.0.
    return condition.cast(nw.Float64).fill_null(0.0)


def count_if(condition: nw.Expr) -> nw.Expr:
    """Count the rows for which the condition holds; of no rows that may be null, which `collect_counts` takes for 0."""
    # Spark adds up numbers, not conditions.
    return condition.cast(nw.Float64).sum()


def null_column(dtype: Any) -> nw.Expr:
    """Return a column of missing values."""
    # A missing literal has no type: cast to pandas' booleans it reads False.
    return nw.when(nw.lit(1) == nw.lit(0)).then(nw.lit(True)) if dtype == nw.Boolean else nw.lit(None).cast(dtype)


def value_if(condition: nw.Expr, value: nw.Expr | str) -> nw.Expr:
    """Return the value (or the column of that name) if the condition holds, else 0."""
    return nw.when(condition).then(C(value) if isinstance(value, str) else value).otherwise(nw.lit(0.0))


def columns_or_null(frame: Frame, names: Iterable[str], types: Mapping[str, Any]) -> list[nw.Expr]:
    """Return columns of a frame; those that it does not have are missing, with the type given."""
    there = column_names(frame)
    return [C(name) if name in there else null_column(types[name]).alias(name) for name in names]


def map_values(column: str, mapping: Mapping[str, Any], default: Any, dtype: Any) -> nw.Expr:
    """Look each value of a column up in a small mapping; `default`, or None, if it is not in the mapping."""
    if not mapping:
        return null_column(dtype) if default is None else nw.lit(default).cast(dtype)
    keys, values = list(mapping), list(mapping.values())
    return C(column).replace_strict(keys, values, default=default, return_dtype=dtype)


def rate_days(rates: Rates) -> list[dt.date]:
    """Return the dates from which a rate of anyone holds, the earliest first; empty if no rate has dates."""
    return sorted({day for rate in rates.values() if isinstance(rate, Mapping) for day in rate})


def with_rate_step(frame: Frame, rates: Rates) -> Frame:
    """
    Add `_rate_step`, how many of the days on which rates change `date` has reached, if rates have dates.

    A missing date counts as before all.
    """
    days = rate_days(rates)
    reached = [as_float(C("date") >= midnight(day)) for day in days]
    return frame.with_columns(_rate_step=nw.sum_horizontal(*reached).cast(nw.Int64)) if days else frame


def rate_at_step(rates: Rates) -> nw.Expr:
    """Look up the rate of `user_id`; if rates have dates, that of `_rate_step`. Missing if none holds."""
    days = rate_days(rates)
    if not days:
        return map_values("user_id", rates, None, nw.Float64)
    rate = null_column(nw.Float64)
    for step in range(len(days) + 1):
        then = {user: _rate_at(each, days[:step]) for user, each in rates.items()}
        held = {user: each for user, each in then.items() if each is not None}
        rate = nw.when(C("_rate_step") == step).then(map_values("user_id", held, None, nw.Float64)).otherwise(rate)
    return rate


def _rate_at(rate: float | Mapping[dt.date, float], reached: Sequence[dt.date]) -> float | None:
    if not isinstance(rate, Mapping):
        return rate
    held = [rate[day] for day in reached if day in rate]
    return held[-1] if held else None


def value_at_rates(time: Frame, rates: Rates) -> Frame:
    """Add `_value`, hours at the person's rate on the day, and `_unrated`, 1.0 for hours without a rate."""
    rows = with_rate_step(time, rates).with_columns(_rate=rate_at_step(rates))
    rows = rows.drop("_rate_step") if rate_days(rates) else rows
    return rows.with_columns(
        _value=(C("hours") * C("_rate")).fill_null(0.0),
        _unrated=as_float(C("_rate").is_null() & (C("hours") != 0)),
    )


def ratio(numerator: str, denominator: str) -> nw.Expr:
    """Divide two columns; missing if the denominator is 0 or missing."""
    return nw.when(C(denominator).abs() > RESIDUE).then(C(numerator) / C(denominator))


def quotient(part: float, whole: float) -> float:
    """Divide two numbers; NaN if the whole is 0 or not known."""
    return part / whole if abs(whole) > RESIDUE else math.nan


def or_nan(value: float | None) -> float:
    """Return NaN for a missing number, which every sum that it is part of becomes."""
    return math.nan if value is None else float(value)


def as_day(value: Any) -> dt.date | None:
    """Return a date, or the day of an instant as it is written; None if missing."""
    if not isinstance(value, dt.date) or value != value:
        return None
    return value.date() if isinstance(value, dt.datetime) else value


def midnight(day: dt.date) -> dt.datetime:
    """Return midnight of a day; date columns inside the analyses hold such values."""
    return dt.datetime(day.year, day.month, day.day)  # noqa: DTZ001


def is_in_period(column: str, period: Period) -> nw.Expr:
    """Return whether a date lies in the period, both ends inclusive; None is open, also to missing dates."""
    conditions = []
    if period.start is not None:
        conditions.append(C(column) >= midnight(period.start))
    if period.end is not None:
        conditions.append(C(column) <= midnight(period.end))
    return functools.reduce(operator.and_, conditions) if conditions else nw.lit(1) == nw.lit(1)


def in_period(frame: Frame, column: str, period: Period) -> Frame:
    """Keep rows whose date lies in the period."""
    return frame.filter(is_in_period(column, period)) if period.start or period.end else frame


def day_number(column: str, rows: Frame | None = None) -> nw.Expr:
    """
    Return the day numbers of a column of dates, as `date.toordinal` counts.

    With `rows`, the frame that has the dates, timestamps are used if they are quicker there; otherwise days are
    counted, and none may be missing.
    """
    date = nw.col(column).dt
    if rows is not None and (isinstance(rows, nw.DataFrame) or rows.implementation.is_polars()):
        return date.timestamp("ms") / 86_400_000.0 + float(_EPOCH)
    past = date.year().cast(nw.Int64) - 1
    number: nw.Expr = past * 365 + past // 4 - past // 100 + past // 400 + date.ordinal_day().cast(nw.Int64)
    return number.cast(nw.Float64)
