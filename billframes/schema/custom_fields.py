"""Turn custom fields into columns, one for each definition.

The columns follow the definitions, so a field without values has its column, too. A column is named
`cf_<name in snake_case>`. If two columns would have the same name, the field that is defined first has it, and `_<id>`
is appended to the name of the other. Values are read from the record, or from its metadata if the record itself has
none.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import NoneType
from typing import Any

from billframes._shared.names import snake_case
from billframes._shared.notes import Rule, note
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.schema.columns import Column
from billframes.schema.json_text import parse_day
from billframes.schema.records import CustomFieldList, CustomFieldValue

_SAME_COLUMN = Rule(
    name="same_column",
    seen="{subject}: another {kind} field has the column `{column}`, so the values of {name!r} are in `{other}`.",
    remedy="Rename one of the fields in the billing system.",
    unit="fields",
    category=UnknownValueWarning,
)
_UNDEFINED = Rule(
    name="undefined_fields",
    seen="{subject}: records have values of custom fields without a definition, which therefore have no column: {ids}.",
    remedy="Load again if the fields are new.",
    page="Load the data again if the fields are new.",
    unit="fields",
    category=UnknownValueWarning,
)
_KINDS = {"text": "text", "boolean": "flag", "number": "number", "date": "date", "enum": "enum"}
_TYPES = {"text": str, "boolean": bool, "number": float, "date": str, "enum": str}


@dataclass(frozen=True, slots=True)
class CustomColumn:
    """A custom field's definition and its column."""

    definition: CustomFieldList
    column: Column

    @property
    def labels(self) -> dict[str, str]:
        """The labels of an enum's options, by option id."""
        return {option.option_id: option.label for option in self.definition.options or ()}

    @property
    def attrs(self) -> dict[str, str]:
        """The column's entry in `frame.attrs["custom_fields"]`."""
        field = self.definition
        return {"id": field.id, "name": field.name, "type": field.value_type.lower()}


class FieldNames:
    """
    The names of custom fields' columns: a connection has one, so that its frames and records use the same names.

    The fields whose ids are in `earlier` keep their names, whatever the order of the definitions.
    """

    def __init__(self, earlier: Iterable[str] = ()) -> None:
        self.earlier = tuple(earlier)
        self._names: dict[str, str] = {}
        self._warned: set[str] = set()

    def columns(self, definitions: Iterable[CustomFieldList]) -> tuple[CustomColumn, ...]:
        """Return the columns of custom fields, in the definitions' order; warn once of each name that is taken."""
        fields = list(definitions)
        twice = [id_ for id_, uses in Counter(field.id for field in fields).items() if uses > 1]
        if twice:
            raise DecodeError(f"custom_fields: the server sent more than one definition of {', '.join(twice)}.")
        places = {id_: place for place, id_ in enumerate(self.earlier)}
        names = _names(sorted(fields, key=lambda field: places.get(field.id, len(places))))
        self._names |= names
        self._warn_of_taken(fields, names)
        return tuple(CustomColumn(field, _column(field, names[field.id])) for field in fields)

    def values_by_column(self, values: Iterable[CustomFieldValue]) -> dict[str, CustomFieldValue]:
        """Return a record's custom field values, by the name that the field's column has in a frame."""
        by_id = {value.id: value for value in values}
        known = {id_: self._names[id_] for id_ in by_id if id_ in self._names}
        own = [value for id_, value in by_id.items() if id_ not in known]
        # Without the definitions, it is unknown which of two fields has the name.
        uses = Counter(map(_column_name, own))
        names = {each.id: name if uses[name := _column_name(each)] == 1 else f"{name}_{each.id}" for each in own}
        return {(names | known)[id_]: value for id_, value in by_id.items()}

    def _warn_of_taken(self, fields: Sequence[CustomFieldList], names: Mapping[str, str]) -> None:
        for field in fields:
            name = _column_name(field)
            if names[field.id] != name and field.id not in self._warned:
                self._warned.add(field.id)
                words = {"kind": field.entity, "column": name, "name": field.name, "other": names[field.id]}
                note(_SAME_COLUMN, 1, "custom_fields", about=field.id, **words)


