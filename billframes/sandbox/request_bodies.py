"""Read and check request bodies.

The request records declare the properties. The result has those that were sent, by their JSON names: ids in lower case,
money and hours in the tables' ten-thousandths, dates and times as sortable text. A property with a fault is omitted,
and the fault is added with its JSON pointer, so that one response lists all faults. Undeclared properties are ignored.
"""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import inspect

from billframes.sandbox.problems import Faults, HttpProblem, quoted
from billframes.sandbox.query_parameters import read_date, read_uuid
from billframes.sandbox.schema import SCALE
from billframes.schema import records as r
from billframes.schema.resources import ALL_ZERO_ID

MAX_BYTES = 1_000_000
# Updates declare these without a minimum length, but the records they change have one.
NEVER_EMPTY = frozenset({"name", "description", "label"})
# The name under which each item of an array has its JSON pointer; no declared property has this name.
PLACE = ""

# The description gives no bounds. Within these, every product and the sum of any invoice are exact in 64 bits.
BOUNDS = {"money": (-1_000_000_000, 1_000_000_000), "hours": (-100_000, 100_000), "rate": (0, 100_000)}

_HUGE = 10**300
_TIME = re.compile(r"([0-9]{2}:[0-9]{2})(:[0-9]{2})?([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})?", re.IGNORECASE)


def read_text(value: Any, minimum: int = 0) -> str:
    """Return text with at least `minimum` characters."""
    if not isinstance(value, str):
        raise ValueError(f"is {quoted(value)}; expected text")  # noqa: TRY004 - reported as a fault
    if len(value) < minimum:
        raise ValueError("is empty; expected text")
    return value


def _read_scalar(value: Any) -> str | float | bool:
    """Return a value that is not an object or array."""
    if isinstance(value, (str, bool, float)):
        return value
    if isinstance(value, int) and abs(value) < _HUGE:
        return float(value)
    raise ValueError(f"is {quoted(value)}; expected text, a number, true or false")


def _text_reader(read: Callable[[str], str]) -> Callable[[Any], str]:
    return lambda value: read(read_text(value))


def _number_reader(kind: str) -> Callable[[Any], int]:
    """Return a reader of numbers in ten-thousandths, rounding halves away from zero."""
    minimum, maximum = BOUNDS[kind]

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"is {quoted(value)}; expected a number")  # noqa: TRY004 - reported as a fault
        if not minimum <= value <= maximum:
            raise ValueError(f"is {quoted(value)}; expected a number from {minimum} to {maximum}")
        return int((Decimal(repr(value)) * SCALE).to_integral_value(ROUND_HALF_UP))

    return read


def _read_time(text: str) -> str:
    """Return a time of day. An offset is accepted and ignored, because the time is on the entry's own day."""
    found = _TIME.fullmatch(text)
    try:
        if found:
            return dt.time.fromisoformat(found[1] + (found[2] or ":00") + (found[3] or "")).isoformat()
    except ValueError:
        pass
    raise ValueError(f"is {quoted(text)}; expected a time as HH:mm:ss")


def read_flag(value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"is {quoted(value)}; expected true or false")  # noqa: TRY004 - reported as a fault
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "id": _text_reader(read_uuid),
    "date": _text_reader(read_date),
    "time": _text_reader(_read_time),
    "flag": read_flag,
    **{kind: _number_reader(kind) for kind in BOUNDS},
}

# The table of each property that is an id.
_TABLES = MappingProxyType(
    {
        "clientId": "client",
        "fixedFeeId": "fixed_fee",
        "matterId": "matter",
        "originatorId": "user",
        "practiceAreaId": "practice_area",
        "responsibleId": "user",
        "userId": "user",
    }
)
_CODES = MappingProxyType({"activityCode": "activity", "taskCode": "task", "expenseCode": "expense"})

# References that the all-zero UUID removes.
REMOVABLE = frozenset({"fixedFeeId", "practiceAreaId"})


def check_references(connection: sqlite3.Connection, sent: Mapping[str, Any], faults: Faults) -> None:
    """Add a fault for every id without a record, and for every code that is unknown or a heading."""
    for name, value in sent.items():
        if value is None:
            continue
        if name in _TABLES and not (value == ALL_ZERO_ID and name in REMOVABLE):
            _check_id(connection, name, value, faults)
        elif name in _CODES:
            _check_code(connection, name, value, faults)


def _check_id(connection: sqlite3.Connection, name: str, value: str, faults: Faults) -> None:
    table = _TABLES[name]
    sql = f"SELECT 1 FROM {table} WHERE {table}_id = ?"  # noqa: S608
    if connection.execute(sql, [value]).fetchone() is None:
        faults.add_body(f"#/{name}", f"is {quoted(value)}, and there is no {table.replace('_', ' ')} with this id")


def _check_code(connection: sqlite3.Connection, name: str, value: str, faults: Faults) -> None:
    kind = _CODES[name]
    sql = "SELECT max(selectable) FROM code WHERE kind = ? AND code = ?"
    selectable = connection.execute(sql, [kind, value]).fetchone()[0]
    if selectable is None:
        faults.add_body(f"#/{name}", f"is {quoted(value)}, and there is no such {kind} code")
    elif not selectable:
        faults.add_body(f"#/{name}", f"is {quoted(value)}, a heading, which is not valid for assigning")


