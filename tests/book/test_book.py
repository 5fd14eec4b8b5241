"""A book loads all work, so that the work of one month is allocated to the invoices of another."""

from __future__ import annotations

import copy

import pandas as pd
import pytest

import billframes as bf
from billframes.loading.load_info import load_info
from tests.frames import assert_frame_equal


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-09", client=client)


@pytest.mark.slow
def test_frames_are_loaded_once_and_whole(book, sql):
    book.time_entries  # noqa: B018
    loaded = book._frames["time_entries"]
    book.time_entries.sum(numeric_only=True)
    assert book._frames["time_entries"] is loaded
    ((count,),) = sql("select count(*) from time_entry")
    assert len(book.time_entries) == count


def test_billed_fees_are_the_invoices_less_expenses_and_fixed_fees(book, sql):
    ((net,),) = sql(
        """
        select sum(i.amount
          - coalesce((select sum(amount) from expense where invoice_id = i.invoice_id), 0)
          - coalesce((select sum(amount) from fixed_fee where invoice_id = i.invoice_id), 0))
        from invoice i where invoice_state = 'final' and invoice_date between '2026-09-01' and '2026-09-30'
        """
    )
    total = book.realization(matter_types=("hourly", "fixedFee", "contingency", "probono", "internal"))
    assert total["billed_amount"].sum() == pytest.approx(net / 10_000)


def test_amounts_due_on_the_day_of_the_load_equal_the_databases(book, sql):
    day = book.loaded_on("invoices")
    sums = """
        select sum(net), sum(net * (amount - balance) / amount) from (
          select i.amount, i.balance, i.amount
            - coalesce((select sum(amount) from expense where invoice_id = i.invoice_id), 0)
            - coalesce((select sum(amount) from fixed_fee where invoice_id = i.invoice_id), 0) as net
          from invoice i where invoice_state = 'final' and invoice_date between '2026-09-01' and '2026-09-30'
            and due_date <= ?)
        """
    ((billed, settled),) = sql(sums, day.isoformat())
    types = ("hourly", "fixedFee", "contingency", "probono", "internal")
    rows = book.realization("user", matter_types=types)
    assert rows["due_amount"].sum() == pytest.approx(billed / 10_000)
    assert rows["due_settled_amount"].sum() == pytest.approx(settled / 10_000)
    (row,) = book.realization(as_of="2026-10-15").to_dict("records")
    assert 0 < row["due_amount"] < row["billed_amount"]


def test_rows_add_up_to_the_whole(book):
    whole = book.realization()
    for by in ("practice_area", "client", "user", "month", "originator", ["responsible", "client"]):
        parts = book.realization(by=by)
        for column in ("worked_amount", "billed_amount", "settled_amount", "billable_hours"):
            assert parts[column].sum() == pytest.approx(whole[column].sum()), (by, column)


def test_client_hours_are_the_databases(book, sql):
    ((hours,),) = sql(
        """
        select sum(t.hours) from time_entry t join matter m using (matter_id)
        where date between '2026-09-01' and '2026-09-30' and billing_type in ('billable', 'fixedFee')
          and matter_type != 'internal'
        """
    )
    assert book.utilization()["client_hours"].sum() == pytest.approx(hours / 10_000)


