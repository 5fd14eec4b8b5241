"""Decode response bodies into records.

Every resource is decoded in the same way: a typed msgspec decoder checks types and required fields while it parses. A
response that breaks the API's description raises `DecodeError`, which names the resource, the record and the JSON path.
`billframes.loading.table_builder` makes a table of the records.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import re
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Generic, TypeVar

import msgspec

from billframes._shared.forks import hold_during_fork
from billframes._shared.names import first_few
from billframes._shared.notes import Rule, note
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.schema.json_text import TOO_DEEP, cut_midnights, not_json_error, replace_surrogates
from billframes.schema.records import Pagination
from billframes.schema.resources import MAX_OFFSET, Resource

T = TypeVar("T")
_INDEX = re.compile(r"\$(?:\.data)?\[(\d+)\]")
# Lists are also accepted under these names, or the resource's own name, instead of `data`; in lower case.
WRAPPERS = frozenset({"items", "records", "results", "value"})
_HINTS_AT_MORE = re.compile("next|more|continu|cursor|total|count", re.IGNORECASE)
_NOT_MORE = {b"null", b"false", b'""', b"0"}
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - compared with times without an offset
_MICROSECOND = dt.timedelta(microseconds=1)


class ListBody(msgspec.Struct, Generic[T]):
    """The body of a list response: records, and which part of the list they are, if the server states it."""

    data: list[T] | None
    pagination: Pagination | None = None


class SingleBody(msgspec.Struct, Generic[T]):
    """The body of a response with a single record."""

    data: T


class _AnyBody(msgspec.Struct):
    pagination: Pagination | None = None


# msgspec reads a declaration when the first decoder for it is made, and crashes if two threads do this at once.
_decoder_lock = threading.Lock()
hold_during_fork(_decoder_lock)


@functools.cache
def decoder(shape: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a declaration; it is made once. Safe to call from several threads."""
    with _decoder_lock:
        return msgspec.json.Decoder(shape)


def decode_page(body: bytes, resource: Resource, cut: list[str] | None = None) -> ListBody[Any]:
    """
    Decode the body of a list response.

    The API's description does not show the wrapper of some lists. So a bare array is read as a list without pagination,
    and an array may have another name than `data` (see `WRAPPERS`). `cut` gets the ids of records with half of a
    character in a text, for `note_cut_characters`; None warns at once.
    """
    record: Any = resource.record
    if body.lstrip()[:1] == b"[":
        return ListBody(data=_decode(body, list[record], resource.name, resource.id, cut=cut))
    try:
        page: ListBody[Any] = _decode(body, ListBody[record], resource.name, resource.id, cut=cut)
    except DecodeError:
        unwrapped = _find_rows(body, resource)
        if unwrapped is None:
            raise
        rows, pagination = unwrapped
        page = ListBody(_decode(rows, list[record], resource.name, resource.id), pagination)
        _add_cut_characters(body, resource.name, resource.id, cut)
    if page.pagination is not None:
        _check_pagination(page.pagination, resource.name)
    return page


def _find_rows(body: bytes, resource: Resource) -> tuple[bytes, Pagination | None] | None:
    """Return the rows of a list with another name than `data`, and its pagination; None if there is no such list."""
    body = replace_surrogates(body)
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
        # The pagination's properties may be beside the rows, without a wrapper.
        return rows, decoder(Pagination).decode(body)
    except msgspec.ValidationError:
        pass
    # A list that the API does not page is accepted without pagination only if nothing hints at further rows.
    hinting = {name for name, value in members.items() if _HINTS_AT_MORE.search(name) and bytes(value) not in _NOT_MORE}
    return None if hinting and not resource.paginated else (rows, None)


def _check_pagination(where: Pagination, resource: str) -> None:
    if (where.limit < 1 and where.total) or where.offset < 0 or not 0 <= where.total <= MAX_OFFSET:
        raise DecodeError(
            f"{resource}: the server's response breaks the API's description at $.pagination: limit {where.limit}, "
            f"offset {where.offset}, total {where.total}."
        )


def stated_total(body: bytes) -> int | None:
    """Return the total that a response states in its `pagination`; None if it states none, or can't be read."""
    try:
        stated = decoder(_AnyBody).decode(body).pagination
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return stated.total if stated else None


def decode_single(body: bytes, record: Any, resource: str, *, id_name: str = "id", id: str | None = None) -> Any:  # noqa: A002
    """Decode the body of a response with a single record; the property `id_name` identifies it, for messages."""
    return _decode(body, SingleBody[record], resource, id_name, id).data


