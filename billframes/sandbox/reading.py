"""Read records from the tables: single ones and pages of lists, with the records embedded in them.

A page takes three queries inside one transaction: the number of matches, the ids on the page, and those rows in order.
The second starts from the nearer end of the list, so the last page is as quick as the first. Each kind of embedded
record is looked up once for the page. The connection remembers totals and pages until something is written. SQL text
only has fragments of this source; callers' values are always bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from billframes.sandbox.caching import CachingConnection
from billframes.sandbox.parameters import ListQuery
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import MAX_LIMIT, Resource

__all__ = [
    "CLIENT",
    "FIXED_FEE",
    "INVOICE",
    "MATTER",
    "PRACTICE_AREA",
    "USER",
    "Collection",
    "Render",
    "Row",
    "Shape",
    "View",
    "attach",
    "custom_fields",
    "ids_as_json",
    "lookup",
    "put_meta",
    "read_one",
    "read_page",
    "rows_as_records",
]

Row = dict[str, Any]

_FEW = 5 * MAX_LIMIT


@dataclass(frozen=True, slots=True)
class View:
    """
    The parts of a record that the response shows.

    `select` has the selected details. `detail` is True for a single record, which has all details. `rates` says whether
    the credential may see rates.
    """

    select: frozenset[str] = frozenset()
    detail: bool = False
    rates: bool = False

    def shows(self, name: str) -> bool:
        """Tell whether the response has a detail that lists only show if selected."""
        return self.detail or name in self.select


Render = Callable[[sqlite3.Connection, list[Row], View], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """
    The SQL that reads one resource from the tables.

    Parameters
    ----------
    resource : Resource
        The API's own declaration.
    table, key : str
        The table and its id column.
    columns : mapping
        Property name to SQL expression; `render` gets rows of these.
    order : tuple of str
        SQL expressions that order an unsorted list. Ties are always ordered by id.
    render : callable
        Turns rows into the API's records in place: embeds references and removes what the response does not show.
    where : mapping
        Filter name to its SQL condition, or to one condition for true and one for false. `{}` before a column is
        replaced by a unary plus if SQLite should not use the column's index.
    sort : mapping
        Sort name to SQL expression.
    always : frozenset of str
        Details of a list that come without being selected.
    """

    resource: Resource
    table: str
    key: str
    columns: Mapping[str, str]
    order: tuple[str, ...]
    render: Render
    where: Mapping[str, str | Mapping[bool, str]] = field(default_factory=dict)
    sort: Mapping[str, str] = field(default_factory=dict)
    always: frozenset[str] = frozenset()


def read_page(
    connection: CachingConnection, collection: Collection, request: ListQuery, view: View
) -> tuple[msgspec.Raw, int]:
    """Return one page's records, as JSON, and the number of matches."""
    total = _count(connection, collection, request.filters)

    def read() -> bytes:
        return msgspec.json.encode(_read(connection, collection, _page(connection, collection, request, total), view))

    if request.shuffled:
        return msgspec.Raw(read()), total
    filters = frozenset(request.filters.items())
    key = (collection.table, filters, request.sort, request.limit, request.offset, view)
    return msgspec.Raw(connection.cached(key, read)), total


def _count(connection: CachingConnection, collection: Collection, filters: Mapping[str, Any]) -> int:
    sql = f"SELECT count(*) FROM {collection.table}" + _where(collection, filters)  # noqa: S608
    values = _bound(filters) if filters else {}

    def read() -> int:
        total: int = connection.execute(sql, values).fetchone()[0]
        return total

    return connection.cached((sql, frozenset(values.items())), read)


