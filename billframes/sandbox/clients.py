"""Read clients, their matters and their invoices from the tables."""

from __future__ import annotations

import sqlite3
from types import MappingProxyType

import msgspec

from billframes.sandbox.reading import (
    CLIENT,
    MATTER,
    PRACTICE_AREA,
    USER,
    Collection,
    Row,
    View,
    attach,
    custom_fields,
    ids_as_json,
    lookup,
    put_meta,
)
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import CLIENTS, INVOICES, MATTERS

__all__ = ["CLIENT_COLLECTION", "INVOICE_COLLECTION", "MATTER_COLLECTION"]

_MODIFIED = "{}modified_at > :modifiedSince"
_CLIENT_QUERY = "matches(name, :query, FALSE) OR matches(reference, :query, FALSE)"

# The API shows no list of the users assigned to a matter, so this is the documented assumption: the user who is
# responsible now, and everyone with time on the matter.
_ASSIGNED = "responsible_id = :userId OR matter_id IN (SELECT matter_id FROM time_entry WHERE user_id = :userId)"
_ORIGINATED = "matter_id IN (SELECT matter_id FROM matter_originator WHERE user_id = :originatorId)"
_LEDES = MappingProxyType(
    {
        "enabled": "ledes_enabled",
        "activityCodeRequired": "ledes_activity_required",
        "taskCodeRequired": "ledes_task_required",
        "expenseCodeRequired": "ledes_expense_required",
    }
)
_MATTER_DETAIL = MappingProxyType(
    {
        "conflictInformation": "conflict",
        "billingInstructions": "billing_instructions",
        "notes": "notes",
        "referralSources": "referral_sources",
    }
)


def _of_client(column: str, table: str) -> str:
    return f"(SELECT {column} FROM client WHERE client.client_id = {table}.client_id)"  # noqa: S608


