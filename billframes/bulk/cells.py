"""The cells of a bulk edit: read as the value they hold, compared, and shown as text.

A cell is a plain Python value: text, float, bool, date, time, datetime in UTC, or a tuple of texts; None is missing.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from billframes._export import excel_text, is_cut, neutral
from billframes.bulk.columns import EditColumn, raw_value
from billframes.schema.custom_fields import read_values
from billframes.schema.decode import parse_instant, parse_time, same_id
from billframes.schema.json_text import parse_day
from billframes.schema.resources import Resource

__all__ = ["Digits", "UnreadableError", "read_cell", "same", "text_of_cell", "values_of"]

# Two amounts or hours that differ by less are equal: Excel and the server round differently.
CENT = 0.005
# Spreadsheets keep 15 digits of a number.
_ROUNDED = 10**15
# Excel keeps milliseconds of a time, LibreOffice hundredths of a second.
_INSTANT = dt.timedelta(milliseconds=20)
_AS_NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})?")
_NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]+)?")


class UnreadableError(ValueError):
    """A cell that can't be read as a value of its column; the text says what is expected."""


class Digits(str):
    """A text that came as a number, as when a spreadsheet takes the reference `00042` for 42."""

    __slots__ = ()


def read_cell(column: EditColumn, value: Any) -> Any:
    """
    Read a cell of a frame, a workbook or a record as the value it holds.

    Raises
    ------
    UnreadableError
        It is not a value of the column's kind; says what is expected.

    Examples
    --------
    >>> read_cell(EditColumn("task_code", "text"), 110.0), read_cell(EditColumn("date", "date"), "2026-10-31")
    ('110', datetime.date(2026, 10, 31))
    >>> read_cell(EditColumn("hours", "hours"), float("nan")) is None
    True
    """
    if _is_missing(value):
        return None
    return _READERS[column.kind](column, value)


def _is_missing(value: Any) -> bool:
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, str) and not value):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)


def _text(_column: EditColumn, value: Any) -> str:
    if isinstance(value, str):
        return value
    # A code typed into a spreadsheet can become a number.
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if abs(int(value)) >= _ROUNDED:
            raise UnreadableError("is a number of more than 15 digits, which spreadsheets round; give it as text")
        return Digits(value)
    raise UnreadableError("is not a text")


def _id(_column: EditColumn, value: Any) -> str:
    return str(value).strip()


def _enum(column: EditColumn, value: Any) -> str:
    text, known = str(value), column.values  # noqa: PD011 - not a frame's
    return {each.casefold(): each for each in known}.get(text.strip().casefold(), text)


def _date(_column: EditColumn, value: Any) -> dt.date:
    if isinstance(value, np.datetime64):
        value = pd.Timestamp(value)
    if isinstance(value, dt.datetime):
        if value.time() == dt.time():
            return value.date()
    elif isinstance(value, dt.date):
        return value
    elif isinstance(value, str):
        try:
            return parse_day(value.strip())
        except ValueError:
            pass
    raise UnreadableError("is not a date such as '2026-10-31'")


def _instant(_column: EditColumn, value: Any) -> dt.datetime:
    try:
        if isinstance(value, str):
            return parse_instant(value)
        instant = pd.Timestamp(value).to_pydatetime(warn=False)
        return instant.replace(tzinfo=dt.UTC) if instant.tzinfo is None else instant.astimezone(dt.UTC)
    except (ValueError, TypeError, OverflowError):
        raise UnreadableError("is not a date and time") from None


def _time(_column: EditColumn, value: Any) -> dt.time:
    if isinstance(value, dt.datetime):
        value = value.time()
    if isinstance(value, dt.time):
        return value.replace(tzinfo=None)
    if isinstance(value, dt.timedelta):
        value = value / dt.timedelta(days=1)
    # A spreadsheet's time is a share of the day.
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1:
        return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=round(value * 86_400))).time()
    try:
        return parse_time(value.strip())
    except (AttributeError, ValueError):
        raise UnreadableError("is not a time such as '09:30'") from None


def _flag(_column: EditColumn, value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or (isinstance(value, int | float) and value in {0, 1}):
        return bool(value)
    known = {"true": True, "false": False, "wahr": True, "falsch": False, "vrai": True, "faux": False}
    found = known.get(value.strip().casefold()) if isinstance(value, str) else None
    if found is None:
        raise UnreadableError("is not True or False")
    return found


def _number(_column: EditColumn, value: Any) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | Decimal | np.number):
        raise UnreadableError("is not a number")
    number = float(value)
    if not math.isfinite(number):
        raise UnreadableError("is not a number")
    return number


def _texts(_column: EditColumn, value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        value = value.split("; ")
    return tuple(map(str, value)) or None


_READERS = {
    "id": _id,
    "text": _text,
    "enum": _enum,
    "date": _date,
    "instant": _instant,
    "time": _time,
    "flag": _flag,
    "texts": _texts,
    **dict.fromkeys(("money", "hours", "rate", "number"), _number),
}


def values_of(struct: Any, columns: Iterable[EditColumn], resource: Resource) -> dict[str, Any]:
    """Return the cells of a decoded record, by column."""
    columns = list(columns)
    custom = [each.custom for each in columns if each.custom]
    found: dict[str, list[Any]] = {}
    if custom:
        found, _ = read_values(
            [struct], custom, resource=resource.name, id_attribute=resource.record.__struct_fields__[0]
        )
    return {
        each.name: found[each.name][0] if each.custom else read_cell(each, raw_value(struct, each))
        for each in columns
        if each.custom or each.source
    }


def same(column: EditColumn, before: Any, after: Any) -> bool:
    """
    Tell whether two cells hold the same value.

    Money, hours and rates are compared at the cent; a text with the apostrophe that marks it in a spreadsheet is the
    text without it, and one that was cut for an Excel cell is the whole text; missing text and empty text are one; a
    text that became a number is the number.

    Examples
    --------
    >>> same(EditColumn("hours", "hours"), 0.1 + 0.2, 0.3), same(EditColumn("description", "text"), "=1", "'=1")
    (True, True)
    >>> same(EditColumn("task_code", "text"), None, "L110")
    False
    """
    if before is None or after is None:
        return (before or None) is None and (after or None) is None if column.kind == "text" else before is after
    if column.kind == "id":
        return same_id(str(before), str(after))
    if column.kind in {"money", "hours", "rate"}:
        return bool(abs(before - after) < CENT)
    if column.kind == "number":
        return math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-9)
    if column.kind == "instant":
        return bool(abs(before - after) < _INSTANT)
    if column.kind == "text":
        if isinstance(after, Digits) and _is_number(before):
            return float(before) == float(after)
        one, other = _lines(before), _lines(after)
        if is_cut(other):
            one = _lines(str(excel_text(before)))
        return one == other or neutral(one) == other or neutral(other) == one
    return bool(before == after)


def _is_number(text: str) -> bool:
    """
    Tell whether a spreadsheet takes a text for a number.

    Examples
    --------
    >>> _is_number("00042"), _is_number("1E5"), _is_number("A1")
    (True, True, False)
    """
    return _AS_NUMBER.fullmatch(text.strip()) is not None


def _lines(text: str) -> str:
    """Return a text with the line ends that spreadsheets keep."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_of_cell(value: Any) -> str | None:
    """
    Return a cell as text; None if it is missing.

    Examples
    --------
    >>> text_of_cell(1.50), text_of_cell(dt.date(2026, 10, 31)), text_of_cell(True)
    ('1.5', '2026-10-31', 'True')
    """
    if value is None:
        return None
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, tuple):
        return "; ".join(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)
