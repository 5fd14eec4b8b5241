"""Read what stands above the rows of a report: its title, headings, company, period and accounting method."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from billframes.errors import LedgerError
from billframes.ledger.amounts_and_dates import is_date, long_dates
from billframes.ledger.csv_and_excel import Cells
from billframes.ledger.notes import says_empty, stamp_of
from billframes.ledger.reports import BY_TITLE, HEADINGS, NOT_READ, Report, plain_title

# The title is in the first rows, and the headings are in one of the first rows.
_TITLE_ROWS, _HEADING_ROWS = 4, 20
_LONGEST_HEADING = 100
# The time stamp is at the end, and can be in two rows.
_LAST_ROWS = 3
DATED = ("date", "due_date")
"""The columns of dates."""
_DESKTOP = {"p. o. #", "aging"}
_LIKE_TITLE = re.compile(r"\b(?:detail|summary|list|report|ledger|journal|statement|sheet|balance|loss|invoices)\b")
_DAY = ("as of", "as at", "as on")
_SINCE, _UNTIL = ("since", "from", "after", "starting"), ("through", "until", "till", "to ", "up to", "before")
_RANGE = re.compile(r"\b(?:to|through|until)\b|[-–]")
_TODAY = ("today", "now", "present", "to date")
_NO_NAME = ("ageing by", "aging by", "all dates", "sep=")


def report_of(cells: Cells) -> tuple[Report, str]:
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


def headings_of(cells: Cells, report: Report) -> tuple[int, dict[str, int]]:
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
            for name in places.keys() & {*DATED}:
                _refuse_dates_beside_texts(cells, at, places[name])
            return at, places
        found.append(places)
        if says_empty(row):
            return max(at - 1, 0), {}
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


def _refuse_dates_beside_texts(cells: Cells, heading: int, place: int) -> None:
    """Refuse a column with dates and texts: Excel makes dates of those that its language can read, day for month."""
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


def about_report(cells: Cells, heading: int, title: str) -> dict[str, Any]:
    """Read company, period, accounting method and time stamp of a report."""
    texts = [text for text in cells.first_texts(heading) if text != title]
    ends = [row for _, row in cells.rows[heading + 1 :]][-_LAST_ROWS:]
    stamps = [found for row in ends if (found := stamp_of(row))]
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
    has_both = first != last and _RANGE.search(text)
    if text.endswith(_TODAY) or (text.startswith(_SINCE) and not has_both):
        return first, exported
    return (None, last) if text.startswith(_UNTIL) and not has_both else (first, last)


def _is_name(text: str) -> bool:
    return not (long_dates(text) or stamp_of([text]) or text.casefold().startswith((*_NO_NAME, *_DAY)))
