"""Schemas of the sandbox's responses, for its OpenAPI document.

The records that billframes decodes are lenient: a field that a server may omit has a default. The sandbox is stricter:
its required and nullable properties are those of the API's description, and only properties that it sends are declared.
This module tightens the schemas of the decoded records accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from billframes.schema.records import BALANCE_SETS

__all__ = ["balances_schema", "tighten_schemas"]

_Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Record:
    """
    The properties of a record as the sandbox sends it.

    `required` and `nullable` are names separated by blanks. A property that is not required may be omitted; one that is
    not nullable is never null. Properties in `unsent` are decoded, but the sandbox does not send them. `overrides` are
    added to the properties' own schemas.
    """

    required: str = ""
    nullable: str = ""
    unsent: str = ""
    overrides: Mapping[str, _Json] = field(default_factory=lambda: MappingProxyType({}))


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

_RECORDS: Mapping[str, _Record] = MappingProxyType(
    {
        "ClientDetail": _Record("clientId name contact", "reference notes", unsent="customFields"),
        "ClientList": _Record("clientId name", "reference", unsent="customFields"),
        "ClientReference": _Record("name", "reference", overrides={"name": _LABEL}),
        "CodeDetail": _Record("code label codeSetId", "parentCode"),
        "CodeList": _Record("activity task expense codeSets"),
        "CodeSet": _Record("codeSetId label description"),
        "ConflictInformation": _Record("", "adverse relatedAdverse relatedClient opposing"),
        "Contact": _Record("", _CONTACT),
        "CustomFieldList": _Record("id entity name valueType", "options"),
        "CustomFieldOption": _Record("optionId label"),
        "CustomFieldValue": _Record("id name valueType value", "optionId"),
        "ExpenseDetail": _Record(f"{_ITEM_DETAIL} amount", "userId invoiceId expenseCode checkNumber"),
        "ExpenseList": _Record(f"expenseId {_ITEM} amount", "userId invoiceId checkNumber"),
        "Fault": _Record("detail"),
        "FixedFeeDetail": _Record(f"fixedFeeId {_ITEM_DETAIL} amount", "userId invoiceId activityCode taskCode"),
        "FixedFeeList": _Record(f"fixedFeeId {_ITEM} amount", "userId invoiceId"),
        "FixedFeeReference": _Record("id label amount", overrides={"label": _LABEL}),
        "HealthCheckResponse": _Record("", "message", overrides={"version": _VERSION}),
        "InvoiceList": _Record(
            "invoiceId clientId matterId invoiceDate amount balance invoiceNumber invoiceState", "dueDate"
        ),
        "InvoiceReference": _Record("invoiceId invoiceNumber invoiceDate invoiceState invoiceAmount invoiceBalance"),
        "MatterDetail": _Record(
            f"{_MATTER} client responsible",
            f"{_MATTER_NULLS} originatorIds billingInstructions notes referralSources",
            overrides={"matterType": _HOURLY},
        ),
        "MatterLedesConfiguration": _Record(
            "enabled activityCodeRequired taskCodeRequired expenseCodeRequired codeSetIds"
        ),
        "MatterList": _Record(f"{_MATTER} originatorIds", _MATTER_NULLS),
        "MatterReference": _Record("name", "reference", overrides={"name": _LABEL}),
        "Metadata": _Record("createdAt modifiedAt", "customFields"),
        "Pagination": _Record(
            "limit offset total", "sort", overrides=dict.fromkeys(("limit", "offset", "total"), _INT32)
        ),
        "PracticeAreaList": _Record("practiceAreaId label default"),
        "PracticeAreaReference": _Record("practiceAreaId label", unsent="name", overrides={"label": _LABEL}),
        "ProblemBody": _Record("type title status detail"),
        "TimeEntryDetail": _Record(f"timeEntryId userId user {_ITEM_DETAIL} hours billingType", _TIME_NULLS),
        "TimeEntryList": _Record(f"timeEntryId userId {_ITEM} hours billingType", _TIME_NULLS),
        "UserList": _Record("userId name firstName lastName role email", "initials customFields"),
        "UserReference": _Record("userId name firstName lastName", "initials", overrides=_USER),
        # The only request body that differs from its declaration.
        "CreateMatter": _Record(
            "name clientId responsibleId",
            "reference originatorId opened billingInstructions notes referralSources practiceAreaId rateGroupId"
            " customFields",
            overrides={"matterType": _HOURLY},
        ),
    }
)


def tighten_schemas(schemas: Mapping[str, _Json]) -> dict[str, _Json]:
    """Return the schemas with those of `_RECORDS` tightened."""
    return {name: _tighten(_RECORDS[name], schema) if name in _RECORDS else schema for name, schema in schemas.items()}


def balances_schema(schema: _Json, field_set: str) -> _Json:
    """Return the schema of client balances with the properties of this field set only."""
    names = BALANCE_SETS[field_set]
    others = " ".join(name for name in schema["properties"] if name not in names)
    return _tighten(_Record(" ".join(names), unsent=others), schema)


def _tighten(record: _Record, schema: _Json) -> _Json:
    unsent, nullable = record.unsent.split(), record.nullable.split()
    declared = {name: each for name, each in schema["properties"].items() if name not in unsent}
    properties = {
        name: {**_property(declared.get(name, {}), nullable=name in nullable), **record.overrides.get(name, {})}
        for name in (*declared, *(record.overrides.keys() - declared.keys()))
    }
    required = [name for name in properties if name in record.required.split()]
    return {**schema, "properties": properties, "required": required}


def _property(declared: _Json, *, nullable: bool) -> _Json:
    """Return a property without its default and, unless it is nullable, without null."""
    schema = {name: value for name, value in declared.items() if name != "default"}
    valued = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if nullable or len(valued) == len(schema.get("anyOf", ())):
        return schema
    del schema["anyOf"]
    return {**schema, **valued[0]} if len(valued) == 1 else {**schema, "anyOf": valued}
