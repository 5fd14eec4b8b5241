"""Format numbers, changes, dates and single records for people. A missing value is a dash, not 0."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal, localcontext
from html import escape
from typing import Any

import pandas as pd

from billframes._names import snake_case
from billframes.periods import MONTHS, Period

__all__ = [
    "MINUS",
    "MISSING",
    "NOT_COMPARABLE",
    "count_of",
    "enum_label",
    "fields_html",
    "format_change",
    "format_number",
    "format_rounded",
    "format_value",
    "label_of",
    "long_date",
    "long_span",
    "month_name",
    "short_date",
]

MISSING = "–"
NOT_COMPARABLE = "n/a"
"""The change of an amount that was tiny before."""
MINUS = "−"
_FORMS = {
    "money": "{:,.0f}",
    "cents": "{:,.2f}",
    "rate": "{:,.0f}",
    "hours": "{:,.1f}",
    "ratio": "{:.1%}",
    "multiple": "{:,.2f}",
    "days": "{:,.1f}",
    "count": "{:,.0f}",
}
_LEAST_FRACTION = 0.05
# A larger change in percent, such as +7,286.7%, says only that the amount before was tiny.
_LARGEST_CHANGE = 1000.0
_ENUM_LABELS = {"nonBillable": "Non-billable", "probono": "Pro bono"}


def format_number(value: float | None, unit: str) -> str:
    """
    Format a number according to its unit.

    Parameters
    ----------
    value : float, optional
        A missing, infinite or NaN value is shown as a dash.
    unit : {"money", "cents", "rate", "hours", "ratio", "points", "multiple", "days", "count"}
        Money is shown in whole units; "cents" shows it to the cent. A half is rounded away from 0, as in Excel.

    Examples
    --------
    >>> format_number(1234567.4, "money"), format_number(1234.5, "cents"), format_number(-0.0001, "money")
    ('1,234,567', '1,234.50', '0')
    >>> format_number(485224.5, "money"), format_number(0.1285, "ratio"), format_number(0.25, "hours")
    ('485,225', '12.9%', '0.3')
    >>> format_number(0.8342, "ratio"), format_number(-12.04, "hours"), format_number(2.456, "multiple")
    ('83.4%', '−12.0', '2.46')
    >>> format_number(float("nan"), "money"), format_number(-0.031, "points")
    ('–', '−3.1 pts')
    >>> format_number(1200.0, "count"), format_number(0.5, "count")
    ('1,200', '0.5')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if unit == "points":
        return _signed(value * 100, " pts")
    # Originators can have parts of a matter. Rounded to whole numbers, these would not add up.
    is_fraction = unit == "count" and abs(value - round(value)) >= _LEAST_FRACTION
    text = format_rounded(abs(value), _FORMS["days" if is_fraction else unit])
    return f"{MINUS}{text}" if value < 0 and any(digit in text for digit in "123456789") else text


def format_value(value: Any, unit: str) -> str:
    """
    Format the value of a column according to its unit, which can also be "date" or "text".

    Examples
    --------
    >>> format_value(dt.date(2026, 10, 3), "date"), format_value(0.25, "hours"), format_value("Acme", "text")
    ('3 Oct 2026', '0.3', 'Acme')
    >>> format_value(float("nan"), "date"), format_value(None, "text")
    ('–', '–')
    """
    if pd.isna(value):
        return MISSING
    if unit == "date":
        return short_date(value)
    return str(value) if unit == "text" else format_number(value, unit)


def format_rounded(value: float, form: str) -> str:
    """
    Format a number, and round halves away from 0.

    Only the first twelve digits count: sums of the same amounts in another order differ in their last digits, and must
    not be shown as different numbers.

    Examples
    --------
    >>> format_rounded(0.1 + 0.15, "{:.1f}"), format_rounded(1.005, "{:.2f}"), format_rounded(-2.5, "{:.0f}")
    ('0.3', '1.01', '-3')
    """
    with localcontext(rounding=ROUND_HALF_UP):
        return form.format(Decimal(f"{value:.12g}"))


