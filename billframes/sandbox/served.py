"""Schemas of the sandbox's responses, for its OpenAPI document.

The records that billframes decodes are lenient: a field that a server may omit has a default. The sandbox promises
more: its required and nullable properties are those of the API's description, and only properties that it sends are
declared. This module tightens the schemas of the decoded records accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from billframes.schema.records import BALANCE_SETS

__all__ = ["as_served", "balances_schema"]

_Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Shape:
    """
    The sandbox's promises of a record.

    `required` and `nullable` are names separated by blanks; any other property may be omitted and is never null.
    `never` has properties that are decoded but not sent. `more` overrides the properties' own schemas.
    """

    required: str = ""
    nullable: str = ""
    never: str = ""
    more: Mapping[str, _Json] = field(default_factory=lambda: MappingProxyType({}))


_LABEL: _Json = {"type": "string", "minLength": 1}
_INT32: _Json = {"type": "integer", "format": "int32"}
_HOURLY: _Json = {"default": "hourly"}

_ITEM = "matterId clientId date description billed"
_ITEM_DETAIL = f"{_ITEM} matter client"
_MATTER = "matterId name matterType archived clientId responsibleId"
_CONTACT = (
    "companyName firstName lastName middleName suffix email emailCC phone cellPhone otherPhone fax street city state"
    " zip country"
)
_TIME_NULLS = "time rate amount invoiceId fixedFeeId activityCode taskCode"
_MATTER_NULLS = "reference opened originators practiceAreaId customFields"

# The description does not show the embedded user and practice area, nor the fields of `version`.
_USER = {"initials": {"description": "Initials.", "anyOf": [{"type": "string"}, {"type": "null"}]}}
_VERSION = {"properties": {"api": {"type": "string"}, "sandbox": {"type": "string"}}, "required": ["api", "sandbox"]}

_SHAPES: Mapping[str, _Shape] = MappingProxyType(
    {
        "ClientDetail": _Shape("clientId name contact", "reference notes", never="customFields"),
        "ClientList": _Shape("clientId name", "reference", never="customFields"),
        "ClientReference": _Shape("name", "reference", more={"name": _LABEL}),
        "CodeDetail": _Shape("code label codeSetId", "parentCode"),
        "CodeList": _Shape("activity task expense codeSets"),
        "CodeSet": _Shape("codeSetId label description"),
        "ConflictInformation": _Shape("", "adverse relatedAdverse relatedClient opposing"),
        "Contact": _Shape("", _CONTACT),
        "CustomFieldList": _Shape("id entity name valueType", "options"),
        "CustomFieldOption": _Shape("optionId label"),
        "CustomFieldValue": _Shape("id name valueType value", "optionId"),
        "ExpenseDetail": _Shape(f"{_ITEM_DETAIL} amount", "userId invoiceId expenseCode checkNumber"),
        "ExpenseList": _Shape(f"expenseId {_ITEM} amount", "userId invoiceId checkNumber"),
        "Fault": _Shape("detail"),
        "FixedFeeDetail": _Shape(f"fixedFeeId {_ITEM_DETAIL} amount", "userId invoiceId activityCode taskCode"),
        "FixedFeeList": _Shape(f"fixedFeeId {_ITEM} amount", "userId invoiceId"),
        "FixedFeeReference": _Shape("id label amount", more={"label": _LABEL}),
        "HealthCheckResponse": _Shape("", "message", more={"version": _VERSION}),
        "InvoiceList": _Shape(
            "invoiceId clientId matterId invoiceDate amount balance invoiceNumber invoiceState", "dueDate"
        ),
        "InvoiceReference": _Shape("invoiceId invoiceNumber invoiceDate invoiceState invoiceAmount invoiceBalance"),
        "MatterDetail": _Shape(
            f"{_MATTER} client responsible",
            f"{_MATTER_NULLS} originatorIds billingInstructions notes referralSources",
            more={"matterType": _HOURLY},
        ),
        "MatterLedesConfiguration": _Shape(
            "enabled activityCodeRequired taskCodeRequired expenseCodeRequired codeSetIds"
        ),
        "MatterList": _Shape(f"{_MATTER} originatorIds", _MATTER_NULLS),
        "MatterReference": _Shape("name", "reference", more={"name": _LABEL}),
        "Metadata": _Shape("createdAt modifiedAt", "customFields"),
        "Pagination": _Shape("limit offset total", "sort", more=dict.fromkeys(("limit", "offset", "total"), _INT32)),
        "PracticeAreaList": _Shape("practiceAreaId label default"),
        "PracticeAreaReference": _Shape("practiceAreaId label", never="name", more={"label": _LABEL}),
        "ProblemBody": _Shape("type title status detail"),
        "TimeEntryDetail": _Shape(f"timeEntryId userId user {_ITEM_DETAIL} hours billingType", _TIME_NULLS),
        "TimeEntryList": _Shape(f"timeEntryId userId {_ITEM} hours billingType", _TIME_NULLS),
        "UserList": _Shape("userId name firstName lastName role email", "initials customFields"),
        "UserReference": _Shape("userId name firstName lastName", "initials", more=_USER),
        # Bodies of creates: only what differs from the declared bodies.
        "CreateMatter": _Shape(
            "name clientId responsibleId",
            "reference originatorId opened billingInstructions notes referralSources practiceAreaId rateGroupId"
            " customFields",
            more={"matterType": _HOURLY},
        ),
    }
)


def as_served(schemas: Mapping[str, _Json]) -> dict[str, _Json]:
    """Return the schemas tightened to the sandbox's promises; request bodies stay as declared."""
    return {name: _promised(_SHAPES[name], schema) if name in _SHAPES else schema for name, schema in schemas.items()}


def balances_schema(schema: _Json, field_set: str) -> _Json:
    """Return the schema of client balances with the served field set only."""
    names = BALANCE_SETS[field_set]
    others = " ".join(name for name in schema["properties"] if name not in names)
    return _promised(_Shape(" ".join(names), never=others), schema)


def _promised(shape: _Shape, schema: _Json) -> _Json:
    never, nullable = shape.never.split(), shape.nullable.split()
    declared = {name: each for name, each in schema["properties"].items() if name not in never}
    properties = {
        name: {**_property(declared.get(name, {}), nullable=name in nullable), **shape.more.get(name, {})}
        for name in (*declared, *(shape.more.keys() - declared.keys()))
    }
    required = [name for name in properties if name in shape.required.split()]
    return {**schema, "properties": properties, "required": required}


def _property(declared: _Json, *, nullable: bool) -> _Json:
    """Return a property without its default and, unless it is nullable, without null."""
    schema = {name: value for name, value in declared.items() if name != "default"}
    valued = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if nullable or len(valued) == len(schema.get("anyOf", ())):
        return schema
    del schema["anyOf"]
    return {**schema, **valued[0]} if len(valued) == 1 else {**schema, "anyOf": valued}
