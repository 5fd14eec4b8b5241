"""Random calls made from the OpenAPI document: every response is valid, and has no undeclared properties."""

import json
import random
import sqlite3
from contextlib import closing

import jsonschema
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from billframes.sandbox import Sandbox

UNKNOWN = "99999999-0000-4000-8000-000000000000"
# The table with the ids of a property, or with the records of a path.
TABLES = {
    "clientId": "client",
    "fixedFeeId": "fixed_fee",
    "matterId": "matter",
    "originatorId": "user",
    "practiceAreaId": "practice_area",
    "responsibleId": "user",
    "userId": "user",
    "clients": "client",
    "expenses": "expense",
    "fixed-fees": "fixed_fee",
    "matters": "matter",
    "practice-areas": "practice_area",
    "time-entries": "time_entry",
    "users": "user",
}
CODES = {"activityCode": "A103", "taskCode": "L110", "expenseCode": "E101"}
CUSTOM = {
    "client": [{"id": "cf-since", "value": "2024-02-29"}, {"id": "cf-tier", "value": "Silver"}],
    "matter": [{"id": "cf-score", "value": 1.25}, {"id": "cf-urgent", "value": True}],
    "user": [{"id": "cf-bar", "value": None}, {"id": "cf-bar", "value": "CT 9"}],
}
WRONG = [None, "", "nonsense", -1, 0.5, True, [], {}, UNKNOWN]


class Walk:
    """Makes random calls from the document, and validates every response, in which no other properties are allowed."""

    def __init__(self, api, seed=0, limit=20):
        self.api = api
        self.limit = limit
        self.random = random.Random(seed)
        self.document = api.call("/schema/openapi.json").json()
        self.strict = json.loads(json.dumps(closed(self.document)).replace('"#/', '"urn:api#/'))
        self.registry = Registry().with_resource("urn:api", Resource(self.strict, DRAFT202012))
        self.validators = {}
        self.seen = set()
        self.met = {}
        self.operations = [
            (path, method) for path, operations in sorted(self.document["paths"].items()) for method in operations
        ]

    def step(self, methods=("get", "post", "put", "delete")):
        path, method = self.random.choice([each for each in self.operations if each[1] in methods])
        operation = self.document["paths"][path][method]
        name = path.split("/")[2]
        body = self.body(operation, name) if "requestBody" in operation else None
        headers = {"x-service-userid": self.id("user")} if self.random.random() < 0.2 else {}
        token = self.random.choice(["sandbox-full"] * 8 + ["sandbox-norates", "sandbox-service", "nobody's"])
        answer = self.api.http.request(
            method,
            path.replace("{id}", self.id(TABLES.get(name, "client"))),
            params=self.parameters(operation),
            headers={"Authorization": f"Bearer {token}", **headers},
            **({} if body is None else {"json": body}),
        )
        self.check(path, method, answer)
        if method == "post":
            self.ids(TABLES[name])

    def check(self, path, method, answer):
        """Validate a response."""
        declared = self.strict["paths"][path][method]["responses"]
        status = str(answer.status_code)
        assert status in declared, (path, method, status, answer.text)
        self.seen.add((path, method, status))
        response = declared[status]
        if "$ref" in response:
            response = self.strict["components"]["responses"][response["$ref"].rpartition("/")[2]]
        if "content" not in response:
            assert answer.content == b""
            return
        ((kind, content),) = response["content"].items()
        assert answer.headers["content-type"] == kind
        key = (path, method, status)
        if key not in self.validators:
            self.validators[key] = jsonschema.Draft202012Validator(
                content["schema"],
                registry=self.registry,
                format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
            )
        self.validators[key].validate(answer.json())

    def parameters(self, operation):
        """Return query parameters, some of them wrong."""
        chosen = {}
        for each in operation["parameters"]:
            name, schema = each["name"], each["schema"]
            if each["in"] != "query" or self.random.random() < 0.7:
                continue
            if name in {"select", "sort"}:
                names = schema["items"]["enum"]
                value = (
                    ",".join(dict.fromkeys(self.random.choices(names, k=self.random.randint(1, 6)))) if names else ""
                )
            elif name == "limit":
                value = str(self.random.randint(1, self.limit))
            else:
                value = self.value(name, schema)
            chosen[name] = self.random.choice(["x", "-1"]) if self.random.random() < 0.03 else value
        select = next(
            (each["schema"]["items"]["enum"] for each in operation["parameters"] if each["name"] == "select"), []
        )
        if select and self.random.random() < 0.5:
            chosen["select"] = ",".join(name for name in select if not name.startswith("-"))
        if any(each["name"] == "limit" for each in operation["parameters"]):
            chosen.setdefault("limit", str(self.limit))
        return {name: str(value).lower() if isinstance(value, bool) else value for name, value in chosen.items()}

    def body(self, operation, name):
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        return self.object(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], name)

    def object(self, schema, name):
        sent = {}
        for each, declared in schema["properties"].items():
            if each in schema.get("required", ()) or self.random.random() < 0.45:
                sent[each] = self.value(each, declared, name)
            if self.random.random() < 0.01:
                sent[each] = self.random.choice(WRONG)
        return sent

    def value(self, name, schema, about=""):
        """Return a value that is valid for the schema; ids are mostly of existing records."""
        options = schema.get("anyOf", [schema])
        null = {"type": "null"} in options
        schema = next(each for each in options if each != {"type": "null"})
        if null and self.random.random() < 0.15:
            return None
        if "$ref" in schema:
            return self.object(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], about)
        if name == "customFields":
            return self.random.choices(CUSTOM[about.removesuffix("s")], k=self.random.randint(0, 1))
        if name in CODES:
            return CODES[name]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if schema.get("format") == "uuid":
            return self.id(TABLES[name]) if name in TABLES else UNKNOWN
        values = {
            "date": f"2026-{self.random.randint(1, 10):02d}-15",
            "date-time": "2026-10-02T09:00:00Z",
            "time-local": "09:30:00",
        }
        kinds = {
            "string": self.random.choice(["A", "Öl & Söhne", "c-1", "two\nlines"]),
            "number": self.random.randint(0, 40) / 4,
            "integer": self.random.randint(0, 5),
            "boolean": self.random.random() < 0.5,
        }
        return values.get(schema.get("format")) or kinds[schema["type"]]

    def id(self, table):
        """Return the id of a random record, sometimes an unknown id."""
        if self.random.random() < 0.04:
            return UNKNOWN
        return self.random.choice(self.ids(table) or [UNKNOWN])

    def ids(self, table):
        """Return a table's ids in the order of creation: new ids are random, but the walk must be reproducible."""
        with closing(sqlite3.connect(self.api.database)) as connection:
            found = [row[0] for row in connection.execute(f"SELECT {table}_id FROM {table} ORDER BY 1 LIMIT 300")]
        for each in found:
            self.met.setdefault(each, len(self.met))
        return sorted(found, key=self.met.__getitem__)


