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
from billframes.report.cells import write_cell, write_figure
from billframes.report.figures import PERIODS, Headline, figures, headings
from billframes.report.formulas import RowFormulas
from billframes.report.key_points import key_points
from billframes.report.links import Totals
from billframes.report.month import Month
from billframes.report.places import SheetRange
from billframes.report.sheet_plan import COLORS, Sheet, sheet_of
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import to_do

_FORMATS = {"money": "#,##0", "hours": "#,##0.0", "ratio": "0.0%", "days": "#,##0.0"}
_PERCENT_FORMAT, POINTS_FORMAT = "+0.0%;−0.0%;0.0%", '+0.0" pts";−0.0" pts";0.0" pts"'
# The last column; characters on a line of a key point, and its height in points.
_LAST, _POINT_LENGTH, _LINE_HEIGHT = 8, 115, 15
# The columns of the figures of this month, last month, a year ago, the year to date, and last year to the same month.
_LETTERS = "BCEGH"
_DARK, _PALE = "#1F4E79", "#C9D7E4"
# The rows that a chart covers, and its size in pixels.
_CHART_ROWS, _CHART_WIDTH, _CHART_HEIGHT = 15, 560, 280


def start_sheet(
    book: Any, page: Any, month: Month, all_sheets: Sequence[Sheet], *, title: str = "", remark: str = ""
) -> None:
    """Write the key points, the contents with a link to each sheet, and the to-do list."""
    money = f"Amounts in {month.currency}." if month.currency else ""
    lines = [title, month.scope.title if month.scope else "", f"{money} {footnotes.as_of(month)}".strip(), remark]
    heading = f"Billing report {month.same_days_name(0, short=False)}"
    page.write_string(0, 0, heading, book.add_format({"bold": True, "font_size": 16, "font_color": _DARK}))
    row = 1
    for text in filter(None, lines):
        write_cell(page, row, 0, text, None)
        row += 1
    row = _write_points(book, page, month, all_sheets, row + 1)
    row = _write_to_do(book, page, month, row)
    _write_contents(book, page, all_sheets, row)
    for place, width in enumerate((26, 46, 78, 22)):
        page.set_column(place, place, width)
    page.hide_gridlines(2)
    fit_landscape(page, down=1)


def _write_to_do(book: Any, page: Any, month: Month, row: int) -> int:
    rows = to_do(month)
    if not rows:
        return row
    head = book.add_format({"bold": True, "bottom": 1})
    amount = f"Amount, {month.currency}" if month.currency else "Amount"
    for place, text in enumerate(("To do", "What", "", amount)):
        write_cell(page, row, place, text, head)
    forms = {unit: book.add_format({"num_format": form}) for unit, form in _TO_DO.items()}
    for place, each in enumerate(rows, start=row + 1):
        for column, text in enumerate((each.person, each.what, each.detail)):
            write_cell(page, place, column, text, None)
        write_cell(page, place, 3, each.amount, forms[each.unit])
    return row + len(rows) + 2


_TO_DO = {"money": "#,##0", "hours": '#,##0.0" h"'}


def _write_contents(book: Any, page: Any, all_sheets: Sequence[Sheet], row: int) -> None:
    head = book.add_format({"bold": True, "bottom": 1})
    for place, text in enumerate(("Contents", "Sheet", "What it answers", "Tables")):
        write_cell(page, row, place, text, head)
    link = book.add_format({"hyperlink": True})
    group = ""
    for place, each in enumerate(all_sheets, start=row + 1):
        write_cell(page, place, 0, "" if each.group == group else each.group, _bold(book, COLORS[each.group]))
        page.write_url(place, 1, f"internal:'{each.name}'!A1", link, each.name)
        write_cell(page, place, 2, each.says, None)
        if each.tables:
            write_cell(page, place, 3, len(each.tables), None)
        group = each.group


def _bold(book: Any, color: str) -> Any:
    return book.add_format({"bold": True, "font_color": color})


def headline_sheet(book: Any, page: Any, month: Month, others: Sequence[ReportTable]) -> None:
    """Write the headline figures, and add charts of the other sheets."""
    heading = f"{month.same_days_name(0, short=False)} in figures"
    page.write_string(0, 0, heading, book.add_format({"bold": True, "font_size": 16, "font_color": _DARK}))
    row = _write_figures(book, page, month, others, 2)
    _add_charts(book, page, month, others, row + 1)
    page.set_column(0, 0, 36)
    page.set_column(1, _LAST, 14)
    page.hide_gridlines(2)
    fit_landscape(page, down=1)


