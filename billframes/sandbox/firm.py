"""Read users, practice areas, custom fields, codes and balances from the tables."""

from __future__ import annotations

import datetime as dt
import sqlite3

from billframes.sandbox.reading import Collection, Row, View, custom_fields, ids_as_json, rows_as_records
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import CUSTOM_FIELDS, PRACTICE_AREAS, USERS

__all__ = ["CUSTOM_FIELD_COLLECTION", "PRACTICE_AREA_COLLECTION", "USER_COLLECTION", "read_balances", "read_codes"]

_NEVER = -(10**6)


def _render_user(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    if view.shows("customFields"):
        values = custom_fields(connection, [record["userId"] for record in records])
        for record in records:
            record["customFields"] = values[record["userId"]]


def _render_practice_area(_connection: sqlite3.Connection, records: list[Row], _view: View) -> None:
    for record in records:
        record["default"] = bool(record["default"])


def _render_definition(connection: sqlite3.Connection, records: list[Row], _view: View) -> None:
    """Add the options of enum fields, in display order."""
    sql = """
        SELECT custom_field_id, option_id AS "optionId", label FROM custom_field_option
        WHERE custom_field_id IN (SELECT value FROM json_each(:ids)) ORDER BY position, option_id
    """
    enums = {record["id"]: record for record in records if record["valueType"] == "enum"}
    for record in enums.values():
        record["options"] = []
    for option in rows_as_records(connection, sql, {"ids": ids_as_json(enums)}):
        enums[option.pop("custom_field_id")]["options"].append(option)


USER_COLLECTION = Collection(
    resource=USERS,
    table="user",
    key="user_id",
    columns={
        "userId": "user_id",
        "name": "trim(first_name || ' ' || last_name)",
        "firstName": "first_name",
        "lastName": "last_name",
        "role": "role",
        "email": "email",
        "initials": "initials",
    },
    order=("last_name", "first_name"),
    render=_render_user,
    where={
        "email": "matches(email, :email, TRUE)",
        "role": "role = :role",
        "query": " OR ".join(
            f"matches({field}, :query, :queryFullMatch)" for field in ("first_name", "last_name", "initials", "email")
        ),
        "queryFullMatch": {True: "TRUE", False: "TRUE"},
    },
)

PRACTICE_AREA_COLLECTION = Collection(
    resource=PRACTICE_AREAS,
    table="practice_area",
    key="practice_area_id",
    columns={"practiceAreaId": "practice_area_id", "label": "label", "default": "is_default"},
    order=("label",),
    render=_render_practice_area,
)

CUSTOM_FIELD_COLLECTION = Collection(
    resource=CUSTOM_FIELDS,
    table="custom_field",
    key="id",
    columns={
        "id": "custom_field.id",
        "entity": "entity",
        "name": "name",
        "valueType": "value_type",
    },
    order=("entity", "position"),
    render=_render_definition,
    where={"entity": "entity = :entity"},
)


def read_codes(connection: sqlite3.Connection) -> Row:
    """Return all LEDES codes by kind, and the code sets."""
    codes: Row = {"activity": [], "task": [], "expense": []}
    sql = """
        SELECT kind, code, label, code_set_id AS "codeSetId", parent_code AS "parentCode", selectable
        FROM code ORDER BY kind, code_set_id, position, code
    """
    for code in rows_as_records(connection, sql, {}):
        code["selectable"] = bool(code["selectable"])
        codes[code.pop("kind")].append(code)
    sets = 'SELECT code_set_id AS "codeSetId", label, description FROM code_set ORDER BY code_set_id'
    return codes | {"codeSets": rows_as_records(connection, sets, {})}


def read_balances(connection: sqlite3.Connection, client_id: str, today: dt.date, field_set: str) -> Row:
    """
    Return what a client owes on its open final invoices, in field set A or B.

    An invoice is overdue from the day after it is due. A final invoice without a due date counts from its
    invoice date. Credits keep their sign and bucket.
    """
    sql = """
        SELECT CAST(julianday(:today) - julianday(coalesce(due_date, invoice_date)) AS INTEGER), balance
        FROM invoice WHERE client_id = :client AND invoice_state = 'final' AND balance <> 0
    """
    open_invoices = connection.execute(sql, {"today": today.isoformat(), "client": client_id}).fetchall()

    def owed(more_than: int = _NEVER, up_to: int = -_NEVER) -> float:
        found = (balance for days, balance in open_invoices if more_than < days <= up_to)
        return float(sum(found)) / SCALE

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
