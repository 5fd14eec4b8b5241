"""Write custom field values: typed by their field's definition, cleared by null.

`optionId` takes precedence over `value`. Numbers, booleans and dates may be text. Omitted fields stay unchanged.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from billframes.sandbox.parameters import read_date
from billframes.sandbox.problems import Faults, shown
from billframes.sandbox.writes.bodies import read_text

__all__ = ["FieldChange", "read_changes", "write_changes"]

_NUMBER = re.compile(r"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field's new value as JSON text, or its new option; if both are None, the field is cleared."""

    field_id: str
    value: str | None = None
    option_id: str | None = None


def read_changes(
    connection: sqlite3.Connection, entity: str, entries: Iterable[Mapping[str, Any]], faults: Faults
) -> list[FieldChange]:
    """Return the changes in a body's `customFields`, noting their faults."""
    rows = connection.execute("SELECT id, value_type FROM custom_field WHERE entity = ?", [entity])
    types: dict[str, str] = dict(rows.fetchall())
    changes: dict[str, FieldChange] = {}
    for entry in entries:
        field_id, place = entry.get("id"), entry[""]
        if field_id is None:
            continue
        if field_id not in types:
            faults.body(f"{place}/id", f"is {shown(field_id)}, and no custom field of a {entity} has this id")
        elif field_id in changes:
            faults.body(f"{place}/id", f"is {shown(field_id)}, which is listed already")
        else:
            changes[field_id] = _change(connection, field_id, types[field_id], entry, faults)
    return list(changes.values())


def write_changes(connection: sqlite3.Connection, record_id: str, changes: Iterable[FieldChange] | None) -> None:
    """Set or clear the fields of a record."""
    for each in changes or ():
        sql = "DELETE FROM custom_value WHERE record_id = ? AND custom_field_id = ?"
        connection.execute(sql, [record_id, each.field_id])
        if each.value is not None or each.option_id is not None:
            row = [record_id, each.field_id, each.value, each.option_id]
            connection.execute("INSERT INTO custom_value VALUES (?, ?, ?, ?)", row)


def _change(
    connection: sqlite3.Connection, field_id: str, kind: str, entry: Mapping[str, Any], faults: Faults
) -> FieldChange:
    place, option_id, value = entry[""], entry.get("optionId"), entry.get("value")
    if option_id is not None:
        if kind != "enum":
            faults.body(f"{place}/optionId", f"is for enum fields, and this one is a {kind} field")
        elif not _options(connection, field_id, "option_id", option_id):
            faults.body(f"{place}/optionId", f"is {shown(option_id)}, and the field has no such option")
        return FieldChange(field_id, option_id=option_id)
    if value is None:
        said = faults.about(f"{place}/value") or faults.about(f"{place}/optionId")
        if "value" not in entry and not said:
            faults.body(place, "has neither value nor optionId; a value of null clears the field")
        return FieldChange(field_id)
    if kind == "enum":
        return FieldChange(field_id, option_id=_labelled(connection, field_id, value, place, faults))
    try:
        return FieldChange(field_id, msgspec.json.encode(_READERS[kind](value)).decode())
    except ValueError as error:
        faults.body(f"{place}/value", str(error))
        return FieldChange(field_id)


def _labelled(connection: sqlite3.Connection, field_id: str, label: Any, place: str, faults: Faults) -> str | None:
    """Return the option with this label."""
    found = _options(connection, field_id, "label", label) if isinstance(label, str) else []
    if not found:
        faults.body(f"{place}/value", f"is {shown(label)}, and no option of the field has this label")
        return None
    return found[0]


def _options(connection: sqlite3.Connection, field_id: str, column: str, value: str) -> list[str]:
    sql = f"SELECT option_id FROM custom_field_option WHERE custom_field_id = ? AND {column} = ? ORDER BY position"  # noqa: S608
    return [row[0] for row in connection.execute(sql, [field_id, value])]


def _read_number(value: Any) -> float:
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, float) or not math.isfinite(value):
        raise ValueError(f"is {shown(value)}; expected a number")
    return value


def _read_flag(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ValueError(f"is {shown(value)}; expected true or false")  # noqa: TRY004 - noted as a fault
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "text": read_text,
    "number": _read_number,
    "boolean": _read_flag,
    "date": lambda value: read_date(read_text(value)),
}
