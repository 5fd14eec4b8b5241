"""Answer loaders from the mirror's tables: a connection that takes the place of one to a server.

A period selects partitions, and filters and columns are applied while the files are read. References are joined, and
rows are sorted as a load sorts them. Filters that are more than "equal to a field" are defined here as in the API's
description, or as in the sandbox's documentation if the description does not define them. The few lists without filters
(codes, definitions of custom fields, balances) are returned as the JSON that the server would send, so that their
loaders run unchanged.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from operator import and_
from typing import Any, NoReturn
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from msgspec import Struct

from billframes._shared.names import snake_case
from billframes.errors import MirrorError, NotFoundError, ParameterError
from billframes.loading.checks import check_rates, note_unknown
from billframes.loading.connection import LocalTables
from billframes.loading.convert import can_sort, row_order
from billframes.loading.load import finish, requested_custom_columns
from billframes.loading.progress import Progress
from billframes.loading.query_args import ListRequest
from billframes.loading.select_names import SelectNames
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.tables import TABLES, Table, within_days
from billframes.paging import LoadResult
from billframes.schema.columns import ENCODED_TEXT, REPEATED_TEXT, Column, enum_column, join_pages
from billframes.schema.custom_fields import CustomColumn, FieldNames
from billframes.schema.decode import parse_instant
from billframes.schema.records import ClientBalances, CodeDetail, CodeSet, CustomFieldList
from billframes.schema.resources import CLIENTS, CODES, CUSTOM_FIELDS
from billframes.schema.sources import ColumnSource, json_names, sources_of
from billframes.transport.connections import CancelScope
from billframes.transport.request import QueryPairs, Response

# The seconds that a load from the tables may take.
_LOAD_SECONDS = 3600.0


class MirrorConnection:
    """Answers loaders from a version of the mirror."""

    page_size = 1000
    concurrency = 1
    progress: bool | Progress | None = False
    health_path: str | None = "/"
    acting_user: str | None = None
    acting_user_header = ""

    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot
        self.select_names = SelectNames(None)
        self._field_names = FieldNames()

    @property
    def field_names(self) -> FieldNames:
        """The names of custom fields' columns, as the refresh of the version stored them."""
        earlier = self._snapshot().version.firm.fields
        if self._field_names.earlier != earlier:
            self._field_names = FieldNames(earlier)
        return self._field_names

    @property
    def tables(self) -> LocalTables:
        """Itself: the tables answer in place of a server."""
        return self

    def load(self, request: ListRequest, *, to: str) -> Any:
        """Return the frame of a request."""
        snapshot = self._snapshot()
        custom = requested_custom_columns(self, request)
        table = read_rows(snapshot, request, custom)
        check_rates(table, request.resource.name)
        version = snapshot.version
        return finish(table, request, LoadResult(proof="mirror"), version.time, custom, to, version.firm.address)

    def count(self, request: ListRequest) -> int:
        """Return the number of records that match."""
        _check(request)
        return int(_matching_rows(self._snapshot(), TABLES[request.resource.name], request).num_rows)

    def cancel_scope(self) -> CancelScope:
        """Return a cancel scope for the requests of one load."""
        return CancelScope(_LOAD_SECONDS)

    def fetch(self, path: str, query: QueryPairs = (), *, resource: str, **_options: Any) -> Response:
        """Answer a GET of a list without filters; raise `MirrorError` for other paths."""
        snapshot = self._snapshot()
        if path == CODES.path:
            return _response(_codes(snapshot))
        if path == CUSTOM_FIELDS.path:
            return _response(_definitions(snapshot, dict(query).get("entity")))
        client, _, rest = path.removeprefix(f"{CLIENTS.path}/").partition("/")
        if rest == "balances":
            return _response(_balances(snapshot, unquote(client)))
        raise MirrorError(
            f"A mirror holds the API's lists; {resource} can't be answered from it. Connect to the server for it."
        )

    def send(self, method: str, path: str, body: bytes | None = None, *, resource: str, **_options: Any) -> NoReturn:
        """Raise `MirrorError`, because a mirror can only be read."""
        raise MirrorError(f"A mirror can't be written to ({resource}). Connect to the server, then refresh the mirror.")


def _response(data: Any) -> Response:
    return Response(msgspec.json.encode({"data": data}), None)


def _as_json(record: type[Struct], row: Mapping[str, Any]) -> dict[str, Any]:
    return {json_name: row[name] for name, json_name in json_names(record).items() if name in row}


def _codes(snapshot: Snapshot) -> dict[str, Any]:
    codes: dict[str, list[Any]] = {"activity": [], "task": [], "expense": []}
    for row in snapshot.rows("codes"):
        codes[row["code_type"]].append(_as_json(CodeDetail, row))
    return {**codes, "codeSets": [_as_json(CodeSet, row) for row in snapshot.rows("code_sets")]}


def _definitions(snapshot: Snapshot, entity: str | None) -> list[dict[str, Any]]:
    return [
        {**_as_json(CustomFieldList, row), "options": _options(row["option_ids"], row["option_labels"])}
        for row in snapshot.rows("custom_fields")
        if entity is None or row["entity"].casefold() == entity
    ]


