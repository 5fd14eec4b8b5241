"""Answer questions about cash and the tie-out from reports of the firm's books, in the folder that the settings name.

The reports are read for each question, so a new export counts at once. Payments that don't cover the whole period are
refused, because a part of the cash looks like all of it.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from billframes._format import long_date, long_span
from billframes.analysis.declare.spec import Analysis
from billframes.book import Book
from billframes.errors import ParameterError
from billframes.ledger import read_ledger
from billframes.periods import Period

__all__ = ["from_books"]


def from_books(analysis: Analysis, book: Book) -> dict[str, Any]:
    """
    Return the argument that an analysis takes from the firm's books; nothing if it takes none.

    Raises
    ------
    ParameterError
        The settings name no folder, it has no report that the analysis needs, or the payments don't cover the period.
    LedgerError
        A report can't be read.
    """
    needs = analysis.book.first
    if needs not in ("payments", "ledger"):
        return {}
    reports = _reports(analysis.name, book)
    return {needs: _payments(analysis.name, book, reports) if needs == "payments" else _open_items(book, reports)}


def _reports(name: str, book: Book) -> list[pd.DataFrame]:
    # The report's modules take long to import, and few questions are about the books.
    from billframes.report.ledger_files import ledger_paths

    folder = book.settings.books.folder if book.settings else ""
    paths = ledger_paths((), folder)
    if not paths:
        raise ParameterError(
            f"{name} needs reports of the firm's books, because the billing system has no payments. Export them into a "
            "folder that the settings name (ledger.folder), and start the server with --settings."
        )
    return [read_ledger(each) for each in paths]


def _payments(name: str, book: Book, reports: list[pd.DataFrame]) -> pd.DataFrame:
    paid = [each for each in reports if each.attrs["ledger"]["payments"]]
    if not paid:
        raise ParameterError(f"{name} needs the books' payments: export Sales by Customer Detail, on cash basis.")
    covering = [each for each in paid if _covers(each, book)]
    if not covering:
        spans = " or ".join(long_span(_days(each)) for each in paid)
        raise ParameterError(f"The payments in the books are those of {spans}. Choose a period within, or export more.")
    return book.payments(max(covering, key=lambda each: str(each.attrs["ledger"]["end"])))


def _covers(report: pd.DataFrame, book: Book) -> bool:
    """Tell whether a report has all days of the book's period up to the day of the data."""
    days = _days(report)
    first, last = book.period.start or book.first_day, book.period.end
    loaded = book.loaded_on("invoices")
    until = min((each for each in (last, loaded) if each is not None), default=None)
    return (days.start is None or (first is not None and days.start <= first)) and (
        days.end is None or (until is not None and until <= days.end)
    )


def _open_items(book: Book, reports: list[pd.DataFrame]) -> pd.DataFrame:
    day = min(each for each in (book.period.end, book.loaded_on("invoices")) if each is not None)
    found = [each for each in reports if each.attrs["ledger"]["open_items"]]
    fits = [each for each in found if each.attrs["ledger"]["as_of"] in (None, day.isoformat())]
    if len(fits) != 1:
        days = ", ".join(str(each.attrs["ledger"]["as_of"]) for each in found) or "no day"
        raise ParameterError(f"tie_out needs one A/R Aging Detail as of {long_date(day)}; the books have {days}.")
    return fits[0]


def _days(report: pd.DataFrame) -> Period:
    return Period.stated(report.attrs["ledger"])