@pytest.mark.slow
def test_capacity_of_a_month_that_is_not_over_ends_on_the_day_of_the_load(client, october_book):
    """The sandbox's day is the last of its data, so that nobody is expected to have worked the month after."""
    day = october_book.loaded_on("time_entries")
    first = f"{day:%Y-%m}-01"
    book = bf.book(f"{day:%Y}", client=client)
    until_now = book.utilization(None, start=first, end=day)
    later = pd.Timestamp(day) + pd.Timedelta(days=60)
    assert book.utilization(None, start=first, end=later).equals(until_now)
    planned = book.utilization(None, start=first, end=later, as_of=later)
    assert planned["capacity_hours"].iloc[0] > until_now["capacity_hours"].iloc[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The first of all entries of:billframes.errors.IncompleteDataWarning")
def test_work_dated_after_the_load_is_warned_of(client):
    book = bf.book("2026", client=client)
    day = pd.Timestamp(book.loaded_on("time_entries"))
    attrs = bf.forget(book.time_entries).attrs
    billable = book.time_entries[book.time_entries["billing_type"] == "billable"]
    later = billable.tail(1).assign(time_entry_id="later", date=day + pd.Timedelta(days=9))
    rows = pd.concat([book.time_entries, later])
    rows.attrs = attrs
    book.time_entries = rows
    with pytest.warns(bf.errors.IncompleteDataWarning, match=f"1 time entry of the period is dated after {day.date()}"):
        book.utilization(None)


def test_receivables_are_the_open_balances(october_book, sql):
    ((balance,),) = sql(
        "select sum(balance) from invoice where invoice_state = 'final' and invoice_date <= '2026-10-31'"
    )
    assert october_book.aging()["total"].sum() == pytest.approx(balance / 10_000)
    assert october_book.aging(by="practice_area")["total"].sum() == pytest.approx(balance / 10_000)


def test_a_method_takes_another_period(book, october_book):
    assert book.utilization(start="2026-10").equals(october_book.utilization())


def test_a_book_without_an_end_needs_as_of(client):
    with pytest.raises(bf.errors.ParameterError, match="as_of"):
        bf.book("2026-09-01", client=client).aging()


@pytest.mark.slow
def test_settings_that_name_people_by_e_mail_reach_every_analysis(client):
    email = client.users(role="principal")["email"].iloc[0]
    settings = bf.FirmSettings(user_hours={email: 4.0}, standard_rates={email: 500.0})
    book = bf.book("2026-10", settings=settings, client=client)
    assert len(book.aging()) == 1
    assert not book.aging(by="user").empty
    assert "standard_amount" in book.realization(by="user")


def test_work_in_progress_equals_the_work_on_no_final_invoice(book, sql):
    day = "2026-08-31"
    total = 0
    for table, worth in (("time_entry", "billing_type = 'billable'"), ("expense", "true"), ("fixed_fee", "true")):
        rows = sql(
            f"""
            select coalesce(sum(i.amount), 0) from {table} i left join invoice v using (invoice_id)
            where {worth} and date <= ? and not (v.invoice_id is not null
              and v.invoice_state = 'final' and v.invoice_date <= ?)
            """,
            day,
            day,
        )
        total += rows[0][0]
    for by in (None, ["practice_area", "originator"]):
        rows = book.wip(by, as_of=day)
        assert rows["total"].sum() + rows["contingent_amount"].sum() == pytest.approx(total / 10_000)


def test_contingent_work_in_progress_is_the_databases(book, sql):
    total = 0
    for table, worth in (("time_entry", "billing_type = 'billable'"), ("expense", "true"), ("fixed_fee", "true")):
        ((amount,),) = sql(
            f"""
            select coalesce(sum(i.amount), 0) from {table} i
              join matter m using (matter_id) left join invoice v on v.invoice_id = i.invoice_id
            where {worth} and date <= '2026-08-31' and m.matter_type = 'contingency'
              and not (v.invoice_id is not null and v.invoice_state = 'final' and v.invoice_date <= '2026-08-31')
            """
        )
        total += amount
    rows = book.wip(by="user", as_of="2026-08-31")
    assert rows["contingent_amount"].sum() == pytest.approx(total / 10_000)
    alone = book.wip(as_of="2026-08-31", matter_types=["contingency"])
    assert alone["total"].sum() == pytest.approx(total / 10_000)


def test_lockup_by_lawyer_adds_up_to_the_firms_and_is_not_by_month(october_book):
    whole, rows = october_book.lockup().iloc[0], october_book.lockup("responsible")
    for name in ("wip_amount", "receivable_amount", "fees_amount", "contingent_amount"):
        assert rows[name].sum() == pytest.approx(whole[name])
    one = rows[rows["fees_amount"] > 0].iloc[0]
    assert one["wip_days"] == pytest.approx(one["wip_amount"] / one["fees_amount"] * 365)
    with pytest.raises(bf.errors.ParameterError, match="by month"):
        october_book.lockup(["responsible", "month"])


def test_lockup_shows_its_days_and_fees(october_book, sql):
    ((fees,),) = sql(
        """
        select sum(i.amount - coalesce((select sum(amount) from expense where invoice_id = i.invoice_id), 0))
        from invoice i where invoice_state = 'final' and invoice_date between '2025-11-01' and '2026-10-31'
        """
    )
    (row,) = october_book.lockup().to_dict("records")
    days = [str(row[name].date()) for name in ("as_of", "fees_start", "fees_end")]
    assert days == ["2026-10-31", "2025-11-01", "2026-10-31"]
    assert row["fees_amount"] == pytest.approx(fees / 10_000)
    work = october_book.wip().iloc[0]
    assert row["contingent_amount"] == work["contingent_amount"] > 0
    waiting = work["total"] + october_book.aging()["total"].iloc[0]
    assert row["lockup_days"] == pytest.approx(waiting / row["fees_amount"] * 365)
    by_client = october_book.contribution(start="2025-11-01", end="2026-10-31")
    assert by_client["fees_amount"].sum() == pytest.approx(fees / 10_000)


def test_the_invoices_of_the_period_are_reconciled(book, sql):
    ((count, amount),) = sql(
        "select count(*), sum(amount) from invoice where invoice_date between '2026-09-01' and '2026-09-30'"
    )
    rows = book.reconcile()
    assert (len(rows), rows["amount"].sum()) == (count, pytest.approx(amount / 10_000))
    everything = book.reconcile(start="2020-01-01")
    assert (everything["items_amount"] + everything["unexplained_amount"] - everything["amount"]).abs().max() < 1e-6


def test_fees_are_equal_in_all_analyses(book):
    rates, rows = book.effective_rates(by=None), book.realization()
    assert rates["effective_rate"].tolist() == rows["effective_rate"].tolist()
    of_originators, of_users = (book.contribution(by=by)["fees_amount"].sum() for by in ("originator", "user"))
    assert of_originators == pytest.approx(of_users)
    matter = book.matters["matter_id"].iloc[0]
    other = copy.copy(book)
    other.settings = bf.FirmSettings(budgets={matter: 1e6})
    assert other.budget_burn()["matter_id"].tolist() == [matter]


@pytest.mark.slow
def test_a_period_before_all_data_has_no_lockup(client):
    with pytest.raises(bf.errors.ParameterError, match="before the first day of the data, 2 January 2024"):
        bf.book("2019-03", client=client).lockup(by="client")


@pytest.mark.parametrize("name", ["time_entries", "expenses", "fixed_fees", "invoices"])
def test_the_frames_of_the_period_are_those_that_the_loader_returns_for_it(book, client, name):
    rows, wanted = book.in_period(name), getattr(client, name)("2026-09")
    assert_frame_equal(rows, wanted)
    assert load_info(rows).start == load_info(wanted).start
    assert len(rows) == load_info(rows).rows < len(getattr(book, name))
    assert "hold all dates" in repr(book)


def test_a_period_with_an_open_end_has_all_rows_to_that_side(client, october_book):
    everything = bf.book("2020-01-01", client=client)
    everything.time_entries = october_book.time_entries
    assert_frame_equal(everything.in_period("time_entries"), october_book.time_entries)
    with pytest.raises(bf.errors.ParameterError, match="name='matters' is not known"):
        everything.in_period("matters")


@pytest.mark.slow
def test_one_cause_is_said_once_a_call(sandbox):
    with bf.Client(sandbox.base_url, sandbox.tokens["norates"]) as client:
        book = bf.book("2026-09", client=client)
        with pytest.warns(bf.errors.RatesHiddenWarning):
            assert len(book.time_entries)
        for name in ("compare", "lockup", "scorecard"):
            with pytest.warns(bf.errors.BillframesWarning) as caught:
                getattr(book, name)()
            assert sum(each.category is bf.errors.RatesHiddenWarning for each in caught) == 1, name
