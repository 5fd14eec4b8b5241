"""Clients with their balances, and matters: the SQL that reads them, and the operations that write them.

Updates of a contact, and of a matter's conflict information, change only the fields that are sent. A client with
matters can't be deleted, nor a matter with activity.
"""

from __future__ import annotations

import datetime as dt
import math
import sqlite3
from types import MappingProxyType

import msgspec

from billframes.sandbox.collection import (
    CLIENT,
    PRACTICE_AREA,
    USER,
    Collection,
    Row,
    View,
    columns,
    ids_as_json,
    put_meta,
    read_references,
)
from billframes.sandbox.custom_fields import put_custom_fields
from billframes.sandbox.operations import Edit, Operation, refusal
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import CLIENTS, MATTERS

_CLIENT_QUERY = "matches(name, :query, FALSE) OR matches(reference, :query, FALSE)"

# The API has no list of the users assigned to a matter. The documented assumption: the user who is responsible now, and
# everyone with time on the matter.
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
_MATTER_DETAIL = MappingProxyType(columns("billingInstructions notes referralSources", conflictInformation="conflict"))


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
        put_custom_fields(connection, {record["clientId"]: record["meta"] for record in records})


def _render_matter(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    _put_originators(connection, records, shown=view.shows("originator"))
    for record in records:
        record["archived"] = bool(record["archived"])
        _put_ledes(record, shown=view.shows("ledesConfiguration"))
        _put_matter_detail(record, shown=view.detail)
    put_meta(records, shown=view.shows("meta"))
    if view.shows("customFields"):
        put_custom_fields(connection, {record["matterId"]: record for record in records})


def _put_originators(connection: sqlite3.Connection, records: list[Row], *, shown: bool) -> None:
    sql = """
        SELECT matter_id, user_id FROM matter_originator
        WHERE matter_id IN (SELECT value FROM json_each(?)) ORDER BY position, user_id
    """
    originators: dict[str, list[str]] = {record["matterId"]: [] for record in records}
    for matter_id, user_id in connection.execute(sql, [ids_as_json(originators)]):
        originators[matter_id].append(user_id)
    users = read_references(connection, USER, (each for ids in originators.values() for each in ids)) if shown else {}
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


CLIENT_COLLECTION = Collection(
    resource=CLIENTS,
    columns=columns("clientId name reference contact notes createdAt modifiedAt"),
    order=("name",),
    render=_render_client,
    where={"query": _CLIENT_QUERY},
)

MATTER_COLLECTION = Collection(
    resource=MATTERS,
    columns=columns(
        "matterId name reference matterType archived opened clientId responsibleId practiceAreaId createdAt modifiedAt",
        **_LEDES,
        codeSetIds="ledes_code_sets",
        **_MATTER_DETAIL,
    ),
    order=("name",),
    always=frozenset({"client"}),
    render=_render_matter,
    references={"client": CLIENT, "responsible": USER, "practiceArea": PRACTICE_AREA},
    where={
        "query": f"{_CLIENT_QUERY} OR client_id IN (SELECT client_id FROM client WHERE {_CLIENT_QUERY})",  # noqa: S608
        "clientReference": "client_id IN (SELECT client_id FROM client WHERE reference = :clientReference)",
        "userId": _ASSIGNED,
        "originatorId": _ORIGINATED,
        "archived": {True: "archived = 1", False: "archived = 0"},
    },
)


def read_balances(connection: sqlite3.Connection, client_id: str, today: dt.date, field_set: str) -> Row:
    """
    Return the balances of a client's open final invoices, in field set A or B.

    An invoice is overdue from the day after its due date. If a final invoice has no due date, its invoice date counts.
    Credits are negative, and belong to the bucket of their own due date.
    """
    sql = """
        SELECT CAST(julianday(:today) - julianday(coalesce(due_date, invoice_date)) AS INTEGER), balance
        FROM invoice WHERE client_id = :client AND invoice_state = 'final' AND balance <> 0
    """
    open_invoices = connection.execute(sql, {"today": today.isoformat(), "client": client_id}).fetchall()

    def owed(more_than: float = -math.inf, up_to: float = math.inf) -> float:
        balances = (balance for days, balance in open_invoices if more_than < days <= up_to)
        return float(sum(balances)) / SCALE

    if field_set == "B":
        names = {"overdue30": 30, "overdue60": 60, "overdue90": 90}
        return {"balance": owed(), "overdue": owed(0)} | {name: owed(days) for name, days in names.items()}
    return {
        "balance": owed(),
        "current": owed(up_to=0),
        "overdue": owed(0),
        "overdue0To30": owed(0, 30),
        "overdue30To60": owed(30, 60),
        "overdue60To90": owed(60, 90),
        "overdueOver90": owed(90),
    }


# The description names time entries, expenses and invoices. Fixed fees count as activity, too.
_ACTIVITY = {
    "time_entry": "time entries",
    "expense": "expenses",
    "fixed_fee": "fixed fees",
    "invoice_matter": "invoices",
}


def _check_contact(edit: Edit) -> None:
    """Check that a new client's contact gives a company name, or a first and last name, or both."""
    contact = edit.sent.get("contact", {})
    is_named = contact.get("companyName") or (contact.get("firstName") and contact.get("lastName"))
    if not is_named and not edit.faults.has("#/contact"):
        edit.faults.add_body("#/contact", "must give a company name, or a first and last name, or both")


def _create_client(edit: Edit) -> None:
    edit.create(edit.columns() | {"contact": _merge("{}", edit.sent["contact"])})


def _update_client(edit: Edit) -> None:
    row = edit.columns()
    if "contact" in edit.sent:
        row["contact"] = _merge(_stored_object(edit, "contact"), edit.sent["contact"])
    edit.update(row)


def _refuse_client_deletion(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE client_id = ?", edit.id):
        raise refusal(
            "The client has associated matters, so it can't be deleted. Delete them first; archived matters count, too."
        )
    if edit.exists("SELECT 1 FROM invoice WHERE client_id = ?", edit.id):
        raise refusal("The client has invoices, from matters it used to have, so it can't be deleted.")


def _create_matter(edit: Edit) -> None:
    edit.create({"matter_type": "hourly", **edit.columns(), **_conflict_column(edit, "{}")})
    if originator := edit.sent.get("originatorId"):
        edit.insert("matter_originator", {"matter_id": edit.id, "user_id": originator, "position": 0})


def _update_matter(edit: Edit) -> None:
    edit.update(edit.columns() | _conflict_column(edit, _stored_object(edit, "conflict")))


def _conflict_column(edit: Edit, stored: str) -> Row:
    """Return the conflict column if it was sent; null clears it."""
    if "conflictInformation" not in edit.sent:
        return {}
    sent = edit.sent["conflictInformation"]
    return {"conflict": None if sent is None else _merge(stored, sent)}


def _refuse_matter_deletion(edit: Edit) -> None:
    found = [
        kind
        for table, kind in _ACTIVITY.items()
        if edit.exists(f"SELECT 1 FROM {table} WHERE matter_id = ?", edit.id)  # noqa: S608
    ]
    if found:
        raise refusal(f"The matter has activity ({', '.join(found)}), so it can't be deleted. Archive it instead.")


def _stored_object(edit: Edit, column: str) -> str:
    """Return the stored nested object as JSON; an empty one if the sent object replaces it."""
    return "{}" if edit.replaces_objects else edit.stored()[column] or "{}"


def _merge(stored: str, sent: Row) -> str:
    """Return a nested object as JSON: the stored one with the sent properties, without nulls."""
    merged = {**msgspec.json.decode(stored), **sent}
    return msgspec.json.encode({name: text for name, text in merged.items() if text is not None}).decode()


CLIENT_WRITES = (
    Operation(
        method="POST", collection=CLIENT_COLLECTION, run=_create_client, returns_record=True, check=_check_contact
    ),
    Operation(method="PUT", collection=CLIENT_COLLECTION, run=_update_client, returns_record=True),
    Operation(
        method="DELETE",
        collection=CLIENT_COLLECTION,
        refuse=_refuse_client_deletion,
        refused_if="The client has associated matters.",
    ),
    Operation(method="POST", collection=MATTER_COLLECTION, run=_create_matter, returns_record=True),
    Operation(method="PUT", collection=MATTER_COLLECTION, run=_update_matter, returns_record=True),
    Operation(
        method="DELETE",
        collection=MATTER_COLLECTION,
        refuse=_refuse_matter_deletion,
        refused_if="The matter has activity: time entries, expenses, fixed fees or invoices.",
    ),
)
