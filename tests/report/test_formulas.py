"""The formulas of the workbook, calculated by LibreOffice: they give the figures of the frames."""

from __future__ import annotations

import io
import math
import os
import re

import openpyxl
import pandas as pd
import pytest

from billframes.analysis.declare.lookup import measures
from billframes.report.definitions import sheet_name
from billframes.report.details import details
from billframes.report.figures import figures
from billframes.report.formulas import SheetFormulas
from billframes.report.outline import sheets
from billframes.report.places import SheetRange
from billframes.report.table_spec import ReportTable
from billframes.report.workbook import workbook
from tests.report import libreoffice
from tests.report.conftest import HOSTILE_NAME

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


@pytest.fixture(scope="module")
def content(october) -> bytes:
    return workbook(october)


@pytest.fixture(scope="module")
def written(content) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(content))


def formulas(page) -> dict[str, str]:
    return {cell.coordinate: cell.value for row in page.iter_rows() for cell in row if cell.data_type == "f"}


@pytest.fixture(scope="module")
def tables(october) -> list[ReportTable]:
    shown = sheets(october)
    return [*shown, *details(october, shown)]


@pytest.mark.slow
def test_libreoffice_calculates_the_figures_of_the_frames(content, written, tables, october, tmp_path):
    if not libreoffice.COMMAND:
        wanted = "no LibreOffice on this machine: apt-get install --no-install-recommends libreoffice-calc-nogui"
        pytest.fail(wanted) if os.environ.get("CI") else pytest.skip(wanted)
    calculated = libreoffice.recalculated(content, tmp_path)
    checked = 0
    for table in tables:
        page, name = written[sheet_name(table.title)], sheet_name(table.title)
        place = SheetRange(table)
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
    first = {row[0].strip(): row[1:] for row in calculated["Key points"].iter_rows(values_only=True) if row[0]}
    for each in figures(october):
        found = [first[each.name][place] for place in (0, 1, 3, 5, 6)]
        assert found == [pytest.approx(value) if value == value else None for value in each.by_period], each.name
    changes = formulas(written["Key points"])
    assert {cell[0] for cell in changes} >= {*"BCDFGI"}
    cached = openpyxl.load_workbook(io.BytesIO(content), data_only=True)["Key points"]
    for cell in changes:
        assert calculated["Key points"][cell].value == pytest.approx(cached[cell].value, abs=1e-6), cell
    assert checked + len(changes) == sum(len(formulas(page)) for page in written)
    assert checked > 4000


def test_totals_ratios_and_changes_are_formulas(written, tables):
    """Of what a column declares, only totals that count more than the sheet shows are numbers."""
    numbers = set()
    for table in tables:
        page = written[sheet_name(table.title)]
        place = SheetRange(table)
        for each in table.columns:
            cell = page[f"{place.letter(each.name)}{place.total}"]
            if (each.adds_up or each.ratios) and cell.data_type == "n" and cell.value:
                numbers.add((table.title, each.title))
            parts = [pair for pair in each.ratios if {*pair} <= {*(other.name for other in table.columns)}]
            if parts or each.formula.startswith(("now_", "worked_amount -", "buckets")):
                below = [page[f"{place.letter(each.name)}{place.first + row}"] for row in range(len(table.rows))]
                assert not [one.coordinate for one in below if one.data_type != "f" and one.value is not None], each
    assert numbers == {
        ("Change of realization by client", "Ratio before"),
        ("Change of realization by client", "Ratio after"),
        ("Utilization by timekeeper", "Available hours"),
        ("Utilization by timekeeper", "Idle hours"),
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
        "Exposure by client": "Exposure by matter",
    }.items():
        table = next(each for each in tables if each.title == title)
        place = SheetRange(table)
        behind = next(each for each in tables if each.title == source)
        for each in [each for each in behind.columns if each.name in table.rows and not each.formula]:
            for row, name in enumerate(table.rows[table.label]):
                cell = written[title][f"{place.letter(each.name)}{place.first + row}"]
                if name == HOSTILE_NAME:
                    assert cell.data_type == "n"
                else:
                    assert cell.value.startswith(f"=SUMIFS('{source}'!"), (title, name, each.title, cell.value)


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
