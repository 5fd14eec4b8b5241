"""Show a frame for people: names and figures first, ids last, numbers and dates formatted.

A loaded frame has its columns in a fixed order, so that code can rely on it; the first ones are ids. `show` changes
only the display: the frame, its columns and its values stay as they are.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._format import MISSING, format_number
from billframes.analysis.declare.spec import measure
from billframes.analysis.frames.engine import collect
from billframes.analysis.frames.native import wrap_frame
from billframes.analysis.model.keys import TIMES
from billframes.errors import ParameterError
from billframes.schema.resources import RESOURCES
from billframes.schema.sources import sources_of

__all__ = ["ShownFrame", "show"]

# The format of numbers, by the unit of an analysis's column or the kind of a record's column.
_FORMS = {"money": "cents", "rate": "cents", "hours": "multiple"}
_FIGURES = ("money", "rate", "hours", "cents", "ratio", "multiple", "days", "count")
_OWN_NAMES = ("name", "label")
# Parts of people's names, and names of companies, are shown among the details.
_PARTS = ("first_name", "middle_name", "last_name", "company_name")
_OWN_NAME, _DATE, _NAME, _FIGURE, _OTHER, _INSTANT, _ID = range(7)
# Characters of a text in a terminal.
_WIDEST = 50


class ShownFrame:
    """
    A frame as `show` displays it, in a notebook and in a terminal.

    Parameters
    ----------
    texts : DataFrame
        The rows as texts, with the columns in the order shown.
    numbers : set of str
        The columns that are aligned to the right.
    rows : int or None
        How many rows the frame has; None if it was not counted.
    """

    def __init__(self, texts: pd.DataFrame, numbers: set[str], rows: int | None) -> None:
        self._texts, self._numbers, self._rows = texts, numbers, rows

    @property
    def columns(self) -> list[str]:
        """The columns in the order shown."""
        return list(self._texts.columns)

    @property
    def _note(self) -> str:
        shown = len(self._texts)
        every = f"{self._rows or shown:,} row{'' if (self._rows or shown) == 1 else 's'}"
        if self._rows is None:
            return f"{every}; there may be more"
        return every if shown == self._rows else f"the first {shown:,} of {every}"

    def __repr__(self) -> str:
        width = pd.get_option("display.width")
        return f"{self._texts.to_string(index=False, line_width=width, max_colwidth=_WIDEST)}\n{self._note}"

    def _repr_html_(self) -> str:
        heads = "".join(f"<th{self._style(name)}>{escape(name)}</th>" for name in self.columns)
        rows = "".join(f"<tr>{''.join(self._cells(row))}</tr>" for row in self._texts.itertuples(index=False))
        return (
            f'<div style="overflow-x: auto"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
            f"</div><p>{self._note}</p>"
        )

    def _cells(self, row: tuple[str, ...]) -> Iterator[str]:
        for name, text in zip(self.columns, row, strict=True):
            yield f"<td{self._style(name, text)}>{escape(text)}</td>"

    def _style(self, name: str, text: str = "") -> str:
        side = "right" if name in self._numbers else "left"
        return f' style="text-align: {side}; {"min-width: 20em" if len(text) > _WIDEST else "white-space: nowrap"}"'


def show(frame: Any, rows: int = 20) -> ShownFrame:
    """
    Show a frame for people: dates, names, hours and money first, ids last.

    Only the display differs: `frame` keeps its columns, their order and its values. Numbers have separators, money and
    hours two decimals, ratios are in percent, and a missing value is a dash.

    Parameters
    ----------
    frame : DataFrame
        A pandas, Polars, Arrow, DuckDB or PySpark frame: of a loader, of an analysis, or your own. A pandas index is
        shown if it has a name.
    rows : int, default 20
        The number of rows to show.

    Returns
    -------
    ShownFrame
        Displayed as a table in a notebook, else as text. `columns` lists the columns in the order shown.

    Raises
    ------
    ParameterError
        `frame` is not a frame, or `rows` is not a whole number of at least 0.

    Examples
    --------
    >>> entries = bf.time_entries("2026-10", limit=5)
    >>> bf.show(entries).columns[:6]
    ['date', 'client_name', 'matter_name', 'user_name', 'hours', 'rate']
    >>> bf.show(entries[["hours", "amount"]].head(1))
    hours amount
     1.80 315.00
    1 row
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
        raise ParameterError(f"rows={rows!r} is not a number of rows; it takes 0 or more.")
    few, total = _first_rows(frame, rows)
    kinds = {name: _kind(name, few[name]) for name in few.columns}
    if "date" in kinds:
        # In rows of work and expenses, the columns of their invoice or fixed fee are details.
        details = [name for name in kinds if name.startswith(("invoice_", "fixed_fee_")) and kinds[name][0] < _OTHER]
        kinds |= {name: (_OTHER, kinds[name][1]) for name in details}
    if kinds and kinds[first := few.columns[0]][0] == _OTHER:
        # The first column can be the key of a result, such as the role of people.
        kinds[first] = (_NAME, kinds[first][1])
    order = sorted(few.columns, key=lambda name: kinds[name][0])
    texts = pd.DataFrame({name: _texts(few[name], kinds[name][1]) for name in order}, dtype="str")
    return ShownFrame(texts, {name for name, (_, form) in kinds.items() if form}, total)


