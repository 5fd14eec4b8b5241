"""Read and check request bodies.

The request records declare the properties. The result has those that were sent, by their JSON names: ids in lower case,
money and hours in the tables' ten-thousandths, dates and times as sortable text. A property with a fault is omitted,
and the fault is added with its JSON pointer, so that one response lists all faults. Undeclared properties are ignored.
"""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections import ChainMap
from collections.abc import Callable, Mapping
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


def _read_object(declared: type[msgspec.Struct], body: Any, pointer: str, faults: Faults) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise ValueError(f"is {quoted(body)}; expected an object")  # noqa: TRY004 - reported as a fault
    sent: dict[str, Any] = {}
    for field, types, notes in _fields(declared):
        name, place = field.encode_name, f"{pointer}/{field.encode_name}"
        if name in body:
            try:
                sent[name] = _read_value(name, body[name], place, types, notes, faults)
            except ValueError as error:
                faults.add_body(place, str(error))
        elif field.required:
            faults.add_body(place, "is missing")
    return sent


@cache
def _fields(
    declared: type[msgspec.Struct],
) -> tuple[tuple[inspect.Field, tuple[inspect.Type, ...], dict[str, Any]], ...]:
    """Return each field of a body, its types, and its annotations."""
    described = inspect.type_info(declared)
    assert isinstance(described, inspect.StructType)  # noqa: S101
    return tuple((field, *_unwrap(field.type)) for field in described.fields)


def _unwrap(declared: inspect.Type) -> tuple[tuple[inspect.Type, ...], dict[str, Any]]:
    """Return the types that a value may have, and the annotations: billframes' own, and those for its JSON schema."""
    if isinstance(declared, inspect.Metadata):
        types, notes = _unwrap(declared.type)
        return types, {**notes, **(declared.extra or {}), **(declared.extra_json_schema or {})}
    if isinstance(declared, inspect.UnionType):
        parts = [_unwrap(each) for each in declared.types]
        return tuple(each for types, _ in parts for each in types), dict(ChainMap(*(notes for _, notes in parts)))
    return (declared,), {}


def _read_value(
    name: str, value: Any, place: str, types: tuple[inspect.Type, ...], notes: dict[str, Any], faults: Faults
) -> Any:
    valued = [each for each in types if not isinstance(each, inspect.NoneType)]
    if value is None and len(valued) < len(types):
        return None
    kind = valued[0]
    if isinstance(kind, inspect.StructType):
        return _read_object(kind.cls, value, place, faults)
    if isinstance(kind, inspect.ListType):
        return _read_list(kind, value, place, faults)
    if len(valued) > 1:
        # Only the value of a custom field has several types; the field's definition says which one is right.
        return _read_scalar(value)
    if notes["kind"] == "enum":
        return _read_enum(value, notes["values"])
    if notes["kind"] == "text":
        return read_text(value, 1 if name in NEVER_EMPTY else notes.get("minLength", 0))
    return _READERS[notes["kind"]](value)


def _read_enum(value: Any, values: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in values:
        raise ValueError(f"is {quoted(value)}; expected {', '.join(values)}")
    return value


def _read_list(declared: inspect.ListType, value: Any, pointer: str, faults: Faults) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise ValueError(f"is {quoted(value)}; expected an array")  # noqa: TRY004 - reported as a fault
    item = declared.item_type
    assert isinstance(item, inspect.StructType)  # noqa: S101
    items = []
    for index, each in enumerate(value):
        place = f"{pointer}/{index}"
        try:
            items.append({PLACE: place, **_read_object(item.cls, each, place, faults)})
        except ValueError as error:
            faults.add_body(place, str(error))
    return items