def _page(connection: CachingConnection, collection: Collection, request: ListQuery, total: int) -> list[str]:
    """Return the ids on the page, in order."""
    limit = min(request.limit, total - request.offset) if collection.resource.paginated else total
    if limit <= 0:
        return []
    left = total - request.offset - limit
    backwards = left < request.offset and not request.shuffled
    passed = left if backwards else request.offset
    few = _few(total, _count(connection, collection, {}), passed + limit)
    where = _where(collection, request.filters, walking=not few)
    order = _order(collection, request, backwards=backwards, few=few)
    # A subquery with a limit gives its rows in order.
    paging = (
        f"SELECT json_group_array(id) FROM (SELECT {collection.key} AS id FROM {collection.table}{where}"  # noqa: S608
        f" ORDER BY {order} LIMIT :limit OFFSET :offset)"
    )
    ids: list[str] = _json(connection, paging, {**_bound(request.filters), "limit": limit, "offset": passed})
    return ids[::-1] if backwards else ids


def _json(connection: sqlite3.Connection, sql: str, values: Mapping[str, Any]) -> Any:
    """
    Run a query whose rows are one JSON text, and decode it.

    The sqlite3 module releases the interpreter's lock before each row. If a client of the same process decodes a page
    meanwhile, the lock changes hands for every row.
    """
    return msgspec.json.decode(connection.execute(sql, values).fetchone()[0])


def _few(total: int, size: int, wanted: int) -> bool:
    """
    Tell whether sorting all matches is quicker than walking the sort's index until enough rows match.

    The walk passes `size / total` rows for each match. SQLite would not choose the walk by itself if the filter has
    an index.
    """
    return total <= _FEW or total * total < size * wanted


def read_one(connection: sqlite3.Connection, collection: Collection, id_: str, view: View) -> Row | None:
    """Return the record with this id, or None."""
    return next(iter(_read(connection, collection, [id_], view)), None)


def rows_as_records(connection: sqlite3.Connection, sql: str, values: Mapping[str, Any]) -> list[Row]:
    """Run a query and return its rows as dicts by column name."""
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _read(connection: sqlite3.Connection, collection: Collection, ids: Iterable[str], view: View) -> list[Row]:
    wanted = list(ids)
    found = _by_id(connection, collection.table, collection.key, collection.columns, wanted)
    records = [found[each] for each in wanted if each in found]
    collection.render(connection, records, view)
    return records


def _by_id(
    connection: sqlite3.Connection, table: str, key: str, columns: Mapping[str, str], ids: Iterable[str | None]
) -> dict[str, Row]:
    """Return a table's rows by id."""
    pairs = ", ".join(f"'{name}', {sql}" for name, sql in columns.items())
    sql = (
        f"SELECT json_group_object({key}, json_object({pairs})) FROM {table}"  # noqa: S608
        f" WHERE {key} IN (SELECT value FROM json_each(:ids))"
    )
    rows: dict[str, Row] = _json(connection, sql, {"ids": ids_as_json(ids)})
    return rows


def _bound(filters: Mapping[str, Any]) -> dict[str, Any]:
    # `query` needs queryFullMatch even if it was not sent.
    return {"queryFullMatch": False, **filters}


def _where(collection: Collection, filters: Mapping[str, Any], *, walking: bool = False) -> str:
    conditions = []
    for name, value in filters.items():
        condition = collection.where[name]
        conditions.append(condition if isinstance(condition, str) else condition[value])
    plus = "+" if walking else ""
    return " WHERE " + " AND ".join(f"({each.format(plus)})" for each in conditions) if conditions else ""


def _order(collection: Collection, request: ListQuery, *, backwards: bool, few: bool) -> str:
    """
    Return the ORDER BY clause, with ties ordered by id.

    By default SQLite walks the sort's index through a long table to find the few rows that match a filter. The unary
    plus keeps it from using that index, so it uses the filter's and sorts the matches.
    """
    asked = [(collection.sort[name], descending) for name, descending in request.sort]
    terms = [*(asked or [(each, False) for each in collection.order]), (collection.key, False)]
    if request.shuffled:
        terms[-1] = ("random()", False)
    first, *rest = [each + (" DESC" if descending != backwards else "") for each, descending in terms]
    return ", ".join(["+" + first if few else first, *rest])


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a table's rows that other records embed."""

    table: str
    key: str
    columns: Mapping[str, str]


