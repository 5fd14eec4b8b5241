"""E-billing, work in progress, write-downs and overdue invoices of the report, compared with the sandbox's database."""

from __future__ import annotations

import io
import re
import sqlite3
from contextlib import closing

import openpyxl
import pandas as pd
import pytest

from billframes import report
from billframes.cli import main
from billframes.ebilling import in_report
from billframes.ebilling.in_report import EBilling, check_e_billing
from billframes.report import sheet_plan, workbook as writing


def findings(*rows):
    return pd.DataFrame(rows, columns=["item_id", "matter_id", "responsible_name", "problem"])


FOUND = EBilling(
    findings(
        ("t1", "m1", "Ada", "no task code"), ("t1", "m1", "Ada", "no activity code"),
        ("t2", "m2", "Ben", "no task code"),
        ("t3", "m1", "Ada", "no task code"), ("t4", "m3", None, "no task code"),
    ),
    frozenset({("x1", "m1"), ("x2", "m2")}), needed=True,
)  # fmt: skip


def test_findings_are_counted_under_their_responsible_lawyers():
    assert FOUND.rejected == 5
    assert "has 5 findings that clients’ portals reject." in FOUND.summary
    assert "By responsible lawyer: Ada 3, Ben 1, Unassigned 1. The codes of 2 expenses" in FOUND.summary


def test_a_scope_has_the_findings_of_its_matters():
    part = FOUND.for_matters(pd.DataFrame({"matter_id": ["m2", "m1"], "ledes_enabled": [True, None]}))
    assert (part.rejected, part.unknown_codes) == (1, frozenset({("x2", "m2")}))
    assert "has 1 finding that clients’ portals reject." in part.summary
    clean = FOUND.for_matters(pd.DataFrame({"matter_id": ["m9"], "ledes_enabled": [True]}))
    assert clean.needed
    assert clean.summary.endswith("has no findings that clients’ portals reject.")


def test_without_matters_that_need_ledes_the_summary_is_empty():
    assert EBilling().summary == ""
    assert FOUND.for_matters(pd.DataFrame({"matter_id": ["m2"], "ledes_enabled": [False]})).summary == ""


MISSING = """
    select t.time_entry_id from time_entry t join matter m using (matter_id) left join invoice i using (invoice_id)
    where t.date between '2026-10-01' and '2026-10-31' and coalesce(i.invoice_state, '') <> 'final'
        and t.billing_type <> 'nonBillable' and m.ledes_enabled
        and (m.ledes_task_required and t.task_code is null or m.ledes_activity_required and t.activity_code is null)
    union all
    select e.expense_id from expense e join matter m using (matter_id) left join invoice i using (invoice_id)
    where e.date between '2026-10-01' and '2026-10-31' and coalesce(i.invoice_state, '') <> 'final'
        and m.ledes_enabled and m.ledes_expense_required and e.expense_code is null
    """


def test_items_without_a_required_code_equal_the_database(october, connected, firm):
    found = check_e_billing(october.firm_book, october.first, october.last)
    assert found.needed
    assert found.unknown_codes == frozenset()
    with closing(sqlite3.connect(firm.database)) as database:
        wanted = {item for (item,) in database.execute(MISSING)}
    assert wanted
    assert set(found.findings.loc[found.findings["problem"] == "missing", "item_id"]) == wanted


@pytest.mark.slow
def test_the_report_the_workbook_and_the_command_have_one_number_of_findings(october, firm, monkeypatch, capsys):
    monkeypatch.setenv("BILLFRAMES_BASE_URL", firm.base_url)
    monkeypatch.setenv("BILLFRAMES_TOKEN", firm.tokens["full"])
    assert main(["ledes", "--check", "2026-10"]) == 1
    (said,) = re.findall(r"(\d+) findings? that portals reject", capsys.readouterr().out)
    tables = tuple(sheet_plan.stacked("E-billing", [in_report._table(october)]))
    only = [sheet_plan.Sheet("E-billing", sheet_plan.LISTS, "", tables)]
    monkeypatch.setattr(writing, "planned", lambda *_given, **_options: only)
    sheet = openpyxl.load_workbook(io.BytesIO(writing.workbook(october)), data_only=True)["E-billing"]
    column = [row[-1] for row in sheet.iter_rows(values_only=True)]
    numbers = [each for each in column[column.index("Findings") + 1 :] if each is not None]
    assert int(said) == october.parts["ebilling"].rejected == sum(numbers) > 0
    assert f"has {said} finding" in october.parts["ebilling"].summary


def test_work_in_progress_by_age_equals_the_database(october, firm):
    with closing(sqlite3.connect(firm.database)) as database:
        wanted = dict(database.execute(OPEN))
    row = october.of("wip").iloc[0]
    names = ("0-30", "31-60", "61-90", "91+", "contingent_amount")
    assert {name: row[name] for name in names} == pytest.approx(wanted, abs=0.005)


OPEN = """
    with items as (
      select date, t.amount, invoice_id, matter_id from time_entry t where billing_type = 'billable'
      union all select date, amount, invoice_id, matter_id from expense
      union all select date, amount, invoice_id, matter_id from fixed_fee
    ), aged as (
      select items.amount, matter_type, julianday('2026-10-31') - julianday(date) as days
      from items left join invoice i using (invoice_id) left join matter on matter.matter_id = items.matter_id
      where date <= '2026-10-31'
          and (i.invoice_id is null or i.invoice_state <> 'final' or i.invoice_date > '2026-10-31')
    )
    select case when matter_type = 'contingency' then 'contingent_amount'
        when days <= 30 then '0-30' when days <= 60 then '31-60' when days <= 90 then '61-90' else '91+' end,
        sum(amount) / 1e4
    from aged group by 1
    """


def test_overdue_invoices_equal_the_database(october, firm):
    """The list and the headline have the same total."""
    with closing(sqlite3.connect(firm.database)) as database:
        ((wanted, count),) = database.execute(
            """select sum(balance) / 1e4, count(*) from invoice where invoice_state = 'final' and balance > 0
            and invoice_date <= '2026-10-31' and due_date < '2026-10-31'"""
        )
    rows = report.overdue_invoices.made(october)[0].rows
    assert (rows["balance"].sum(), len(rows)) == (pytest.approx(wanted), count)
    assert october.of("aging")["overdue"].iloc[0] == pytest.approx(wanted)


def test_write_downs_equal_the_database(october, firm):
    """Write-downs are the worth of billable time on the month's invoices less their time fees."""
    with closing(sqlite3.connect(firm.database)) as database:
        ((worth, down),) = database.execute(DOWN)
    row = report.write_downs.made(october)[0].total.iloc[0]
    assert row["worked_amount"] == pytest.approx(worth)
    assert row["write_down_amount"] == pytest.approx(down)


DOWN = """
    with net as (
      select invoice_id, amount
          - (select coalesce(sum(amount), 0) from expense e where e.invoice_id = i.invoice_id)
          - (select coalesce(sum(amount), 0) from fixed_fee f where f.invoice_id = i.invoice_id) as billed,
        (select coalesce(sum(t.amount), 0) from time_entry t
          where t.invoice_id = i.invoice_id and billing_type = 'billable') as worth
      from invoice i
      where invoice_state = 'final' and invoice_date between '2026-10-01' and '2026-10-31'
    )
    select sum(worth) / 1e4, sum(worth - billed) / 1e4 from net
    """
