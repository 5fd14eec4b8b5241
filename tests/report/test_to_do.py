"""The to-do list of a part of the firm has that part's rows of the firm's list, and its amounts are said once."""

from __future__ import annotations

import copy
import datetime as dt
import re
from collections import Counter
from itertools import groupby

import pytest
from bs4 import BeautifulSoup

from billframes import report
from billframes._shared.format import format_number
from billframes.config.firm import FirmSettings
from billframes.report import section_findings
from billframes.report.key_points import key_points
from billframes.report.month import Month
from billframes.report.scope import all_scopes
from billframes.report.to_do import _KINDS, _drafts, _missing_time, draft_bills, to_do
from tests.firms import add, change, make_firm
from tests.report.test_firms import report_of

OF_MATTERS = [kind for kind in _KINDS if kind is not _missing_time]


def rows_of(month: Month, kind) -> list[tuple]:
    return [(each.person, each.what, each.detail, round(each.amount, 2)) for each in kind(month)]


@pytest.fixture(scope="module")
def shared() -> Month:
    """A firm of two lawyers of one name, each with a matter of a client; every invoice bills work of both matters."""
    firm = change(
        make_firm(taxes=(0.0,)),
        "users",
        name=lambda _row: "Ann Lee",
    )
    firm = change(firm, "invoices", due_date=lambda row: row["invoice_date"], balance=lambda row: row["amount"])
    second = {"matter_id": "m1", "name": "Second", "responsible_id": "u1"}
    firm = change(add(firm, "matters", second), "matters", responsible_name=lambda _row: "Ann Lee")
    # One of the two people works on the second matter, for three quarters of the other's rate.
    firm = change(
        firm,
        "time_entries",
        matter_id=lambda row: "m1" if row["time_entry_id"].startswith("t0_1") else row["matter_id"],
    )
    return report_of(firm)


@pytest.mark.slow
@pytest.mark.parametrize("kind", OF_MATTERS, ids=lambda kind: kind.__name__)
def test_the_rows_of_all_lawyers_are_the_rows_of_the_firm(october, shared, kind):
    for month in (october, shared):
        lawyers = [month.only(each.code) for each in all_scopes(month.firm_book, "responsible")]
        found = Counter(row for each in lawyers for row in rows_of(each, kind))
        assert found == Counter(rows_of(month, kind))


@pytest.mark.slow
@pytest.mark.parametrize("key", ["client", "practice_area"])
def test_amounts_of_all_clients_or_practice_areas_add_up_to_the_firms(october, key):
    months = [october.only(each.code) for each in all_scopes(october.firm_book, key)]
    for kind in OF_MATTERS:
        whole = sum(each.amount for each in kind(october))
        assert sum(each.amount for month in months for each in kind(month)) == pytest.approx(whole, abs=0.005), kind


def test_a_client_with_two_lawyers_is_called_once_about_all_of_it_by_the_one_with_most(shared):
    (called,) = [each for each in to_do(shared) if each.what.startswith("Call")]
    owed = shared.of("aging", "responsible").set_index("responsible_name")["overdue"]
    assert len(owed) == 1 or called.amount > owed.max()
    assert called.amount == pytest.approx(shared.of("aging")["overdue"].iloc[0])
    assert called.person in {"Ann Lee (p0@firm.example)", "Ann Lee (p1@firm.example)"}
    points = [each.text for each in key_points(shared) if "overdue" in each.text]
    assert any(format_number(called.amount, "money") in each for each in points)


def test_it_is_sorted_by_person_and_what_each_row_is_worth_and_hours_come_last(october):
    rows = to_do(october)
    worth = lambda each: (each.unit != "money", -each.amount)  # noqa: E731
    people = [(person, [*mine]) for person, mine in groupby(rows, key=lambda each: each.person)]
    assert len(people) == len({person for person, _ in people}) < len(rows)
    for _, mine in people:
        assert mine == sorted(mine, key=worth)
    assert people == sorted(people, key=lambda each: worth(each[1][0]))


def test_the_page_names_a_person_once(october):
    page = BeautifulSoup(report.page_one(october)._repr_html_(), "html.parser")
    shown = [cell.get_text(strip=True) for cell in page.select(".to-do tbody th")]
    assert [each for each in shown if each] == [*dict.fromkeys(each.person for each in to_do(october))]
    assert len(shown) == len(to_do(october))


def test_draft_bills_name_their_clients(october):
    for each in _drafts(october):
        assert each.detail.partition(", the oldest")[0].partition(", of ")[0]
        assert not each.detail.startswith(("the oldest", "of "))


@pytest.mark.slow
def test_a_matter_over_its_budget_is_on_the_list_of_its_lawyer(october):
    book = copy.copy(october.book)
    work = october.result("wip", by="matter", as_of=october.as_of).sort_values("total").iloc[-1]
    book.settings = FirmSettings(budgets={work["matter_id"]: 1.0})
    month = Month(october.first, october.last, october.as_of, book)
    (row,) = [each for each in to_do(month, most=0) if each.what == "Agree a new budget"]
    assert row.amount >= work["total"] - 1
    assert row.person == october.book.matters.set_index("matter_id").loc[work["matter_id"], "responsible_name"]


def test_the_report_says_that_bills_are_not_the_value_of_the_work_on_them(october):
    bills, work = sum(each.amount for each in _drafts(october)), october.of("wip")["prebill_amount"].iloc[0]
    assert bills != pytest.approx(work)
    text = report.work_in_progress(october)._repr_html_()
    assert f"The to-do list has the amounts of these bills, {format_number(bills, 'money')} in all" in text
    assert f">{format_number(work, 'money')}<" in text


def test_the_fees_of_a_client_have_its_draft_bills_as_the_next_step(october):
    found = section_findings.fees(october)
    name = re.match(r"Fees billed to (.+) (?:rose|fell) by ", found.headline)[1]
    bills = draft_bills(october)
    amount = bills.loc[bills["client_name"] == name, "invoice_amount"].sum()
    said = re.findall(
        r"(\w[^:;]*): send (\d+) draft bills? to this client \((?:bills|a bill) of ([\d,]+)\)", found.next
    )
    assert sum(int(each.replace(",", "")) for *_, each in said) == pytest.approx(amount, abs=len(said))


def test_hours_for_a_client_with_overdue_invoices_are_those_of_at_most_90_days(october):
    said = section_findings.receivables(october).cause
    name, hours = re.search(r"Work for (.+?) continued: ([\d.,]+) hours in the last 90 days", said).groups()
    entries = october.book.time_entries
    recent = entries[(entries["client_name"] == name) & entries["date"].between("2026-08-03", "2026-10-31")]
    for_client = recent[recent["billing_type"].isin(["billable", "fixedFee"])]
    assert hours == format_number(for_client["hours"].sum(), "hours")


@pytest.mark.slow
def test_hours_for_a_client_count_from_the_oldest_due_date_if_that_is_recent():
    firm = change(make_firm(taxes=(0.0,)), "invoices", due_date=lambda row: row["due_date"])
    firm = change(
        firm, "invoices", balance=lambda row: row["amount"] if row["invoice_date"] >= dt.date(2026, 9, 1) else 0.0
    )
    month = report_of(firm)
    said = section_findings.receivables(month).cause
    # The invoice of 5 September was due on 5 October; 8 days of work follow, of two people.
    assert "102.4 hours since the oldest invoice was due." in said
