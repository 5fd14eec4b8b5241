"""How a resource is read from the tables: a declaration of SQL fragments, and the queries made of them.

A page takes three queries inside one transaction: how many match, which ids are on the page, and those rows
in that order. The second reads indexes only, so a page deep in a long list costs little more than the first.
Only fragments written here in the source reach SQL text; a caller's values are always bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from billframes.api.resources import MAX_LIMIT, Resource
from billframes.sandbox.parameters import ListRequest

__all__ = ["Collection", "Render", "Row", "View", "read_one", "read_page", "rows_as_records"]

Row = dict[str, Any]

_FEW = 5 * MAX_LIMIT


@dataclass(frozen=True, slots=True)
class View:
    """
    How much of a record the answer shows.

    `select` are the additional details asked for, `detail` is True for a single record, which shows them all,
    and `rates` tells whether the credential may see rates.
    """

    select: frozenset[str] = frozenset()
    detail: bool = False
    rates: bool = False

    def shows(self, name: str) -> bool:
        """Tell whether a detail that a list shows on request is in the answer."""
        return self.detail or name in self.select


Render = Callable[[sqlite3.Connection, list[Row], View], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """
    One resource as the tables have it.

    Parameters
    ----------
    resource : Resource
        The API's own declaration.
    table, key : str
        The table and its id column.
    columns : mapping
        Property name to SQL expression; what `render` starts from.
    order : tuple of str
        SQL expressions that order an unsorted list; ties go by id, always.
    render : callable
        Turns rows into the API's records in place: embeds references, takes away what is not shown.
    where : mapping
        Filter name to the SQL condition it stands for, or to one for true and one for false.
    sort : mapping
        Sort name to SQL expression.
    """

    resource: Resource
    table: str
    key: str
    columns: Mapping[str, str]
    order: tuple[str, ...]
    render: Render
    where: Mapping[str, str | Mapping[bool, str]] = field(default_factory=dict)
    sort: Mapping[str, str] = field(default_factory=dict)


def read_page(
    connection: sqlite3.Connection, collection: Collection, request: ListRequest, view: View
) -> tuple[list[Row], int]:
    """Return one page's records and how many match in all."""
    where, values = _where(collection, request.filters), _bound(request.filters)
    counting = f"SELECT count(*) FROM {collection.table}{where}"  # noqa: S608
    total: int = connection.execute(counting, values).fetchone()[0]
    paging = (
        f"SELECT {collection.key} FROM {collection.table}{where}"  # noqa: S608
        f" ORDER BY {_order(collection, request, few=total <= _FEW)} LIMIT :limit OFFSET :offset"
    )
    values |= {"limit": request.limit if collection.resource.paginated else -1, "offset": request.offset}
    ids = [row[0] for row in connection.execute(paging, values)]
    return _read(connection, collection, ids, view), total


def read_one(connection: sqlite3.Connection, collection: Collection, id_: str, view: View) -> Row | None:
    """Return the record with this id; None without one."""
    return next(iter(_read(connection, collection, [id_], view)), None)


def rows_as_records(connection: sqlite3.Connection, sql: str, values: Mapping[str, Any]) -> list[Row]:
    """Run a query and return its rows as dicts by column name."""
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _read(connection: sqlite3.Connection, collection: Collection, ids: Iterable[str], view: View) -> list[Row]:
    columns = ", ".join(f'{sql} AS "{name}"' for name, sql in collection.columns.items())
    # CROSS JOIN keeps SQLite to this order of loops: the page's few ids first.
    fetching = (
        f"SELECT {columns} FROM json_each(:ids) AS page CROSS JOIN {collection.table}"  # noqa: S608
        f" ON {collection.table}.{collection.key} = page.value ORDER BY page.key"
    )
    records = rows_as_records(connection, fetching, {"ids": msgspec.json.encode(ids).decode()})
    collection.render(connection, records, view)
    return records


def _bound(filters: Mapping[str, Any]) -> dict[str, Any]:
    # `query` reads queryFullMatch whether it was sent or not.
    return {"queryFullMatch": False, **filters}


def _where(collection: Collection, filters: Mapping[str, Any]) -> str:
    conditions = []
    for name, value in filters.items():
        condition = collection.where[name]
        conditions.append(condition if isinstance(condition, str) else condition[value])
    return " WHERE " + " AND ".join(f"({each})" for each in conditions) if conditions else ""


def _order(collection: Collection, request: ListRequest, *, few: bool) -> str:
    """
    Return the order, ties by id.

    Left to itself SQLite walks the sort's index through a long table to find the few rows a filter leaves. The
    unary plus keeps it from that index, so that it goes by the filter's and sorts what it finds.
    """
    asked = [collection.sort[name] + (" DESC" if descending else "") for name, descending in request.sort]
    first, *rest = asked or collection.order
    return ", ".join(["+" + first if few else first, *rest, "random()" if request.shuffled else collection.key])