def _options(ids: list[str] | None, labels: list[str]) -> list[dict[str, str]] | None:
    if ids is None:
        return None
    return [{"optionId": id_, "label": label} for id_, label in zip(ids, labels, strict=True)]


def _balances(snapshot: Snapshot, client_id: str) -> dict[str, float]:
    row = snapshot.balances.get(client_id)
    if row is None:
        raise NotFoundError(
            f"client_balances: the mirror of {snapshot.version.time:%Y-%m-%d %H:%M} UTC has no client {client_id}.",
            status=404,
            method="GET",
            path=f"{CLIENTS.path}/{client_id}/balances",
        )
    return {name: value for name, value in _as_json(ClientBalances, row).items() if value is not None}


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
    filters, (start, end) = _filters(request), (request.period.start, request.period.end)
    period = within_days(table.date, start, end)
    masks = {name: _MASKS[table.name, name] for name in filters if (table.name, name) in _MASKS}
    equal = [each for each in request.resource.filters if each.name in filters and each.name not in masks]
    expressions = [*([] if period is None else [period]), *_since(request)]
    expressions += [_equal(snake_case(str(each.field)), each.kind, filters[each.name]) for each in equal]
    condition = reduce(and_, expressions) if expressions else None
    rows = snapshot.read(table.name, rows=condition, partitions=snapshot.partitions(table, start, end))
    for name, mask in masks.items():
        rows = rows.filter(mask(snapshot, rows, filters[name], filters))
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


_Mask = Callable[[Snapshot, pa.Table, Collection[str], Mapping[str, Collection[str]]], Any]
"""Tells which rows match the texts of a filter; the last argument has all filters."""


def _contain(rows: pa.Table, columns: Collection[str], text: str, *, whole: bool = False) -> pa.Array:
    """Return which rows contain a text in any of the columns, or equal it if `whole`, without regard to case."""
    sought = text.casefold()

    def fits(value: str | None) -> bool:
        return value is not None and (value.casefold() == sought if whole else sought in value.casefold())

    found = [[fits(value) for value in rows.column(name).to_pylist()] for name in columns]
    return pa.array([any(each) for each in zip(*found, strict=True)], pa.bool_())


def _matters_by_query(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> Any:
    known = snapshot.lookup("clients")
    clients = known.filter(_contain(known, ("name", "reference"), *texts)).column("client_id")
    return pc.or_(_contain(rows, ("name", "reference"), *texts), _is_in(rows, "client_id", clients))


def _matters_by_client_reference(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> Any:
    known = snapshot.lookup("clients")
    return _is_in(rows, "client_id", known.filter(pc.field("reference").isin(list(texts))).column("client_id"))


def _matters_by_user(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> Any:
    worked = snapshot.read("time_entries", ["matter_id"], _equal("user_id", "id", texts)).column("matter_id")
    return pc.or_(_is_id(rows, "responsible_id", texts), _is_in(rows, "matter_id", worked))


def _matters_by_originator(_snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> Any:
    sought = {text.lower() for text in texts}
    ids = rows.column("originator_ids").to_pylist()
    return pa.array([any(each.lower() in sought for each in of or ()) for of in ids], pa.bool_())


def _invoices_by_matter(snapshot: Snapshot, rows: pa.Table, texts: Collection[str], _: Any) -> Any:
    """Return whether invoices are of a matter, or have time entries, expenses or fixed fees of it."""
    mask = _is_id(rows, "matter_id", texts)
    for name in ("time_entries", "expenses", "fixed_fees"):
        billed = snapshot.read(name, ["invoice_id"], _equal("matter_id", "id", texts)).column("invoice_id")
        mask = pc.or_(mask, _is_in(rows, "invoice_id", billed))
    return mask


def _users_by_query(_snapshot: Snapshot, rows: pa.Table, texts: Collection[str], filters: Any) -> Any:
    whole = "true" in filters.get("queryFullMatch", ())
    return _contain(rows, ("first_name", "last_name", "initials", "email"), *texts, whole=whole)


def _is_in(rows: pa.Table, column: str, values: pa.ChunkedArray) -> pa.Array:
    return pc.is_in(rows.column(column), value_set=values.drop_null()).combine_chunks()


def _is_id(rows: pa.Table, column: str, texts: Collection[str]) -> pa.Array:
    ids = pa.array([text.lower() for text in texts], pa.string())
    return pc.is_in(pc.utf8_lower(rows.column(column)), value_set=ids).combine_chunks()


_MASKS: dict[tuple[str, str], _Mask] = {
    ("clients", "query"): lambda _snapshot, rows, texts, _: _contain(rows, ("name", "reference"), *texts),
    ("matters", "query"): _matters_by_query,
    ("matters", "clientReference"): _matters_by_client_reference,
    ("matters", "userId"): _matters_by_user,
    ("matters", "originatorId"): _matters_by_originator,
    ("invoices", "matterId"): _invoices_by_matter,
    ("users", "email"): lambda _snapshot, rows, texts, _: _contain(rows, ("email",), *texts, whole=True),
    ("users", "query"): _users_by_query,
    ("users", "queryFullMatch"): lambda _snapshot, rows, _texts, _: pa.array([True] * len(rows), pa.bool_()),
}
