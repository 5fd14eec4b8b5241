"""Delta tables in a folder or a bucket: read at a version, write whole tables or partitions.

Rows are read from the files that a version names, with pyarrow: deltalake's own readers sometimes abort the interpreter
when it exits. A write replaces whole partitions, so a partition is one file (or few), sorted by date, without rows
marked as deleted: any engine can read the files as they are.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from billframes.errors import MirrorError
from billframes.mirror.tables import PARTITION

__all__ = ["Part", "Storage", "check_installed"]

# Versions are kept until `vacuum`, and so is the log. Checkpoints keep a table quick to open.
_CONFIGURATION = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
    "delta.checkpointInterval": "10",
}
# A higher level takes longer and, because ids hardly compress, gives no smaller files.
_LEVEL = 1
# Columns that hardly repeat a value: a dictionary of their values would save nothing.
_DISTINCT = frozenset({"time_entry_id", "expense_id", "created_at", "modified_at"})
# Bytes that a commit takes besides its rows.
_COMMIT = 256 * 1024
# Bytes that a disk gives a file at a time.
_BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a table: its address, partition, rows and bytes."""

    uri: str
    partition: str | None
    rows: int
    size: int


class Storage:
    """
    The tables in one place.

    Parameters
    ----------
    place : str or Path
        A folder, or the address of a bucket such as "s3://firm/mirror".
    options : mapping of str to str, optional
        Options of the object store, as deltalake takes them.
    """

    def __init__(self, place: str | Path, options: Mapping[str, str] | None = None) -> None:
        self.place = str(place)
        self.options = dict(options or {})
        self.local = None if "://" in self.place else Path(self.place).expanduser().absolute()
        self._looked_up: dict[tuple[str, int], tuple[tuple[Part, ...], pa.Schema]] = {}

    def uri(self, name: str) -> str:
        """Return where a table is."""
        return str(self.local / name) if self.local else f"{self.place.rstrip('/')}/{name}"

    def exists(self, name: str) -> bool:
        """Tell whether there is a table of this name."""
        from deltalake import DeltaTable

        with self._said():
            if self.local and not (self.local / name / "_delta_log").is_dir():
                return False
            return bool(DeltaTable.is_deltatable(self.uri(name), self.options))

    def version(self, name: str) -> int:
        """Return the newest version of a table."""
        table = self._open(name)
        self._remember(name, table)
        return int(table.version())

    def parts(self, name: str, version: int) -> tuple[Part, ...]:
        """Return the files of a table at a version, in the order of their partitions."""
        return self._look_up(name, version)[0]

    def dataset(
        self, name: str, version: int, partitions: Collection[str] | None = None, parts: Sequence[Part] | None = None
    ) -> ds.Dataset:
        """
        Open a table's files at a version.

        Parameters
        ----------
        partitions : collection of str, optional
            Only these; None is all.
        parts : sequence of Part, optional
            Only these files.
        """
        every = self.parts(name, version)
        chosen = every if parts is None else parts
        if partitions is not None:
            chosen = [part for part in chosen if part.partition in partitions]
        system, paths = self._paths(chosen)
        return ds.dataset(paths, schema=self.schema(name, version), format="parquet", filesystem=system)

    def read(
        self,
        name: str,
        version: int,
        columns: Sequence[str] | None = None,
        rows: ds.Expression | None = None,
        partitions: Collection[str] | None = None,
    ) -> pa.Table:
        """Read a table at a version."""
        with self._said():
            return self.dataset(name, version, partitions).to_table(columns=columns, filter=rows)

    def schema(self, name: str, version: int) -> pa.Schema:
        """Return the columns that the files of a table hold."""
        return self._look_up(name, version)[1]

    def write(self, name: str, rows: pa.Table, *, append: bool = False) -> int:
        """Replace a table, or add rows to it; return its new version."""
        partitioned = PARTITION in rows.column_names
        known = self.exists(name)
        return self._write(
            name,
            rows,
            mode="append" if append else "overwrite",
            schema_mode=None if append or not known else "overwrite",
            partition_by=[PARTITION] if partitioned else None,
            configuration=None if known else _CONFIGURATION,
        )

    def replace(self, name: str, rows: pa.Table, partitions: Collection[str]) -> int:
        """Replace some partitions of a table by these rows; return its new version."""
        listed = ", ".join(f"'{each}'" for each in sorted(partitions))
        if not rows.num_rows:
            from deltalake import DeltaTable

            with self._said():
                table = DeltaTable(self.uri(name), storage_options=self.options)
                table.delete(f"{PARTITION} IN ({listed})")
                return int(table.version())
        return self._write(
            name, rows, mode="overwrite", predicate=f"{PARTITION} IN ({listed})", partition_by=[PARTITION]
        )

    def write_at(self, name: str, rows: pa.Table, at: int | None) -> None:
        """Replace a table that is still at a version; refuse if it is not (None: if there is one)."""
        if at is None:
            self._write(name, rows, mode="error", configuration=_CONFIGURATION)
            return
        from deltalake import write_deltalake

        with self._said():
            self._check_room(rows)
            write_deltalake(self._open(name, at), rows, mode="overwrite")

    def restore(self, name: str, version: int) -> int:
        """Restore a table to a version if it differs; return its newest version."""
        table = self._open(name)
        if table.version() == version:
            return version
        with self._said():
            table.restore(version)
        return int(table.version())

    def vacuum(self, name: str, versions: Sequence[int]) -> int:
        """Remove the files that none of these versions needs, and return their number."""
        table = self._open(name)
        with self._said():
            gone = table.vacuum(
                retention_hours=0,
                dry_run=False,
                enforce_retention_duration=False,
                full=True,
                keep_versions=sorted({*versions, table.version()}),
            )
        return len(gone)

    def _open(self, name: str, version: int | None = None) -> Any:
        from deltalake import DeltaTable

        with self._said():
            return DeltaTable(self.uri(name), version=version, storage_options=self.options)

    def _write(self, name: str, rows: pa.Table, **how: Any) -> int:
        from deltalake import ColumnProperties, WriterProperties, write_deltalake

        properties = WriterProperties(
            compression="ZSTD",
            compression_level=_LEVEL,
            column_properties=dict.fromkeys(
                _DISTINCT & {*rows.column_names}, ColumnProperties(dictionary_enabled=False)
            ),
        )
        how = {key: value for key, value in how.items() if value is not None}
        with self._said():
            self._check_room(rows)
            write_deltalake(
                self.uri(name),
                # In one piece: pieces are written side by side, in any order.
                rows.combine_chunks(),
                storage_options=self.options,
                writer_properties=properties,
                **how,
            )
        return self.version(name)

    def _check_room(self, rows: pa.Table) -> None:
        """Raise the error of a full disk before the disk is full, because deltalake then prints pages of text."""
        if self.local is None:
            return
        free = shutil.disk_usage(self.local).free - _COMMIT
        if free < rows.nbytes and free < _size(rows):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _look_up(self, name: str, version: int) -> tuple[tuple[Part, ...], pa.Schema]:
        """Return the files and columns of a table at a version, which never change."""
        if (name, version) not in self._looked_up:
            self._remember(name, self._open(name, version))
        return self._looked_up[name, version]

    def _remember(self, name: str, table: Any) -> None:
        with self._said():
            actions = pa.table(table.get_add_actions(flatten=True))
            fields = pa.schema(table.schema().to_arrow())
        schema = pa.schema([_plain(each) for each in fields if each.name != PARTITION])
        self._looked_up[name, int(table.version())] = self._listed(name, actions), schema

    def _listed(self, name: str, actions: pa.Table) -> tuple[Part, ...]:
        partition = f"partition.{PARTITION}"
        partitions = (
            actions.column(partition).to_pylist() if partition in actions.column_names else [None] * actions.num_rows
        )
        found = [
            Part(f"{self.uri(name)}/{unquote(path)}", part, int(rows or 0), int(size))
            for path, part, rows, size in zip(
                actions.column("path").to_pylist(),
                partitions,
                actions.column("num_records").to_pylist(),
                actions.column("size_bytes").to_pylist(),
                strict=True,
            )
        ]
        return tuple(sorted(found, key=lambda part: (part.partition or "", part.uri)))

    def _paths(self, parts: Sequence[Part]) -> tuple[fs.FileSystem, list[str]]:
        if self.local:
            return fs.LocalFileSystem(), [part.uri for part in parts]
        return self.filesystem(), [f"{urlsplit(part.uri).netloc}{urlsplit(part.uri).path}" for part in parts]

    def filesystem(self) -> fs.FileSystem:
        """Return the bucket's file system, with the same options."""
        given = {key.lower(): value for key, value in self.options.items()}

        def option(name: str) -> str | None:
            return given.get(f"aws_{name}") or os.environ.get(f"AWS_{name.upper()}")

        if urlsplit(self.place).scheme not in {"s3", "s3a"}:
            raise MirrorError(f"{self.place}: a mirror is in a folder or at an s3:// address.")
        endpoint = urlsplit(option("endpoint_url") or "")
        return fs.S3FileSystem(
            access_key=option("access_key_id"),
            secret_key=option("secret_access_key"),
            session_token=option("session_token"),
            region=option("region"),
            endpoint_override=endpoint.netloc or None,
            scheme=endpoint.scheme or "https",
        )

    @contextmanager
    def _said(self) -> Iterator[None]:
        """Raise errors of the storage as `MirrorError` in one sentence."""
        from deltalake.exceptions import DeltaError

        try:
            yield
        except (DeltaError, OSError) as error:
            raise _refused(self.place, error) from error


