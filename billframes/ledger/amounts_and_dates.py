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

from billframes._shared.limits import checked_number
from billframes.errors import LedgerError
from billframes.periods import MONTHS

# Signs that reports and spreadsheets write in several ways.
_PLAIN = str.maketrans(dict.fromkeys("−–‐‑﹣－", "-") | dict.fromkeys("\u00a0\u2009\u202f", " ") | {"’": "'"})
_CURRENCY = r"(?:[A-Z]{0,3}[$£¥¤฿৳\u20a0-\u20cf]|[A-Z]{3}|RM|Rs\.?|R|[Kk]r\.?|Fr\.?|zł|Kč|Ft|lei|лв\.?|[KTU]Sh)"
_LONGEST = 40


def _amount_pattern(groups: str, point: str) -> re.Pattern[str]:
    """Return the pattern of an amount: signs, number and signs; India groups by two digits, too."""
    number = rf"(?:[0-9]{{1,3}}([{groups}])(?:[0-9]{{2,3}}\3)*[0-9]{{3}}|[0-9]+){point}[0-9]{{2}}"
    return re.compile(rf"=?([-+( ]{{0,4}}(?:{_CURRENCY}[-+( ]{{0,4}})?)({number})([) ]{{0,4}}{_CURRENCY}?[) -]{{0,4}})")


STYLES = {"point": _amount_pattern(",' ", r"\."), "comma": _amount_pattern(".' ", ",")}
"""The pattern of an amount for each sign of decimals."""
ORDERS = ("dmy", "mdy")

_MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|Sept)"
_MIDNIGHT = r"(?:[T ]0?0:00(?::00(?:\.0{1,9})?)?Z?| 12:00(?::00)? ?AM)?"
_SHORT = re.compile(rf"(\d{{1,2}})(\. ?|[-/ ])(\d{{1,2}})\2(\d{{4}})\.?{_MIDNIGHT}", re.IGNORECASE)
_DATES = (
    re.compile(rf"(?P<year>\d{{4}})(\. ?|[-/ ])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}})\.?{_MIDNIGHT}", re.IGNORECASE),
    re.compile(rf"(?P<day>\d{{1,2}})(?:\. |[- .])(?P<month>{_MONTH})(?:\.? |[-.]),?(?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(rf"(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})", re.IGNORECASE),
)
_ALL_DATES = (_SHORT, *_DATES)
_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_POINT = re.compile(
    rf"(?:(\d{{1,2}}) )?\b({'|'.join(name[:3] for name in MONTHS)})[a-z]*\.?(?: (\d{{1,2}})(?!\d))?(?:,? (\d{{4}}))?"
)
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
# "October 1-31, 2026" and "1-31 October 2026" have the month once.
_ONE_MONTH = (
    (re.compile(r"([A-Z][a-z]{2,8}\.?) (\d{1,2}) ?[-–] ?(\d{1,2}),? (\d{4})"), r"\1 \2-\1 \3, \4"),
    (re.compile(r"(\d{1,2}) ?[-–] ?(\d{1,2}) ([A-Z][a-z]{2,8}),? (\d{4})"), r"\1 \3-\2 \3 \4"),
)
# "For the month ended 31 October 2026", "For the 3 months ended …", "For the year ended …".
_ENDED = re.compile(r"(?:(\d{1,2}) )?(month|quarter|year)s? end(?:ed|ing)", re.IGNORECASE)
_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}
_PERIOD_WORDS = re.compile(rf"\b(?:{_MONTH}|week|quarter|q[1-4]|fy|of|to|through)\b|[\d\W_]", re.IGNORECASE)


def decimal_style(texts: Iterable[str], file: str, asked: str | None) -> str:
    """Return "point" or "comma", whichever all amounts of a file fit; refuse others than the one asked for."""
    # Rows with words in these columns are reported by their number, and percentages are not amounts.
    listed = [text for text in dict.fromkeys(texts) if re.search(r"\d", text) and "%" not in text]
    tried = [asked] if asked else list(STYLES)
    # The example is the first amount that does not fit the style of most.
    misfits = {style: [text for text in listed if _cents(text, style) is None] for style in tried}
    best = min(tried, key=lambda style: len(misfits[style]))
    if misfits[best]:
        forms = " or ".join({"point": "1,234.56", "comma": "1.234,56"}[each] for each in tried)
        raise LedgerError(f"{file} has amounts such as {misfits[best][0]!r:.60} that are not read as {forms}.")
    return best


