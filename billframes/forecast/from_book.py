"""Fill in, from a book, the day of a forecast and what the versions of its mirror show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from billframes.analysis.declare.metrics import Measure, sum_measure
from billframes.analysis.declare.spec import BookArgument


def _day(book: Any, period: Any) -> Any:
    return book.loaded_on("invoices") or period.end


def _seen(place: int) -> Callable[[Any, Any], Any]:
    """Return what takes a part of what the versions of a book's mirror show; None without two versions."""

    def part(book: Any, _period: Any) -> Any:
        falls = getattr(getattr(book, "_client", None), "_falls", None)
        seen = falls() if falls else None
        return None if seen is None else seen[place]

    return part


RANGE = (
    Measure("end", "To", "date", "The last day on which cash counts."),
    sum_measure("cash_amount", "Expected cash", "money", "The cash expected in these days."),
    Measure("low_amount", "Low", "money", "In one of ten cases, less comes in."),
    Measure("high_amount", "High", "money", "In one of ten cases, more comes in."),
)
"""Columns of forecasts and of their record."""

SIMPLE_RULE = Measure(
    "naive_amount",
    "12 months’ billing",
    "money",
    "A simple rule, to compare with: 12 months’ billing × the share of it that is paid.",
)

OF_BOOK = {
    "as_of": BookArgument(_day, "By default the day of the load, whatever the period."),
    "since": BookArgument(_seen(0), "By default the first day of the mirror, else of the payments."),
    "receipts": BookArgument(_seen(1), "By default those of the book's mirror."),
    "became_final": BookArgument(_seen(2), "By default those of the book's mirror."),
}
"""The arguments of both analyses that a book fills in."""
