"""Responses that no server should send: endless nesting, wrong encodings, redirects, unexpected properties."""

from __future__ import annotations

import json
import traceback

import httpx
import pytest

import billframes as bf
from billframes.transport import http, pacing
from tests.conftest import entry, paged

DEEP = b'{"data":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
# Larger than the bodies that are checked completely before they are decoded.
LARGE_AND_DEEP = b'{"data": [' + b" " * 2**18 + b"[" * 10_000 + b"]" * 10_000 + b"]}"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)
    monkeypatch.setattr(pacing, "pause_after", lambda _refusals: 0.0)


@pytest.mark.parametrize("body", [DEEP, LARGE_AND_DEEP, b'{"a":' * 10_000 + b"1" + b"}" * 10_000])
@pytest.mark.parametrize(
    "load", ["practice_areas", "time_entries", "codes", "health", "client_balances", "get", "check"]
)
def test_json_nested_ten_thousand_deep_is_a_decode_error(fake, connect, body, load):
    paths = "practice-areas", "time-entries", "codes", "clients/c1/balances", "time-entries/t1"
    fake.answers = dict.fromkeys(("/up", *(f"/v2/{path}" for path in paths)), body)
    client = connect(retries=1, health_path="/up")
    calls = {
        "client_balances": lambda: client.client_balances("c1"),
        "get": lambda: client.time_entries.get("t1"),
        "time_entries": lambda: client.time_entries(select=""),
    }
    with pytest.raises(bf.errors.DecodeError):
        calls.get(load, getattr(client, load, None))()


@pytest.mark.parametrize("body", [DEEP, LARGE_AND_DEEP])
def test_a_create_with_an_endlessly_nested_response_is_uncertain(fake, connect, body):
    fake.answers["/v2/expenses"] = body
    with pytest.raises(bf.errors.UncertainWriteError, match="Check this before you send it again"):
        connect().expenses.create(matter_id="m1", date="2026-10-01", description="x", amount=1)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("looked_up", [DEEP, LARGE_AND_DEEP, b"[]", b'{"data": [7]}', b'{"data": {"meta": 7}}'])
def test_a_lost_change_that_can_not_be_read_back_is_uncertain(fake, connect, looked_up):
    def serve(request):
        return httpx.Response(500) if request.method == "PUT" else httpx.Response(200, content=looked_up)

    fake.answers["/v2/expenses/e1"] = serve
    with pytest.raises(bf.errors.UncertainWriteError, match="changed"):
        connect(retries=3).expenses.update("e1", amount=2)
    assert [request.method for request in fake.requests].count("PUT") == 1


def test_a_lost_change_is_not_done_because_another_record_has_its_values(fake, connect):
    def serve(request):
        shown = {"data": {"expenseId": "e2", "amount": 2}}
        return httpx.Response(500) if request.method == "PUT" else httpx.Response(200, json=shown)

    fake.answers["/v2/expenses/e1"] = serve
    with pytest.raises(bf.errors.UncertainWriteError):
        connect(retries=3).expenses.update("e1", amount=2)


@pytest.mark.parametrize("where", [{"novelty": "\xff"}, {"pagination": {"limit": 1000, "offset": 0, "novel\xff": 1}}])
@pytest.mark.parametrize("filler", ["", " " * 2**18])
def test_bytes_that_are_not_utf_8_are_refused_in_unused_properties_too(fake, connect, where, filler):
    page = {"data": [entry(**where)] if "novelty" in where else [entry()], "filler": filler}
    page["pagination"] = {"total": 1, "limit": 1000, "offset": 0, **where.get("pagination", {})}
    fake.answers["/v2/time-entries"] = json.dumps(page, ensure_ascii=False).encode("latin-1")
    with pytest.raises(bf.errors.DecodeError, match="time_entries: the server's response is not valid UTF-8"):
        connect().time_entries(select="")


@pytest.mark.parametrize(
    ("status", "location", "method"),
    [
        (300, None, "GET"),
        (301, "https://elsewhere.test/", "POST"),
        (303, "//", "DELETE"),
        (307, "https://[::bad", "PUT"),
        (308, "x" * 70_000, "DELETE"),
        (399, "ftp://x", "PUT"),
    ],
)
def test_a_redirect_of_a_write_leaves_open_whether_it_happened_unless_it_asks_to_repeat_it(
    fake, connect, status, location, method
):
    headers = {} if location is None else {"location": location}
    fake.answers |= dict.fromkeys(("/v2/expenses", "/v2/expenses/e1"), httpx.Response(status, headers=headers))
    expenses = connect(retries=2).expenses
    calls = {
        "GET": lambda: expenses.get("e1"),
        "POST": lambda: expenses.create(matter_id="m1", date="2026-10-01", description="x", amount=1),
        "PUT": lambda: expenses.update("e1", amount=2),
        "DELETE": lambda: expenses.delete("e1"),
    }
    is_open = method != "GET" and status not in {307, 308}
    error = bf.errors.UncertainWriteError if is_open else bf.errors.TransportError
    with pytest.raises(error, match="Redirects are not followed") as raised:
        calls[method]()
    assert raised.value.status == status
    assert [each.method for each in fake.requests if each.method == method] == [method]


