"""The order of rows: the same data give the same frame.

Rows come as `sort` asks, ties by id; without it by the resource's own order, then id. Text is ordered by code
point and missing values come last, whichever collation the server uses.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from billframes._names import snake_case
from billframes.loading.query_args import ListRequest
from billframes.schema.columns import REPEATED, plain

__all__ = ["order_of", "orderable"]


def order_of(
    column: Callable[[str], pa.ChunkedArray], columns: frozenset[str], request: ListRequest
) -> pa.Array | None:
    """
    Return the order of rows that the request asks for.

    Parameters
    ----------
    column : callable
        Returns a column by name.
    columns : frozenset of str
        The columns there are.
    request : ListRequest

    Returns
    -------
    pyarrow.Array of uint64, or None
        None if keys were not requested: the server's order is kept.
    """
    if not orderable(request, columns):
        return None
    keys = [*_keys(request), (snake_case(request.resource.id), False)]
    table = pa.table({name: _comparable(column(name)) for name, _ in keys})
    return pc.sort_indices(
        table, sort_keys=[(name, "descending" if descending else "ascending") for name, descending in keys]
    )


def orderable(request: ListRequest, columns: frozenset[str]) -> bool:
    """Tell whether the order asked for can be made from these columns."""
    if not all(name in request.resource.sort for name, _ in request.sort):
        # A name of the server's own.
        return False
    keys = _keys(request)
    return bool(keys) and all(name in columns for name, _ in keys)


def _keys(request: ListRequest) -> list[tuple[str, bool]]:
    resource = request.resource
    sort = [(_column(resource.sort[name]), descending) for name, descending in request.sort]
    return sort or [(_column(name), False) for name in resource.order]


def _column(path: str) -> str:
    """Return the column of a record's property: metadata are not prefixed."""
    return snake_case(path.removeprefix("meta.").replace(".", "_"))


def _comparable(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return enums as their place in the declaration, everything else as its values."""
    if pa.types.is_dictionary(column.type) and column.type != REPEATED:
        return column.indices
    return plain(column)
