"""Fill in, from a book, the day of a forecast and the receipts of the mirror that the book reads."""

from __future__ import annotations

from typing import Any

from billframes.analysis.declare.metrics import Measure, sum_measure
from billframes.analysis.declare.spec import BookArgument

__all__ = ["OF_BOOK", "RANGE"]


def _day(book: Any, period: Any) -> Any:
    return book.loaded_on("invoices") or period.end


def _receipts(book: Any, _period: Any) -> Any:
    seen = _seen(book)
    return None if seen is None else seen[1]


def _since(book: Any, _period: Any) -> Any:
    seen = _seen(book)
    return None if seen is None else seen[0]


def _seen(book: Any) -> Any:
    """Return the first day of a book's mirror, and what its balances fell by; None without two versions."""
    falls = getattr(getattr(book, "_client", None), "_falls", None)
    return falls() if falls else None


RANGE = (
    Measure("end", "To", "date", "The last day on which cash counts."),
    sum_measure("cash_amount", "Expected cash", "money", "The cash expected in these days."),
    Measure("low_amount", "Low", "money", "In one of ten cases, less comes in."),
    Measure("high_amount", "High", "money", "In one of ten cases, more comes in."),
)
"""Columns of forecasts and of their record."""

OF_BOOK = {
    "as_of": BookArgument(_day, "By default the day of the load, whatever the period: balances are of that day."),
    "receipts": BookArgument(_receipts, "By default those of the book's mirror."),
    "since": BookArgument(_since, "By default the first day of the book's mirror."),
}
"""The arguments of both analyses that a book fills in."""
