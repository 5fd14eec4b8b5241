"""Create, update and delete practice areas, and update users.

The description has the request bodies of practice areas without their paths, and the path of a user's update without
all of its response; both are documented assumptions.
"""

from __future__ import annotations

from billframes.sandbox.firm import FIRM_PRACTICE_AREAS, FIRM_USERS
from billframes.sandbox.writes.custom import write_changes
from billframes.sandbox.writes.edits import Edit, Operation, refuse
from billframes.schema import records as r

__all__ = ["FIRM_WRITES"]


def _create_area(edit: Edit) -> None:
    row = {"practice_area_id": edit.id, "label": edit.sent["label"], "is_default": edit.sent.get("default", False)}
    _leave_default(edit)
    edit.insert("practice_area", row)


def _update_area(edit: Edit) -> None:
    _leave_default(edit)
    for name, column in (("label", "label"), ("default", "is_default")):
        if name in edit.sent:
            sql = f"UPDATE practice_area SET {column} = ? WHERE practice_area_id = ?"  # noqa: S608
            edit.connection.execute(sql, [edit.sent[name], edit.id])


def _delete_area(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE practice_area_id = ?", edit.id):
        raise refuse("The practice area has matters, so it can't be deleted. Give them another one, or none, first.")
    edit.connection.execute("DELETE FROM practice_area WHERE practice_area_id = ?", [edit.id])


def _leave_default(edit: Edit) -> None:
    """Clear the current default: at most one practice area is the default."""
    if edit.sent.get("default"):
        edit.connection.execute("UPDATE practice_area SET is_default = 0 WHERE is_default = 1")


def _update_user(edit: Edit) -> None:
    edit.update("user", "user_id", {})
    write_changes(edit.connection, edit.id, edit.sent.get("customFields"))


FIRM_WRITES = (
    Operation(
        method="POST",
        path="/v2/practice-areas",
        name="create_practice_area",
        summary="Create a practice area (a documented assumption)",
        body=r.CreatePracticeArea,
        answer=FIRM_PRACTICE_AREAS,
        run=_create_area,
    ),
    Operation(
        method="PUT",
        path="/v2/practice-areas/{id}",
        name="update_practice_area",
        summary="Change a practice area (a documented assumption)",
        body=r.UpdatePracticeArea,
        target=FIRM_PRACTICE_AREAS,
        answer=FIRM_PRACTICE_AREAS,
        keeps=frozenset({"label", "default"}),
        run=_update_area,
    ),
    Operation(
        method="DELETE",
        path="/v2/practice-areas/{id}",
        name="delete_practice_area",
        summary="Delete a practice area (a documented assumption)",
        target=FIRM_PRACTICE_AREAS,
        run=_delete_area,
        refused="The practice area has matters.",
    ),
    Operation(
        method="PUT",
        path="/v2/users/{id}",
        name="update_user",
        summary="Change a user's custom fields",
        body=r.UpdateUser,
        target=FIRM_USERS,
        answer=FIRM_USERS,
        keeps=frozenset({"customFields"}),
        entity="user",
        run=_update_user,
    ),
)
