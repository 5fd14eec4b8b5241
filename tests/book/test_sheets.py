"""A book's sheets for partners, against the sandbox's own database."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import billframes as bf
from billframes.analysis.declare.lookup import analyses
from tests.analysis.calls import OF_LEDGERS

OCTOBER = "between '2026-10-01' and '2026-10-31'"


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


# The expenses and fixed fees of each invoice, and the worth of its billable time.
ITEMS = """
    with items as (
      select invoice_id, (select coalesce(sum(amount), 0) from expense e where e.invoice_id = i.invoice_id)
          + (select coalesce(sum(amount), 0) from fixed_fee f where f.invoice_id = i.invoice_id) as costs
      from invoice i
    ), worth as (
      select invoice_id, sum(amount) as worth from time_entry
      where billing_type = 'billable' and invoice_id is not null group by 1
    )
"""

# Net billed time fees are allocated to billable time by its amount. Fees of invoices without time have no matter.
WRITE_DOWNS = f"""
    {ITEMS}
    select m.responsible_id, sum(t.amount) / 1e4,
        sum(t.amount - (i.amount - items.costs) * 1.0 * t.amount / worth.worth) / 1e4
    from time_entry t join invoice i using (invoice_id) join items using (invoice_id) join worth using (invoice_id)
    join matter m using (matter_id)
    where t.billing_type = 'billable' and i.invoice_state = 'final' and i.invoice_date {OCTOBER}
        and m.matter_type in ('hourly', 'fixedFee')
    group by 1
    """

# Invoices count for everyone who is responsible for an item on them, also if it is an expense or a fixed fee.
INVOICES_WITH_ITEMS = f"""
    with item as (select invoice_id, matter_id from time_entry union select invoice_id, matter_id from expense
        union select invoice_id, matter_id from fixed_fee)
    select m.responsible_id, count(distinct invoice_id)
    from item join matter m using (matter_id) join invoice i using (invoice_id)
    where i.invoice_state = 'final' and i.invoice_date {OCTOBER} and m.responsible_id is not null group by 1
    """


def test_write_downs_by_responsible_are_the_databases(book, sql):
    rows = book.write_downs().set_index("responsible_id")
    for person, worth, down in sql(WRITE_DOWNS):
        assert rows.loc[person, "worked_amount"] == pytest.approx(worth)
        assert rows.loc[person, "write_down_amount"] == pytest.approx(down, abs=1e-6)
    wanted = dict(sql(INVOICES_WITH_ITEMS))
    assert rows["invoices"].reindex(list(wanted)).to_dict() == wanted
    final = book.reconcile(by="invoice_state").set_index("invoice_state")
    assert book.write_downs(by=None)["invoices"].iloc[0] == final.loc["final", "invoices"]
    assert rows["write_down_amount"].sum() == pytest.approx(book.realization()["write_down_amount"].iloc[0])


def test_invoices_by_client_and_their_items_are_the_databases(book, sql):
    rows = book.reconcile(by="client").set_index("client_id")
    wanted = sql(
        f"select client_id, count(*), sum(amount), sum(balance) from invoice where invoice_date {OCTOBER} group by 1"
    )
    assert len(rows) == len(wanted)
    for client, invoices, amount, balance in wanted:
        found = rows.loc[client, ["invoices", "amount", "balance"]].tolist()
        assert found == pytest.approx([invoices, amount / 1e4, balance / 1e4])
    single = book.reconcile()
    assert rows["unexplained_amount"].sum() == pytest.approx(single["unexplained_amount"].sum(), abs=1e-6)


COLLECTIONS = """
    select invoice_id, i.balance / 1e4, julianday('2026-10-31') - julianday(due_date),
        (select sum(balance) from invoice o where o.client_id = i.client_id and o.invoice_state = 'final'
            and o.invoice_date <= '2026-10-31' and o.invoice_id <> i.invoice_id) / 1e4,
        (select sum(hours) from time_entry t join matter m using (matter_id) where m.client_id = i.client_id
            and t.date > i.due_date and t.date <= '2026-10-31' and billing_type <> 'nonBillable') / 1e4,
        (select sum(t.amount) from time_entry t join matter m using (matter_id) where m.client_id = i.client_id
            and t.date > i.due_date and t.date <= '2026-10-31' and billing_type = 'billable') / 1e4
    from invoice i
    where invoice_state = 'final' and invoice_date <= '2026-10-31' and due_date < '2026-10-31' and balance > 0
    """


def test_overdue_invoices_and_the_work_since_are_the_databases(book, sql):
    rows = book.overdue_invoices()
    names = ["balance", "days_overdue", "other_balance", "hours_since_due", "worked_since_due"]
    wanted = {invoice: [figure or 0.0 for figure in figures] for invoice, *figures in sql(COLLECTIONS)}
    found = {row["invoice_id"]: [row[name] for name in names] for row in rows.to_dict("records")}
    assert found.keys() == wanted.keys()
    for invoice, figures in wanted.items():
        assert found[invoice] == pytest.approx(figures, abs=1e-6)
    assert rows["balance"].sum() == pytest.approx(book.aging()["overdue"].iloc[0])
    people = dict(sql("select matter_id, responsible_id from matter"))
    matters: dict[str, set[str]] = {}
    for invoice, matter in sql("select invoice_id, matter_id from invoice_matter"):
        matters.setdefault(invoice, set()).add(people[matter])
    assert {
        row["invoice_id"]: row["responsible_id"]
        for row in rows.to_dict("records")
        if len(matters[row["invoice_id"]]) == 1
    } == {invoice: next(iter(matters[invoice])) for invoice in found if len(matters[invoice]) == 1}


def test_stale_work_and_matters_are_the_databases(book, sql):
    rows = book.stale()
    idle = sql(
        """
        select m.matter_id from matter m where not archived and not exists (
          select 1 from time_entry t where t.matter_id = m.matter_id
              and t.date between date('2026-10-31', '-180 days') and '2026-10-31')
        and not exists (
          select 1 from invoice_matter join invoice i using (invoice_id) where invoice_matter.matter_id = m.matter_id
              and i.invoice_state = 'final' and i.amount > 0
              and i.invoice_date between date('2026-10-31', '-180 days') and '2026-10-31')
        """
    )
    opened = book.matters.set_index("matter_id")["opened"]
    lately = set(opened[opened >= pd.Timestamp("2026-10-31") - pd.Timedelta(days=180)].index)
    found = set(rows.loc[rows["finding"] == "no work or invoice", "matter_id"])
    active = set(book.time_entries["matter_id"]) | set(book.invoices["matter_id"].dropna())
    assert found == {matter for (matter,) in idle if matter not in lately or matter in active}
    fees = dict(
        sql(
            """
            select f.fixed_fee_id, (select sum(hours) from time_entry t where t.fixed_fee_id = f.fixed_fee_id
                and t.date <= '2026-10-31') / 1e4
            from fixed_fee f left join invoice i using (invoice_id)
            where f.date <= '2026-10-31' and (i.invoice_id is null or i.invoice_state <> 'final'
                or i.invoice_date > '2026-10-31')
            """
        )
    )
    open_fees = rows[rows["finding"] == "open fixed fee"].set_index("fixed_fee_id")["hours"].to_dict()
    assert open_fees == pytest.approx({fee: hours or 0.0 for fee, hours in fees.items()})
    ((old,),) = sql(
        """
        select sum(case when billing_type = 'billable' then t.amount else 0 end) / 1e4
        from time_entry t left join invoice i using (invoice_id)
        where t.date < date('2026-10-31', '-90 days') and (i.invoice_id is null or i.invoice_state <> 'final'
            or i.invoice_date > '2026-10-31')
        """
    )
    whole = book.wip(None, buckets=(90,))
    amounts = rows.groupby("finding")[["open_amount", "contingent_amount"]].sum().loc["old work in progress"]
    assert amounts["open_amount"] == pytest.approx(whole["91+"].iloc[0])
    assert old <= amounts.sum() + 1e-6


PREBILLS = """
    select i.invoice_id, i.amount / 1e4,
      (select coalesce(sum(hours), 0) from time_entry t where t.invoice_id = i.invoice_id) / 1e4,
      (select coalesce(sum(amount), 0) from time_entry t where t.invoice_id = i.invoice_id
          and billing_type = 'billable') / 1e4,
      (select coalesce(sum(amount), 0) from expense t where t.invoice_id = i.invoice_id) / 1e4,
      (select coalesce(sum(amount), 0) from fixed_fee t where t.invoice_id = i.invoice_id) / 1e4,
      (select coalesce(sum(balance), 0) from invoice o where o.client_id = i.client_id and o.invoice_state = 'final'
          and o.invoice_date <= '2026-10-31' and o.due_date < '2026-10-31' and o.balance > 0) / 1e4
    from invoice i where invoice_state <> 'final'
    """
LONG_DAYS = """
    select t.time_entry_id from time_entry t join invoice i using (invoice_id)
    where i.invoice_state <> 'final' and (select sum(hours) from time_entry o
        where o.user_id = t.user_id and o.date = t.date) > 6 * 10000
    """
LATE = """
    select t.time_entry_id from time_entry t join invoice i using (invoice_id)
    where i.invoice_state <> 'final' and julianday(date(t.created_at)) - julianday(t.date) > 7
    """


def test_the_review_of_prebills_is_the_databases(book, sql):
    rows = book.prebill_review(as_of="2026-10-31", hours_per_day=6)
    by_kind = rows.pivot_table("item_amount", "invoice_id", "item", aggfunc="sum", observed=True).fillna(0.0)
    hours = rows.groupby("invoice_id")["hours"].sum()
    heads = rows.drop_duplicates("invoice_id").set_index("invoice_id")
    wanted = sql(PREBILLS)
    assert len(heads) == len(wanted)
    for invoice, amount, worked, *items, overdue in wanted:
        head, found = heads.loc[invoice], by_kind.reindex(index=[invoice], fill_value=0.0).iloc[0]
        assert hours.get(invoice, 0.0) == pytest.approx(worked)
        assert [found[name] for name in ("time_entry", "expense", "fixed_fee")] == pytest.approx(items)
        figures = ["invoice_amount", "items_amount", "unexplained_amount", "client_overdue"]
        expected = [amount, sum(items), amount - sum(items), overdue]
        assert head[figures].tolist() == pytest.approx(expected, abs=1e-6)
    flags = rows.set_index("item_id")["findings"].fillna("")
    for query, flag in ((LONG_DAYS, "hours on that day"), (LATE, "days later")):
        assert set(flags[flags.str.contains(flag)].index) == {entry for (entry,) in sql(query)} != set()


# Net fees and worth of billable hours on hourly and fixed-fee matters, by person and month of the invoice.
BY_MONTH = """
    {items}
    select {key}, substr(i.invoice_date, 1, 7), sum(t.hours) / 1e4, sum(t.amount) / 1e4,
        sum((i.amount - items.costs) * 1.0 * t.amount / worth.worth) / 1e4
    from time_entry t join invoice i using (invoice_id) join items using (invoice_id) join worth using (invoice_id)
    join matter m using (matter_id)
    where t.billing_type = 'billable' and i.invoice_state = 'final' and m.matter_type in ('hourly', 'fixedFee')
        and substr(i.invoice_date, 1, 7) in ('2026-10', '2026-09', '2025-10')
    group by 1, 2
    """


@pytest.mark.parametrize(("by", "key"), [("user", "t.user_id"), ("client", "m.client_id"), ("matter", "t.matter_id")])
def test_months_side_by_side_are_the_databases(book, sql, by, key):
    found = {(who, month): figures for who, month, *figures in sql(BY_MONTH.format(key=key, items=ITEMS))}
    results = {month: book.realization(by, start=month) for month in ("2026-10", "2026-09", "2025-10")}
    for place, (measure, unit) in enumerate((("billable_hours", "hours"), ("worked_amount", "amount"))):
        rows = bf.analysis.compare(results, measure, periods=1).set_index(f"{by}_id")
        for who in rows.index.dropna():
            now, before, year_ago = (
                found.get((who, month), (0.0, 0.0))[place] for month in ("2026-10", "2026-09", "2025-10")
            )
            names = [f"{name}_{unit}" for name in ("now", "previous", "since_previous", "year_ago", "since_year_ago")]
            expected = [now, before, now - before, year_ago, now - year_ago]
            assert rows.loc[who, names].tolist() == pytest.approx(expected, abs=1e-6)
    ratios = bf.analysis.compare(results, "billing_realization", periods=1).set_index(f"{by}_id")["now_ratio"]
    # A credit note belongs to the client, and to no time.
    whose = [who for who in ratios.index.dropna() if (who, "2026-10") in found and by != "client"]
    for who in whose:
        _, worth, billed = found[who, "2026-10"]
        assert ratios[who] == pytest.approx(billed / worth)


WITH_SETTINGS = [name for name, each in analyses().items() if "settings" in each.takes and name not in OF_LEDGERS]
ARGUMENTS = {"prebill_review": {"as_of": "2026-10-31"}, "lockup": {"by": "responsible"}}


@pytest.fixture(scope="module")
def by_email(book):
    settings = bf.FirmSettings.load(Path(bf.__file__).parent / "sandbox" / "firm.toml")
    assert settings.emails
    matter, rates = book.matters["matter_id"].iloc[0], dict.fromkeys(book.users["email"], 100.0)
    same = copy.copy(book)
    same.settings = replace(settings, budgets={matter: 1000.0}, cost_rates=rates, standard_rates=rates)
    return same


# Forecasts use only the time zone of the settings.
@pytest.mark.parametrize("name", [*(each for each in WITH_SETTINGS if "forecast" not in each), "lockup"])
def test_settings_that_name_people_by_e_mail_serve_every_analysis(by_email, name):
    assert isinstance(getattr(by_email, name)(**ARGUMENTS.get(name, {})), pd.DataFrame)