def _names(fields: Iterable[CustomFieldList]) -> dict[str, str]:
    """Return the columns' names by field id; of fields that would have the same name, the first one has it."""
    names: dict[str, str] = {}
    for field in fields:
        name = _column_name(field)
        while name in names.values():
            name = f"{name}_{field.id}"
        names[field.id] = name
    return names


def read_values(
    records: Sequence[Any], columns: Sequence[CustomColumn], *, resource: str, id_attribute: str
) -> tuple[dict[str, list[Any]], set[str]]:
    """Return the values of each column, by its name, and the ids of fields that have values but no column."""
    fields: dict[str, list[CustomFieldValue | None]] = {each.definition.id: [None] * len(records) for each in columns}
    undefined: set[str] = set()
    for row, record in enumerate(records):
        for each in _values_of(record)[1]:
            if each.id in fields:
                fields[each.id][row] = each
            else:
                undefined.add(each.id)
    columns_of = {}
    for custom in columns:
        found = fields[custom.definition.id]
        try:
            columns_of[custom.column.name] = _typed(found, custom)
        except _MistypedError as error:
            record, value = records[error.row], found[error.row]
            path, values = _values_of(record)
            place = next(place for place, each in enumerate(values) if each is value)
            raise DecodeError(
                f"{resource}: record {getattr(record, id_attribute)} breaks the API's description at "
                f"$.data[{error.row}].{path}[{place}].value: {error}, in custom field {custom.definition.id}."
            ) from None
    return columns_of, undefined


def note_undefined(ids: Iterable[str], resource: str) -> None:
    """Note custom fields that have values and no definition."""
    names = sorted(ids)
    note(_UNDEFINED, len(names), resource, about=resource, ids=", ".join(names))


def _column_name(field: CustomFieldList | CustomFieldValue) -> str:
    return f"cf_{snake_case(field.name) or field.id}"


def _column(field: CustomFieldList, name: str) -> Column:
    options = dict.fromkeys(option.label for option in field.options or ())
    return Column(
        name=name,
        # Values of a type that is not in the API's description are kept as text.
        kind=_KINDS.get(field.value_type.lower(), "text"),
        values=tuple(options),
        description=f"Custom field {field.name!r}.",
        missing="not filled in",
        select="customFields",
    )


def _values_of(record: Any) -> tuple[str, Sequence[CustomFieldValue]]:
    """Return the JSON path of a record's custom field values, and the values."""
    if record.custom_fields:
        return "customFields", record.custom_fields
    meta = getattr(record, "meta", None)
    return "meta.customFields", (meta.custom_fields if meta else None) or ()


class _MistypedError(ValueError):
    """The value in a row is not of its field's type; caught in this module."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def _typed(fields: Sequence[CustomFieldValue | None], custom: CustomColumn) -> list[Any]:
    """Return the values of one field, one per record, as its column has them."""
    kind = custom.definition.value_type.lower()
    values = [None if each is None else each.value for each in fields]
    if kind == "enum":
        labels = custom.labels
        values = [
            labels.get(each.option_id or "") if each is not None and value is None else value
            for each, value in zip(fields, values, strict=True)
        ]
    expected = _TYPES.get(kind)
    if expected is None:
        return [None if value is None else str(value) for value in values]
    if not {*map(type, values)} <= {expected, NoneType}:
        row = next(row for row, value in enumerate(values) if type(value) not in {expected, NoneType})
        raise _MistypedError(row, f"{kind} expected, got {type(values[row]).__name__}")
    return _dates(values) if kind == "date" else values


def _dates(texts: Sequence[Any]) -> list[dt.date | None]:
    days: list[dt.date | None] = []
    try:
        days.extend(None if text is None else _date(text) for text in texts)
    except ValueError:
        # Python's message would quote the text, which can be confidential.
        raise _MistypedError(len(days), "the value is not a date") from None
    return days


# The values of a date field are on a few hundred days.
_date = lru_cache(maxsize=4096)(parse_day)
