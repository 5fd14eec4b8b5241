"""The columns by which a frame can be filtered, with their titles.

People, clients and matters are filtered by id and shown by name, as in the analyses. There are filters for the period,
the columns of `_KNOWN`, every categorical column and every custom field, but not for other text such as descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from billframes.analysis.data.native import without_attrs
from billframes.errors import MissingColumnError

FieldKind = Literal["dates", "numbers", "choice"]

_PERIODS = ("date", "invoice_date", "opened")
# Column, title, and the column with the names of its values.
_KNOWN = (
    ("client_id", "Client", "client_name"),
    ("matter_id", "Matter", "matter_name"),
    ("user_id", "Timekeeper", "user_name"),
    ("practice_area_id", "Practice area", "practice_area_label"),
    ("responsible_id", "Responsible lawyer", "responsible_name"),
    ("billing_type", "Billing type", None),
    ("billed", "Billed", None),
)
_WHO = tuple(column for column, *_ in _KNOWN if column.endswith("_id"))
# How columns begin, and the title of the filters on them.
_GROUPS = (
    *(("bill", "Billing"), ("invoice_", "Billing")),
    *(("matter_", "About the matter"), ("client_", "About the client"), ("user_", "About the timekeeper")),
)
_FLAGS = ("archived", "matter_archived")
_CUSTOM = re.compile(r"(?:(matter|client|user)_)?cf_(.+)")


@dataclass(frozen=True, slots=True)
class FilterField:
    """
    A column to filter by.

    `label` is the column with the names of its values, and `reference` the column that distinguishes equal names.
    """

    column: str
    title: str
    kind: FieldKind
    label: str | None = None
    reference: str | None = None

    @property
    def group(self) -> str:
        """The title of the filters among which it is shown; empty for the period, which is always shown."""
        if self.title == "Period":
            return ""
        if self.column in _WHO:
            return "Client, matter and people"
        return next((title for start, title in _GROUPS if self.column.startswith(start)), "More")

    @property
    def noun(self) -> str:
        """The title as a word in a sentence, such as "practice area", or "budget" for "Matter: Budget"."""
        if self.title == "Period":
            return "date"
        name = self.title.rpartition(": ")[2]
        return name if name[1:2].isupper() else name[:1].lower() + name[1:]


def filter_fields(frame: pd.DataFrame, period: str | None = None) -> tuple[FilterField, ...]:
    """
    Return the columns that a frame can be filtered by, the period first.

    The period is by default `date`, `invoice_date`, `opened`, or the frame's first date column that is not a custom
    field. If `period` is not a date column, it is a `MissingColumnError`.
    """
    names = frame.attrs.get("custom_fields", {})
    frame = without_attrs(frame)
    found = {field.column: field for field in (*_periods(frame, period), *_known(frame))}
    for column in _text_names(frame):
        if column not in found and (field := _other(frame, column, str(names.get(column, {}).get("name") or ""))):
            found[column] = field
    return tuple(found.values())


def _text_names(frame: pd.DataFrame) -> list[str]:
    """Return the names of columns that are text; a pivoted column such as 2026 has no filter."""
    return [name for name in frame.columns if isinstance(name, str)]


def _periods(frame: pd.DataFrame, period: str | None) -> Iterator[FilterField]:
    dates = [name for name in _text_names(frame) if _is_date(frame[name])]
    if period is not None and period not in dates:
        raise MissingColumnError(f"period={period!r} is not a date column; the frame has {', '.join(dates) or 'none'}.")
    own = [name for name in dates if not _CUSTOM.fullmatch(name)]
    chosen = period or next((name for name in (*_PERIODS, *own) if name in own), None)
    if chosen:
        yield FilterField(chosen, "Period", "dates")


def _known(frame: pd.DataFrame) -> Iterator[FilterField]:
    for column, title, label in _KNOWN:
        if column in frame:
            names = (label, column.replace("_id", "_reference"))
            # In the frame of clients, for example, these columns are called name and reference.
            own = column == frame.columns[0] and label not in frame
            named = [
                name if name in frame and name != column else None for name in (("name", "reference") if own else names)
            ]
            yield FilterField(column, title, "choice", *named)


def _other(frame: pd.DataFrame, column: str, name: str) -> FilterField | None:
    custom = _CUSTOM.fullmatch(column)
    kind = _kind(frame[column], custom=custom is not None)
    if kind is None or not (custom or column in _FLAGS or isinstance(frame[column].dtype, pd.CategoricalDtype)):
        return None
    return FilterField(column, _title(column, custom, name), kind)


def _kind(values: pd.Series[Any], *, custom: bool) -> FieldKind | None:
    if _is_date(values):
        return "dates"
    if isinstance(values.dtype, pd.CategoricalDtype):
        plain = all(isinstance(value, str | bool | int) for value in values.cat.categories.tolist())
        return "choice" if plain else None
    if pd.api.types.is_bool_dtype(values.dtype) or (custom and isinstance(values.dtype, pd.StringDtype)):
        return "choice"
    return "numbers" if custom and pd.api.types.is_numeric_dtype(values.dtype) else None


def _is_date(values: pd.Series[Any]) -> bool:
    return pd.api.types.is_datetime64_any_dtype(values.dtype)


def _title(column: str, custom: re.Match[str] | None, name: str) -> str:
    name = name or (custom[2] if custom else column).replace("_", " ")
    name = name[:1].upper() + name[1:]
    return f"{custom[1].capitalize()}: {name}" if custom and custom[1] else name
