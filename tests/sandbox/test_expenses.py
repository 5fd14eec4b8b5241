"""GET /v2/expenses and /v2/expenses/{id}."""

import pytest


def test_fields_of_the_list(api):
    """ExpenseList: ... checkNumber (N), invoiceId (N), invoice, meta optional."""
    expense = api.rows("expenses", select="client,matter,user,meta")[0]
    assert (expense["amount"], expense["checkNumber"], expense["billed"]) == (12.34, "778", True)
    assert "expenseCode" not in expense


def test_expense_of_the_firm(api):
    """userId (uuid, N; null means associated with the firm)."""
    assert [row["userId"] for row in api.rows("expenses")] == [api.id("b1"), None, None]


def test_a_credit_keeps_its_sign(api):
    """amount (number, R)."""
    assert api.one("expenses", "d3")["amount"] == -5.0


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"startDate": "2026-04-02", "endDate": "2026-09-15"}, "d2 d3"),
        ({"userId": "b1"}, "d1"),
        ({"matterId": "a1"}, "d1 d3"),
        ({"clientId": "c2"}, "d2"),
        ({"billed": "true"}, "d1 d2"),
        ({"billed": "false"}, "d3"),
        ({"sort": "-date"}, "d2 d3 d1"),
        ({"sort": "amount"}, "d3 d1 d2"),
        ({"sort": "description"}, "d3 d1 d2"),
        ({"modifiedSince": "2026-09-15T00:00:00Z"}, "d3"),
    ],
)
def test_filters_and_sorts(api, query, expected):
    """startDate, endDate (inclusive), userId, matterId, clientId, billed, sort (date, amount, description)."""
    assert api.ids("expenses", **query) == expected


def test_single_expense(api):
    """ExpenseDetail: expenseCode (string, N, LEDES)."""
    assert api.one("expenses", "d1")["expenseCode"] == "E101"
    assert api.one("expenses", "d2")["client"] == {"name": "Öl & Söhne", "reference": None}
