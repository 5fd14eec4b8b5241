"""The pre-bill review on paper and as a workbook: what a partner marks up before bills go out.

Each invoice is one sheet of paper. Its items are set in the largest type with which all of them fit. If even the
smallest is too large, those with flags and then those of the largest amounts are printed, and a line says how many
others there are and what they come to. Nothing is shortened, and the workbook has every item.
"""

from __future__ import annotations

import datetime as dt
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._show import enum_label, format_number, long_date, short_date
from billframes.report.html import templates
from billframes.report.workbook import FORMS, WRITER_OPTIONS, check_writer, write_cell

__all__ = ["PaperSheet", "paper_sheets", "prebill_page", "prebill_workbook"]

# Millimetres that A4 and Letter both have in landscape: for the items, and for the columns beside the narrative.
_HEIGHT, _WIDTH, _OTHERS = 136.0, 259.0, 145.0
_MATTER, _PERSON, _CODES = 34.0, 32.0, 20.0
_POINTS = (9.5, 8.5, 7.5, 7.0)
# A point in millimetres, a line in its type's size, a letter's width in it, and the space around a row.
_POINT, _LINE, _LETTER, _SPACE = 0.3528, 1.28, 0.54, 1.1
# Letters of names in the head of a sheet.
_LONG = 120
_KINDS = {"time_entry": "", "expense": "Expense", "fixed_fee": "Fixed fee"}


@dataclass(frozen=True, slots=True)
class PaperSheet:
    """
    One invoice as it is printed.

    Parameters
    ----------
    head : mapping
        The invoice's own columns.
    matters, responsible : str
        Names.
    items : list of dict
        The items printed, by date.
    points : float
        The size of their type.
    rest : str
        What the other items are; empty if all are printed.
    flagged : int
        How many items have flags.
    several : bool
        Whether the items are on several matters.
    """

    head: dict[str, str]
    matters: str
    responsible: str
    items: list[dict[str, str]]
    points: float
    rest: str
    flagged: int
    several: bool


def paper_sheets(rows: pd.DataFrame) -> list[PaperSheet]:
    """
    Lay the invoices out, a sheet each.

    Parameters
    ----------
    rows : DataFrame
        Of `prebill_review`.
    """
    return [_sheet(of_one) for _, of_one in rows.groupby("invoice_id", sort=False)]


def prebill_page(rows: pd.DataFrame, *, title: str = "", data: dt.date | None = None) -> str:
    """
    Return the sheets as one HTML page, which prints each invoice on a sheet of paper in landscape.

    Parameters
    ----------
    rows : DataFrame
        Of `prebill_review`.
    title : str
        Whose review it is.
    data : date, optional
        The day of the data.
    """
    of = f"Data of {long_date(data)}" if data else ""
    page: str = templates().get_template("prebill.html").render(sheets=paper_sheets(rows), title=title, data=of)
    return page


def _sheet(rows: pd.DataFrame) -> PaperSheet:
    items = rows[rows["item"].notna()]
    several = len(items["matter_id"].unique()) > 1
    points, printed = _fitting(items, several=several)
    first = rows.iloc[0]
    money = ("items_amount", "unexplained_amount", "invoice_amount", "client_overdue")
    head = {name: format_number(first[name], "cents") for name in money} | {
        "number": _text(first["invoice_number"]) or _text(first["invoice_id"]),
        "client": _text(first["client_name"]),
        "state": enum_label(_text(first["invoice_state"])).lower(),
        "date": long_date(first["invoice_date"]) if pd.notna(first["invoice_date"]) else "",
    }
    rest = items.drop(index=printed.index)
    return PaperSheet(
        head,
        _names(rows["matter_name"], "matters"),
        _names(rows["responsible_name"], "people"),
        [_item(row) for row in printed.to_dict("records")],
        points,
        _rest(rest),
        int(items["flags"].notna().sum()),
        several,
    )


def _names(values: pd.Series[Any], many: str) -> str:
    """List names, or count them if there are too many for the head of the sheet."""
    names = list(values.dropna().unique())
    listed = ", ".join(names)
    return listed if len(listed) <= _LONG else f"{len(names)} {many}"


