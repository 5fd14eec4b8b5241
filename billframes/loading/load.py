"""One load, from checked arguments to a typed frame.

Every paginated loader calls `load`. It reads the pages, puts them together in order, checks the rows against the
request, and converts them. The frame's `attrs["load"]` says what the load did.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from billframes.errors import PagingError
from billframes.loading.checks import apply_local_filters, check_details, check_filters, check_rates
from billframes.loading.connection import ApiConnection
from billframes.loading.convert import can_sort, convert, row_order
from billframes.loading.load_info import attach
from billframes.loading.progress import Progress, progress_reporter
from billframes.loading.query_args import ListRequest
from billframes.loading.select_names import NameCheck, NameResolver
from billframes.loading.stamp import remember
from billframes.loading.table_builder import TableBuilder
from billframes.paging import ListReader, ListSchema, LoadResult
from billframes.paging.list_schema import Query, parameter, with_parameters
from billframes.paging.page import Page, PageRequest, check_page
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.decode import decode_page, note_cut_characters
from billframes.schema.resources import CUSTOM_FIELDS, Resource
from billframes.schema.sources import sources_of, without_encoding
from billframes.transport.connections import CancelScope
from billframes.transport.http_errors import TooLargeResponseError
from billframes.transport.request import Response

# The parameters that prove a list complete. It can't be proved if the caller sets one of them in `params`.
PAGING_PARAMETERS = frozenset(
    {"sort", "startDate", "endDate", "billed", "billingType", "modifiedSince", "limit", "offset", "select"}
)


def load(connection: ApiConnection, request: ListRequest, *, to: str, progress: bool | Progress | None = None) -> Any:
    """Load the records of a request into a frame of the kind `to`."""
    if connection.tables is not None:
        return connection.tables.load(request, to=to)
    resource = request.resource
    sources = sources_of(resource.record, request.select)
    if to != "arrow":
        # Only Arrow tables have repeated text dictionary-encoded.
        sources = tuple(map(without_encoding, sources))
    custom = requested_custom_columns(connection, request)
    sent: list[Query] = []
    cut: list[str] = []

    def attempt(renamed: ListRequest, check_names: NameCheck) -> tuple[TableBuilder, LoadResult, dt.datetime | None]:
        builder = TableBuilder(resource, sources, custom)
        if request.limit == 0:
            return builder, LoadResult(), None
        before = len(sent)
        # A filter that the server may ignore is applied here first, and only then the limit.
        renamed = replace(renamed, limit=None) if request.local_filters else renamed
        loaded, started = _read(connection, renamed, builder, progress, check_names, sent, cut)
        loaded.requests += before
        return builder, loaded, started

    builder, loaded, started = NameResolver(connection.select_names, request).run(attempt)
    names = frozenset(column.name for column in builder.columns)
    table = builder.table(loaded.blocks, loaded.rows, lambda column: row_order(column, names, request))
    table = apply_local_filters(table, request)
    check_filters(table, request)
    check_details(table, request, sources)
    check_rates(table, resource.name)
    note_cut_characters(cut, resource.name)
    if request.limit is not None:
        table = table.slice(0, request.limit)
    return finish(table, request, loaded, started, custom, to, getattr(connection, "base_url", None))


def custom_field_columns(connection: ApiConnection, entity: str) -> tuple[CustomColumn, ...]:
    """Return the columns of an entity's custom fields."""
    definitions = _records(connection, CUSTOM_FIELDS, (("entity", entity),))
    return connection.field_names.columns(each for each in definitions if each.entity.casefold() == entity)


def requested_custom_columns(connection: ApiConnection, request: ListRequest) -> tuple[CustomColumn, ...]:
    """Return the columns of the custom fields that are requested."""
    entity = request.resource.entity
    return custom_field_columns(connection, entity) if entity and "customFields" in request.select else ()


@dataclass(frozen=True, slots=True)
class _PageRecords:
    records: Sequence[Any]

    @property
    def rows(self) -> int:
        return len(self.records)

    def value(self, column: str, row: int) -> Any:
        return getattr(self.records[row], column)

    def values(self, column: str) -> Sequence[Any]:
        return [getattr(record, column) for record in self.records]


