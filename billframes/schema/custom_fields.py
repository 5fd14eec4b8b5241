"""Custom fields become columns, one each, as their definitions say.

The definitions decide which columns there are, so a field nobody filled in still has its column. A column is
named `cf_<snake_case of the name>`; where two fields' names would collide, both get `_<id>` appended. Values are
read from the record, else from its metadata.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    by_id = {each.definition.id: each for each in columns}
    values: dict[str, list[Any]] = {each.column.name: [None] * len(records) for each in columns}
    undefined: set[str] = set()
    for row, record in enumerate(records):
        place, came = _values_of(record)
        for at, value in enumerate(came):
            custom = by_id.get(value.id)
            if custom is None:
                undefined.add(value.id)
                continue
            try:
                values[custom.column.name][row] = _typed(value, custom)
            except ValueError as error:
                raise DecodeError(
                    f"{resource}: record {getattr(record, id_attribute)} breaks the API's description at "
                    f"$.data[{row}].{place}[{at}].value: {error}, in custom field {value.id}."
                ) from None
    return values, undefined


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


def _typed(value: CustomFieldValue, custom: CustomColumn) -> Any:
    kind = custom.definition.value_type.lower()
    raw: Any = value.value
    if kind == "enum":
        raw = raw if raw is not None else custom.labels.get(value.option_id or "")
    if raw is None:
        return None
    expected = _TYPES.get(kind)
    if expected is None:
        return str(raw)
    if type(raw) is not expected:
        raise ValueError(f"{kind} expected, got {type(raw).__name__}")
    return _date(str(raw)) if kind == "date" else raw


def _date(text: str) -> dt.date:
    try:
        return parse_day(text)
    except ValueError:
        # Python's own words quote the text, which may be anything.
        raise ValueError("what came is not a date") from None
