"""`read_ledger`: a report of the firm's books as one frame, whatever the report.

A report is found by its title and its headings, read row by row, and refused if a total is not the sum of its rows.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from billframes._shared.limits import LEDGER_BYTES, WORKBOOK_CELLS, checked_limit
from billframes._shared.messages import warn
from billframes._shared.names import closest, type_in_words
from billframes._shared.suggestions import check_choice
from billframes.errors import IncompleteDataWarning, LedgerError, ParameterError
from billframes.ledger.amounts_and_dates import ORDERS, STYLES, decimal_style, long_dates, possible_orders
from billframes.ledger.csv_and_excel import read_cells
from billframes.ledger.frame import ledger_frame
from billframes.ledger.reports import KINDS, Report
from billframes.ledger.title_and_headings import DATED, about_report, headings_of, report_of
from billframes.ledger.transactions_and_totals import Body, Transaction

Source = str | bytes | os.PathLike[str]
_PATHS = (str, bytes, os.PathLike)


def read_ledger(
    source: Source | Sequence[Source],
    kind: str | None = None,
    *,
    dates: Literal["dmy", "mdy"] | None = None,
    decimals: Literal["point", "comma"] | None = None,
    totals: Literal["require", "warn"] = "require",
    texts: bool = False,
    max_bytes: int = LEDGER_BYTES,
    max_cells: int = WORKBOOK_CELLS,
) -> pd.DataFrame:
    r"""
    Read a report that QuickBooks Online or Xero exported: one row per transaction.

    The report is known by its title and headings. Every total in it is added up again, so that a file that was cut off
    or edited is refused.

    Parameters
    ----------
    source : path, bytes or list of these
        A CSV or Excel file as it was exported, or its content. Several files must be the same report of one company for
        periods that do not overlap.
    kind : str, optional
        Refuse another report than this, such as "ar_aging_detail".
    dates : {"dmy", "mdy"}, optional
        Whether 5/6/2026 is 5 June or 6 May. By default, a day above 12 in the file decides, else the date in its title
        or time stamp, with a warning.
    decimals : {"point", "comma"}, optional
        Whether an amount is written as 1,234.56 or as 1.234,56. By default, the form that all amounts have.
    totals : {"require", "warn"}
        Whether a total that is not the sum of its rows is an error or a warning.
    texts : bool
        Whether to keep memos and descriptions, which can be confidential.
    max_bytes : int, default 50_000_000
        The most bytes that a file may have, also when it is unpacked.
    max_cells : int, default 3_000_000
        The most cells that a file may have.

    Returns
    -------
    DataFrame
        One row per transaction, in the order of the file. Every report gives the same columns; those that it does not
        have are missing:

        - `row`: int64, the row in the file
        - `kind`: category (invoice, payment, credit, journal, deposit, refund, sales_receipt, other); `type`: as
          written in the report
        - `date`, `due_date` (of invoices), `number`, `customer` ("Client:Matter" for a sub-customer)
        - `amount`: float64, the effect on receivables: invoices are positive, payments and credits negative. Only in
          `sales_detail`, a line billed or paid is positive
        - `open_balance`: float64, the open part of the amount, with the same sign
        - `invoice_number`: of the invoice that a payment pays, if the report has it
        - `item`, `account`, `split`, `class`, `location`, `currency`
        - `voided`: bool, whether the memo begins with "Void"
        - `transaction_id`: only from `ledger_from_quickbooks`
        - with `texts`: `memo`, `description`

        `attrs["ledger"]` has `report`, `file` (the name only), `company`, `as_of`, `start` and `end` (ISO text),
        `basis` ("cash", "accrual" or None), `stamp`, `dates`, `dates_from`, `totals_checked`, `open_items` (whether it
        lists everything open on a day), `history` (whether it lists all invoices), `by_account` and `payments` (how it
        states the invoices that payments pay).

    Raises
    ------
    LedgerError
        The file is another report, was cut off or edited, or its dates or amounts are ambiguous.
    ParameterError
        A file can't be opened or is beyond a limit, or an argument is unknown.

    Warns
    -----
    IncompleteDataWarning
        The order of day and month is known only from the title or time stamp, the totals of an Excel file were not
        saved, or a CSV file is not UTF-8.

    Examples
    --------
    >>> lines = [
    ...     "Larkspur LLP,,,,,,", "Open Invoices Report,,,,,,", '"As of Oct 31, 2026",,,,,,', "",
    ...     ",Date,Transaction type,Num,Term,Due date,Open balance", "Osprey Ridge,,,,,,",
    ...     ",10/18/2026,Invoice,1002,Net 30,11/17/2026,1400.00", "Total for Osprey Ridge,,,,,,$1400.00",
    ...     "TOTAL,,,,,,$1400.00",
    ... ]
    >>> ledger = read_ledger("\r\n".join(lines).encode())
    >>> ledger[["kind", "date", "number", "customer", "open_balance"]]
          kind       date number      customer  open_balance
    0  invoice 2026-10-18   1002  Osprey Ridge        1400.0
    >>> ledger.attrs["ledger"]["as_of"]
    '2026-10-31'
    """
    for value, name, accepted in ((dates, "dates", ORDERS), (decimals, "decimals", tuple(STYLES))):
        if value is not None:
            check_choice(value, name, accepted)
    check_choice(totals, "totals", ("require", "warn"))
    if kind is not None and kind not in KINDS:
        raise ParameterError(f"kind={kind!r} is not a report; it takes {', '.join(KINDS)}.{closest(kind, KINDS)}")
    limits = checked_limit("max_bytes", max_bytes), checked_limit("max_cells", max_cells)
    sources = _sources(source)
    files = [_read_file(each, kind, dates, decimals, totals, limits) for each in sources]
    return ledger_frame(*_joined(files), texts=texts)


def _sources(source: Source | Sequence[Source]) -> Sequence[Source]:
    sources: list[Any] = [source] if isinstance(source, _PATHS) or not isinstance(source, Sequence) else [*source]
    if not sources:
        raise ParameterError("source has no file.")
    for each in sources:
        if not isinstance(each, _PATHS):
            raise ParameterError(
                f"source is {type_in_words(source)}; pass the path of a report, its content as bytes, or a list of "
                "these."
            )
    return sources


@dataclass(frozen=True, slots=True)
class _File:
    report: Report
    transactions: list[Transaction]
    about: dict[str, Any]

    @property
    def period(self) -> tuple[dt.date, dt.date] | None:
        """The first and last day; those of its rows if the title does not have both."""
        days = [each.date for each in self.transactions]
        first, last = self.about["start"] or min(days, default=None), self.about["end"] or max(days, default=None)
        return (first, last) if first and last else None


def _read_file(
    source: Source, kind: str | None, dates: str | None, decimals: str | None, totals: str, limits: tuple[int, int]
) -> _File:
    cells = read_cells(source, *limits)
    file = cells.file
    report, title = report_of(cells)
    if kind is not None and kind != report.kind:
        raise LedgerError(f"{file} is {report.kind}, not {kind}.")
    heading, places = headings_of(cells, report)
    below = [row for _, row in cells.rows[heading + 1 :]]
    if cells.merged[0] > cells.rows[heading][0]:
        raise LedgerError(f"{file} has merged cells ({cells.merged[1]}), so it was edited; export it again.")
    about = about_report(cells, heading, title)
    values = [row[place] for row in below for name, place in places.items() if name in DATED and place < len(row)]
    order, source_of_order = _order(values, file, dates, about)
    money = [place for name, place in places.items() if name in ("amount", "open_balance", "debit", "credit")]
    amounts = (row[place] for row in below for place in money if place < len(row) and isinstance(row[place], str))
    style = decimal_style(amounts, file, decimals)
    body = Body(cells, report, heading, places, style=style, order=order, totals=totals)
    if body.unsaved:
        warn(
            f"The totals of {file} have no saved results, so its rows can't be checked: open it in Excel, choose "
            "Enable Editing, and save it.",
            IncompleteDataWarning,
        )
    about |= {"open_items": report.open_items, "history": report.history, "by_account": report.groups == "account"}
    about |= {"payments": report.payments}
    about |= {"report": report.kind, "dates": order, "dates_from": source_of_order, "totals_checked": body.checked}
    return _File(report, body.transactions, about)


def _order(values: list[Any], file: str, asked: str | None, about: dict[str, Any]) -> tuple[str | None, str]:
    """Decide whether the day or the month is first in dates such as 5/6/2026; return also what decided it."""
    possible = possible_orders(values, file)
    if possible is None:
        return None, "cells"
    if asked is not None:
        if asked not in possible:
            raise LedgerError(f"dates={asked!r} does not fit {file}: it has a month above 12.")
        return asked, "argument"
    if len(possible) == 1:
        return possible[0], "cells"
    in_stamp = long_dates(about["stamp"] or "")
    written = (in_stamp and in_stamp[2]) or about["dates"]
    if written is None:
        raise LedgerError(f"The dates in {file} can be day first or month first: pass dates='dmy' or dates='mdy'.")
    warn(
        f"The dates in {file} can be day first or month first. They are read as {written}, as the report's date line "
        "is written; dates= sets it.",
        IncompleteDataWarning,
    )
    return written, "date line"


def _joined(files: list[_File]) -> tuple[Report, list[Transaction], dict[str, Any]]:
    """Join files of one report and company whose periods do not overlap."""
    one = files[0]
    for other in files[1:]:
        name = other.about["file"]
        if other.report.kind != one.report.kind:
            raise LedgerError(f"{name} is {other.report.kind}, not {one.report.kind}, as {one.about['file']} is.")
        if other.about["company"] != one.about["company"]:
            raise LedgerError(f"{name} and {one.about['file']} are of two companies; read them one by one.")
        if other.about["basis"] != one.about["basis"]:
            raise LedgerError(f"{name} and {one.about['file']} have different accounting methods; export them alike.")
    if len(files) > 1 and any(each.about["as_of"] for each in files):
        raise LedgerError(f"{one.about['file']} lists what is open on a day; read one such report at a time.")
    dated = sorted(((each.period, each.about["file"]) for each in files if each.period), key=lambda each: each[0])
    for ((_, last), before), ((first, _), after) in itertools.pairwise(dated):
        if first <= last:
            raise LedgerError(f"{before} and {after} both have {first:%Y-%m}.")
    about = dict(one.about)
    if len(files) > 1:
        about["file"] = ", ".join(each.about["file"] for each in files)
        about["start"], about["end"] = (dated[0][0][0], dated[-1][0][1]) if dated else (None, None)
        about["totals_checked"] = sum(each.about["totals_checked"] for each in files)
    return one.report, [each for file in files for each in file.transactions], about
