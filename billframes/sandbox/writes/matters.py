"""Create, update and delete matters: null clears, the all-zero UUID removes, and no deletion after any activity."""

from __future__ import annotations

import msgspec

from billframes.sandbox.parties import MATTER_PARTIES
from billframes.sandbox.reading import Row
from billframes.sandbox.writes.custom import write_changes
from billframes.sandbox.writes.edits import Edit, Operation, refuse
from billframes.schema import records as r

__all__ = ["MATTER_WRITES"]

_COLUMNS = {
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
_KEEPS = frozenset({"name", "clientId", "responsibleId", "archived", "practiceAreaId", "customFields"})
# The description names time entries, expenses and invoices; fixed fees are activity, too.
_ACTIVITY = {
    "time_entry": "time entries",
    "expense": "expenses",
    "fixed_fee": "fixed fees",
    "invoice_matter": "invoices",
}


def _create(edit: Edit) -> None:
    row = {"matter_type": "hourly", **edit.columns(_COLUMNS), **_conflict(edit, {})}
    edit.create("matter", "matter_id", row)
    if originator := edit.sent.get("originatorId"):
        edit.insert("matter_originator", {"matter_id": edit.id, "user_id": originator, "position": 0})
    write_changes(edit.connection, edit.id, edit.sent.get("customFields"))


def _update(edit: Edit) -> None:
    stored = edit.one("SELECT conflict FROM matter WHERE matter_id = ?", edit.id)
    assert stored is not None  # noqa: S101
    before = {} if edit.replaces else msgspec.json.decode(stored["conflict"] or "{}")
    edit.update("matter", "matter_id", edit.columns(_COLUMNS) | _conflict(edit, before))
    write_changes(edit.connection, edit.id, edit.sent.get("customFields"))


def _conflict(edit: Edit, before: Row) -> Row:
    """Return the conflict column: the sent properties merged into the current ones; null clears all of them."""
    if "conflictInformation" not in edit.sent:
        return {}
    sent = edit.sent["conflictInformation"]
    if sent is None:
        return {"conflict": None}
    kept = {name: text for name, text in (before | sent).items() if text is not None}
    return {"conflict": msgspec.json.encode(kept).decode()}


def _delete(edit: Edit) -> None:
    found = [
        kind
        for table, kind in _ACTIVITY.items()
        if edit.exists(f"SELECT 1 FROM {table} WHERE matter_id = ?", edit.id)  # noqa: S608
    ]
    if found:
        raise refuse(f"The matter has activity ({', '.join(found)}), so it can't be deleted. Archive it instead.")
    edit.connection.execute("DELETE FROM custom_value WHERE record_id = ?", [edit.id])
    edit.connection.execute("DELETE FROM matter WHERE matter_id = ?", [edit.id])


MATTER_WRITES = (
    Operation(
        method="POST",
        path="/v2/matters",
        name="create_matter",
        summary="Create a matter",
        body=r.CreateMatter,
        answer=MATTER_PARTIES,
        entity="matter",
        run=_create,
    ),
    Operation(
        method="PUT",
        path="/v2/matters/{id}",
        name="update_matter",
        summary="Change a matter; what is not sent stays",
        body=r.UpdateMatter,
        target=MATTER_PARTIES,
        answer=MATTER_PARTIES,
        keeps=_KEEPS,
        entity="matter",
        run=_update,
    ),
    Operation(
        method="DELETE",
        path="/v2/matters/{id}",
        name="delete_matter",
        summary="Delete a matter",
        target=MATTER_PARTIES,
        run=_delete,
        refused="The matter has activity: time entries, expenses, fixed fees or invoices.",
    ),
)
