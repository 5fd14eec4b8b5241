"""Write a month as an Excel workbook: contents and key points, the sheets of `sheet_plan`, and definitions.

Totals, ratios and changes are formulas over the rows of the workbook (`formulas`). A total is below an empty row, so
that filters and sorts leave it in place. The same data give the same bytes, except for the cell that says when the
report was made.
"""

from __future__ import annotations

import datetime as dt
import io
import itertools
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from billframes._shared.export import A4, NUMBER_FORMATS, PAGE_WIDTH, fit_landscape
from billframes._version import __version__
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import PRICED, UNITS, Measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.explain import plain_words
from billframes.config.firm import describe_settings
from billframes.errors import ConfigError
from billframes.report import footnotes
from billframes.report.cells import WRITER_OPTIONS, SheetRange, write_cell, write_figure
from billframes.report.formulas import Records, SheetFormulas
from billframes.report.headline_sheet import POINTS_FORMAT, headline_sheet, start_sheet
from billframes.report.month import Month
from billframes.report.report_tables import balances
from billframes.report.sheet_plan import (
    COLORS,
    DEFINITIONS,
    LISTS,
    MONTH,
    SAYS,
    START,
    Sheet,
    details,
    list_sheet,
    planned,
)
from billframes.report.table_spec import ReportTable

_WIDEST, _NARROWEST = 60, 10
# Characters of a heading's width that bold type, the indent and the filter's button take.
_HEADING_EXTRA = 6
# The height of a row in points. Fonts that replace Excel's own are higher than its default row.
_ROW_HEIGHT = 16
_PAGES_OF_DEFINITIONS = 4
# The height of a line in points, and the characters on a line of the definitions.
_LINE_HEIGHT, _LINE_LENGTH = 15, 105
# Inches left, right, above and below.
_MARGINS = (0.4, 0.4, 0.5, 0.5)
# The rows that a sheet prints on a page, and its pages; a list of records prints fewer rows on one page.
_PRINTED, _MOST_PAGES, _PRINTED_OF_LIST = 90, 2, 60
# Smaller changes of a ratio are shown as 0.0 pts, without a sign.
_SMALLEST_POINTS, _NO_POINTS = 0.05, ";".join(['0.0" pts"'] * 3)


def check_writer(extra: str = "excel") -> None:
    """Raise `ConfigError` if the Excel writer is not installed. The message names the extra."""
    try:
        import xlsxwriter  # noqa: F401
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"Excel reports need {error.name}, which is not installed: pip install 'billframes[{extra}]'."
        ) from error


def workbook(
    month: Month, *, title: str = "", remark: str = "", generated: str = "", narratives: bool = False
) -> bytes:
    """
    Write a month as an .xlsx file: money, hours and ratios are numbers, days are dates, missing values empty cells.

    The texts are those of the page's cover. With `narratives`, time entries are listed with their descriptions.
    """
    check_writer()
    import xlsxwriter

    title = title or month.settings.report.get("title", "")
    plan = planned(month, narratives=narratives)
    tables = [table for each in plan for table in each.tables]
    lists = [list_sheet(each) for each in details(month, tables, narratives=narratives)]
    records = [Records(SheetRange(each.tables[0])) for each in lists]
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, WRITER_OPTIONS) as book:
        # A fixed date, so that the same data give the same file.
        created = dt.datetime.combine(month.as_of, dt.time())
        book.set_properties({"title": f"Billing report {month.name}", "created": created})
        writer = _SheetWriter(book, month, title or "Billing report")
        about = _about(month, title=title, remark=remark, generated=generated)
        all_sheets = [*(Sheet(name, *SAYS[name]) for name in (START, MONTH)), *plan, *lists]
        all_sheets.append(Sheet(DEFINITIONS, *SAYS[DEFINITIONS]))
        pages = {each.name: writer.add_sheet(each) for each in all_sheets}
        for each in (*plan, *lists):
            writer.write_sheet(pages[each.name], each, () if each in lists else records)
        every = [table for each in all_sheets for table in each.tables]
        writer.write_definitions(pages[DEFINITIONS], about, every)
        start_sheet(book, pages[START], month, all_sheets, title=title, remark=remark)
        headline_sheet(book, pages[MONTH], month, tables)
    return buffer.getvalue()