@pytest.mark.parametrize("odd", [{"name": {"en": "Tax"}}, {"name": ["Tax"]}, {"name": 7}, {"name": True}])
def test_an_unknown_property_of_a_practice_area_may_hold_anything(fake, connect, odd):
    area = {"practiceAreaId": "p1", "label": "Tax", **odd}
    row = {"matterId": "m1", "name": "Estate", "matterType": "hourly", "archived": False, "clientId": "c1"}
    row |= {
        "responsibleId": "u1",
        "originatorIds": [],
        "client": {"name": "Ada"},
        "practiceArea": area,
        "responsible": {"firstName": {}, "name": "Ann"},
    }
    fake.answers["/v2/matters"] = paged([row])
    frame = connect().matters(select="practiceArea,responsible")
    assert frame[["practice_area_label", "responsible_name"]].iloc[0].tolist() == ["Tax", "Ann"]
    fake.answers["/v2/matters/m1"] = {"data": row}
    record = connect().matters.get("m1")
    assert (record.practice_area.label, record.practice_area.name, record.responsible.name) == ("Tax", None, "Ann")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_the_message_mentions_retries_only_if_there_were_some(fake, connect, status):
    fake.answers |= dict.fromkeys(("/v2/practice-areas", "/v2/expenses"), httpx.Response(status))
    with pytest.raises(bf.errors.ApiError) as once:
        connect(retries=0).practice_areas()
    with pytest.raises(bf.errors.ApiError) as again:
        connect(retries=1).practice_areas()
    assert "trying again" not in str(once.value)
    assert "also after retries" in str(again.value)
    if status != 429:
        with pytest.raises(bf.errors.UncertainWriteError) as write:
            connect(retries=3).expenses.create(matter_id="m1", date="2026-10-01", description="x", amount=1)
        assert "trying again" not in str(write.value)


def test_the_message_of_a_status_without_retries_does_not_mention_them(fake, connect):
    fake.answers["/v2/practice-areas"] = httpx.Response(501)
    with pytest.raises(bf.errors.ServerError) as raised:
        connect(retries=3).practice_areas()
    assert "trying again" not in str(raised.value)


def test_a_record_that_can_not_be_sent_back_is_not_merged(fake, connect):
    contact = {"companyName": "Ada", "novelty": "huge"}
    row = {"clientId": "c1", "name": "Ada", "contact": contact, "meta": None}
    row["meta"] = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "2026-10-01T00:00:00Z"}
    fake.answers["/v2/clients/c1"] = json.dumps({"data": row}).replace('"huge"', "1e400").encode()
    with pytest.raises(
        bf.errors.DecodeError, match=r"^clients: record c1 breaks .* at \$\.data: .*nothing was changed"
    ):
        connect().clients.update("c1", contact=bf.bulk.set_fields(phone="020 7946 0000"))
    assert [request.method for request in fake.requests] == ["GET"]


def test_a_number_out_of_range_is_reported_with_record_and_path(fake, connect):
    page = json.dumps(paged([entry(1), entry(2, hours="huge")])(httpx.Request("GET", "https://billing.test")))
    fake.answers["/v2/time-entries"] = page.replace('"huge"', "1e400").encode()
    with pytest.raises(
        bf.errors.DecodeError, match=r"^time_entries: record t0002 breaks .* at \$\.data\[1\]\.hours: Number"
    ):
        connect().time_entries(select="")


def test_an_instant_that_can_not_be_parsed_is_reported_with_record_and_path(fake, connect):
    meta = {"createdAt": "2026-10-01T00:00:00Z", "modifiedAt": "2026-10-41T00:00:00Z"}
    fake.answers["/v2/time-entries"] = paged([entry(1), entry(2, meta=meta)])
    with pytest.raises(
        bf.errors.DecodeError, match=r"record t0002 breaks .* at \$\.data\[1\]\.meta\.modifiedAt: the value"
    ):
        connect().time_entries(select="meta")


def test_the_traceback_of_a_nested_response_is_short(fake, connect):
    fake.answers["/v2/practice-areas"] = DEEP
    with pytest.raises(bf.errors.DecodeError) as raised:
        connect().practice_areas()
    assert len("".join(traceback.format_exception(raised.value))) < 10_000
