"""Bytes become records, and records become Arrow tables.

One path for every resource: a typed msgspec decoder checks types and required fields while it parses, then each
column's values are gathered into a list and handed to Arrow. An answer that breaks the API's description raises
`DecodeError` with resource, record and JSON path. Instants and times stay text until they are columns, where
Arrow reads the usual form at once and Python the unusual ones (seven decimals, no zone: taken as UTC). Instants
are whole microseconds on the way, because those near the years 1 and 9999 may lie outside a datetime's range in UTC.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec
import pyarrow as pa

from billframes._names import snake_case
from billframes._warn import warn
from billframes.api._refusals import not_json
from billframes.api.columns import Source
from billframes.api.custom_fields import CustomColumn, read_values
from billframes.api.records import Pagination
from billframes.api.resources import MAX_OFFSET, Resource
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.frames.columns import ARROW_TYPES, Column, encode_enum, schema_of

__all__ = ["Page", "build_table", "decode_page", "decode_single", "earlier", "parse_instant", "parse_time"]

T = TypeVar("T")
_INDEX = re.compile(r"\$(?:\.data)?\[(\d+)\]")
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - compared with times whose offset was taken off
_MICROSECOND = dt.timedelta(microseconds=1)


class Page(msgspec.Struct, Generic[T]):
    """A list answer: the records, and which part of the list they are where the server says so."""

    data: list[T] | None
    pagination: Pagination | None = None


class Single(msgspec.Struct, Generic[T]):
    """A single-record answer."""

    data: T


@dataclass(frozen=True, slots=True)
class _Unknown:
    """Enum values outside the declaration, by column."""

    resource: str
    found: dict[str, set[str]]

    def report(self) -> None:
        for column, values in self.found.items():
            shown = ", ".join(repr(value) for value in sorted(values))
            warn(
                f"{self.resource}: column {column!r} holds values the API's description does not have: {shown}. "
                "They are kept as extra categories.",
                UnknownValueWarning,
            )


@functools.cache
def _decoder(shape: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


def decode_page(body: bytes, resource: Resource) -> Page[Any]:
    """
    Decode a list answer.

    A bare array is read as a list without pagination: the wrapper of some lists is not shown in the spec.

    Raises
    ------
    DecodeError
        The body is not JSON, or breaks the API's description.
    """
    record: Any = resource.record
    if body.lstrip()[:1] == b"[":
        return Page(data=_decode(body, list[record], resource.name, resource.id))
    page: Page[Any] = _decode(body, Page[record], resource.name, resource.id)
    if page.pagination is not None:
        _check_pagination(page.pagination, resource.name)
    return page


def _check_pagination(where: Pagination, resource: str) -> None:
    if (where.limit < 1 and where.total) or where.offset < 0 or not 0 <= where.total <= MAX_OFFSET:
        raise DecodeError(
            f"{resource}: the server's answer breaks the API's description at $.pagination: limit {where.limit}, "
            f"offset {where.offset}, total {where.total}."
        )


def decode_single(body: bytes, record: Any, resource: str, *, id_name: str = "id", id: str | None = None) -> Any:  # noqa: A002
    """
    Decode a single-record answer.

    Parameters
    ----------
    body : bytes
    record : type of Struct
        The declaration.
    resource : str
        For messages.
    id_name : str
        The property that identifies the record.
    id : str, optional
        Which record was asked for, for messages.

    Raises
    ------
    DecodeError
        The body is not JSON, or breaks the API's description.
    """
    return _decode(body, Single[record], resource, id_name, id).data


def _decode(body: bytes, shape: Any, resource: str, id_name: str, asked: str | None = None) -> Any:
    try:
        return _decoder(shape).decode(body)
    except msgspec.ValidationError as error:
        # The values stay out of the message and the chain: a body can hold client names.
        message = _explain(error, body, resource, id_name, asked)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise not_json(resource, body) from None
    raise DecodeError(message)


def _explain(error: msgspec.ValidationError, body: bytes, resource: str, id_name: str, asked: str | None) -> str:
    text = str(error)
    what, _, path = text.partition(" - at ")
    where = f" at {path.strip('`')}" if path else ""
    name = f"record {asked} " if asked else _record_named(path, body, id_name)
    return f"{resource}: {name}breaks the API's description{where}: {what}."


def _record_named(path: str, body: bytes, id_name: str) -> str:
    match = _INDEX.search(path)
    try:
        raw = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return f"record number {match[1]} " if match else "the server's answer "
    found = raw["data"] if isinstance(raw, dict) and "data" in raw else raw
    row = found[int(match[1])] if match else found
    name = row.get(id_name) if isinstance(row, dict) else None
    if isinstance(name, str):
        return f"record {name} "
    return f"record number {match[1]} (without {id_name}) " if match else "the server's answer "


def build_table(
    records: Sequence[Any],
    resource: Resource,
    sources: Sequence[Source],
    custom: Sequence[CustomColumn] = (),
) -> pa.Table:
    """
    Turn records into an Arrow table.

    Parameters
    ----------
    records : sequence of Struct
    resource : Resource
    sources : sequence of Source
        The declared columns, in order.
    custom : sequence of CustomColumn
        The custom fields' columns, which come last.

    Returns
    -------
    pyarrow.Table
        Its schema depends on the columns alone, never on the records.
    """
    id_attribute = snake_case(resource.id)
    unknown = _Unknown(resource.name, {})
    parents: dict[str | None, list[Any]] = {None: list(records)}
    arrays = [
        _array(_gather(parents, source), source.column, parents[None], id_attribute, unknown) for source in sources
    ]
    values = read_values(records, custom, resource=resource.name, id_attribute=id_attribute) if custom else {}
    arrays += [_array(values[each.column.name], each.column, parents[None], id_attribute, unknown) for each in custom]
    columns = (*(source.column for source in sources), *(each.column for each in custom))
    unknown.report()
    return pa.Table.from_arrays(arrays, schema=schema_of(columns))


def _gather(parents: dict[str | None, list[Any]], source: Source) -> list[Any]:
    name, attribute = source.parent, source.attribute
    if name not in parents:
        parents[name] = [getattr(record, str(name)) for record in parents[None]]
    if source.parent and source.column.kind == "texts":
        return [parent if parent is None else _flat(parent, attribute) for parent in parents[name]]
    return [None if parent is None else getattr(parent, attribute) for parent in parents[name]]


def _flat(parent: Any, attribute: str) -> Any:
    if isinstance(parent, list):
        return [getattr(each, attribute) for each in parent]
    return getattr(parent, attribute)


def _array(values: list[Any], column: Column, records: Sequence[Any], id_attribute: str, unknown: _Unknown) -> pa.Array:
    if column.kind == "enum":
        return _enum_array(values, column, unknown)
    if column.kind in {"instant", "time"}:
        return _text_array(values, column, lambda row: getattr(records[row], id_attribute), unknown.resource)
    return pa.array(values, ARROW_TYPES[column.kind])


def _enum_array(values: list[Any], column: Column, unknown: _Unknown) -> pa.Array:
    encoded, strays = encode_enum(values, column.values)
    if strays:
        unknown.found.setdefault(column.name, set()).update(strays)
    return encoded


def _text_array(values: list[Any], column: Column, name_of: Callable[[int], Any], resource: str) -> pa.Array:
    kind = ARROW_TYPES[column.kind]
    if column.kind == "instant":
        try:
            return pa.array(values, pa.string()).cast(kind)
        except pa.ArrowInvalid:
            pass
    parse = {"instant": _microseconds, "time": parse_time}[column.kind]
    parsed: list[Any] = []
    for row, value in enumerate(values):
        try:
            parsed.append(None if value is None else parse(value))
        except ValueError:
            raise DecodeError(
                f"{resource}: record {name_of(row)} breaks the API's description at column {column.name!r}: "
                f"what came is no {'date-time' if column.kind == 'instant' else 'time'}."
            ) from None
    return pa.array(parsed, kind)


def parse_instant(text: str) -> dt.datetime:
    """Read an instant; one without a zone is taken as UTC, one outside a datetime's range keeps its own zone."""
    instant = dt.datetime.fromisoformat(text)
    if instant.tzinfo is None:
        return instant.replace(tzinfo=dt.UTC)
    try:
        return instant.astimezone(dt.UTC)
    except OverflowError:
        return instant


def earlier(instant: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """Return an instant so much earlier; itself where the calendar begins later, as servers write "never"."""
    try:
        return instant - by
    except OverflowError:
        return instant


def _microseconds(text: str) -> int:
    """Read an instant as microseconds since 1970 in UTC."""
    instant = dt.datetime.fromisoformat(text)
    elapsed = instant.replace(tzinfo=None) - _EPOCH - (instant.utcoffset() or dt.timedelta())
    return elapsed // _MICROSECOND


def parse_time(text: str) -> dt.time:
    """Read a time of day."""
    return dt.time.fromisoformat(text).replace(tzinfo=None)
