"""Read, compare and show the cells of a bulk edit.

A cell is a plain Python value: text, float, bool, date, time, datetime in UTC, or a tuple of texts. None is missing.
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

from billframes._shared.export import excel_text, is_cut, mark_missing, neutralize, neutralize_inside, plain_line_ends
from billframes.bulk.columns import EditColumn, raw_value
from billframes.schema.custom_fields import read_values
from billframes.schema.decode import parse_instant, parse_time, same_id
from billframes.schema.json_text import parse_day
from billframes.schema.resources import Resource

# Two amounts or hours that differ by less are equal: Excel and the server round differently.
CENT = 0.005
# Spreadsheets round numbers of more than 15 digits.
_EXACT_BELOW = 10**15
# Instants that differ by less are equal: Excel rounds to milliseconds, LibreOffice to hundredths of a second.
_INSTANT = dt.timedelta(milliseconds=20)
_SPREADSHEET_NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]*)?([eE][+-]?[0-9]{1,3})?")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9]+([.][0-9]+)?")


class UnreadableCellError(ValueError):
    """A cell can't be read as a value of its column; the message states the problem and the expected value."""


class NumberText(str):
    """The text of a number in a text column: a spreadsheet can store the reference `00042` as 42."""

    __slots__ = ()


def read_cell(column: EditColumn, value: Any) -> Any:
    """Convert a cell of a frame, a workbook or a record to a value of the column's kind."""
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
    # A spreadsheet can store a code as a number.
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        if abs(int(value)) >= _EXACT_BELOW:
            raise UnreadableCellError("is a number of more than 15 digits, which spreadsheets round; give it as text")
        return NumberText(value)
    raise UnreadableCellError("is not a text")


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
    raise UnreadableCellError("is not a date such as '2026-10-31'")


def _instant(_column: EditColumn, value: Any) -> dt.datetime:
    try:
        if isinstance(value, str):
            return parse_instant(value)
        instant = pd.Timestamp(value).to_pydatetime(warn=False)
        return instant.replace(tzinfo=dt.UTC) if instant.tzinfo is None else instant.astimezone(dt.UTC)
    except (ValueError, TypeError, OverflowError):
        raise UnreadableCellError("is not a date and time") from None


def _time(_column: EditColumn, value: Any) -> dt.time:
    if isinstance(value, dt.datetime):
        value = value.time()
    if isinstance(value, dt.time):
        return value.replace(tzinfo=None)
    if isinstance(value, dt.timedelta):
        value = value / dt.timedelta(days=1)
    # A spreadsheet stores a time as a fraction of a day.
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1:
        return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=round(value * 86_400))).time()
    try:
        return parse_time(value.strip())
    except (AttributeError, ValueError):
        raise UnreadableCellError("is not a time such as '09:30'") from None


def _boolean(_column: EditColumn, value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or (isinstance(value, int | float) and value in {0, 1}):
        return bool(value)
    known = {"true": True, "false": False, "wahr": True, "falsch": False, "vrai": True, "faux": False}
    found = known.get(value.strip().casefold()) if isinstance(value, str) else None
    if found is None:
        raise UnreadableCellError("is not True or False")
    return found


def _number(_column: EditColumn, value: Any) -> float:
    if isinstance(value, str) and _PLAIN_NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | Decimal | np.number):
        raise UnreadableCellError("is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UnreadableCellError("is not a number")
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
    "flag": _boolean,
    "texts": _texts,
    **dict.fromkeys(("money", "hours", "rate", "number"), _number),
}


def record_cells(struct: Any, columns: Iterable[EditColumn], resource: Resource) -> dict[str, Any]:
    """Return the cells of a decoded record by column."""
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


def cells_equal(column: EditColumn, before: Any, after: Any) -> bool:
    """
    Tell whether the server's cell and the edited cell have the same value.

    Money, hours and rates are equal if they differ by less than half a cent. Missing text equals empty text. A text
    also equals its form in a spreadsheet: with the apostrophes that mark a text, cut to fit an Excel cell, or stored as
    a number.
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
        if isinstance(after, NumberText) and _looks_like_number(before):
            return float(before) == float(after)
        one, other = plain_line_ends(before), plain_line_ends(after)
        if is_cut(other):
            one = plain_line_ends(str(excel_text(before)))
        marked = {one, *(mark(one) for mark in (neutralize, neutralize_inside, mark_missing))}
        return other in marked or neutralize(other) == one
    return bool(before == after)


def _looks_like_number(text: str) -> bool:
    """Tell whether a spreadsheet would store a text as a number, such as "00042" or "1E5"."""
    return _SPREADSHEET_NUMBER.fullmatch(text.strip()) is not None


def text_of_cell(value: Any) -> str | None:
    """Return a cell as text; None if it is missing."""
    if value is None:
        return None
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, tuple):
        return "; ".join(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)
