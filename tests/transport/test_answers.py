"""A record that comes back from a write is compared with what was sent: another one is never handed over."""

from __future__ import annotations

import json
import pickle

import httpx
import pytest

import billframes as bf
from billframes.sandbox import Sandbox
from billframes.schema.resources import CLIENTS, EXPENSES, MATTERS, TIME_ENTRIES
from billframes.transport.answers import OtherRecordError, check_answer, check_deletion_answer
from tests.conftest import entry
from tests.loaders.test_family import FORMS, RewritingTransport

ENTRY = {
    "matterId": "C0FFEE00-1B5C-4F7A-9C1D-2F6F0C3E8A11",
    "userId": "u1",
    "date": "2026-10-30",
    "description": "Call with R&D – «Årsmøte»\r\nfollowed by notes ",
    "hours": 1.25,
    "time": "09:30:00",
    "billingType": "fixedFee",
    "activityCode": "A103",
}
CLIENT = {
    "name": "Bolt & Co",
    "contact": {"companyName": "Bolt & Co", "phone": "020 7946 0000", "country": "UK"},
    "customFields": [
        {"id": "7", "value": 12.5},
        {"id": "8", "value": "2027-03-01"},
        {"id": "9", "value": True},
        {"id": "10", "value": "Gold", "optionId": "o1"},
        {"id": "11", "value": "Welsh"},
    ],
}
CUSTOM = {
    "7": {"id": "7", "value": "12.50"},
    "8": {"id": "8", "value": "2027-03-01T00:00:00Z"},
    "9": {"id": "9", "value": "true"},
    "10": {"id": "10", "value": "Gold card", "optionId": "O1"},
    "11": {"id": "11", "value": " Welsh"},
}


def check(resource, sent, shown, **options):
    request = resource.creates
    check_answer(json.dumps({"data": shown}).encode(), json.dumps(sent).encode(), request, resource, **options)


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"matterId": "c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11 "},
        {"date": "2026-10-30T00:00:00.000+01:00"},
        {"description": "Call with R&amp;D – «Årsmøte» followed by notes"},
        {"description": "call with R&D «årsmøte» followed by notes"},
        {"description": "Call with R&D ? ??rsm?te? followed by notes"},
        {"hours": 1.5},
        {"hours": 1.3},
        {"time": "09:30"},
        {"time": None, "activityCode": None},
        {"billingType": "FixedFee"},
        {"userId": ""},
        {"rate": 1, "amount": 7, "invented": "x"},
    ],
)
def test_values_that_a_server_may_change_are_not_another_record(shown):
    check(TIME_ENTRIES, ENTRY, ENTRY | shown)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("matterId", "c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a12"),
        ("userId", "u2"),
        ("date", "2026-10-31"),
        ("date", "2026-10-30T09:30:00"),
        ("description", "Call with R&D"),
        ("description", ""),
        ("description", "Draft brief"),
        ("hours", 1.75),
        ("hours", 12.5),
        ("time", "10:30:00"),
        ("billingType", "billable"),
        ("activityCode", "A104"),
    ],
)
def test_another_value_is_another_record(name, value):
    with pytest.raises(OtherRecordError, match="the record that came back has another") as raised:
        check(TIME_ENTRIES, ENTRY, ENTRY | {name: value})
    assert raised.value.received == {name: value}


def test_narratives_in_other_scripts_are_distinguished():
    for sent, shown in (("Звонок с Васей 1", "Звонок с Петей 1"), ("電話", "会議"), ("???", "!!!")):
        with pytest.raises(OtherRecordError):
            check(TIME_ENTRIES, {"description": sent}, {"description": shown})
        check(TIME_ENTRIES, {"description": sent}, {"description": f" {sent}\n"})


def test_a_long_narrative_may_be_cut_off():
    check(TIME_ENTRIES, {"description": "Review of documents. " * 40}, {"description": "Review of documents. " * 4})
    with pytest.raises(OtherRecordError):
        check(TIME_ENTRIES, {"description": "Review of documents."}, {"description": "Review"})


def test_money_is_compared_to_the_cent():
    check(EXPENSES, {"amount": 12.345}, {"amount": 12.35})
    check(EXPENSES, {"amount": 98_765_432.105}, {"amount": 98_765_432.11})
    with pytest.raises(OtherRecordError):
        check(EXPENSES, {"amount": 12.34}, {"amount": 12.36})


def test_contacts_and_custom_fields_may_have_another_form():
    contact = {"companyName": "BOLT & CO", "phone": "+442079460000", "country": "United Kingdom"}
    check(CLIENTS, CLIENT, CLIENT | {"contact": contact, "customFields": list(CUSTOM.values())})
    check(CLIENTS, CLIENT, {"name": "Bolt & Co", "contact": None, "meta": {"customFields": list(CUSTOM.values())}})
    check(CLIENTS, CLIENT, {"name": "Bolt & Co", "customFields": None})
    for id_, value in (("7", 13), ("8", "2027-03-02"), ("9", False), ("11", "Dutch")):
        with pytest.raises(OtherRecordError, match="custom_fields"):
            check(CLIENTS, CLIENT, CLIENT | {"customFields": [CUSTOM[id_] | {"value": value}]})
    with pytest.raises(OtherRecordError):
        check(CLIENTS, CLIENT, CLIENT | {"customFields": [CUSTOM["10"] | {"optionId": "o2"}]})
    with pytest.raises(OtherRecordError, match="contact"):
        check(CLIENTS, CLIENT, CLIENT | {"contact": {"companyName": "Nut & Co"}})


