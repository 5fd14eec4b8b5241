"""Receivables, work in progress and lock-up at the end of an earlier month, from the mirror's version of that day."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._shared.format import format_number
from billframes.analysis.data.data_span import covers
from billframes.book import Book
from billframes.book.kept import KeptBook
from billframes.book.slices import BookSlice, SlicedBook
from billframes.config.firm import FirmSettings
from billframes.report.scope import Scope


@dataclass(frozen=True)
class Balances:
    """The balance figures of the last day of a month."""

    day: dt.date
    by_name: dict[str, float]


_YEAR = 365
# Lock-up divides by fees. If less of them is for time, they don't follow from the work in progress.
_FOR_TIME = 0.5


def why_no_lockup(book: Book | BookSlice | KeptBook, lockup: pd.Series[Any]) -> str:
    """Say why the lock-up of a book, in a row of its analysis, says nothing; empty if it does."""
    days, fees = float(lockup["days"]), float(lockup["fees_amount"])
    if not fees > 0:
        return f"nothing was billed in {days:.0f} days"
    if not covers(book.first_day, lockup["as_of"].date() - dt.timedelta(_YEAR - 1)):
        return f"it needs the fees of a year, and the data have {days:.0f} days"
    year = {"start": lockup["fees_start"], "end": lockup["fees_end"]}
    for_time = float(book.realization(by=None, **year)["billed_amount"].iloc[0]) / fees
    if for_time < _FOR_TIME:
        return f"only {format_number(for_time, 'ratio')} of the year’s fees are for time"
    return ""


def balance_figures(book: Book | BookSlice | KeptBook, day: dt.date) -> dict[str, float]:
    """Return receivables, work in progress and lock-up of a book on a day, by the names of the report."""
    owed, work, lockup = book.aging(as_of=day).iloc[0], book.wip(as_of=day).iloc[0], book.lockup(as_of=day).iloc[0]
    if why_no_lockup(book, lockup):
        lockup = lockup[["wip_days", "receivable_days", "lockup_days"]] * math.nan
    oldest = work.index[list(work.index).index("total") - 1]
    total, overdue, credit = float(owed["total"]), float(owed["overdue"]), float(owed["credit_amount"])
    return {
        "Receivables": total,
        "of which overdue": overdue,
        "of which unused credits": credit,
        "Overdue share": overdue / (total - credit) if total - credit > 0 else math.nan,
        "Work in progress": float(work["total"]),
        "of which older than 90 days": float(work[oldest]),
        "On contingency": float(work["contingent_amount"]),
        "Lock-up": float(lockup["lockup_days"]),
        "of which work in progress": float(lockup["wip_days"]),
        "of which receivables": float(lockup["receivable_days"]),
    }


def earlier_balances(book: Book, scope: Scope | None, last: dt.date) -> Balances | None:
    """Return the balances at the end of an earlier month; None without a mirror that has them."""
    mirror: Any = book.client
    find = getattr(mirror, "_version_of_day", None)
    found = find(last, (book.settings or FirmSettings()).time_zone) if find else None
    if found is None:
        return None
    number, day = found
    with mirror.as_of(number) as then:
        book = Book(book.period, settings=book.settings, client=then)
        part = SlicedBook(book, scope.key).slice(scope.id) if scope else book
        return Balances(day, balance_figures(part, last))