def check_installed() -> None:
    """Raise MirrorError if deltalake is not installed."""
    try:
        import deltalake  # noqa: F401
    except ImportError as error:
        raise MirrorError(
            "A mirror needs deltalake, which is not installed: pip install 'billframes[mirror]'."
        ) from error


def _size(rows: pa.Table) -> int:
    """Return the bytes that these rows take on a disk, in a file for each partition."""
    if PARTITION not in rows.column_names:
        return _file_size(rows)
    partitions, rows = rows.column(PARTITION), rows.drop_columns([PARTITION])
    return sum(_file_size(rows.filter(pc.equal(partitions, each))) for each in partitions.unique())


def _file_size(rows: pa.Table) -> int:
    counted = pa.MockOutputStream()
    pq.write_table(rows, counted, compression="zstd", compression_level=_LEVEL)
    return -(-int(counted.size()) // _BLOCK) * _BLOCK


def _refused(place: str, error: Exception) -> MirrorError:
    text = str(error)
    if isinstance(error, PermissionError) or "Permission denied" in text or "os error 13" in text:
        return MirrorError(f"The mirror {place} can't be written or read: permission denied. Nothing was changed.")
    if "os error 28" in text or getattr(error, "errno", None) == errno.ENOSPC:
        return MirrorError(
            f"The mirror {place} can't be written: the disk is full. The last version is whole; free some space and "
            "refresh again."
        )
    if "os error 30" in text or getattr(error, "errno", None) == errno.EROFS:
        return MirrorError(f"The mirror {place} can't be written: the file system is read-only. Nothing was changed.")
    if "conflict" in text.lower() or type(error).__name__ == "CommitFailedError":
        return MirrorError(
            f"The mirror {place} was changed by another process during this refresh. Its last version is whole; "
            "refresh again."
        )
    if isinstance(error, FileNotFoundError) or "not found" in text.lower() or "No such file" in text:
        return MirrorError(
            f"The mirror {place} lacks a file that this version needs; it may have been vacuumed. Open a newer "
            "version, or refresh(full=True)."
        )
    return MirrorError(f"The mirror {place} can't be used: {text.splitlines()[0] if text else type(error).__name__}")


def _plain(field: pa.Field) -> pa.Field:
    """Return a column without the wide types that Delta returns."""
    kind = field.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        kind = pa.string()
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = pa.list_(pa.string())
    elif pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", tz=kind.tz)
    return pa.field(field.name, kind)
