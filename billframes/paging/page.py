"""Check each page of a list before it is used.

A proof is only as good as its pages. Each page must be the part of the list that was requested. It must have no more
rows than granted, and as many as its own `total` implies. Each row must have an id, and no id may occur twice. Each row
must fit the filters, and the rows must be in the requested order. A server that ignores an unknown parameter returns
all records, which is an error. A page that fails a check is requested once more; then the error is raised.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Protocol, TypeAlias

import numpy as np

from billframes.errors import BillframesError, DecodeError, PagingError
from billframes.paging.list_schema import ListSchema, Query, parameter
from billframes.schema.decode import ListBody, parse_instant


class RecordBlock(Protocol):
    """The records of one page, packed as columns."""

    @property
    def rows(self) -> int:
        """Number of records."""

    def value(self, column: str, row: int) -> Any:
        """Return one value of one record."""

    def values(self, column: str) -> Sequence[Any]:
        """Return one column."""


Pack: TypeAlias = Callable[[Sequence[Any]], RecordBlock]


@dataclass(frozen=True, slots=True)
class PageRequest:
    """
    A request for a part of a list.

    `query` has all parameters except limit and offset. `added_filters` are the parameters that the reader added; each
    row is checked against them. If `limit` is None, neither limit nor offset is sent. `tag` is for the caller's use.
    """

    query: Query
    limit: int | None = None
    offset: int = 0
    added_filters: Query = ()
    tag: Any = None

    @property
    def full_query(self) -> Query:
        """The query as it is sent, with limit and offset."""
        if self.limit is None:
            return self.query
        return (*self.query, ("limit", str(self.limit)), ("offset", str(self.offset)))


@dataclass(slots=True)
class Page:
    """
    One page of a list: the records, the total, the granted page size, and the server's time.

    `total` and `granted_limit` are None if the server does not page the list. `block` has the packed records after the
    page has passed its checks.
    """

    body: ListBody[Any]
    schema: ListSchema
    date: dt.datetime | None = None
    offset: int = 0
    block: Any = None
    _keys: dict[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def records(self) -> list[Any]:
        """The records, in the server's order."""
        return self.body.data or []

    @property
    def total(self) -> int | None:
        """The number of matching records in all."""
        return self.body.pagination.total if self.body.pagination else None

    @property
    def granted_limit(self) -> int | None:
        """The page size that the server granted."""
        return self.body.pagination.limit if self.body.pagination else None

    def keys(self, sort: str) -> Sequence[Any]:
        """Return the records' keys of a sort; the result is cached."""
        if sort not in self._keys:
            self._keys[sort] = self.schema.keys(sort, self.records)
        return self._keys[sort]

    def has_keys(self, sort: Sequence[str]) -> bool:
        """Return whether all records have the keys of a sort, which may be among their metadata."""
        return not self.schema.needs_meta(sort) or all(map(attrgetter("meta"), self.records))

    def largest_tie(self, sort: Sequence[str]) -> int:
        """Return the largest number of records with equal keys of a sort; 0 if some records lack the keys."""
        if not self.has_keys(sort):
            return 0
        keys = Counter(zip(*map(self.keys, sort), strict=True))
        return max(keys.values(), default=0)

    @property
    def is_short(self) -> bool:
        """Whether the list ends on this page: it has fewer rows than granted."""
        return self.granted_limit is not None and len(self.records) < self.granted_limit

    @property
    def is_whole(self) -> bool:
        """Whether this is the whole list, at one instant."""
        return self.is_short and self.offset == 0


def check_page(request: PageRequest, page: Page) -> BillframesError | None:
    """Return the error of a page that fails a check; None if it passes all."""
    return next((error for rule in _RULES for error in rule(request, page, page.schema)), None)


def _check_position(request: PageRequest, page: Page, schema: ListSchema) -> Iterator[BillframesError]:
    where = page.body.pagination
    if where is None:
        rows = len(page.records)
        if request.limit is not None and rows > request.limit:
            yield DecodeError(f"{schema.name}: at most {request.limit} rows were requested, the server sent {rows}.")
        return
    if where.offset != request.offset:
        yield DecodeError(
            f"{schema.name}: the page at offset {request.offset} was requested, the server sent the one at offset "
            f"{where.offset}."
        )
    if request.limit is not None and not 1 <= where.limit <= request.limit:
        yield DecodeError(
            f"{schema.name}: a limit of {request.limit} rows was requested, the server granted {where.limit}."
        )


