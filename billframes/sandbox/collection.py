"""Read records from the tables: single records, pages of lists, and the records embedded in them.

A page takes three queries inside one transaction: the number of matches, the ids on the page, and the rows with these
ids. The second query starts from the nearer end of the list, so the last page is as quick as the first. Each kind of
embedded record is looked up once for the page. The connection keeps totals and pages until something is written. SQL
text consists only of fragments in this package; callers' values are always bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from billframes._shared.names import snake_case
from billframes.sandbox.cache import CachingConnection
from billframes.sandbox.query_parameters import MODIFIED_SINCE, ListQuery
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import MAX_LIMIT, Resource

Row = dict[str, Any]

# Up to this many matches are always sorted, because that is fast.
_ALWAYS_SORTED = 5 * MAX_LIMIT
_DATE_COMPARISONS = {"startDate": ">=", "endDate": "<="}


@dataclass(frozen=True, slots=True)
class View:
    """
    The parts of a record that the response shows.

    `select` has the selected details. `detail` is True for a single record, which has all details. `rates` is True if
    the credential may see rates.
    """

    select: frozenset[str] = frozenset()
    detail: bool = False
    rates: bool = False

    def shows(self, *names: str) -> bool:
        """Tell whether the response has a detail that lists only show if one of these names is selected."""
        return self.detail or not self.select.isdisjoint(names)


Render = Callable[[sqlite3.Connection, list[Row], View], None]


@dataclass(frozen=True, slots=True)
class EmbeddedReference:
    """The columns of a table's rows that other records embed, by property name."""

    table: str
    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """
    The SQL that reads the records of one resource from the tables.

    `columns` has the SQL expression of each property, or the embedded record whose id is the property's name with "Id";
    it is omitted if there is no id. `order` are the expressions that order an unsorted list; ties are always ordered by
    id. `details` are the properties that lists show only if one of these `select` names is selected, or never (""); an
    embedded record needs its own name. Those in `always` are shown without being selected. The property `omitted` is
    omitted if it is null. `render` changes the records in place.

    `where` has the condition of each filter that is more than "equal to its property", or one condition for true and
    one for false. `{}` before a column is replaced by a unary plus if SQLite should not use the column's index.
    """

    resource: Resource
    columns: Mapping[str, str | EmbeddedReference]
    order: tuple[str, ...]
    details: Mapping[str, str] = field(default_factory=dict)
    omitted: str = ""
    render: Render | None = None
    where: Mapping[str, str | Mapping[bool, str]] = field(default_factory=dict)
    always: frozenset[str] = frozenset()

    @property
    def table(self) -> str:
        """The table, such as "time_entry"."""
        return self.resource.noun.replace(" ", "_")

    @property
    def key(self) -> str:
        """The table's id column."""
        return self.resource.id_column

    def shown_columns(self, view: View) -> dict[str, str | EmbeddedReference]:
        """Return the columns that a view shows."""
        needed = {name: name for name, column in self.columns.items() if not isinstance(column, str)} | {**self.details}
        hidden = {name for name, selected in needed.items() if not view.shows(*selected.split())}
        return {name: column for name, column in self.columns.items() if name not in hidden}


def read_page(
    connection: CachingConnection, collection: Collection, query: ListQuery, view: View
) -> tuple[msgspec.Raw, int]:
    """Return one page's records, as JSON, and the number of matches."""
    total = _count_matches(connection, collection, query.filters)

    def read() -> bytes:
        ids = _read_page_ids(connection, collection, query, total)
        return msgspec.json.encode(_read_records(connection, collection, ids, view))

    if query.shuffled:
        return msgspec.Raw(read()), total
    filters = frozenset(query.filters.items())
    key = (collection.table, filters, query.sort, query.limit, query.offset, view)
    return msgspec.Raw(connection.cached(key, read)), total


def _count_matches(connection: CachingConnection, collection: Collection, filters: Mapping[str, Any]) -> int:
    sql = f"SELECT count(*) FROM {collection.table}" + _where_clause(collection, filters)  # noqa: S608
    values = _bound_values(filters) if filters else {}

    def read() -> int:
        total: int = connection.execute(sql, values).fetchone()[0]
        return total

    return connection.cached((sql, frozenset(values.items())), read)


