"""The month's workbook, read again and calculated by LibreOffice: the frames' figures, and no formulas from data."""

from __future__ import annotations

import datetime as dt
import io
import math
import os
import re
from dataclasses import replace

import openpyxl
import pandas as pd
import pytest
from openpyxl.utils import get_column_letter

from billframes import report
from billframes.analysis.declare.lookup import measures
from billframes.report import workbook as writing
from billframes.report.cells import SheetRange
from billframes.report.figures import figures
from billframes.report.formulas import SheetFormulas
from billframes.report.key_points import key_points
from billframes.report.report_tables import time_entries
from billframes.report.sheet_plan import Sheet, details, list_sheet, stacked
from billframes.report.table_spec import ReportTable
from billframes.report.workbook import workbook
from tests.report import libreoffice
from tests.report.conftest import HOSTILE_NAME, sheets

pytestmark = pytest.mark.slow

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def opened(content: bytes) -> openpyxl.Workbook:
    """Return the workbook as people see it, with figures in place of their formulas."""
    return openpyxl.load_workbook(io.BytesIO(content), data_only=True)


def texts(book) -> list[str]:
    cells = (cell.value for sheet in book for row in sheet.iter_rows() for cell in row)
    return [value for value in cells if isinstance(value, str)]


@pytest.fixture(scope="module")
def content(october) -> bytes:
    return workbook(october, title="Sons & Sons", generated="1 November 2026, 08:00")


@pytest.fixture(scope="module")
def book(content):
    return opened(content)


def rows_of(book, tables, title):
    """Return the headings, the rows and the total of a table, as its sheet shows them."""
    place = SheetRange(next(each for each in tables if each.title == title))
    return list(book[place.name].iter_rows(min_row=place.heading, max_row=place.total))


def test_the_contents_are_first_then_the_sheets_of_each_group_and_definitions_last(book):
    assert book.sheetnames == [
        "Start",
        "In figures",
        "Twelve months",
        "What changed",
        "Fees by client",
        "Rates",
        "Originators, new business",
        "Hours",
        "Scorecard",
        "Missing time",
        "Days to invoice",
        "Realization",
        "Write-downs",
        "Work in progress",
        "Stale work and matters",
        "Drafts",
        "Guidelines and e-billing",
        "Receivables",
        "Overdue invoices",
        "Cash",
        "Invoices",
        "Time",
        "Billed work",
        "Open work",
        "Open invoices",
        "Definitions",
    ]
    links = {cell.value: cell.hyperlink.location for row in book["Start"].iter_rows() for cell in row if cell.hyperlink}
    assert [*dict.fromkeys(links.values())][-1] == "'Definitions'!A1"
    assert {each.split("!")[0].strip("'") for each in links.values()} == {*book.sheetnames}
    # Each group has one colour.
    assert len({each.sheet_properties.tabColor.rgb for each in book}) == 7
    said = {row[0]: row[1:] for row in book["Definitions"].iter_rows(values_only=True) if row[0]}
    assert said["Monthly billing report"][0] == "October 2026"
    assert said["Firm"][0] == "Sons & Sons"
    assert said["Billing realization"] == ("Fees billed ÷ value of time billed.", "ratio, 1 is 100%")
    assert not [text for text in texts(book) if "`" in text or "_amount" in text]


def test_the_first_sheet_has_the_headline_figures_as_numbers_and_charts_of_the_other_sheets(book, october):
    shown = {row[0].strip(): row[1:] for row in book["In figures"].iter_rows(values_only=True) if row[0]}
    for each in figures(october):
        numbers = [shown[each.name][place] for place in (0, 1, 3, 5, 6)]
        assert numbers == [pytest.approx(value) if value == value else None for value in each.by_period], each.name
    hours = shown["Client hours"]
    assert hours[2] == pytest.approx(hours[0] / hours[1] - 1)
    charts = book["In figures"]._charts
    assert len(charts) == 4
    ranges = [series.val.numRef.f for chart in charts for series in chart.series]
    assert "'Twelve months'!" in ranges[0]
    owed = october.of("aging").iloc[0]
    (cells,) = book["Receivables"][ranges[-1].partition("!")[2].replace("$", "")]
    assert [cell.value for cell in cells] == pytest.approx(owed[["current", "1-30", "31-60", "61-90", "91+"]].tolist())


