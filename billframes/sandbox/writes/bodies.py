"""From the bytes of a body to checked values, by the request records' own declarations.

A body comes out as the properties that were sent, under their wire names: ids in lower case, money and hours
in the tables' ten-thousandths, dates and times as text the tables sort by. What is wrong is noted with its
JSON pointer and left out, so that everything wrong is said in one answer. Undeclared properties are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect

from billframes.sandbox.problems import Faults, Problem, shown
from billframes.sandbox.writes.values import READERS, read_scalar, read_text
from billframes.schema import records as r

__all__ = ["MOST_BYTES", "NEVER_EMPTY", "Property", "properties", "read_body"]

MOST_BYTES = 1_000_000
# Updates declare these without a least length, but the records they change have one.
NEVER_EMPTY = frozenset({"name", "description", "label"})

Read = Callable[[Any, str, Faults], Any]


@dataclass(frozen=True, slots=True)
class Property:
    """A property a body may have. `read` returns its value as the tables hold it, or raises ValueError."""

    name: str
    required: bool
    nullable: bool
    read: Read


def read_body(declared: type[r.Request], content_type: str | None, raw: bytes, faults: Faults) -> dict[str, Any]:
    """
    Read a request's body.

    Parameters
    ----------
    declared : type of Request
        Which properties there are.
    content_type : str, optional
        The request's header.
    raw : bytes
        The body.
    faults : Faults
        Takes what is wrong with single properties.

    Raises
    ------
    Problem
        415 where it is not JSON by its content type, 400 where it is no JSON object.
    """
    _check_type(content_type)
    return _read_object(declared, _decode(raw), "#", faults)


def _check_type(content_type: str | None) -> None:
    kind, _, parameters = (content_type or "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "").partition("charset=")[2].partition(";")[0]
    if kind.strip() != "application/json" or charset not in {"", "utf-8", "utf8"}:
        detail = f"The content type is {shown(content_type or '')}; bodies are 'application/json', in UTF-8."
        raise Problem(415, detail, headers={"Accept": "application/json"})


def _decode(raw: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw)
    except RecursionError:
        raise Problem(400, "The body is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise Problem(400, f"The body is no JSON: {str(error).rstrip('.')}.") from None
    if not isinstance(body, dict):
        raise Problem(400, "The body is no JSON object.")
    return body


def _read_object(declared: type[msgspec.Struct], body: dict[str, Any], pointer: str, faults: Faults) -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for each in properties(declared):
        place = f"{pointer}/{each.name}"
        if each.name not in body:
            if each.required:
                faults.body(place, "is missing")
            continue
        value = body[each.name]
        if value is None and each.nullable:
            sent[each.name] = None
            continue
        try:
            sent[each.name] = each.read(value, place, faults)
        except ValueError as error:
            faults.body(place, str(error))
    return sent


@cache
def properties(declared: type[msgspec.Struct]) -> tuple[Property, ...]:
    """Return the properties a request record declares."""
    described = inspect.type_info(declared)
    assert isinstance(described, inspect.StructType)  # noqa: S101
    return tuple(_property(each) for each in described.fields)


def _property(field: inspect.Field) -> Property:
    declared, extra, schema = _peeled(field.type)
    kinds = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    valued = [each for each in kinds if not isinstance(each, inspect.NoneType)]
    # Two types of value and more: a custom field's, whose type is its definition's.
    read = _reader(valued[0], field.encode_name, extra, schema) if len(valued) == 1 else _plain(read_scalar)
    return Property(field.encode_name, field.required, len(valued) < len(kinds), read)


def _peeled(declared: inspect.Type) -> tuple[inspect.Type, dict[str, Any], dict[str, Any]]:
    """Return a type without what is noted about it, and those notes: what is ours, and what its schema says."""
    extra: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    while isinstance(declared, inspect.Metadata):
        extra |= declared.extra or {}
        schema |= declared.extra_json_schema or {}
        declared = declared.type
    return declared, extra, schema


def _reader(declared: inspect.Type, name: str, extra: dict[str, Any], schema: dict[str, Any]) -> Read:
    kind, own_extra, own_schema = _peeled(declared)
    extra, schema = extra | own_extra, schema | own_schema
    if isinstance(kind, inspect.StructType):
        return _object_reader(kind.cls)
    if isinstance(kind, inspect.ListType):
        item, _, _ = _peeled(kind.item_type)
        assert isinstance(item, inspect.StructType)  # noqa: S101
        return _list_reader(item.cls)
    if extra["kind"] == "enum":
        return _enum_reader(extra["values"])
    if extra["kind"] == "text":
        least = 1 if name in NEVER_EMPTY else schema.get("minLength", 0)
        return _plain(lambda value: read_text(value, least))
    return _plain(READERS[extra["kind"]])


def _plain(read: Callable[[Any], Any]) -> Read:
    return lambda value, _pointer, _faults: read(value)


def _enum_reader(values: tuple[str, ...]) -> Read:
    def read(value: Any, _pointer: str, _faults: Faults) -> str:
        if not isinstance(value, str) or value not in values:
            raise ValueError(f"is {shown(value)}, and takes {', '.join(values)}")
        return value

    return read


def _object_reader(declared: type[msgspec.Struct]) -> Read:
    def read(value: Any, pointer: str, faults: Faults) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"is {shown(value)}, and takes an object")  # noqa: TRY004 - noted as a fault
        return _read_object(declared, value, pointer, faults)

    return read


def _list_reader(declared: type[msgspec.Struct]) -> Read:
    read_one = _object_reader(declared)

    def read(value: Any, pointer: str, faults: Faults) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise ValueError(f"is {shown(value)}, and takes an array")  # noqa: TRY004 - noted as a fault
        items = []
        for index, each in enumerate(value):
            place = f"{pointer}/{index}"
            try:
                items.append({"": place, **read_one(each, place, faults)})
            except ValueError as error:
                faults.body(place, str(error))
        return items

    return read
