"""Open a resource in another engine as a lazy table: the files of one version, joined with columns of other records.

Nothing is loaded here. Each engine gets the list of the version's files, so a refresh at the same time does not change
the table. Categories are text and times of day are microseconds since midnight, as they are stored. Everything else has
the columns and types of the loader's frame.
"""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from billframes._shared.forks import check_library, remove_at_end
from billframes._shared.names import closest
from billframes.errors import MirrorError, ParameterError
from billframes.mirror.snapshot import Snapshot
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Table, TableReference
from billframes.schema.sources import sources_of

# DuckDB's limit for memory; without a limit, it takes most of the machine's memory.
MEMORY_LIMIT = "1GB"

_OpenTable = Callable[[str], Any]
"""Opens the files of a table, by its name, as an engine's lazy table."""


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
        # Without columns of other records, because an Arrow dataset has no lazy joins.
        return snapshot.dataset(resource)
    try:
        if session is None:
            check_library(engine, MirrorError)
        if engine == "duckdb" and session is None:
            session = _duckdb_with_limit(memory_limit)
        return _join_references(snapshot, TABLES[resource], ENGINES[engine](snapshot, session), columns)
    except ImportError as error:
        extra = "spark" if engine == "pyspark" else engine
        raise MirrorError(
            f"engine={engine!r} needs {error.name}, which is not installed: pip install 'billframes[{extra}]'."
        ) from error


def _polars(snapshot: Snapshot, _session: Any) -> _OpenTable:
    import polars as pl

    def open_table(name: str) -> Any:
        files = snapshot.files(name)
        if not files:
            return pl.LazyFrame(pl.from_arrow(snapshot.empty(name)))
        return pl.scan_parquet(
            files, hive_partitioning=False, storage_options=snapshot.storage.options.reveal() or None
        )

    return open_table


def _duckdb(snapshot: Snapshot, session: Any) -> _OpenTable:
    def open_table(name: str) -> Any:
        files = snapshot.files(name)
        if files and snapshot.storage.local:
            return session.read_parquet(files, hive_partitioning=False)
        # DuckDB can't read a bucket without extensions, or an empty list of files.
        return session.from_arrow(snapshot.dataset(name))

    return open_table


def _duckdb_with_limit(memory_limit: str) -> Any:
    """Return DuckDB's default connection, with a limit unless its user has set one."""
    import duckdb

    with duckdb.connect() as fresh:
        if _setting(duckdb, "memory_limit") == _setting(fresh, "memory_limit"):
            # By default, it writes data that exceed the limit to the current folder, where others may read them.
            if _setting(duckdb, "temp_directory") == _setting(fresh, "temp_directory"):
                with contextlib.suppress(duckdb.Error):
                    duckdb.execute("SET temp_directory = ?", [_private_folder()])
            try:
                # To keep the order of the files, it would need more memory.
                duckdb.execute("SET preserve_insertion_order = false")
                duckdb.execute("SET memory_limit = ?", [memory_limit])
            except duckdb.Error as error:
                raise ParameterError(
                    f"memory_limit={memory_limit!r} is not a limit that DuckDB accepts, such as '1GB'. ({error})"
                ) from error
    return duckdb


@functools.cache
def _private_folder() -> str:
    folder = tempfile.mkdtemp(prefix="billframes-")
    remove_at_end(Path(folder), _private_folder)
    return folder


def _setting(connection: Any, name: str) -> Any:
    return connection.execute(f"SELECT current_setting('{name}')").fetchall()


def _pyspark(snapshot: Snapshot, session: Any) -> _OpenTable:
    from pyspark.sql import SparkSession

    spark = session or SparkSession.builder.getOrCreate()

    def open_table(name: str) -> Any:
        # Hadoop's scheme for buckets.
        files = [uri.replace("s3://", "s3a://", 1) for uri in snapshot.files(name)]
        return spark.read.parquet(*files) if files else spark.createDataFrame(snapshot.empty(name))

    return open_table


ENGINES: dict[str, Callable[[Snapshot, Any], _OpenTable]] = {"polars": _polars, "duckdb": _duckdb, "pyspark": _pyspark}


def _join_references(snapshot: Snapshot, table: Table, open_table: _OpenTable, columns: Collection[str] | None) -> Any:
    stored = [name for name in snapshot.columns(table.name) if name != POSITION and name not in table.shown]
    references = [each for each in table.references if not each.shown]
    names = _select_names(table, [*stored, *(name for each in references for name in each.columns)], columns)
    rows = nw.from_native(open_table(table.name)).select(stored)
    for number, reference in enumerate(references):
        if reference.columns.keys() & {*names}:
            key = f"_key{number}"
            reference_rows = _reference_rows(snapshot, reference, key, open_table)
            rows = rows.join(reference_rows, left_on=reference.key, right_on=key, how="left")
    return rows.select(names).to_native()


def _select_names(table: Table, there: Collection[str], columns: Collection[str] | None) -> list[str]:
    for name in columns or ():
        if name not in there:
            raise ParameterError(f"{name!r} is not a column of {table.name}.{closest(name, there)}")
    declared = [source.column.name for source in sources_of(table.resource.record)] if table.resource else []
    order = dict.fromkeys([*(name for name in declared if name in there), *there])
    return [name for name in order if columns is None or name in columns]


def _reference_rows(snapshot: Snapshot, reference: TableReference, key: str, open_table: _OpenTable) -> Any:
    """Return the shown columns of another table's records, also of records that are no longer in its list."""
    own = dict(reference.columns)

    def shown(rows: Any, id_: str) -> Any:
        return rows.select(nw.col(id_).alias(key), *(nw.col(column).alias(name) for name, column in own.items()))

    listed = shown(nw.from_native(open_table(reference.table)), TABLES[reference.table].id)
    if not snapshot.unlisted(reference.table).num_rows:
        return listed
    unlisted = shown(nw.from_native(open_table(REFERENCES.name)).filter(nw.col("table") == reference.table), "id")
    return nw.concat([listed, unlisted.join(listed.select(key), on=key, how="anti")])
