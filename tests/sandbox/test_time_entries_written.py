"""POST, PUT and DELETE of time entries, compared with the API description's own sentences."""

import pytest

from billframes.schema.resources import ALL_ZERO_ID

NEW = {"matterId": "a1", "date": "2026-10-30", "description": "Work", "hours": 1.5}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("08:15:30.5", "08:15:30.500000"),
        ("08:15:30.123456789", "08:15:30.123456"),
        ("08:15.5", "08:15:00.500000"),
        ("23:59:59Z", "23:59:59"),
        ("08:15+02:00", "08:15:00"),
    ],
)
def test_a_time_of_day_is_kept_to_the_microsecond_and_without_its_offset(fresh_api, sent, kept):
    assert fresh_api.write("POST", "time-entries", NEW | {"time": sent})["time"] == kept


def test_create_answers_with_the_entry(fresh_api):
    """POST /v2/time-entries: {data: TimeEntryDetail}."""
    sent = NEW | {"time": "08:15", "activityCode": "A103", "taskCode": "L110"}
    entry = fresh_api.write("POST", "time-entries", sent)
    assert {name: entry[name] for name in ("date", "description", "hours", "time", "activityCode", "taskCode")} == {
        "date": "2026-10-30",
        "description": "Work",
        "hours": 1.5,
        "time": "08:15:00",
        "activityCode": "A103",
        "taskCode": "L110",
    }
    assert (entry["user"]["name"], entry["client"]["name"], entry["billed"]) == ("Ada Oak", "Acme", False)
    assert fresh_api.call(f"/v2/time-entries/{entry['timeEntryId']}").json()["data"] == entry


def test_required_fields(fresh_api):
    """CreateTimeEntry: matterId (uuid, R), date (date, R), description (string min 1, R), hours (number, R)."""
    assert fresh_api.wrong_places("POST", "time-entries", {}) == ["#/matterId", "#/date", "#/description", "#/hours"]
    assert fresh_api.wrong_places("POST", "time-entries", NEW | {"description": "", "hours": None}) == [
        "#/description",
        "#/hours",
    ]


@pytest.mark.parametrize(
    ("body", "header", "token", "user"),
    [
        ("b3", "b2", "full", "b3"),
        ("b3", None, "service", "b3"),
        (None, "b2", "full", "b2"),
        (None, "b2", "service", "b2"),
        (None, None, "full", "b1"),
        (None, None, "norates", "b2"),
    ],
)
def test_whose_entry_it_is(fresh_api, body, header, token, user):
    """The body's userId, else the header `x-service-userid`, else the user the credential identifies."""
    headers = {"x-service-userid": fresh_api.id(header)} if header else {}
    entry = fresh_api.write(
        "POST", "time-entries", NEW | {"userId": body}, headers=headers, token=fresh_api.sandbox.tokens[token]
    )
    assert entry["userId"] == fresh_api.id(user)


def test_nobodys_entry(fresh_api):
    """userId is required only when the credential names no user."""
    assert fresh_api.wrong_places("POST", "time-entries", NEW, token="sandbox-service") == ["#/userId"]
    assert fresh_api.wrong_places(
        "POST", "time-entries", {"hours": 1} | NEW | {"hours": "x"}, token="sandbox-service"
    ) == [
        "#/hours",
        "#/userId",
    ]


@pytest.mark.parametrize("header", ["nonsense", "b9000000-0000-4000-8000-000000000000", "%00", "é"])
def test_a_header_of_nobody(fresh_api, header):
    """`x-service-userid` names the user on whose behalf a time entry is created."""
    headers = {"x-service-userid": header.encode()}
    assert fresh_api.wrong_places("POST", "time-entries", NEW, headers=headers) == ["x-service-userid"]


def test_rate_defaults_to_the_users(fresh_api):
    """rate (number, N; defaults to the user's rate and normally should not be sent)."""
    entry = fresh_api.write("POST", "time-entries", NEW)
    assert (entry["rate"], entry["amount"]) == (400.0, 600.0)
    entry = fresh_api.write("POST", "time-entries", NEW | {"rate": 333.33, "userId": "b2"})
    assert (entry["rate"], entry["amount"]) == (333.33, 500.0)


@pytest.mark.parametrize(("hours", "amount"), [(0.005, 1.67), (-0.005, -1.67), (0, 0.0), (0.0001, 0.03)])
def test_amount_is_rounded_half_up_to_the_cent(fresh_api, hours, amount):
    """amount (number): hours at the rate."""
    assert fresh_api.write("POST", "time-entries", NEW | {"rate": 333, "hours": hours})["amount"] == amount


@pytest.mark.parametrize(
    ("kind", "billing"),
    [
        ("hourly", "billable"),
        ("fixedFee", "fixedFee"),
        ("contingency", "billable"),
        ("probono", "nonBillable"),
        ("internal", "nonBillable"),
    ],
)
def test_matter_type_determines_the_default(fresh_api, kind, billing):
    """matterType: determines defaults for time entries."""
    matter = {"name": "M", "clientId": "c1", "responsibleId": "b1", "matterType": kind}
    matter_id = fresh_api.write("POST", "matters", matter)["matterId"]
    assert fresh_api.write("POST", "time-entries", NEW | {"matterId": matter_id})["billingType"] == billing


@pytest.mark.parametrize("kind", ["nonBillable", "fixedFee"])
def test_rates_only_where_billable(fresh_api, kind):
    """rate and amount: provided only when billingType is billable."""
    entry = fresh_api.write("POST", "time-entries", NEW | {"billingType": kind, "rate": 5})
    assert not {"rate", "amount"} & set(entry)
    fresh_api.write("PUT", f"time-entries/{entry['timeEntryId']}", {"billingType": "billable"})
    assert fresh_api.call(f"/v2/time-entries/{entry['timeEntryId']}").json()["data"]["amount"] == 600.0


