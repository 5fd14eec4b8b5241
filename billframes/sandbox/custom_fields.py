"""Read custom fields and their values, and write the values.

A value has the type of its field. In writes, `optionId` takes precedence over `value`, numbers, booleans and dates may
be text, and null clears a field. Fields that are not sent stay unchanged.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from billframes.sandbox.collection import Collection, Row, View, columns, ids_as_json, query_rows
from billframes.sandbox.problems import Faults, quoted
from billframes.sandbox.query_parameters import read_date
from billframes.sandbox.request_bodies import PLACE, read_flag, read_text
from billframes.schema.resources import CUSTOM_FIELDS

_NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?")


def _render_field(connection: sqlite3.Connection, records: list[Row], _view: View) -> None:
    sql = """
        SELECT custom_field_id, option_id AS "optionId", label FROM custom_field_option
        WHERE custom_field_id IN (SELECT value FROM json_each(:ids)) ORDER BY position, option_id
    """
    enums = {record["id"]: record for record in records if record["valueType"] == "enum"}
    for record in enums.values():
        record["options"] = []
    for option in query_rows(connection, sql, {"ids": ids_as_json(enums)}):
        enums[option.pop("custom_field_id")]["options"].append(option)


CUSTOM_FIELD_COLLECTION = Collection(
    resource=CUSTOM_FIELDS,
    columns=columns("id entity name valueType"),
    order=("entity", "position"),
    render=_render_field,
)


def put_custom_fields(connection: sqlite3.Connection, objects: Mapping[str, Row]) -> None:
    """Set `customFields` of records' objects by id, in the fields' order; fields without a value are left out."""
    sql = """
        SELECT v.record_id AS "record", v.value AS "stored", o.label AS "label",
               f.id AS "id", f.name AS "name", f.value_type AS "valueType", v.option_id AS "optionId"
        FROM custom_value v
        JOIN custom_field f ON f.id = v.custom_field_id
        LEFT JOIN custom_field_option o ON o.option_id = v.option_id
        WHERE v.record_id IN (SELECT value FROM json_each(:ids)) AND coalesce(v.value, o.label) IS NOT NULL
        ORDER BY f.position, f.id
    """
    for each in objects.values():
        each["customFields"] = []
    for row in query_rows(connection, sql, {"ids": ids_as_json(objects)}):
        record_id, stored, label = row.pop("record"), row.pop("stored"), row.pop("label")
        objects[record_id]["customFields"].append(row | _read_value(stored, label, row))


def _read_value(stored: str | None, label: str | None, row: Row) -> Row:
    """Return the value; an enum's value is its option's label, and only enums keep their option id."""
    if row["valueType"] == "enum":
        return {"value": label}
    del row["optionId"]
    return {"value": msgspec.json.decode(stored or "null")}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field's new value as JSON text, or its new option; if both are None, the field is cleared."""

    field_id: str
    value: str | None = None
    option_id: str | None = None


def read_changes(
    connection: sqlite3.Connection, entity: str, entries: Iterable[Mapping[str, Any]], faults: Faults
) -> list[FieldChange]:
    """Return the changes in a body's `customFields`, and add their faults."""
    rows = connection.execute("SELECT id, value_type FROM custom_field WHERE entity = ?", [entity])
    types: dict[str, str] = dict(rows.fetchall())
    changes: dict[str, FieldChange] = {}
    for entry in entries:
        field_id, place = entry.get("id"), entry[PLACE]
        if field_id is None:
            continue
        if field_id not in types:
            faults.add_body(f"{place}/id", f"is {quoted(field_id)}, and no custom field of a {entity} has this id")
        elif field_id in changes:
            faults.add_body(f"{place}/id", f"is {quoted(field_id)}, which is listed already")
        else:
            changes[field_id] = _read_change(connection, field_id, types[field_id], entry, faults)
    return list(changes.values())


def write_changes(connection: sqlite3.Connection, record_id: str, changes: Iterable[FieldChange] | None) -> None:
    """Set or clear the fields of a record."""
    for each in changes or ():
        sql = "DELETE FROM custom_value WHERE record_id = ? AND custom_field_id = ?"
        connection.execute(sql, [record_id, each.field_id])
        if each.value is not None or each.option_id is not None:
            row = [record_id, each.field_id, each.value, each.option_id]
            connection.execute("INSERT INTO custom_value VALUES (?, ?, ?, ?)", row)


def _read_change(
    connection: sqlite3.Connection, field_id: str, kind: str, entry: Mapping[str, Any], faults: Faults
) -> FieldChange:
    place, option_id, value = entry[PLACE], entry.get("optionId"), entry.get("value")
    if option_id is not None:
        if kind != "enum":
            faults.add_body(f"{place}/optionId", f"is for enum fields, and this one is a {kind} field")
        elif not _find_options(connection, field_id, "option_id", option_id):
            faults.add_body(f"{place}/optionId", f"is {quoted(option_id)}, and the field has no such option")
        return FieldChange(field_id, option_id=option_id)
    if value is None:
        has_fault = faults.has(f"{place}/value") or faults.has(f"{place}/optionId")
        if "value" not in entry and not has_fault:
            faults.add_body(place, "has neither value nor optionId; a value of null clears the field")
        return FieldChange(field_id)
    if kind == "enum":
        return FieldChange(field_id, option_id=_read_label(connection, field_id, value, place, faults))
    try:
        return FieldChange(field_id, msgspec.json.encode(_READERS[kind](value)).decode())
    except ValueError as error:
        faults.add_body(f"{place}/value", str(error))
        return FieldChange(field_id)


def _read_label(connection: sqlite3.Connection, field_id: str, label: Any, place: str, faults: Faults) -> str | None:
    found = _find_options(connection, field_id, "label", label) if isinstance(label, str) else []
    if not found:
        faults.add_body(f"{place}/value", f"is {quoted(label)}, and no option of the field has this label")
        return None
    return found[0]


def _find_options(connection: sqlite3.Connection, field_id: str, column: str, value: str) -> list[str]:
    sql = f"SELECT option_id FROM custom_field_option WHERE custom_field_id = ? AND {column} = ? ORDER BY position"  # noqa: S608
    return [row[0] for row in connection.execute(sql, [field_id, value])]


def _read_number(value: Any) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, float) or not math.isfinite(value):
        raise ValueError(f"is {quoted(value)}; expected a number")
    return value


def _read_flag(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    return read_flag(value)


_READERS: dict[str, Callable[[Any], Any]] = {
    "text": read_text,
    "number": _read_number,
    "boolean": _read_flag,
    "date": lambda value: read_date(read_text(value)),
}
