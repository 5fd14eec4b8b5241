"""GET /v2/invoices, which is all there is of invoices."""

import pytest


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
    api.problem("/v2/invoices", 405, method="POST")
    api.problem(f"/v2/invoices/{api.id('11')}", 404)
