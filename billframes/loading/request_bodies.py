"""Turn the arguments of `create` and `update` into request bodies.

Omitted arguments are not sent, nor are omitted fields of a nested object. None is sent as null. Values are checked by
the declaration of the request before anything is sent. Custom fields are given by name, column name or id, and looked
up in their definitions.

The API's description does not show whether an update with a part of a nested object, such as a contact, keeps the rest
of the object. It is safe to send the whole object. So `set_fields` reads the record first, and sends the existing
object with the changes.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
from msgspec import UNSET

from billframes._shared.names import as_given, closest, join_names, snake_case
from billframes._shared.suggestions import check_choice
from billframes.errors import ParameterError
from billframes.loading.ids import identifier
from billframes.loading.query_args import enum_value
from billframes.loading.record import Record
from billframes.periods import resolve
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.records import CustomFieldValueUpdate, WriteBody
from billframes.schema.sources import Field, fields_of, json_name, json_names


class SetFields:
    """Changes of a nested object, by field; returned by `set_fields`."""

    __slots__ = ("changes",)

    def __init__(self, changes: Mapping[str, Any]) -> None:
        self.changes = dict(changes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SetFields) and self.changes == other.changes

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"set_fields({', '.join(f'{name}={value!r}' for name, value in self.changes.items())})"


def set_fields(**changes: Any) -> SetFields:
    """
    Change some fields of a nested object and keep the others.

    Pass it to `clients.update` as `contact=` or to `matters.update` as `conflict_information=`. The update then reads
    the record first, and sends the existing object with the changes. So no field is lost, whether the server merges a
    nested object into the existing one or replaces it.

    Parameters
    ----------
    **changes : str or None
        New values by field, such as `phone="020 7946 0000"`; None removes a value.

    Returns
    -------
    SetFields
        The changes, to be passed to an update.

    Raises
    ------
    ParameterError
        No change is given.

    Notes
    -----
    Reading and writing are two requests. If somebody else changes the same object between them, that change is
    overwritten.

    Examples
    --------
    >>> made = bf.clients.create(name="Bolt & Co", contact={"company_name": "Bolt & Co", "city": "Leeds"})
    >>> contact = bf.clients.update(made.client_id, contact=bf.bulk.set_fields(phone="020 7946 0000")).contact
    >>> contact.phone, contact.city
    ('020 7946 0000', 'Leeds')
    >>> bf.clients.delete(made.client_id)
    """
    if not changes:
        raise ParameterError("set_fields needs at least one change, such as phone='020 7946 0000'.")
    return SetFields(changes)


def merge_nested(body: bytes, record: bytes, names: list[str]) -> bytes:
    """
    Return the body of an update, in which the nested objects `names` have all fields of the record and the changes.

    `record` is the response with the existing record. Properties that are not declared are kept, too.
    """
    changes, current = msgspec.json.decode(body), msgspec.json.decode(record)["data"]
    for name in names:
        existing = {key: value for key, value in (current.get(name) or {}).items() if value is not None}
        changes[name] = existing | changes[name]
    return msgspec.json.encode(changes)


def encode_body(request: type[WriteBody], values: Mapping[str, Any]) -> bytes:
    """Encode arguments as the body of a request, without those that are UNSET; the error names the argument."""
    fields = {field.name: field for field in fields_of(request)}
    given = {name: _value(name, fields[name], value) for name, value in values.items() if value is not UNSET}
    try:
        return msgspec.json.encode(request(**given))
    except UnicodeEncodeError as error:
        character = ascii(error.object[error.start])
    raise ParameterError(f"A text has half of a character ({character}), which can't be sent. Remove it.")


def find_merges(request: type[WriteBody], values: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the arguments that are given as `bf.bulk.set_fields(…)`, with their names in JSON.

    Refuse it for other than nested objects.
    """
    nested = [field.name for field in fields_of(request) if field.is_nested]
    given = [name for name, value in values.items() if isinstance(value, SetFields)]
    for name in given:
        if name not in nested:
            taking = f"; {join_names(nested)} can take it" if nested else ""
            raise ParameterError(f"{name} can't be given as bf.bulk.set_fields(…){taking}. Give the new value itself.")
    return {name: json_name(request, name) for name in given}


def custom_field_updates(values: Mapping[str, Any], columns: Iterable[CustomColumn]) -> list[CustomFieldValueUpdate]:
    """Turn custom fields into the records of a request. Each is given by its name, column or id; None clears it."""
    columns = list(columns)
    return [_custom_update(name, value, _find_column(name, columns)) for name, value in values.items()]


