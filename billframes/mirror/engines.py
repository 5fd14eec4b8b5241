"""Hand a resource over to an engine as a lazy table: the files of one version, with what other records show joined.

Nothing is loaded here. Each engine is given the list of files that the version names, so a refresh that goes on
meanwhile changes nothing. Categories are text and times of day microseconds since midnight, as stored; everything else
has the frame's columns and types.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Collection
from typing import Any

import narwhals.stable.v2 as nw

from billframes._names import closest
from billframes.errors import MirrorError, ParameterError
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Reference, Table
from billframes.schema.sources import sources_of

__all__ = ["ENGINES", "MEMORY_LIMIT", "scan"]

# What DuckDB may hold; it takes most of a machine's memory by itself.
MEMORY_LIMIT = "1GB"

_Read = Callable[[str], Any]
"""Opens a table's files as an engine's lazy table."""


def scan(
    snapshot: Snapshot,
    resource: str,
    engine: str,
    session: Any,
    columns: Collection[str] | None = None,
    memory_limit: str = MEMORY_LIMIT,
) -> Any:
    """Return a resource as an engine's lazy table."""
    if resource not in TABLES:
        raise ParameterError(
            f"{resource!r} is not a resource of a mirror; it takes {', '.join(TABLES)}.{closest(resource, TABLES)}"
        )
    if engine not in (*ENGINES, "arrow"):
        raise ParameterError(
            f"engine={engine!r} is not known; it takes {', '.join(map(repr, ENGINES))} and 'arrow'."
            f"{closest(engine, ENGINES)}"
        )
    if engine == "arrow":
        if columns is not None:
            raise ParameterError("columns= is for other engines; give a dataset's columns to its to_table(columns=…).")
        # The files as stored: an Arrow dataset has no lazy joins.
        return snapshot.storage.dataset(resource, snapshot.version.tables[resource])
    try:
        if engine == "duckdb" and session is None:
            session = _limited(memory_limit)
        return _joined(snapshot, TABLES[resource], ENGINES[engine](snapshot, session), columns)
    except ImportError as error:
        raise MirrorError(
            f"engine={engine!r} needs {error.name}, which is not installed: "
            f"pip install 'billframes[{_EXTRAS[engine]}]'."
        ) from error


def _polars(snapshot: Snapshot, _session: Any) -> _Read:
    import polars as pl

    def read(name: str) -> Any:
        files = snapshot.files(name)
        if not files:
            return pl.LazyFrame(pl.from_arrow(snapshot.empty(name)))
        return pl.scan_parquet(files, hive_partitioning=False, storage_options=snapshot.storage.options or None)

    return read


def _duckdb(snapshot: Snapshot, session: Any) -> _Read:
    def read(name: str) -> Any:
        files = snapshot.files(name)
        if files and snapshot.storage.local:
            return session.read_parquet(files, hive_partitioning=False)
        # By itself DuckDB reads no bucket, and no list without files.
        return session.from_arrow(snapshot.storage.dataset(name, snapshot.version.tables[name]))

    return read


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


def _pyspark(snapshot: Snapshot, session: Any) -> _Read:
    from pyspark.sql import SparkSession

    spark = session or SparkSession.builder.getOrCreate()

    def read(name: str) -> Any:
        # Hadoop's name for buckets.
        files = [uri.replace("s3://", "s3a://", 1) for uri in snapshot.files(name)]
        return spark.read.parquet(*files) if files else spark.createDataFrame(snapshot.empty(name))

    return read


ENGINES: dict[str, Callable[[Snapshot, Any], _Read]] = {"polars": _polars, "duckdb": _duckdb, "pyspark": _pyspark}
_EXTRAS = {"polars": "polars", "duckdb": "duckdb", "pyspark": "spark"}


def _joined(snapshot: Snapshot, table: Table, read: _Read, columns: Collection[str] | None) -> Any:
    """Join what other records show, and put the columns in the frame's order."""
    stored = [name for name in snapshot.columns(table.name) if name != POSITION]
    references = [each for each in table.references if each.key != "originator_ids"]
    names = _chosen(table, [*stored, *(name for each in references for name in each.columns)], columns)
    rows = nw.from_native(read(table.name)).select(stored)
    for number, reference in enumerate(references):
        if reference.columns.keys() & {*names}:
            key = f"_key{number}"
            known = _known(snapshot, reference, key, read)
            rows = rows.join(known, left_on=reference.key, right_on=key, how="left")
    return rows.select(names).to_native()


def _chosen(table: Table, there: Collection[str], columns: Collection[str] | None) -> list[str]:
    """Return the columns that are asked for, in the frame's order."""
    for name in columns or ():
        if name not in there:
            raise ParameterError(f"{name!r} is not a column of {table.name}.{closest(name, there)}")
    declared = [source.column.name for source in sources_of(table.resource.record)] if table.resource else []
    order = dict.fromkeys([*(name for name in declared if name in there), *there])
    return [name for name in order if columns is None or name in columns]


def _known(snapshot: Snapshot, reference: Reference, key: str, read: _Read) -> Any:
    """Return what rows show of another table's records, those included that are in no list any more."""
    own = dict(reference.columns)

    def shown(rows: Any, id_: str) -> Any:
        return rows.select(nw.col(id_).alias(key), *(nw.col(column).alias(name) for name, column in own.items()))

    listed = shown(nw.from_native(read(reference.table)), TABLES[reference.table].id)
    if not snapshot.seen(reference.table).num_rows:
        return listed
    seen = shown(nw.from_native(read(REFERENCES.name)).filter(nw.col("table") == reference.table), "id")
    return nw.concat([listed, seen.join(listed.select(key), on=key, how="anti")])