def test_the_first_sheet_begins_with_the_key_points_and_links_each_to_its_sheet(book, october):
    first = book["Start"]
    points = key_points(october)
    found = [row for row in first.iter_rows(max_row=14) if row[0].value in {each.text for each in points}]
    assert [row[0].value for row in found] == [each.text for each in points]
    for row in found:
        linked = row[3].hyperlink.location.removesuffix("!A1").strip("'")
        assert linked == row[3].value
        assert linked in book.sheetnames


def test_a_sheet_has_the_rows_of_the_analysis_and_its_total_below_the_filters(book, tables, october):
    rows, total = report.realization.made(october)[1].rows, october.of("realization").iloc[0]
    headings, *cells = [[cell.value for cell in row] for row in rows_of(book, tables, "Realization by client")]
    read = pd.DataFrame(cells[: len(rows)], columns=headings)
    for name in ("worked_amount", "billed_amount", "billing_realization", "settlement_ratio", "effective_rate"):
        shown = read[measures()[name].title].astype("float64")
        pd.testing.assert_series_equal(shown, rows[name], check_names=False, atol=1e-8)
    assert cells[len(rows)] == [None] * len(headings)
    assert dict(zip(headings, cells[-1], strict=True))["Fees billed"] == pytest.approx(total["billed_amount"])
    assert cells[-1][0] == "Total"
    assert book["Stale work and matters"].auto_filter.ref.startswith("A2:")
    assert book["Realization"].freeze_panes == "B3"


def test_people_without_hours_and_amounts_are_named_in_a_note_and_have_no_row(book, tables):
    hours = {"Client hours", "Total hours"}
    for name in ("Utilization by timekeeper", "Scorecard by timekeeper"):
        headings, *rows = [[cell.value for cell in row] for row in rows_of(book, tables, name)]
        assert "Conrad Lindqvist" in book["Hours" if name.startswith("U") else "Scorecard"]["A2"].value
        places = [place for place, heading in enumerate(headings) if heading in hours]
        assert places
        assert len(rows) > 10
        amounts = [place for place, heading in enumerate(headings) if heading in {"Receivables", "Work in progress"}]
        none = [row for row in rows for place in places if row[place] == 0]
        # People who have left can still have open amounts, which the scorecard shows beside hours of 0.
        assert all(any(row[place] for place in amounts) for row in none)
        assert "Conrad Lindqvist" not in {row[0] for row in rows}
    assert "The total includes their 352.0 available hours." in book["Hours"]["A2"].value


def test_units_are_number_formats_days_are_dates_and_missing_values_are_empty_cells(book, tables):
    heads, below, *_ = rows_of(book, tables, "Realization by client")
    forms = {cell.value: one.number_format for cell, one in zip(heads, below, strict=True)}
    # Zeros are dashes.
    assert forms["Fees billed"] == '#,##0.00;−#,##0.00;"–"'
    assert forms["Billing realization"] == "0.0%"
    _, below, *_ = rows_of(book, tables, "Work in progress by client")
    (day,) = [cell for cell in below if isinstance(cell.value, dt.datetime)]
    assert day.number_format == "[$-409]d mmm yyyy"
    months = [row[0] for row in rows_of(book, tables, "Twelve months") if isinstance(row[0].value, dt.datetime)]
    assert len(months) == 12
    assert {cell.number_format for cell in months} == {"[$-409]mmm yyyy"}
    _, *rows = rows_of(book, tables, "Receivables by client")
    overdue = [row[9].value for row in rows[:-2]]
    assert None in overdue
    assert all(value is None or isinstance(value, int | float) for value in overdue)


def test_a_name_with_html_is_only_text(book):
    assert HOSTILE_NAME in texts(book)


