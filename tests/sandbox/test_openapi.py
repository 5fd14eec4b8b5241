"""The OpenAPI document describes exactly what the sandbox serves."""

import json

import jsonschema
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from billframes.sandbox import Sandbox
from billframes.schema.resources import RESOURCES


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
    """Every operation of the description's tables is in the document, with the statuses of its responses."""
    for name, methods in WRITES.items():
        for method in methods.split():
            path = f"/v2/{name}" + ("" if method == "POST" else "/{id}")
            operation = document["paths"][path][method.lower()]
            assert ("requestBody" in operation) == (method != "DELETE")
            assert {"200", "401", "405"} <= set(operation["responses"])
            assert {"400", "413", "415"} <= set(operation["responses"]) or method == "DELETE"
            assert ("409" in operation["responses"]) == bool(operation.get("description", "").startswith("Refused"))


def test_bodies_have_their_bounds(document):
    """Required fields, minimum lengths and number bounds of bodies are in their schemas."""
    body = document["components"]["schemas"]["CreateTimeEntry"]
    assert set(body["required"]) == {"matterId", "date", "description", "hours"}
    assert body["properties"]["description"]["minLength"] == 1
    assert body["properties"]["hours"]["maximum"] == 100_000
    assert body["properties"]["rate"]["anyOf"][0]["minimum"] == 0


# The description's properties by record: `!` is R (required), `?` is N (nullable). Others may be omitted, but not null.
DESCRIBED = {
    "ClientDetail": "clientId! name! contact! reference? notes? meta",
    "ClientList": "clientId! name! reference? contact meta",
    "ClientReference": "name! reference?",
    "Contact": "companyName? firstName? lastName? middleName? suffix? email? emailCC? phone? cellPhone? otherPhone?"
    " fax? street? city? state? zip? country?",
    "Metadata": "createdAt! modifiedAt! customFields?",
    "MatterDetail": "matterId! name! clientId! matterType! client! responsibleId! responsible! archived! reference?"
    " originatorIds? originators? practiceAreaId? practiceArea opened? conflictInformation billingInstructions? notes?"
    " referralSources? ledesConfiguration meta customFields?",
    "MatterList": "matterId! name! matterType! archived! clientId! responsibleId! originatorIds! reference? opened?"
    " client responsible originators? practiceAreaId? practiceArea ledesConfiguration meta customFields?",
    "ConflictInformation": "adverse? relatedAdverse? relatedClient? opposing?",
    "MatterLedesConfiguration": "enabled! activityCodeRequired! taskCodeRequired! expenseCodeRequired! codeSetIds!",
    "MatterReference": "name! reference?",
    "TimeEntryDetail": "timeEntryId! userId! user! matterId! matter! clientId! client! date! description! hours!"
    " billingType! billed! time? rate? amount? invoiceId? invoice fixedFeeId? fixedFee activityCode? taskCode? meta",
    "TimeEntryList": "timeEntryId! userId! user matterId! matter clientId! client date! description! hours!"
    " billingType! billed! time? rate? amount? invoiceId? invoice fixedFeeId? fixedFee activityCode? taskCode? meta",
    "FixedFeeDetail": "fixedFeeId! matterId! matter! clientId! client! date! description! amount! billed! userId? user"
    " invoiceId? invoice activityCode? taskCode? meta",
    "FixedFeeList": "fixedFeeId! matterId! clientId! date! description! amount! billed! userId? user matter client"
    " invoiceId? invoice meta",
    "FixedFeeReference": "id! label! amount!",
    "ExpenseDetail": "expenseId matterId! matter! clientId! client! date! description! billed! amount! userId? user"
    " invoiceId? invoice expenseCode? checkNumber? meta",
    "ExpenseList": "expenseId! matterId! clientId! date! description! amount! billed! userId? user matter client"
    " checkNumber? invoiceId? invoice meta",
    "InvoiceList": "invoiceId! clientId! matterId! invoiceDate! amount! balance! invoiceNumber! invoiceState! client"
    " matter dueDate? meta",
    "InvoiceReference": "invoiceId! invoiceNumber! invoiceDate! invoiceState! invoiceAmount! invoiceBalance!",
    "PracticeAreaList": "practiceAreaId! label! default!",
    "UserList": "userId! name! firstName! lastName! role! email! initials? customFields?",
    "CodeList": "activity! task! expense! codeSets!",
    "CodeDetail": "code! label! codeSetId! parentCode? selectable",
    "CodeSet": "codeSetId! label! description!",
    "CustomFieldList": "id! entity! name! valueType! options?",
    "CustomFieldOption": "optionId! label!",
    "CustomFieldValue": "id! name! valueType! value! optionId?",
    "Pagination": "limit! offset! total! sort?",
    "HealthCheckResponse": "status version message?",
    "ClientBalances": "balance! current! overdue! overdue0To30! overdue30To60! overdue60To90! overdueOver90!",
    "CreateClient": "name! reference? contact notes? customFields?",
    "UpdateClient": "name? reference? notes? contact customFields?",
    "CreateExpense": "matterId! date! description! amount! userId? expenseCode?",
    "UpdateExpense": "matterId? userId? date? description? amount? expenseCode?",
    "CreateFixedFee": "matterId! date! description! amount! userId? activityCode? taskCode?",
    "UpdateFixedFee": "date? matterId? userId? description? amount? activityCode? taskCode?",
    "CreateMatter": "name! clientId! responsibleId! reference? matterType originatorId? opened? archived"
    " conflictInformation billingInstructions? notes? referralSources? practiceAreaId? rateGroupId? customFields?",
    "CreateTimeEntry": "matterId! date! description! hours! userId? time? rate? billingType fixedFeeId? activityCode?"
    " taskCode?",
    "CreatePracticeArea": "label! default",
    "UpdatePracticeArea": "label? default?",
    "UpdateUser": "customFields?",
    "CustomFieldValueUpdate": "id! value? optionId?",
    # The description only says "all optional" of these two. They accept null, as docs/sandbox.md says.
    "UpdateMatter": "name? reference? clientId? responsibleId? opened? archived? conflictInformation?"
    " billingInstructions? notes? referralSources? practiceAreaId? customFields?",
    "UpdateTimeEntry": "userId? matterId? date? time? description? hours? rate? billingType? fixedFeeId? activityCode?"
    " taskCode?",
}
# Records that the description does not show; docs/decisions.md lists what the sandbox sends.
ASSUMED = {
    "UserReference": "userId! name! firstName! lastName! initials?",
    "PracticeAreaReference": "practiceAreaId! label!",
    "ProblemBody": "type! title! status! detail! errors",
    "Fault": "detail! parameter pointer",
}


