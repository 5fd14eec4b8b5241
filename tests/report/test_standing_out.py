"""Further sections are on the page if something stands out, and in the workbook in any month."""

from __future__ import annotations

import copy
import sqlite3

import pytest
from markupsafe import escape

from billframes import report
from billframes.config.firm import FirmSettings
from billframes.report import report_tables
from billframes.report.month import Month
from billframes.report.outline import OUTLINE
from billframes.report.page_table import page_table
from billframes.report.section_spec import summary_of
from billframes.report.table_spec import Table
from tests.report.conftest import sheets

FURTHER = [each for each in OUTLINE if each.stands_out]
DAYS = """
SELECT SUM(hours * (julianday(invoice_date) - julianday(date))) / SUM(hours)
FROM time_entry JOIN invoice USING (invoice_id)
WHERE billing_type = 'billable' AND invoice_state = 'final' AND invoice_date LIKE ?
"""


@pytest.mark.parametrize("section", FURTHER, ids=lambda each: each.name)
def test_a_further_section_is_on_the_page_with_its_reason_only_if_it_stands_out(october, section):
    reason, shown = section.stands_out(october), section(october)
    assert bool(reason) == (shown is not None)
    assert not reason or str(escape(reason)) in shown._repr_html_()


def test_october_has_both_sections_that_stand_out_and_sections_that_do_not(october):
    found = {each.name for each in FURTHER if each.stands_out(october)}
    assert {"billing_lag", "concentration"} <= found
    assert not {"timekeeping_lag", "origination"} & found


@pytest.mark.slow
def test_the_workbook_has_the_tables_of_all_further_sections(october):
    titles = {each.title for each in sheets(october)}
    assert all(table.title in titles for each in FURTHER for table in each.made(october))


def test_a_part_of_the_firm_has_no_further_section(october):
    part = october.only("practice_area:Litigation")
    assert [each(part) for each in FURTHER] == [None] * len(FURTHER)


def test_the_days_from_work_to_invoice_equal_the_database(firm, october):
    with sqlite3.connect(firm.database) as database:
        now, then = (database.execute(DAYS, [f"{year}-10-%"]).fetchone()[0] for year in (2026, 2025))
    (section,) = (each for each in FURTHER if each.name == "billing_lag")
    assert f"after {now:.1f} days on average (October 2025: {then:.1f})" in section.stands_out(october)
    assert 'Lag weighted by hours, <span class="unit">days</span>' in section(october)._repr_html_()


def test_a_matter_is_one_row_of_the_stale_matters_on_the_page(october):
    (section,) = (each for each in OUTLINE if each.name == "stale")
    (table,) = section.made(october)
    assert table.rows["matter_id"].duplicated().any()
    assert not table.page_rows()["matter_id"].duplicated().any()
    # The same finding of several is counted, and all counts are of matters.
    fees = table.rows[table.rows["finding"] == "open fixed fee"]
    twice = fees[fees["matter_id"].duplicated()]["all_findings"]
    assert len(twice)
    assert twice.str.contains(r"\d open fixed fees").all()
    page, matters = section(october)._repr_html_(), table.rows["matter_id"].nunique()
    assert f"</h2> {matters} matters</summary>" in page
    assert f"The table has the first 7 of {matters} matters;" in page


def test_a_stale_matter_with_a_budget_is_only_in_the_table_of_budgets_on_the_page(october):
    section = next(each for each in OUTLINE if each.name == "stale")
    (before,) = section.made(october)
    assert not before.elsewhere
    matter = before.page_rows()["matter_id"].iloc[0]
    book = copy.copy(october.book)
    book.settings = FirmSettings(budgets={matter: 1000.0})
    month = Month(october.first, october.last, october.as_of, book)
    (table,) = section.made(month)
    assert table.elsewhere == {matter}
    assert list(table.rows["matter_id"]) == list(before.rows["matter_id"])
    assert matter not in set(table.page_rows()["matter_id"])
    assert len(table.page_rows()) == len(before.page_rows())
    row = report_tables.budgets(month).page_rows().set_index("matter_id").loc[matter]
    assert row["all_findings"] == before.rows["all_findings"].iloc[0]
    assert "Matters of the table Budgets are only there" in section(month)._repr_html_()


def test_missing_time_is_one_row_a_person_on_the_page_and_one_a_day_in_the_workbook(october):
    people, days = report_tables.missing_time(october), report_tables.missing_time_by_day(october)
    assert not people.rows["user_id"].duplicated().any()
    assert len(people.rows) < len(days.rows) == people.total["short_days"].iloc[0]
    assert people.total["missing_hours"].iloc[0] == pytest.approx(days.rows["missing_hours"].sum())
    assert {people.title, days.title} <= {each.title for each in sheets(october)}


def test_a_figure_below_its_limit_is_marked_and_its_bar_is_red_from_the_floor(october):
    table = report_tables.realization("client")(october)
    shown = page_table(table, table.rows, limits={"billing_realization": 0.9})
    ratio = next(place for place, each in enumerate(shown.headings[1:]) if each.text == "Billing realization")
    below = (table.rows["billing_realization"] < 0.9).tolist()
    assert [row.cells[ratio].is_breach for row in shown.rows] == below
    assert [any(part.is_red for part in row.cells[ratio + 1].bar) for row in shown.rows] == below
    assert any(below)
    assert all(part.left + part.width <= 100.01 for row in shown.rows for part in row.cells[ratio + 1].bar)


def test_the_largest_of_the_ranked_column_has_the_longest_bar(october):
    table = report_tables.realization("client")(october)
    shown = page_table(table, table.rows)
    assert shown.headings[2].style == "bar"
    widths = [sum(part.width for part in row.cells[1].bar) for row in shown.rows]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 100.0


def test_what_a_table_counts_is_said_without_what_it_does_by_another_key(october):
    said = {
        by: " ".join(summary_of(october, each))
        for by in ("client", "originator")
        for each in [Table(analysis="contribution", by=by)(october)]
    }
    assert "By originator, it credits" in said["originator"]
    assert said["client"] == said["originator"].partition(" By ")[0]
    assert "hours" not in report.trends(october)._repr_html_().partition("What this counts")[2]


def test_fees_by_originator_add_up_to_the_fees_of_the_month(october):
    (section,) = (each for each in FURTHER if each.name == "origination")
    (table,) = section.made(october)
    (total,) = october.result("contribution", by=None, start=october.first, end=october.last)["fees_amount"]
    assert table.total["fees_amount"].tolist() == pytest.approx([total])
    assert table.rows["fees_amount"].sum() == pytest.approx(total)
