"""`bf.bulk.set_fields` changes one field of a contact and keeps the others, on servers that merge and that replace."""

from __future__ import annotations

import json

import pytest

import billframes as bf
from billframes.sandbox import Sandbox, Trouble

CONTACT = {"company_name": "Bolt & Co", "email": "office@bolt.example", "phone": "1", "street": "1 Main St\nFloor 2"}
CONFLICT = {"adverse": "Nut Ltd", "opposing": "Nut & Nail LLP"}


@pytest.fixture(scope="module", params=[False, True], ids=["merges", "replaces"])
def own(request):
    """Return a client of a sandbox of each kind, and whether the server replaces."""
    trouble = Trouble(replaced_objects=request.param)
    with Sandbox(trouble=trouble) as sandbox, bf.Client(sandbox.base_url, sandbox.tokens["full"]) as client:
        yield client, request.param


@pytest.fixture
def someone(own):
    client, _ = own
    made = client.clients.create(name="Bolt & Co", contact=CONTACT)
    yield made.client_id
    client.clients.delete(made.client_id)


@pytest.fixture
def matter(own, someone):
    client, _ = own
    user = client.users(role="attorney")["user_id"].iloc[0]
    made = client.matters.create(
        name="Bolt v. Nut", client_id=someone, responsible_id=user, conflict_information=CONFLICT
    )
    yield made.matter_id
    client.matters.delete(made.matter_id)


def filled(record):
    return {name: value for name, value in record.to_dict().items() if value is not None}


def test_a_mapping_sends_only_its_own_fields(own, someone):
    client, replaces = own
    contact = client.clients.update(someone, contact={"phone": "2"}).contact
    assert filled(contact) == ({"phone": "2"} if replaces else {**CONTACT, "phone": "2"})


def test_set_fields_keeps_every_field_of_the_contact(own, someone):
    client, _ = own
    contact = client.clients.update(
        someone, contact=bf.bulk.set_fields(phone="2", fax=None, emailCC="cc@bolt.example")
    ).contact
    assert filled(contact) == {**CONTACT, "phone": "2", "email_cc": "cc@bolt.example"}
    contact = client.clients.update(someone, contact=bf.bulk.set_fields(street=None), notes="Moved").contact
    assert filled(contact) == {name: text for name, text in CONTACT.items() if name != "street"} | {
        "phone": "2",
        "email_cc": "cc@bolt.example",
    }
    assert client.clients.get(someone).notes == "Moved"


def test_set_fields_keeps_every_field_of_the_conflict_information(own, matter):
    client, _ = own
    changed = client.matters.update(matter, conflict_information=bf.bulk.set_fields(related_client="Bolt Holdings"))
    assert filled(changed.conflict_information) == {**CONFLICT, "related_client": "Bolt Holdings"}


def test_set_fields_creates_conflict_information_if_there_is_none(own, matter):
    client, _ = own
    client.matters.update(matter, conflict_information=None)
    changed = client.matters.update(matter, conflict_information=bf.bulk.set_fields(adverse="Nut Ltd"))
    assert filled(changed.conflict_information) == {"adverse": "Nut Ltd"}


def test_set_fields_of_a_missing_client_is_not_found(own):
    with pytest.raises(bf.errors.NotFoundError):
        own[0].clients.update("00000000-0000-4000-8000-00000000dead", contact=bf.bulk.set_fields(phone="2"))


def test_set_fields_sends_back_properties_that_are_not_declared(fake, connect):
    """A server that replaces would lose these properties, too."""
    there = {"clientId": "c1", "name": "Bolt", "contact": {"phone": "1", "fax": None, "pager": {"number": 7}}}
    fake.answers["/v2/clients/c1"] = {"data": there}
    connect().clients.update("c1", contact=bf.bulk.set_fields(phone="2"))
    assert [request.method for request in fake.requests] == ["GET", "PUT"]
    assert json.loads(fake.requests[-1].content) == {"contact": {"phone": "2", "pager": {"number": 7}}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"contact": bf.bulk.set_fields(fone="2")}, "Did you mean 'phone'"),
        ({"contact": bf.bulk.set_fields(phone=2)}, "is not text"),
        ({"name": bf.bulk.set_fields(phone="2")}, "contact can take it"),
        ({"custom_fields": bf.bulk.set_fields(Court="High Court")}, "contact can take it"),
    ],
)
def test_a_wrong_call_of_set_fields_is_named_before_any_request(fake, connect, values, message):
    with pytest.raises(bf.errors.ParameterError, match=message):
        connect().clients.update("c1", **values)
    assert fake.requests == []


def test_set_fields_can_not_be_used_to_create(fake, connect):
    with pytest.raises(bf.errors.ParameterError, match="give contact as a mapping"):
        connect().clients.create(name="Bolt", contact=bf.bulk.set_fields(company_name="Bolt"))
    with pytest.raises(bf.errors.ParameterError, match="custom_fields"):
        connect().clients.create(name="Bolt", custom_fields=bf.bulk.set_fields(Court="High Court"))
    with pytest.raises(bf.errors.ParameterError, match="at least one change"):
        bf.bulk.set_fields()
    assert fake.requests == []
