"""Derive the columns of a resource from the declaration of its records.

The fields of a nested reference are prefixed with the reference's name, unless they already begin with it
(`invoice.invoiceNumber` is `invoice_number`, `client.name` is `client_name`). Metadata have no prefix. The columns of
custom fields are derived from the firm's definitions instead (see `billframes.schema.custom_fields`).
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from billframes.schema.columns import Column
from billframes.schema.records import Reference

_UNPREFIXED = {"meta"}
_WITHOUT_COLUMN = {"custom_fields"}


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """
    A column, and the place of its values in a record: the attribute `attribute` of the nested struct `parent`.

    `parent` is None for the record itself. If the parent is a list (originators), each value is a list, too.
    """

    column: Column
    attribute: str
    parent: str | None = None


def without_encoding(source: ColumnSource) -> ColumnSource:
    """Return the source, with repeated text that is not dictionary-encoded."""
    return replace(source, column=replace(source.column, repeated=False)) if source.column.repeated else source


@dataclass(frozen=True, slots=True)
class Field:
    """
    A field of a record, with its parsed annotation.

    `type` is the type without `list` and `None`. `notes` are explained in `billframes.schema.records.shared`.
    """

    name: str
    type: Any
    is_list: bool
    nullable: bool
    notes: dict[str, Any]

    @property
    def is_nested(self) -> bool:
        """Whether the value is a nested object, not a list of them."""
        return not self.is_list and self.is_struct

    @property
    def is_struct(self) -> bool:
        """Whether the value is a nested object, or a list of them."""
        return isinstance(self.type, type) and issubclass(self.type, Struct)


def sources_of(record: type[Struct], select: frozenset[str] | None = None) -> tuple[ColumnSource, ...]:
    """Return the columns of a resource's records: all, or those that need no other `select` names."""
    return tuple(
        source
        for source in _all_sources(record)
        if select is None or source.column.select is None or source.column.select in select
    )


@functools.cache
def _all_sources(record: type[Struct]) -> tuple[ColumnSource, ...]:
    own = record.__struct_fields__[0]
    return tuple(source for field in fields_of(record) for source in _field_sources(field, own))


def _field_sources(field: Field, own: str) -> Iterator[ColumnSource]:
    if field.name in _WITHOUT_COLUMN or field.notes.get("hidden"):
        return
    if field.is_struct:
        yield from _nested(field)
    else:
        column = _column(field, field.name)
        # A record's own id is its first field. Other ids are references, and many records have the same.
        repeated = field.notes.get("repeated", False) or (column.kind == "id" and field.name != own)
        column = replace(column, repeated=repeated)
        yield ColumnSource(column, field.notes.get("reads", field.name))


def _nested(parent: Field) -> Iterator[ColumnSource]:
    prefix = "" if parent.name in _UNPREFIXED else parent.notes.get("prefix", parent.name)
    for field in fields_of(parent.type):
        if field.name in _WITHOUT_COLUMN or field.notes.get("hidden"):
            continue
        column = _column(field, _prefixed(prefix, field.name))
        column = replace(
            column,
            required=False,
            select=parent.notes.get("select"),
            missing=column.missing or parent.notes.get("missing", ""),
            repeated=issubclass(parent.type, Reference) and column.kind in {"id", "text"},
        )
        if parent.is_list:
            column = replace(
                column, kind="texts", repeated=False, name=_prefixed(prefix.removesuffix("s"), field.name) + "s"
            )
        yield ColumnSource(column, field.notes.get("reads", field.name), parent.name)


def _prefixed(prefix: str, name: str) -> str:
    return name if not prefix or name.startswith(f"{prefix}_") else f"{prefix}_{name}"


def _column(field: Field, name: str) -> Column:
    notes = field.notes
    return Column(
        name=name,
        kind="texts" if field.is_list else notes.get("kind", "text"),
        required=not field.nullable,
        values=notes.get("values", ()),
        description=notes.get("description", ""),
        missing=notes.get("missing", ""),
        select=notes.get("select"),
        scope=notes.get("scope"),
    )


@functools.cache
def fields_of(record: type[Struct]) -> tuple[Field, ...]:
    """Return a record's fields, in the declaration's order."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(_parse_annotation(name, hints[name]) for name in record.__struct_fields__)


def json_path(record: type[Struct], source: ColumnSource) -> str:
    """Return the path of a column's values in a record's JSON, such as "meta.modifiedAt"."""
    if source.parent is None:
        return json_name(record, source.attribute)
    kind = next(field.type for field in fields_of(record) if field.name == source.parent)
    return f"{json_name(record, source.parent)}.{json_name(kind, source.attribute)}"


def json_name(record: type[Struct], attribute: str) -> str:
    """Return an attribute's name in JSON; a computed attribute keeps its own name."""
    return json_names(record).get(attribute, attribute)


@functools.cache
def json_names(record: type[Struct]) -> Mapping[str, str]:
    """Return the names in JSON of a record's fields."""
    return MappingProxyType(dict(zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True)))


def _parse_annotation(name: str, annotation: Any) -> Field:
    field = Field(name, annotation, is_list=False, nullable=False, notes={})
    while True:
        origin, args = get_origin(field.type), get_args(field.type)
        if origin is Annotated:
            field = replace(field, type=args[0], notes={**_notes(args[1:]), **field.notes})
        elif origin in {Union, types.UnionType}:
            kept = [arg for arg in args if arg is not type(None)]
            field = replace(field, type=kept[0], nullable=field.nullable or len(kept) < len(args))
        elif origin is list:
            field = replace(field, type=args[0], is_list=True)
        else:
            return field


def _notes(metas: tuple[Meta, ...]) -> dict[str, Any]:
    notes: dict[str, Any] = {}
    for meta in metas:
        notes |= meta.extra or {}
        if meta.description:
            notes["description"] = meta.description
    return notes
