"""The first sheets of the workbook: key points, to-do list and contents; figures beside those of earlier periods.

A key point is linked to the sheet that has its figures.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes._shared.export import fit_landscape
from billframes._shared.format import format_change
from billframes.analysis.declare.lookup import analyses
from billframes.plots.drawing import axis_title
from billframes.report import footnotes
from billframes.report.cells import SheetRange, write_cell, write_figure
from billframes.report.figures import Headline, figures, headings
from billframes.report.formulas import RowFormulas, Totals
from billframes.report.key_points import key_points
from billframes.report.month import Month
from billframes.report.sheet_plan import COLORS, SHEET_OF, Sheet
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import to_do

_FORMATS = {"money": "#,##0", "hours": "#,##0.0", "ratio": "0.0%", "days": "#,##0.0"}
_PERCENT_FORMAT, POINTS_FORMAT = "+0.0%;−0.0%;0.0%", '+0.0" pts";−0.0" pts";0.0" pts"'
# The last column; characters on a line of a key point, and its height in points.
_LAST, _POINT_LENGTH, _LINE_HEIGHT = 8, 115, 15
# The columns of the figures of this month, last month, a year ago, the year to date, and last year to the same month.
_LETTERS = "BCEGH"
# The columns of each change, of the later and of the earlier figure.
_CHANGES = (("D", "B", "C"), ("F", "B", "E"), ("I", "G", "H"))
_DARK, _PALE = "#1F4E79", "#C9D7E4"
# The rows that a chart covers, and its size in pixels.
_CHART_ROWS, _CHART_WIDTH, _CHART_HEIGHT = 15, 560, 280


def start_sheet(
    book: Any, page: Any, month: Month, all_sheets: Sequence[Sheet], *, title: str = "", remark: str = ""
) -> None:
    """Write the key points, the contents with a link to each sheet, and the to-do list."""
    money = f"Amounts in {month.currency}." if month.currency else ""
    lines = [title, month.scope.title if month.scope else "", f"{money} {footnotes.as_of(month)}".strip(), remark]
    _write_title(book, page, f"Billing report {month.same_days_name(0, short=False)}")
    row = 1
    for text in filter(None, lines):
        write_cell(page, row, 0, text, None)
        row += 1
    row = _write_points(book, page, month, all_sheets, row + 1)
    row = _write_to_do(book, page, month, row)
    _write_contents(book, page, all_sheets, row)
    for place, width in enumerate((26, 46, 78, 22)):
        page.set_column(place, place, width)


def headline_sheet(book: Any, page: Any, month: Month, others: Sequence[ReportTable]) -> None:
    """Write the headline figures, and add charts of the other sheets."""
    _write_title(book, page, f"{month.same_days_name(0, short=False)} in figures")
    row = _write_figures(book, page, month, others, 2)
    _add_charts(book, page, month, others, row + 1)
    page.set_column(0, 0, 36)
    page.set_column(1, _LAST, 14)


def _write_title(book: Any, page: Any, title: str) -> None:
    page.write_string(0, 0, title, book.add_format({"bold": True, "font_size": 16, "font_color": _DARK}))
    page.hide_gridlines(2)
    fit_landscape(page, down=1)


def _write_headings(book: Any, page: Any, row: int, headings: Sequence[str]) -> None:
    head = book.add_format({"bold": True, "bottom": 1})
    for place, text in enumerate(headings):
        write_cell(page, row, place, text, head)


def _write_points(book: Any, page: Any, month: Month, all_sheets: Sequence[Sheet], row: int) -> int:
    points = key_points(month)
    if not points:
        return row
    _write_headings(book, page, row, ["Key points"])
    text = book.add_format({"text_wrap": True, "valign": "top"})
    link = book.add_format({"hyperlink": True, "valign": "top"})
    there = {each.name for each in all_sheets}
    for place, each in enumerate(points, start=row + 1):
        page.set_row(place, _LINE_HEIGHT * math.ceil(len(each.text) / _POINT_LENGTH))
        page.merge_range(place, 0, place, 2, "", text)
        write_cell(page, place, 0, each.text, text)
        if (name := SHEET_OF.get(each.section)) in there:
            page.write_url(place, 3, f"internal:'{name}'!A1", link, name)
    return row + len(points) + 2


def _write_to_do(book: Any, page: Any, month: Month, row: int) -> int:
    rows = to_do(month)
    if not rows:
        return row
    amount = f"Amount, {month.currency}" if month.currency else "Amount"
    _write_headings(book, page, row, ("To do", "What", "", amount))
    forms = {
        unit: book.add_format({"num_format": form}) for unit, form in (("money", "#,##0"), ("hours", '#,##0.0" h"'))
    }
    for place, each in enumerate(rows, start=row + 1):
        for column, text in enumerate((each.person, each.what, each.detail)):
            write_cell(page, place, column, text, None)
        write_cell(page, place, 3, each.amount, forms[each.unit])
    return row + len(rows) + 2


def _write_contents(book: Any, page: Any, all_sheets: Sequence[Sheet], row: int) -> None:
    _write_headings(book, page, row, ("Contents", "Sheet", "What it answers", "Tables"))
    link, group = book.add_format({"hyperlink": True}), ""
    for place, each in enumerate(all_sheets, start=row + 1):
        bold = book.add_format({"bold": True, "font_color": COLORS[each.group]})
        write_cell(page, place, 0, "" if each.group == group else each.group, bold)
        page.write_url(place, 1, f"internal:'{each.name}'!A1", link, each.name)
        write_cell(page, place, 2, each.says, None)
        if each.tables:
            write_cell(page, place, 3, len(each.tables), None)
        group = each.group


def _write_figures(book: Any, page: Any, month: Month, others: Sequence[ReportTable], row: int) -> int:
    now, before, year_ago, *years = headings(month)
    names = [now, before, "Change", year_ago, "Change", *years, "Change"]
    head = book.add_format({"bold": True, "bottom": 1, "align": "right"})
    page.write_string(row, 0, "Figure", book.add_format({"bold": True, "bottom": 1}))
    for place, name in enumerate(names, start=1):
        page.write_string(row, place, name, head)
    for group, found in itertools.groupby(figures(month), key=lambda each: each.group):
        row += 1
        page.write_string(row, 0, group, book.add_format({"bold": True, "font_color": _DARK, "top": 4}))
        lines = list(found)
        _write_group(book, page, row + 1, lines, Totals(others, month))
        row += len(lines)
    return row + 1


def _write_group(book: Any, page: Any, first: int, lines: Sequence[Headline], links: Totals) -> None:
    rows = {each.column: first + place for place, each in enumerate(lines)}
    by_period = pd.DataFrame({each.column: each.by_period for each in lines})
    formulas = RowFormulas([each.measure for each in lines if each.measure], by_period)
    for each in lines:
        row = rows[each.column]
        page.write_string(row, 0, f"{'   ' if each.is_part else ''}{each.name}")
        number_format = _FORMATS[each.unit] + (f" [${each.shown_unit}]" if each.shown_unit else "")
        form = book.add_format({"num_format": number_format})
        for place, (letter, value) in enumerate(zip(_LETTERS, each.by_period, strict=True)):
            if math.isfinite(value):
                cell = lambda column, letter=letter: f"{letter}{rows[column] + 1}"  # noqa: E731
                formula = formulas.formula(each.column, place, cell) or links.formula(each.column, place, value)
                write_figure(page, row, ord(letter) - ord("A"), value, form, formula)
        _write_changes(book, page, row + 1, each)


def _write_changes(book: Any, page: Any, row: int, each: Headline) -> None:
    for (place, late, early), (now, then) in zip(_CHANGES, each.changes, strict=True):
        change = _change(each, now, then)
        if change is not None:
            points = each.unit == "ratio"
            form = book.add_format({"num_format": POINTS_FORMAT if points else _PERCENT_FORMAT})
            formula = f"({late}{row}-{early}{row})*100" if points else f"({late}{row}-{early}{row})/{early}{row}"
            page.write_formula(f"{place}{row}", f"={formula}", form, change)


def _change(each: Headline, now: float, then: float) -> float | None:
    """Return the change as on the page: in points for a ratio, else as a share of the earlier figure."""
    if each.mark or not (math.isfinite(now) and math.isfinite(then)):
        return None
    if each.unit == "ratio":
        return round((now - then) * 100, 8)
    return round((now - then) / then, 8) if format_change(now, then, each.unit).endswith("%") else None


def _add_charts(book: Any, page: Any, month: Month, others: Sequence[ReportTable], row: int) -> None:
    """Add charts of the months and of open amounts by age, without those that would be empty."""
    charts, aged = list[Any](), set[str]()
    for table in [each for each in others if len(each.rows)]:
        if table.label == "month" and not table.analysis:
            charts += [_month_chart(book, month, table, *each) for each in _BY_MONTH]
        if len(table.total) and table.analysis in {"wip", "aging"} - aged:
            aged.add(table.analysis)
            charts.append(_age_chart(book, month, table))
    for place, chart in enumerate(filter(None, charts)):
        chart.set_size({"width": _CHART_WIDTH, "height": _CHART_HEIGHT})
        offset = {"x_offset": 0 if place % 2 == 0 else _CHART_WIDTH + 10, "object_position": 1}
        page.insert_chart(row + place // 2 * _CHART_ROWS, 0, chart, offset)


_BY_MONTH = (
    (("worked_amount", "billed_amount"), "Value and fees billed by month"),
    (("capacity_hours", "client_hours"), "Hours by month"),
)
"""The columns and the title of each chart of the months."""


def _month_chart(book: Any, month: Month, table: ReportTable, columns: Sequence[str], title: str) -> Any:
    """Return a chart of columns by month: a pale one for the first figure, and a dark one over it for the second."""
    shown = [each for each in table.columns if each.name in columns]
    names = sorted((each.name for each in shown), key=columns.index)
    if not table.rows[names].fillna(0.0).any(axis=None):
        return None
    place = SheetRange(table)
    top = place.heading - 1
    first, last = top + 1, top + len(table.rows)
    series = [
        {
            "name": [place.name, top, column],
            "categories": [place.name, first, 0, last, 0],
            "values": [place.name, first, column, last, column],
            "fill": {"color": _PALE if name == names[0] and len(names) > 1 else _DARK},
            "overlap": 60,
        }
        for name, column in zip(names, map(place.columns.index, names), strict=True)
    ]
    chart = _chart(book, series, title, axis_title(shown[0].unit, month.currency), {"position": "top", "font": _SMALL})
    chart.set_x_axis({"text_axis": True, "num_format": "[$-409]mmm yyyy", "num_font": {**_SMALL, "rotation": -45}})
    return chart


def _age_chart(book: Any, month: Month, table: ReportTable) -> Any:
    drawn, place = analyses()[table.analysis].chart, SheetRange(table)
    names = [each for each in place.columns if each == "current" or each[0].isdigit()]
    if not table.total[names].fillna(0.0).any(axis=None):
        return None
    buckets = [place.columns.index(each) for each in names]
    title = f"{drawn.title} by {drawn.age[0]}" if drawn else table.title
    top, total = place.heading - 1, place.total - 1
    series = {
        "name": title,
        "categories": [place.name, top, buckets[0], top, buckets[-1]],
        "values": [place.name, total, buckets[0], total, buckets[-1]],
        "fill": {"color": _DARK},
        "data_labels": {"value": True, "num_format": "#,##0", "font": _SMALL},
    }
    return _chart(book, [series], title, axis_title("money", month.currency), {"none": True})


_SMALL = {"size": 8}


def _chart(book: Any, series: Sequence[dict[str, Any]], title: str, axis: str, legend: dict[str, Any]) -> Any:
    chart = book.add_chart({"type": "column"})
    for each in series:
        chart.add_series({**each, "gap": 60})
    chart.set_title({"name": title, "name_font": {"size": 11}, "overlay": False})
    grid = {"visible": True, "line": {"color": "#E4E4E4"}}
    name = {"name": axis, "name_font": {**_SMALL, "bold": False}}
    chart.set_y_axis({**name, "num_font": _SMALL, "num_format": "#,##0", "major_gridlines": grid})
    chart.set_legend(legend)
    return chart
