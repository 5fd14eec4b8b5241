"""Answer questions about cash and the tie-out from reports of the firm's books.

They are in the folder that the settings name, and a mirror has kept those that were read before. The folder is read for
each question, so a new export counts at once. Payments that don't cover the whole period are
refused, because a part of the cash looks like all of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from billframes._shared.format import long_date, long_span
from billframes.analysis.declare.spec import Analysis
from billframes.assistant.source import Source
from billframes.book import Book
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from billframes.periods import Period


def from_books(analysis: Analysis, book: Book, source: Source) -> dict[str, Any]:
    """Return the argument that an analysis takes from the firm's books; nothing if it takes none."""
    # These modules take long to import, and few questions are about the books.
    from billframes.ledger.kept_reports import kept_reports
    from billframes.ledger.month_reports import ledger_paths, read_payments

    needs = analysis.book.first
    if needs not in ("payments", "ledger"):
        return {}
    paths, kept = ledger_paths((), book.settings.books.folder if book.settings else ""), kept_reports(book.client)
    if not paths and not kept:
        raise ParameterError(
            f"{analysis.name} needs reports of the firm's books, because the billing system has no payments. Export "
            "them into a folder that the firm's settings name (ledger.folder)."
        )
    if needs == "ledger":
        return {needs: _open_items(book, paths, kept)}
    payments = read_payments(source.unchanged(book), paths, kept)
    if payments is None:
        raise ParameterError(f"{analysis.name} needs the books' payments: export Sales by Customer Detail, cash basis.")
    days = Period.stated(attached(payments, "payments") or {})
    first, last = book.period.start or book.first_day, _last_day(book)
    begun = days.start is None or (first is not None and days.start <= first)
    if not begun or (days.end is not None and days.end < last):
        span = long_span(days)
        raise ParameterError(f"The payments in the books are those of {span}. Choose a period within, or export more.")
    return {needs: source.changed("payments", payments)}


def _open_items(book: Book, paths: list[Path], kept: list[pd.DataFrame]) -> pd.DataFrame:
    from billframes.ledger import read_ledger
    from billframes.ledger.kept_reports import kept_open_items

    day, files = _last_day(book), [*map(read_ledger, paths)]
    fits = [each for each in files if _opened(each) and each.attrs["ledger"]["as_of"] in (None, day.isoformat())]
    fits = fits or kept_open_items(kept, day)
    if len(fits) != 1:
        found = [str(each.attrs["ledger"]["as_of"]) for each in [*kept, *files] if _opened(each)]
        days = ", ".join(found) or "no day"
        raise ParameterError(f"tie_out needs one A/R Aging Detail as of {long_date(day)}; the books have {days}.")
    return fits[0]


def _opened(report: pd.DataFrame) -> bool:
    return bool(report.attrs["ledger"]["open_items"])


def _last_day(book: Book) -> Any:
    return min(each for each in (book.period.end, book.loaded_on("invoices")) if each is not None)
