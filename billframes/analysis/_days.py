"""Whole days between dates, on every engine.

Date subtraction differs from engine to engine; whole numbers do not, so each date becomes the number of its day.
"""

from __future__ import annotations

import narwhals.stable.v2 as nw

__all__ = ["days_of"]


def days_of(column: str) -> nw.Expr:
    """Give the day number of a date column that has no missing values, as `date.toordinal` counts."""
    date = nw.col(column).dt
    past = date.year().cast(nw.Int64) - 1
    number: nw.Expr = past * 365 + past // 4 - past // 100 + past // 400 + date.ordinal_day().cast(nw.Int64)
    return number
