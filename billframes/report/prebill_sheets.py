"""The prebill review on paper and as a workbook: invoices for partners to mark up before they are sent.

Each invoice is printed on one sheet of paper, in the largest type with which all its items fit. If they don't fit in
the smallest type, the sheet has the items with findings and then those with the largest amounts, and a line states the
number, hours and amount of all others. No text is shortened, and the workbook has every item.
"""

from __future__ import annotations

import datetime as dt
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._shared.export import NUMBER_FORMATS, fit_landscape
from billframes._shared.format import count_of, enum_label, format_number, long_date, short_date
from billframes.report.cells import WRITER_OPTIONS, write_cell
from billframes.report.html import templates
from billframes.report.workbook import check_writer

# Millimetres in landscape, on A4 and Letter alike: the items' height and width, and the columns beside the narrative.
_HEIGHT, _WIDTH, _OTHER_COLUMNS = 136.0, 259.0, 145.0
_MATTER, _PERSON, _CODES = 34.0, 32.0, 20.0
# Sizes of type, in points.
_TYPE_SIZES = (9.5, 8.5, 7.5, 7.0)
# A point in millimetres; the height of a line and the width of a letter ÷ the size of type; millimetres around a row.
_POINT, _LINE, _LETTER, _SPACE = 0.3528, 1.28, 0.54, 1.1
# The most letters of names at the head of a sheet.
_LONGEST_NAMES = 120
ITEM_KINDS = {"time_entry": "Time", "expense": "Expense", "fixed_fee": "Fixed fee"}


@dataclass(frozen=True, slots=True)
class PaperSheet:
    """One invoice as it is printed, with the items that fit and a sentence about the others."""

    head: dict[str, str]
    matters: str
    responsible: str
    items: list[dict[str, str]]
    type_size: float
    not_printed: str
    flagged: int
    several_matters: bool


def paper_sheets(rows: pd.DataFrame) -> list[PaperSheet]:
    """Return one sheet for each invoice."""
    return [_sheet(items) for _, items in rows.groupby("invoice_id", sort=False)]


def prebill_page(rows: pd.DataFrame, *, settings: str, title: str = "", data: dt.date | None = None) -> str:
    """
    Return the sheets as one HTML page, which prints each invoice on one sheet of paper in landscape.

    Each sheet has the day of the data, and which settings were used.
    """
    # The whole description would take a line more.
    basis = f"{f'Data as of {long_date(data)}. ' if data else ''}{settings.partition(':')[0]}"
    page: str = templates().get_template("prebill.html").render(sheets=paper_sheets(rows), title=title, basis=basis)
    return page


def _sheet(rows: pd.DataFrame) -> PaperSheet:
    items = rows[rows["item"].notna()]
    several_matters = len(items["matter_id"].unique()) > 1
    type_size, printed = _fit(items, several_matters=several_matters)
    first = rows.iloc[0]
    money = ("items_amount", "unexplained_amount", "invoice_amount", "client_overdue")
    head = {name: format_number(first[name], "cents") for name in money} | {
        "number": plain_text(first["invoice_number"]) or plain_text(first["invoice_id"]),
        "client": plain_text(first["client_name"]),
        "state": enum_label(plain_text(first["invoice_state"])).lower(),
        "date": long_date(first["invoice_date"]) if pd.notna(first["invoice_date"]) else "",
    }
    return PaperSheet(
        head,
        _names(rows["matter_name"], "matters"),
        _names(rows["responsible_name"], "people"),
        [_item(row) for row in printed.to_dict("records")],
        type_size,
        _not_printed(items.drop(index=printed.index)),
        int(items["findings"].notna().sum()),
        several_matters,
    )


def _names(values: pd.Series[Any], plural: str) -> str:
    names = list(values.dropna().unique())
    text = ", ".join(names)
    return text if len(text) <= _LONGEST_NAMES else f"{len(names)} {plural}"


