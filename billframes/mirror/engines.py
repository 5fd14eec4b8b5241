"""Hand a resource over to an engine as a lazy table: the files of one version, with what other records show joined.

Nothing is loaded here. Each engine is given the list of files that the version names, so a refresh that goes on
meanwhile changes nothing. Categories are text and times of day microseconds since midnight, as stored; everything else
has the frame's columns and types.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow.dataset as ds

from billframes._names import closest
from billframes.errors import MirrorError, ParameterError
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Reference, Table
from billframes.schema.sources import sources_of

__all__ = ["ENGINES", "MEMORY_LIMIT", "scan"]

# What DuckDB may hold; it takes most of a machine's memory by itself.
MEMORY_LIMIT = "1GB"


def scan(snapshot: Snapshot, resource: str, engine: str, session: Any, memory_limit: str = MEMORY_LIMIT) -> Any:
    """Return a resource as an engine's lazy table."""
    if resource not in TABLES:
        raise ParameterError(
            f"{resource!r} is not a resource of a mirror; it takes {', '.join(TABLES)}.{closest(resource, TABLES)}"
        )
    if engine not in ENGINES:
        raise ParameterError(
            f"engine={engine!r} is not known; it takes {', '.join(map(repr, ENGINES))}.{closest(engine, ENGINES)}"
        )
    try:
        if engine == "duckdb" and session is None:
            session = _limited(memory_limit)
        return ENGINES[engine](snapshot, TABLES[resource], session)
    except ImportError as error:
        raise MirrorError(
            f"engine={engine!r} needs {error.name}, which is not installed: "
            f"pip install 'billframes[{_EXTRAS[engine]}]'."
        ) from error


def _arrow(snapshot: Snapshot, table: Table, _session: Any) -> ds.Dataset:
    """Return the files as stored: an Arrow dataset has no lazy joins."""
    return snapshot.storage.dataset(table.name, snapshot.version.tables[table.name])


def _polars(snapshot: Snapshot, table: Table, _session: Any) -> Any:
    import polars as pl

    def read(name: str) -> Any:
        files = _files(snapshot, name)
        if not files:
            schema = snapshot.storage.schema(name, snapshot.version.tables[name])
            return pl.LazyFrame(pl.from_arrow(schema.empty_table()))
        return pl.scan_parquet(files, hive_partitioning=False, storage_options=_options(snapshot))

    return _joined(snapshot, table, read)


def _duckdb(snapshot: Snapshot, table: Table, session: Any) -> Any:
    def read(name: str) -> Any:
        files = _files(snapshot, name)
        if not files:
            empty = snapshot.storage.schema(name, snapshot.version.tables[name]).empty_table()
            return session.from_arrow(empty)
        return session.read_parquet(files, hive_partitioning=False)

    return _joined(snapshot, table, read)


def _limited(memory_limit: str) -> Any:
    """Return DuckDB's default connection, with a limit unless its user has set one."""
    import duckdb

    with duckdb.connect() as fresh:
        if _setting(duckdb, "memory_limit") == _setting(fresh, "memory_limit"):
            # By itself it writes what exceeds the limit, a firm's data, to the folder that one works in.
            if _setting(duckdb, "temp_directory") == _setting(fresh, "temp_directory"):
                with contextlib.suppress(duckdb.Error):
                    duckdb.execute("SET temp_directory = ?", [_private_folder().name])
            try:
                # Rows in the order of the files would be kept in memory until they can be put into it.
                duckdb.execute("SET preserve_insertion_order = false")
                duckdb.execute("SET memory_limit = ?", [memory_limit])
            except duckdb.Error as error:
                raise ParameterError(
                    f"memory_limit={memory_limit!r} is not one that DuckDB takes; it takes one such as '1GB'. ({error})"
                ) from error
    return duckdb


@functools.cache
def _private_folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that only its owner reads, removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="billframes-", ignore_cleanup_errors=True)


def _setting(connection: Any, name: str) -> Any:
    return connection.execute(f"SELECT current_setting('{name}')").fetchall()


def _pyspark(snapshot: Snapshot, table: Table, session: Any) -> Any:
    from pyspark.sql import SparkSession

    spark = session or SparkSession.builder.getOrCreate()

    def read(name: str) -> Any:
        files = _files(snapshot, name)
        if not files:
            empty = snapshot.storage.schema(name, snapshot.version.tables[name]).empty_table()
            return spark.createDataFrame(empty)
        return spark.read.parquet(*files)

    return _joined(snapshot, table, read)


ENGINES: dict[str, Callable[[Snapshot, Table, Any], Any]] = {
    "arrow": _arrow,
    "polars": _polars,
    "duckdb": _duckdb,
    "pyspark": _pyspark,
}
_EXTRAS = {"arrow": "mirror", "polars": "polars", "duckdb": "duckdb", "pyspark": "spark"}


def _files(snapshot: Snapshot, name: str) -> list[str]:
    return [part.uri for part in snapshot.storage.parts(name, snapshot.version.tables[name]) if part.rows]


def _options(snapshot: Snapshot) -> dict[str, str] | None:
    return snapshot.storage.options or None


def _joined(snapshot: Snapshot, table: Table, read: Callable[[str], Any]) -> Any:
    """Join what other records show, and put the columns in the frame's order."""
    stored = snapshot.columns(table.name)
    rows = nw.from_native(read(table.name)).select([name for name in stored if name != POSITION])
    for number, reference in enumerate(table.references):
        if reference.key != "originator_ids":
            rows = _join(rows, reference, read, number)
    declared = [source.column.name for source in sources_of(table.resource.record)] if table.resource else []
    there = rows.collect_schema().names()
    order = [name for name in declared if name in there]
    return rows.select([*order, *(name for name in there if name not in order)]).to_native()


def _join(rows: Any, reference: Reference, read: Callable[[str], Any], number: int) -> Any:
    own = dict(reference.columns)
    key, known = f"_key{number}", TABLES[reference.table]
    listed = nw.from_native(read(reference.table)).select(
        nw.col(known.id).alias(key), *(nw.col(column).alias(name) for name, column in own.items())
    )
    seen = (
        nw.from_native(read(REFERENCES.name))
        .filter(nw.col("table") == reference.table)
        .select(nw.col("id").alias(key), *(nw.col(column).alias(f"_{name}") for name, column in own.items()))
    )
    rows = rows.join(listed, left_on=reference.key, right_on=key, how="left")
    rows = rows.join(seen, left_on=reference.key, right_on=key, how="left")
    names = _without(rows.collect_schema().names(), [key, *own, *(f"_{name}" for name in own)])
    return rows.select(*names, *(nw.coalesce(nw.col(name), nw.col(f"_{name}")).alias(name) for name in own))


def _without(names: Sequence[str], leave: Sequence[str]) -> list[str]:
    return [name for name in names if name not in leave]
