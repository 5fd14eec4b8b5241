"""What records carry of other records: references, metadata, custom field values.

Each kind is looked up once for a whole page, by its distinct ids.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from billframes.sandbox.reading import Row, rows_as_records
from billframes.sandbox.schema import SCALE

__all__ = [
    "CLIENT",
    "FIXED_FEE",
    "INVOICE",
    "MATTER",
    "PRACTICE_AREA",
    "USER",
    "Shape",
    "attach",
    "custom_fields",
    "ids_as_json",
    "lookup",
    "put_meta",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """What of a table's rows is embedded in other records."""

    table: str
    key: str
    columns: Mapping[str, str]


CLIENT = Shape("client", "client_id", {"name": "name", "reference": "reference"})
MATTER = Shape("matter", "matter_id", {"name": "name", "reference": "reference"})
# The description does not show the embedded user and practice area; these are the documented assumption.
USER = Shape(
    "user",
    "user_id",
    {
        "userId": "user_id",
        "name": "trim(first_name || ' ' || last_name)",
        "firstName": "first_name",
        "lastName": "last_name",
        "initials": "initials",
    },
)
PRACTICE_AREA = Shape("practice_area", "practice_area_id", {"practiceAreaId": "practice_area_id", "label": "label"})
INVOICE = Shape(
    "invoice",
    "invoice_id",
    {
        "invoiceId": "invoice_id",
        "invoiceNumber": "invoice_number",
        "invoiceDate": "invoice_date",
        "invoiceState": "invoice_state",
        "invoiceAmount": f"amount / {SCALE}.0",
        "invoiceBalance": f"balance / {SCALE}.0",
    },
)
FIXED_FEE = Shape(
    "fixed_fee",
    "fixed_fee_id",
    {"id": "fixed_fee_id", "label": "description", "amount": f"amount / {SCALE}.0"},
)


def ids_as_json(ids: Iterable[str | None]) -> str:
    """Return the distinct ids, without nulls, as the JSON array SQLite's `json_each` takes."""
    return msgspec.json.encode([each for each in set(ids) if each is not None]).decode()


def lookup(connection: sqlite3.Connection, shape: Shape, ids: Iterable[str | None]) -> dict[str, Row]:
    """Return the embedded form of each id."""
    columns = ", ".join(f'{sql} AS "{name}"' for name, sql in shape.columns.items())
    sql = (
        f'SELECT {shape.key} AS "key", {columns} FROM {shape.table}'  # noqa: S608
        f" WHERE {shape.key} IN (SELECT value FROM json_each(:ids))"
    )
    return {row.pop("key"): row for row in rows_as_records(connection, sql, {"ids": ids_as_json(ids)})}


def attach(connection: sqlite3.Connection, records: list[Row], name: str, shape: Shape, by: str) -> None:
    """Put the embedded form of the id in property `by` into property `name`, where there is an id."""
    found = lookup(connection, shape, (record[by] for record in records))
    for record in records:
        if (key := record[by]) is not None:
            record[name] = found[key]


def put_meta(records: list[Row], *, shown: bool) -> None:
    """Turn the columns createdAt and modifiedAt into `meta`, or take them away."""
    for record in records:
        meta = {"createdAt": record.pop("createdAt"), "modifiedAt": record.pop("modifiedAt")}
        if shown:
            record["meta"] = meta


def custom_fields(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[Row]]:
    """Return the custom field values of each record, in the fields' order; fields not set are left out."""
    wanted = list(ids)
    found: dict[str, list[Row]] = {each: [] for each in wanted}
    for record_id, value, label, row in _custom_rows(connection, wanted):
        found[record_id].append(row | _custom_value(value, label, row))
    return found


def _custom_rows(
    connection: sqlite3.Connection, ids: Iterable[str]
) -> Iterable[tuple[str, str | None, str | None, Row]]:
    sql = """
        SELECT v.record_id AS "record", v.value AS "stored", o.label AS "label",
               f.id AS "id", f.name AS "name", f.value_type AS "valueType", v.option_id AS "optionId"
        FROM custom_value v
        JOIN custom_field f ON f.id = v.custom_field_id
        LEFT JOIN custom_field_option o ON o.option_id = v.option_id
        WHERE v.record_id IN (SELECT value FROM json_each(:ids)) AND coalesce(v.value, o.label) IS NOT NULL
        ORDER BY f.position, f.id
    """
    for row in rows_as_records(connection, sql, {"ids": ids_as_json(ids)}):
        yield row.pop("record"), row.pop("stored"), row.pop("label"), row


def _custom_value(stored: str | None, label: str | None, row: Row) -> dict[str, Any]:
    """Return the value; an enum's is its option's label, and only enums keep their option id."""
    if row["valueType"] == "enum":
        return {"value": label}
    del row["optionId"]
    return {"value": msgspec.json.decode(stored or "null")}