class _SheetWriter:
    def __init__(self, book: Any, month: Month, title: str) -> None:
        formats = {unit: _with_dash(form) for unit, form in NUMBER_FORMATS.items()} | {"points": POINTS_FORMAT}
        self._book, self._foot = book, f"&L&8{title.replace('&', '&&')} · {month.name}&R&8&P of &N"
        self._paper = 1 if month.settings.paper_size == "Letter" else A4
        self._currency = month.currency
        self._title = book.add_format({"bold": True, "font_size": 12, "font_color": "#1F4E79"})
        self._heading = book.add_format({"bold": True, "text_wrap": True, "valign": "top", "bottom": 1})
        # The indent keeps the headings of figures clear of the filter's button.
        self._figure = book.add_format(
            {"bold": True, "text_wrap": True, "valign": "top", "bottom": 1, "align": "right", "indent": 2}
        )
        self._bold = book.add_format({"bold": True, "valign": "top"})
        self._wrapped = book.add_format({"text_wrap": True, "valign": "top", "align": "left"})
        self._top = book.add_format({"valign": "top", "align": "left"})
        self._days = {
            unit: book.add_format({"num_format": formats[unit], "valign": "top", "align": "left"})
            for unit in ("date", "month")
        }
        self._cells = {unit: book.add_format({"num_format": form, "valign": "top"}) for unit, form in formats.items()}
        self._sums = {
            unit: book.add_format({"num_format": form, "bold": True, "top": 1}) for unit, form in formats.items()
        }
        self._total = book.add_format({"bold": True, "top": 1})
        self._no_change = book.add_format({"num_format": _NO_POINTS})

    def add_sheet(self, sheet: Sheet) -> Any:
        """Add a sheet with the colour of its group and the line at the foot of its pages."""
        page = self._book.add_worksheet(sheet.name)
        page.set_tab_color(COLORS[sheet.group])
        page.set_footer(self._foot)
        return page

    def write_definitions(self, page: Any, about: Iterable[tuple[str, str]], sheets: Sequence[ReportTable]) -> None:
        """Write what the report is, what each sheet shows, and what each column means."""
        rows: list[tuple[str, str, str]] = [(name, text, "") for name, text in about]
        rows += [("", "", ""), ("Sheet", "What it shows", "")]
        for names, meaning in _names_by_meaning(sheets):
            rows += [(name, text, "") for name, text in itertools.zip_longest(names, meaning, fillvalue="")]
        rows += [("", "", ""), ("Column", "What it means", "Unit")]
        units = UNITS | {"points": "points, 1 is a change from 80% to 81%"}
        rows += [(each.title, each.meaning, units[each.unit]) for each in _measures(sheets)]
        for place, row in enumerate(rows):
            page.set_row(place, _LINE_HEIGHT * max(1, math.ceil(len(row[1]) / _LINE_LENGTH)))
            for column, (text, form) in enumerate(zip(row, (self._bold, self._wrapped, self._top), strict=True)):
                write_cell(page, place, column, text, self._bold if row[0] in {"Sheet", "Column"} else form)
        page.set_column(0, 0, 30)
        page.set_column(1, 1, 100)
        page.set_column(2, 2, 20)
        fit_landscape(page, down=_PAGES_OF_DEFINITIONS, paper=self._paper)

    def write_sheet(self, page: Any, sheet: Sheet, records: Sequence[Records] = ()) -> None:
        """Write the tables of a sheet, one below the other."""
        found = [list(_widths(each)) for each in sheet.tables]
        widths = [max(each) for each in itertools.zip_longest(*found, fillvalue=0.0)]
        # Rows with descriptions have the height of their text.
        if not any("description" in each.labels for each in sheet.tables):
            page.set_default_row(_ROW_HEIGHT)
        for each in sheet.tables:
            self._write_table(page, each, widths, records)
        first = SheetRange(sheet.tables[0])
        page.freeze_panes(first.heading, min(1, len(sheet.tables[0].labels)))
        if len(sheet.tables) == 1:
            page.autofilter(first.heading - 1, 0, first.last - 1, len(found[0]) - 1)
            page.repeat_rows(0, first.heading - 1)
        for place, width in enumerate(widths):
            page.set_column(place, place, width)
        last = SheetRange(sheet.tables[-1]).total
        # Invoice numbers are text even if they look like numbers.
        page.ignore_errors({"number_stored_as_text": f"A1:A{last}"})
        pages = min(math.ceil(last / _PRINTED), _MOST_PAGES) if len(sheet.tables) > 1 else 1
        printed = _PRINTED_OF_LIST if sheet.group == LISTS else _PRINTED * pages
        if last > printed:
            page.print_area(0, 0, printed - 1, len(widths) - 1)
            page.set_footer(f"{self._foot}&C&8the first {printed} of {last} rows; the workbook has all")
        across = 1 if sheet.group == LISTS else math.ceil(sum(widths) / PAGE_WIDTH)
        if across > 1:
            page.repeat_columns(0)
        fit_landscape(page, across=across, down=pages, paper=self._paper, margins=_MARGINS)

    def _write_table(self, page: Any, sheet: ReportTable, widths: Sequence[float], records: Sequence[Records]) -> None:
        place = SheetRange(sheet)
        top = place.heading - 1
        write_cell(page, sheet.above, 0, sheet.title, self._title)
        if sheet.notes:
            write_cell(page, sheet.above + 1, 0, " ".join(sheet.notes), self._bold)
        headings = [*sheet.headings[: len(sheet.labels)], *(self._heading_of(each) for each in sheet.columns)]
        for column, heading in enumerate(headings):
            write_cell(page, top, column, heading, self._heading if column < len(sheet.labels) else self._figure)
        page.set_row(top, _LINE_HEIGHT * max(map(_lines, headings, widths), default=1))
        formulas = SheetFormulas(place, records)
        for column, name in enumerate(sheet.labels):
            self._write_labels(page, (top + 1, column), sheet, name)
        for column, each in enumerate(sheet.columns, start=len(sheet.labels)):
            for row, value in enumerate(sheet.rows[each.name]):
                formula = formulas.in_row(each.name, row)
                write_figure(page, top + 1 + row, column, value, self._cells[each.unit], formula)
        self._hide_signs_of_zero(page, sheet, (top + 1, place.total - 1))
        self._write_total(page, place.total - 1, sheet, formulas)

    def _heading_of(self, column: Measure) -> str:
        return f"{column.title}, {self._currency}" if self._currency and column.unit in PRICED else column.title

    def _write_labels(self, page: Any, start: tuple[int, int], sheet: ReportTable, name: str) -> None:
        values, form = sheet.rows[name], self._wrapped if name == "description" else self._top
        # Days that name a row are aligned to the left, other days to the right.
        day = self._days["month" if values.name == "month" else "date"]
        if values.name == "month":
            values = values.map(lambda each: sheet.names.get(each) or pd.Timestamp(f"{each}-01")).astype(object)
        for row, value in enumerate(values, start=start[0]):
            write_cell(page, row, start[1], value, day if isinstance(value, pd.Timestamp) else form)

    def _hide_signs_of_zero(self, page: Any, sheet: ReportTable, rows: tuple[int, int]) -> None:
        between = {"type": "cell", "criteria": "between", "format": self._no_change}
        ends = {"minimum": -_SMALLEST_POINTS * 0.9999, "maximum": _SMALLEST_POINTS * 0.9999}
        for place, each in enumerate(sheet.columns, start=len(sheet.labels)):
            if each.unit == "points":
                page.conditional_format(rows[0], place, rows[1], place, {**between, **ends})

    def _write_total(self, page: Any, row: int, sheet: ReportTable, formulas: SheetFormulas) -> None:
        if sheet.total.empty or not sheet.labels:
            return
        for place in range(len(sheet.labels)):
            write_cell(page, row, place, "" if place else sheet.total_name, self._total)
        for place, each in enumerate(sheet.columns, start=len(sheet.labels)):
            value = sheet.total[each.name].iloc[0] if each.name in sheet.total else None
            write_figure(page, row, place, value, self._sums[each.unit], formulas.in_total(each))


