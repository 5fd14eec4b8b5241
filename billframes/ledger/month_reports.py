"""Read reports of the firm's books for a month's report: payments, and the tie-out of the receivables.

Each file is known by its report: what is open on the day of the receivables is tied out, payments and credits are added
up, and a list of all invoices says what became of those that are no longer open. Files of the folder in the settings
that are of another day are left out; files that were named must fit.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._shared.format import long_date, long_span
from billframes._shared.names import join_names
from billframes._shared.notes import Notes
from billframes.book import Book
from billframes.errors import ConfigError, LedgerError
from billframes.ledger import read_ledger
from billframes.ledger.kept_reports import join_kept, keep_reports, kept_open_items, kept_reports
from billframes.ledger.tie_out_rows import UNEXPLAINED
from billframes.periods import Period
from billframes.report.month import Month

_ENDINGS = (".csv", ".xlsx")
_CREDITS = "account_detail"


@dataclass(frozen=True, kw_only=True)
class Ledgers:
    """
    What is known from the firm's books: the payments from a day on, and the tie-out with one row per invoice.

    `missing` says what is not known, and which report would show it.
    """

    payments: pd.DataFrame | None = None
    since: dt.date | None = None
    tie_out: pd.DataFrame | None = None
    missing: tuple[str, ...] = ()

    @property
    def unexplained(self) -> tuple[float, int] | None:
        """The size of the differences whose reason says nothing of what happened, and their number; None without."""
        if self.tie_out is None:
            return None
        rows = self.tie_out[self.tie_out["reason"].isin(UNEXPLAINED)]
        return (float(rows["difference_amount"].abs().sum()), len(rows)) if len(rows) else None

    def for_matters(self, _matters: pd.DataFrame) -> Ledgers:
        """Return itself: the books are the whole firm's."""
        return self

    def covers(self, first: dt.date) -> bool:
        """Tell whether the payments from a day on are known."""
        return self.payments is not None and (self.since is None or self.since <= first)


def ledger_paths(named: Sequence[str], folder: str) -> list[Path]:
    """Return the files to read: those that were named, else those of the folder in the firm's settings."""
    if named or not folder:
        return [Path(each) for each in named]
    if not Path(folder).is_dir():
        raise ConfigError(f"[ledger] folder is {folder!r} in the firm's settings, but there is no such folder.")
    found = sorted(each for each in Path(folder).iterdir() if each.suffix.lower() in _ENDINGS)
    # Excel locks an open file by one of the same name.
    return [each for each in found if not each.name.startswith((".", "~$"))]


def read_ledgers(month: Month, paths: Sequence[Path], *, must_fit: bool) -> Ledgers:
    """
    Read reports of the firm's books for a month.

    With `must_fit`, a report of what is open on another day is an error, as is one that is not used here.
    """
    reports = _read(paths)
    opened = [frame for _, frame in reports if _about(frame)["open_items"]]
    paid = _with_payments(reports)
    listed = [frame for _, frame in reports if _about(frame)["history"]]
    for about in (_about(frame) for _, frame in reports):
        if not (about["open_items"] or about["payments"] or about["history"] or about["report"] == _CREDITS):
            raise LedgerError(
                f"{about['file']} is {about['report']}, which the report does not use; export A/R Aging Detail or "
                "Sales by Customer Detail."
            )
    kept = kept_reports(month.firm_book.client)
    if not reports and not kept:
        return Ledgers()
    tied = _tied_out(month, opened or kept_open_items(kept, month.as_of), listed, must_fit=must_fit)
    ledger = join_kept(month.notes, _as_one(paid), kept)
    if ledger is not None and not _has_days(month, _about(ledger)):
        if paid:
            span = long_span(Period.stated(_about(ledger)), begin="its beginning")
            raise LedgerError(
                f"{_about(ledger)['file']} has the payments from {span}, not all of {month.name}; export it for the "
                "whole month, or the year to date."
            )
        ledger = None
    payments = None if ledger is None else month.firm_book.payments(ledger, credits=_credits(reports))
    keep_reports(month.firm_book.client, [frame for _, frame in reports])
    missing = [] if payments is not None else ["Sales by Customer Detail, on cash basis, would show what was collected"]
    if tied is None:
        missing.append(f"A/R Aging Detail as of {long_date(month.as_of)} would show whether the books agree")
    return Ledgers(
        payments=payments,
        since=None if ledger is None else Period.stated(_about(ledger)).start,
        tie_out=tied,
        missing=tuple(missing),
    )


