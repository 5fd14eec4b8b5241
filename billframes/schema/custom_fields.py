"""Turn custom fields into columns, one for each definition.

The columns follow the definitions, so a field without values has its column, too. A column is named
`cf_<name in snake_case>`. If two columns would have the same name, the field that is defined first has it, and `_<id>`
is appended to the name of the other. Values are read from the record, or from its metadata if the record itself has
none.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from billframes._names import snake_case
from billframes._notes import Rule, note
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.schema.columns import Column
from billframes.schema.json_text import parse_day
from billframes.schema.records import CustomFieldList, CustomFieldValue

if TYPE_CHECKING:
    import numpy.typing as npt

Places: TypeAlias = "npt.NDArray[np.int64] | slice"

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
_NO_PLACES = slice(0, 0)
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
    by_record = [_values_of(record)[1] for record in records]
    sizes = np.fromiter(map(len, by_record), np.int64, len(by_record))
    rows = np.repeat(np.arange(len(by_record)), sizes)
    fields = list(chain.from_iterable(by_record))
    values = np.empty(len(fields), object)
    values[:] = [each.value for each in fields]
    places = _places_by_id([each.id for each in fields], len(records))
    columns_of: dict[str, list[Any]] = {}
    for each in columns:
        found = places.pop(each.definition.id, _NO_PLACES)
        try:
            typed = _typed(values[found].tolist(), each, partial(_options, fields, found))
        except _MistypedError as error:
            place = int(np.arange(len(fields))[found][error.place])
            row = int(rows[place])
            raise DecodeError(
                f"{resource}: record {getattr(records[row], id_attribute)} breaks the API's description at "
                f"$.data[{row}].{_values_of(records[row])[0]}[{place - sizes[:row].sum()}].value: {error}, "
                f"in custom field {each.definition.id}."
            ) from None
        columns_of[each.column.name] = _spread(typed, rows[found], len(records))
    return columns_of, set(places)


def _places_by_id(ids: list[str], size: int) -> dict[str, Places]:
    """Return the positions of each id in `ids`, which are those of `size` records, one record after the other."""
    width = len(ids) // max(size, 1)
    if ids == ids[:width] * size and len(set(ids[:width])) == width:
        # Most servers list the same fields in the same order for all records.
        return {id_: slice(number, None, width) for number, id_ in enumerate(ids[:width])}
    different = {id_: number for number, id_ in enumerate(dict.fromkeys(ids))}
    numbers = np.fromiter(map(different.__getitem__, ids), np.int64, len(ids))
    ends = np.cumsum(np.bincount(numbers))
    return dict(zip(different, np.split(np.argsort(numbers, kind="stable"), ends[:-1]), strict=True))


def _options(fields: list[CustomFieldValue], found: Places) -> list[str | None]:
    return [fields[place].option_id for place in np.arange(len(fields))[found].tolist()]


def _spread(values: list[Any], rows: npt.NDArray[np.int64], size: int) -> list[Any]:
    """Return a column of `size` rows with these values in these rows; if a row occurs twice, its last value is used."""
    if np.array_equal(rows, np.arange(size)):
        return values
    column: list[Any] = [None] * size
    for row, value in zip(rows.tolist(), values, strict=True):
        column[row] = value
    return column


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
    """A value is not of its field's type; caught in this module."""

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place = place


def _typed(values: list[Any], custom: CustomColumn, options: Callable[[], list[str | None]]) -> list[Any]:
    """Return one field's values as its column has them; `options` returns the ids of the selected options."""
    kind = custom.definition.value_type.lower()
    if kind == "enum" and None in values:
        labels = custom.labels
        pairs = zip(values, options(), strict=True)
        values = [labels.get(option or "") if value is None else value for value, option in pairs]
    expected = _TYPES.get(kind)
    if expected is None:
        return [None if value is None else str(value) for value in values]
    if not {*map(type, values)} <= {expected, NoneType}:
        place = next(place for place, value in enumerate(values) if type(value) not in {expected, NoneType})
        raise _MistypedError(place, f"{kind} expected, got {type(values[place]).__name__}")
    return _dates(values) if kind == "date" else values


def _dates(texts: list[str | None]) -> list[dt.date | None]:
    days: list[dt.date | None] = []
    try:
        days.extend(None if text is None else _date(text) for text in texts)
    except ValueError:
        # Python's message would quote the text, which can be confidential.
        raise _MistypedError(len(days), "the value is not a date") from None
    return days


# The values of a date field are on a few hundred days.
_date = lru_cache(maxsize=4096)(parse_day)
