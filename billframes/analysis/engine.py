"""Run passes over all rows in the fastest way of each engine, and convert rows to Python and back.

Polars plans eager frames as a whole, from `lazy` to `collect`, and copies nothing in between. Arrow's own join copies
every column of both sides; `join_by_id` and `full_join_by_id` look ids up and add only the columns found.

A lazy engine adds the rows up. Everything after that is done in memory, with the few sums that `collect` returns: there
it takes milliseconds, while a database plans each step anew. `collect_values` and `collect_counts` take all that
warnings need of whole frames in one query.

Medians, calendars and lists of codes are computed in Python, over few rows. `to_native` in `frames` converts the result
to the kind of frame that was passed in, lazy if that was lazy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from billframes.analysis.column_types import Frame

__all__ = [
    "collect",
    "collect_counts",
    "collect_sums",
    "collect_values",
    "eager_from_arrow",
    "from_arrow",
    "full_join_by_id",
    "join_by_id",
    "lazy",
    "sum_by",
    "to_arrow",
    "to_dicts",
]

C = nw.col

# Polars' streaming engine takes milliseconds to start; from this many rows on it is quicker.
_MANY = 200_000


def lazy(frame: Frame) -> Frame:
    """Make an eager Polars frame lazy, until `collect`; leave others as they are."""
    native = frame.to_native()
    return cast("Frame", nw.from_native(native.lazy())) if _eager_polars(frame) else frame


def collect(frame: Frame, like: Frame | None = None) -> Frame:
    """
    Compute a lazy frame now: its rows come into memory, as Polars or Arrow has them.

    With `like`, only what `lazy` made lazy is computed: a frame stays lazy if `like` is lazy.
    """
    if not isinstance(frame, nw.LazyFrame):
        return frame
    if like is None:
        return _nullable(cast("Frame", frame.collect()))
    if isinstance(like, nw.DataFrame) and _eager_polars(like):
        few = like.shape[0] < _MANY
        return cast("Frame", frame.collect(engine="in-memory" if few else "auto"))
    return frame


def collect_values(*queries: tuple[Frame, Mapping[str, nw.Expr]]) -> dict[str, Any]:
    """
    Compute values of whole frames, such as sums and the earliest date; of all lazy frames in one query.

    Parameters
    ----------
    *queries : tuple of Frame and mapping of str to Expr
        Frames, the lazy ones of one engine, with the values to compute of each by their names, which all differ.

    Returns
    -------
    dict of str to object
        By name; None if missing.
    """
    rows = [frame.select(**values) for frame, values in queries if values]
    lazily = [row for row in rows if isinstance(row, nw.LazyFrame)]
    if len(lazily) > 1:
        names = [name for frame, values in queries if isinstance(frame, nw.LazyFrame) for name in values]
        # Each name has a value in one row; in the others it is missing.
        together = nw.concat(lazily, how="diagonal").select(C(*names).max())
        rows = [together, *(row for row in rows if isinstance(row, nw.DataFrame))]
    return {name: value for row in rows for name, value in to_dicts(row)[0].items()}


def collect_counts(*queries: tuple[Frame, Mapping[str, nw.Expr]]) -> dict[str, float]:
    """Compute the sums that warnings need, as `collect_values` does; the sum and the maximum of no rows are 0."""
    return {name: 0.0 if value is None else float(value) for name, value in collect_values(*queries).items()}


def join_by_id(frame: Frame, other: Frame, on: str, how: Literal["left", "inner"] = "left") -> Frame:
    """Join a frame that has each id once; a missing id finds nothing. What is in memory stays there."""
    other = collect(other) if isinstance(frame, nw.DataFrame) else other
    left, right = frame.to_native(), other.to_native()
    if isinstance(left, pa.Table) and isinstance(right, pa.Table):
        return cast("Frame", nw.from_native(_looked_up(left, right, on, how)))
    return frame.join(lazy(other) if isinstance(frame, nw.LazyFrame) else other, on=on, how=how)


def full_join_by_id(frame: Frame, other: Frame, on: str) -> Frame:
    """Join two frames that have each id once, none of them missing; ids that only `other` has come last."""
    if isinstance(frame, nw.LazyFrame):
        renamed = other.rename({on: "_other_id"})
        joined = frame.join(renamed, left_on=on, right_on="_other_id", how="full")
        return joined.with_columns(nw.coalesce(on, "_other_id").alias(on)).drop("_other_id")
    # Full joins of Polars and Arrow copy and reorder everything for the sake of a few rows, or of none.
    marked = join_by_id(frame, other.with_columns(_found=nw.lit(1.0)), on)
    joined, found = marked.drop("_found"), cast("nw.DataFrame[Any]", marked).get_column("_found").count()
    rest = len(cast("nw.DataFrame[Any]", other)) - found
    return nw.concat([joined, _not_in(other, frame, on)], how="diagonal") if rest else joined


def sum_by(frame: Frame, by: Sequence[str], measures: Sequence[str]) -> Frame:
    """
    Add up measures over columns, or over everything, to one row, if there are none.

    A missing key is a value like any other; keys that are still categorical become text.
    """
    if not by:
        return frame.select(C(*measures).sum())
    totals = frame.group_by(*by).agg(C(*measures).sum())
    schema = totals.collect_schema()
    coded = [name for name in by if schema[name] in (nw.Categorical, nw.Enum)]
    return totals.with_columns(C(*coded).cast(nw.String)) if coded else totals


def collect_sums(frame: Frame, by: Sequence[str], measures: Sequence[str]) -> Frame:
    """Collect the sums of a lazy frame; what is in memory stays as it is, to be added up with the rest."""
    return collect(sum_by(frame, by, measures)) if isinstance(frame, nw.LazyFrame) else frame


def to_dicts(frame: Frame) -> list[dict[str, Any]]:
    """Collect a frame into one dict a row, missing as None."""
    rows: list[dict[str, Any]] = to_arrow(frame).to_pylist()
    return rows


def to_arrow(frame: Frame) -> pa.Table:
    """Collect a frame into an Arrow table."""
    return cast("nw.DataFrame[Any]", collect(frame)).to_arrow()


def from_arrow(frame: Frame, table: pa.Table) -> Frame:
    """Turn an Arrow table into a frame of the same engine as `frame`."""
    native: Any = frame.to_native()
    return cast("Frame", nw.from_native(_MAKERS[frame.implementation.name](native, table)))


def eager_from_arrow(frame: Frame, table: pa.Table) -> Frame:
    """Turn an Arrow table into what `collect` makes of `frame`: a Polars frame of those of Polars."""
    made = _polars(None, table) if frame.implementation.is_polars() else table
    return cast("Frame", nw.from_native(made))


def _nullable(frame: Frame) -> Frame:
    """Let any value be missing: Spark says of some columns that none is, and Arrow puts only equal types together."""
    table = frame.to_native()
    if not isinstance(table, pa.Table) or all(field.nullable for field in table.schema):
        return frame
    return cast("Frame", nw.from_native(table.cast(pa.schema([each.with_nullable(True) for each in table.schema]))))


def _eager_polars(frame: Frame) -> bool:
    return isinstance(frame, nw.DataFrame) and frame.implementation.is_polars()


def _looked_up(left: pa.Table, right: pa.Table, on: str, how: str) -> pa.Table:
    at = pc.index_in(left[on], value_set=right[on].combine_chunks(), skip_nulls=True)
    if how == "inner":
        left, at = left.filter(at.is_valid()), at.drop_null()
    for name in right.column_names:
        left = left if name == on else left.append_column(name, right[name].combine_chunks().take(at))
    return left


def _not_in(frame: Frame, other: Frame, on: str) -> Frame:
    native = frame.to_native()
    if isinstance(native, pa.Table):
        ids = other.to_native()[on].combine_chunks()
        return cast("Frame", nw.from_native(native.filter(pc.invert(pc.is_in(native[on], value_set=ids)))))
    return frame.join(other.select(on), on=on, how="anti")


def _polars(native: Any, table: pa.Table) -> Any:
    import polars as pl

    made: Any = pl.from_arrow(table)
    return made.lazy() if isinstance(native, pl.LazyFrame) else made


def _duckdb(native: Any, given_rows: pa.Table) -> Any:
    # Asked through the relation, so that the result is on its connection; DuckDB finds the argument by its name.
    return native.query("_unused", "select * from given_rows")


def _pyspark(native: Any, table: pa.Table) -> Any:
    # Spark takes dates without a time zone for instants in its own; the cast takes them back in the same zone.
    dates = [nw.col(field.name).cast(nw.Datetime("us")) for field in table.schema if field.type == pa.timestamp("us")]
    made = native.sparkSession.createDataFrame(table)
    return nw.from_native(made).with_columns(*dates).to_native() if dates else made


_MAKERS: dict[str, Any] = {
    # Inside, pandas' columns are Arrow tables.
    "PANDAS": lambda native, table: table,
    "PYARROW": lambda native, table: table,
    "POLARS": _polars,
    "DUCKDB": _duckdb,
    "PYSPARK": _pyspark,
}
