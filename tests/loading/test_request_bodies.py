"""The body has the arguments of the call: omitted fields are not sent, at any depth, and None is sent as null."""

from __future__ import annotations

import datetime as dt
import json
import re

import httpx
import pytest
from hypothesis import given, settings, strategies as st
from msgspec import structs

import billframes as bf
from billframes.schema import records as r
from billframes.schema.sources import fields_of
from tests.conftest import FakeServer
from tests.record_strategies import is_struct, wire_names

WRITES = {
    r.CreateClient: ("clients", "create"),
    r.CreateExpense: ("expenses", "create"),
    r.CreateFixedFee: ("fixed_fees", "create"),
    r.CreateMatter: ("matters", "create"),
    r.CreatePracticeArea: ("practice_areas", "create"),
    r.CreateTimeEntry: ("time_entries", "create"),
    r.UpdateClient: ("clients", "update"),
    r.UpdateExpense: ("expenses", "update"),
    r.UpdateFixedFee: ("fixed_fees", "update"),
    r.UpdateMatter: ("matters", "update"),
    r.UpdatePracticeArea: ("practice_areas", "update"),
    r.UpdateTimeEntry: ("time_entries", "update"),
    r.UpdateUser: ("users", "update"),
}
OPTION = "00000000-0000-4000-8000-000000000001"
DEFINITIONS = [
    {"id": "f1", "name": "Court", "valueType": "text"},
    {"id": "f2", "name": "Budget", "valueType": "number"},
    {"id": "f3", "name": "Trial date", "valueType": "date"},
    {"id": "f4", "name": "Pro bono", "valueType": "boolean"},
    {"id": "f5", "name": "Phase", "valueType": "enum", "options": [{"optionId": OPTION, "label": "Discovery"}]},
]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
# An argument, and the expected JSON.
VALUES = {
    "id": st.uuids().flatmap(lambda one: st.sampled_from([(one, str(one)), (str(one), str(one))])),
    "text": texts.map(lambda text: (text, text)),
    "date": st.dates().flatmap(lambda day: st.sampled_from([(day, day.isoformat()), (day.isoformat(),) * 2])),
    "time": st.times().map(lambda time: (time, time.isoformat())),
    "flag": st.booleans().map(lambda flag: (flag, flag)),
    **dict.fromkeys(
        ("money", "hours", "rate"), st.floats(allow_nan=False, allow_infinity=False).map(lambda each: (each, each))
    ),
}
CUSTOM = {
    "Court": texts.map(lambda text: (text, {"id": "f1", "value": text})),
    "cf_budget": st.integers(-1000, 1000).map(lambda number: (number, {"id": "f2", "value": number})),
    "f3": st.dates().map(lambda day: (day, {"id": "f3", "value": day.isoformat()})),
    "Pro bono": st.booleans().map(lambda flag: (flag, {"id": "f4", "value": flag})),
    "Phase": st.just(("Discovery", {"id": "f5", "value": "Discovery", "optionId": OPTION})),
}
CLEARED = {name: {"id": f"f{number}", "value": None} for number, name in enumerate(CUSTOM, 1)}


def values_of(field):
    if field.name == "custom_fields":
        given = {name: st.one_of(st.just((None, CLEARED[name])), each) for name, each in CUSTOM.items()}
        values = st.fixed_dictionaries({}, optional=given).map(
            lambda made: ({name: each for name, (each, _) in made.items()}, [wire for _, wire in made.values()])
        )
    elif is_struct(field.type):
        values = arguments(field.type).map(lambda made: (dict(made[0]), made[1]))
    elif field.notes["kind"] == "enum":
        values = st.sampled_from(field.notes["values"]).flatmap(
            lambda each: st.sampled_from([(each, each), (each.upper(), each)])
        )
    else:
        values = VALUES[field.notes["kind"]]
    return st.one_of(st.just((None, None)), values) if field.nullable else values