def _fit(items: pd.DataFrame, *, several_matters: bool) -> tuple[float, pd.DataFrame]:
    """Return the size of type, and the items that fit on the sheet with it."""
    for size in _TYPE_SIZES:
        heights = _heights(items, size, several_matters=several_matters)
        if sum(heights) <= _HEIGHT:
            return size, items
    order = items.assign(
        _flagged=items["findings"].notna(), _amount=items["item_amount"].abs().fillna(0.0), _height=heights
    )
    order = order.sort_values(["_flagged", "_amount"], ascending=False, kind="stable")
    free, chosen = _HEIGHT, []
    for label, height in order["_height"].items():
        if height <= free:
            free -= height
            chosen.append(label)
    return size, items.loc[items.index.isin(chosen)]


def _heights(items: pd.DataFrame, size: float, *, several_matters: bool) -> list[float]:
    """Estimate the height of each item in millimetres; rather too high than too low."""
    letter = size * _POINT * _LETTER
    narrative = _WIDTH - _OTHER_COLUMNS - (_MATTER if several_matters else 0.0)
    widths = {"user_name": _PERSON, "matter_name": _MATTER} if several_matters else {"user_name": _PERSON}
    heights = []
    for row in items.to_dict("records"):
        lines = _lines(row["description"], narrative / letter) + _lines(row["findings"], narrative / letter)
        others = (_lines(row[name], width / letter, spare=1) for name, width in widths.items())
        codes = _lines(_codes(row), _CODES / letter, spare=1)
        heights.append(max(lines, codes, 1, *others) * size * _POINT * _LINE + _SPACE)
    return heights


def _lines(text: Any, letters: float, *, spare: int = 5) -> int:
    """Count the lines of a text. Words are not broken, so the last `spare` letters of a line can be empty."""
    return sum(math.ceil(max(len(line), 1) / max(letters - spare, 6)) for line in plain_text(text).splitlines())


def _codes(row: Mapping[Any, Any]) -> str:
    codes = " ".join(filter(None, (plain_text(row["task_code"]), plain_text(row["activity_code"]))))
    return "not billable" if row["billing_type"] == "nonBillable" else codes


def _item(row: Mapping[Any, Any]) -> dict[str, str]:
    kind = ITEM_KINDS[row["item"]] if row["item"] != "time_entry" else ""
    who = ", ".join(filter(None, [kind, plain_text(row["user_name"])]))
    texts = {name: plain_text(row[name]) for name in ("description", "findings", "matter_name")}
    return {
        **texts,
        "who": who,
        "day": short_date(row["date"]) if pd.notna(row["date"]) else "",
        "codes": _codes(row),
        **{
            name: "" if pd.isna(row[name]) else format_number(row[name], "cents")
            for name in ("hours", "rate", "item_amount")
        },
    }


def _not_printed(items: pd.DataFrame) -> str:
    if items.empty:
        return ""
    flagged = int(items["findings"].notna().sum())
    hours, amount = (format_number(items[name].sum(), "cents") for name in ("hours", "item_amount"))
    with_findings = f"{flagged} of them with findings" if flagged else "none with findings"
    count = count_of(len(items), "more item")
    return f"Not printed: {count}, {with_findings}; {hours} hours, {amount}. The workbook has them."


def plain_text(value: Any) -> str:
    """Return a text; empty for a missing one."""
    return "" if value is None or (not isinstance(value, str) and pd.isna(value)) else str(value)


_INVOICE_COLUMNS = {
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
    "flagged": ("With findings", "count", 9),
    "": ("Decision", "text", 16),
    " ": ("Remark", "text", 40),
}
_ITEM_COLUMNS = {
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
    "at_risk": ("At risk", "money", 12),
    "activity_code": ("Activity", "text", 9),
    "task_code": ("Task", "text", 9),
    "findings": ("Findings", "text", 30),
    "": ("Change to", "text", 14),
    " ": ("Remark", "text", 30),
}


_CELL_FORMAT = {"valign": "top", "border": 1, "border_color": "#D5DAE0"}
# The indent separates texts from the figures on their left.
_TEXT_FORMATS: dict[str, dict[str, Any]] = {
    "text": {"text_wrap": True, "indent": 1},
    "date": {"align": "left", "indent": 1},
}
# In points.
_LINE_HEIGHT = 15