def test_the_originator_is_one_of_the_matters_originators():
    check(MATTERS, {"originatorId": "u1"}, {"originatorIds": ["u0", "U1"]})
    check(MATTERS, {"originatorId": "u1"}, {"originatorIds": []})
    with pytest.raises(OtherRecordError):
        check(MATTERS, {"originatorId": "u1"}, {"originatorIds": ["u2"]})


def test_a_cleared_value_is_not_there():
    sent = {"practiceAreaId": bf.CLEAR}
    check(MATTERS, sent, {"practiceAreaId": None})
    with pytest.raises(OtherRecordError):
        check(MATTERS, sent, {"practiceAreaId": "p1"})
    check(MATTERS, {"notes": None}, {"notes": "kept"})


@pytest.mark.parametrize(
    "body", [b"", b"null", b'{"deleted": true}', b'{"data": {"expenseId": "E1"}}', b"[]", b"<html>"]
)
def test_a_deletion_may_be_answered_with_anything_but_another_record(body):
    check_deletion_answer(body, EXPENSES, "e1")


def test_a_deletion_that_another_record_answers_is_uncertain(fake, connect):
    page = {"data": [], "pagination": {"limit": 1, "offset": 0, "total": 0}}
    for answer, received in (({"data": {"expenseId": "e2"}}, {"expenseId": "e2"}), (page, {})):
        fake.answers["/v2/expenses/e1"] = answer
        with pytest.raises(bf.errors.UncertainWriteError, match="deleted") as raised:
            connect().expenses.delete("e1")
        assert raised.value.received == received


class SwappingTransport(httpx.HTTPTransport):
    """Sends requests to the sandbox, and answers each write with the response to the write before."""

    def __init__(self):
        super().__init__()
        self.last = None

    def handle_request(self, request):
        response = super().handle_request(request)
        if request.method == "GET" or not response.is_success:
            return response
        content = response.read()
        response.close()
        content, self.last = self.last or content, content
        return httpx.Response(response.status_code, content=content)


@pytest.fixture(scope="module")
def own():
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def swapping(own):
    with bf.Client(own.base_url, own.tokens["full"], transport=SwappingTransport()) as client:
        yield client


def test_a_proxy_that_swaps_responses_hands_over_no_other_record(swapping):
    matter = swapping.matters(archived=False).query("matter_type == 'hourly'")["matter_id"].iloc[0]
    values = {"matter_id": matter, "date": "2026-10-30", "hours": 1}
    made = swapping.time_entries.create(**values, description="Call Ada Lovelace")
    with pytest.raises(bf.errors.UncertainWriteError, match="another description than was sent") as raised:
        swapping.time_entries.create(**values, description="Draft reply")
    error = raised.value
    assert (error.sent["description"], error.received) == ("Draft reply", {"description": "Call Ada Lovelace"})
    assert "Ada" not in str(error) + repr(error)
    assert made.time_entry_id not in str(error)
    assert pickle.loads(pickle.dumps(error)).received == error.received
    # Both exist once.
    entries = swapping.time_entries("2026-10-30", "2026-10-30", matter_id=matter)
    assert entries["description"].isin(["Call Ada Lovelace", "Draft reply"]).sum() == 2


def test_an_update_that_a_record_of_another_kind_answers_is_uncertain(fake, connect):
    fake.answers["/v2/matters/m1"] = {"data": entry(user={}, matter={}, client={})}
    with pytest.raises(bf.errors.UncertainWriteError, match="not known whether the record was changed"):
        connect().matters.update("m1", notes="x")
    with pytest.raises(OtherRecordError, match="of another kind"):
        check(MATTERS, {"notes": "x"}, entry(), id_="m1")


def test_an_update_that_another_record_answers_is_uncertain(swapping):
    one, other = swapping.matters(archived=False)["matter_id"].head(2)
    assert swapping.matters.update(one, notes="Kept in the vault").notes == "Kept in the vault"
    with pytest.raises(bf.errors.UncertainWriteError, match=f"record {other} was requested") as raised:
        swapping.matters.update(other, notes="Kept in the vault")
    assert raised.value.received == {"matterId": one}
    # The same matter, but an older response.
    with pytest.raises(bf.errors.UncertainWriteError, match="another notes than was sent"):
        swapping.matters.update(other, notes="Returned")
    assert swapping.matters.get(other).notes == "Returned"


@pytest.mark.parametrize("form", FORMS)
def test_servers_of_the_same_family_return_the_record_that_was_sent(own, form):
    with bf.Client(own.base_url, own.tokens["full"], transport=RewritingTransport(FORMS[form])) as client:
        matter = client.matters(archived=False).query("matter_type == 'hourly'")["matter_id"].iloc[0]
        made = client.time_entries.create(
            matter_id=matter.upper(),
            date="2026-10-30",
            description=" Call <b>Ada</b> & Søn \r\n",
            hours=0.1,
            time="09:30",
            rate=100,
        )
        assert client.time_entries.get(made.time_entry_id) == made
        opened = client.matters.update(matter, opened="2024-02-29", billing_instructions="  Net 30  ").opened
        assert str(opened) == "2024-02-29"
