"""Whole days between dates, on every engine.

Date subtraction differs from engine to engine; whole numbers do not, so each date becomes the number of its day.
"""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v2 as nw

__all__ = ["day_number", "days_of"]


def days_of(column: str) -> nw.Expr:
    """Give the day number of a date column that has no missing values."""
    date = nw.col(column).dt
    parts = [part.cast(nw.Int64) for part in (date.year(), date.month(), date.day())]
    return cast("nw.Expr", day_number(*parts))


def day_number(year: Any, month: Any, day: Any) -> Any:
    """
    Count days since the year 0, of whole numbers or of columns of them.

    Years begin in March here, so that the leap day comes last.

    Examples
    --------
    >>> day_number(2024, 3, 1) - day_number(2024, 2, 28)
    2
    """
    shifted = year * 12 + month - 3
    years = shifted // 12
    months = shifted - years * 12
    return years * 365 + years // 4 - years // 100 + years // 400 + (months * 153 + 2) // 5 + day
