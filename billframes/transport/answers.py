"""Compare the record that a write returns with what was sent, because a response can belong to another request.

A fork, a proxy or a cache can mix up responses. Then the record is another one, and its id must not be used. A server
may change some values by its own rules, though, and such a record is the right one:

| property | what the server may do |
| --- | --- |
| any | leave it out, or show null; sent null keeps some values and clears others, so it is not compared |
| text | change spaces, case and punctuation, escape HTML, write "?" for characters that it can't store |
| long text | cut it off after 50 or more characters |
| hours | round them, by up to a quarter of an hour |
| money | round it to the cent |
| date, time of day | write a date as its midnight; drop seconds |
| rate | use the user's rate, or hide it |
| `default` | have another default practice area, or none |
| contact | write anything but its names in another form, such as "+44 20" for "020" |
| custom field | rename an option; write numbers, flags and dates as text |

Values that were not sent are the server's choice: the user of a time entry, its billing type and its amount.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from billframes._shared.names import join_names, snake_case
from billframes.errors import DecodeError
from billframes.schema.decode import decode_single, same_id
from billframes.schema.json_text import parse_day
from billframes.schema.records import WriteBody
from billframes.schema.resources import ALL_ZERO_ID, RESOURCES, Resource
from billframes.schema.sources import fields_of, json_name, json_names

_ROUNDED_HOURS, _ROUNDED_MONEY = 0.25, 0.01
# Numbers are compared a little wider than a limit, because they are binary fractions.
_SLACK = 1e-6
_LEAST_CUT = 50
_CHOSEN_BY_SERVER = frozenset({"rate", "default", "rateGroupId"})
_NAMES_OF_CONTACT = ("companyName", "firstName", "lastName")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")


class OtherRecordError(DecodeError):
    """A record came back that is not the one that was sent; `received` are the values that differ, by API names."""

    def __init__(self, message: str, received: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.received = dict(received)


def check_answer(
    answer: bytes, sent: bytes | None, request: type[WriteBody], resource: Resource, id_: str | None = None
) -> None:
    """
    Raise `OtherRecordError` if the record in the response to a create or an update is not the one that was sent.

    `request` is the declaration of the body `sent`. Without a record in the response there is nothing to compare.
    """
    record = record_in(answer)
    if is_of_another_kind(answer, resource):
        raise OtherRecordError(f"{resource.name}: a record of another kind came back.", {})
    _check_id(record, resource, id_)
    values = msgspec.json.decode(sent) if sent else {}
    received = {name: record.get(name) for name in _differing(values, record, request)}
    if received:
        named = join_names([snake_case(name) for name in received])
        message = f"{resource.name}: the record that came back has another {named} than was sent."
        raise OtherRecordError(message, received)


def check_deletion_answer(answer: bytes, resource: Resource, id_: str) -> None:
    """Raise `OtherRecordError` if the response to a deletion has another record or a list; usually it is empty."""
    body = _decoded(answer)
    if isinstance(body, Mapping) and isinstance(body.get("pagination"), Mapping):
        raise OtherRecordError(f"{resource.name}: a list came back.", {})
    _check_id(record_in(answer), resource, id_)


def _check_id(record: Mapping[str, Any], resource: Resource, id_: str | None) -> None:
    received = record.get(resource.id)
    if id_ is None or not isinstance(received, str) or same_id(received, id_):
        return
    raise OtherRecordError(
        f"{resource.name}: record {id_} was requested, the server sent {received or 'one without an id'} at "
        f"$.data.{resource.id}.",
        {resource.id: received},
    )


def is_of_another_kind(answer: bytes, resource: Resource) -> bool:
    """Return whether a response has a record of another resource, by its id, and not one of this resource."""
    record, own = record_in(answer), resource.detail or resource.record
    foreign = {each.id for each in RESOURCES if each.id.endswith("Id")} - {*json_names(own).values()}
    if foreign.isdisjoint(record):
        return False
    try:
        decode_single(answer, own, resource.name)
    except DecodeError:
        return True
    return False


def record_in(body: bytes) -> Mapping[str, Any]:
    """Return the record in a response; an empty one if there is none."""
    shown = _decoded(body)
    record = shown.get("data") if isinstance(shown, Mapping) else None
    return record if isinstance(record, Mapping) else {}


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _differing(sent: Mapping[str, Any], record: Mapping[str, Any], request: type[WriteBody]) -> Iterator[str]:
    fields = {json_name(request, field.name): field for field in fields_of(request)}
    for name, value in sent.items():
        field = fields.get(name)
        if field is None or value is None or name in _CHOSEN_BY_SERVER:
            continue
        if name == "customFields":
            same = _same_custom(value, custom_values(record))
        elif field.is_nested:
            same = _same_nested(value, record.get(name), _NAMES_OF_CONTACT if name == "contact" else tuple(value))
        elif name == "originatorId":
            shown = record.get("originatorIds")
            same = not isinstance(shown, list) or not shown or any(_same_id(value, each) for each in shown)
        else:
            same = _same(field.notes.get("kind", "text"), value, record.get(name))
        if not same:
            yield name


def _same(kind: str, sent: Any, shown: Any) -> bool:
    if sent == ALL_ZERO_ID:
        return shown in (None, "", ALL_ZERO_ID)
    return shown is None or _RULES.get(kind, _same_text)(sent, shown)


def _same_nested(sent: Mapping[str, Any], shown: Any, names: tuple[str, ...]) -> bool:
    values = shown if isinstance(shown, Mapping) else {}
    return all(_same("text", sent.get(name) or "", values.get(name)) for name in names if sent.get(name))


def _same_id(sent: Any, shown: Any) -> bool:
    return shown == "" or same_id(str(sent), str(shown))


def _same_text(sent: Any, shown: Any) -> bool:
    one, other = _letters(str(sent)), _letters(str(shown))
    if one == other or (len(other) >= _LEAST_CUT and one.startswith(other)):
        return True
    if str(shown).count("?") + str(shown).count("\ufffd") > str(sent).count("?"):
        one, other = (each.encode("ascii", "ignore").decode() for each in (one, other))
    return one == other and bool(one)


def _letters(text: str) -> str:
    """Return the letters and digits of a text, or all of it if it has none, without case and HTML."""
    plain = _TAG.sub("", html.unescape(text))
    plain = unicodedata.normalize("NFKC", plain if plain.strip() else text).casefold()
    return "".join(filter(str.isalnum, plain)) or "".join(plain.split())


def _near(tolerance: float) -> Callable[[Any, Any], bool]:
    def same(sent: Any, shown: Any) -> bool:
        one, other = _number(sent), _number(shown)
        return one is not None and other is not None and abs(one - other) <= tolerance + _SLACK * max(1.0, abs(one))

    return same


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _same_date(sent: Any, shown: Any) -> bool:
    try:
        return parse_day(str(shown)) == parse_day(str(sent))
    except ValueError:
        return False


def _same_time(sent: Any, shown: Any) -> bool:
    return str(sent)[:5] == str(shown)[:5]


def _same_flag(sent: Any, shown: Any) -> bool:
    return str(sent).casefold() == str(shown).casefold()


_RULES: dict[str, Callable[[Any, Any], bool]] = {
    "id": _same_id,
    "date": _same_date,
    "time": _same_time,
    "flag": _same_flag,
    "hours": _near(_ROUNDED_HOURS),
    "money": _near(_ROUNDED_MONEY),
}


def custom_values(record: Mapping[str, Any]) -> dict[Any, Mapping[str, Any]]:
    """Return the values of a record's custom fields by their ids; they are in the record, or in its `meta`."""
    meta = record.get("meta")
    shown = record.get("customFields") or (meta.get("customFields") if isinstance(meta, Mapping) else None)
    return {each.get("id"): each for each in shown if isinstance(each, Mapping)} if isinstance(shown, list) else {}


def _same_custom(sent: Any, shown: Mapping[Any, Mapping[str, Any]]) -> bool:
    return all(_same_custom_value(each, shown.get(each["id"], {})) for each in sent)


def _same_custom_value(sent: Mapping[str, Any], shown: Mapping[str, Any]) -> bool:
    if sent.get("value") is None or shown.get("value") is None:
        return True
    if sent.get("optionId") and shown.get("optionId"):
        # Options can be renamed.
        return _same_id(sent["optionId"], shown["optionId"])
    value, other = sent["value"], shown["value"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _near(_SLACK)(value, other)
    return _same_flag(value, other) or _same_date(value, other) or _same_text(value, other)
