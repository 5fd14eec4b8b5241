"""Rows of a report that are neither transactions nor sums: time stamps, phone numbers, balances, percentages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from billframes.ledger.amounts_and_dates import is_date

_LONGEST = 120
_BASIS = re.compile(r"\b(cash|accrual)[ -]basis\b|\b(?:accounting )?(?:basis|method): ?(cash|accrual)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.IGNORECASE)
_CLOCK, _YEAR = re.compile(r"\b\d{1,2}:\d\d\b"), re.compile(r"\b\d{4}\b")
_BALANCES = frozenset(
    f"{word} balance" for word in ("opening", "closing", "beginning", "ending", "starting", "previous")
) | {"balance forward", "balance brought forward", "balance carried forward", "brought forward", "carried forward"}
_PERCENTAGE = re.compile(r"(?:percent(?:age)?|%) of total", re.IGNORECASE)
_PHONE = re.compile(
    r"\s{0,4}(?:(?:phone|telephone|tel|mobile|cell|fax|work|home)\b[.: ]{0,3})?\+?[\d()./ -]{5,30}"
    r"(?:(?:x|ext\.?|extension) ?\d{1,6})?",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\bno (?:data|transactions|results|records|invoices)\b|\bnothing to (?:show|display)\b", re.IGNORECASE
)


def stamp_of(row: Sequence[Any]) -> tuple[str | None, str] | None:
    """Return the accounting method and the date of a time stamp, if a row is one."""
    text = _only_text(row)
    method = _BASIS.search(text)
    date = _BASIS.sub("", text).strip(" -–—|,;:")
    if _YEAR.search(date) and (_WEEKDAY.search(date) or _CLOCK.search(date)):
        return basis_of(text), date
    return (basis_of(text), "") if method and not date else None


def basis_of(text: str) -> str | None:
    """Return the accounting method that a text names."""
    found = _BASIS.search(text[:_LONGEST])
    return (found[1] or found[2]).lower() if found else None


def is_balance(cells: Sequence[Any], kind: Any, number: Any) -> bool:
    """Tell whether a row without its amounts is a balance: by its type or its only words; invoices have numbers."""
    if _BALANCES.isdisjoint(cell.casefold() for cell in cells if isinstance(cell, str)):
        return False
    words = [cell for cell in cells if isinstance(cell, str) and not is_date(cell) and re.search(r"[^\W\d_]", cell)]
    if any(map(is_date, cells)):
        named = [each for each in words if each.casefold() in _BALANCES]
        return bool(named) and (kind in named or (len(named) == len(words) and number in (None, *named)))
    return bool(words) and words[0].casefold() in _BALANCES


def is_percentage(row: Sequence[Any]) -> bool:
    """Tell whether a row has the shares of the total."""
    label = next((cell for cell in row if cell is not None), None)
    return isinstance(label, str) and bool(_PERCENTAGE.fullmatch(label[:_LONGEST]))


def is_phone(text: str) -> bool:
    """Tell whether a text is a phone number."""
    return len(text) <= _LONGEST and bool(_PHONE.fullmatch(text)) and sum(map(str.isdigit, text)) > 5


def says_empty(row: Sequence[Any]) -> bool:
    """Tell whether a row says that the report has no data."""
    return bool(_EMPTY.search(_only_text(row)))


def _only_text(row: Sequence[Any]) -> str:
    """Return the text of a row that has no other cells; "" for other rows."""
    filled = [cell for cell in row if cell is not None]
    # Without quotes, the commas of a date part it into cells.
    parted = len(filled) <= 4 and isinstance(filled[0], str) and (_WEEKDAY.match(filled[0]) or _BASIS.match(filled[0]))
    text = ", ".join(map(str, filled)) if len(filled) == 1 or parted else ""
    return text if len(text) <= _LONGEST else ""
