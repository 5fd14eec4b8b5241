"""Users, practice areas and codes: the SQL that reads them, and the operations that write users and practice areas.

The description has the request bodies of practice areas without their paths, and the path of a user's update without
all of its response. Both are documented assumptions.
"""

from __future__ import annotations

import sqlite3

from billframes.sandbox.collection import FULL_NAME, Collection, Row, View, columns, query_rows
from billframes.sandbox.custom_fields import put_custom_fields
from billframes.sandbox.operations import Edit, Operation, refusal
from billframes.schema.resources import PRACTICE_AREAS, USERS


def _render_user(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    if view.shows("customFields"):
        put_custom_fields(connection, {record["userId"]: record for record in records})


def _render_practice_area(_connection: sqlite3.Connection, records: list[Row], _view: View) -> None:
    for record in records:
        record["default"] = bool(record["default"])


USER_COLLECTION = Collection(
    resource=USERS,
    columns=columns("userId firstName lastName role email initials", name=FULL_NAME),
    order=("last_name", "first_name"),
    render=_render_user,
    where={
        "email": "matches(email, :email, TRUE)",
        "query": " OR ".join(
            f"matches({field}, :query, :queryFullMatch)" for field in ("first_name", "last_name", "initials", "email")
        ),
        "queryFullMatch": {True: "TRUE", False: "TRUE"},
    },
)

PRACTICE_AREA_COLLECTION = Collection(
    resource=PRACTICE_AREAS,
    columns=columns("practiceAreaId label", default="is_default"),
    order=("label",),
    render=_render_practice_area,
)


def read_codes(connection: sqlite3.Connection) -> Row:
    """Return all LEDES codes by kind, and the code sets."""
    codes: Row = {"activity": [], "task": [], "expense": []}
    sql = """
        SELECT kind, code, label, code_set_id AS "codeSetId", parent_code AS "parentCode", selectable
        FROM code ORDER BY kind, code_set_id, position, code
    """
    for code in query_rows(connection, sql):
        code["selectable"] = bool(code["selectable"])
        codes[code.pop("kind")].append(code)
    sets = 'SELECT code_set_id AS "codeSetId", label, description FROM code_set ORDER BY code_set_id'
    return codes | {"codeSets": query_rows(connection, sets)}


_ASSUMED = " (a documented assumption)"


def _create_area(edit: Edit) -> None:
    _clear_default(edit)
    edit.insert("practice_area", {"practice_area_id": edit.id, **edit.columns()})


def _update_area(edit: Edit) -> None:
    _clear_default(edit)
    edit.set_columns(edit.columns())


def _refuse_area_deletion(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE practice_area_id = ?", edit.id):
        raise refusal("The practice area has matters, so it can't be deleted. Give them another one, or none, first.")


def _clear_default(edit: Edit) -> None:
    """Unset the current default if the edit sets one, because at most one practice area is the default."""
    if edit.sent.get("default"):
        edit.connection.execute("UPDATE practice_area SET is_default = 0 WHERE is_default = 1")


FIRM_WRITES = (
    Operation(
        method="POST", collection=PRACTICE_AREA_COLLECTION, run=_create_area, returns_record=True, remark=_ASSUMED
    ),
    Operation(
        method="PUT", collection=PRACTICE_AREA_COLLECTION, run=_update_area, returns_record=True, remark=_ASSUMED
    ),
    Operation(
        method="DELETE",
        collection=PRACTICE_AREA_COLLECTION,
        refuse=_refuse_area_deletion,
        refused_if="The practice area has matters.",
        remark=_ASSUMED,
    ),
    Operation(method="PUT", collection=USER_COLLECTION, returns_record=True, remark="; only custom fields can change"),
)
