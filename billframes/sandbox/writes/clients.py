"""Create, update and delete clients and their matters.

A contact and a matter's conflict information are sparse: what is sent of them is merged into what is stored. A client
with matters and a matter with activity can't be deleted.
"""

from __future__ import annotations

import msgspec

from billframes.sandbox.clients import CLIENT_COLLECTION, MATTER_COLLECTION
from billframes.sandbox.reading import Row
from billframes.sandbox.writes.edits import Edit, Operation, refuse

__all__ = ["CLIENT_WRITES"]

_CLIENT_COLUMNS = {"name": "name", "reference": "reference", "notes": "notes"}
_MATTER_COLUMNS = {
    "name": "name",
    "reference": "reference",
    "clientId": "client_id",
    "responsibleId": "responsible_id",
    "matterType": "matter_type",
    "opened": "opened",
    "archived": "archived",
    "billingInstructions": "billing_instructions",
    "notes": "notes",
    "referralSources": "referral_sources",
    "practiceAreaId": "practice_area_id",
    "rateGroupId": "rate_group_id",
}
# practiceAreaId is here because its removal has a value of its own, the all-zero UUID.
_MATTER_KEEPS = frozenset({"name", "clientId", "responsibleId", "archived", "practiceAreaId", "customFields"})
# The description names time entries, expenses and invoices; fixed fees are activity, too.
_ACTIVITY = {
    "time_entry": "time entries",
    "expense": "expenses",
    "fixed_fee": "fixed fees",
    "invoice_matter": "invoices",
}


def _check_contact(edit: Edit) -> None:
    """When creating a client, the contact must give a company name, or a first and last name, or both."""
    contact = edit.sent.get("contact", {})
    whole = contact.get("companyName") or (contact.get("firstName") and contact.get("lastName"))
    if not whole and not edit.faults.about("#/contact"):
        edit.faults.body("#/contact", "must give a company name, or a first and last name, or both")


def _create_client(edit: Edit) -> None:
    edit.create("client", edit.columns(_CLIENT_COLUMNS) | {"contact": _merged("{}", edit.sent["contact"])})


def _update_client(edit: Edit) -> None:
    row = edit.columns(_CLIENT_COLUMNS)
    if "contact" in edit.sent:
        row["contact"] = _merged(_stored(edit, "client", "contact"), edit.sent["contact"])
    edit.update("client", row)


def _delete_client(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE client_id = ?", edit.id):
        raise refuse("The client has associated matters, so it can't be deleted. Delete or archive the matters.")
    if edit.exists("SELECT 1 FROM invoice WHERE client_id = ?", edit.id):
        raise refuse("The client has invoices, from matters it used to have, so it can't be deleted.")
    edit.delete("client")


def _create_matter(edit: Edit) -> None:
    edit.create("matter", {"matter_type": "hourly", **edit.columns(_MATTER_COLUMNS), **_conflict(edit, "{}")})
    if originator := edit.sent.get("originatorId"):
        edit.insert("matter_originator", {"matter_id": edit.id, "user_id": originator, "position": 0})


def _update_matter(edit: Edit) -> None:
    edit.update("matter", edit.columns(_MATTER_COLUMNS) | _conflict(edit, _stored(edit, "matter", "conflict")))


def _conflict(edit: Edit, stored: str) -> Row:
    """Return the conflict column if it was sent; null clears it."""
    if "conflictInformation" not in edit.sent:
        return {}
    sent = edit.sent["conflictInformation"]
    return {"conflict": None if sent is None else _merged(stored, sent)}


def _delete_matter(edit: Edit) -> None:
    found = [
        kind
        for table, kind in _ACTIVITY.items()
        if edit.exists(f"SELECT 1 FROM {table} WHERE matter_id = ?", edit.id)  # noqa: S608
    ]
    if found:
        raise refuse(f"The matter has activity ({', '.join(found)}), so it can't be deleted. Archive it instead.")
    edit.delete("matter")


def _stored(edit: Edit, table: str, column: str) -> str:
    """Return the record's nested object as JSON; an empty one if what is sent replaces it."""
    if edit.replaces:
        return "{}"
    row = edit.one(f"SELECT {column} FROM {table} WHERE {table}_id = ?", edit.id)  # noqa: S608
    assert row is not None  # noqa: S101
    return row[column] or "{}"


def _merged(stored: str, sent: Row) -> str:
    """Return a nested object as JSON with the sent properties, without nulls."""
    merged = {**msgspec.json.decode(stored), **sent}
    return msgspec.json.encode({name: text for name, text in merged.items() if text is not None}).decode()


CLIENT_WRITES = (
    Operation(method="POST", collection=CLIENT_COLLECTION, run=_create_client, answers=True, check=_check_contact),
    Operation(
        method="PUT",
        collection=CLIENT_COLLECTION,
        run=_update_client,
        answers=True,
        keeps=frozenset({"name", "customFields"}),
    ),
    Operation(
        method="DELETE",
        collection=CLIENT_COLLECTION,
        run=_delete_client,
        refused="The client has associated matters.",
    ),
    Operation(method="POST", collection=MATTER_COLLECTION, run=_create_matter, answers=True),
    Operation(method="PUT", collection=MATTER_COLLECTION, run=_update_matter, answers=True, keeps=_MATTER_KEEPS),
    Operation(
        method="DELETE",
        collection=MATTER_COLLECTION,
        run=_delete_matter,
        refused="The matter has activity: time entries, expenses, fixed fees or invoices.",
    ),
)