def words(schema):
    """Return a schema's properties in the form of the tables."""
    marks = {}
    for name, declared in schema["properties"].items():
        null = {"type": "null"} in declared.get("anyOf", ())
        marks[name] = ("!" if name in schema.get("required", ()) else "") + ("?" if null else "")
    return sorted(f"{name}{mark}" for name, mark in marks.items())


@pytest.mark.parametrize("name", [*DESCRIBED, *ASSUMED])
def test_required_and_nullable_are_the_descriptions(document, name):
    """Each record has the description's properties, required and nullable as it says, and no others."""
    assert words(document["components"]["schemas"][name]) == sorted((DESCRIBED | ASSUMED)[name].split())


def test_every_schema_is_in_the_table(document):
    """Every record in the document is in the tables."""
    assert set(document["components"]["schemas"]) == set(DESCRIBED | ASSUMED)


def test_defaults_are_the_descriptions(document):
    """matterType (default hourly), queryFullMatch (default false), and no defaults beyond the description's."""
    found = {
        f"{record}.{name}": declared["default"]
        for record, schema in document["components"]["schemas"].items()
        for name, declared in schema["properties"].items()
        if "default" in declared
    }
    assert found == {"CreateMatter.matterType": "hourly", "MatterDetail.matterType": "hourly"}
    defaults = {
        each["name"]: each["schema"]["default"]
        for operations in document["paths"].values()
        for each in operations.get("get", {}).get("parameters", ())
        if "default" in each["schema"]
    }
    assert defaults == {"limit": 1000, "offset": 0, "queryFullMatch": False}


