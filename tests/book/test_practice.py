"""A book's analyses of people and matters, against the sandbox's own database."""

from __future__ import annotations

import pytest

import billframes as bf

SEPTEMBER = "between '2026-09-01' and '2026-09-30'"


@pytest.fixture(scope="module")
def book(client):
    rates = dict.fromkeys(client.users()["user_id"], 100.0)
    settings = bf.FirmSettings(time_zone="America/New_York", cost_rates=rates, standard_rates=rates)
    return bf.book("2026-09", settings=settings, client=client)


@pytest.mark.slow
def test_profit_is_fees_less_hours(book, sql):
    ((hours,),) = sql(f"select sum(hours) from time_entry where date {SEPTEMBER}")
    ((fixed,),) = sql(
        f"""
        select sum(f.amount) from fixed_fee f join invoice i using (invoice_id)
        where i.invoice_state = 'final' and i.invoice_date {SEPTEMBER}
        """
    )
    (row,) = book.profitability().to_dict("records")
    assert row["cost_amount"] == pytest.approx(hours / 100)
    assert row["fixed_fee_amount"] == pytest.approx(fixed / 10_000)
    assert book.profitability("client")["profit_amount"].sum() == pytest.approx(row["profit_amount"])


def test_fixed_fees_of_the_period_are_all_there(book, sql):
    ((fees,),) = sql(f"select sum(amount) from fixed_fee where date {SEPTEMBER}")
    (row,) = book.fixed_fee_realization().to_dict("records")
    assert row["fee_amount"] + row["unlinked_fee_amount"] == pytest.approx(fees / 10_000)
    assert row["standard_amount"] == pytest.approx(row["linked_hours"] * 100)


def test_lags_are_the_databases(book, sql):
    days = f"""
        select count(*), sum(julianday(i.invoice_date) - julianday(t.date)) from time_entry t
        join invoice i using (invoice_id)
        where t.billing_type = 'billable' and i.invoice_state = 'final' and i.invoice_date {SEPTEMBER}
        """
    ((count, lag),) = sql(days)
    (row,) = book.billing_lag().to_dict("records")
    assert (row["entries"], row["total_lag_days"]) == (count, lag)
    ((count,),) = sql(f"select count(*) from time_entry where date {SEPTEMBER}")
    assert book.timekeeping_lag()["entries"].sum() == count


def test_leverage_shares_out_the_client_hours(book):
    (row,) = book.leverage().to_dict("records")
    hours = row["principal_hours"] + row["non_principal_hours"] + row["unknown_role_hours"]
    assert hours == pytest.approx(book.utilization(by=None)["client_hours"].iloc[0])


def test_missing_days_duplicates_and_wrong_codes_are_found(book):
    missing = book.missing_time(threshold=1.0)
    assert set(missing["user_name"]) <= set(book.utilization()["user_name"])
    assert missing["date"].dt.day_of_week.max() < 5
    twice = book.duplicates(start="2024-01-01")
    assert (twice.groupby("duplicate_group").size() > 1).all()
    findings = book.code_check(start="2024-01-01")
    ledes = book.matters.set_index("matter_id")["ledes_enabled"]
    assert ledes[findings["matter_id"].unique()].all()
    lacking = findings.query("problem == 'missing' and field == 'task_code'")["item_id"]
    entries = book.time_entries.set_index("time_entry_id")
    assert entries.loc[lacking, "task_code"].isna().all()