def test_formulas_and_control_characters_from_the_api_are_text(october, monkeypatch):
    rows = pd.DataFrame(
        {"client_name": ["=HYPERLINK(1)", "+1", "@x", "a\x00b"], "hours": [-1e-13, 2.0, 3.0, float("inf")]}
    )
    none, hours = rows.iloc[:0], (measures()["hours"],)
    label, labels = "client_name", ("client_name",)
    sheet = ReportTable(
        title="Time", label=label, labels=labels, rows=rows, total=none, columns=hours, meaning=("=1+1",)
    )
    plan = [Sheet("Time", "Lists", "", tuple(stacked("Time", [sheet])))]
    monkeypatch.setattr(writing, "planned", lambda _month, narratives: plan)
    read = openpyxl.load_workbook(io.BytesIO(workbook(october, title="=2+2")))
    cells = list(read["Time"].iter_rows(min_row=3))
    assert [row[0].value for row in cells] == ["'=HYPERLINK(1)", "'+1", "'@x", "a b"]
    assert [row[1].value for row in cells] == [0, 2, 3, None]
    formulas = [cell.value for page in read for row in page.iter_rows() for cell in row if cell.data_type == "f"]
    assert not [each for each in formulas if "HYPERLINK" in each or "2+2" in each or "1+1" in each]


def test_the_same_data_give_the_same_bytes_except_for_the_time_of_the_report(october):
    month = october.only("practice_area:Family")
    first, again = (workbook(month, generated="today") for _ in range(2))
    assert first == again
    assert workbook(month, generated="tomorrow") != first


def test_descriptions_are_on_a_separate_sheet_and_only_with_narratives(book, october):
    narratives = set(time_entries(october).rows["description"])
    assert not narratives & set(texts(book))
    month = october.only("practice_area:Family")
    asked = opened(workbook(month, narratives=True))
    sheet = asked["Time entries"]
    entries = time_entries(month).rows
    assert [cell.value for cell in sheet["F"][2 : len(entries) + 2]] == entries["description"].tolist()
    assert sheet.cell(sheet.max_row, 7).value == pytest.approx(entries["hours"].sum())
    assert "Invoices" not in asked.sheetnames


def test_a_note_above_the_figures_says_that_balances_are_of_a_later_day(book, october):
    early = opened(
        workbook(replace(october, first=dt.date(2026, 8, 1), last=dt.date(2026, 8, 31), as_of=dt.date(2026, 8, 31)))
    )
    assert not [text for text in texts(early) if "as_of=" in text]
    for name in ("Work in progress", "Receivables"):
        said = [str(cell.value) for cell in early[name]["A"]]
        assert len([each for each in said if each.startswith("Balances are those of 31 October")]) == 1
    assert early["Overdue invoices"].print_title_rows == "$1:$2"


def test_the_workbook_says_which_settings_apply(book):
    said = {row[0]: row[1] for row in book["Definitions"].iter_rows(values_only=True)}
    assert said["Settings"].startswith("No firm settings: 8 hours a day, Mon to Fri")


def test_a_change_shown_as_zero_has_no_sign(book, tables):
    sheet, place = (
        book["What changed"],
        SheetRange(next(each for each in tables if each.title.startswith("Change of r"))),
    )
    columns = [str(each.sqref).split(":")[0].rstrip("0123456789") for each in sheet.conditional_formatting]
    assert [sheet[f"{column}{place.heading}"].value for column in columns] == ["Own change", "Mix", "Change"]
    (rule,) = next(iter(sheet.conditional_formatting)).rules
    assert rule.dxf.numFmt.formatCode == '0.0" pts";0.0" pts";0.0" pts"'
    assert [float(each) for each in rule.formula] == pytest.approx([-0.05, 0.05], rel=0.001)


def test_every_difference_of_ratios_is_in_points(book, written, tables):
    found = 0
    for table in tables:
        place = SheetRange(table)
        for each in [each for each in table.columns if each.unit == "points"]:
            cells = [book[place.name][f"{place.letter(each.name)}{row}"] for row in range(place.first, place.total + 1)]
            known = [cell for cell in cells if cell.value is not None]
            assert {cell.number_format for cell in known} <= {'+0.0" pts";−0.0" pts";0.0" pts"'}
            found += len(known)
    assert found > 100
    change = next(each for each in tables if each.title.startswith("Change of r"))
    place = SheetRange(change)
    ends = [f"{place.letter(name)}{place.total}" for name in ("before_ratio", "after_ratio", "change_ratio")]
    before, after, points = (book[place.name][each].value for each in ends)
    assert points == pytest.approx(100 * (after - before), abs=1e-6)


