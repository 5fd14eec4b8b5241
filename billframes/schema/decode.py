"""Decode the bytes of an answer into records.

One path for every resource: a typed msgspec decoder checks types and required fields while it parses. An answer that
breaks the API's description raises `DecodeError` with resource, record and JSON path. The records go on to
`billframes.loading.table_builder`.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import re
import threading
from typing import Any, Generic, TypeVar

import msgspec

from billframes.errors import DecodeError
from billframes.schema.json_text import TOO_DEEP, midnights_cut, not_json
from billframes.schema.records import Pagination
from billframes.schema.resources import MAX_OFFSET, Resource

__all__ = [
    "decode_page",
    "decode_single",
    "decoder",
    "earlier",
    "microseconds",
    "parse_instant",
    "parse_time",
    "same_id",
    "stated_total",
]

T = TypeVar("T")
_INDEX = re.compile(r"\$(?:\.data)?\[(\d+)\]")
# Names under which an array of records is a list, beside `data` and the resource's own; in lower case.
WRAPPERS = frozenset({"items", "records", "results", "value"})
_MORE = re.compile("next|more|continu|cursor|total|count", re.IGNORECASE)
_NO_MORE = {b"null", b"false", b'""', b"0"}
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - compared with times whose offset was taken off
_MICROSECOND = dt.timedelta(microseconds=1)


class ListBody(msgspec.Struct, Generic[T]):
    """A list answer: the records, and which part of the list they are where the server says so."""

    data: list[T] | None
    pagination: Pagination | None = None


class Single(msgspec.Struct, Generic[T]):
    """A single-record answer."""

    data: T


class _Stated(msgspec.Struct):
    """What any answer may say of the list that it is a part of."""

    pagination: Pagination | None = None


# msgspec reads a declaration when the first decoder that needs it is made, and crashes if two threads do so at once.
_making = threading.Lock()


@functools.cache
def decoder(shape: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a declaration, made once; safe to call from several threads."""
    with _making:
        return msgspec.json.Decoder(shape)


def decode_page(body: bytes, resource: Resource) -> ListBody[Any]:
    """
    Decode a list answer.

    The wrapper of some lists is not shown in the description, so a bare array is read as a list without pagination, and
    so is an array under another name than `data` (see `WRAPPERS`).

    Raises
    ------
    DecodeError
        The body is not JSON, or breaks the API's description.
    """
    record: Any = resource.record
    if body.lstrip()[:1] == b"[":
        return ListBody(data=_decode(body, list[record], resource.name, resource.id))
    try:
        page: ListBody[Any] = _decode(body, ListBody[record], resource.name, resource.id)
    except DecodeError:
        unwrapped = _unwrapped(body, resource)
        if unwrapped is None:
            raise
        rows, pagination = unwrapped
        page = ListBody(_decode(rows, list[record], resource.name, resource.id), pagination)
    if page.pagination is not None:
        _check_pagination(page.pagination, resource.name)
    return page


def _unwrapped(body: bytes, resource: Resource) -> tuple[bytes, Pagination | None] | None:
    """Return the rows of a list that has another wrapper than `data`, and its pagination; None if none is known."""
    try:
        members = decoder(dict[str, msgspec.Raw]).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    known = {*WRAPPERS, resource.name.replace("_", "")}
    arrays = {
        name: bytes(value)
        for name, value in members.items()
        if name.replace("_", "").casefold() in known and bytes(value)[:1] == b"["
    }
    if "data" in members or len(arrays) != 1:
        return None
    (rows,) = arrays.values()
    stated = bytes(members.get("pagination", b"null"))
    if stated != b"null":
        return rows, _decode(stated, Pagination, resource.name, resource.id)
    try:
        # It may stand beside the rows.
        return rows, decoder(Pagination).decode(body)
    except msgspec.ValidationError:
        pass
    # Without it, a list that is not paged must not hint at further rows.
    hinting = {name for name, value in members.items() if _MORE.search(name) and bytes(value) not in _NO_MORE}
    return None if hinting and not resource.paginated else (rows, None)


def _check_pagination(where: Pagination, resource: str) -> None:
    if (where.limit < 1 and where.total) or where.offset < 0 or not 0 <= where.total <= MAX_OFFSET:
        raise DecodeError(
            f"{resource}: the server's answer breaks the API's description at $.pagination: limit {where.limit}, "
            f"offset {where.offset}, total {where.total}."
        )


def stated_total(body: bytes) -> int | None:
    """Return how many there are in all by an answer's `pagination`; None without one that can be read."""
    try:
        stated = decoder(_Stated).decode(body).pagination
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return stated.total if stated else None


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
        return decoder(shape).decode(body)
    except msgspec.ValidationError as error:
        cut = midnights_cut(body)
        if cut != body:
            return _decode(cut, shape, resource, id_name, asked)
        # The values stay out of the message and the chain: a body can hold client names.
        message = _explain(error, body, resource, id_name, asked)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise not_json(resource, body) from None
    except RecursionError:
        raise not_json(resource, body, TOO_DEEP) from None
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
        # Unlike msgspec, it reads numbers of any size, and one of them may be what is wrong.
        raw = json.loads(body)
    except (ValueError, RecursionError):
        return f"record number {match[1]} " if match else "the server's answer "
    found = raw["data"] if isinstance(raw, dict) and "data" in raw else raw
    row = found[int(match[1])] if match else found
    name = row.get(id_name) if isinstance(row, dict) else None
    if isinstance(name, str):
        return f"record {name} "
    return f"record number {match[1]} (without {id_name}) " if match else "the server's answer "


def same_id(one: str, other: str) -> bool:
    """Tell whether two ids are of the same record: case and surrounding spaces don't count."""
    return one.strip().casefold() == other.strip().casefold()


def parse_instant(text: str) -> dt.datetime:
    """Read an instant; one without a zone is taken as UTC, one outside a datetime's range keeps its own zone."""
    instant = dt.datetime.fromisoformat(text)
    if instant.tzinfo is None:
        return instant.replace(tzinfo=dt.UTC)
    try:
        return instant.astimezone(dt.UTC)
    except OverflowError:
        return instant


def microseconds(text: str) -> int:
    """Read an instant as microseconds since 1970 in UTC, wherever in the calendar it is."""
    instant = dt.datetime.fromisoformat(text)
    elapsed = instant.replace(tzinfo=None) - _EPOCH - (instant.utcoffset() or dt.timedelta())
    return elapsed // _MICROSECOND


def earlier(instant: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """Return an instant so much earlier; itself where the calendar begins later, as servers write "never"."""
    try:
        return instant - by
    except OverflowError:
        return instant


@functools.lru_cache(maxsize=2048)
def parse_time(text: str) -> dt.time:
    """Read a time of day."""
    return dt.time.fromisoformat(text).replace(tzinfo=None)
