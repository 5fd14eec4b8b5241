"""Exposure is the work in progress of `wip` and the receivables of `aging`, with the last days of work and invoice."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from billframes.analysis import aging, exposure, wip
from billframes.errors import IncompleteDataWarning, ParameterError, RatesHiddenWarning
from tests.analysis.calls import edge_case_frames
from tests.analysis.test_properties_money import BOOKS, QUICK, frames

ITEMS = ("time_entries", "expenses", "fixed_fees", "invoices")
DAY = "2026-10-31"


@pytest.fixture(scope="module")
def book(october_book):
    return october_book


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*may be missing:billframes.errors.IncompleteDataWarning")
@QUICK
@given(book=BOOKS, by=st.sampled_from([None, "client", "matter", "practice_area", "originator", ["matter", "user"]]))
def test_rows_are_those_of_both_analyses_and_re_add(pandas_firm, book, by):
    entries, bills, costs, fees = frames(pandas_firm, book)
    given_frames = dict(zip(ITEMS, (entries, costs, fees, bills), strict=True))
    asked = {"as_of": DAY, "by": by, "matters": pandas_firm.matters()}
    rows, work, owed = (each(**given_frames, **asked) for each in (exposure, wip, aging))
    # By id: invoices name clients whose work does not.
    keys = [name for name in rows.columns[: rows.columns.get_loc("unbilled_amount")] if name.endswith("_id")]
    for name, parts in (("wip_amount", work), ("receivable_amount", owed)):
        assert rows[name].sum() == pytest.approx(parts["total"].sum(), abs=1e-6)
        actual = rows.set_index(keys)[name] if keys else rows[name]
        wanted = parts.set_index(keys)["total"] if keys else parts["total"]
        assert (actual - wanted.reindex(actual.index).fillna(0.0)).abs().max() < 1e-6 or not len(actual)
    assert rows["exposure_amount"].sum() == pytest.approx(work["total"].sum() + owed["total"].sum(), abs=1e-6)


def test_the_last_days_are_of_any_time_entry_and_of_a_final_invoice_that_bills_something(pandas_firm):
    """The credit note i5 does not count, nor do work after the day and the invoice i7 of December."""
    firm = edge_case_frames(pandas_firm)
    with pytest.warns(IncompleteDataWarning):
        rows = exposure(**{name: firm[name] for name in (*ITEMS, "matters")}, as_of=DAY).set_index("client_id")
    days = rows[["last_work_date", "last_invoice_date"]].map(lambda day: None if pd.isna(day) else f"{day:%m-%d}")
    assert days.loc["c1"].tolist() == ["10-16", "10-05"]
    assert days.loc["c3"].tolist() == ["10-14", "10-20"]
    assert rows.loc["c1", ["days_since_work", "days_since_invoice"]].tolist() == [15.0, 26.0]
    # Work without a client is on a draft: it has a last day and no invoice.
    nobody = rows[rows.index.isna()].iloc[0]
    assert (nobody["client_name"], nobody["days_since_work"]) == ("Unassigned", 0.0)
    assert pd.isna(nobody["days_since_invoice"])


@pytest.mark.filterwarnings("ignore::billframes.errors.IncompleteDataWarning")
def test_an_invoice_and_work_of_the_day_itself_count(pandas_firm):
    firm = edge_case_frames(pandas_firm)
    given_frames = {name: firm[name] for name in (*ITEMS, "matters")}
    for day, since, column in (("2026-10-05", 0.0, "days_since_invoice"), ("2026-10-16", 0.0, "days_since_work")):
        assert exposure(**given_frames, as_of=day).set_index("client_id").loc["c1", column] == since


def test_by_matter_the_last_invoice_is_one_with_an_item_on_it(book):
    rows = book.exposure("matter")
    final = book.invoices[(book.invoices["invoice_state"] == "final") & (book.invoices["amount"] > 0)]
    final = final[final["invoice_date"] <= DAY]
    items = pd.concat([getattr(book, name)[["matter_id", "invoice_id"]] for name in ITEMS[:3]])
    dates = items.merge(final[["invoice_id", "invoice_date"]], on="invoice_id")
    wanted = dates.groupby("matter_id")["invoice_date"].max().reindex(rows["matter_id"].dropna())
    assert rows.dropna(subset=["matter_id"])["last_invoice_date"].tolist() == wanted.tolist()


def test_a_books_exposure_is_the_databases(book, sql):
    """Open work and balances by client, and the last day of work, calculated by SQL."""
    kinds = {"time_entry": "billing_type = 'billable' and", "expense": "", "fixed_fee": ""}
    work = " union all ".join(
        f"select matter_id, amount from {kind} where {which} date <= '{DAY}' and invoice_id is null"
        for kind, which in kinds.items()
    )
    query = f"""
        with work as ({work})
        select c.client_id,
          coalesce((select sum(amount) from work join matter using (matter_id)
                    where client_id = c.client_id and matter_type <> 'contingency'), 0),
          coalesce((select sum(amount) from work join matter using (matter_id)
                    where client_id = c.client_id and matter_type = 'contingency'), 0),
          coalesce((select sum(balance) from invoice i where i.client_id = c.client_id
                    and invoice_state = 'final' and invoice_date <= '{DAY}'), 0),
          (select max(date) from time_entry join matter using (matter_id)
           where client_id = c.client_id and date <= '{DAY}')
        from client c
        """
    wanted = {client: figures for client, *figures in sql(query)}
    rows = book.exposure().dropna(subset=["client_id"])
    assert len(rows) > 20
    for row in rows.itertuples():
        unbilled, contingent, balance, last = wanted.pop(row.client_id)
        assert (row.unbilled_amount, row.receivable_amount) == pytest.approx((unbilled / 10_000, balance / 10_000))
        assert row.contingent_amount >= contingent / 10_000 - 0.01
        assert (row.last_work_date.date() if pd.notna(row.last_work_date) else None) == _date(last)
    assert {balance for _, _, balance, _ in wanted.values()} <= {0}


def _date(text):
    return text and dt.date.fromisoformat(text)


def test_a_period_as_key_is_refused_with_what_to_do(book):
    for by in ("month", ["client", "year"]):
        with pytest.raises(ParameterError, match=r"exposure is calculated for one day.* Pass as_of="):
            book.exposure(by)


def test_a_load_of_one_month_is_refused(client, book):
    with pytest.raises(ParameterError, match=r"time_entries up to 2026-10-31|time entries up to 2026-10-31"):
        exposure(
            client.time_entries("2026-10"),
            expenses=book.expenses,
            fixed_fees=book.fixed_fees,
            invoices=book.invoices,
            as_of=DAY,
        )


def test_hidden_rates_leave_receivables(pandas_firm):
    firm = edge_case_frames(pandas_firm)
    hidden = {name: firm[name] for name in ITEMS} | {"time_entries": firm["time_entries"].assign(amount=None)}
    with pytest.warns(RatesHiddenWarning), pytest.warns(IncompleteDataWarning):
        (whole,) = exposure(**hidden, as_of=DAY, by=None).to_dict("records")
    assert pd.isna(whole["wip_amount"])
    assert pd.isna(whole["exposure_amount"])
    assert whole["receivable_amount"] == pytest.approx(1805.0)