def _read_page_ids(connection: CachingConnection, collection: Collection, query: ListQuery, total: int) -> list[str]:
    limit = min(query.limit, total - query.offset) if collection.resource.paginated else total
    if limit <= 0:
        return []
    remaining = total - query.offset - limit
    backwards = remaining < query.offset and not query.shuffled
    skipped = remaining if backwards else query.offset
    sorts = _is_sorting_faster(total, _count_matches(connection, collection, {}), skipped + limit)
    where = _where_clause(collection, query.filters, avoid_indexes=not sorts)
    order = _order_clause(collection, query, backwards=backwards, avoid_index=sorts)
    # A subquery with a limit gives its rows in order.
    paging = (
        f"SELECT json_group_array(id) FROM (SELECT {collection.key} AS id FROM {collection.table}{where}"  # noqa: S608
        f" ORDER BY {order} LIMIT :limit OFFSET :offset)"
    )
    ids: list[str] = query_json(connection, paging, {**_bound_values(query.filters), "limit": limit, "offset": skipped})
    return ids[::-1] if backwards else ids


def query_json(connection: sqlite3.Connection, sql: str, values: Mapping[str, Any] | Sequence[Any] = ()) -> Any:
    """
    Run a query whose result is one JSON text, and decode it.

    The sqlite3 module releases the interpreter's lock before each row. If a client of the same process decodes a page
    meanwhile, the lock changes hands for every row.
    """
    return msgspec.json.decode(connection.execute(sql, values).fetchone()[0])


def _is_sorting_faster(total: int, size: int, wanted: int) -> bool:
    """
    Tell whether sorting all matches is faster than walking the sort's index until enough rows match.

    The walk passes `size / total` rows for each match. SQLite would not choose the walk by itself if the filter has
    an index.
    """
    return total <= _ALWAYS_SORTED or total * total < size * wanted


def read_record(connection: sqlite3.Connection, collection: Collection, id_: str, view: View) -> Row | None:
    """Return the record with this id, or None."""
    return next(iter(_read_records(connection, collection, [id_], view)), None)


def _read_records(connection: sqlite3.Connection, collection: Collection, ids: list[str], view: View) -> list[Row]:
    columns = collection.shown_columns(view)
    own = {name: column if isinstance(column, str) else "NULL" for name, column in columns.items()}
    rows = _read_rows(connection, collection.table, collection.key, own, ids)
    records = [rows[each] for each in ids if each in rows]
    for name, column in columns.items():
        if not isinstance(column, str):
            _embed(connection, records, name, column)
    omitted = [name for name, column in columns.items() if name == collection.omitted or not isinstance(column, str)]
    for record in records:
        for name in omitted:
            if record[name] is None:
                del record[name]
    if collection.render:
        collection.render(connection, records, view)
    return records


def _embed(connection: sqlite3.Connection, records: list[Row], name: str, reference: EmbeddedReference) -> None:
    """Set a property to the embedded form of the record whose id is beside it; null if there is no id."""
    ids = {record[f"{name}Id"] for record in records}
    found = _read_rows(connection, reference.table, f"{reference.table}_id", reference.columns, ids)
    for record in records:
        record[name] = found.get(record[f"{name}Id"])


def _read_rows(
    connection: sqlite3.Connection, table: str, key: str, columns: Mapping[str, str], ids: Iterable[str | None]
) -> dict[str, Row]:
    sql = (
        f"SELECT json_group_object({key}, {json_object(columns)}) FROM {table}"  # noqa: S608
        f" WHERE {key} IN (SELECT value FROM json_each(:ids))"
    )
    listed = msgspec.json.encode([each for each in set(ids) if each is not None]).decode()
    rows: dict[str, Row] = query_json(connection, sql, {"ids": listed})
    return rows