def _decode(
    body: bytes, shape: Any, resource: str, id_name: str, record_id: str | None = None, cut: list[str] | None = None
) -> Any:
    try:
        return decoder(shape).decode(body)
    except msgspec.ValidationError as error:
        shortened = cut_midnights(body)
        if shortened != body:
            return _decode(shortened, shape, resource, id_name, record_id, cut)
        # Values stay out of the message and the chained errors, because a body can hold client names.
        message = _explain(error, body, resource, id_name, record_id)
    except (msgspec.DecodeError, UnicodeDecodeError):
        mended = replace_surrogates(body)
        if mended == body:
            raise not_json_error(resource, body) from None
        decoded = _decode(mended, shape, resource, id_name, record_id, cut)
        _add_cut_characters(body, resource, id_name, cut)
        return decoded
    except RecursionError:
        raise not_json_error(resource, body, TOO_DEEP) from None
    raise DecodeError(message)


def _add_cut_characters(body: bytes, resource: str, id_name: str, cut: list[str] | None) -> None:
    """Add the ids of records with half of a character to `cut`; note them if `cut` is None."""
    ids = _ids_of_cut(body, id_name) if replace_surrogates(body) != body else ()
    if cut is None:
        note_cut_characters(ids, resource)
    else:
        cut += ids


def _ids_of_cut(body: bytes, id_name: str) -> Iterator[str]:
    """Yield the ids of the records in which a text has a surrogate without its other half."""
    # Unlike msgspec, `json` reads such texts.
    raw = json.loads(body)
    lists = [each for each in raw.values() if isinstance(each, list)] if isinstance(raw, dict) else []
    found = raw["data"] if isinstance(raw, dict) and "data" in raw else lists[0] if lists else raw
    for record in found if isinstance(found, list) else [found]:
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            yield str(record.get(id_name) or "without an id") if isinstance(record, dict) else "without an id"


def note_cut_characters(ids: Iterable[str], resource: str) -> None:
    """Note records in which half of a character was read as U+FFFD."""
    records = list(dict.fromkeys(ids))
    which = f"record {records[0]} has" if len(records) == 1 else f"records {first_few(records or [''])} have"
    note(_CUT_CHARACTERS, len(records), resource, about=resource, which=which)


_CUT_CHARACTERS = Rule(
    name="cut_characters",
    seen="{subject}: {which} half of a character in a text, such as half of an emoji that was cut off. It was read as "
    "\ufffd (U+FFFD).",
    remedy="Correct the text in the billing system.",
    category=UnknownValueWarning,
)


def _explain(error: msgspec.ValidationError, body: bytes, resource: str, id_name: str, record_id: str | None) -> str:
    text = str(error)
    what, _, path = text.partition(" - at ")
    where = f" at {path.strip('`')}" if path else ""
    name = f"record {record_id} " if record_id else _name_of(path, body, id_name)
    return f"{resource}: {name}breaks the API's description{where}: {what}."


def _name_of(path: str, body: bytes, id_name: str) -> str:
    match = _INDEX.search(path)
    try:
        # Unlike msgspec, `json` reads numbers of any size, and such a number may be the error.
        raw = json.loads(body)
    except (ValueError, RecursionError):
        return f"record number {match[1]} " if match else "the server's response "
    found = raw["data"] if isinstance(raw, dict) and "data" in raw else raw
    row = found[int(match[1])] if match else found
    name = row.get(id_name) if isinstance(row, dict) else None
    if isinstance(name, str):
        return f"record {name} "
    return f"record number {match[1]} (without {id_name}) " if match else "the server's response "


def same_id(one: str, other: str) -> bool:
    """Return whether two ids are of the same record; case and surrounding spaces are ignored."""
    return one.strip().casefold() == other.strip().casefold()


def parse_instant(text: str) -> dt.datetime:
    """Parse an instant as a datetime in UTC; if that is outside a datetime's range, it keeps its own time zone."""
    instant = dt.datetime.fromisoformat(_in_capitals(text))
    if instant.tzinfo is None:
        # An instant without a time zone is in UTC.
        return instant.replace(tzinfo=dt.UTC)
    try:
        return instant.astimezone(dt.UTC)
    except OverflowError:
        return instant


def microseconds(text: str) -> int:
    """Parse an instant as microseconds since 1970 in UTC; this works for every instant of the calendar."""
    instant = dt.datetime.fromisoformat(_in_capitals(text))
    elapsed = instant.replace(tzinfo=None) - _EPOCH - (instant.utcoffset() or dt.timedelta())
    return elapsed // _MICROSECOND


def earlier(instant: dt.datetime, by: dt.timedelta) -> dt.datetime:
    """
    Return `instant` minus `by`.

    If that would be before the year 1, `instant` is returned: some servers write "0001-01-01" for "never".
    """
    try:
        return instant - by
    except OverflowError:
        return instant


@functools.lru_cache(maxsize=2048)
def parse_time(text: str) -> dt.time:
    """Parse a time of day; its time zone is dropped."""
    return dt.time.fromisoformat(_in_capitals(text)).replace(tzinfo=None)


def _in_capitals(text: str) -> str:
    # RFC 3339 also allows "t" and "z", which Python does not parse.
    return text.upper()
