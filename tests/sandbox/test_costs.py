"""Expenses and fixed fees over HTTP, compared with the API description's own sentences."""

import pytest


def test_fields_of_expenses(api):
    """ExpenseList: ... checkNumber (N), invoiceId (N), invoice, meta optional."""
    expense = api.rows("expenses", select="client,matter,user,meta")[0]
    assert (expense["amount"], expense["checkNumber"], expense["billed"]) == (12.34, "778", True)
    assert "expenseCode" not in expense


def test_expense_of_the_firm(api):
    """userId (uuid, N; null means associated with the firm)."""
    assert [row["userId"] for row in api.rows("expenses")] == [api.id("b1"), None, None]


def test_a_credit_keeps_its_sign(api):
    """amount (number, R)."""
    assert api.record("expenses", "d3")["amount"] == -5.0


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
def test_filters_and_sorts_of_expenses(api, query, expected):
    """startDate, endDate (inclusive), userId, matterId, clientId, billed, sort (date, amount, description)."""
    assert api.ids("expenses", **query) == expected


def test_single_expense(api):
    """ExpenseDetail: expenseCode (string, N, LEDES)."""
    assert api.record("expenses", "d1")["expenseCode"] == "E101"
    assert api.record("expenses", "d2")["client"] == {"name": "Öl & Söhne", "reference": None}


def test_fields_of_fixed_fees(api):
    """FixedFeeList: fixedFeeId, matterId, clientId, date, description, amount, billed are required."""
    fee = api.rows("fixed-fees")[0]
    assert (fee["amount"], fee["billed"], fee["clientId"]) == (5000.0, True, api.id("c1"))
    assert not {"activityCode", "taskCode"} & set(fee)


def test_unassigned_fee_belongs_to_the_firm(api):
    """userId (N; null means unassigned)."""
    fee = api.rows("fixed-fees", select="user")[1]
    assert fee["userId"] is None
    assert "user" not in fee


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"startDate": "2026-10-10", "endDate": "2026-10-10"}, "f2"),
        ({"userId": "b2"}, "f1"),
        ({"matterId": "a1"}, ""),
        ({"clientId": "c1"}, "f1 f2"),
        ({"billed": "false"}, "f2"),
        ({"sort": "amount"}, "f2 f1"),
        ({"sort": "-description"}, "f2 f1"),
        ({"sort": "-date"}, "f2 f1"),
        ({"modifiedSince": "2026-04-30T00:00:00Z"}, "f2"),
    ],
)
def test_filters_and_sorts_of_fixed_fees(api, query, expected):
    """startDate, endDate (date, inclusive), userId, matterId, clientId, billed, sort (date, amount, description)."""
    assert api.ids("fixed-fees", **query) == expected


def test_single_fee(api):
    """FixedFeeDetail: matter (R), client (R), activityCode (N), taskCode (N), meta."""
    fee = api.record("fixed-fees", "f1")
    assert (fee["activityCode"], fee["taskCode"]) == ("A103", "L110")
    assert fee["matter"]["name"] == "Advice"
    assert fee["invoice"]["invoiceNumber"] == "1001"
    assert "user" not in api.record("fixed-fees", "f2")


NEW = {"matterId": "a1", "date": "2026-10-30", "description": "Costs", "amount": 12.34}
BOTH = pytest.mark.parametrize(("path", "billed", "unbilled"), [("expenses", "d1", "d3"), ("fixed-fees", "f1", "f2")])


def newest(fresh_api, path):
    known = {row["description"]: row for row in fresh_api.rows(path, select="meta,user")}
    key = {"expenses": "expenseId", "fixed-fees": "fixedFeeId"}[path]
    return fresh_api.call(f"/v2/{path}/{known['Costs'][key]}").json()["data"]


@BOTH
def test_create_answers_with_no_body(fresh_api, path, billed, unbilled):
    """POST /v2/expenses, POST /v2/fixed-fees: no body; without userId the item belongs to the firm."""
    assert fresh_api.write("POST", path, NEW) is None
    item = newest(fresh_api, path)
    assert (item["amount"], item["userId"], item["billed"], item["date"]) == (12.34, None, False, "2026-10-30")
    assert "user" not in item
    assert item["meta"]["createdAt"].startswith("2026-10-31T20:")


@BOTH
def test_required_fields(fresh_api, path, billed, unbilled):
    """matterId (uuid, R), date (date, R), description (string min 1, R), amount (number, R)."""
    assert fresh_api.wrong_places("POST", path, {}) == ["#/matterId", "#/date", "#/description", "#/amount"]
    assert fresh_api.wrong_places("POST", path, NEW | {"description": ""}) == ["#/description"]


@BOTH
def test_somebodys(fresh_api, path, billed, unbilled):
    """userId (uuid, N); the header x-service-userid is for time entries only."""
    fresh_api.write("POST", path, NEW | {"userId": "b3"}, headers={"x-service-userid": fresh_api.id("b2")})
    assert newest(fresh_api, path)["user"]["name"] == "Cleo Adair"


