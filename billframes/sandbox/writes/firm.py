"""Create, update and delete practice areas, and update users.

The description has the request bodies of practice areas without their paths, and the path of a user's update without
all of its response; both are documented assumptions.
"""

from __future__ import annotations

from billframes.sandbox.firm import PRACTICE_AREA_COLLECTION, USER_COLLECTION
from billframes.sandbox.writes.edits import Edit, Operation, refuse

__all__ = ["FIRM_WRITES"]

_COLUMNS = {"label": "label", "default": "is_default"}
_ASSUMED = " (a documented assumption)"


def _create_area(edit: Edit) -> None:
    _leave_default(edit)
    edit.insert("practice_area", {"practice_area_id": edit.id, **edit.columns(_COLUMNS)})


def _update_area(edit: Edit) -> None:
    _leave_default(edit)
    edit.set("practice_area", edit.columns(_COLUMNS))


def _delete_area(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE practice_area_id = ?", edit.id):
        raise refuse("The practice area has matters, so it can't be deleted. Give them another one, or none, first.")
    edit.delete("practice_area")


def _leave_default(edit: Edit) -> None:
    """Clear the current default: at most one practice area is the default."""
    if edit.sent.get("default"):
        edit.connection.execute("UPDATE practice_area SET is_default = 0 WHERE is_default = 1")


def _update_user(edit: Edit) -> None:
    edit.update("user", {})


FIRM_WRITES = (
    Operation(method="POST", collection=PRACTICE_AREA_COLLECTION, run=_create_area, answers=True, remark=_ASSUMED),
    Operation(
        method="PUT",
        collection=PRACTICE_AREA_COLLECTION,
        run=_update_area,
        answers=True,
        keeps=frozenset({"label", "default"}),
        remark=_ASSUMED,
    ),
    Operation(
        method="DELETE",
        collection=PRACTICE_AREA_COLLECTION,
        run=_delete_area,
        refused="The practice area has matters.",
        remark=_ASSUMED,
    ),
    Operation(
        method="PUT",
        collection=USER_COLLECTION,
        run=_update_user,
        answers=True,
        keeps=frozenset({"customFields"}),
        remark="; only custom fields can change",
    ),
)
