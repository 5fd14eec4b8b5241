"""Invoices: what the API lists, and the bookkeeper's drafts, reviews, payments and voids."""

import datetime as dt

import pytest

from billframes.errors import ParameterError


def test_fields(api):
    """InvoiceList: invoiceId, clientId, matterId, invoiceDate, amount, balance, invoiceNumber, invoiceState."""
    invoice = api.rows("invoices")[2]
    assert invoice["invoiceNumber"] == "1002"
    assert (invoice["amount"], invoice["balance"]) == (500.0, 250.0)
    assert not {"client", "matter", "meta"} & set(invoice)


def test_only_final_invoices_have_a_due_date(api):
    """dueDate (date, N; only final invoices have a due date)."""
    for invoice in api.rows("invoices"):
        assert (invoice["dueDate"] is not None) == (invoice["invoiceState"] == "final")


def test_matter_filter_finds_invoices_over_several_matters(api):
    """matterId (uuid, R; an invoice may cover several matters)."""
    assert api.ids("invoices", matterId="a2", sort="invoicenumber") == "11 15 16"
    assert api.rows("invoices", matterId="a2", sort="invoicenumber")[0]["matterId"] == api.id("a1")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, "11 17 12 13 14 15 16"),
        ({"startDate": "2026-10-01", "endDate": "2026-10-01"}, "13 14 15"),
        ({"invoiceState": "draft"}, "13"),
        ({"invoiceState": "review"}, ""),
        ({"invoiceState": "approved"}, "16"),
        ({"clientId": "c2"}, "13"),
        ({"modifiedSince": "2026-10-02T00:00:00Z"}, "15 16"),
        ({"sort": "-invoicenumber"}, "17 16 15 14 13 12 11"),
        ({"sort": "amount"}, "15 14 16 17 13 12 11"),
        ({"sort": "-balance"}, "11 13 12 16 14 17 15"),
        ({"sort": "state,invoicedate"}, "16 13 11 17 12 14 15"),
        ({"sort": "-client.name"}, "13 11 12 14 15 16 17"),
        ({"sort": "client.reference,-invoicedate"}, "13 16 14 15 12 17 11"),
    ],
)
def test_filters_and_sorts(api, query, expected):
    """sort (client.name, client.reference, invoicedate, amount, balance, invoicenumber, state)."""
    assert api.ids("invoices", **query) == expected


def test_select(api):
    """select (client, matter, meta)."""
    invoice = api.rows("invoices", select="client,matter,meta")[0]
    assert invoice["client"] == {"name": "Acme", "reference": "C-1"}
    assert invoice["matter"] == {"name": "Lawsuit", "reference": "M-1"}
    assert invoice["meta"]["modifiedAt"] == "2026-05-01T00:00:00.000000Z"


def test_no_other_operation(api):
    """No other invoice operation is given."""
    api.expect_problem("/v2/invoices", 405, method="POST")
    api.expect_problem(f"/v2/invoices/{api.id('11')}", 404)


@pytest.fixture
def admin(fresh_api):
    return fresh_api.sandbox.admin


def test_a_draft_takes_everything_unbilled(fresh_api, admin):
    """The `billed` flag is true when the item is on an invoice in any invoice state."""
    invoice = admin.create_invoice(fresh_api.id("c1"))
    assert (invoice["invoiceState"], invoice["invoiceNumber"], invoice["dueDate"]) == ("draft", "1008", None)
    # 0.3 hours at 250, a credit of 5, a fixed fee of 250; the time under the fee has no amount.
    assert (invoice["amount"], invoice["balance"]) == (320.0, 320.0)
    assert fresh_api.ids("time-entries", clientId="c1", billed="false") == ""
    assert fresh_api.ids("fixed-fees", billed="false") == ""
    assert fresh_api.record("expenses", "d3")["invoice"]["invoiceState"] == "draft"
    assert [row["invoiceId"] for row in fresh_api.rows("invoices", matterId="a2", invoiceState="draft")] == [
        invoice["invoiceId"]
    ]
    fresh_api.expect_refusal(409, "PUT", "time-entries/e2", {"hours": 1})


def test_items_are_chosen_by_matter_and_day(fresh_api, admin):
    """An invoice may cover several matters."""
    invoice = admin.create_invoice(
        fresh_api.id("c1"), [fresh_api.id("a1")], through="2026-09-30", invoice_date="2026-10-01"
    )
    assert (invoice["amount"], invoice["invoiceDate"]) == (-5.0, "2026-10-01")
    assert fresh_api.record("time-entries", "e2")["billed"] is False
    invoice = admin.create_invoice(fresh_api.id("c1"), [fresh_api.id("a2"), fresh_api.id("a1")], write_down=25)
    assert (invoice["amount"], invoice["matterId"]) == (300.0, fresh_api.id("a2"))