CLIENT = Shape("client", "client_id", {"name": "name", "reference": "reference"})
MATTER = Shape("matter", "matter_id", {"name": "name", "reference": "reference"})
# The description does not show the embedded user and practice area; these are the documented assumption.
USER = Shape(
    "user",
    "user_id",
    {
        "userId": "user_id",
        "name": "trim(first_name || ' ' || last_name)",
        "firstName": "first_name",
        "lastName": "last_name",
        "initials": "initials",
    },
)
PRACTICE_AREA = Shape("practice_area", "practice_area_id", {"practiceAreaId": "practice_area_id", "label": "label"})
INVOICE = Shape(
    "invoice",
    "invoice_id",
    {
        "invoiceId": "invoice_id",
        "invoiceNumber": "invoice_number",
        "invoiceDate": "invoice_date",
        "invoiceState": "invoice_state",
        "invoiceAmount": f"amount / {SCALE}.0",
        "invoiceBalance": f"balance / {SCALE}.0",
    },
)
FIXED_FEE = Shape(
    "fixed_fee",
    "fixed_fee_id",
    {"id": "fixed_fee_id", "label": "description", "amount": f"amount / {SCALE}.0"},
)


def ids_as_json(ids: Iterable[str | None]) -> str:
    """Return the distinct ids, without nulls, as the JSON array SQLite's `json_each` takes."""
    return msgspec.json.encode([each for each in set(ids) if each is not None]).decode()


def lookup(connection: sqlite3.Connection, shape: Shape, ids: Iterable[str | None]) -> dict[str, Row]:
    """Return the embedded form of each id."""
    return _by_id(connection, shape.table, shape.key, shape.columns, ids)


def attach(connection: sqlite3.Connection, records: list[Row], name: str, shape: Shape, by: str) -> None:
    """Set property `name` to the embedded form of the id in property `by`, if it has one."""
    found = lookup(connection, shape, (record[by] for record in records))
    for record in records:
        if (key := record[by]) is not None:
            record[name] = found[key]


def put_meta(records: list[Row], *, shown: bool) -> None:
    """Turn the columns createdAt and modifiedAt into `meta`, or remove them."""
    for record in records:
        meta = {"createdAt": record.pop("createdAt"), "modifiedAt": record.pop("modifiedAt")}
        if shown:
            record["meta"] = meta


def custom_fields(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[Row]]:
    """Return the custom field values of each record, in the fields' order; fields not set are left out."""
    wanted = list(ids)
    found: dict[str, list[Row]] = {each: [] for each in wanted}
    for record_id, value, label, row in _custom_rows(connection, wanted):
        found[record_id].append(row | _custom_value(value, label, row))
    return found


def _custom_rows(
    connection: sqlite3.Connection, ids: Iterable[str]
) -> Iterable[tuple[str, str | None, str | None, Row]]:
    sql = """
        SELECT v.record_id AS "record", v.value AS "stored", o.label AS "label",
               f.id AS "id", f.name AS "name", f.value_type AS "valueType", v.option_id AS "optionId"
        FROM custom_value v
        JOIN custom_field f ON f.id = v.custom_field_id
        LEFT JOIN custom_field_option o ON o.option_id = v.option_id
        WHERE v.record_id IN (SELECT value FROM json_each(:ids)) AND coalesce(v.value, o.label) IS NOT NULL
        ORDER BY f.position, f.id
    """
    for row in rows_as_records(connection, sql, {"ids": ids_as_json(ids)}):
        yield row.pop("record"), row.pop("stored"), row.pop("label"), row


def _custom_value(stored: str | None, label: str | None, row: Row) -> dict[str, Any]:
    """Return the value; an enum's value is its option's label, and only enums keep their option id."""
    if row["valueType"] == "enum":
        return {"value": label}
    del row["optionId"]
    return {"value": msgspec.json.decode(stored or "null")}
