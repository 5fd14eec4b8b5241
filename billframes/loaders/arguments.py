"""Derive the arguments of loaders and of their methods from the declared resources.

The filters, `select` names and sorts of a list are declared in its `Resource`, and the fields of the bodies that create
or update a record in a struct of `billframes.schema.records`. `billframes.loaders.methods` builds signatures and
docstrings from the `Argument`s. Type checkers read `loaders/__init__.pyi`, which is written from the same signatures.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from billframes._shared.names import snake_case
from billframes.schema.records import WriteBody
from billframes.schema.resources import Filter, Resource
from billframes.schema.sources import Field, fields_of

REQUIRED = inspect.Parameter.empty
_WIDTH = 112


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a method: its type for type checkers and for the docstring, its description and default."""

    name: str
    annotation: str
    type: str
    text: str
    default: Any = None
    positional: bool = False

    @property
    def parameter(self) -> inspect.Parameter:
        """The argument as an `inspect.Parameter`."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if self.positional else inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(self.name, kind, default=self.default, annotation=self.annotation)

    @property
    def docstring_entry(self) -> str:
        """The argument as an entry of a numpydoc Parameters section."""
        if self.default is REQUIRED:
            ending = ""
        elif self.default in (None, UNSET):
            ending = ", optional"
        else:
            ending = f', default "{self.default}"' if isinstance(self.default, str) else f", default {self.default}"
        return f"{self.name} : {self.type}{ending}\n{textwrap.indent(textwrap.fill(self.text, _WIDTH - 4), '    ')}"


def list_arguments(resource: Resource) -> Iterator[Argument]:
    """Return the arguments for loading a list."""
    yield from _filter_arguments(resource)
    if resource.select:
        yield Argument(
            "select",
            "Names | None",
            "str or list of str",
            f"Details to load, by the API's names: {', '.join(resource.select)}. The frame has no columns for others. "
            'A name prefixed with "-" is excluded. None loads all details. Other names are sent unchanged.',
        )
    if resource.paginated:
        yield from _paging_arguments(resource)
    if resource.select:
        yield _PARAMS
    yield Argument("to", "str", '{"pandas", "arrow", "polars"}', "The kind of frame to return.", "pandas")


def count_arguments(resource: Resource) -> Iterator[Argument]:
    """Return the arguments for counting the records of a list."""
    yield from _filter_arguments(resource)
    yield _MODIFIED_SINCE
    yield _PARAMS


def create_arguments(resource: Resource) -> Iterator[Argument]:
    """Return the arguments for creating a record."""
    return _fields(resource.creates, nested="Mapping[str, Any] | Record", shown="mapping or Record")


def update_arguments(resource: Resource) -> Iterator[Argument]:
    """Return the arguments for updating a record."""
    yield Argument("id", "Id", "str or UUID", "The record to change.", REQUIRED, positional=True)
    yield from _fields(
        resource.updates,
        nested="Mapping[str, Any] | Record | SetFields",
        shown="mapping, Record or SetFields",
        ending=_MERGE,
    )


_MERGE = (
    " Omitted fields are not sent. The API's description does not show whether the server then keeps them. "
    "`bf.bulk.set_fields({0}=…)` keeps them on every server."
)
_PARAMS = Argument("params", "Parameters | None", "mapping", "Additional query parameters, sent unchecked.")
_MODIFIED_SINCE = Argument(
    "modified_since",
    "DateLike | None",
    "str, datetime or Timestamp",
    "Only records that changed after this instant. An instant without a time zone is in UTC.",
)


def _paging_arguments(resource: Resource) -> Iterator[Argument]:
    order = ", ".join(f"`{snake_case(name)}`" for name in resource.order)
    yield Argument(
        "sort",
        "Names | None",
        "str or list of str",
        f'Order of the rows: {", ".join(resource.sort)}. "-" before a name means descending; ties are sorted by id. '
        f"None sorts by {order}, then id. Other names are sent unchanged, and the rows keep the server's order.",
    )
    yield _MODIFIED_SINCE
    yield Argument(
        "limit", "int | None", "int", "Largest number of rows in all, over several pages if needed. None is all rows."
    )
    yield Argument(
        "progress",
        "bool | Progress | None",
        "bool or callable",
        "None shows a bar in notebooks and terminals after a second, True always shows it, False never. A function is "
        "called with the number of rows loaded and their total.",
    )


def _filter_arguments(resource: Resource) -> Iterator[Argument]:
    if resource.date:
        yield Argument(
            "start",
            "DateLike | None",
            "str, date, datetime, Timestamp or Period",
            f'First day, inclusive, by `{resource.date_column}`. Without `end`, a whole period: "2026", '
            '"2026-Q3", "2026-10", "last month", "this month", "last quarter" or "ytd". With a single day and no '
            "`end`, the period begins on that day and has no end. With None, it has no beginning.",
            positional=True,
        )
        last = "Last day, inclusive. With None, the period has no end."
        yield Argument("end", "DateLike | None", "str, date, datetime or Timestamp", last, positional=True)
    filters = [each for each in resource.filters if each.kind != "date"]
    yield from sorted(map(_filter, filters), key=lambda each: not each.positional)
    yield from (_name_of(each) for each in filters if each.named_in)


def _filter(declared: Filter) -> Argument:
    annotation, shown = {"id": ("Id", "str or UUID"), "flag": ("bool", "bool")}.get(declared.kind, ("str", "str"))
    text = declared.description
    if declared.many:
        annotation, shown = "Ids", "str, UUID or list of these"
        text += " One id, or a list of ids."
    if declared.values:
        text = f"{text.removesuffix('.')}: {_alternatives(declared.values)}."
    if not declared.described:
        text += (
            " This filter is not in the API's description. It is sent, and also applied to the received rows. If the "
            "server ignores it, all rows that fit the other filters are loaded."
        )
    return Argument(declared.argument, f"{annotation} | None", shown, text, positional=declared.positional)


def _name_of(declared: Filter) -> Argument:
    several = " Also a list." if declared.many else ""
    text = f"As `{declared.argument}`, by name, reference or id; a part of a name is enough if it fits one.{several}"
    annotation, shown = ("Names", "str or list of str") if declared.many else ("str", "str")
    return Argument(declared.name_argument, f"{annotation} | None", shown, text)


_FIELD_TYPES = {
    "id": ("Id", "str or UUID"),
    "text": ("str", "str"),
    "enum": ("str", "str"),
    "date": ("DateLike", "str or date"),
    "time": ("str | dt.time", "str or time"),
    "flag": ("bool", "bool"),
    **dict.fromkeys(("money", "hours", "rate", "number"), ("float", "float")),
}
_CUSTOM_FIELDS = "New values by the field's name, column name or id. None clears a field; omitted fields stay."


def _fields(request: type[WriteBody] | None, *, nested: str, shown: str, ending: str = "") -> Iterator[Argument]:
    assert request is not None  # noqa: S101 - only resources that have it have the method
    required = len(request.__struct_fields__) - len(request.__struct_defaults__)
    for place, field in enumerate(fields_of(request)):
        annotation, type_, text = _field(field)
        if field.is_nested:
            names = field.type.__struct_fields__
            annotation, type_, text = nested, shown, f"{text} By field: {', '.join(names)}.{ending.format(names[-1])}"
        if place < required:
            yield Argument(field.name, annotation, type_, text, REQUIRED)
        else:
            annotation += " | UnsetType | None" if field.nullable else " | UnsetType"
            yield Argument(field.name, annotation, type_, text, UNSET)


def _field(field: Field) -> tuple[str, str, str]:
    """Return a field's type for type checkers, its type for the docstring, and its description."""
    if field.is_list:
        return "Mapping[str, Any]", "mapping", _CUSTOM_FIELDS
    # Notes of the declaration are in terms of JSON.
    text = field.notes["description"].replace("null", "None").replace("the all-zero UUID", "`bf.CLEAR`")
    if values := field.notes.get("values"):
        text = f"{text.removesuffix('.')}: {_alternatives(values)}."
    return (*_FIELD_TYPES[field.notes.get("kind", "text")], text)


def _alternatives(values: tuple[str, ...]) -> str:
    quoted = [f'"{value}"' for value in values]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
