"""Reports on one client, practice area or lawyer: what counts in each, and that all of them add up to the firm's."""

from __future__ import annotations

import copy
from dataclasses import replace

import pandas as pd
import pytest

from billframes import report
from billframes._shared.format import format_number
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.report import report_tables, sections as sections_module
from billframes.report.key_points import key_points
from billframes.report.scope import Scope, all_scopes, file_names, find_scope
from billframes.report.to_do import to_do

FIGURES = {
    "hours": (lambda month: month.of("utilization"), ("client_hours", "total_hours")),
    "fees": (
        lambda month: month.of("realization"),
        ("worked_amount", "billed_amount", "settled_amount", "billable_hours", "left_out_amount"),
    ),
    "receivables": (lambda month: month.of("aging"), ("current", "91+", "total", "overdue")),
    "work in progress": (lambda month: month.of("wip"), ("0-30", "91+", "total", "prebill_amount", "hours")),
    "a year's fees": (lambda month: month.of("lockup"), ("fees_amount", "wip_amount", "receivable_amount")),
}


def scopes_of(october, key):
    return [october.only(each.code) for each in all_scopes(october.firm_book, key)]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["client", "responsible"])
def test_all_scopes_and_the_unassigned_one_add_up_to_the_firm_to_the_cent(october, key):
    months = scopes_of(october, key)
    assert months[-1].scope == Scope(key, None, "Unassigned")
    for name, (figure, columns) in FIGURES.items():
        whole, each = figure(october), pd.concat([figure(month) for month in months])
        for column in columns:
            assert each[column].sum() == pytest.approx(whole[column].iloc[0], abs=0.005), (name, column)
    assert sum(len(month.book.time_entries) for month in months) == len(october.book.time_entries)


def test_credit_notes_without_items_are_unassigned_and_not_lost(october):
    unassigned = october.only("responsible:")
    assert not unassigned.is_empty
    assert unassigned.of("realization")["billed_amount"].iloc[0] < 0


def test_a_responsible_lawyers_report_counts_all_work_on_the_matters_whoever_did_it(october):
    month = october.only("responsible:Miriam Harrow")
    matters = october.book.matters
    own = set(matters.loc[matters["responsible_name"] == "Miriam Harrow", "matter_id"])
    entries = october.book.time_entries
    mine = entries[entries["matter_id"].isin(own) & entries["date"].between("2026-10-01", "2026-10-31")]
    assert month.of("utilization")["total_hours"].iloc[0] == pytest.approx(mine["hours"].sum())
    assert len(set(mine["user_id"])) > 1
    assert month.of("utilization")["capacity_hours"].isna().all()


@pytest.mark.slow
def test_each_report_counts_its_matters_share_of_an_invoice(october):
    invoices = october.firm_book.reconcile(start="2024-01-01", end="2026-10-31")
    several = invoices.query("matter_count > 1 and balance > 0")
    assert len(several)
    owed = [month.of("aging")["total"].iloc[0] for month in scopes_of(october, "responsible")]
    assert sum(owed) == pytest.approx(october.of("aging")["total"].iloc[0], abs=0.005)
    # An invoice for several matters is in several reports.
    invoices = [month.book.invoices["balance"].sum() for month in scopes_of(october, "responsible")]
    assert sum(invoices) >= sum(owed)


def test_a_clients_report_has_its_invoices_in_full(october):
    owed = october.of("aging", "client").sort_values("total").iloc[-1]
    month = october.only(f"client:{owed['client_id']}")
    assert month.of("aging")["total"].iloc[0] == owed["total"]
    assert set(month.book.invoices["client_id"]) == {owed["client_id"]}
    assert set(month.result("reconcile", start=month.first, end=month.last)["client_id"]) <= {owed["client_id"]}


def test_a_scope_without_data_is_a_report_of_zeros_that_says_so(october):
    month = october.only("client:")
    assert month.is_empty
    assert month.of("realization")["billed_amount"].tolist() == [0.0]
    assert month.of("realization")["billing_realization"].isna().all()
    assert "There are no data for October 2026" in report.cover(month)._repr_html_()
    assert "This report covers only items without a client." in report.notes(month)._repr_html_()


def test_a_part_of_a_firm_with_budgets_has_key_points(october):
    book = copy.copy(october.book)
    book.settings = FirmSettings(budgets={book.matters["matter_id"].iloc[0]: 1000.0})
    month = report.Month(october.first, october.last, october.as_of, book)
    assert key_points(month.only("practice_area:Litigation"))


