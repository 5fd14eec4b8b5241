"""Custom fields become columns, one each, as their definitions say.

The definitions decide which columns there are, so a field nobody filled in still has its column. A column is
named `cf_<snake_case of the name>`; where two fields' names would collide, both get `_<id>` appended. Values are
read from the record, else from its metadata.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, repeat
from types import NoneType
from typing import Any

from billframes._names import snake_case
from billframes._warn import warn
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.schema.columns import Column
from billframes.schema.json_text import parse_day
from billframes.schema.records import CustomFieldList, CustomFieldValue

__all__ = ["CustomColumn", "attributes_of", "columns_from", "read_values", "warn_of_undefined"]

_KINDS = {"text": "text", "boolean": "flag", "number": "number", "date": "date", "enum": "enum"}
_TYPES = {"text": str, "boolean": bool, "number": float, "date": str, "enum": str}


@dataclass(frozen=True, slots=True)
class CustomColumn:
    """A custom field's definition and the column it becomes."""

    definition: CustomFieldList
    column: Column

    @property
    def labels(self) -> dict[str, str]:
        """Labels of an enum's options by the options' ids."""
        return {option.option_id: option.label for option in self.definition.options or ()}

    @property
    def attrs(self) -> dict[str, str]:
        """What `frame.attrs["custom_fields"]` says of the column."""
        field = self.definition
        return {"id": field.id, "name": field.name, "type": field.value_type.lower()}


def columns_from(definitions: Iterable[CustomFieldList]) -> tuple[CustomColumn, ...]:
    """
    Return the columns that the definitions become, in the definitions' order.

    Raises
    ------
    DecodeError
        Two definitions have the same id.
    """
    fields = list(definitions)
    twice = [id_ for id_, uses in Counter(field.id for field in fields).items() if uses > 1]
    if twice:
        raise DecodeError(f"custom_fields: the definition of {', '.join(twice)} came more than once.")
    return tuple(CustomColumn(field, _column(field, name)) for field, name in zip(fields, _names(fields), strict=True))


def attributes_of(values: Iterable[CustomFieldValue]) -> dict[str, CustomFieldValue]:
    """Return a record's custom field values by the names that columns of these fields have."""
    values = list({value.id: value for value in values}.values())
    return dict(zip(_names(values), values, strict=True))


def _names(fields: Sequence[CustomFieldList | CustomFieldValue]) -> list[str]:
    names = [_column_name(field) for field in fields]
    # A name with an id appended can be another field's name: then that one's id is appended too.
    while len(uses := Counter(names)) < len(names):
        names = [name if uses[name] == 1 else f"{name}_{field.id}" for field, name in zip(fields, names, strict=True)]
    return names


def read_values(
    records: Sequence[Any], columns: Sequence[CustomColumn], *, resource: str, id_attribute: str
) -> tuple[dict[str, list[Any]], set[str]]:
    """
    Read the custom fields of the records into lists, one a column; and the ids of fields that have none.

    Raises
    ------
    DecodeError
        A value is not of its field's type.
    """
    held = [_values_of(record)[1] for record in records]
    came = list(chain.from_iterable(held))
    rows = list(chain.from_iterable(map(repeat, count(), map(len, held))))
    places: dict[str, list[int]] = defaultdict(list)
    for place, value in enumerate(came):
        places[value.id].append(place)
    columns_of: dict[str, list[Any]] = {}
    for each in columns:
        found = places.pop(each.definition.id, [])
        try:
            values = _typed([came[place] for place in found], each)
        except _MistypedError as error:
            row = rows[found[error.place]]
            at = found[error.place] - sum(map(len, held[:row]))
            raise DecodeError(
                f"{resource}: record {getattr(records[row], id_attribute)} breaks the API's description at "
                f"$.data[{row}].{_values_of(records[row])[0]}[{at}].value: {error}, in custom field "
                f"{each.definition.id}."
            ) from None
        columns_of[each.column.name] = _spread(values, [rows[place] for place in found], len(records))
    return columns_of, set(places)


def _spread(values: list[Any], rows: list[int], size: int) -> list[Any]:
    """Return a column from the values of some of its rows; of several values of a row the last counts."""
    if rows == list(range(size)):
        return values
    column: list[Any] = [None] * size
    for row, value in zip(rows, values, strict=True):
        column[row] = value
    return column


def warn_of_undefined(ids: Iterable[str], resource: str) -> None:
    """Say which custom fields have values and no definition."""
    warn(
        f"{resource}: records hold values of custom fields that have no definition and so no column: "
        f"{', '.join(sorted(ids))}. Load again if the fields are new.",
        UnknownValueWarning,
    )


def _column_name(field: CustomFieldList | CustomFieldValue) -> str:
    return f"cf_{snake_case(field.name) or field.id}"


def _column(field: CustomFieldList, name: str) -> Column:
    options = dict.fromkeys(option.label for option in field.options or ())
    return Column(
        name=name,
        # A type this description does not know is kept as text.
        kind=_KINDS.get(field.value_type.lower(), "text"),
        values=tuple(options),
        description=f"Custom field {field.name!r}.",
        missing="not filled in",
        select="customFields",
    )


def _values_of(record: Any) -> tuple[str, Sequence[CustomFieldValue]]:
    """Return where in the record's JSON its values are, and the values."""
    if record.custom_fields:
        return "customFields", record.custom_fields
    meta = getattr(record, "meta", None)
    return "meta.customFields", (meta.custom_fields if meta else None) or ()


class _MistypedError(ValueError):
    """A value is not of its field's type; never leaves this module."""

    def __init__(self, place: int, said: str) -> None:
        super().__init__(said)
        self.place = place


def _typed(found: Sequence[CustomFieldValue], custom: CustomColumn) -> list[Any]:
    """Return one field's values as its column holds them."""
    kind = custom.definition.value_type.lower()
    values: list[Any] = [each.value for each in found]
    if kind == "enum" and None in values:
        labels = custom.labels
        values = [labels.get(each.option_id or "") if each.value is None else each.value for each in found]
    expected = _TYPES.get(kind)
    if expected is None:
        return [None if value is None else str(value) for value in values]
    if not {*map(type, values)} <= {expected, NoneType}:
        place = next(place for place, value in enumerate(values) if type(value) not in {expected, NoneType})
        raise _MistypedError(place, f"{kind} expected, got {type(values[place]).__name__}")
    return _dates(values) if kind == "date" else values


def _dates(texts: list[str | None]) -> list[dt.date | None]:
    days: list[dt.date | None] = []
    for text in texts:
        try:
            days.append(None if text is None else _date(text))
        except ValueError:
            # Python's own words quote the text, which may be anything.
            raise _MistypedError(len(days), "the value is not a date") from None
    return days


# A field's values are some of a few hundred days.
_date = lru_cache(maxsize=4096)(parse_day)
