"""Add up and join rows in the fastest way of each engine, and convert rows to Python and back.

Polars optimizes all steps from `lazy` to `collect` together, and copies nothing in between. Arrow's join copies every
column of both frames, so `join_by_id` looks up the ids and only appends the columns found.

A lazy engine only adds up the rows. All later steps are done in memory, with the few sums that `collect` returns: this
takes milliseconds, while a database plans every step again. `collect_values` and `collect_counts` compute all values
that warnings need in one query.

Medians, calendars and lists of codes are computed in Python, over few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis.data.arrow import ArrowRows
from billframes.analysis.data.expressions import C
from billframes.analysis.declare.columns import Frame, arrow_column, is_categorical


def lazy(frame: Frame) -> Frame:
    """Make an eager Polars frame lazy, until `collect`; return others unchanged."""
    is_eager_polars = isinstance(frame, nw.DataFrame) and frame.implementation.is_polars()
    return cast("Frame", nw.from_native(frame.to_native().lazy())) if is_eager_polars else frame


def collect(frame: Frame) -> Frame:
    """Compute a lazy frame: its rows are then in memory, in a Polars frame or an Arrow table."""
    return _make_nullable(cast("Frame", frame.collect())) if isinstance(frame, nw.LazyFrame) else frame


def collect_values(*queries: tuple[Frame, Mapping[str, nw.Expr]]) -> dict[str, Any]:
    """
    Compute values of whole frames, such as sums and the earliest date, in one query for all lazy frames.

    Each query is a frame with the values to compute. All names must differ, and all lazy frames be of one engine. A
    missing value is None.
    """
    rows = [frame.select(**values) for frame, values in queries if values]
    lazy_rows = [row for row in rows if isinstance(row, nw.LazyFrame)]
    if len(lazy_rows) > 1:
        names = [name for frame, values in queries if isinstance(frame, nw.LazyFrame) for name in values]
        # Each name has its value in one row, and is missing in the others.
        one_row = nw.concat(lazy_rows, how="diagonal").select(C(*names).max())
        rows = [one_row, *(row for row in rows if isinstance(row, nw.DataFrame))]
    return {name: value for row in rows for name, value in to_dicts(row)[0].items()}


def collect_counts(*queries: tuple[Frame, Mapping[str, nw.Expr]]) -> dict[str, float]:
    """Compute sums for warnings, as `collect_values` does; a missing value, such as a sum of no rows, is 0."""
    return {name: 0.0 if value is None else float(value) for name, value in collect_values(*queries).items()}


def join_by_id(frame: Frame, other: Frame, on: str, how: Literal["left", "inner"] = "left") -> Frame:
    """
    Join a frame in which each id is unique; a missing id matches nothing.

    If `frame` is in memory, `other` is collected, so that the result is in memory, too.
    """
    other = collect(other) if isinstance(frame, nw.DataFrame) else other
    rows, others = arrow_rows(frame), arrow_rows(other)
    if isinstance(rows, ArrowRows) and isinstance(others, ArrowRows):
        return cast("Frame", rows.look_up(others, on, how))
    return frame.join(lazy(other) if isinstance(frame, nw.LazyFrame) else other, on=on, how=how)


def stack(parts: Sequence[Frame]) -> Frame:
    """Return the rows of frames with the same columns, one after the other."""
    rows: list[Any] = [each for each in map(arrow_rows, parts) if isinstance(each, ArrowRows)]
    if len(rows) == len(parts):
        return cast("Frame", ArrowRows.stack(rows))
    return nw.concat(parts)


def sum_by(frame: Frame, by: Sequence[str], measures: Sequence[str]) -> Frame:
    """
    Add up measures by columns; without columns, to one row.

    Rows with a missing key are one group. Categorical keys become text.
    """
    if not by:
        return frame.select(C(*measures).sum())
    totals = frame.group_by(*by).agg(C(*measures).sum())
    schema = totals.collect_schema()
    coded = [name for name in by if is_categorical(schema[name])]
    return totals.with_columns(C(*coded).cast(nw.String)) if coded else totals


def to_dicts(frame: Frame) -> list[dict[str, Any]]:
    """Collect a frame into a list of one dict per row; missing values are None."""
    rows: list[dict[str, Any]] = to_arrow(frame).to_pylist()
    return rows


def to_arrow(frame: Frame) -> pa.Table:
    """Collect a frame into an Arrow table."""
    return cast("nw.DataFrame[Any]", collect(frame)).to_arrow()


def from_arrow(frame: Frame, table: pa.Table) -> Frame:
    """Convert an Arrow table to a frame of the same engine as `frame`."""
    # In the analyses, frames of pandas are Arrow tables.
    make = _FROM_ARROW.get(frame.implementation.name)
    return cast("Frame", nw.from_native(make(frame.to_native(), table) if make else table))


def ids_frame(frame: Frame, column: str, ids: Iterable[str]) -> Frame:
    """Return ids as a frame of the same engine as `frame`, to select rows by a join."""
    return from_arrow(frame, pa.table({column: pa.array(list(ids), pa.string())}))


def eager_from_arrow(frame: Frame, table: pa.Table) -> Frame:
    """Convert an Arrow table to the kind of frame that `collect(frame)` returns: Polars for Polars, else Arrow."""
    return cast(
        "Frame", nw.from_native(_polars(None, table)) if frame.implementation.is_polars() else ArrowRows.of(table)
    )


def _make_nullable(frame: Frame) -> Frame:
    """Make all columns nullable. Spark declares some as not nullable, and Arrow concatenates only equal types."""
    table = frame.to_native()
    if not isinstance(table, pa.Table) or all(field.nullable for field in table.schema):
        return frame
    return cast("Frame", nw.from_native(table.cast(pa.schema([each.with_nullable(True) for each in table.schema]))))


def arrow_rows(frame: Frame) -> Frame:
    """Return a frame of pandas or Arrow as `ArrowRows`, which converts a column when it is used; others unchanged."""
    kind = frame.implementation
    if isinstance(frame, ArrowRows) or not (kind.is_pandas() or kind.is_pyarrow()):
        return frame
    native: Any = frame.to_native()
    columns = {name: partial(arrow_column, native, name) for name in frame.columns}
    return cast("Frame", ArrowRows.later(columns, len(native)))


def _polars(native: Any, table: pa.Table) -> Any:
    import polars as pl

    frame: Any = pl.from_arrow(table)
    return frame.lazy() if isinstance(native, pl.LazyFrame) else frame


def _duckdb(native: Any, given_rows: pa.Table) -> Any:
    # A query of the relation puts the result on its connection. DuckDB finds the Python variable by its name.
    return native.query("_unused", "select * from given_rows")


def _pyspark(native: Any, table: pa.Table) -> Any:
    # Spark reads dates without a time zone as instants in its own zone. The cast removes that zone again.
    dates = [nw.col(field.name).cast(nw.Datetime("us")) for field in table.schema if field.type == pa.timestamp("us")]
    frame = native.sparkSession.createDataFrame(table)
    return nw.from_native(frame).with_columns(*dates).to_native() if dates else frame


def _ibis(_native: Any, table: pa.Table) -> Any:
    import ibis

    return ibis.memtable(table)


_FROM_ARROW: dict[str, Any] = {"POLARS": _polars, "DUCKDB": _duckdb, "PYSPARK": _pyspark, "IBIS": _ibis}
SUPPORTED = frozenset({"PANDAS", "PYARROW", *_FROM_ARROW})
"""The engines that analyses support, by their names in Narwhals."""