def prebill_workbook(rows: pd.DataFrame, *, settings: str) -> bytes:
    """Return the review as an Excel workbook of invoices and of all items, with empty columns for decisions."""
    items = rows[rows["item"].notna()]
    shown = items.assign(item=items["item"].map(ITEM_KINDS), billing_type=_labels(items["billing_type"]))
    columns = {name: each for name, each in _ITEM_COLUMNS.items() if name != "at_risk" or name in shown}
    sheets = (("Invoices", _INVOICE_COLUMNS, _invoices(rows)), ("Items", columns, shown), about_sheet(settings))
    return workbook_of("Prebill review", sheets)


def _invoices(rows: pd.DataFrame) -> pd.DataFrame:
    grouped = rows.groupby("invoice_id", sort=False)
    people = grouped["responsible_name"].agg(lambda names: ", ".join(names.dropna().unique()))
    counts: dict[str, Any] = {
        "items": grouped["item"].count(),
        "flagged": grouped["findings"].count(),
        "responsible_name": people,
    }
    first = rows.drop_duplicates("invoice_id").set_index("invoice_id").assign(**counts)
    return first.assign(invoice_state=_labels(first["invoice_state"])).reset_index()


def _labels(values: pd.Series[Any]) -> list[str]:
    return [enum_label(plain_text(each)) for each in values]


Columns = Mapping[str, tuple[str, str, int]]


def about_sheet(settings: str) -> tuple[str, Columns, pd.DataFrame]:
    """Return the sheet that says which of the firm's settings were used."""
    return "About", {"settings": ("Settings", "text", 100)}, pd.DataFrame({"settings": [settings]})


def workbook_of(title: str, sheets: Iterable[tuple[str, Columns, pd.DataFrame]]) -> bytes:
    """Return an Excel workbook with these sheets."""
    check_writer()
    import xlsxwriter

    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, WRITER_OPTIONS) as book:
        # A fixed date, so that the same data give the same file.
        book.set_properties({"title": title, "created": dt.datetime(2000, 1, 1)})  # noqa: DTZ001
        for each in sheets:
            _write_sheet(book, *each)
    return buffer.getvalue()


def _write_sheet(book: Any, name: str, columns: Columns, rows: pd.DataFrame) -> None:
    """Write rows to a new sheet. Each column has a title, a unit and a width in characters."""
    page = book.add_worksheet(name)
    heading = {"bold": True, "text_wrap": True, "valign": "top", "bottom": 1}
    text_heading, figure_heading = (book.add_format(heading | more) for more in ({"indent": 1}, {"align": "right"}))
    lines = [1] * len(rows)
    for place, (column, (title, unit, width)) in enumerate(columns.items()):
        number = {} if unit == "text" else {"num_format": NUMBER_FORMATS[unit]}
        cell_format = book.add_format(_CELL_FORMAT | number | _TEXT_FORMATS.get(unit, {}))
        page.set_column(place, place, width)
        page.write_string(0, place, title, text_heading if unit in _TEXT_FORMATS else figure_heading)
        # Columns without a name are left empty for the reader.
        values: Sequence[Any] = list(rows[column]) if column.strip() else [None] * len(rows)
        for row, value in enumerate(values):
            write_cell(page, row + 1, place, value, cell_format)
            lines[row] = max(lines[row], _lines(value, width, spare=2) if unit == "text" else 1)
    page.set_row(0, 2 * _LINE_HEIGHT)
    for row, count in enumerate(lines, start=1):
        # A row in Excel is at most 409 points high.
        page.set_row(row, min(count * _LINE_HEIGHT, 409))
    page.freeze_panes(1, 1)
    page.autofilter(0, 0, max(len(rows), 1), len(columns) - 1)
    page.ignore_errors({"number_stored_as_text": f"A1:A{len(rows) + 1}"})
    page.repeat_rows(0)
    fit_landscape(page, margins=(0.3, 0.3, 0.4, 0.4))
