"""`read_ledger`: a report of the firm's books as one frame, whatever the report.

A report is found by its title and its headings, read row by row, and refused if a total is not the sum of its rows.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from billframes._limits import LEDGER_BYTES, WORKBOOK_CELLS, checked_limit
from billframes._messages import warn
from billframes._names import closest, type_in_words
from billframes.analysis.model.arguments import check_choice
from billframes.errors import IncompleteDataWarning, LedgerError, ParameterError
from billframes.ledger.cells import Cells, read_cells
from billframes.ledger.frame import ledger_frame
from billframes.ledger.notes import says_empty, stamp_of
from billframes.ledger.reports import BY_TITLE, HEADINGS, KINDS, NOT_READ, Report, plain_title
from billframes.ledger.rows import Body, Transaction
from billframes.ledger.values import ORDERS, STYLES, decimal_style, is_date, long_dates, possible_orders

# The title is in the first rows, and the headings are in one of the first rows.
_TITLE_ROWS, _HEADING_ROWS = 4, 20
_LONGEST_HEADING = 100
_DESKTOP = {"p. o. #", "aging"}
_LIKE_TITLE = re.compile(r"\b(?:detail|summary|list|report|ledger|journal|statement|sheet|balance|loss|invoices)\b")

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
    """Return the files of `source=`; refuse other values."""
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
    """One file that was read: the report, its transactions, and what is known about it."""

    report: Report
    transactions: list[Transaction]
    about: dict[str, Any]

    @property
    def period(self) -> tuple[dt.date, dt.date] | None:
        """The first and last day; those of its rows if the title has none."""
        if self.about["start"]:
            return self.about["start"], self.about["end"]
        days = [each.date for each in self.transactions]
        return (min(days), max(days)) if days else None


def _read_file(
    source: Source, kind: str | None, dates: str | None, decimals: str | None, totals: str, limits: tuple[int, int]
) -> _File:
    cells = read_cells(source, *limits)
    file = cells.file
    report, title = _report(cells)
    if kind is not None and kind != report.kind:
        raise LedgerError(f"{file} is {report.kind}, not {kind}.")
    heading, places = _headings(cells, report)
    for name in _DATED:
        _refuse_dates_beside_texts(cells, heading, places.get(name))
    below = [row for _, row in cells.rows[heading + 1 :]]
    if cells.merged[0] > cells.rows[heading][0]:
        raise LedgerError(f"{file} has merged cells ({cells.merged[1]}), so it was edited; export it again.")
    about = _about(cells, heading, title)
    values = [row[place] for row in below for name, place in places.items() if name in _DATED and place < len(row)]
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


_DATED = ("date", "due_date")


def _report(cells: Cells) -> tuple[Report, str]:
    """Find the report by its title; return the text of the title, too."""
    titles = {text: plain_title(text) for text in cells.first_texts(_TITLE_ROWS)}
    for text, title in titles.items():
        if title in BY_TITLE:
            return BY_TITLE[title], text
    for text, title in titles.items():
        if title in NOT_READ:
            raise LedgerError(f"{cells.file} ({text}) is a report without invoices; export {NOT_READ[title]}.")
    if any({str(cell).casefold() for cell in row} >= _DESKTOP for _, row in cells.rows[:_HEADING_ROWS]):
        raise LedgerError(
            f"{cells.file} is a report of QuickBooks Desktop; only reports of QuickBooks Online and Xero are read."
        )
    known = ", ".join(sorted({report.titles[0] for report in BY_TITLE.values()}))
    found = next((f" ({text})" for text, title in titles.items() if _LIKE_TITLE.search(title)), "")
    raise LedgerError(
        f"{cells.file}{found} is not a report that is read here: {known}. The title is in one of its first "
        f"{_TITLE_ROWS} rows."
    )


def _headings(cells: Cells, report: Report) -> tuple[int, dict[str, int]]:
    """Return the position of the row of headings, and that of each column in it."""
    found: list[dict[str, int]] = []
    for at, (_, row) in enumerate(cells.rows[:_HEADING_ROWS]):
        headings = [plain_title(str(cell)[:_LONGEST_HEADING]) for cell in row]
        places: dict[str, int] = {}
        again: list[tuple[str, int]] = []
        for names in (HEADINGS, report.headings):
            placed = {*places}
            for place, heading in enumerate(headings):
                name = names.get(heading)
                if name is not None and name not in placed and places.setdefault(name, place) != place:
                    again.append((name, place))
        if places.keys() >= {*report.needs}:
            for name, place in again:
                _refuse_unlike(cells, at, places, name, place)
            return at, places
        found.append(places)
    most = max(found, key=len, default={})
    needed, lacking = (
        ", ".join(name.replace("_", " ") for name in report.needs if name not in have) for have in ((), most)
    )
    raise LedgerError(
        f"{cells.file} has no row with the headings {needed}; it lacks {lacking}. Export its standard columns."
    )


def _refuse_unlike(cells: Cells, heading: int, places: dict[str, int], name: str, other: int) -> None:
    """Refuse a second column with the meaning of another, if a transaction has different values in them."""
    titles, one = cells.rows[heading][1], places[name]
    for number, row in cells.rows[heading + 1 :]:
        if is_date(_cell(row, places["date"])) and _cell(row, one) != _cell(row, other):
            raise LedgerError(
                f"{cells.file} has two columns with the {name.replace('_', ' ')}, {titles[one]!r} and "
                f"{titles[other]!r}, which differ in row {number}; export it with one of them."
            )


def _refuse_dates_beside_texts(cells: Cells, heading: int, place: int | None) -> None:
    """Refuse a column with dates and texts: Excel makes dates of those that its language can read, day for month."""
    if place is None:
        return
    found: dict[bool, tuple[int, Any]] = {}
    for number, row in cells.rows[heading + 1 :]:
        if is_date(cell := _cell(row, place)):
            found.setdefault(isinstance(cell, str), (number, cell))
    if len(found) == 2:
        raise LedgerError(
            f"{cells.file} has dates ({found[False][1]} in row {found[False][0]}) and texts ({found[True][1]!r} in row "
            f"{found[True][0]}) in the column {cells.rows[heading][1][place]!r}, so Excel may have exchanged day and "
            "month when it opened a CSV file; export the report again."
        )


def _cell(row: list[Any], place: int) -> Any:
    return row[place] if place < len(row) else None


def _about(cells: Cells, heading: int, title: str) -> dict[str, Any]:
    """Read company, period, accounting method and time stamp of a report."""
    texts = [text for text in cells.first_texts(heading) if text != title]
    stamps = [found for _, row in cells.rows[heading + 1 :] if (found := stamp_of(row))]
    stamp = next((date for _, date in stamps if date), None)
    dated = next((text for text in texts if long_dates(text)), "")
    first, last, written = long_dates(dated) or (None, None, None)
    is_day = any(text.casefold().startswith(_DAY) for text in texts)
    if not is_day:
        exported = long_dates(stamp or "")
        first, last = _open_ends(dated.casefold(), first, last, exported and exported[1])
    methods = [basis for basis, _ in stamps] + [found[0] for text in texts if (found := stamp_of([text]))]
    return {
        "report": "",
        "file": cells.file,
        "company": next((text for text in texts if _is_name(text)), None),
        "as_of": last if is_day else None,
        "start": None if is_day else first,
        "end": None if is_day else last,
        "basis": next(filter(None, methods), None),
        "stamp": stamp,
        "dates": written,
        "dates_from": None,
        "totals_checked": 0,
    }


def _open_ends(
    text: str, first: dt.date | None, last: dt.date | None, exported: dt.date | None
) -> tuple[dt.date | None, dt.date | None]:
    """Return the first and last day of a period such as "Since …", which ends when the report was exported."""
    if text.startswith(_SINCE) or text.endswith(_TODAY):
        return first, exported if first == last or text.endswith(_TODAY) else last
    return (None, last) if text.startswith(_UNTIL) and first == last else (first, last)


def _is_name(text: str) -> bool:
    """Tell whether a text above the headings can be the name of the company."""
    return not (long_dates(text) or stamp_of([text]) or text.casefold().startswith((*_NO_NAME, *_DAY)))


_DAY = ("as of", "as at", "as on")
_SINCE, _UNTIL = ("since", "from", "after", "starting"), ("through", "until", "till", "to ", "up to", "before")
_TODAY = ("today", "now", "present", "to date")
_NO_NAME = ("ageing by", "aging by", "all dates", "sep=", *_SINCE, *_UNTIL)


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
