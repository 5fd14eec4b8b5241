"""The sandbox's OpenAPI 3.1 document, generated from the API's declaration.

Paths and parameters are made from the resources, and schemas from the record structs, which `response_schemas`
tightens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from billframes._version import __version__
from billframes.sandbox.collection import Collection
from billframes.sandbox.items import ACTING_USER
from billframes.sandbox.operations import Operation
from billframes.sandbox.problems import PROBLEM_JSON, ProblemBody
from billframes.sandbox.query_parameters import MODIFIED_SINCE
from billframes.sandbox.request_bodies import BOUNDS, MAX_BYTES, NEVER_EMPTY
from billframes.sandbox.response_schemas import balances_schema, tighten_schemas
from billframes.schema import records as r
from billframes.schema.resources import CLIENTS, CODES, MAX_LIMIT, MAX_OFFSET, Filter, Resource

BALANCES_PATH = f"{CLIENTS.path}/{{id}}/balances"
# The description shows no path for it.
HEALTH_PATH = "/v2/health"

_Json = dict[str, Any]

_REFERENCE = "#/components/schemas/"
_KINDS: dict[str, _Json] = {
    "id": {"type": "string", "format": "uuid"},
    "date": {"type": "string", "format": "date"},
    "instant": {"type": "string", "format": "date-time"},
    "flag": {"type": "boolean"},
    "text": {"type": "string"},
    "enum": {"type": "string"},
}
_DEFAULTS = {"queryFullMatch": False}
_PROBLEMS = {
    "400": ("BadRequest", "Something about the parameters or the body is wrong; `errors` lists everything."),
    "401": ("Unauthorized", "No credential, or one that is not known."),
    "404": ("NotFound", "No record has this id."),
    "405": ("MethodNotAllowed", "The path does not take this method; `Allow` lists those it takes."),
    "409": ("Refused", "A rule of the API is against it; `detail` names the rule. Nothing was changed."),
    "413": ("TooLarge", f"The body is larger than {MAX_BYTES} bytes."),
    "415": ("UnsupportedMediaType", "The body is not `application/json` in UTF-8."),
}
_ID: _Json = {"name": "id", "in": "path", "required": True, "schema": _KINDS["id"]}
_ACTING_USER_HEADER = {
    "name": ACTING_USER,
    "in": "header",
    "required": False,
    "description": "The user on whose behalf a time entry is created, where the body names none.",
    "schema": _KINDS["id"],
}


def document(collections: Iterable[Collection], writes: Iterable[Operation], *, balances: str = "A") -> bytes:
    """Return the OpenAPI document as JSON, with the reads that have no collection (balances, codes, health)."""
    writes = tuple(writes)
    resources = [each.resource for each in collections]
    paths: dict[str, _Json] = {each.path: {"get": _list_operation(each)} for each in resources}
    for each in resources:
        if each.detail:
            record = _single_operation(f"get_{each.name}", f"One of the {each.nouns}", each.detail)
            paths[f"{each.path}/{{id}}"] = {"get": record}
    balances_of = ("get_client_balances", "The balances of a client's open final invoices", r.ClientBalances)
    paths[BALANCES_PATH] = {"get": _single_operation(*balances_of)}
    paths[CODES.path] = {
        "get": _single_operation("get_codes", "All LEDES code sets and codes", r.CodeList, has_id=False)
    }
    health = _operation("get_health", "Whether the server is well", _ref(r.HealthCheckResponse))
    paths[HEALTH_PATH] = {"get": health | {"security": []}}
    for operation in writes:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _write_operation(operation)
    body = {
        "openapi": "3.1.0",
        "info": {
            "title": "Legal practice billing API: the billframes sandbox",
            "version": __version__,
            "description": "Interface description v1, as the sandbox serves it.",
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": dict(sorted(paths.items())),
        "components": _components(resources, [each.body for each in writes if each.body], balances),
    }
    return msgspec.json.encode(body)


def _list_operation(resource: Resource) -> _Json:
    record = _ref(resource.record)
    data: _Json = {"type": "array", "items": record}
    properties: _Json = {"data": data}
    if resource.paginated:
        data["type"] = ["array", "null"]
        properties["pagination"] = _ref(r.Pagination)
    filters = [_filter_parameter(each) for each in resource.filters if each.described]
    return _operation(
        f"list_{resource.name}",
        f"List {resource.nouns}",
        _object(properties),
        parameters=[*filters, *_common_parameters(resource)],
        problems=("400", "401"),
    )


def _single_operation(name: str, summary: str, record: type[msgspec.Struct], *, has_id: bool = True) -> _Json:
    """Return the operation that reads one record, or all codes."""
    problems = ("401", "404") if has_id else ("401",)
    return _operation(name, summary, _data(record), parameters=[_ID] * has_id, problems=problems)


def _write_operation(operation: Operation) -> _Json:
    problems = ["401"]
    if operation.has_id:
        problems.append("404")
    if operation.body:
        problems += ["400", "413", "415"]
    if operation.refused_if:
        problems.append("409")
    parameters = [_ID] * operation.has_id
    if operation.body is r.CreateTimeEntry:
        parameters.append(_ACTING_USER_HEADER)
    schema = None
    if operation.returns_record:
        resource = operation.collection.resource
        schema = _data(resource.detail or resource.record)
    described = _operation(operation.name, operation.summary, schema, parameters=parameters, problems=sorted(problems))
    if operation.body:
        content = {"application/json": {"schema": _ref(operation.body)}}
        described["requestBody"] = {"required": True, "content": content}
    if operation.refused_if:
        described["description"] = f"Refused with 409 where: {operation.refused_if}"
    return described


def _operation(
    name: str, summary: str, schema: _Json | None, *, parameters: Iterable[_Json] = (), problems: Iterable[str] = ()
) -> _Json:
    success: _Json = {"description": "As asked." if schema else "Done; there is no body."}
    if schema:
        success["content"] = {"application/json": {"schema": schema}}
    responses: _Json = {"200": success}
    for status in (*problems, "405"):
        responses[status] = {"$ref": f"#/components/responses/{_PROBLEMS[status][0]}"}
    return {"operationId": name, "summary": summary, "parameters": list(parameters), "responses": responses}


def _filter_parameter(declared: Filter) -> _Json:
    schema = dict(_KINDS[declared.kind])
    if declared.values:
        schema["enum"] = list(declared.values)
    if declared.name in _DEFAULTS:
        schema["default"] = _DEFAULTS[declared.name]
    return _query_parameter(declared.name, declared.description, schema)


def _common_parameters(resource: Resource) -> list[_Json]:
    """Return the parameters of every paginated list, with `select` if the list has details to select."""
    parameters = []
    if resource.select:
        text = "Details to include; `-` before a name excludes it."
        parameters.append(_names_parameter("select", text, resource.select))
    if not resource.paginated:
        return parameters
    limit = {"type": "integer", "format": "int32", "minimum": 1, "maximum": MAX_LIMIT, "default": MAX_LIMIT}
    offset = {"type": "integer", "format": "int32", "minimum": 0, "maximum": MAX_OFFSET, "default": 0}
    return [
        *parameters,
        _names_parameter("sort", "Fields to sort by; `-` before a name is descending. Ties go by id.", resource.sort),
        _query_parameter("limit", "Most records to answer with.", limit),
        _query_parameter("offset", "Records to pass over.", offset),
        _filter_parameter(MODIFIED_SINCE),
    ]


def _names_parameter(name: str, description: str, accepted: Iterable[str]) -> _Json:
    """Return a parameter of comma-separated names, each with or without `-`."""
    names = [prefix + each for each in accepted for prefix in ("", "-")]
    schema = {"type": "array", "items": {"type": "string", "enum": names}}
    return _query_parameter(name, description, schema) | {"style": "form", "explode": False}


def _query_parameter(name: str, description: str, schema: _Json) -> _Json:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


def _object(properties: _Json) -> _Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _data(record: type[msgspec.Struct]) -> _Json:
    return _object({"data": _ref(record)})


def _ref(record: type[msgspec.Struct]) -> _Json:
    return {"$ref": _REFERENCE + record.__name__}


def _components(resources: Iterable[Resource], bodies: Iterable[type[r.WriteBody]], balances: str) -> _Json:
    types: list[type[msgspec.Struct]] = [r.ClientBalances, r.CodeList, r.HealthCheckResponse, r.Pagination]
    for each in resources:
        types += [each.record, *([each.detail] if each.detail else [])]
    bodies = tuple(bodies)
    _, schemas = msgspec.json.schema_components([*types, *bodies, ProblemBody], ref_template=_REFERENCE + "{name}")
    for body in bodies:
        _add_bounds(schemas[body.__name__])
    for schema in schemas.values():
        _describe_local_times(schema)
    schemas = tighten_schemas(schemas)
    schemas[r.ClientBalances.__name__] = balances_schema(schemas[r.ClientBalances.__name__], balances)
    problem = {PROBLEM_JSON: {"schema": _ref(ProblemBody)}}
    return {
        "schemas": dict(sorted(schemas.items())),
        "responses": {
            name: {"description": description, "content": problem} for name, description in _PROBLEMS.values()
        },
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
    }


def _add_bounds(schema: _Json) -> None:
    for name, property_ in schema["properties"].items():
        minimum, maximum = BOUNDS[name if name in BOUNDS else "money"]
        for each in _alternatives(property_):
            if each.get("type") == "number" and "format" in each:
                each |= {"minimum": minimum, "maximum": maximum}
            elif each.get("type") == "string" and name in NEVER_EMPTY:
                each["minLength"] = 1


def _describe_local_times(schema: _Json) -> None:
    """Give times of day a format of their own, because JSON Schema's `time` requires an offset."""
    for property_ in schema.get("properties", {}).values():
        for each in _alternatives(property_):
            if each.get("format") == "time":
                each |= {
                    "format": "time-local",
                    "pattern": r"^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)?$",
                }


def _alternatives(schema: _Json) -> Iterator[_Json]:
    yield schema
    for each in schema.get("anyOf", ()):
        yield from _alternatives(each)
