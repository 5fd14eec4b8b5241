"""Whole days between dates, on every engine.

Date subtraction differs from engine to engine; whole numbers do not, so each date becomes the number of its day.
"""

from __future__ import annotations

import datetime as dt

import narwhals.stable.v2 as nw

__all__ = ["before", "days_of"]


def before(day: dt.date, days: int) -> dt.date:
    """Return the date so many days before a day, or the first date that there is."""
    return dt.date.fromordinal(max(dt.date.min.toordinal(), day.toordinal() - days))


def days_of(column: str) -> nw.Expr:
    """Give the day number of a date column that has no missing values, as `date.toordinal` counts."""
    date = nw.col(column).dt
    past = date.year().cast(nw.Int64) - 1
    number: nw.Expr = past * 365 + past // 4 - past // 100 + past // 400 + date.ordinal_day().cast(nw.Int64)
    return number