def test_codes(fresh_api):
    """expenseCode (string, N); activityCode (string, N), taskCode (string, N)."""
    fresh_api.write("POST", "expenses", NEW | {"expenseCode": "E101"})
    fresh_api.write("POST", "fixed-fees", NEW | {"activityCode": "A103", "taskCode": "L110"})
    assert newest(fresh_api, "expenses")["expenseCode"] == "E101"
    assert newest(fresh_api, "fixed-fees")["taskCode"] == "L110"
    assert fresh_api.wrong_places("POST", "expenses", NEW | {"expenseCode": "A103"}) == ["#/expenseCode"]
    assert fresh_api.wrong_places("POST", "fixed-fees", NEW | {"taskCode": "L100"}) == ["#/taskCode"]


@BOTH
def test_update_is_sparse_and_answers_with_no_body(fresh_api, path, billed, unbilled):
    """PUT: no body. Updates are sparse: only the properties sent are changed."""
    before = fresh_api.record(path, unbilled)
    assert fresh_api.write("PUT", f"{path}/{unbilled}", {"amount": -1.5}) is None
    after = fresh_api.record(path, unbilled)
    assert after.pop("amount") == -1.5
    before.pop("amount")
    assert after.pop("meta")["modifiedAt"] > before.pop("meta")["modifiedAt"]
    assert after == before


@BOTH
def test_null_in_updates(fresh_api, path, billed, unbilled):
    """description (null keeps current), amount (null keeps current); a null userId means the firm."""
    fresh_api.write("PUT", f"{path}/{unbilled}", {"userId": "b2"})
    before = fresh_api.record(path, unbilled)
    assert before["userId"] == fresh_api.id("b2")
    nulls = ("matterId", "date", "description", "amount", "userId")
    fresh_api.write("PUT", f"{path}/{unbilled}", dict.fromkeys(nulls))
    after = fresh_api.record(path, unbilled)
    assert after["userId"] is None
    assert {name: after[name] for name in nulls[:4]} == {name: before[name] for name in nulls[:4]}


def test_null_clears_codes(fresh_api):
    """expenseCode (string, N)."""
    fresh_api.write("PUT", "expenses/d3", {"expenseCode": "E101"})
    assert fresh_api.record("expenses", "d3")["expenseCode"] == "E101"
    fresh_api.write("PUT", "expenses/d3", {"expenseCode": None})
    assert fresh_api.record("expenses", "d3")["expenseCode"] is None


def test_check_number_is_read_only(fresh_api):
    """checkNumber (string, N, read-only, comes from an accounting system)."""
    fresh_api.write("POST", "expenses", NEW | {"checkNumber": "9"})
    assert newest(fresh_api, "expenses")["checkNumber"] is None


@BOTH
def test_billed_items_cannot_be_touched(fresh_api, path, billed, unbilled):
    """PUT and DELETE: the item is billed (on an invoice)."""
    assert "is billed" in fresh_api.expect_refusal(409, "PUT", f"{path}/{billed}", {"amount": 1})["detail"]
    assert "is billed" in fresh_api.expect_refusal(409, "DELETE", f"{path}/{billed}")["detail"]


def test_items_on_drafts_are_billed_too(fresh_api):
    """True when on an invoice in any state."""
    assert "which is draft" in fresh_api.expect_refusal(409, "DELETE", "expenses/d2")["detail"]


def test_delete_an_expense(fresh_api):
    """DELETE /v2/expenses/{id}: no body."""
    assert fresh_api.write("DELETE", "expenses/d3") is None
    fresh_api.expect_refusal(404, "DELETE", "expenses/d3")


def test_a_fixed_fee_with_time_is_kept(fresh_api):
    """DELETE /v2/fixed-fees/{id}: the fixed fee is billed, or is assigned to time entries."""
    assert "assigned to time entries" in fresh_api.expect_refusal(409, "DELETE", "fixed-fees/f2")["detail"]
    assert (
        "assigned to time entries"
        in fresh_api.expect_refusal(409, "PUT", "fixed-fees/f2", {"matterId": "a1"})["detail"]
    )
    fresh_api.write("DELETE", "time-entries/e3")
    assert fresh_api.write("DELETE", "fixed-fees/f2") is None


@BOTH
@pytest.mark.parametrize("amount", [1e9 + 1, "1", None, True, [], 1e300, 10**40])
def test_wrong_amounts(fresh_api, path, billed, unbilled, amount):
    """amount (number, R)."""
    assert fresh_api.wrong_places("POST", path, NEW | {"amount": amount}) == ["#/amount"]


@pytest.mark.parametrize(
    ("sent", "kept"), [(0.1 + 0.2, 0.3), (1e-9, 0.0), (12.34565, 12.3457), (1e9, 1e9), (-0.0, 0.0)]
)
def test_money_is_exact_to_the_ten_thousandth(fresh_api, sent, kept):
    """Money and hour amounts are JSON numbers (double)."""
    fresh_api.write("POST", "expenses", NEW | {"amount": sent})
    assert newest(fresh_api, "expenses")["amount"] == kept
