"""Users, practice areas and codes: the SQL that reads them, and the operations that write users and practice areas.

The description has the request bodies of practice areas without their paths, and the path of a user's update without
all of its response. Both are documented assumptions.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from billframes.sandbox.collection import (
    FULL_NAME,
    Collection,
    Row,
    columns,
    flag,
    json_array,
    json_object,
    query_json,
)
from billframes.sandbox.custom_fields import custom_values
from billframes.sandbox.operations import Edit, create, delete, refusal, update, write
from billframes.schema.resources import PRACTICE_AREAS, USERS

USER_COLLECTION = Collection(
    resource=USERS,
    columns=columns(
        "userId firstName lastName role email initials", name=FULL_NAME, customFields=custom_values("user")
    ),
    order=("last_name", "first_name"),
    details={"customFields": "customFields"},
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
    columns=columns("practiceAreaId label", default=flag("is_default")),
    order=("label",),
)

_CODE = json_object(columns("code label codeSetId parentCode", selectable=flag("selectable")))
_CODES = {
    kind: json_array(_CODE, f"SELECT * FROM code WHERE kind = '{kind}' ORDER BY code_set_id, position, code")  # noqa: S608
    for kind in ("activity", "task", "expense")
}
_CODE_SETS = json_array(
    json_object(columns("codeSetId label description")), "SELECT * FROM code_set ORDER BY code_set_id"
)


def read_codes(connection: sqlite3.Connection) -> Row:
    """Return all LEDES codes by kind, and the code sets."""
    codes: Row = query_json(connection, f"SELECT {json_object({**_CODES, 'codeSets': _CODE_SETS})}")
    return codes


def _write_area(edit: Edit) -> None:
    """Write a practice area. At most one is the default."""
    if edit.sent.get("default"):
        edit.connection.execute("UPDATE practice_area SET is_default = 0 WHERE is_default = 1")
    write(edit)


def _refuse_area_deletion(edit: Edit) -> None:
    if edit.exists("SELECT 1 FROM matter WHERE practice_area_id = ?", edit.id):
        raise refusal("The practice area has matters, so it can't be deleted. Give them another one, or none, first.")


_AREA: dict[str, Any] = {"collection": PRACTICE_AREA_COLLECTION, "remark": " (a documented assumption)"}

FIRM_WRITES = (
    create(**_AREA, run=_write_area, returns_record=True),
    update(**_AREA, run=_write_area, returns_record=True),
    delete(**_AREA, refuse=_refuse_area_deletion, refused_if="The practice area has matters."),
    update(collection=USER_COLLECTION, returns_record=True, remark="; only custom fields can change"),
)