@st.composite
def arguments(draw, declared):
    """Draw some of a declaration's fields as arguments, with the expected JSON."""
    wire = wire_names(declared)
    required = {each.name for each in structs.fields(declared) if each.required}
    drawn = draw(
        st.fixed_dictionaries(
            {each.name: values_of(each) for each in fields_of(declared) if each.name in required},
            optional={each.name: values_of(each) for each in fields_of(declared) if each.name not in required},
        )
    )
    return {name: each for name, (each, _) in drawn.items()}, {wire[name]: each for name, (_, each) in drawn.items()}


def test_every_create_and_update_is_tested():
    declared = {each for each in vars(r).values() if isinstance(each, type) and issubclass(each, r.WriteBody)}
    assert declared - {r.WriteBody, r.CustomFieldValueUpdate} == set(WRITES)


@pytest.mark.parametrize("declared", WRITES, ids=lambda each: each.__name__)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_body_has_the_arguments_and_nothing_else(declared, data):
    loader, verb = WRITES[declared]
    values, expected = data.draw(arguments(declared).filter(lambda made: made[0]))
    fake = FakeServer()
    fake.answers["/v2/custom-fields"] = lambda request: {
        "data": [{**each, "entity": request.url.params["entity"]} for each in DEFINITIONS]
    }
    path = f"/v2/{loader.replace('_', '-')}"
    fake.answers |= dict.fromkeys([path, f"{path}/x1"], httpx.Response(200))
    with bf.Client("https://billing.test", "t0ken", transport=httpx.MockTransport(fake)) as client:
        writes = getattr(client, loader)
        writes.create(**values) if verb == "create" else writes.update("x1", **values)
    assert fake.requests[-1].method == {"create": "POST", "update": "PUT"}[verb]
    assert json.loads(fake.requests[-1].content) == expected


def test_only_the_changed_telephone_number_is_sent(fake, connect):
    fake.answers["/v2/clients/c1"] = httpx.Response(200)
    connect().clients.update("c1", contact={"phone": "020 7946 0000", "fax": None})
    assert json.loads(fake.requests[-1].content) == {"contact": {"phone": "020 7946 0000", "fax": None}}


def test_only_the_changed_date_of_opening_is_sent(fake, connect):
    fake.answers["/v2/matters/m1"] = httpx.Response(200)
    connect().matters.update("m1", opened=dt.date(2026, 10, 1), conflict_information={"opposing": "Nut Ltd"})
    assert json.loads(fake.requests[-1].content) == {
        "opened": "2026-10-01",
        "conflictInformation": {"opposing": "Nut Ltd"},
    }


@pytest.mark.parametrize(
    ("loader", "values", "message"),
    [
        (
            "time_entries",
            {"billing_type": "bilable"},
            "Did you mean 'billable'? It takes 'nonBillable', 'billable', 'fixedFee'.",
        ),
        ("time_entries", {"billing_type": 5}, "billing_type=5 is not known. It takes"),
        ("time_entries", {"billing_type": ["billable"]}, "billing_type=['billable'] is not known."),
        ("time_entries", {"hours": "2"}, "hours='2' is not a number"),
        ("time_entries", {"hours": float("inf")}, "hours=inf is not a number"),
        ("time_entries", {"hours": True}, "hours=True is not a number"),
        ("time_entries", {"time": "noon"}, "time='noon' is not a time such as '09:30'"),
        ("time_entries", {"description": 5}, "description=5 is not a text"),
        ("clients", {"contact": "020 7946 0000"}, "contact='020 7946 0000' is not a mapping"),
        ("clients", {"contact": {"fone": "1"}}, "contact has no 'fone'; it takes"),
        ("clients", {"contact": {"phone": 1}}, "contact['phone']=1 is not text"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_before_any_request(fake, connect, loader, values, message):
    with pytest.raises(bf.errors.ParameterError, match=re.escape(message)):
        getattr(connect(), loader).update("c0ffee00-1b5c-4f7a-9c1d-2f6f0c3e8a11", **values)
    assert fake.requests == []
