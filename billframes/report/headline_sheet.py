"""The first sheet of the workbook: headline figures beside those of earlier periods, and charts of the other sheets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from billframes._export import fit_landscape
from billframes.plots.drawing import axis_title
from billframes.report import footnotes
from billframes.report.definitions import sheet_name
from billframes.report.figures import Headline, figures
from billframes.report.month import YEAR, Month
from billframes.report.report_tables import ReportTable

__all__ = ["headline_sheet"]

_FORMATS = {"money": "#,##0", "hours": "#,##0.0", "ratio": "0.0%", "days": "#,##0.0"}
_PERCENT_FORMAT, _POINTS_FORMAT = "+0.0%;−0.0%;0.0%", '+0.0" pts";−0.0" pts";0.0" pts"'
_DARK, _PALE = "#1F4E79", "#C9D7E4"
# The rows that a chart covers, and its size in pixels.
_CHART_ROWS, _CHART_WIDTH, _CHART_HEIGHT = 15, 560, 280


def headline_sheet(
    book: Any, page: Any, month: Month, others: Sequence[ReportTable], *, title: str = "", remark: str = ""
) -> None:
    """
    Write the headline figures, and add charts of the other sheets.

    Parameters
    ----------
    book, page
        The workbook and the worksheet to write to.
    month : Month
    others : sequence of ReportTable
        The tables of the other sheets.
    title, remark : str
        The firm's name, and a line under the heading.
    """
    heading = f"Monthly billing report {month.name}"
    lines = [title, month.scope.title if month.scope else "", footnotes.as_of(month), remark]
    page.write_string(0, 0, heading, book.add_format({"bold": True, "font_size": 16, "font_color": _DARK}))
    row = 1
    for text in filter(None, lines):
        page.write_string(row, 0, text)
        row += 1
    row = _write_figures(book, page, month, row + 1)
    _add_charts(book, page, month, others, row + 1)
    page.set_column(0, 0, 36)
    page.set_column(1, 8, 14)
    page.hide_gridlines(2)
    fit_landscape(page, down=1)


def _write_figures(book: Any, page: Any, month: Month, row: int) -> int:
    """Write the table of headline figures, and return the row below it."""
    names = [month.same_days_name(back) for back in (0, 1, YEAR)]
    names = [names[0], names[1], "Change", names[2], "Change", month.to_date_name(), month.to_date_name(1), "Change"]
    head = book.add_format({"bold": True, "bottom": 1, "align": "right"})
    page.write_string(row, 0, "Figure", book.add_format({"bold": True, "bottom": 1}))
    for place, name in enumerate(names, start=1):
        page.write_string(row, place, name, head)
    group = ""
    for each in figures(month):
        if each.group != group:
            group, row = each.group, row + 1
            page.write_string(row, 0, group, book.add_format({"bold": True, "font_color": _DARK, "top": 4}))
        row += 1
        page.write_string(row, 0, f"{'   ' if each.is_part else ''}{each.name}")
        _write_row(book, page, row, each)
    return row + 1


def _write_row(book: Any, page: Any, row: int, each: Headline) -> None:
    number_format = _FORMATS[each.unit] + (f" [${each.shown_unit}]" if each.shown_unit else "")
    cell = book.add_format({"num_format": number_format})
    now, before, year_ago, to_date, year_ago_to_date = each.by_period
    pairs = ((now, before, 3), (now, year_ago, 5), (to_date, year_ago_to_date, 8))
    for place, value in zip((1, 2, 4, 6, 7), each.by_period, strict=True):
        if math.isfinite(value):
            page.write_number(row, place, round(value, 8), cell)
    for value, then, place in pairs:
        change = _change(each, value, then)
        if change is not None:
            change_format = _POINTS_FORMAT if each.unit == "ratio" else _PERCENT_FORMAT
            page.write_number(row, place, change, book.add_format({"num_format": change_format}))


def _change(each: Headline, now: float, then: float) -> float | None:
    """Return the change as on the page: in points for a ratio, else as a share of the earlier figure."""
    if each.mark or not (math.isfinite(now) and math.isfinite(then)):
        return None
    if each.unit == "ratio":
        return round((now - then) * 100, 8)
    return round((now - then) / then, 8) if then > 0 else None


def _add_charts(book: Any, page: Any, month: Month, others: Sequence[ReportTable], row: int) -> None:
    charts = []
    for table in [each for each in others if len(each.rows)]:
        if any(each.analysis in _BY_MONTH for each in table.charts):
            charts += [_month_chart(book, month, table, *each) for each in _BY_MONTH.values()]
        if len(table.total):
            charts += [_age_chart(book, month, table, each.title(table)) for each in table.charts if each.of == "total"]
    for place, chart in enumerate(filter(None, charts)):
        chart.set_size({"width": _CHART_WIDTH, "height": _CHART_HEIGHT})
        offset = {"x_offset": 0 if place % 2 == 0 else _CHART_WIDTH + 10, "object_position": 1}
        page.insert_chart(row + place // 2 * _CHART_ROWS, 0, chart, offset)


_BY_MONTH = {
    "realization": (("worked_amount", "billed_amount"), "Value and fees billed by month"),
    "utilization": (("capacity_hours", "client_hours"), "Hours by month"),
}
"""The columns and the title of a chart, by the analysis whose chart the page shows."""


def _month_chart(book: Any, month: Month, sheet: ReportTable, names: Sequence[str], title: str) -> Any:
    """Return a chart of columns by month: a pale one for the first figure, and a dark one over it for the second."""
    places = {each.name: place for place, each in enumerate(sheet.columns, start=len(sheet.labels))}
    names = [name for name in names if name in places]
    if not names:
        return None
    top = 1 if sheet.notes else 0
    first, last = top + 1, top + len(sheet.rows)
    chart = book.add_chart({"type": "column"})
    for name in names:
        colour = _PALE if name == names[0] and len(names) > 1 else _DARK
        chart.add_series(
            {
                "name": [sheet_name(sheet.title), top, places[name]],
                "categories": [sheet_name(sheet.title), first, 0, last, 0],
                "values": [sheet_name(sheet.title), first, places[name], last, places[name]],
                "fill": {"color": colour},
                "overlap": 60,
                "gap": 60,
            }
        )
    unit = next(each.unit for each in sheet.columns if each.name == names[0])
    _set_titles(chart, title, axis_title(unit, month.currency))
    chart.set_x_axis({"text_axis": True, "num_format": "[$-409]mmm yyyy", "num_font": {"size": 8, "rotation": -45}})
    return chart


def _age_chart(book: Any, month: Month, sheet: ReportTable, title: str) -> Any:
    """Return a chart of the total of each bucket of days."""
    buckets = [
        place
        for place, each in enumerate(sheet.columns, start=len(sheet.labels))
        if each.name == "current" or each.name[0].isdigit()
    ]
    top = 1 if sheet.notes else 0
    total = top + len(sheet.rows) + 2
    chart = book.add_chart({"type": "column"})
    chart.add_series(
        {
            "name": title,
            "categories": [sheet_name(sheet.title), top, buckets[0], top, buckets[-1]],
            "values": [sheet_name(sheet.title), total, buckets[0], total, buckets[-1]],
            "fill": {"color": _DARK},
            "gap": 60,
            "data_labels": {"value": True, "num_format": "#,##0", "font": {"size": 8}},
        }
    )
    _set_titles(chart, title, axis_title("money", month.currency))
    chart.set_legend({"none": True})
    return chart


def _set_titles(chart: Any, title: str, axis: str) -> None:
    chart.set_title({"name": title, "name_font": {"size": 11}, "overlay": False})
    grid = {"visible": True, "line": {"color": "#E4E4E4"}}
    font = {"size": 8}
    chart.set_y_axis(
        {
            "name": axis,
            "name_font": {"size": 8, "bold": False},
            "num_font": font,
            "num_format": "#,##0",
            "major_gridlines": grid,
        }
    )
    chart.set_legend({"position": "top", "font": {"size": 8}})
