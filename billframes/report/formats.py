"""How changes and dates read in the report."""

from __future__ import annotations

import datetime as dt
import math

from billframes._show import MINUS, MISSING
from billframes.report.month import month_name

__all__ = ["change", "long_date"]


def change(now: float, before: float, unit: str) -> str:
    """
    Show a change: amounts and hours in percent of what was before, ratios in percentage points.

    Examples
    --------
    >>> change(110.0, 100.0, "money"), change(0.80, 0.85, "ratio"), change(5.0, 0.0, "hours")
    ('+10.0%', '−5.0 pts', '–')
    >>> change(100.0, 100.0, "money")
    '0.0%'
    """
    if not (math.isfinite(now) and math.isfinite(before)):
        return MISSING
    if unit == "ratio":
        return _signed((now - before) * 100, " pts")
    return _signed((now - before) / before * 100, "%") if before > 0 else MISSING


def _signed(value: float, suffix: str) -> str:
    text = f"{abs(value):,.1f}"
    sign = "" if text == "0.0" else MINUS if value < 0 else "+"
    return f"{sign}{text}{suffix}"


def long_date(day: dt.date) -> str:
    """
    Show a date so that no country misreads it.

    Examples
    --------
    >>> long_date(dt.date(2026, 10, 31))
    '31 October 2026'
    """
    return f"{day.day} {month_name(day)}"
