"""Schemas of the sandbox's responses, for its OpenAPI document.

The records that billframes decodes are lenient: a field that a server may omit has a default. The sandbox is stricter:
an embedded record is there or omitted, but never null, and only properties that it sends are declared. This module
tightens the schemas of the decoded records accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from billframes.schema.records import BALANCE_SETS, WriteBody

_Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Exceptions:
    """
    The properties that differ from their declaration, as names separated by blanks.

    Those in `always` are required and never null, and those in `sometimes` may be omitted and are never null. Those in
    `unsent` are decoded, but the sandbox does not send them. `overrides` are added to the properties' own schemas.
    """

    always: str = ""
    sometimes: str = ""
    unsent: str = ""
    overrides: Mapping[str, _Json] = field(default_factory=lambda: MappingProxyType({}))


_LABEL: _Json = {"type": "string", "minLength": 1}
_INT32: _Json = {"type": "integer", "format": "int32"}
_HOURLY: _Json = {"default": "hourly"}

# The description does not show the embedded user and practice area, nor the fields of `version`.
_USER = {"initials": {"description": "Initials.", "anyOf": [{"type": "string"}, {"type": "null"}]}}
_VERSION = {"properties": {"api": {"type": "string"}, "sandbox": {"type": "string"}}, "required": ["api", "sandbox"]}

_EXCEPTIONS: Mapping[str, _Exceptions] = MappingProxyType(
    {
        "ClientDetail": _Exceptions(unsent="customFields"),
        "ClientList": _Exceptions(unsent="customFields"),
        "ClientReference": _Exceptions("name", overrides={"name": _LABEL}),
        "CodeDetail": _Exceptions(sometimes="selectable"),
        "CustomFieldValue": _Exceptions("value"),
        "ExpenseDetail": _Exceptions(sometimes="expenseId"),
        "Fault": _Exceptions(sometimes="parameter pointer"),
        "FixedFeeReference": _Exceptions("id label amount", overrides={"label": _LABEL}),
        "HealthCheckResponse": _Exceptions(sometimes="status version", overrides={"version": _VERSION}),
        "InvoiceList": _Exceptions("matterId"),
        "InvoiceReference": _Exceptions(
            "invoiceId invoiceNumber invoiceDate invoiceState invoiceAmount invoiceBalance"
        ),
        "MatterDetail": _Exceptions(overrides={"matterType": _HOURLY}),
        "MatterList": _Exceptions("originatorIds"),
        "MatterReference": _Exceptions("name", overrides={"name": _LABEL}),
        "Pagination": _Exceptions(overrides=dict.fromkeys(("limit", "offset", "total"), _INT32)),
        "PracticeAreaReference": _Exceptions("practiceAreaId label", unsent="name", overrides={"label": _LABEL}),
        "UserReference": _Exceptions("userId name firstName lastName", overrides=_USER),
        # The only request body that differs from its declaration.
        "CreateMatter": _Exceptions(overrides={"matterType": _HOURLY}),
    }
)


_REQUEST_BODIES = frozenset(each.__name__ for each in WriteBody.__subclasses__())


def tighten_schemas(schemas: Mapping[str, _Json]) -> dict[str, _Json]:
    """Return the schemas, with those of responses and of `_EXCEPTIONS` tightened."""
    plain = _REQUEST_BODIES - _EXCEPTIONS.keys()
    return {
        name: schema if name in plain else _tighten(_EXCEPTIONS.get(name, _Exceptions()), schema)
        for name, schema in schemas.items()
    }


def balances_schema(schema: _Json, field_set: str) -> _Json:
    """Return the schema of client balances with the properties of this field set only."""
    names = BALANCE_SETS[field_set]
    others = " ".join(name for name in schema["properties"] if name not in names)
    return _tighten(_Exceptions(" ".join(names), unsent=others), schema)


def _tighten(exceptions: _Exceptions, schema: _Json) -> _Json:
    always, sometimes, unsent = (each.split() for each in (exceptions.always, exceptions.sometimes, exceptions.unsent))
    declared = {name: each for name, each in schema["properties"].items() if name not in unsent}
    properties = {
        name: {
            **_property(declared.get(name, {}), never_null=name in (*always, *sometimes)),
            **exceptions.overrides.get(name, {}),
        }
        for name in (*declared, *(exceptions.overrides.keys() - declared.keys()))
    }
    required = {*schema.get("required", ()), *always} - {*sometimes}
    return {**schema, "properties": properties, "required": [name for name in properties if name in required]}


def _property(declared: _Json, *, never_null: bool) -> _Json:
    """Return a property without its default, and without null if it is never null, as an embedded record."""
    schema = {name: value for name, value in declared.items() if name != "default"}
    types = schema.get("anyOf", ())
    valued = [each for each in types if each != {"type": "null"}]
    if len(valued) == len(types) or not (never_null or any("$ref" in each for each in valued)):
        return schema
    del schema["anyOf"]
    return {**schema, **valued[0]} if len(valued) == 1 else {**schema, "anyOf": valued}