def _check_count(request: PageRequest, page: Page, schema: ListSchema) -> Iterator[BillframesError]:
    """Check the number of rows against the page's own limit and total."""
    where = page.body.pagination
    if where is None:
        return
    rows, expected = len(page.records), max(0, min(where.limit, where.total - request.offset))
    if rows != expected:
        yield PagingError(
            f"{schema.name}: the server sent {rows} rows at offset {request.offset} instead of {expected}, although it "
            f"counts {where.total} in all, so the list can't be shown to be complete. Try again later."
        )


def _check_ids(_request: PageRequest, page: Page, schema: ListSchema) -> Iterator[BillframesError]:
    ids = set(map(schema.id_of, page.records))
    if len(ids) < len(page.records):
        yield PagingError(
            f"{schema.name}: a record is twice in one response, so the list can't be shown to be complete. "
            "Try again later."
        )
    if "" in ids:
        yield DecodeError(f"{schema.name}: a record has no {schema.resource.id}.")


def _check_filters(request: PageRequest, page: Page, schema: ListSchema) -> Iterator[BillframesError]:
    """Check every row against the filters that the reader added."""
    for name, text in request.added_filters:
        fits = _ROW_CHECKS[name](text, schema)
        stray = next((record for record in page.records if not fits(record)), None)
        if stray is not None:
            yield DecodeError(
                f"{schema.name}: record {schema.id_of(stray)} does not fit the filter {name}. The server ignores the "
                "filter, and without it the list can't be shown to be complete. Tell the people who run the server."
            )


def _check_order(request: PageRequest, page: Page, schema: ListSchema) -> Iterator[BillframesError]:
    records, first = page.records, (parameter(request.query, "sort") or "").partition(",")[0]
    name = first.removeprefix("-")
    path = schema.resource.sort.get(name, "")
    if len(records) < 2 or not path or ("." in path and not path.startswith("meta.")) or not page.has_keys([name]):
        return
    keys = page.keys(name)
    if not isinstance(keys, array) and not {*map(type, keys)} <= _COMPARABLE:
        return
    if first.startswith("-"):
        keys = keys[::-1]
    # There are many instants, and NumPy compares them at once.
    in_order = not (np.diff(keys) < 0).any() if isinstance(keys, array) else list(keys) == sorted(keys)
    if not in_order:
        yield DecodeError(f"{schema.name}: the rows are not in the requested order, sort={first}.")


_COMPARABLE = {dt.date, int, float}
_PageRule = Callable[[PageRequest, Page, ListSchema], Iterator[BillframesError]]
_RULES: tuple[_PageRule, ...] = (_check_position, _check_ids, _check_count, _check_filters, _check_order)


def _modified_since(text: str, schema: ListSchema) -> Callable[[Any], bool]:
    # Some servers cut instants to whole seconds.
    mark = parse_instant(text) - dt.timedelta(seconds=1)

    def fits(record: Any) -> bool:
        modified = schema.modified(record)
        return modified is None or modified >= mark

    return fits


def _from_day(text: str, schema: ListSchema) -> Callable[[Any], bool]:
    day = dt.date.fromisoformat(text)
    return lambda record: schema.date_of(record) >= day


def _to_day(text: str, schema: ListSchema) -> Callable[[Any], bool]:
    day = dt.date.fromisoformat(text)
    return lambda record: schema.date_of(record) <= day


_ROW_CHECKS: dict[str, Callable[[str, ListSchema], Callable[[Any], bool]]] = {
    "modifiedSince": _modified_since,
    "startDate": _from_day,
    "endDate": _to_day,
    "billed": lambda text, _schema: lambda record: record.billed == (text == "true"),
    "billingType": lambda text, _schema: lambda record: record.billing_type.casefold() == text.casefold(),
}
