"""Read custom fields and their values, and write the values.

A value has the type of its field. In writes, `optionId` takes precedence over `value`, numbers, booleans and dates may
be text, and null clears a field. Fields that are not sent stay unchanged.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from billframes.sandbox.collection import Collection, columns, json_array, json_object
from billframes.sandbox.problems import Faults, quoted
from billframes.sandbox.query_parameters import read_date
from billframes.sandbox.request_bodies import PLACE, read_flag, read_text
from billframes.schema.resources import CUSTOM_FIELDS

_NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?")


_OPTIONS = """
    SELECT * FROM custom_field_option WHERE custom_field_id = custom_field.id
    ORDER BY position, option_id
"""

CUSTOM_FIELD_COLLECTION = Collection(
    resource=CUSTOM_FIELDS,
    columns=columns(
        "id entity name valueType",
        options=f"json(iif(value_type = 'enum', {json_array(json_object(columns('optionId label')), _OPTIONS)}, NULL))",
    ),
    order=("entity", "position"),
    omitted="options",
)


_FIELD = columns("id name valueType")
_ENUM = json_object({**_FIELD, **columns("optionId", value="label")})
_OTHER = json_object({**_FIELD, "value": "json(value)"})


def custom_values(table: str) -> str:
    """Return the SQL expression of a record's `customFields`: the fields with a value, in the fields' order."""
    rows = f"""
        SELECT f.id, f.name, f.value_type, v.value, v.option_id, o.label
        FROM custom_value v
        JOIN custom_field f ON f.id = v.custom_field_id
        LEFT JOIN custom_field_option o ON o.option_id = v.option_id
        WHERE v.record_id = {table}.{table}_id AND coalesce(v.value, o.label) IS NOT NULL
        ORDER BY f.position, f.id
    """  # noqa: S608
    return json_array(f"json(iif(value_type = 'enum', {_ENUM}, {_OTHER}))", rows)


# A field's new value as JSON text, or its new option.
_Change = tuple[str | None, str | None]
_CLEARED: _Change = (None, None)


def read_changes(
    connection: sqlite3.Connection, entity: str, entries: Iterable[Mapping[str, Any]], faults: Faults
) -> dict[str, _Change]:
    """Return the changes in a body's `customFields` by field id, and add their faults."""
    rows = connection.execute("SELECT id, value_type FROM custom_field WHERE entity = ?", [entity])
    types: dict[str, str] = dict(rows.fetchall())
    changes: dict[str, _Change] = {}
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
    return changes


def write_changes(connection: sqlite3.Connection, record_id: str, changes: Mapping[str, _Change]) -> None:
    """Set or clear the fields of a record."""
    for field_id, change in changes.items():
        connection.execute(
            "DELETE FROM custom_value WHERE record_id = ? AND custom_field_id = ?", [record_id, field_id]
        )
        if change != _CLEARED:
            connection.execute("INSERT INTO custom_value VALUES (?, ?, ?, ?)", [record_id, field_id, *change])


def _read_change(
    connection: sqlite3.Connection, field_id: str, kind: str, entry: Mapping[str, Any], faults: Faults
) -> _Change:
    place, option_id, value = entry[PLACE], entry.get("optionId"), entry.get("value")
    if option_id is not None:
        if kind != "enum":
            faults.add_body(f"{place}/optionId", f"is for enum fields, and this one is a {kind} field")
        elif not _find_options(connection, field_id, "option_id", option_id):
            faults.add_body(f"{place}/optionId", f"is {quoted(option_id)}, and the field has no such option")
        return None, option_id
    if value is None:
        has_fault = faults.has(f"{place}/value") or faults.has(f"{place}/optionId")
        if "value" not in entry and not has_fault:
            faults.add_body(place, "has neither value nor optionId; a value of null clears the field")
        return _CLEARED
    if kind == "enum":
        return None, _read_label(connection, field_id, value, place, faults)
    try:
        return msgspec.json.encode(_READERS[kind](value)).decode(), None
    except ValueError as error:
        faults.add_body(f"{place}/value", str(error))
        return _CLEARED


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