def read_payments(book: Book, paths: Sequence[Path], kept: Sequence[pd.DataFrame]) -> pd.DataFrame | None:
    """
    Return the payments in reports of the firm's books, of all their days; None if no report has payments.

    The reports `kept` by a mirror add the days before those of the files, and serve without files, too.
    """
    reports = _read(paths)
    notes = Notes()
    paid = join_kept(notes, _as_one(_with_payments(reports)), kept)
    notes.finish()
    return None if paid is None else book.payments(paid, credits=_credits(reports))


def payments_of(book: Book, files: Sequence[str]) -> pd.DataFrame | None:
    """Return the payments in files, or in those of the settings' folder, and in what a mirror has kept."""
    paths = ledger_paths(files, book.settings.books.folder if book.settings else "")
    return read_payments(book, paths, kept_reports(book.client))


def check_payments_among(files: Sequence[str]) -> None:
    """Check that reports can be read, and that one of them has payments."""
    reports = [(Path(each), read_ledger(each)) for each in files]
    if not _with_payments(reports):
        names = join_names([_about(frame)["file"] for _, frame in reports])
        raise LedgerError(f"There are no payments in {names}; export Sales by Customer Detail, on cash basis.")


_Reports = Sequence[tuple[Path, pd.DataFrame]]


def _read(paths: Sequence[Path]) -> _Reports:
    reports = [(each, read_ledger(each)) for each in paths]
    named = [about for _, frame in reports if (about := _about(frame))["company"]]
    for each in named[1:]:
        if each["company"] != named[0]["company"]:
            raise LedgerError(f"{named[0]['file']} and {each['file']} are of two companies; give those of one.")
    return reports


def _with_payments(reports: _Reports) -> _Reports:
    return [each for each in reports if _about(each[1])["payments"]]


def _credits(reports: _Reports) -> pd.DataFrame | None:
    return _as_one([each for each in reports if _about(each[1])["report"] == _CREDITS])


def _as_one(reports: _Reports) -> pd.DataFrame | None:
    """Return files of one report as one frame; several are read again together, which checks that they fit."""
    return reports[0][1] if len(reports) == 1 else read_ledger([path for path, _ in reports]) if reports else None


def _about(ledger: pd.DataFrame) -> dict[str, Any]:
    about: dict[str, Any] = ledger.attrs["ledger"]
    return about


def _has_days(month: Month, about: dict[str, Any]) -> bool:
    days = Period.stated(about)
    return not ((days.start and days.start > month.first) or (days.end and days.end < month.last))


def _tied_out(
    month: Month, opened: Sequence[pd.DataFrame], listed: Sequence[pd.DataFrame], *, must_fit: bool
) -> pd.DataFrame | None:
    days = {_about(each)["as_of"] for each in opened}
    fits = [each for each in opened if _about(each)["as_of"] in (None, month.as_of.isoformat())]
    if not fits and days and must_fit:
        fits = list(opened[:1])
    if len(fits) > 1:
        names = " and ".join(_about(each)["file"] for each in fits)
        raise LedgerError(f"{names} both list what is open on {month.as_of}; give one of them.")
    if not fits:
        return None
    history = max(listed, key=lambda each: _about(each)["end"] or "9999", default=None)
    rows: pd.DataFrame = month.firm_book.tie_out(fits[0], as_of=month.as_of, history=history)
    return rows