def test_definitions_mention_neither_arguments_nor_the_api(book):
    said = texts(book)
    assert [text for text in said if "API" in text or "True" in text or "=False" in text] == []
    assert "What is not counted: non-billable time (“Non-billable hours”)." in said


_LISTS = {"Invoices", "Time", "Billed work", "Open work", "Open invoices"}


def test_each_sheet_prints_large_enough_and_wide_sheets_repeat_their_first_column(book):
    for sheet in book.worksheets[2:-1]:
        across = sheet.page_setup.fitToWidth or 1
        widths = [sheet.column_dimensions[get_column_letter(place)].width for place in range(1, sheet.max_column + 1)]
        assert max(widths[1:]) < 61
        is_list = sheet.title in _LISTS
        assert is_list or sum(widths) / across <= 240, sheet.title
        assert sheet.print_title_cols == ("$A:$A" if across > 1 else None), sheet.title
    assert book["Stale work and matters"].page_setup.fitToWidth == 2
    assert book["Hours"].print_title_cols is None


@pytest.fixture(scope="module")
def written(content) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(content))


def formulas(page) -> dict[str, str]:
    return {cell.coordinate: cell.value for row in page.iter_rows() for cell in row if cell.data_type == "f"}


@pytest.fixture(scope="module")
def tables(october) -> list[ReportTable]:
    shown = sheets(october)
    return [*shown, *(list_sheet(each).tables[0] for each in details(october, shown))]


def test_libreoffice_calculates_the_figures_of_the_frames(content, written, tables, october, tmp_path):
    if not libreoffice.COMMAND:
        wanted = "no LibreOffice on this machine: apt-get install --no-install-recommends libreoffice-calc-nogui"
        pytest.fail(wanted) if os.environ.get("CI") else pytest.skip(wanted)
    calculated = libreoffice.recalculated(content, tmp_path)
    checked = 0
    for table in tables:
        place = SheetRange(table)
        page, name = written[place.name], place.name
        for each in table.columns:
            letter, values = place.letter(each.name), [*table.rows[each.name]]
            cells = [f"{letter}{place.first + row}" for row in range(len(values))]
            if len(table.total) and each.name in table.total:
                cells, values = [*cells, f"{letter}{place.total}"], [*values, table.total[each.name].iloc[0]]
            for cell, value in zip(cells, values, strict=True):
                if page[cell].data_type == "f":
                    checked += 1
                    found = calculated[name][cell].value
                    wanted = pytest.approx(value, abs=1e-6) if pd.notna(value) and math.isfinite(value) else None
                    assert (found or None if wanted is None else found) == wanted, (name, cell, page[cell].value)
    first = {row[0].strip(): row[1:] for row in calculated["In figures"].iter_rows(values_only=True) if row[0]}
    for each in figures(october):
        found = [first[each.name][place] for place in (0, 1, 3, 5, 6)]
        assert found == [pytest.approx(value) if value == value else None for value in each.by_period], each.name
    changes = formulas(written["In figures"])
    assert {cell[0] for cell in changes} >= {*"BCDFGI"}
    shown = openpyxl.load_workbook(io.BytesIO(content), data_only=True, read_only=True)["In figures"]
    cached = {cell.coordinate: cell.value for row in shown for cell in row if cell.value is not None}
    for cell in changes:
        assert calculated["In figures"][cell].value == pytest.approx(cached[cell], abs=1e-6), cell
    assert checked + len(changes) == sum(len(formulas(page)) for page in written)
    assert checked > 4000