def _fitting(items: pd.DataFrame, *, several: bool) -> tuple[float, pd.DataFrame]:
    """Choose the size of the type and the items that fit on the sheet."""
    for points in _POINTS:
        if sum(_heights(items, points, several=several)) <= _HEIGHT:
            return points, items
    worth = items["item_amount"].abs().fillna(0.0)
    order = items.assign(
        _flagged=items["flags"].notna(), _worth=worth, _height=_heights(items, points, several=several)
    )
    order = order.sort_values(["_flagged", "_worth"], ascending=False, kind="stable")
    left, chosen = _HEIGHT, []
    for place, height in order["_height"].items():
        if height <= left:
            left -= height
            chosen.append(place)
    return points, items.loc[items.index.isin(chosen)]


def _heights(items: pd.DataFrame, points: float, *, several: bool) -> list[float]:
    """Estimate the height of each item in millimetres, rather too much."""
    letter = points * _POINT * _LETTER
    narrative = _WIDTH - _OTHERS - (_MATTER if several else 0.0)
    widths = {"user_name": _PERSON, "matter_name": _MATTER} if several else {"user_name": _PERSON}
    heights = []
    for row in items.to_dict("records"):
        lines = _lines(row["description"], narrative / letter) + _lines(row["flags"], narrative / letter)
        others = (_lines(row[name], width / letter, spare=1) for name, width in widths.items())
        codes = _lines(_codes(row), _CODES / letter, spare=1)
        heights.append(max(lines, codes, 1, *others) * points * _POINT * _LINE + _SPACE)
    return heights


def _lines(text: Any, letters: float, *, spare: int = 5) -> int:
    """Count the lines of a text: words are not broken, so the last letters of a line stay empty."""
    return sum(math.ceil(max(len(line), 1) / max(letters - spare, 6)) for line in _text(text).splitlines())


def _codes(row: Mapping[Any, Any]) -> str:
    codes = " ".join(filter(None, (_text(row["task_code"]), _text(row["activity_code"]))))
    return "not billable" if row["billing_type"] == "nonBillable" else codes


def _item(row: Mapping[Any, Any]) -> dict[str, str]:
    kind = _KINDS[row["item"]]
    who = ", ".join(filter(None, [kind, _text(row["user_name"])]))
    texts = {name: _text(row[name]) for name in ("description", "flags", "matter_name")}
    figures = {"hours": "hours", "rate": "cents", "item_amount": "cents"}
    return {
        **texts,
        "who": who,
        "day": short_date(row["date"]) if pd.notna(row["date"]) else "",
        "codes": _codes(row),
        **{name: "" if pd.isna(row[name]) else _number(row[name], unit) for name, unit in figures.items()},
    }


def _number(value: float, unit: str) -> str:
    return format_number(value, "cents" if unit == "hours" else unit)


def _rest(items: pd.DataFrame) -> str:
    """Say what is not printed."""
    if items.empty:
        return ""
    flagged = int(items["flags"].notna().sum())
    hours, amount = (format_number(items[name].sum(), "cents") for name in ("hours", "item_amount"))
    noted = f", {flagged} of them with flags" if flagged else ", none with flags"
    count = f"{len(items)} more items" if len(items) > 1 else "1 more item"
    return f"Not printed: {count}{noted}; {hours} hours, {amount}. They are in the workbook."


def _text(value: Any) -> str:
    return "" if value is None or (not isinstance(value, str) and pd.isna(value)) else str(value)


_INVOICES = {
    "invoice_number": ("Invoice", "text", 12),
    "client_name": ("Client", "text", 32),
    "responsible_name": ("Responsible lawyer", "text", 24),
    "invoice_state": ("State", "text", 10),
    "invoice_date": ("Date", "date", 12),
    "items_amount": ("Items", "money", 14),
    "unexplained_amount": ("Unexplained", "money", 14),
    "invoice_amount": ("Invoice amount", "money", 14),
    "client_overdue": ("Client’s overdue", "money", 14),
    "items": ("Items counted", "count", 9),
    "flagged": ("With flags", "count", 9),
    "": ("Decision", "text", 16),
    " ": ("Remark", "text", 40),
}
_ITEMS = {
    "invoice_number": ("Invoice", "text", 10),
    "client_name": ("Client", "text", 20),
    "matter_name": ("Matter", "text", 22),
    "responsible_name": ("Responsible lawyer", "text", 18),
    "date": ("Date", "date", 13),
    "item": ("Item", "text", 11),
    "user_name": ("Timekeeper", "text", 18),
    "description": ("Narrative", "text", 60),
    "billing_type": ("Billing", "text", 11),
    "hours": ("Hours", "hours", 8),
    "rate": ("Rate", "rate", 10),
    "item_amount": ("Item’s amount", "money", 12),
    "activity_code": ("Activity", "text", 9),
    "task_code": ("Task", "text", 9),
    "flags": ("Flags", "text", 30),
    "": ("Change to", "text", 14),
    " ": ("Remark", "text", 30),
}


