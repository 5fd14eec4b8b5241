"""Answer a loader's request from the tables.

A period selects partitions. Filters and columns are applied while the files are read. References are joined, and rows
are sorted as a load sorts them. Filters that are more than "equal to a field" are defined here as in the API's
description, or as in the sandbox's documentation if the description does not define them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from billframes._shared.names import snake_case
from billframes.errors import ParameterError
from billframes.loading.checks import note_unknown
from billframes.loading.convert import can_sort, row_order
from billframes.loading.query_args import ListRequest
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.tables import TABLES, Table, within_days
from billframes.schema.columns import ENCODED_TEXT, REPEATED_TEXT, Column, enum_column, join_pages
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.decode import parse_instant
from billframes.schema.sources import ColumnSource, sources_of

# Query parameters that are not filters by field.
_NOT_FILTERS = frozenset({"startDate", "endDate", "select", "sort", "modifiedSince"})


def read_rows(snapshot: Snapshot, request: ListRequest, custom: Collection[CustomColumn]) -> pa.Table:
    """Return the rows of a request as a load does; refuse what only a server can answer."""
    _check(request)
    table = TABLES[request.resource.name]
    sources = sources_of(request.resource.record)
    rows = _matching_rows(snapshot, table, request)
    wanted = _joined_columns(request, sources, table)
    for reference in table.references:
        if wanted & reference.columns.keys():
            for name, values in snapshot.reference_columns(rows, reference, request.period.start).items():
                rows = rows.append_column(name, values)
    rows = _sorted(rows, request, sources)
    if request.limit is not None:
        rows = rows.slice(0, request.limit)
    chosen = [source.column for source in sources_of(request.resource.record, request.select)]
    return with_declared_types(rows, [*chosen, *(each.column for each in custom)], request.resource.name)


def count_rows(snapshot: Snapshot, request: ListRequest) -> int:
    """Return the number of rows that match a request."""
    _check(request)
    return int(_matching_rows(snapshot, TABLES[request.resource.name], request).num_rows)


def with_declared_types(rows: pa.Table, columns: Collection[Column], resource: str) -> pa.Table:
    """Return columns in their declared types; a column that is not in `rows` has only missing values."""
    arrays = [_with_declared_type(rows, column, resource) for column in columns]
    fields = [column.field.with_type(array.type) for column, array in zip(columns, arrays, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _with_declared_type(rows: pa.Table, column: Column, resource: str) -> pa.Array | pa.ChunkedArray:
    if column.name not in rows.column_names:
        return pa.nulls(rows.num_rows, column.type)
    values = rows.column(column.name)
    if column.kind == "enum":
        array = _enum(values, column)
        note_unknown(array, column, resource)
        return array
    if column.type == REPEATED_TEXT:
        return values.cast(REPEATED_TEXT.value_type).combine_chunks().dictionary_encode()
    return values.cast(column.type)


def _enum(values: pa.ChunkedArray, column: Column) -> pa.DictionaryArray:
    return enum_column(join_pages(values.dictionary_encode().cast(ENCODED_TEXT)), column.values)


def _check(request: ListRequest) -> None:
    if request.own_parameters:
        raise ParameterError(
            f"params= is for servers; a mirror can't answer {', '.join(sorted(request.own_parameters))}. Leave it out, "
            "or load from the server."
        )
    strange = [name for name, _ in request.sort if name not in request.resource.sort]
    if strange:
        raise ParameterError(
            f"sort={strange[0]!r} is not known to a mirror; it takes {', '.join(request.resource.sort)}."
        )


def _joined_columns(request: ListRequest, sources: Collection[ColumnSource], table: Table) -> set[str]:
    selected = {source.column.name for source in sources_of(request.resource.record, request.select)}
    sorted_by = {snake_case(request.resource.sort[name].replace(".", "_")) for name, _ in request.sort}
    return (selected | sorted_by) & table.joined


def _sorted(rows: pa.Table, request: ListRequest, sources: Collection[ColumnSource]) -> pa.Table:
    if not can_sort(request, frozenset(rows.column_names)):
        return rows
    declared = {source.column.name: source.column for source in sources}

    def comparable(name: str) -> Any:
        # Categories are sorted in the order of their declaration.
        column = declared[name]
        return _enum(rows.column(name), column) if column.kind == "enum" else rows.column(name)

    order = row_order(comparable, frozenset(rows.column_names), request)
    return rows if order is None else rows.take(order)


def _matching_rows(snapshot: Snapshot, table: Table, request: ListRequest) -> pa.Table:
    filters = _filters(request)
    period = within_days(table.date, request.period.start, request.period.end)
    expressions = [*([] if period is None else [period]), *_since(request)]
    declared_filters = {each.name: each for each in request.resource.filters}
    special_filters: list[tuple[_RowFilter, set[str]]] = []
    for name, texts in filters.items():
        declared = declared_filters[name]
        special = _SPECIAL_FILTERS.get((table.name, name))
        if special is not None:
            special_filters.append((special, texts))
        else:
            expressions.append(_equal(snake_case(str(declared.field)), declared.kind, texts))
    rows = snapshot.read(
        table.name,
        rows=reduce(and_, expressions) if expressions else None,
        partitions=snapshot.partitions(table, request.period.start, request.period.end),
    )
    for special, texts in special_filters:
        rows = special(snapshot, rows, texts, filters)
    return rows


def _filters(request: ListRequest) -> dict[str, set[str]]:
    values: dict[str, set[str]] = {}
    for query in request.queries:
        for name, text in query:
            if name not in _NOT_FILTERS:
                values.setdefault(name, set()).add(text)
    return values


def _since(request: ListRequest) -> list[ds.Expression]:
    text = next((text for name, text in request.queries[0] if name == "modifiedSince"), None)
    if text is None:
        return []
    instant: dt.datetime = parse_instant(text)
    return [pc.field("modified_at") > pa.scalar(instant, pa.timestamp("us", "UTC"))]


def _equal(column: str, kind: str, texts: Collection[str]) -> ds.Expression:
    if kind == "flag":
        return pc.field(column) == pa.scalar(texts == {"true"})
    if kind == "text":
        return pc.field(column).isin(list(texts))
    return pc.utf8_lower(pc.field(column)).isin([text.lower() for text in texts])


_RowFilter = Callable[[Snapshot, pa.Table, Collection[str], Mapping[str, Collection[str]]], pa.Table]


def _contain(rows: pa.Table, columns: Collection[str], text: str, *, whole: bool = False) -> pa.Array:
    """Return which rows contain a text in any of the columns, or equal it if `whole`, without regard to case."""
    sought = text.casefold()

    def fits(value: str | None) -> bool:
        return value is not None and (value.casefold() == sought if whole else sought in value.casefold())

    found = [[fits(value) for value in rows.column(name).to_pylist()] for name in columns]
    return pa.array([any(each) for each in zip(*found, strict=True)], pa.bool_())


def _by_text(*columns: str, whole: bool = False) -> _RowFilter:
    """Return the filter for rows that contain a text in one of the columns, or equal it."""

    def filter_rows(_snapshot: Snapshot, rows: pa.Table, texts: Collection[str], filters: Any) -> pa.Table:
        (text,) = texts
        return rows.filter(_contain(rows, columns, text, whole=whole or "true" in filters.get("queryFullMatch", ())))

    return filter_rows


def _filter_matters_by_query(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> pa.Table:
    (text,) = texts
    known = snapshot.lookup("clients")
    clients = known.filter(_contain(known, ("name", "reference"), text)).column("client_id")
    matches = _contain(rows, ("name", "reference"), text)
    return rows.filter(pc.or_(matches, pc.is_in(rows.column("client_id"), value_set=clients).combine_chunks()))


def _filter_matters_by_client_reference(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> pa.Table:
    known = snapshot.lookup("clients")
    clients = known.filter(pc.field("reference").isin(list(texts))).column("client_id")
    return rows.filter(pc.is_in(rows.column("client_id"), value_set=clients))


def _filter_matters_by_user(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> pa.Table:
    """Return the matters for which a user is responsible or has time entries."""
    worked = snapshot.read("time_entries", ["matter_id"], _equal("user_id", "id", texts)).column("matter_id")
    matches = pc.is_in(pc.utf8_lower(rows.column("responsible_id")), value_set=_lowered(texts))
    return rows.filter(pc.or_(matches, pc.is_in(rows.column("matter_id"), value_set=pc.unique(worked))))


def _filter_matters_by_originator(_snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> pa.Table:
    sought = {text.lower() for text in texts}
    ids = rows.column("originator_ids").to_pylist()
    return rows.filter(pa.array([any(each.lower() in sought for each in of or ()) for of in ids], pa.bool_()))


def _filter_invoices_by_matter(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> pa.Table:
    """Return the invoices of a matter, and those with time entries, expenses or fixed fees of the matter."""
    condition = _equal("matter_id", "id", texts)
    on = [
        snapshot.read(name, ["invoice_id"], condition).column("invoice_id")
        for name in ("time_entries", "expenses", "fixed_fees")
    ]
    invoices = pc.unique(pa.chunked_array([chunk for each in on for chunk in each.chunks], pa.string()))
    matches = pc.is_in(pc.utf8_lower(rows.column("matter_id")), value_set=_lowered(texts))
    return rows.filter(pc.or_(matches, pc.is_in(rows.column("invoice_id"), value_set=invoices)))


def _lowered(texts: Collection[str]) -> pa.Array:
    return pa.array([text.lower() for text in texts], pa.string())


_SPECIAL_FILTERS: dict[tuple[str, str], _RowFilter] = {
    ("clients", "query"): _by_text("name", "reference"),
    ("matters", "query"): _filter_matters_by_query,
    ("matters", "clientReference"): _filter_matters_by_client_reference,
    ("matters", "userId"): _filter_matters_by_user,
    ("matters", "originatorId"): _filter_matters_by_originator,
    ("invoices", "matterId"): _filter_invoices_by_matter,
    ("users", "email"): _by_text("email", whole=True),
    ("users", "query"): _by_text("first_name", "last_name", "initials", "email"),
    ("users", "queryFullMatch"): lambda _snapshot, rows, _texts, _filters: rows,
}
