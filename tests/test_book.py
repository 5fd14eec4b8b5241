"""A book loads wide enough that the work of one month meets the invoices of another."""

from __future__ import annotations

import pytest

import billframes as bf


@pytest.fixture(scope="module")
def book(client):
    return bf.book("2026-09", client=client)


def test_frames_are_loaded_once_and_whole(book, sql):
    assert book.time_entries is book.time_entries
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


def test_receivables_are_the_open_balances(client, sql):
    ((balance,),) = sql(
        "select sum(balance) from invoice where invoice_state = 'final' and invoice_date <= '2026-10-31'"
    )
    october = bf.book("2026-10", client=client)
    assert october.aging()["total"].sum() == pytest.approx(balance / 10_000)
    assert october.aging(by="practice_area")["total"].sum() == pytest.approx(balance / 10_000)


def test_another_span_than_the_books(book, client):
    assert book.utilization(start="2026-10").equals(bf.book("2026-10", client=client).utilization())


def test_a_book_without_an_end_needs_as_of(client):
    with pytest.raises(bf.ParameterError, match="as_of"):
        bf.book("2026-09-01", client=client).aging()


def test_settings_that_name_people_by_e_mail_reach_every_analysis(client):
    email = client.users(role="principal")["email"].iloc[0]
    settings = bf.FirmSettings(user_hours={email: 4.0}, standard_rates={email: 500.0})
    book = bf.book("2026-10", settings=settings, client=client)
    assert len(book.aging()) == 1
    assert not book.aging(by="user").empty
    assert "standard_amount" in book.realization(by="user")