def _render_client(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    for record in records:
        contact, notes = record.pop("contact"), record.pop("notes")
        if view.shows("contact"):
            record["contact"] = msgspec.json.decode(contact)
        if view.detail:
            record["notes"] = notes
    # A client's custom fields are part of its metadata, so selecting them selects the metadata.
    put_meta(records, shown=view.shows("meta") or view.shows("customFields"))
    if view.shows("customFields"):
        values = custom_fields(connection, [record["clientId"] for record in records])
        for record in records:
            record["meta"]["customFields"] = values[record["clientId"]]


def _render_matter(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    if view.shows("client"):
        attach(connection, records, "client", CLIENT, "clientId")
    if view.shows("responsible"):
        attach(connection, records, "responsible", USER, "responsibleId")
    if view.shows("practiceArea"):
        attach(connection, records, "practiceArea", PRACTICE_AREA, "practiceAreaId")
    _put_originators(connection, records, shown=view.shows("originator"))
    for record in records:
        record["archived"] = bool(record["archived"])
        _put_ledes(record, shown=view.shows("ledesConfiguration"))
        _put_matter_detail(record, shown=view.detail)
    put_meta(records, shown=view.shows("meta"))
    if view.shows("customFields"):
        values = custom_fields(connection, [record["matterId"] for record in records])
        for record in records:
            record["customFields"] = values[record["matterId"]]


def _put_originators(connection: sqlite3.Connection, records: list[Row], *, shown: bool) -> None:
    sql = """
        SELECT matter_id, user_id FROM matter_originator
        WHERE matter_id IN (SELECT value FROM json_each(?)) ORDER BY position, user_id
    """
    originators: dict[str, list[str]] = {record["matterId"]: [] for record in records}
    for matter_id, user_id in connection.execute(sql, [ids_as_json(originators)]):
        originators[matter_id].append(user_id)
    users = lookup(connection, USER, (each for ids in originators.values() for each in ids)) if shown else {}
    for record in records:
        record["originatorIds"] = originators[record["matterId"]]
        if shown:
            record["originators"] = [users[each] for each in record["originatorIds"]]


def _put_ledes(record: Row, *, shown: bool) -> None:
    flags = {name: bool(record.pop(name)) for name in _LEDES}
    code_sets = record.pop("codeSetIds")
    if shown:
        record["ledesConfiguration"] = flags | {"codeSetIds": msgspec.json.decode(code_sets)}


def _put_matter_detail(record: Row, *, shown: bool) -> None:
    detail = {name: record.pop(name) for name in _MATTER_DETAIL}
    if not shown:
        return
    conflict = detail.pop("conflictInformation")
    if conflict is not None:
        record["conflictInformation"] = msgspec.json.decode(conflict)
    record.update(detail)


def _render_invoice(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    if view.shows("client"):
        attach(connection, records, "client", CLIENT, "clientId")
    if view.shows("matter"):
        attach(connection, records, "matter", MATTER, "matterId")
    put_meta(records, shown=view.shows("meta"))


CLIENT_COLLECTION = Collection(
    resource=CLIENTS,
    table="client",
    key="client_id",
    columns={
        "clientId": "client_id",
        "name": "name",
        "reference": "reference",
        "contact": "contact",
        "notes": "notes",
        "createdAt": "created_at",
        "modifiedAt": "modified_at",
    },
    order=("name",),
    render=_render_client,
    where={"query": _CLIENT_QUERY, "reference": "reference = :reference", "modifiedSince": _MODIFIED},
    sort={"name": "name", "reference": "reference"},
)

MATTER_COLLECTION = Collection(
    resource=MATTERS,
    table="matter",
    key="matter_id",
    columns={
        "matterId": "matter_id",
        "name": "name",
        "reference": "reference",
        "matterType": "matter_type",
        "archived": "archived",
        "opened": "opened",
        "clientId": "client_id",
        "responsibleId": "responsible_id",
        "practiceAreaId": "practice_area_id",
        **_LEDES,
        "codeSetIds": "ledes_code_sets",
        **_MATTER_DETAIL,
        "createdAt": "created_at",
        "modifiedAt": "modified_at",
    },
    order=("name",),
    always=frozenset({"client"}),
    render=_render_matter,
    where={
        "query": f"{_CLIENT_QUERY} OR client_id IN (SELECT client_id FROM client WHERE {_CLIENT_QUERY})",  # noqa: S608
        "reference": "reference = :reference",
        "clientReference": "client_id IN (SELECT client_id FROM client WHERE reference = :clientReference)",
        "userId": _ASSIGNED,
        "responsibleId": "responsible_id = :responsibleId",
        "originatorId": _ORIGINATED,
        "clientId": "client_id = :clientId",
        "practiceAreaId": "practice_area_id = :practiceAreaId",
        "archived": {True: "archived = 1", False: "archived = 0"},
        "modifiedSince": _MODIFIED,
    },
    sort={
        "name": "name",
        "reference": "reference",
        "client.name": _of_client("name", "matter"),
        "client.reference": _of_client("reference", "matter"),
    },
)

INVOICE_COLLECTION = Collection(
    resource=INVOICES,
    table="invoice",
    key="invoice_id",
    columns={
        "invoiceId": "invoice_id",
        "clientId": "client_id",
        # An invoice for several matters shows the first.
        "matterId": "(SELECT matter_id FROM invoice_matter m WHERE m.invoice_id = invoice.invoice_id"
        " ORDER BY position LIMIT 1)",
        "invoiceNumber": "invoice_number",
        "invoiceDate": "invoice_date",
        "invoiceState": "invoice_state",
        "dueDate": "CASE invoice_state WHEN 'final' THEN due_date END",
        "amount": f"amount / {SCALE}.0",
        "balance": f"balance / {SCALE}.0",
        "createdAt": "created_at",
        "modifiedAt": "modified_at",
    },
    order=("invoice_date",),
    render=_render_invoice,
    where={
        "startDate": "invoice_date >= :startDate",
        "endDate": "invoice_date <= :endDate",
        "invoiceState": "invoice_state = :invoiceState",
        "clientId": "client_id = :clientId",
        "matterId": "invoice_id IN (SELECT invoice_id FROM invoice_matter WHERE matter_id = :matterId)",
        "modifiedSince": _MODIFIED,
    },
    sort={
        "client.name": _of_client("name", "invoice"),
        "client.reference": _of_client("reference", "invoice"),
        "invoicedate": "invoice_date",
        "amount": "amount",
        "balance": "balance",
        "invoicenumber": "invoice_number",
        "state": "invoice_state",
    },
)
