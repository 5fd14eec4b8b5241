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


BALANCES = (
    ("Receivables", "money", "aging", "total"),
    ("of which overdue", "money", "aging", "overdue"),
    ("of which unused credits", "money", "aging", "credit_amount"),
    ("Overdue share", "ratio", "aging", "overdue_share"),
    ("Work in progress", "money", "wip", "total"),
    ("of which older than 90 days", "money", "wip", "91+"),
    ("On contingency", "money", "wip", "contingent_amount"),
    ("Lock-up", "days", "lockup", "lockup_days"),
    ("of which work in progress", "days", "lockup", "wip_days"),
    ("of which receivables", "days", "lockup", "receivable_days"),
)
"""The name, unit, analysis and column of each balance figure."""
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
    rows = {name: getattr(book, name)(as_of=day).iloc[0] for name in ("aging", "wip", "lockup")}
    owed = float(rows["aging"]["total"]) - float(rows["aging"]["credit_amount"])
    rows["aging"]["overdue_share"] = float(rows["aging"]["overdue"]) / owed if owed > 0 else math.nan
    if why_no_lockup(book, rows["lockup"]):
        rows["lockup"] = rows["lockup"][["wip_days", "receivable_days", "lockup_days"]] * math.nan
    return {name: float(rows[analysis][column]) for name, _, analysis, column in BALANCES}


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
