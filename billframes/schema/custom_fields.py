"""Custom fields become columns, one each, as their definitions say.

The definitions decide which columns there are, so a field nobody filled in still has its column. A column is
named `cf_<snake_case of the name>`; where two fields' names would collide, both get `_<id>` appended. Values are
read from the record, else from its metadata.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from billframes._messages import warn
from billframes._names import snake_case
from billframes.errors import DecodeError, UnknownValueWarning
from billframes.schema.columns import Column
from billframes.schema.json_text import parse_day
from billframes.schema.records import CustomFieldList, CustomFieldValue

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CustomColumn", "attributes_of", "columns_from", "read_values", "warn_of_undefined"]

Places: TypeAlias = "npt.NDArray[np.int64] | slice"

_NOWHERE = slice(0, 0)
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
    sizes = np.fromiter(map(len, held), np.int64, len(held))
    rows = np.repeat(np.arange(len(held)), sizes)
    came = list(chain.from_iterable(held))
    values = np.empty(len(came), object)
    values[:] = [each.value for each in came]
    places = _places_by_id([each.id for each in came], len(records))
    columns_of: dict[str, list[Any]] = {}
    for each in columns:
        found = places.pop(each.definition.id, _NOWHERE)
        try:
            typed = _typed(values[found].tolist(), each, partial(_options, came, found))
        except _MistypedError as error:
            place = int(np.arange(len(came))[found][error.place])
            row = int(rows[place])
            raise DecodeError(
                f"{resource}: record {getattr(records[row], id_attribute)} breaks the API's description at "
                f"$.data[{row}].{_values_of(records[row])[0]}[{place - sizes[:row].sum()}].value: {error}, "
                f"in custom field {each.definition.id}."
            ) from None
        columns_of[each.column.name] = _spread(typed, rows[found], len(records))
    return columns_of, set(places)


def _places_by_id(ids: list[str], size: int) -> dict[str, Places]:
    """Return where each id stands among the ids of so many records, in order."""
    width = len(ids) // max(size, 1)
    if ids == ids[:width] * size and len(set(ids[:width])) == width:
        # All records list the same fields in one order, as most servers do.
        return {id_: slice(number, None, width) for number, id_ in enumerate(ids[:width])}
    different = {id_: number for number, id_ in enumerate(dict.fromkeys(ids))}
    numbers = np.fromiter(map(different.__getitem__, ids), np.int64, len(ids))
    ends = np.cumsum(np.bincount(numbers))
    return dict(zip(different, np.split(np.argsort(numbers, kind="stable"), ends[:-1]), strict=True))


def _options(came: list[CustomFieldValue], found: Places) -> list[str | None]:
    return [came[place].option_id for place in np.arange(len(came))[found].tolist()]


def _spread(values: list[Any], rows: npt.NDArray[np.int64], size: int) -> list[Any]:
    """Return a column from the values of some of its rows; of several values of a row the last counts."""
    if np.array_equal(rows, np.arange(size)):
        return values
    column: list[Any] = [None] * size
    for row, value in zip(rows.tolist(), values, strict=True):
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


def _typed(values: list[Any], custom: CustomColumn, options: Callable[[], list[str | None]]) -> list[Any]:
    """Return one field's values as its column holds them; `options` gives the ids of the selected options."""
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
        # Python's own words quote the text, which may be anything.
        raise _MistypedError(len(days), "the value is not a date") from None
    return days


# A field's values are some of a few hundred days.
_date = lru_cache(maxsize=4096)(parse_day)
