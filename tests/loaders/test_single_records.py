"""Every write of the API from Python, on the sandbox over HTTP."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import re
import uuid
from decimal import Decimal

import httpx
import pandas as pd
import pytest

import billframes as bf
from tests.conftest import entry


@pytest.fixture(scope="module")
def own():
    """Return a client of a sandbox that these tests may change."""
    from billframes.sandbox import Sandbox

    with Sandbox() as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        yield client


@pytest.fixture(scope="module")
def matter(own):
    matters = own.matters(archived=False)
    return matters[matters["matter_type"] == "hourly"]["matter_id"].iloc[0]


@pytest.fixture(scope="module")
def user(own):
    return own.users(role="attorney")["user_id"].iloc[0]


def test_a_time_entry_is_created_read_changed_and_deleted(own, matter):
    made = own.time_entries.create(
        matter_id=uuid.UUID(matter),
        date=dt.date(2026, 10, 30),
        description="Draft reply",
        hours=Decimal("1.5"),
        time="09:30",
        activity_code="A103",
    )
    assert (made.hours, made.billing_type, made.date, made.time) == (
        1.5,
        "billable",
        dt.date(2026, 10, 30),
        dt.time(9, 30),
    )
    assert made.amount == pytest.approx(made.rate * 1.5)
    assert own.time_entries.update(made.time_entry_id, hours=2, activity_code=None) is None
    read = own.time_entries.get(made.time_entry_id)
    assert (read.hours, read.activity_code, read.description) == (2.0, None, "Draft reply")
    assert own.time_entries.delete(made.time_entry_id) is None
    with pytest.raises(bf.errors.NotFoundError):
        own.time_entries.get(made.time_entry_id)


def test_omitted_arguments_are_not_sent_and_none_is_null(fake, connect):
    fake.answers["/v2/time-entries/t1"] = httpx.Response(204)
    assert connect().time_entries.update("t1", description=None, fixed_fee_id=bf.CLEAR) is None
    assert json.loads(fake.requests[-1].content) == {
        "description": None,
        "fixedFeeId": "00000000-0000-0000-0000-000000000000",
    }
    assert fake.requests[-1].method == "PUT"
    assert fake.requests[-1].headers["content-type"] == "application/json"


def test_clear_removes_a_fixed_fee_and_none_keeps_it(own):
    entries = own.time_entries(billing_type="fixedFee", billed=False)
    one = entries[entries["fixed_fee_id"].notna()]["time_entry_id"].iloc[0]
    own.time_entries.update(one, fixed_fee_id=None)
    assert own.time_entries.get(one).fixed_fee_id is not None
    own.time_entries.update(one, fixed_fee_id=bf.CLEAR)
    assert own.time_entries.get(one).fixed_fee_id is None


def test_clear_removes_a_practice_area(own):
    matters = own.matters(archived=False)
    one = matters[matters["practice_area_id"].notna()]["matter_id"].iloc[0]
    assert own.matters.update(one, practice_area_id=bf.CLEAR).practice_area_id is None


def test_an_entry_belongs_to_the_user_the_acting_user_or_the_credential(own, matter, user):
    values = {"matter_id": matter, "date": "2026-10-30", "description": "Call", "hours": 0.1}
    mine = own.time_entries.create(**values).user_id
    assert own.time_entries.create(**values, acting_user=user).user_id == user != mine
    assert own.time_entries.create(**values, acting_user=mine, user_id=user).user_id == user


def test_the_clients_acting_user_and_header_are_sent(fake, connect):
    fake.answers["/v2/time-entries"] = lambda request: httpx.Response(
        201, json={"data": entry(date="2026-10-30", description="Call", hours=1, user={}, matter={}, client={})}
    )
    client = connect(acting_user="u7", acting_user_header="x-behalf")
    client.time_entries.create(matter_id="m1", date="2026-10-30", description="Call", hours=1)
    assert fake.requests[-1].headers["x-behalf"] == "u7"


@pytest.mark.parametrize("kind", ["expenses", "fixed_fees"])
def test_creates_without_a_body_return_none(own, matter, kind):
    loader = getattr(own, kind)
    before = loader.count(matter_id=matter)
    made = loader.create(matter_id=matter, date="2026-10-30", description="Copies", amount=12.34)
    assert made is None
    frame = loader(matter_id=matter)
    assert len(frame) == before + 1
    row = frame[(frame["description"] == "Copies")].iloc[0]
    assert row["amount"] == 12.34
    record = loader.get(row[f"{kind[:-1]}_id"])
    assert record.user_id is None
    assert loader.update(row[f"{kind[:-1]}_id"], amount=20) is None
    assert loader.get(row[f"{kind[:-1]}_id"]).amount == 20.0
    loader.delete(row[f"{kind[:-1]}_id"])
    assert loader.count(matter_id=matter) == before


def test_a_client_with_contact_and_custom_fields(own):
    names = own.custom_fields("client").set_index("value_type")["name"]
    made = own.clients.create(
        name="Árbol & Søn",
        contact={"company_name": "Árbol & Søn", "emailCC": "x@example.com"},
        custom_fields={names["number"] if isinstance(names["number"], str) else names["number"].iloc[0]: 7},
    )
    assert made.contact.email_cc == "x@example.com"
    assert 7.0 in made.custom_fields.values()
    changed = own.clients.update(made.client_id, reference="9001")
    assert (changed.reference, changed.name) == ("9001", "Árbol & Søn")
    own.clients.delete(made.client_id)


def test_custom_fields_are_set_by_name_column_or_id_and_cleared_by_none(own):
    matter = own.matters(archived=False)["matter_id"].iloc[5]
    fields = own.matters(limit=1).attrs["custom_fields"]
    by_type = {each["type"]: (column, each) for column, each in fields.items()}
    option = own.custom_fields("matter").set_index("id").loc[by_type["enum"][1]["id"], "option_labels"][0]
    values = {
        by_type["number"][0]: 12.5,
        by_type["date"][1]["name"]: pd.Timestamp("2027-03-01"),
        by_type["boolean"][1]["id"]: True,
        by_type["enum"][1]["name"]: option,
    }
    record = own.matters.update(matter, custom_fields=values)
    assert getattr(record, by_type["number"][0]) == 12.5
    assert getattr(record, by_type["date"][0]) == dt.date(2027, 3, 1)
    assert getattr(record, by_type["boolean"][0]) is True
    assert getattr(record, by_type["enum"][0]) == option
    record = own.matters.update(matter, custom_fields=dict.fromkeys(values))
    assert not set(record.custom_fields) & {by_type["number"][1]["name"], by_type["enum"][1]["name"]}


def test_matters_are_archived_and_unarchived(own, matter):
    assert own.matters.archive(matter).archived is True
    assert own.matters.unarchive(matter).archived is False


def test_users_custom_fields_can_be_set(own, user):
    fields = own.custom_fields("user")
    text = fields[fields["value_type"] == "text"]["name"].iloc[0]
    assert own.users.update(user, custom_fields={text: "Welsh"}).custom_fields[text] == "Welsh"


def test_the_message_of_a_refusal_begins_with_the_servers_reason(own):
    billed = own.time_entries("2026-06", billed=True)["time_entry_id"].iloc[0]
    with pytest.raises(bf.errors.RefusedError) as raised:
        own.time_entries.update(billed, hours=9)
    assert raised.value.status == 409
    assert str(raised.value).split()[0] not in {"time_entries:", "billframes:"}
    with pytest.raises(bf.errors.RefusedError):
        own.clients.delete(own.matters()["client_id"].iloc[0])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hours": "1.5"}, "hours='1.5'"),
        ({"hours": float("nan")}, "hours=nan"),
        ({"hours": True}, "hours=True"),
        ({"date": "2026-13-01"}, "date='2026-13-01'"),
        ({"date": "2026-10"}, "date='2026-10'"),
        ({"description": 5}, "description=5"),
        ({"description": None}, "description=None"),
        ({"billing_type": "billible"}, "Did you mean 'billable'"),
        ({"matter_id": ""}, "matter_id=''"),
        ({"time": "noon"}, "time='noon'"),
    ],
)
def test_a_wrong_value_is_named_before_any_request(fake, connect, values, message):
    right = {"matter_id": "m1", "date": "2026-10-30", "description": "Call", "hours": 1}
    with pytest.raises(bf.errors.ParameterError) as raised:
        connect().time_entries.create(**{**right, **values})
    assert message in str(raised.value)
    assert fake.requests == []


def test_an_update_without_changes_is_refused(fake, connect):
    with pytest.raises(bf.errors.ParameterError, match="at least one change"):
        connect().matters.update("m1")
    assert fake.requests == []


def test_unknown_custom_fields_options_and_contact_fields_are_named(own):
    client = own.clients(limit=1)["client_id"].iloc[0]
    with pytest.raises(bf.errors.ParameterError, match="is not a custom field"):
        own.clients.update(client, custom_fields={"Nope": 1})
    with pytest.raises(bf.errors.ParameterError, match="Did you mean 'company_name'"):
        own.clients.update(client, contact={"companyname_": "x"})
    with pytest.raises(bf.errors.ParameterError, match="not a mapping"):
        own.clients.update(client, contact="x")


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("gone"), 500, 503])
@pytest.mark.parametrize("verb", ["create", "update", "delete"])
def test_a_write_without_a_response_is_uncertain_and_not_repeated(fake, connect, failure, verb, monkeypatch):
    from billframes.transport import http

    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)

    def fail(_request):
        if isinstance(failure, int):
            return httpx.Response(failure)
        raise failure

    fake.answers = dict.fromkeys(["/v2/expenses", "/v2/expenses/e1"], fail)
    loader = connect(retries=3).expenses
    call = {
        "create": lambda: loader.create(matter_id="m1", date="2026-10-30", description="Copies", amount=1),
        "update": lambda: loader.update("e1", amount=2),
        "delete": lambda: loader.delete("e1"),
    }[verb]
    with pytest.raises(bf.errors.UncertainWriteError, match="not known whether") as raised:
        call()
    writes = [request for request in fake.requests if request.method != "GET"]
    assert len(writes) == 1
    assert raised.value.sent == (json.loads(writes[0].content) if writes[0].content else None)
    assert "Copies" not in str(raised.value)
    assert pickle.loads(pickle.dumps(raised.value)).sent == raised.value.sent


def test_a_write_that_was_certainly_not_sent_or_was_rate_limited_is_retried(fake, connect, monkeypatch):
    from billframes.transport import http

    monkeypatch.setattr(http, "backoff", lambda _attempt: 0.0)
    answers = [httpx.ConnectError("refused"), httpx.Response(429), httpx.Response(200)]

    def serve(_request):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    fake.answers["/v2/expenses/e1"] = serve
    connect(retries=3).expenses.delete("e1")
    assert [request.method for request in fake.requests] == ["DELETE"] * 3


def test_records_are_frozen_shown_as_tables_and_pickle(own):
    record = own.matters.get(own.matters()["matter_id"].iloc[0])
    assert record.client.name in repr(record)
    assert "<table>" in record._repr_html_()
    assert pickle.loads(pickle.dumps(record)) == record
    assert record.to_dict()["client"]["name"] == record.client.name
    assert "client" in dir(record)
    with pytest.raises(AttributeError, match="immutable"):
        record.name = "x"
    with pytest.raises(AttributeError, match="Did you mean 'matter_type'"):
        record.mattertype  # noqa: B018


def test_a_record_shows_each_custom_field_once_and_each_value_on_one_line(own):
    client = next(
        each for each in map(own.clients.get, own.clients()["client_id"]) if each.cf_industry and each.contact.street
    )
    lines = repr(client).splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["client_id", "name", "reference", "contact", "meta"]
    assert len(lines) == 1 + len(client.to_dict()) - len(["custom_fields"])
    for shown in (repr(client), client._repr_html_()):
        assert shown.count(client.cf_industry) == 1
    assert client.meta.custom_fields == client.custom_fields


def test_an_empty_text_in_place_of_an_optional_id_is_none(fake, connect):
    row = entry(invoiceId="", user={}, matter={}, client={})
    fake.answers["/v2/time-entries/t0001"] = {"data": row}
    assert connect().time_entries.get("t0001").invoice_id is None


def test_shown_records_escape_html(fake, connect):
    fake.answers["/v2/time-entries/t1"] = {
        "data": entry(timeEntryId="t1", description="<script>alert(1)</script>", user={}, matter={}, client={})
    }
    assert "<script>" not in connect().time_entries.get("t1")._repr_html_()


def test_an_id_is_one_segment_of_the_path(fake, connect):
    fake.answers["/v2/clients/a1?b"] = httpx.Response(404)
    with pytest.raises(bf.errors.NotFoundError):
        connect().clients.get("a1?b")
    assert fake.requests[-1].url.raw_path == b"/v2/clients/a1%3Fb"


@pytest.mark.parametrize("status", [200, 201, 202])
def test_a_create_with_any_2xx_status_returns_the_record(fake, connect, status):
    row = entry(user={}, matter={}, client={})
    fake.answers["/v2/time-entries"] = httpx.Response(status, json={"data": row})
    made = connect().time_entries.create(matter_id="m1", date="2026-10-01", description="Draft brief", hours=1.5)
    assert made.time_entry_id == "t0001"


@pytest.mark.parametrize("status", [200, 201, 204])
def test_a_write_with_a_2xx_status_and_no_body_is_done(fake, connect, status):
    fake.answers |= dict.fromkeys(("/v2/expenses", "/v2/expenses/e1"), httpx.Response(status))
    expenses = connect().expenses
    assert expenses.create(matter_id="m1", date="2026-10-01", description="x", amount=1) is None
    assert expenses.update("e1", amount=2) is None
    assert expenses.delete("e1") is None


def test_another_record_than_the_requested_one_is_an_error(fake, connect):
    fake.answers["/v2/time-entries/t2"] = {"data": entry(timeEntryId="t3", user={}, matter={}, client={})}
    with pytest.raises(bf.errors.DecodeError, match=r"time_entries: record t2 was requested, the server sent t3"):
        connect().time_entries.get("t2")
    with pytest.raises(bf.errors.UncertainWriteError, match="record t2 was requested") as raised:
        connect().time_entries.update("t2", hours=2)
    assert (raised.value.sent, raised.value.received) == ({"hours": 2.0}, {"timeEntryId": "t3"})


def test_the_case_of_a_records_id_is_ignored(fake, connect):
    id_ = "C0FFEE00-1B5C-4F7A-9C1D-2F6F0C3E8A11"
    row = entry(timeEntryId=id_.lower(), user={}, matter={}, client={})
    fake.answers[f"/v2/time-entries/{id_}"] = {"data": row}
    assert connect().time_entries.get(id_).time_entry_id == id_.lower()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c, frame: c.time_entries.update(frame), "call bf.time_entries.plan(frame): it lists each change"),
        (lambda c, frame: c.matters.update(id=frame), "matters.update takes one matter, not a DataFrame. For a frame"),
        (lambda c, frame: c.expenses.create(frame), "call bf.expenses.plan(frame)"),
        (lambda c, frame: c.fixed_fees.delete(frame), "call bf.fixed_fees.plan(frame, delete=ids)"),
        (lambda c, frame: c.clients.get(frame["id"]), "not a Series. bf.clients() loads several as a frame"),
        (lambda c, frame: c.clients.get(["a1", "a2"]), "clients.get takes one client, not a list"),
        (lambda c, frame: c.matters.archive(frame), "matters.archive takes one matter, not a DataFrame. Call it once"),
        (lambda c, frame: c.users.update(frame, custom_fields={}), "Call it once for each id"),
    ],
)
def test_a_frame_in_place_of_one_record_is_refused_with_what_to_call(fake, connect, call, message):
    frame = pd.DataFrame({"id": ["a1", "a2"], "description": ["Confidential", "Secret"]})
    with pytest.raises(bf.errors.ParameterError, match=re.escape(message)) as caught:
        call(connect(), frame)
    assert "Confidential" not in str(caught.value)
    assert not fake.requests


@pytest.mark.parametrize(
    "call",
    [
        lambda c, frame: c.time_entries(frame),
        lambda c, frame: c.time_entries(billing_type=frame),
        lambda c, frame: c.time_entries(limit=frame),
        lambda c, frame: c.clients(frame),
        lambda c, frame: c.clients.update("a1", custom_fields=frame),
        lambda c, frame: c.time_entries.update("a1", description=frame),
        lambda c, frame: bf.analysis.realization(frame, invoices=frame, basis=frame),
        lambda c, frame: bf.analysis.aging(frame, as_of=frame),
    ],
)
def test_messages_name_the_type_of_a_frame_and_not_its_content(connect, call):
    frame = pd.DataFrame({"description": ["Confidential"]})
    with pytest.raises(bf.errors.BillframesError, match="DataFrame") as caught:
        call(connect(), frame)
    assert "Confidential" not in str(caught.value)