def cents(value: Any, style: str) -> int:
    """Return an amount in cents; raise `ValueError` for other cells, and for more than two decimals."""
    if isinstance(value, str):
        found = _cents(value, style)
        if found is None:
            raise ValueError(f"{value:.60} is not an amount")
        checked_number(found / 100)
        return found
    if not isinstance(value, int | float):
        raise ValueError(f"{value!s:.100} is not an amount")  # noqa: TRY004
    number = checked_number(value)
    whole = round(number * 100)
    # A large number has fewer decimals than a small one.
    if abs(number * 100 - whole) > 1e-4 + abs(number) * 1e-13:
        raise ValueError(f"{number} has more than two decimals")
    return whole


def _cents(text: str, style: str) -> int | None:
    found = STYLES[style].fullmatch(text.translate(_PLAIN)) if len(text) <= _LONGEST else None
    if found is None or ("(" in found[1]) != (")" in found[4]) or (found[1] + found[4]).count("-") > 1:
        return None
    amount = int(re.sub(r"\D", "", found[2]))
    return -amount if "-" in found[1] + found[4] or "(" in found[1] else amount


def is_date(value: Any) -> bool:
    """Return whether a cell is a date of Excel, or a text such as "6/15/2026", "2026-06-15" or "15 Jun 2026"."""
    if isinstance(value, dt.date):
        return True
    return isinstance(value, str) and value[:1].isalnum() and any(pattern.fullmatch(value) for pattern in _ALL_DATES)


def is_period(label: str) -> bool:
    """Tell whether the heading of a group is a period."""
    return len(label) <= _LONGEST and not _PERIOD_WORDS.sub("", label) and bool(re.search(r"\d{4}", label))


def possible_orders(values: Iterable[Any], file: str) -> list[str] | None:
    """Return the orders of day and month that all dates fit; None if no date needs one."""
    parts = [found for value in values if isinstance(value, str) and (found := _SHORT.fullmatch(value))]
    if not parts:
        return None
    # A date whose month is above 12 in one order has the other order.
    mdy, dmy = (next((each[0] for each in parts if int(each[place]) > 12), None) for place in (3, 1))
    if mdy and dmy:
        raise LedgerError(
            f"{file} has dates in both orders: {dmy} has the day first, and {mdy} the month. Export it again, in one "
            "format."
        )
    return [order for order, other in zip(ORDERS, (mdy, dmy), strict=True) if not other]


def read_date(value: Any, order: str | None) -> dt.date:
    """Return a cell as a date; raise `ValueError` if there is no such day."""
    if isinstance(value, dt.date):
        return value
    if found := _SHORT.fullmatch(str(value)):
        one, two, year = int(found[1]), int(found[3]), int(found[4])
        return dt.date(year, *((two, one) if order == "dmy" else (one, two)))
    found = next((each for pattern in _DATES if (each := pattern.fullmatch(str(value)))), None)
    if found is None:
        raise ValueError(f"{value!s:.60} is not a date")
    month = found["month"]
    return dt.date(
        int(found["year"]), int(month) if month.isdigit() else _NUMBERS[month[:3].lower()], int(found["day"])
    )


def long_dates(text: str) -> tuple[dt.date, dt.date, str | None] | None:
    """
    Return the first and last day that a report's title names, and the order of a date in it; None without a date.

    Examples
    --------
    >>> long_dates("August-October, 2026")
    (datetime.date(2026, 8, 1), datetime.date(2026, 10, 31), None)
    >>> long_dates("As of 31 October 2026")
    (datetime.date(2026, 10, 31), datetime.date(2026, 10, 31), 'dmy')
    >>> long_dates("For the 3 months ended 31 October 2026")[0]
    datetime.date(2026, 8, 1)
    """
    for pattern, whole in _ONE_MONTH:
        text = pattern.sub(whole, text)
    points = _POINT.findall(text)
    try:
        if not points or not points[-1][3]:
            days = [dt.date(*map(int, each)) for each in _ISO.findall(text)]
            return (days[0], days[-1], None) if days else None
        order = next(("dmy" if before else "mdy" for before, _, after, _ in points if before or after), None)
        year, named = 0, []
        for before, month, after, written in reversed(points[-2:]):
            year = int(written or year)
            named.append((year, _NUMBERS[month.lower()], int(before or after or 0)))
        first = dt.date(named[-1][0], named[-1][1], named[-1][2] or 1)
        last = dt.date(*named[0][:2], named[0][2] or calendar.monthrange(*named[0][:2])[1])
    except ValueError:
        return None
    return (_begin_of(text, last) or first) if len(points) == 1 else first, last, order


def _begin_of(text: str, last: dt.date) -> dt.date | None:
    """Return the first day of a period that is named by its length and last day."""
    found = _ENDED.search(text)
    if found is None:
        return None
    after = last + dt.timedelta(days=1)
    months = after.year * 12 + after.month - 1 - int(found[1] or 1) * _MONTHS_OF[found[2].lower()]
    year, month = divmod(months, 12)
    return dt.date(year, month + 1, min(after.day, calendar.monthrange(year, month + 1)[1]))