def closed(node):
    """Return a copy of the document in which no undeclared properties are allowed."""
    if isinstance(node, dict):
        node = {name: closed(value) for name, value in node.items()}
        return {**node, "additionalProperties": False} if is_object(node) else node
    return [closed(each) for each in node] if isinstance(node, list) else node


def is_object(schema):
    return schema.get("type") == "object" and isinstance(schema.get("properties"), dict)


@pytest.mark.slow
def test_every_answer_is_what_the_document_says(fresh_api):
    """1,000 calls, valid and wrong, reads and writes: each response is valid and has no undeclared properties."""
    walk = Walk(fresh_api)
    for _ in range(1_000):
        walk.step()
    done = {(path, method) for path, method, status in walk.seen if status == "200"}
    assert done == set(walk.operations)
    assert {status for *_, status in walk.seen} == {"200", "400", "401", "404", "409"}


@pytest.mark.slow
def test_every_answer_of_the_seeded_firm_is_what_the_document_says(tools):
    """The seeded firm has every kind of invoice, contact, fee and code."""
    with Sandbox() as sandbox:
        api = tools.Api(sandbox)
        with api.http:
            walk = Walk(api, limit=30)
            for _ in range(100):
                walk.step(("get",))
            everything_once(walk)


def everything_once(walk):
    """Read several pages of every list with all details, and every other GET without an id."""
    for path, method in walk.operations:
        if method != "get" or "{id}" in path:
            continue
        parameters = {each["name"]: each["schema"] for each in walk.document["paths"][path]["get"]["parameters"]}
        names = parameters.get("select", {}).get("items", {}).get("enum", [])
        select = {"select": ",".join(name for name in names if not name.startswith("-"))} if names else {}
        places = [{"limit": 200, "offset": offset} for offset in (0, 1_000)] if "limit" in parameters else [{}]
        for each in places:
            walk.check(path, method, walk.api.call(path, **select, **each))


@pytest.mark.parametrize(
    ("record", "change"),
    [
        ("MatterList", {"originatorIds": None}),
        ("MatterList", {"unheard": "of"}),
        ("TimeEntryList", {"billed": None}),
        ("ClientList", {"contact": None}),
        ("InvoiceList", {"matterId": None}),
    ],
)
def test_undeclared_values_are_found(api, record, change):
    """A response with an undeclared null or property is found."""
    walk = Walk(api)
    path = {"MatterList": "matters", "TimeEntryList": "time-entries", "ClientList": "clients"}.get(record, "invoices")
    answer = api.call(f"/v2/{path}")
    walk.check(f"/v2/{path}", "get", answer)
    body = answer.json()
    body["data"][0] |= change
    answer._content = json.dumps(body).encode()
    with pytest.raises(jsonschema.ValidationError):
        walk.check(f"/v2/{path}", "get", answer)
