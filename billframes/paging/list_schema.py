"""Read ids, dates and sort keys of a list's records, and choose the sorts by which it can be proved complete.

A list is proved complete by the keys of its rows. Dates, numbers and instants (in microseconds) become values that
compare as they do on the server; text stays as it was received.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import pyarrow as pa

from billframes._shared.names import snake_case
from billframes.errors import DecodeError
from billframes.schema.decode import parse_instant
from billframes.schema.instants import UnreadableError, read_instants
from billframes.schema.resources import Resource

Query = tuple[tuple[str, str], ...]

# The sorts by which key ranges can read a list, by resource; first those that are likely to have the fewest ties.
_KEY_SORTS = {
    "time_entries": (("created",), ("hours", "description"), ("description", "hours")),
    "expenses": (("amount", "description"), ("description", "amount")),
    "fixed_fees": (("amount", "description"), ("description", "amount")),
    "invoices": (("invoicenumber",), ("amount", "invoicenumber")),
    "clients": (("name",), ("name", "reference"), ("reference", "name")),
    "matters": (("name",), ("name", "reference"), ("reference", "name")),
}


def with_parameters(query: Query, **parameters: str | None) -> Query:
    """Return a query with other values of some parameters; None removes a parameter."""
    kept = tuple((name, value) for name, value in query if name not in parameters)
    return (*kept, *((name, value) for name, value in parameters.items() if value is not None))


def parameter(query: Query, name: str) -> str | None:
    """Return a parameter's value; None if the query does not have it."""
    return next((value for each, value in query if each == name), None)


@dataclass(frozen=True)
class ListSchema:
    """
    What paging needs to know of one resource's list; `meta` is whether the rows have their metadata.

    If it is not `provable`, the reader may not choose sorts and windows itself: the caller has set such parameters, or
    the result can't be sorted as requested by its own columns.
    """

    resource: Resource
    meta: bool = True
    provable: bool = True

    @property
    def name(self) -> str:
        """The resource's name, for messages."""
        return self.resource.name

    @cached_property
    def id_of(self) -> Callable[[Any], str]:
        """Read a record's id."""
        return attrgetter(self.resource.id_column)

    @cached_property
    def date_of(self) -> Callable[[Any], dt.date]:
        """Read the date that startDate and endDate apply to."""
        return attrgetter(str(self.resource.date_column))

    @cached_property
    def date_sort(self) -> str | None:
        """The sort by date; None if the list has no dates."""
        return next((sort for sort, path in self.resource.sort.items() if path == self.resource.date), None)

    @property
    def narrowing_advice(self) -> str:
        """How to load less, for messages."""
        return "load a shorter period" if self.date_sort else "narrow the list with filters"

    @property
    def key_sorts(self) -> tuple[tuple[str, ...], ...]:
        """The sorts by which key ranges can read the list; the rows have their keys."""
        sorts = _KEY_SORTS.get(self.name, ())
        return tuple(sort for sort in sorts if self.meta or "created" not in sort)

    @property
    def creation_sort(self) -> tuple[str, ...] | None:
        """The sort by creation time; None if there is none."""
        return ("created",) if ("created",) in self.key_sorts else None

    def needs_meta(self, sort: Sequence[str]) -> bool:
        """Return whether a sort's keys are among the metadata."""
        return any(self.resource.sort[name].startswith("meta.") for name in sort)

    @cached_property
    def filter_columns(self) -> dict[str, str]:
        """The column of each filter, by the filter's name."""
        return {each.name: snake_case(each.field) for each in self.resource.filters if each.field}

    def keys(self, sort: str, records: Sequence[Any]) -> Sequence[Any]:
        """Return the records' keys of a sort."""
        path = self.resource.sort[sort]
        keys = list(map(attrgetter(".".join(snake_case(part) for part in path.split("."))), records))
        if not path.startswith("meta."):
            return keys
        try:
            instants = read_instants(keys)
        except UnreadableError as error:
            raise self._unreadable(records[error.row], path) from None
        return array("q", instants.view(pa.int64()).to_numpy().tobytes())

    def modified(self, record: Any) -> dt.datetime | None:
        """Return when a record was last changed; None without metadata."""
        meta = getattr(record, "meta", None)
        if meta is None:
            return None
        try:
            return parse_instant(meta.modified_at)
        except ValueError:
            raise self._unreadable(record, "meta.modifiedAt") from None

    def _unreadable(self, record: Any, path: str) -> DecodeError:
        return DecodeError(
            f"{self.name}: record {self.id_of(record)} breaks the API's description at $.data[*].{path}: the value is "
            "not a date-time."
        )
