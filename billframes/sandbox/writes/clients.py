"""Create, update and delete clients: the contact rule, sparse contacts, and no deletion while matters exist."""

from __future__ import annotations

import msgspec

from billframes.sandbox.parties import CLIENT_PARTIES
from billframes.sandbox.reading import Row
from billframes.sandbox.writes.custom import write_changes
from billframes.sandbox.writes.edits import Edit, Operation, refuse
from billframes.schema import records as r

__all__ = ["CLIENT_WRITES"]

_COLUMNS = {"name": "name", "reference": "reference", "notes": "notes"}


def _check_contact(edit: Edit) -> None:
    """When creating a client, the contact must give a company name, or a first and last name, or both."""
    contact = edit.sent.get("contact", {})
    whole = contact.get("companyName") or (contact.get("firstName") and contact.get("lastName"))
    if not whole and not edit.faults.about("#/contact"):
        edit.faults.body("#/contact", "must give a company name, or a first and last name, or both")


def _create(edit: Edit) -> None:
    row = edit.columns(_COLUMNS) | {"contact": _stored(edit.sent["contact"])}
    edit.create("client", "client_id", row)
    write_changes(edit.connection, edit.id, edit.sent.get("customFields"))


def _update(edit: Edit) -> None:
    row = edit.columns(_COLUMNS)
    if "contact" in edit.sent:
        stored = edit.one("SELECT contact FROM client WHERE client_id = ?", edit.id)
        assert stored is not None  # noqa: S101
        row["contact"] = _stored(_before(edit, stored["contact"]) | edit.sent["contact"])
    edit.update("client", "client_id", row)
    write_changes(edit.connection, edit.id, edit.sent.get("customFields"))


def _before(edit: Edit, stored: str) -> Row:
    contact: Row = {} if edit.replaces else msgspec.json.decode(stored)
    return contact


def _stored(contact: Row) -> str:
    """Return a contact in the table's format, without nulls."""
    return msgspec.json.encode({name: text for name, text in contact.items() if text is not None}).decode()


def _delete(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE client_id = ?", edit.id):
        raise refuse("The client has associated matters, so it can't be deleted. Delete or archive the matters.")
    if edit.exists("SELECT 1 FROM invoice WHERE client_id = ?", edit.id):
        raise refuse("The client has invoices, from matters it used to have, so it can't be deleted.")
    edit.connection.execute("DELETE FROM custom_value WHERE record_id = ?", [edit.id])
    edit.connection.execute("DELETE FROM client WHERE client_id = ?", [edit.id])


CLIENT_WRITES = (
    Operation(
        method="POST",
        path="/v2/clients",
        name="create_client",
        summary="Create a client",
        body=r.CreateClient,
        answer=CLIENT_PARTIES,
        entity="client",
        check=_check_contact,
        run=_create,
    ),
    Operation(
        method="PUT",
        path="/v2/clients/{id}",
        name="update_client",
        summary="Change a client; what is not sent stays",
        body=r.UpdateClient,
        target=CLIENT_PARTIES,
        answer=CLIENT_PARTIES,
        keeps=frozenset({"name", "customFields"}),
        entity="client",
        run=_update,
    ),
    Operation(
        method="DELETE",
        path="/v2/clients/{id}",
        name="delete_client",
        summary="Delete a client",
        target=CLIENT_PARTIES,
        run=_delete,
        refused="The client has associated matters.",
    ),
)
