"""The order of rows: the same data give the same frame.

Rows come as `sort` asks, ties by id; without it by the resource's own order, then id. Text is ordered by code
point and missing values come last, whichever collation the server uses.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from billframes._names import snake_case
from billframes.api.parameters import ListRequest

__all__ = ["in_order", "orderable"]


def in_order(table: pa.Table, request: ListRequest) -> pa.Table:
    """Sort a table as the request asks; keys whose columns were not asked for are left to the server's order."""
    if not orderable(request, frozenset(table.column_names)):
        return table
    return table.take(_indices(table, [*_keys(request), (snake_case(request.resource.id), False)]))


def orderable(request: ListRequest, columns: frozenset[str]) -> bool:
    """Tell whether the order asked for can be made from these columns."""
    keys = _keys(request)
    return bool(keys) and all(name in columns for name, _ in keys)


def _keys(request: ListRequest) -> list[tuple[str, bool]]:
    resource = request.resource
    sort = [(_column(resource.sort[name]), descending) for name, descending in request.sort]
    return sort or [(_column(name), False) for name in resource.order]


def _column(path: str) -> str:
    """Return the column of a record's property: metadata are not prefixed."""
    return snake_case(path.removeprefix("meta.").replace(".", "_"))


def _indices(table: pa.Table, keys: list[tuple[str, bool]]) -> pa.Array:
    columns = {name: _comparable(table.column(name)) for name, _ in keys}
    order = [(name, "descending" if descending else "ascending") for name, descending in keys]
    return pc.sort_indices(pa.table(columns), sort_keys=order)


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return enums as their place in the declaration, everything else as it is."""
    if not pa.types.is_dictionary(column.type):
        return column
    return pa.chunked_array([chunk.indices for chunk in column.chunks], pa.int32())
