"""From frames to Python's rows, and from Arrow back to the engine that the frames came from.

Medians, calendars and lists of codes are worked out in Python, over few rows. What comes of them goes back as the
kind of frame that was passed in, lazy where that was lazy.
"""

from __future__ import annotations

from typing import Any, cast

import narwhals.stable.v2 as nw
import pyarrow as pa

from billframes.analysis._frames import Frame

__all__ = ["gathered", "like", "rows_of"]


def gathered(frame: Frame) -> Frame:
    """Collect a lazy frame now; an eager one stays as it is."""
    return cast("Frame", frame.collect()) if isinstance(frame, nw.LazyFrame) else frame


def rows_of(frame: Frame) -> list[dict[str, Any]]:
    """Collect a frame into one dict a row, missing as None."""
    eager = cast("nw.DataFrame[Any]", gathered(frame))
    rows: list[dict[str, Any]] = eager.to_arrow().to_pylist()
    return rows


def like(frame: Frame, table: pa.Table) -> Frame:
    """Turn an Arrow table into a frame of the same engine as `frame`."""
    native: Any = frame.to_native()
    return cast("Frame", nw.from_native(_MAKERS[frame.implementation.name](native, table)))


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
