"""Write the cells of workbooks: numbers, days and texts with their types, and figures with their formulas."""

from __future__ import annotations

import math
import re
from typing import Any

import pandas as pd

from billframes._shared.export import NUMBER_FORMATS, excel_text
from billframes.analysis.declare.metrics import PRICED

WRITER_OPTIONS = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
# XML can't contain control characters.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def number_formats(currency: str) -> dict[str, str]:
    """
    Return each unit's number format; those of money and rates name the currency.

    Examples
    --------
    >>> number_formats("USD")["money"], number_formats("")["money"], number_formats("USD")["hours"]
    ('#,##0.00 [$USD]', '#,##0.00', '#,##0.00')
    """
    return {
        unit: f"{form} [${currency}]" if currency and unit in PRICED else form for unit, form in NUMBER_FORMATS.items()
    }


def write_cell(page: Any, row: int, column: int, value: Any, form: Any) -> None:
    """Write a number, a date or text with its type. Missing values are empty cells."""
    if isinstance(value, str):
        if value:
            page.write_string(row, column, str(excel_text(_CONTROL.sub(" ", value))), form)
        else:
            page.write_blank(row, column, None, form)
    elif pd.isna(value) or (isinstance(value, float) and not math.isfinite(value)):
        page.write_blank(row, column, None, form)
    elif isinstance(value, pd.Timestamp):
        page.write_datetime(row, column, value.to_pydatetime(), form)
    else:
        # Rounding errors in sums of cents would show as -0.00.
        page.write_number(row, column, round(float(value), 8) + 0.0, form)


def write_figure(page: Any, row: int, column: int, value: Any, form: Any, formula: str) -> None:
    """Write a figure with the formula that makes it; without one, as `write_cell` does."""
    if formula:
        known = not pd.isna(value) and math.isfinite(value)
        page.write_formula(row, column, formula, form, round(float(value), 8) + 0.0 if known else "")
    else:
        write_cell(page, row, column, value, form)
