"""The columns of a bulk edit: where a record has their values, and which can be written.

They are made from the declarations: the columns from the record, and which can be written from the resource's `creates`
and `updates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import Struct

from billframes.loading.connection import ApiConnection
from billframes.loading.load import custom_field_columns
from billframes.schema.columns import Column
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.resources import ALL_ZERO_ID, Resource
from billframes.schema.sources import ColumnSource, fields_of, sources_of

# The API leaves these fields unchanged if it gets null; the all-zero UUID clears them.
_CLEARED_BY_ZERO_ID = frozenset({"fixed_fee_id", "practice_area_id"})


@dataclass(frozen=True, slots=True)
class EditColumn(Column):
    """
    A column of a bulk edit.

    `source` is where a record has the value; None if only a create takes it. Without `listed`, the single record has to
    be requested. `update` and `create` are the field of the request body that writes it, and the field within a nested
    object; None if it can't be written.
    """

    source: ColumnSource | None = None
    listed: bool = True
    update: tuple[str, ...] | None = None
    create: tuple[str, ...] | None = None
    custom: CustomColumn | None = None

    @property
    def may_be_hidden(self) -> bool:
        """Whether a load can lack the value although the record has one."""
        return self.select is not None or self.scope is not None

    def update_value(self, value: Any) -> Any:
        """Return the value to send in an update."""
        return ALL_ZERO_ID if value is None and self.name in _CLEARED_BY_ZERO_ID else value


def columns_of(resource: Resource, custom: Iterable[CustomColumn] = ()) -> dict[str, EditColumn]:
    """Return the columns of a resource by name."""
    assert resource.detail is not None  # noqa: S101 - only resources with all three have plans
    assert resource.creates is not None  # noqa: S101
    assert resource.updates is not None  # noqa: S101
    listed = {source.column.name: source.column for source in sources_of(resource.record)}
    columns = {
        source.column.name: _edit_column(source.column, source, listed.get(source.column.name))
        for source in sources_of(resource.detail)
    }
    for body, name in ((resource.updates, "update"), (resource.creates, "create")):
        for column, path in _writable(body, columns).items():
            known = columns.get(column) or EditColumn(column, _kind_of(body, column))
            columns[column] = replace(known, update=path) if name == "update" else replace(known, create=path)
    for each in custom:
        path = ("custom_fields", each.definition.id)
        plain = _edit_column(each.column, None, each.column)
        columns[each.column.name] = replace(plain, update=path, create=path, custom=each)
    return columns


def load_columns(connection: ApiConnection, resource: Resource, names: Iterable[str]) -> dict[str, EditColumn]:
    """Return the columns of a resource by name; load the custom fields only if one of the names is a custom field."""
    if resource.entity and any(name.startswith("cf_") for name in names):
        return columns_of(resource, custom_field_columns(connection, resource.entity))
    return columns_of(resource)


def _edit_column(column: Column, source: ColumnSource | None, listed: Column | None) -> EditColumn:
    return EditColumn(
        name=column.name,
        kind=column.kind,
        # A field that is always there in a single record can be missing in a list.
        required=(listed or column).required,
        values=column.values,
        select=listed.select if listed else None,
        scope=column.scope,
        source=source,
        listed=listed is not None,
    )


def _writable(body: type[Struct], columns: Mapping[str, EditColumn]) -> dict[str, tuple[str, ...]]:
    """Return the columns that a request body takes, each with its field and the field within a nested object."""
    paths: dict[str, tuple[str, ...]] = {}
    for field in fields_of(body):
        if field.is_nested:
            sources = {each.name: each.source for each in columns.values() if each.source}
            nested = {name: each.attribute for name, each in sources.items() if each.parent == field.name}
            paths |= {name: (field.name, attribute) for name, attribute in nested.items()}
        elif not field.is_list:
            paths[field.name] = (field.name,)
    return paths


def _kind_of(body: type[Struct], name: str) -> str:
    return str(next(field.notes.get("kind", "text") for field in fields_of(body) if field.name == name))


def raw_value(struct: Any, column: EditColumn) -> Any:
    """Return the value of a column that has a source, as the server sent it."""
    assert column.source is not None  # noqa: S101 - checked by the caller
    parent = struct if column.source.parent is None else getattr(struct, column.source.parent)
    if isinstance(parent, list):
        return [getattr(each, column.source.attribute) for each in parent]
    return None if parent is None else getattr(parent, column.source.attribute)