def _bound_values(filters: Mapping[str, Any]) -> dict[str, Any]:
    # `query` needs queryFullMatch even if it was not sent.
    return {"queryFullMatch": False, **filters}


def _where_clause(collection: Collection, filters: Mapping[str, Any], *, avoid_indexes: bool = False) -> str:
    plus = "+" if avoid_indexes else ""
    conditions = [f"({_condition(collection, name, value).format(plus)})" for name, value in filters.items()]
    return " WHERE " + " AND ".join(conditions) if conditions else ""


def _condition(collection: Collection, name: str, value: Any) -> str:
    resource, own = collection.resource, collection.where.get(name)
    if own is not None:
        return own if isinstance(own, str) else own[value]
    if name == MODIFIED_SINCE.name:
        return "{}modified_at > :modifiedSince"
    if name in _DATE_COMPARISONS:
        return f"{snake_case(str(resource.date))} {_DATE_COMPARISONS[name]} :{name}"
    equal = next(str(each.field) for each in resource.filters if each.name == name)
    return f"{snake_case(equal)} = :{name}"


def _sort_expression(collection: Collection, name: str) -> str:
    parent, _, property_ = collection.resource.sort[name].rpartition(".")
    column = snake_case(property_)
    if parent == "client":
        return f"(SELECT {column} FROM client WHERE client.client_id = {collection.table}.client_id)"  # noqa: S608
    return column


def _order_clause(collection: Collection, query: ListQuery, *, backwards: bool, avoid_index: bool) -> str:
    """
    Return the ORDER BY clause, with ties ordered by id.

    By default SQLite walks the sort's index through a long table to find the few rows that match a filter. With a unary
    plus it can't use that index. It then uses the filter's index and sorts the matches.
    """
    sort = [(_sort_expression(collection, name), descending) for name, descending in query.sort]
    terms = [*(sort or [(each, False) for each in collection.order]), (collection.key, False)]
    if query.shuffled:
        terms[-1] = ("random()", False)
    first, *rest = [each + (" DESC" if descending != backwards else "") for each, descending in terms]
    return ", ".join(["+" + first if avoid_index else first, *rest])


def columns(names: str, **others: str) -> dict[str, str]:
    """
    Return the SQL expression of each property: `names` are columns of the same name in snake_case.

    Examples
    --------
    >>> columns("userId date", default="is_default")
    {'userId': 'user_id', 'date': 'date', 'default': 'is_default'}
    """
    return {name: snake_case(name) for name in names.split()} | others


def scaled(column: str) -> str:
    """Return the SQL expression of a column with money, a rate or hours."""
    return f"{column} / {SCALE}.0"


def flag(condition: str) -> str:
    """Return the SQL expression of true or false."""
    return f"json(iif({condition}, 'true', 'false'))"


def json_object(columns: Mapping[str, str]) -> str:
    """Return the SQL expression of an object with these properties."""
    return "json_object(" + ", ".join(f"'{name}', {sql}" for name, sql in columns.items()) + ")"


def json_array(item: str, rows: str) -> str:
    """Return the SQL expression of an array with an item for each row of a query, in its order."""
    return f"json((SELECT json_group_array({item}) FROM ({rows})))"  # noqa: S608


FULL_NAME = "trim(first_name || ' ' || last_name)"
META = json_object(columns("createdAt modifiedAt"))
CLIENT = EmbeddedReference("client", columns("name reference"))
MATTER = EmbeddedReference("matter", columns("name reference"))
# The description does not show the embedded user and practice area; these are the documented assumption.
USER = EmbeddedReference("user", columns("userId firstName lastName initials", name=FULL_NAME))
PRACTICE_AREA = EmbeddedReference("practice_area", columns("practiceAreaId label"))
INVOICE = EmbeddedReference(
    "invoice",
    columns(
        "invoiceId invoiceNumber invoiceDate invoiceState",
        invoiceAmount=scaled("amount"),
        invoiceBalance=scaled("balance"),
    ),
)
FIXED_FEE = EmbeddedReference("fixed_fee", columns("", id="fixed_fee_id", label="description", amount=scaled("amount")))
