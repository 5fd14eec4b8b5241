"""Represent a single record as an object with attributes in snake_case; nested references are records, too.

Custom fields are attributes with the names of their columns in a frame (`cf_court`). `custom_fields` has all of them by
the names that the firm gave them. Records are immutable; `update` sends changes.
"""

from __future__ import annotations

import datetime as dt
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from msgspec import Struct

from billframes._shared.format import fields_html, format_number, label_of
from billframes._shared.names import with_article
from billframes.errors import DecodeError, unknown_name
from billframes.schema.custom_fields import FieldNames
from billframes.schema.decode import parse_instant, parse_time
from billframes.schema.json_text import parse_day
from billframes.schema.sources import Field, fields_of, json_name


class Record:
    """
    One record of the API; returned by `.get`, `.create` and `.update`.

    Its attributes are the API's properties in snake_case: texts, floats, booleans, dates, datetimes in UTC, times; None
    if a value is missing. Two records are equal if they have the same values.
    """

    __slots__ = ("_kind", "_values")
    _kind: str
    _values: dict[str, Any]

    def __init__(self, kind: str, values: Mapping[str, Any]) -> None:
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_values", dict(values))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise unknown_name(with_article(self._kind).capitalize(), name, self._values) from None

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Records are immutable: change {name!r} with the loader's update.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Records are immutable: {name!r} can't be removed.")

    def __dir__(self) -> list[str]:
        return sorted([*self._values, "to_dict"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Record, (self._kind, self._values)

    def __repr__(self) -> str:
        # Custom fields are shown once, by the names of their attributes.
        shown = {name: value for name, value in self._values.items() if name != "custom_fields" or not value}
        width = max(map(len, shown), default=0)
        lines = [f"  {name:<{width}}  {_one_line(value)}" for name, value in shown.items()]
        return "\n".join([f"{self._kind}:", *lines])

    def _repr_html_(self) -> str:
        return fields_html(self._kind.capitalize(), dict(self._labels_and_texts()))

    def _labels_and_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the label and text of each field, ids last. The labels of custom fields are their names."""
        customs = self._values.get("custom_fields") or {}
        shown = {name: value for name, value in self._values.items() if not name.startswith("cf_")}
        shown.pop("custom_fields", None)
        for name, value in shown.items():
            if not _is_id(name):
                yield label_of(name), _readable(value)
        for name, value in customs.items():
            yield str(name), _readable(value)
        for name, value in shown.items():
            if _is_id(name):
                yield label_of(name), _one_line(value)

    def to_dict(self) -> dict[str, Any]:
        """
        Return the record as plain dicts, lists and values.

        Returns
        -------
        dict
            Attributes by name; nested records are dicts, too. It is a copy: changing it does not change the record.
        """
        return {name: _to_plain(value) for name, value in self._values.items()}


def record_from(struct: Struct, kind: str, field_names: FieldNames, path: str = "$.data") -> Record:
    """Turn a decoded record into a `Record` called `kind`; `path` is its JSON path in the response, for errors."""
    values: dict[str, Any] = {}
    for field in fields_of(type(struct)):
        if field.name != "custom_fields":
            here = f"{path}.{json_name(type(struct), field.name)}"
            value = getattr(struct, field.notes.get("reads", field.name))
            values[field.name] = _value(value, field, field_names, here)
    meta = getattr(struct, "meta", None)
    own = getattr(struct, "custom_fields", None)
    customs = own or getattr(meta, "custom_fields", None)
    if customs:
        place = f"{path}.customFields" if own else f"{path}.meta.customFields"
        read = {id(each): _custom(each, f"{place}[{at}].value") for at, each in enumerate(customs)}
        uses = Counter(each.name for each in customs)
        values["custom_fields"] = {each.name if uses[each.name] == 1 else each.id: read[id(each)] for each in customs}
        values |= {name: read[id(each)] for name, each in field_names.values_by_column(customs).items()}
    elif hasattr(struct, "custom_fields"):
        values["custom_fields"] = {}
    return Record(kind, values)


def _value(value: Any, field: Field, field_names: FieldNames, path: str) -> Any:
    if isinstance(value, list):
        return [_value(each, field, field_names, f"{path}[{at}]") for at, each in enumerate(value)]
    if isinstance(value, Struct):
        return record_from(value, field.name.replace("_", " "), field_names, path)
    if not isinstance(value, str):
        return value
    match field.notes.get("kind"):
        case "instant":
            return _parsed(parse_instant, value, f"{path}: the value is not a date-time")
        case "time":
            return _parsed(parse_time, value, f"{path}: the value is not a time")
        case "id":
            # An empty text names no record.
            return value or (None if field.nullable else value)
        case "enum":
            return {known.casefold(): known for known in field.notes["values"]}.get(value.casefold(), value)
    return value


def _custom(value: Any, path: str) -> Any:
    if value.value_type.lower() != "date" or not isinstance(value.value, str):
        return value.value
    message = f"{path}: the value is not a date, in custom field {value.id}"
    return _parsed(parse_day, value.value, message)


def _parsed(parse: Callable[[str], Any], text: str, message: str) -> Any:
    try:
        return parse(text)
    except ValueError:
        raise DecodeError(message) from None


def _one_line(value: Any) -> str:
    """Return a value as text on one line; nested records are shown by their names."""
    if isinstance(value, Record):
        return _reference_text(value)
    if isinstance(value, list):
        return "; ".join(map(_one_line, value))
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_one_line(each)}" for name, each in value.items())
    if isinstance(value, dt.datetime):
        return f"{value:%Y-%m-%d %H:%M} UTC"
    return "" if value is None else " ".join(str(value).splitlines())


def _isolate_direction(text: str) -> str:
    """Mark a text with right-to-left letters, so that the text after it keeps its own direction."""
    is_right_to_left = any(unicodedata.bidirectional(letter) in {"R", "AL"} for letter in text)
    return f"\u2068{text}\u2069" if is_right_to_left else text


def _readable(value: Any) -> str:
    """Return a value as a text for people: numbers have two decimals, and booleans are "yes" or "no"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_number(value, "cents") if isinstance(value, float) else _one_line(value)


def _is_id(name: str) -> bool:
    return name.endswith(("_id", "_ids"))


def _reference_text(record: Record) -> str:
    """
    Return a nested record's name and reference, or if it has no name, its fields with their labels.

    Custom fields are left out: those in the metadata are shown with the record itself.
    """
    values = {
        name: value for name, value in record._values.items() if name != "custom_fields" and not name.startswith("cf_")
    }
    called = next((values[name] for name in ("name", "label", "invoice_number") if values.get(name)), None)
    if called is not None:
        return f"{_isolate_direction(str(called))} ({values['reference']})" if values.get("reference") else str(called)
    labelled = ((label_of(name), _one_line(value)) for name, value in values.items() if not _is_id(name))
    return "; ".join(f"{label}: {text}" for label, text in labelled if text)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, list):
        return [_to_plain(each) for each in value]
    return dict(value) if isinstance(value, dict) else value