# Takes a value, its JSON pointer, and the faults of the body.
_Read = Callable[[Any, str, Faults], Any]


@dataclass(frozen=True, slots=True)
class _Property:
    """A declared property of a body. `read` returns its value in the tables' format, or raises ValueError."""

    name: str
    required: bool
    nullable: bool
    read: _Read


def read_body(declared: type[r.WriteBody], content_type: str | None, raw: bytes, faults: Faults) -> dict[str, Any]:
    """Read a body. Faults of properties are added to `faults`; 415 is raised if it is not JSON, 400 if no object."""
    _check_type(content_type)
    return _read_object(declared, _decode(raw), "#", faults)


def _check_type(content_type: str | None) -> None:
    kind, _, parameters = (content_type or "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "").partition("charset=")[2].partition(";")[0]
    if kind.strip() != "application/json" or charset not in {"", "utf-8", "utf8"}:
        detail = f"The content type is {quoted(content_type or '')}; bodies are 'application/json', in UTF-8."
        raise HttpProblem(415, detail, headers={"Accept": "application/json"})


def _decode(raw: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw)
    except RecursionError:
        raise HttpProblem(400, "The body is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise HttpProblem(400, f"The body is not JSON: {str(error).rstrip('.')}.") from None
    if not isinstance(body, dict):
        raise HttpProblem(400, "The body is not a JSON object.")
    return body


def _read_object(declared: type[msgspec.Struct], body: dict[str, Any], pointer: str, faults: Faults) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for each in _properties(declared):
        place = f"{pointer}/{each.name}"
        if each.name not in body:
            if each.required:
                faults.add_body(place, "is missing")
            continue
        value = body[each.name]
        if value is None and each.nullable:
            sent[each.name] = None
            continue
        try:
            sent[each.name] = each.read(value, place, faults)
        except ValueError as error:
            faults.add_body(place, str(error))
    return sent


@cache
def _properties(declared: type[msgspec.Struct]) -> tuple[_Property, ...]:
    described = inspect.type_info(declared)
    assert isinstance(described, inspect.StructType)  # noqa: S101
    return tuple(_property(each) for each in described.fields)


def _property(field: inspect.Field) -> _Property:
    declared, extra, schema = _unwrap(field.type)
    kinds = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    valued = [each for each in kinds if not isinstance(each, inspect.NoneType)]
    # Only the value of a custom field has several types; the field's definition says which one is right.
    read = _reader(valued[0], field.encode_name, extra, schema) if len(valued) == 1 else _value_reader(_read_scalar)
    return _Property(field.encode_name, field.required, len(valued) < len(kinds), read)


def _unwrap(declared: inspect.Type) -> tuple[inspect.Type, dict[str, Any], dict[str, Any]]:
    """Return a type without its annotations, billframes' own annotations, and those for its JSON schema."""
    extra: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    while isinstance(declared, inspect.Metadata):
        extra |= declared.extra or {}
        schema |= declared.extra_json_schema or {}
        declared = declared.type
    return declared, extra, schema


def _reader(declared: inspect.Type, name: str, extra: dict[str, Any], schema: dict[str, Any]) -> _Read:
    kind, own_extra, own_schema = _unwrap(declared)
    extra, schema = extra | own_extra, schema | own_schema
    if isinstance(kind, inspect.StructType):
        return _object_reader(kind.cls)
    if isinstance(kind, inspect.ListType):
        item, _, _ = _unwrap(kind.item_type)
        assert isinstance(item, inspect.StructType)  # noqa: S101
        return _list_reader(item.cls)
    if extra["kind"] == "enum":
        return _enum_reader(extra["values"])
    if extra["kind"] == "text":
        minimum = 1 if name in NEVER_EMPTY else schema.get("minLength", 0)
        return _value_reader(lambda value: read_text(value, minimum))
    return _value_reader(_READERS[extra["kind"]])


def _value_reader(read: Callable[[Any], Any]) -> _Read:
    return lambda value, _pointer, _faults: read(value)


def _enum_reader(values: tuple[str, ...]) -> _Read:
    def read(value: Any, _pointer: str, _faults: Faults) -> str:
        if not isinstance(value, str) or value not in values:
            raise ValueError(f"is {quoted(value)}; expected {', '.join(values)}")
        return value

    return read


def _object_reader(declared: type[msgspec.Struct]) -> _Read:
    def read(value: Any, pointer: str, faults: Faults) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"is {quoted(value)}; expected an object")  # noqa: TRY004 - reported as a fault
        return _read_object(declared, value, pointer, faults)

    return read


def _list_reader(declared: type[msgspec.Struct]) -> _Read:
    read_one = _object_reader(declared)

    def read(value: Any, pointer: str, faults: Faults) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise ValueError(f"is {quoted(value)}; expected an array")  # noqa: TRY004 - reported as a fault
        items = []
        for index, each in enumerate(value):
            place = f"{pointer}/{index}"
            try:
                items.append({PLACE: place, **read_one(each, place, faults)})
            except ValueError as error:
                faults.add_body(place, str(error))
        return items

    return read
