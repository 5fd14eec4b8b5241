"""Read the amounts and dates of a report.

Amounts are cents. Their decimals and the order of day and month are those of the whole file, because a single value can
be read in two ways.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterable
from typing import Any

from billframes.errors import LedgerError
from billframes.periods import MONTHS

_SIGNS = "$£€"
STYLES = {
    "point": re.compile(rf"-?\(?[{_SIGNS}]?-?\(?-?(\d{{1,3}}(,\d{{3}})+|\d+)\.\d\d\)?"),
    "comma": re.compile(rf"-?\(?[{_SIGNS}]?-?\(?-?(\d{{1,3}}([.\s]\d{{3}})+|\d+),\d\d\)?(\s?[{_SIGNS}])?"),
}
"""The pattern of an amount for each sign of decimals."""
ORDERS = ("dmy", "mdy")
_SHORT = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})")
_WORDS = re.compile(r"(\d{1,2}) ([A-Z][a-z]{2,8}) (\d{4})")
_MONTHS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_POINT = re.compile(
    rf"(?:(\d{{1,2}}) )?\b({'|'.join(name[:3] for name in MONTHS)})[a-z]*\.?(?: (\d{{1,2}})(?!\d))?(?:,? (\d{{4}}))?"
)
# "October 1-31, 2026" has the month once.
_ONE_MONTH = re.compile(r"([A-Z][a-z]+) (\d{1,2})\s*[-–]\s*(\d{1,2}), (\d{4})")


def decimal_style(texts: Iterable[str], file: str, asked: str | None) -> str:
    """Return "point" or "comma", whichever all amounts of a file fit; refuse others than the one asked for."""
    # Rows with words in these columns are reported by their number.
    listed = [text for text in dict.fromkeys(texts) if re.search(r"\d", text)]
    for style, pattern in STYLES.items():
        if asked in (None, style) and all(map(pattern.fullmatch, listed)):
            return style
    tried = [asked] if asked else list(STYLES)
    # The example is the first amount that does not fit the style of most.
    misfits = min(([text for text in listed if not STYLES[each].fullmatch(text)] for each in tried), key=len)
    forms = " or ".join({"point": "1,234.56", "comma": "1.234,56"}[each] for each in tried)
    raise LedgerError(f"{file} has amounts such as {misfits[0]!r} that are not read as {forms}.")


def cents(value: Any, style: str) -> int:
    """
    Return an amount in cents; raise `ValueError` for other cells, and for more than two decimals.

    Examples
    --------
    >>> cents("-$1,180.00", "point"), cents("$(250.00)", "point"), cents("2 000,00 €", "comma"), cents(980.49, "point")
    (-118000, -25000, 200000, 98049)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        whole = round(value * 100)
        if abs(value * 100 - whole) > 1e-4:
            raise ValueError(f"{value} has more than two decimals")
        return whole
    if not isinstance(value, str) or not STYLES[style].fullmatch(value):
        raise ValueError(f"{value} is not an amount")
    amount = int(re.sub(r"\D", "", value))
    return -amount if "-" in value or "(" in value else amount


def is_date(value: Any) -> bool:
    """Return whether a cell is a date of Excel, or a text such as "6/15/2026" or "15 Jun 2026"."""
    if isinstance(value, dt.date):
        return True
    return isinstance(value, str) and bool(_SHORT.fullmatch(value) or _WORDS.fullmatch(value))


def possible_orders(values: Iterable[Any]) -> list[str] | None:
    """
    Return the orders of day and month that all dates fit; None if no date needs one.

    Examples
    --------
    >>> possible_orders(["6/15/2026"]), possible_orders(["6/5/2026"]), possible_orders(["6/15/2026", "15/6/2026"])
    (['mdy'], ['dmy', 'mdy'], [])
    """
    parts = [found.groups() for value in values if isinstance(value, str) and (found := _SHORT.fullmatch(value))]
    if not parts:
        return None
    months = {"dmy": {int(each[1]) for each in parts}, "mdy": {int(each[0]) for each in parts}}
    return [order for order in ORDERS if max(months[order]) <= 12]


def read_date(value: Any, order: str | None) -> dt.date:
    """Return a cell as a date; raise `ValueError` if there is no such day."""
    if isinstance(value, dt.date):
        return value
    if found := _SHORT.fullmatch(value):
        one, two, year = map(int, found.groups())
        day, month = (one, two) if order == "dmy" else (two, one)
        return dt.date(year, month, day)
    found = _WORDS.fullmatch(value)
    if found is None or found[2][:3].lower() not in _MONTHS:
        raise ValueError(f"{value} is not a date")
    return dt.date(int(found[3]), _MONTHS[found[2][:3].lower()], int(found[1]))


def long_dates(text: str) -> tuple[dt.date, dt.date, str | None] | None:
    """
    Return the first and last day that a report's title names, and the order of a date in it; None without a date.

    Examples
    --------
    >>> long_dates("August-October, 2026")
    (datetime.date(2026, 8, 1), datetime.date(2026, 10, 31), None)
    >>> long_dates("As of 31 October 2026")
    (datetime.date(2026, 10, 31), datetime.date(2026, 10, 31), 'dmy')
    """
    points = _POINT.findall(_ONE_MONTH.sub(r"\1 \2-\1 \3, \4", text))
    if not points or not points[-1][3]:
        return None
    order = next(("dmy" if before else "mdy" for before, _, after, _ in points if before or after), None)
    year, days = 0, []
    for before, month, after, named in reversed(points[-2:]):
        year = int(named or year)
        number = _MONTHS[month.lower()]
        days.append((year, number, int(before or after or 0)))
    try:
        first = dt.date(days[-1][0], days[-1][1], days[-1][2] or 1)
        last = dt.date(*days[0][:2], days[0][2] or calendar.monthrange(*days[0][:2])[1])
    except ValueError:
        return None
    return first, last, order
