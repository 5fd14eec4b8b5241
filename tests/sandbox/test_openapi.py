"""The document at /schema/openapi.json says what is served."""

import json

import jsonschema
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from billframes.api.resources import RESOURCES


@pytest.fixture(scope="module")
def document(api):
    answer = api.call("/schema/openapi.json", token=None)
    assert answer.status_code == 200
    return answer.json()


def test_every_resource_is_described(document):
    """Generated from the declaration: every list and every single record has its path."""
    assert document["openapi"].startswith("3.1")
    expected = {each.path for each in RESOURCES} | {each.path + "/{id}" for each in RESOURCES if each.detail}
    written = {"/v2/practice-areas/{id}", "/v2/users/{id}"}
    assert set(document["paths"]) == expected | written | {"/v2/health", "/v2/clients/{id}/balances"}


WRITES = {
    "clients": "POST PUT DELETE",
    "expenses": "POST PUT DELETE",
    "fixed-fees": "POST PUT DELETE",
    "matters": "POST PUT DELETE",
    "practice-areas": "POST PUT",
    "time-entries": "POST PUT DELETE",
    "users": "PUT",
}


def test_every_write_is_described(document):
    """Every operation of the description's tables, with the statuses it may answer."""
    for name, methods in WRITES.items():
        for method in methods.split():
            path = f"/v2/{name}" + ("" if method == "POST" else "/{id}")
            operation = document["paths"][path][method.lower()]
            assert ("requestBody" in operation) == (method != "DELETE")
            assert {"200", "401", "405"} <= set(operation["responses"])
            assert {"400", "413", "415"} <= set(operation["responses"]) or method == "DELETE"
            assert ("409" in operation["responses"]) == bool(operation.get("description", "").startswith("Refused"))


def test_bodies_have_their_bounds(document):
    """Required fields, least lengths and number bounds of bodies are in their schemas."""
    body = document["components"]["schemas"]["CreateTimeEntry"]
    assert set(body["required"]) == {"matterId", "date", "description", "hours"}
    assert body["properties"]["description"]["minLength"] == 1
    assert body["properties"]["hours"]["maximum"] == 100_000
    assert body["properties"]["rate"]["anyOf"][0]["minimum"] == 0


def test_references_lead_somewhere(document):
    """Every $ref of the document points into it."""
    for target in _refs(document):
        node = document
        for part in target.removeprefix("#/").split("/"):
            node = node[part]


def test_bounds(document):
    """limit: minimum 1, maximum 1000, default 1000; offset: minimum 0, maximum 2147483647, default 0."""
    parameters = {each["name"]: each for each in document["paths"]["/v2/time-entries"]["get"]["parameters"]}
    assert {"startDate", "endDate", "userId", "fixedFeeId", "billed", "select", "sort"} <= set(parameters)
    limit, offset = parameters["limit"]["schema"], parameters["offset"]["schema"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 1000, 1000)
    assert (offset["minimum"], offset["maximum"], offset["default"]) == (0, 2147483647, 0)
    assert parameters["billingType"]["schema"]["enum"] == ["nonBillable", "billable", "fixedFee"]


def test_answers_fit_their_schemas(api, document):
    """Every answer of a GET validates against the schema the document gives for it."""
    registry = Registry().with_resource("urn:api", Resource(document, DRAFT202012))
    for path, operations in document["paths"].items():
        if (operation := operations.get("get")) is None:
            continue
        select = next((p for p in operation["parameters"] if p["name"] == "select"), None)
        names = [n for n in select["schema"]["items"]["enum"] if n[0] != "-"] if select else []
        answer = api.call(path.replace("{id}", api.id(_SAMPLES.get(path, "c1"))), select=",".join(names))
        assert answer.status_code == 200
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        absolute = json.loads(json.dumps(schema).replace('"#/', '"urn:api#/'))
        jsonschema.Draft202012Validator(absolute, registry=registry).validate(answer.json())


_SAMPLES = {
    "/v2/expenses/{id}": "d1",
    "/v2/fixed-fees/{id}": "f1",
    "/v2/matters/{id}": "a1",
    "/v2/time-entries/{id}": "e1",
}


def _refs(node):
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key == "$ref")
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from _refs(each)