def test_nothing_to_bill(fresh_api, admin):
    """An invoice without items, or with another client's matters, is an error and changes nothing."""
    before = fresh_api.all_rows()
    for client, matters in (("c3", None), ("c1", ["a3"]), ("c9", None)):
        with pytest.raises(ParameterError):
            admin.create_invoice(fresh_api.id(client), matters and [fresh_api.id(each) for each in matters])
    assert fresh_api.all_rows() == before


def test_invoices_move(fresh_api, admin):
    """Only final invoices carry a due date and count toward client balances."""
    client = f"/v2/clients/{fresh_api.id('c1')}/balances"
    owed = fresh_api.call(client).json()["data"]["balance"]
    id_ = admin.create_invoice(fresh_api.id("c1"), invoice_date="2026-10-31")["invoiceId"]
    for state in ("review", "approved"):
        assert admin.move(id_, state)["dueDate"] is None
        assert fresh_api.call(client).json()["data"]["balance"] == owed
    assert admin.move(id_, "final")["dueDate"] == "2026-11-30"
    assert fresh_api.call(client).json()["data"]["balance"] == owed + 320
    assert fresh_api.record("time-entries", "e2")["invoice"]["invoiceState"] == "final"
    with pytest.raises(ParameterError, match="final"):
        admin.move(id_, "draft")


def test_payments(fresh_api, admin):
    """balance (number, R, outstanding)."""
    id_ = admin.create_invoice(fresh_api.id("c1"))["invoiceId"]
    with pytest.raises(ParameterError, match="not final"):
        admin.pay(id_)
    admin.move(id_, "final", due_date="2026-10-01")
    assert admin.pay(id_, 20.5)["balance"] == 299.5
    assert fresh_api.call(f"/v2/clients/{fresh_api.id('c1')}/balances").json()["data"]["overdue0To30"] == 289.5
    assert admin.pay(id_)["balance"] == 0.0
    assert admin.pay(id_, 10)["balance"] == -10.0


def test_writing_off_lowers_amount_and_balance_alike(fresh_api, admin):
    id_ = admin.create_invoice(fresh_api.id("c1"))["invoiceId"]
    with pytest.raises(ParameterError, match="not final"):
        admin.write_off(id_)
    admin.move(id_, "final")
    admin.pay(id_, 100)
    left = admin.write_off(id_, 20)
    assert (left["amount"], left["balance"]) == (300.0, 200.0)
    left = admin.write_off(id_)
    assert (left["amount"], left["balance"]) == (100.0, 0.0)


def test_voided_items_are_unbilled_again(fresh_api, admin):
    """Voiding an invoice makes its items unbilled again."""
    before = fresh_api.rows("time-entries", clientId="c1", billed="false")
    id_ = admin.create_invoice(fresh_api.id("c1"))["invoiceId"]
    admin.move(id_, "final")
    admin.void(id_)
    assert fresh_api.rows("time-entries", clientId="c1", billed="false") == before
    assert id_ not in {row["invoiceId"] for row in fresh_api.rows("invoices")}
    fresh_api.write("PUT", "time-entries/e2", {"hours": 1})
    for change in (admin.void, admin.pay, lambda each: admin.move(each, "review")):
        with pytest.raises(ParameterError, match="no invoice"):
            change(id_)


def test_unknown_states(fresh_api, admin):
    """invoiceState (enum, R: draft, review, approved, final)."""
    with pytest.raises(ParameterError, match="expected one of"):
        admin.move(fresh_api.id("13"), "sent")


def test_dates_are_checked(fresh_api, admin):
    """Dates are yyyy-MM-dd, as text or as dates."""
    with pytest.raises(ParameterError, match="through"):
        admin.create_invoice(fresh_api.id("c1"), through="31.10.2026")
    assert admin.create_invoice(fresh_api.id("c1"), invoice_date=dt.date(2026, 10, 1))["invoiceDate"] == "2026-10-01"


def test_moves_are_seen_by_modified_since(fresh_api, admin):
    """modifiedSince: only records whose ModifiedDate is after this instant."""
    admin.move(fresh_api.id("13"), "review")
    assert fresh_api.ids("invoices", modifiedSince="2026-10-31T19:00:00Z") == "13"
