"""GET /v2/fixed-fees and /v2/fixed-fees/{id}."""

import pytest


def test_fields_of_the_list(api):
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
def test_filters_and_sorts(api, query, expected):
    """startDate, endDate (date, inclusive), userId, matterId, clientId, billed, sort (date, amount, description)."""
    assert api.ids("fixed-fees", **query) == expected


def test_single_fee(api):
    """FixedFeeDetail: matter (R), client (R), activityCode (N), taskCode (N), meta."""
    fee = api.one("fixed-fees", "f1")
    assert (fee["activityCode"], fee["taskCode"]) == ("A103", "L110")
    assert fee["matter"]["name"] == "Advice"
    assert fee["invoice"]["invoiceNumber"] == "1001"
    assert "user" not in api.one("fixed-fees", "f2")