def test_numbers_and_labels_are_the_descriptions(document):
    """int32, double, and string (min length 1)."""
    schemas = document["components"]["schemas"]
    assert {schemas["Pagination"]["properties"][name]["format"] for name in ("limit", "offset", "total")} == {"int32"}
    assert schemas["InvoiceReference"]["properties"]["invoiceAmount"]["format"] == "double"
    for record, name in (("ClientReference", "name"), ("MatterReference", "name"), ("FixedFeeReference", "label")):
        assert schemas[record]["properties"][name]["minLength"] == 1


def test_only_paginated_lists_may_be_null(document):
    """`{data: array|null, pagination: Pagination}`."""
    for resource in RESOURCES:
        answer = document["paths"][resource.path]["get"]["responses"]["200"]
        schema = answer["content"]["application/json"]["schema"]
        if resource.paginated:
            assert schema["required"] == ["data", "pagination"]
            assert schema["properties"]["data"]["type"] == ["array", "null"]
        elif resource.name != "codes":
            assert schema["properties"]["data"]["type"] == "array"


def test_the_other_field_set_of_balances(firm, tmp_path, tools):
    """Set B: balance, overdue, overdue30 (more than 30 days overdue), overdue60, overdue90."""
    (tmp_path / "firm.db").write_bytes(firm.read_bytes())
    with Sandbox(db=tmp_path / "firm.db", balances="B") as sandbox:
        api = tools.Api(sandbox)
        with api.http:
            schema = api.call("/schema/openapi.json").json()["components"]["schemas"]["ClientBalances"]
            served = api.call(f"/v2/clients/{api.id('c1')}/balances").json()["data"]
    assert words(schema) == sorted(["balance!", "overdue!", "overdue30!", "overdue60!", "overdue90!"])
    assert served.keys() == schema["properties"].keys()


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
    """Every response to a GET is valid against its schema in the document."""
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


# Each list's filters, select names and sort names, from the description's tables of endpoints.
LISTS = {
    "/v2/clients": ("query reference", "contact meta customFields", "name reference"),
    "/v2/expenses": (
        "startDate endDate userId matterId clientId billed",
        "client matter user meta",
        "date amount description",
    ),
    "/v2/fixed-fees": (
        "startDate endDate userId matterId clientId billed",
        "client matter user meta",
        "date amount description",
    ),
    "/v2/invoices": (
        "startDate endDate invoiceState clientId matterId",
        "client matter meta",
        "client.name client.reference invoicedate amount balance invoicenumber state",
    ),
    "/v2/matters": (
        "query reference clientReference userId responsibleId originatorId clientId practiceAreaId archived",
        "matter ledesConfiguration responsible originator practiceArea meta customFields",
        "name reference client.name client.reference",
    ),
    "/v2/time-entries": (
        "startDate endDate userId matterId clientId fixedFeeId billingType billed",
        "client matter user meta fixedFee",
        "date hours description created",
    ),
    # Not paginated, according to the description. Users have `select` because of the note on their custom fields.
    "/v2/users": ("email role query queryFullMatch", "customFields", ""),
    "/v2/practice-areas": ("", "", ""),
    "/v2/custom-fields": ("entity", "", ""),
    "/v2/codes": ("", "", ""),
}


@pytest.mark.parametrize("path", LISTS)
def test_the_parameters_of_lists_are_the_descriptions(document, path):
    """Each list has exactly these parameters, and paginated lists also the common ones."""
    filters, select, sort = map(str.split, LISTS[path])
    parameters = {each["name"]: each["schema"] for each in document["paths"][path]["get"]["parameters"]}
    common = {"limit", "offset", "modifiedSince", "sort"} if sort else set()
    assert parameters.keys() == {*filters, *common, *(["select"] if select else [])}
    for name, expected in (("select", select), ("sort", sort)):
        names = parameters.get(name, {"items": {"enum": []}})["items"]["enum"]
        assert [each for each in names if not each.startswith("-")] == expected


def test_the_writes_that_answer_with_a_record_are_the_descriptions(document):
    """{data: …} after creates and updates of clients and matters and creates of time entries; no body otherwise."""
    answering = {
        f"{method} {path.removeprefix('/v2/')}"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method != "get" and "content" in operation["responses"]["200"]
    }
    assumed = {"post practice-areas", "put practice-areas/{id}"}
    described = {"post clients", "put clients/{id}", "post matters", "put matters/{id}", "post time-entries"}
    assert answering == described | {"put users/{id}"} | assumed
