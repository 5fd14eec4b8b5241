"""Sort the rows of Arrow tables, and convert them to pandas or Polars frames with the contract's dtypes.

The same data give the same frame: rows are sorted by `sort`, or else in the resource's own order, and ties by id. Text
is sorted by code point, and missing values are last, whichever collation the server uses.

The dtypes depend on the table's schema, not on its values, so an empty table gives the same dtypes. pandas' own
`Table.to_pandas` would turn dates and nullable booleans into `object`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.forks import check_library
from billframes._shared.names import snake_case
from billframes.errors import ParameterError
from billframes.loading.query_args import ListRequest
from billframes.schema.columns import REPEATED_TEXT, decode_dictionary

if TYPE_CHECKING:
    import polars as pl

# Text, because Polars is an extra and is not imported here.
Frame: TypeAlias = "pd.DataFrame | pa.Table | pl.DataFrame"


def row_order(
    column: Callable[[str], pa.ChunkedArray], columns: frozenset[str], request: ListRequest
) -> pa.Array | None:
    """
    Return the requested order as row numbers; None if the table lacks the sort keys, so that the server's order is
    kept.

    `column` returns a column by name; `columns` are the names of all.
    """
    if not can_sort(request, columns):
        return None
    keys = [*_keys(request), (request.resource.id_column, False)]
    table = pa.table({name: _sortable(column(name)) for name, _ in keys})
    return pc.sort_indices(
        table, sort_keys=[(name, "descending" if descending else "ascending") for name, descending in keys]
    )


def can_sort(request: ListRequest, columns: frozenset[str]) -> bool:
    """Return whether rows with these columns can be sorted as requested."""
    if not all(name in request.resource.sort for name, _ in request.sort):
        # Only the server knows this sort.
        return False
    keys = _keys(request)
    return bool(keys) and all(name in columns for name, _ in keys)


def _keys(request: ListRequest) -> list[tuple[str, bool]]:
    resource = request.resource
    sort = [(_column(resource.sort[name]), descending) for name, descending in request.sort]
    return sort or [(_column(name), False) for name in resource.order]


def _column(path: str) -> str:
    """Return the column of a record's property; the columns of metadata have no prefix."""
    return snake_case(path.removeprefix("meta.").replace(".", "_"))


def _sortable(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the values to sort by; an enum is sorted by the order of its declared values."""
    if pa.types.is_dictionary(column.type) and column.type != REPEATED_TEXT:
        return column.indices
    return decode_dictionary(column)


def convert(table: pa.Table, to: str) -> Frame:
    """Convert an Arrow table to the kind of frame `to`; raise `ParameterError` if Polars is not installed for it."""
    return FORMATS[to](table)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Convert an Arrow table to a pandas frame with a RangeIndex."""
    series = {field.name: _pandas_array(table.column(field.name), field) for field in table.schema}
    return pd.DataFrame(series, index=pd.RangeIndex(table.num_rows), copy=False)


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Convert an Arrow table to a Polars frame; enums become Polars enums."""
    try:
        import polars as pl
    except ImportError as error:
        raise ParameterError(
            "to='polars' needs Polars, which is not installed: pip install 'billframes[polars]'."
        ) from error
    check_library("polars")
    enums = {
        field.name: pl.Enum(_dictionary(table.column(field.name)))
        for field in table.schema
        if pa.types.is_dictionary(field.type) and field.type != REPEATED_TEXT
    }
    frame = pl.from_arrow(pa.table({name: decode_dictionary(table.column(name)) for name in table.column_names}))
    if not isinstance(frame, pl.DataFrame):
        raise TypeError("Polars made no frame of an Arrow table.")
    return frame.with_columns([pl.col(name).cast(kind) for name, kind in enums.items()])


FORMATS: dict[str, Callable[[pa.Table], Frame]] = {
    "pandas": to_pandas,
    "arrow": lambda table: table,
    "polars": to_polars,
}


def _pandas_array(column: pa.ChunkedArray, field: pa.Field) -> Any:
    kind = field.type
    if pa.types.is_dictionary(kind) and kind != REPEATED_TEXT:
        return _categorical(column)
    if pa.types.is_string(kind) or kind == REPEATED_TEXT:
        return pd.array(decode_dictionary(column), dtype=pd.StringDtype(na_value=np.nan))
    if pa.types.is_date(kind):
        return _writable(column.cast(pa.timestamp("us")))
    if pa.types.is_timestamp(kind) and kind.tz:
        instants = pd.DatetimeIndex(_writable(column.cast(pa.timestamp("us"))))
        return instants.tz_localize("UTC").array
    if pa.types.is_boolean(kind):
        return _nullable_flags(column) if field.nullable else _writable(column)
    if pa.types.is_floating(kind):
        return _writable(column)
    if pa.types.is_list(kind):
        return _python_lists(column)
    return pd.array(column, dtype=pd.ArrowDtype(kind))


def _writable(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """Return the values in memory of their own, because Arrow's can't be written to."""
    values: np.ndarray[Any, Any] = column.to_numpy()
    return values if values.flags.writeable else values.copy()


def _python_lists(column: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    # Python lists, because pandas can't read back a Parquet file with Arrow's lists that it has written itself.
    lists = np.empty(len(column), dtype=object)
    # Assigned one by one, because lists of equal length would become a two-dimensional array.
    for row, value in enumerate(column.to_pylist()):
        lists[row] = value
    return lists


def _nullable_flags(column: pa.ChunkedArray) -> pd.arrays.BooleanArray:
    return pd.arrays.BooleanArray(_writable(column.fill_null(False)), _writable(column.is_null()))


def _dictionary(column: pa.ChunkedArray) -> list[str]:
    return list(column.chunk(0).dictionary.to_pylist()) if column.num_chunks else []


def _categorical(column: pa.ChunkedArray) -> pd.Categorical:
    categories = pd.Index(_dictionary(column), dtype="str")
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in column.chunks]
    joined = np.concatenate(codes) if codes else np.empty(0, dtype="int32")
    return pd.Categorical.from_codes(joined, categories=categories)