def test_totals_ratios_and_changes_are_formulas(written, tables):
    """Only totals that count more than the sheet shows, or ratios of parts that it does not show, are numbers."""
    numbers = set()
    for table in tables:
        place = SheetRange(table)
        page = written[place.name]
        for each in table.columns:
            cell = page[f"{place.letter(each.name)}{place.total}"]
            if (each.adds_up or each.ratios) and cell.data_type == "n" and cell.value:
                numbers.add((table.title, each.title))
            parts = [pair for pair in each.ratios if {*pair} <= {*(other.name for other in table.columns)}]
            if parts or each.formula.startswith(("now_", "worked_amount -", "buckets")):
                below = [page[f"{place.letter(each.name)}{place.first + row}"] for row in range(len(table.rows))]
                assert not [one.coordinate for one in below if one.data_type != "f" and one.value is not None], each
    assert numbers == {
        ("Change of realization by client", "Ratio, Sep 2026"),
        ("Change of realization by client", "Ratio, Oct 2026"),
        ("Utilization by timekeeper", "Available hours"),
        ("Utilization by timekeeper", "Idle hours"),
        ("Days from work to invoice by responsible lawyer", "Mean lag"),
        ("Days from work to invoice by responsible lawyer", "Lag weighted by value"),
        ("Days from work to invoice by responsible lawyer", "Lag weighted by hours"),
        ("Days from work to entry by timekeeper", "Share on the same day"),
        ("Days from work to entry by timekeeper", "Share by the next day"),
        ("Days from work to entry by timekeeper", "Share entered late"),
        ("New business by practice area", "New clients"),
        ("New business by practice area", "Clients without work"),
    }


def test_the_figures_of_a_client_or_person_are_sums_of_the_entries_that_name_it(written, tables):
    """Excel takes `<` at the start of a name as more than text, so the figures of that client stay numbers."""
    for title, source in {
        "Realization by client": "Realization by entry",
        "Realization by practice area": "Realization by entry",
        "Utilization by timekeeper": "Utilization by entry",
        "Work in progress by client": "Work in progress by item",
        "Receivables by client": "Receivables by invoice",
    }.items():
        table = next(each for each in tables if each.title == title)
        place = SheetRange(table)
        behind = next(each for each in tables if each.title == source)
        for each in [each for each in behind.columns if each.name in table.rows and not each.formula]:
            for row, name in enumerate(table.rows[table.label]):
                cell = written[place.name][f"{place.letter(each.name)}{place.first + row}"]
                if name == HOSTILE_NAME:
                    assert cell.data_type == "n"
                else:
                    wanted = f"=SUMIFS('{SheetRange(behind).name}'!"
                    assert cell.value.startswith(wanted), (title, name, each.title, cell.value)


def test_records_that_are_too_many_for_a_sheet_are_left_out(tables, october, monkeypatch):
    monkeypatch.setattr("billframes.report.sheet_plan.MOST_ROWS", 500)
    left = {each.title for each in details(october, sheets(october))}
    assert left == {"Receivables by invoice"}


def test_no_sheet_shows_ids(written):
    found = [cell for page in written for row in page.iter_rows() for cell in row if UUID.search(str(cell.value))]
    assert not found


def table_of(rows: pd.DataFrame, total: pd.DataFrame, *names: str) -> SheetFormulas:
    columns = tuple(measures()[name] for name in names)
    labels = ("client_name",)
    table = ReportTable(title="T", label=labels[0], labels=labels, rows=rows, total=total, columns=columns)
    return SheetFormulas(SheetRange(table))


def test_a_figure_that_its_formula_would_not_give_stays_a_number():
    rows = pd.DataFrame({"client_name": ["A", "B"], "worked_amount": [100.0, 50.0], "billed_amount": [90.0, 40.0]})
    rows["write_down_amount"] = [10.0, 11.0]
    total = pd.DataFrame([{"worked_amount": 150.0, "billed_amount": 131.0}])
    found = table_of(rows, total, "worked_amount", "billed_amount", "write_down_amount")
    assert found.in_row("write_down_amount", 0) == ""
    assert found.in_total(measures()["worked_amount"]) == "=SUM(B$2:B$3)"
    assert found.in_total(measures()["billed_amount"]) == ""


def test_a_ratio_of_0_has_a_formula_and_what_follows_from_an_unknown_figure_is_empty():
    rows = pd.DataFrame({"client_name": ["A", "B", "C"], "worked_amount": [100.0, 0.0, None]})
    rows["billed_amount"] = [90.0, 40.0, 10.0]
    rows["billing_realization"] = [0.9, None, None]
    found = table_of(rows, rows.iloc[:0], "worked_amount", "billed_amount", "billing_realization")
    given = [found.in_row("billing_realization", row) for row in range(3)]
    assert given == ['=IFERROR(C2/B2,"")', '=IFERROR(C3/B3,"")', ""]