def _with_dash(form: str) -> str:
    """Show 0 as a dash in figures that are amounts or numbers."""
    return f'{form};−{form};"–"' if form.startswith("#") else form


def _about(month: Month, *, title: str, remark: str, generated: str) -> Iterator[tuple[str, str]]:
    yield "Monthly billing report", month.same_days_name(0, short=False)
    yield "Firm", title
    yield "Scope", month.scope.title if month.scope else "The whole firm"
    yield "Data", footnotes.as_of(month)
    yield "Settings", describe_settings(month.book.settings)
    yield "Made on", generated
    yield "", remark
    money = f"Amounts are in {month.currency}" if month.currency else _NO_CURRENCY
    yield "", f"{money}. Unknown figures are empty cells."
    for text in (*footnotes.scope(month), *balances(month), *footnotes.limits(month), *month.remarks):
        yield "", text
    yield "Made by", f"billframes {__version__}"


_NO_CURRENCY = "Amounts are in the firm’s currency, which the billing system and the firm’s settings do not name"


def _measures(sheets: Sequence[ReportTable]) -> list[Measure]:
    return list({(each.name, each.title): each for sheet in sheets for each in sheet.columns}.values())


def _names_by_meaning(sheets: Sequence[ReportTable]) -> list[tuple[list[str], tuple[str, ...]]]:
    """Group the names of sheets with the same meaning, so that it is written once."""
    names: dict[tuple[str, ...], list[str]] = {}
    for each in sheets:
        names.setdefault(_meaning_of(each), []).append(each.title)
    return [(found, meaning) for meaning, found in names.items()]