def _find_column(name: Any, columns: list[CustomColumn]) -> CustomColumn:
    found = [each for each in columns if name in (each.definition.id, each.column.name)]
    found = found or [each for each in columns if each.definition.name == name]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(each.definition.id for each in found)
        raise ParameterError(f"custom_fields[{name!r}] is the name of several fields; use one of the ids {ids}.")
    names = [each.definition.name for each in columns]
    raise ParameterError(
        f"custom_fields[{name!r}] is not a custom field; there are {', '.join(map(repr, names)) or 'none'}."
        f"{closest(name, names)}"
    )


def _custom_update(name: Any, value: Any, custom: CustomColumn) -> CustomFieldValueUpdate:
    field = custom.definition
    if value is None:
        return CustomFieldValueUpdate(id=field.id, value=None)
    kind, argument = field.value_type.lower(), f"custom_fields[{name!r}]"
    if kind == "enum":
        options = {label: option for option, label in reversed(custom.labels.items())}
        label = check_choice(value, argument, [*dict.fromkeys(custom.labels.values())])
        return CustomFieldValueUpdate(id=field.id, value=label, option_id=options[label])
    return CustomFieldValueUpdate(id=field.id, value=_checked(argument, value, *_CUSTOM_CHECKS.get(kind, _TEXT)))


def _value(name: str, field: Field, value: Any) -> Any:
    if isinstance(value, SetFields):
        raise ParameterError(
            f"{name}=bf.bulk.set_fields(…) can only change an existing record; to create one, give {name} as a mapping."
        )
    if value is None:
        if not field.nullable:
            raise ParameterError(f"{name}=None is not accepted; leave it out, or give a value.")
        return None
    if field.is_list:
        # Custom fields, converted by `custom_field_updates`.
        return value
    if field.is_nested:
        return _nested(name, field, value)
    kind = field.notes.get("kind", "text")
    if kind == "enum":
        return enum_value(name, value, field.notes["values"])
    if kind == "id":
        return identifier(value, name)
    return _checked(name, value, *_CHECKS[kind])


def _checked(name: str, value: Any, check: Callable[[Any], Any], expected: str) -> Any:
    try:
        return check(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{as_given(name, value)} is not {expected}.") from None


def _nested(name: str, field: Field, value: Any) -> Any:
    """Return the given fields of a contact or of conflict information, by their names in JSON."""
    if isinstance(value, Record):
        value = value.to_dict()
    if not isinstance(value, Mapping):
        raise ParameterError(f"{as_given(name, value)} is not a mapping.")
    known = json_names(field.type)
    given = {key: each for key, each in value.items() if each is not UNSET}
    for key, each in given.items():
        if snake_case(str(key)) not in known:
            raise ParameterError(f"{name} has no {key!r}; it takes {', '.join(sorted(known))}.{closest(key, known)}")
        if each is not None and not isinstance(each, str):
            raise ParameterError(f"{name}[{key!r}]={each!r} is not text.")
    return {known[snake_case(key)]: each for key, each in given.items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool | np.bool_ | str) or not isinstance(value, int | float | Decimal | np.number):
        raise TypeError
    number = float(value)
    if not np.isfinite(number):
        raise ValueError
    return number


def _flag(value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise TypeError
    return bool(value)


def _date(value: Any) -> dt.date:
    day = resolve(end=value).end
    if day is None:
        raise ValueError
    return day


def _time(value: Any) -> str:
    if isinstance(value, str):
        value = dt.time.fromisoformat(value)
    if not isinstance(value, dt.time):
        raise TypeError
    return value.replace(tzinfo=None).isoformat()


_TEXT = (_text, "a text")
_CHECKS: dict[str, tuple[Any, str]] = {
    "text": _TEXT,
    "date": (_date, "a date such as '2026-10-31'"),
    "time": (_time, "a time such as '09:30'"),
    "flag": (_flag, "True or False"),
    **dict.fromkeys(("money", "hours", "rate", "number"), (_number, "a number")),
}
_CUSTOM_CHECKS: dict[str, tuple[Any, str]] = {
    "number": _CHECKS["number"],
    "boolean": _CHECKS["flag"],
    "date": (lambda value: _date(value).isoformat(), "a date such as '2026-10-31'"),
}