@pytest.mark.slow
def test_sections_of_a_scope_show_hours_but_not_utilization(october):
    month = october.only("practice_area:Litigation")
    made = [report.cover(month), report.headlines(month), report.utilization(month), report.trends(month)]
    cover, headlines, hours, trends = (section._repr_html_() for section in made)
    assert "Practice area: Litigation" in cover
    assert "<dt>Utilization</dt>" not in headlines
    assert "Hours by timekeeper" in hours
    assert "Available hours" not in trends
    assert "the firm’s report by practice area" in report.notes(month)._repr_html_()


def test_a_client_is_found_by_reference_name_or_id_and_a_shared_name_is_refused(october):
    clients = october.book.clients
    alone = clients[~clients["name"].duplicated(keep=False) & clients["reference"].notna()].iloc[0]
    for text in (alone["reference"], alone["name"].upper(), alone["client_id"], f" {alone['name']} "):
        assert find_scope(october.firm_book, "client", text).id == alone["client_id"]
    twice = clients[clients["name"].duplicated(keep=False)].iloc[0]
    with pytest.raises(ParameterError, match=rf"2 clients fit .*give one of .*{twice['reference']}"):
        find_scope(october.firm_book, "client", twice["name"])
    with pytest.raises(ParameterError, match="No client has the name, reference or id 'Nobody'"):
        find_scope(october.firm_book, "client", "Nobody")
    with pytest.raises(ParameterError, match=r"Did you mean 'Granite Mutual Insurance Company'\?"):
        find_scope(october.firm_book, "client", "granit mutal")
    with pytest.raises(ParameterError, match=r"Did you mean 'Willowbank Health'\?"):
        find_scope(october.firm_book, "client", "Wilowbank Helth")


def test_a_lawyer_is_found_by_e_mail_address(october):
    users = october.book.users.set_index("name")
    assert find_scope(october.firm_book, "responsible", users.loc["Miriam Harrow", "email"]).name == "Miriam Harrow"
    with pytest.raises(ParameterError, match="only='lawyer:x' takes client:…, practice_area:…, responsible:…"):
        october.only("lawyer:x")


def test_files_of_people_with_one_name_differ_and_no_name_changes_the_folder():
    names = ["Ann Lee", "Ann Lee", "../../etc", "李", "李"]
    choices = [Scope("responsible", f"{place}0000000-x", name) for place, name in enumerate(names)]
    files = file_names(choices, "2026-10", "pdf")
    assert len(set(files)) == len(files)
    assert all(file.startswith("billframes-2026-10-responsible-") and "/" not in file for file in files)
    assert files[2] == "billframes-2026-10-responsible-etc.pdf"


@pytest.mark.slow
def test_descriptions_are_shown_only_in_the_section_of_narratives_and_are_escaped(october, monkeypatch):
    month = october.only("practice_area:Litigation")
    narrative = report_tables.time_entries(month).rows["description"].iloc[0]
    sections = [report.utilization(month), report.realization(month), report.receivables(month), report.notes(month)]
    assert not any(narrative in section._repr_html_() for section in sections)
    assert narrative in report.narratives(month)._repr_html_()
    table = report_tables.time_entries(month)
    hostile = replace(table, rows=table.rows.head(1).assign(description="<script>alert(1)</script>"))
    monkeypatch.setattr(sections_module, "time_entries", lambda _month: hostile)
    assert "&lt;script&gt;alert(1)" in report.narratives(month)._repr_html_()


def test_lock_up_counts_work_in_progress_and_shows_contingency_beside_it(october):
    lockup, work = october.of("lockup").iloc[0], october.of("wip").iloc[0]
    assert lockup["contingent_amount"] == work["contingent_amount"] > 0
    assert lockup["wip_amount"] == work["total"]
    shown = report.work_in_progress(october)._repr_html_()
    for amount in (work["total"], work["contingent_amount"]):
        assert f">{format_number(amount, 'money')}<" in shown


@pytest.mark.slow
def test_the_first_page_of_a_part_of_the_firm_says_only_what_is_true_of_the_part(october):
    invoices, matters = october.book.invoices, october.book.matters
    for code in ("responsible:Miriam Harrow", "practice_area:Family", "practice_area:Litigation", "responsible:"):
        month = october.only(code)
        assert month.has_invoices
        own = matters[matters[f"{month.scope.key}_id"] == month.scope.id] if month.scope.id else matters.iloc[:0]
        mine = set(month.book.invoices["client_id"].dropna()) | set(own["client_id"])
        clients = set(invoices[invoices["client_id"].isin(mine)]["client_name"])
        called = [each.what.removeprefix("Call ") for each in to_do(month) if each.what.startswith("Call ")]
        assert [each for each in called if each.partition(" (")[0] not in clients] == []
        assert bool(called) == bool(month.scope.id)
        assert not [each for each in key_points(month) if "Nothing was billed" in each.text]
        if month.scope.key == "responsible":
            assert {each.person for each in to_do(month)} <= {month.scope.name}
        assert "To do" in report.page_one(month)._repr_html_()