_FRAME = {"valign": "top", "border": 1, "border_color": "#D5DAE0"}
# The indent keeps texts apart from the figures on their left.
_LOOKS: dict[str, dict[str, Any]] = {"text": {"text_wrap": True, "indent": 1}, "date": {"align": "left", "indent": 1}}
# A line's height in points.
_ROW = 15


def prebill_workbook(rows: pd.DataFrame) -> bytes:
    """
    Return the review as an Excel workbook: a sheet of invoices and one of all items, with empty columns for decisions.

    Parameters
    ----------
    rows : DataFrame
        Of `prebill_review`.
    """
    check_writer()
    import xlsxwriter

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, WRITER_OPTIONS) as book:
        # A fixed date, so that the same data give the same file.
        book.set_properties({"title": "Pre-bill review", "created": dt.datetime(2000, 1, 1)})  # noqa: DTZ001
        items = rows[rows["item"].notna()]
        words = {"time_entry": "Time", "expense": "Expense", "fixed_fee": "Fixed fee"}
        shown = items.assign(item=items["item"].map(words), billing_type=items["billing_type"].map(_label))
        _write_sheet(book, "Invoices", _INVOICES, _invoices(rows))
        _write_sheet(book, "Items", _ITEMS, shown)
    return buffer.getvalue()


def _invoices(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row an invoice."""
    grouped = rows.groupby("invoice_id", sort=False)
    people = grouped["responsible_name"].agg(lambda names: ", ".join(names.dropna().unique()))
    counts: dict[str, Any] = {
        "items": grouped["item"].count(),
        "flagged": grouped["flags"].count(),
        "responsible_name": people,
    }
    first = rows.drop_duplicates("invoice_id").set_index("invoice_id").assign(**counts)
    return first.assign(invoice_state=first["invoice_state"].map(_label)).reset_index()


def _label(value: Any) -> str:
    return enum_label(_text(value)) if _text(value) else ""


def _write_sheet(book: Any, name: str, columns: dict[str, tuple[str, str, int]], rows: pd.DataFrame) -> None:
    page = book.add_worksheet(name)
    heading = {"bold": True, "text_wrap": True, "valign": "top", "bottom": 1}
    over_text, over_figures = (book.add_format(heading | more) for more in ({"indent": 1}, {"align": "right"}))
    lines = [1] * len(rows)
    for place, (column, (title, unit, width)) in enumerate(columns.items()):
        number = {} if unit == "text" else {"num_format": FORMS[unit]}
        form = book.add_format(_FRAME | number | _LOOKS.get(unit, {}))
        page.set_column(place, place, width)
        page.write_string(0, place, title, over_text if unit in _LOOKS else over_figures)
        # Columns without a name are empty, for the reader to fill in.
        values: Sequence[Any] = list(rows[column]) if column.strip() else [None] * len(rows)
        for row, value in enumerate(values):
            write_cell(page, row + 1, place, value, form)
            lines[row] = max(lines[row], _lines(value, width, spare=2) if unit == "text" else 1)
    page.set_row(0, 2 * _ROW)
    for row, count in enumerate(lines, start=1):
        # Excel's highest row has 409 points.
        page.set_row(row, min(count * _ROW, 409))
    page.freeze_panes(1, 1)
    page.autofilter(0, 0, max(len(rows), 1), len(columns) - 1)
    page.ignore_errors({"number_stored_as_text": f"A1:A{len(rows) + 1}"})
    page.repeat_rows(0)
    page.set_landscape()
    page.set_paper(9)
    page.set_margins(left=0.3, right=0.3, top=0.4, bottom=0.4)
    page.fit_to_pages(1, 0)
