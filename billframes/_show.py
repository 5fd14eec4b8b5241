"""How numbers read to people: in tables, in the report, on charts. What is missing is a dash, never a zero."""

from __future__ import annotations

import math

__all__ = ["MINUS", "MISSING", "show"]

MISSING = "–"
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


def show(value: float | None, unit: str) -> str:
    """
    Show a number in its unit.

    Parameters
    ----------
    value : float, optional
        Missing and not finite are shown as a dash.
    unit : {"money", "cents", "rate", "hours", "ratio", "multiple", "days", "count"}
        Money is shown in whole units and, as "cents", to the cent; of which currency, the API does not say.

    Examples
    --------
    >>> show(1234567.4, "money"), show(0.8342, "ratio"), show(-12.04, "hours"), show(float("nan"), "money")
    ('1,234,567', '83.4%', '−12.0', '–')
    >>> show(1234.5, "cents"), show(2.456, "multiple"), show(-0.0001, "money")
    ('1,234.50', '2.46', '0')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    text = _FORMS[unit].format(abs(value))
    return f"{MINUS}{text}" if value < 0 and any(digit in text for digit in "123456789") else text
