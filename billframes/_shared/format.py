"""Format numbers, changes, dates and single records for people. A missing value is a dash, not 0."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal, localcontext
from html import escape
from typing import Any

import pandas as pd

from billframes._shared.names import snake_case
from billframes.periods import MONTHS, Period, month_end

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
    Format a number according to its unit. A half is rounded away from 0, as in Excel.

    Money is shown in whole units; "cents" shows it to the cent. A missing, infinite or NaN value is a dash.
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
    """Format the value of a column according to its unit, which can also be "date" or "text"."""
    if pd.isna(value):
        return MISSING
    if unit == "date":
        return short_date(value)
    return str(value) if unit == "text" else format_number(value, unit)


def money(value: Any) -> str:
    """Format an amount in whole units of money."""
    return format_number(float(value), "money")


def format_rounded(value: float, form: str) -> str:
    """
    Format a number, and round halves away from 0.

    Only the first twelve digits count: sums of the same amounts in another order differ in their last digits, and must
    not be shown as different numbers.
    """
    with localcontext(rounding=ROUND_HALF_UP):
        return form.format(Decimal(f"{value:.12g}"))


def format_change(now: float, before: float, unit: str) -> str:
    """Format a change in percent, or for ratios in percentage points; NOT_COMPARABLE if the amount before was tiny."""
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
    """Return a number with its noun, such as "1,200 items"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def enum_label(value: str) -> str:
    """Return an enum value of the API in words, such as "Non-billable" for "nonBillable"."""
    return _ENUM_LABELS.get(value) or snake_case(value).replace("_", " ").capitalize()


def month_name(day: dt.date, *, short: bool = False) -> str:
    """Return the month in English, such as "October 2026", or if `short` "Oct 2026"."""
    name = MONTHS[day.month - 1]
    return f"{name[:3] if short else name} {day.year}"


def days_name(first: dt.date, last: dt.date, *, short: bool = False) -> str:
    """
    Return days of one month in English, without the days if they are the whole month.

    Examples
    --------
    >>> days_name(dt.date(2026, 10, 1), dt.date(2026, 10, 31)), days_name(dt.date(2026, 10, 5), dt.date(2026, 10, 31))
    ('October 2026', '5–31 October 2026')
    """
    name = month_name(last, short=short)
    if first == last:
        return f"{last.day} {name}"
    return name if first.day == 1 and last == month_end(last) else f"{first.day}–{last.day} {name}"


def span_name(first: dt.date, last: dt.date, *, short: bool = False) -> str:
    """
    Return days in English, without the days of whole months, and without the months of a calendar year.

    Examples
    --------
    >>> span_name(dt.date(2026, 7, 1), dt.date(2026, 9, 30)), span_name(dt.date(2026, 1, 1), dt.date(2026, 12, 31))
    ('July–September 2026', '2026')
    >>> span_name(dt.date(2025, 7, 1), dt.date(2026, 2, 14), short=True)
    'Jul 2025–14 Feb 2026'
    """
    if (first.year, first.month) == (last.year, last.month):
        return days_name(first, last, short=short)
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return str(last.year)
    begin = month_name(first, short=short)
    begin = begin if first.year != last.year else begin.partition(" ")[0]
    day = "" if last == month_end(last) else f"{last.day} "
    return f"{f'{first.day} ' if first.day > 1 else ''}{begin}–{day}{month_name(last, short=short)}"


def long_date(day: dt.date) -> str:
    """Format a date with the month in words, such as "31 October 2026", so that day and month can't be confused."""
    return f"{day.day} {month_name(day)}"


def long_span(period: Period, begin: str = "the beginning") -> str:
    """Format a period with the months in words; `begin` stands for a first day that is not known."""
    start, end = period.start, period.end
    return f"{long_date(start) if start else begin} to {long_date(end) if end else 'today'}"


def short_date(day: dt.date) -> str:
    """Format a date for a table's cell, such as "3 Oct 2026"."""
    return f"{day.day} {month_name(day, short=True)}"


def label_of(name: str) -> str:
    """Return the name of an attribute in words, such as "Billing type" for "billing_type"."""
    return name.replace("_", " ").strip().capitalize()


def fields_html(title: str, fields: Mapping[str, str]) -> str:
    """Return labels and values as an HTML table of two columns. All text is escaped."""
    left = ' style="text-align: left"'
    rows = "".join(
        f'<tr><th scope="row"{left}>{escape(label)}</th><td{left}>{escape(value or MISSING)}</td></tr>'
        for label, value in fields.items()
    )
    return f"<table><caption{left}>{escape(title)}</caption><tbody>{rows}</tbody></table>"