def _meaning_of(table: ReportTable) -> tuple[str, ...]:
    """Return what the figures of a table mean, in paragraphs: the question and the definitions of its analysis."""
    if table.meaning:
        return table.meaning
    analysis = analyses()[table.analysis]
    return (analysis.question, *_definitions(analysis))


def _definitions(analysis: Analysis) -> Iterator[str]:
    for heading, texts in analysis.parts.items():
        # Readers could mistake an example's figures for the firm's.
        if heading == "Example":
            continue
        sentences = (plain_words(text, analysis) for text in texts)
        yield from (_sentence(_OPENINGS.get(heading, ""), text) for text in sentences if text)


_OPENINGS = {
    "Formula": "The formula is ",
    "Numerator": "Numerator: ",
    "Denominator": "Denominator: ",
    "Counted": "What counts: ",
    "Not counted": "What is not counted: ",
    "The billing system can’t tell": "The billing system can’t tell: ",
}


def _sentence(opening: str, text: str) -> str:
    first = text[:1].lower() if opening and not text[1:2].isupper() else text[:1].upper()
    return f"{opening}{first}{text[1:]}{'' if text.endswith('.') else '.'}"


def _lines(heading: str, width: float) -> int:
    """Return how many lines a heading takes. Programs other than Excel don't fit the row's height to it."""
    return len(textwrap.wrap(heading, max(1, int(width) - _HEADING_EXTRA))) or 1


def _widths(sheet: ReportTable) -> Iterator[float]:
    """Return column widths for the longest text or figure, and at least the longest word of the heading."""
    for place, name in enumerate(SheetRange(sheet).columns):
        values = sheet.rows[name]
        if place < len(sheet.labels):
            longest = max(map(len, values.dropna().astype("str")), default=0)
            yield min(_WIDEST, max(_NARROWEST, longest + 2))
            continue
        total = sheet.total[name] if name in sheet.total else values.iloc[:0]
        figures = map(_length, (*values, *total))
        word = max(map(len, sheet.headings[place].split()), default=0)
        yield max(_NARROWEST, word + _HEADING_EXTRA, max(figures, default=0) + 3)


def _length(value: Any) -> int:
    if isinstance(value, pd.Timestamp) or pd.isna(value):
        return len("31 Oct 2026")
    return len(f"{float(value):,.2f}")