def _records(connection: ApiConnection, resource: Resource, query: Query) -> list[Any]:
    """Return all records of a list, which is read in pages if the server pages it."""
    with connection.cancel_scope() as scope:
        loaded = ListReader(
            fetch=lambda part: _fetch_page(connection, resource, part, scope),
            decode=lambda body: decode_page(body, resource),
            pack=_PageRecords,
            schema=ListSchema(resource, meta="meta" in resource.select),
            page_size=connection.page_size,
            concurrency=connection.concurrency,
            progress=lambda _done, _total: None,
        ).read([query])
    records = [record for block in loaded.blocks for record in block.records]
    return [records[row] for row in loaded.rows.to_pylist()]


def count_records(connection: ApiConnection, request: ListRequest) -> int:
    """Return how many records match, with one small request for each query."""
    if connection.tables is not None:
        return connection.tables.count(request)
    resource = request.resource
    return sum(_total(connection, resource, query) for query in request.queries)


def _total(connection: ApiConnection, resource: Resource, query: Query) -> int:
    """Return the total of one list; if the response contradicts itself, it is requested once more."""
    request = PageRequest(query, 1)
    for _ in range(2):
        body = decode_page(connection.fetch(resource.path, request.full_query, resource=resource.name).body, resource)
        if body.pagination is None:
            raise PagingError(
                f"{resource.name}: the server does not state how many records match. Load them, and count the rows."
            )
        wrong = check_page(request, Page(body, ListSchema(resource))) if resource.paginated else None
        if wrong is None:
            return body.pagination.total
        error = wrong
    raise error


def _read(
    connection: ApiConnection,
    request: ListRequest,
    builder: TableBuilder,
    progress: bool | Progress | None,
    check_names: NameCheck,
    sent: list[Query],
    cut: list[str],
) -> tuple[LoadResult, dt.datetime | None]:
    resource = request.resource
    columns = frozenset(column.name for column in builder.columns)
    times: list[dt.datetime] = []

    def fetch(query: Query) -> Response:
        sent.append(query)
        response = _fetch_page(connection, resource, query, scope)
        if response.date:
            times.append(response.date)
        return response

    shown = connection.progress if progress is None else progress
    with connection.cancel_scope() as scope, progress_reporter(shown, resource.name) as report:
        reader = ListReader(
            fetch=fetch,
            decode=lambda body: check_names(decode_page(body, resource, cut)),
            pack=builder.block,
            schema=ListSchema(
                resource,
                meta="meta" in request.select,
                provable=can_sort(request, columns) and not request.own_parameters & PAGING_PARAMETERS,
            ),
            page_size=connection.page_size,
            concurrency=connection.concurrency,
            progress=report,
        )
        loaded = reader.read(request.queries, request.limit)
    return loaded, min(times, default=None)


def _fetch_page(connection: ApiConnection, resource: Resource, query: Query, scope: CancelScope) -> Response:
    """Fetch a page; if it is too large, request fewer rows, as if the server had granted only these."""
    while True:
        try:
            return connection.fetch(resource.path, query, resource=resource.name, scope=scope)
        except TooLargeResponseError:
            limit = int(parameter(query, "limit") or 0)
            if limit < 2:
                raise
            query = with_parameters(query, limit=str(limit // 2), offset=parameter(query, "offset"))


def finish(
    table: pa.Table,
    request: ListRequest,
    loaded: LoadResult,
    started: dt.datetime | None,
    custom: Sequence[CustomColumn],
    to: str,
    server: str | None = None,
) -> Any:
    """Convert a table to the kind of frame `to`, and attach how it was loaded."""
    frame = convert(table, to)
    if to == "pandas" and request.resource.entity:
        attach(frame, "custom_fields", {each.column.name: each.attrs for each in custom})
    start, end = request.period.start, request.period.end
    info = {
        "resource": request.resource.name,
        "rows": table.num_rows,
        "period": {"start": start.isoformat() if start else None, "end": end.isoformat() if end else None},
        "arguments": dict(request.arguments),
        "requests": loaded.requests,
        "proof": loaded.proof,
        "time": started.isoformat() if started else None,
        "server": server,
        "key": remember(table),
    }
    return attach(frame, "load", info)