def test_rates_are_hidden_in_the_answer_too(fresh_api):
    """Without the scope `read.rates`, rate and amount of time entries are omitted from responses."""
    assert not {"rate", "amount"} & set(fresh_api.write("POST", "time-entries", NEW, token="sandbox-norates"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"hours": "1"},
        {"hours": True},
        {"hours": 1e6},
        {"rate": -1},
        {"date": "2026-02-30"},
        {"date": "0000-01-01"},
        {"date": "2026-10-30T00:00:00Z"},
        {"time": "25:00"},
        {"time": "noon"},
        {"billingType": "Billable"},
        {"billingType": None, "taskCode": "L110 "},
        {"taskCode": "L100"},
        {"activityCode": "L110"},
        {"fixedFeeId": "f9"},
        {"fixedFeeId": "f2"},
        {"userId": "b9"},
        {"userId": "Ada"},
        {"matterId": "c1"},
    ],
)
def test_wrong_values(fresh_api, wrong):
    """Types, enums, references, codes not valid for assigning, and a fixed fee of another matter."""
    names = [f"#/{name}" for name in wrong]
    assert fresh_api.wrong_places("POST", "time-entries", NEW | wrong) == sorted(
        names, key=lambda name: name != names[0]
    )


def test_update_answers_with_no_body_and_is_sparse(fresh_api):
    """PUT /v2/time-entries/{id}: no body. Updates are sparse: only the properties sent are changed."""
    before = fresh_api.record("time-entries", "e2")
    assert fresh_api.write("PUT", "time-entries/e2", {"description": "Long call"}) is None
    after = fresh_api.record("time-entries", "e2")
    assert after.pop("description") == "Long call"
    before.pop("description")
    assert after.pop("meta")["modifiedAt"] > before.pop("meta")["modifiedAt"]
    assert after == before


def changed(fresh_api, body, entry="e2"):
    fresh_api.write("PUT", f"time-entries/{entry}", body)
    return fresh_api.record("time-entries", entry)


def test_null_keeps_description_and_hours(fresh_api):
    """description (null keeps current), hours (null keeps current)."""
    after = changed(fresh_api, {"description": None, "hours": None, "date": None, "userId": None, "billingType": None})
    assert (after["description"], after["hours"], after["date"]) == ("Call", 0.3, "2026-10-02")
    assert (after["userId"], after["billingType"]) == (fresh_api.id("b2"), "billable")


def test_null_clears_what_may_be_null(fresh_api):
    """time, activityCode, taskCode (N)."""
    assert changed(fresh_api, {"time": "10:00:00", "activityCode": "A103", "taskCode": "L110"})["taskCode"] == "L110"
    after = changed(fresh_api, {"time": None, "activityCode": None, "taskCode": None})
    assert [after["time"], after["activityCode"], after["taskCode"]] == [None] * 3


def test_amount_follows(fresh_api):
    """amount is hours at the rate, after every update."""
    assert changed(fresh_api, {"hours": 2})["amount"] == 500.0
    assert changed(fresh_api, {"rate": 100.5})["amount"] == 201.0
    assert changed(fresh_api, {"userId": "b1"})["rate"] == 100.5
    assert changed(fresh_api, {"rate": None})["amount"] == 800.0


def test_fixed_fee_association(fresh_api):
    """fixedFeeId: null keeps the existing association or none; the all-zero UUID removes an existing association."""
    assert changed(fresh_api, {"fixedFeeId": None}, "e3")["fixedFee"]["label"] == "Filing"
    assert "fixedFee" not in changed(fresh_api, {"fixedFeeId": ALL_ZERO_ID}, "e3")
    assert changed(fresh_api, {"fixedFeeId": None}, "e3")["fixedFeeId"] is None
    assert changed(fresh_api, {"fixedFeeId": "f2"}, "e3")["fixedFeeId"] == fresh_api.id("f2")


def test_a_fixed_fee_stays_with_its_matter(fresh_api):
    """FixedFeeReference: the fixed fee that covers the time is of the same matter."""
    assert fresh_api.wrong_places("PUT", "time-entries/e3", {"matterId": "a1"}) == ["#/fixedFeeId"]
    after = changed(fresh_api, {"matterId": "a1", "fixedFeeId": ALL_ZERO_ID}, "e3")
    assert after["matter"]["name"] == "Lawsuit"


@pytest.mark.parametrize("entry", ["e1", "e5"])
def test_billed_entries_cannot_be_touched(fresh_api, entry):
    """PUT and DELETE /v2/time-entries/{id}: the item is billed (on an invoice), in any state."""
    assert "is billed" in fresh_api.expect_refusal(409, "PUT", f"time-entries/{entry}", {"hours": 9})["detail"]
    assert "is billed" in fresh_api.expect_refusal(409, "DELETE", f"time-entries/{entry}")["detail"]


def test_delete(fresh_api):
    """DELETE /v2/time-entries/{id}: no body."""
    assert fresh_api.write("DELETE", "time-entries/e2") is None
    fresh_api.expect_refusal(404, "DELETE", "time-entries/e2")
    fresh_api.expect_refusal(404, "PUT", "time-entries/e2", {"hours": 1})


def test_a_fixed_fee_covers_by_default(fresh_api):
    """Without a billing type, time under a fixed fee is fixedFee."""
    entry = fresh_api.write("POST", "time-entries", NEW | {"matterId": "a2", "fixedFeeId": "f2"})
    assert (entry["billingType"], entry["fixedFee"]["amount"]) == ("fixedFee", 250.0)