def _write_points(book: Any, page: Any, month: Month, all_sheets: Sequence[Sheet], row: int) -> int:
    points = key_points(month)
    if not points:
        return row
    page.write_string(row, 0, "Key points", book.add_format({"bold": True, "bottom": 1}))
    text = book.add_format({"text_wrap": True, "valign": "top"})
    link = book.add_format({"hyperlink": True, "valign": "top"})
    there = {each.name for each in all_sheets}
    for place, each in enumerate(points, start=row + 1):
        page.set_row(place, _LINE_HEIGHT * math.ceil(len(each.text) / _POINT_LENGTH))
        page.merge_range(place, 0, place, 2, "", text)
        write_cell(page, place, 0, each.text, text)
        if (name := sheet_of(each.section)) in there:
            page.write_url(place, 3, f"internal:'{name}'!A1", link, name)
    return row + len(points) + 2


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
    """Write figures that follow from each other, such as billing realization from fees billed and worth."""
    rows = {each.column: first + place for place, each in enumerate(lines)}
    by_period = pd.DataFrame({each.column: each.by_period for each in lines})
    formulas = RowFormulas([each.measure for each in lines if each.measure], by_period)
    for each in lines:
        row = rows[each.column]
        page.write_string(row, 0, f"{'   ' if each.is_part else ''}{each.name}")
        number_format = _FORMATS[each.unit] + (f" [${each.shown_unit}]" if each.shown_unit else "")
        form = book.add_format({"num_format": number_format})
        for place, (letter, period, value) in enumerate(zip(_LETTERS, PERIODS, each.by_period, strict=True)):
            if math.isfinite(value):
                cell = lambda column, letter=letter: f"{letter}{rows[column] + 1}"  # noqa: E731
                formula = formulas.formula(each.column, place, cell) or links.formula(each.column, period, value)
                write_figure(page, row, ord(letter) - ord("A"), value, form, formula)
        _write_changes(book, page, row + 1, each)


def _write_changes(book: Any, page: Any, row: int, each: Headline) -> None:
    now, before, year_ago, to_date, year_ago_to_date = each.by_period
    pairs = (("D", "B", now, "C", before), ("F", "B", now, "E", year_ago), ("I", "G", to_date, "H", year_ago_to_date))
    for place, late, value, early, then in pairs:
        change = _change(each, value, then)
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
    charts, aged = list[Any](), set[str]()
    for table in [each for each in others if len(each.rows)]:
        if table.label == "month" and not table.analysis:
            charts += [_month_chart(book, month, table, *each) for each in _BY_MONTH]
        if len(table.total) and table.analysis in {"wip", "aging"} - aged:
            aged.add(table.analysis)
            drawn = analyses()[table.analysis].chart
            charts.append(_age_chart(book, month, table, f"{drawn.title} by {drawn.age[0]}" if drawn else table.title))
    for place, chart in enumerate(filter(None, charts)):
        chart.set_size({"width": _CHART_WIDTH, "height": _CHART_HEIGHT})
        offset = {"x_offset": 0 if place % 2 == 0 else _CHART_WIDTH + 10, "object_position": 1}
        page.insert_chart(row + place // 2 * _CHART_ROWS, 0, chart, offset)


_BY_MONTH = (
    (("worked_amount", "billed_amount"), "Value and fees billed by month"),
    (("capacity_hours", "client_hours"), "Hours by month"),
)
"""The columns and the title of each chart of the months."""


def _month_chart(book: Any, month: Month, sheet: ReportTable, names: Sequence[str], title: str) -> Any:
    """Return a chart of columns by month: a pale one for the first figure, and a dark one over it for the second."""
    columns = {each.name: place for place, each in enumerate(sheet.columns, start=len(sheet.labels))}
    places = [columns[name] for name in names if name in columns]
    if not places:
        return None
    place = SheetRange(sheet)
    name, top = place.name, place.heading - 1
    first, last = top + 1, top + len(sheet.rows)
    series = [
        {
            "name": [name, top, place],
            "categories": [name, first, 0, last, 0],
            "values": [name, first, place, last, place],
            "fill": {"color": _PALE if place == places[0] and len(places) > 1 else _DARK},
            "overlap": 60,
        }
        for place in places
    ]
    unit = sheet.columns[places[0] - len(sheet.labels)].unit
    chart = _chart(book, series, title, axis_title(unit, month.currency), {"position": "top", "font": _SMALL})
    chart.set_x_axis({"text_axis": True, "num_format": "[$-409]mmm yyyy", "num_font": {**_SMALL, "rotation": -45}})
    return chart


def _age_chart(book: Any, month: Month, sheet: ReportTable, title: str) -> Any:
    names = [*sheet.labels, *(each.name for each in sheet.columns)]
    buckets = [place for place, each in enumerate(names) if each == "current" or each[0].isdigit()]
    place = SheetRange(sheet)
    name, top = place.name, place.heading - 1
    total = top + len(sheet.rows) + 2
    series = {
        "name": title,
        "categories": [name, top, buckets[0], top, buckets[-1]],
        "values": [name, total, buckets[0], total, buckets[-1]],
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
