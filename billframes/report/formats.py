"""How numbers read in the report. What is missing is a dash, never a zero."""

from __future__ import annotations

import datetime as dt
import math

from billframes.report.month import month_name

__all__ = ["change", "long_date", "show"]

MISSING = "–"
MINUS = "−"
_FORMS = {"money": "{:,.0f}", "rate": "{:,.0f}", "hours": "{:,.1f}", "ratio": "{:.1%}", "count": "{:,.0f}"}


def show(value: float | None, unit: str) -> str:
    """
    Show a number in its unit.

    Parameters
    ----------
    value : float, optional
        Missing and not finite are shown as a dash.
    unit : {"money", "rate", "hours", "ratio", "count"}

    Examples
    --------
    >>> show(1234567.4, "money"), show(0.8342, "ratio"), show(-12.04, "hours"), show(float("nan"), "money")
    ('1,234,567', '83.4%', '−12.0', '–')
    >>> show(-0.0001, "money")
    '0'
    """
    if value is None or not math.isfinite(value):
        return MISSING
    text = _FORMS[unit].format(abs(value))
    return f"{MINUS}{text}" if value < 0 and any(digit in text for digit in "123456789") else text


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
