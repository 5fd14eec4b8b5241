"""Clients with their balances, and matters: the SQL that reads them, and the operations that write them.

Updates of a contact, and of a matter's conflict information, change only the fields that are sent. A client with
matters can't be deleted, nor a matter with activity.
"""

from __future__ import annotations

import datetime as dt
import math
import sqlite3

from billframes.sandbox.collection import (
    CLIENT,
    META,
    PRACTICE_AREA,
    USER,
    Collection,
    Row,
    View,
    columns,
    flag,
    json_array,
    json_object,
)
from billframes.sandbox.custom_fields import custom_values
from billframes.sandbox.operations import Edit, create, delete, refusal, update
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import CLIENTS, MATTERS

_CLIENT_QUERY = "matches(name, :query, FALSE) OR matches(reference, :query, FALSE)"

# The API has no list of the users assigned to a matter. The documented assumption: the user who is responsible now, and
# everyone with time on the matter.
_ASSIGNED = "responsible_id = :userId OR matter_id IN (SELECT matter_id FROM time_entry WHERE user_id = :userId)"
_ORIGINATED = "matter_id IN (SELECT matter_id FROM matter_originator WHERE user_id = :originatorId)"
_LEDES = {
    "enabled": flag("ledes_enabled"),
    "activityCodeRequired": flag("ledes_activity_required"),
    "taskCodeRequired": flag("ledes_task_required"),
    "expenseCodeRequired": flag("ledes_expense_required"),
    "codeSetIds": "json(ledes_code_sets)",
}
_ORIGINATORS = """
    SELECT * FROM matter_originator JOIN user USING (user_id) WHERE matter_originator.matter_id = matter.matter_id
    ORDER BY position, user_id
"""


def _nest_custom_fields(_connection: sqlite3.Connection, records: list[Row], _view: View) -> None:
    """Move a client's custom fields into its metadata."""
    for record in records:
        if "customFields" in record:
            record["meta"]["customFields"] = record.pop("customFields")


CLIENT_COLLECTION = Collection(
    resource=CLIENTS,
    columns={
        **columns("clientId name reference", contact="json(contact)", notes="notes"),
        "meta": META,
        "customFields": custom_values("client"),
    },
    order=("name",),
    details={"contact": "contact", "notes": "", "meta": "meta customFields", "customFields": "customFields"},
    render=_nest_custom_fields,
    where={"query": _CLIENT_QUERY},
)

MATTER_COLLECTION = Collection(
    resource=MATTERS,
    columns={
        **columns("matterId name reference matterType", archived=flag("archived")),
        **columns("opened clientId responsibleId practiceAreaId"),
        "client": CLIENT,
        "responsible": USER,
        "practiceArea": PRACTICE_AREA,
        "originatorIds": json_array("user_id", _ORIGINATORS),
        "originators": json_array(json_object(USER.columns), _ORIGINATORS),
        "ledesConfiguration": json_object(_LEDES),
        "conflictInformation": "json(conflict)",
        **columns("billingInstructions notes referralSources"),
        "meta": META,
        "customFields": custom_values("matter"),
    },
    order=("name",),
    always=frozenset({"client"}),
    details={
        "originators": "originator",
        "ledesConfiguration": "ledesConfiguration",
        "meta": "meta",
        "customFields": "customFields",
        **dict.fromkeys(("conflictInformation", "billingInstructions", "notes", "referralSources"), ""),
    },
    omitted="conflictInformation",
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


def _refuse_client_deletion(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE client_id = ?", edit.id):
        raise refusal(
            "The client has associated matters, so it can't be deleted. Delete them first; archived matters count, too."
        )
    if edit.exists("SELECT 1 FROM invoice WHERE client_id = ?", edit.id):
        raise refusal("The client has invoices, from matters it used to have, so it can't be deleted.")


def _create_matter(edit: Edit) -> None:
    edit.create({"matter_type": "hourly", **edit.columns()})
    if originator := edit.sent.get("originatorId"):
        edit.insert("matter_originator", {"matter_id": edit.id, "user_id": originator, "position": 0})


def _refuse_matter_deletion(edit: Edit) -> None:
    found = [
        kind
        for table, kind in _ACTIVITY.items()
        if edit.exists(f"SELECT 1 FROM {table} WHERE matter_id = ?", edit.id)  # noqa: S608
    ]
    if found:
        raise refusal(f"The matter has activity ({', '.join(found)}), so it can't be deleted. Archive it instead.")


CLIENT_WRITES = (
    create(collection=CLIENT_COLLECTION, returns_record=True, check=_check_contact),
    update(collection=CLIENT_COLLECTION, returns_record=True),
    delete(
        collection=CLIENT_COLLECTION,
        refuse=_refuse_client_deletion,
        refused_if="The client has associated matters.",
    ),
    create(collection=MATTER_COLLECTION, run=_create_matter, returns_record=True),
    update(collection=MATTER_COLLECTION, returns_record=True),
    delete(
        collection=MATTER_COLLECTION,
        refuse=_refuse_matter_deletion,
        refused_if="The matter has activity: time entries, expenses, fixed fees or invoices.",
    ),
)