def format_change(now: float, before: float, unit: str) -> str:
    """
    Format a change in percent, or for ratios in percentage points.

    Examples
    --------
    >>> format_change(110.0, 100.0, "money"), format_change(0.80, 0.85, "ratio"), format_change(5.0, 0.0, "hours")
    ('+10.0%', '−5.0 pts', '–')
    >>> format_change(100.0, 100.0, "money"), format_change(30_000.0, 410.0, "money")
    ('0.0%', 'n/a')
    """
    if not (math.isfinite(now) and math.isfinite(before)):
        return MISSING
    if unit == "ratio":
        return _signed((now - before) * 100, " pts")
    if not before > 0:
        return MISSING
    change = (now - before) / before * 100
    return _signed(change, "%") if abs(change) < _LARGEST_CHANGE else NOT_COMPARABLE


def _signed(value: float, suffix: str) -> str:
    text = format_rounded(abs(value), "{:,.1f}")
    sign = "" if text == "0.0" else MINUS if value < 0 else "+"
    return f"{sign}{text}{suffix}"


def count_of(number: int, noun: str, plural: str = "") -> str:
    """
    Return a number with its noun.

    Examples
    --------
    >>> count_of(1, "item"), count_of(1200, "item"), count_of(2, "person", "people")
    ('1 item', '1,200 items', '2 people')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def enum_label(value: str) -> str:
    """
    Return an enum value of the API in words.

    Examples
    --------
    >>> enum_label("nonBillable"), enum_label("fixedFee"), enum_label("probono")
    ('Non-billable', 'Fixed fee', 'Pro bono')
    """
    return _ENUM_LABELS.get(value) or snake_case(value).replace("_", " ").capitalize()


def month_name(day: dt.date, *, short: bool = False) -> str:
    """
    Return the month in words, in English.

    Examples
    --------
    >>> month_name(dt.date(2026, 10, 31)), month_name(dt.date(2026, 10, 31), short=True)
    ('October 2026', 'Oct 2026')
    """
    name = MONTHS[day.month - 1]
    return f"{name[:3] if short else name} {day.year}"


def long_date(day: dt.date) -> str:
    """
    Format a date with the month in words, so that day and month can't be confused.

    Examples
    --------
    >>> long_date(dt.date(2026, 10, 31))
    '31 October 2026'
    """
    return f"{day.day} {month_name(day)}"


def long_span(period: Period, begin: str = "the beginning") -> str:
    """
    Format a period with the months in words; `begin` stands for a first day that is not known.

    Examples
    --------
    >>> long_span(Period(dt.date(2026, 10, 1), dt.date(2026, 10, 31))), long_span(Period())
    ('1 October 2026 to 31 October 2026', 'the beginning to today')
    """
    start, end = period.start, period.end
    return f"{long_date(start) if start else begin} to {long_date(end) if end else 'today'}"


def short_date(day: dt.date) -> str:
    """
    Format a date for a table's cell, with the month in words.

    Examples
    --------
    >>> short_date(dt.date(2026, 10, 3))
    '3 Oct 2026'
    """
    return f"{day.day} {month_name(day, short=True)}"


def label_of(name: str) -> str:
    """
    Return the name of an attribute in words.

    Examples
    --------
    >>> label_of("billing_type"), label_of("matter_id"), label_of("originator_ids")
    ('Billing type', 'Matter id', 'Originator ids')
    """
    return name.replace("_", " ").strip().capitalize()


def fields_html(title: str, fields: Mapping[str, str]) -> str:
    """Return labels and values as an HTML table of two columns. All text is escaped."""
    left = ' style="text-align: left"'
    rows = "".join(
        f'<tr><th scope="row"{left}>{escape(label)}</th><td{left}>{escape(value or MISSING)}</td></tr>'
        for label, value in fields.items()
    )
    return f"<table><caption{left}>{escape(title)}</caption><tbody>{rows}</tbody></table>"