def _first_rows(frame: Any, rows: int) -> tuple[pd.DataFrame, int | None]:
    """Return the first rows in pandas with texts as column names, and the number of all rows; None if unknown."""
    total: int | None
    if isinstance(frame, pd.DataFrame):
        few, total = frame.head(rows), len(frame)
        levels = [name for name in few.index.names if name is not None]
        few = few.reset_index(levels) if levels else few
    else:
        wrapped = wrap_frame(frame, "frame", "show takes a pandas, Polars, Arrow, DuckDB or PySpark frame")
        total = len(wrapped) if isinstance(wrapped, nw.DataFrame) else None
        few = cast("nw.DataFrame[Any]", collect(wrapped.head(rows))).to_pandas()
    names = [" ".join(map(str, name)).strip() if isinstance(name, tuple) else str(name) for name in few.columns]
    if len(set(names)) < len(names):
        raise ParameterError("Two columns of the frame have the same name; rename one of them.")
    return few.set_axis(names, axis="columns"), total


@functools.cache
def _declared_kinds() -> dict[str, str]:
    """Return the kind of each column of the loaders' frames."""
    return {each.column.name: each.column.kind for resource in RESOURCES for each in sources_of(resource.record)}


def _kind(name: str, values: pd.Series[Any]) -> tuple[int, str | None]:
    """Return a column's place in the order, and the format of its numbers; None if it has no numbers."""
    if name.endswith(("_id", "_ids")) or name == "id":
        return _ID, None
    if name in TIMES:
        return _DATE, None
    if name in _OWN_NAMES:
        return _OWN_NAME, None
    if name == "invoice_number" or (name.endswith(("_name", "_label", "_names")) and not name.endswith(_PARTS)):
        return _NAME, None
    found = measure(name)
    unit = found.unit if found else _declared_kinds().get(name, "")
    number = pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)
    if number:
        return (_FIGURE if unit in _FIGURES else _OTHER), _FORMS.get(unit, unit if unit in _FIGURES else "plain")
    place = {"date": _DATE, "instant": _INSTANT}.get(unit, _OTHER)
    return place, None


def _texts(values: pd.Series[Any], form: str | None) -> list[str]:
    write: Callable[[Any], str] = _text if form is None else functools.partial(_number, form)
    return [write(value) for value in values.astype(object)]


def _number(form: str, value: Any) -> str:
    if pd.isna(value):
        return MISSING
    return f"{value:,.10g}" if form == "plain" else format_number(float(value), form)


def _text(value: Any) -> str:
    if isinstance(value, list | tuple) or hasattr(value, "tolist"):
        return "; ".join(map(_text, value)) or MISSING
    if value is None or pd.isna(value):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        day = value.time() == dt.time() and value.tzinfo is None
        return f"{value:%Y-%m-%d}" if day else f"{value:%Y-%m-%d %H:%M} {value.tzname() or ''}".rstrip()
    return str(value)
