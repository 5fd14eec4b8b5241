"""Read and write Delta tables in a folder or a bucket.

Rows are read from the files of a version with pyarrow, because deltalake's own readers sometimes abort the interpreter
when it exits. A write replaces whole partitions. So a partition is one file or a few, sorted by date and without rows
that are marked as deleted, and every engine can read the files directly.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import fs

from billframes._shared.forks import check_library
from billframes._shared.limits import user_path
from billframes.errors import MirrorError
from billframes.mirror.bucket import BucketOptions
from billframes.mirror.data_files import (
    DataFile,
    check_content,
    check_folder,
    check_protocol,
    damaged,
    data_files,
)
from billframes.mirror.lock import private_files
from billframes.mirror.storage_errors import mirror_error
from billframes.mirror.tables import PARTITION

# Versions and their log are kept until `vacuum`. Checkpoints let a table open quickly.
_CONFIGURATION = {
    "delta.logRetentionDuration": "interval 36500 days",
    "delta.enableExpiredLogCleanup": "false",
    "delta.checkpointInterval": "10",
}
# A higher level takes longer and does not make smaller files, because ids hardly compress.
_COMPRESSION_LEVEL = 1
# Columns that rarely repeat a value, so that a dictionary of their values would save nothing.
_RARELY_REPEATED = frozenset({"time_entry_id", "expense_id", "created_at", "modified_at"})
# What deltalake misreads in a path.
_NO_NAME = re.compile(r"[\x00-\x1f\x7f|^\\\[\]\ud800-\udfff]|%[0-9A-Fa-f]{2}")
# Bytes that a commit takes in addition to its rows.
_COMMIT_BYTES = 256 * 1024
# The same for the table of versions, which has one small file.
_CATALOGUE_BYTES = 48 * 1024
# A file takes a whole number of disk blocks of so many bytes.
_BLOCK_BYTES = 4096


class Storage:
    """The tables in a folder, or in a bucket such as "s3://firm/mirror"."""

    def __init__(self, location: str | Path, options: BucketOptions | Mapping[str, str] | None = None) -> None:
        self.location = str(location)
        self.options = options if isinstance(options, BucketOptions) else BucketOptions(options)
        scheme, separator, _ = self.location.partition("://")
        if separator and scheme not in {"s3", "s3a"}:
            raise MirrorError(f"A mirror is in a folder or at an s3:// address, and {scheme}:// is neither.")
        self.local = None if separator else _checked_folder(self.location)
        # The addresses of files whose content was checked.
        self._sound: set[str] = set()
        self._cache: dict[tuple[str, int], tuple[tuple[DataFile, ...], pa.Schema]] = {}

    def uri(self, name: str) -> str:
        """Return the address of a table."""
        return str(self.local / name) if self.local else f"{self.location.rstrip('/')}/{name}"

    def exists(self, name: str) -> bool:
        """Tell whether there is a table of this name."""
        with self.as_mirror_errors():
            if self.local and not (self.local / name / "_delta_log").is_dir():
                return False
            self._check_folder(name)
            return bool(_deltalake().DeltaTable.is_deltatable(self.uri(name), self.options.reveal()))

    def version(self, name: str) -> int:
        """Return the newest version of a table."""
        table = self._open(name)
        self._add_to_cache(name, table)
        return int(table.version())

    def data_files(self, name: str, version: int) -> tuple[DataFile, ...]:
        """Return the files of a table at a version, in the order of their partitions."""
        return self._files_and_schema(name, version)[0]

    def dataset(
        self,
        name: str,
        version: int,
        partitions: Collection[str] | None = None,
        data_files: Sequence[DataFile] | None = None,
    ) -> ds.Dataset:
        """Open a table's files at a version: all of them, those of some partitions, or the given ones."""
        files = self.data_files(name, version) if data_files is None else data_files
        if partitions is not None:
            files = [file for file in files if file.partition in partitions]
        system, paths = self._filesystem_and_paths(self.checked(files, self.schema(name, version).names))
        return ds.dataset(paths, schema=self.schema(name, version), format="parquet", filesystem=system)

    def checked(self, files: Sequence[DataFile], columns: Sequence[str] | None = None) -> Sequence[DataFile]:
        """Return files; raise `MirrorError` if one is lost or cut, or, given `columns`, has others or other rows."""
        unknown = [file for file in files if file.uri not in self._sound]
        with self.as_mirror_errors():
            system, paths = self._filesystem_and_paths(unknown)
            for file, path, found in zip(unknown, paths, system.get_file_info(paths), strict=True):
                if found.type == fs.FileType.NotFound:
                    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file.uri)
                if found.size != file.size:
                    raise damaged(f"{file.uri} has {found.size:,} bytes instead of {file.size:,}")
                if columns is not None:
                    check_content(system.open_input_file(path), file.uri, file.rows, file.size, columns)
                    self._sound.add(file.uri)
        return files

    def is_readable(self, name: str, version: int) -> bool:
        """Tell whether all rows of a table can be read."""
        try:
            with self.as_mirror_errors():
                for _ in self.dataset(name, version).to_batches():
                    pass
        except MirrorError:
            return False
        return True

    def read(
        self,
        name: str,
        version: int,
        columns: Sequence[str] | None = None,
        rows: ds.Expression | None = None,
        partitions: Collection[str] | None = None,
    ) -> pa.Table:
        """Read a table at a version."""
        with self.as_mirror_errors():
            return self.dataset(name, version, partitions).to_table(columns=columns, filter=rows)

    def schema(self, name: str, version: int) -> pa.Schema:
        """Return the columns in the files of a table."""
        return self._files_and_schema(name, version)[1]

    def write(self, name: str, rows: pa.Table, *, append: bool = False) -> int:
        """Replace a table, or add rows to it; return its new version."""
        exists = self.exists(name)
        return self._write(
            name,
            rows,
            mode="append" if append else "overwrite",
            schema_mode=None if append or not exists else "overwrite",
            partition_by=[PARTITION] if PARTITION in rows.column_names else None,
            configuration=None if exists else _CONFIGURATION,
        )

    def rows(self, name: str, schema: pa.Schema) -> list[dict[str, Any]]:
        """Return the columns of `schema` of a table that belongs to no version; no rows if it does not exist."""
        if not self.exists(name):
            return []
        try:
            rows = self.read(name, self.version(name), schema.names).cast(schema)
        except (KeyError, MirrorError, pa.ArrowException) as error:
            raise self.unusable(name) from error
        return list(rows.to_pylist())

    def unusable(self, name: str) -> MirrorError:
        """Return the error for a table that belongs to no version, and whose rows billframes has not written."""
        return MirrorError(
            f"The mirror's table {self.uri(name)} is damaged. Remove this folder: what it had can be read again."
        )

    def add_rows(self, name: str, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
        """Add rows to a table that belongs to no version."""
        with private_files:
            self.write(name, pa.Table.from_pylist(rows, schema), append=self.exists(name))

    def replace_partitions(self, name: str, rows: pa.Table, partitions: Collection[str]) -> int:
        """Replace some partitions of a table by these rows; return its new version."""
        predicate = f"{PARTITION} IN ({', '.join(map(repr, sorted(partitions)))})"
        if rows.num_rows:
            return self._write(name, rows, mode="overwrite", predicate=predicate, partition_by=[PARTITION])
        table = self._open(name)
        with self.as_mirror_errors():
            table.delete(predicate)
        return int(table.version())

    def replace_if_at(self, name: str, rows: pa.Table, version: int | None) -> None:
        """Replace a table if it is still at a version, or create it if `version` is None; refuse otherwise."""
        if version is None:
            self._write(name, rows, mode="error", configuration=_CONFIGURATION)
            return
        with self.as_mirror_errors():
            self._check_room(rows, _CATALOGUE_BYTES)
            _deltalake().write_deltalake(self._open(name, version), rows, mode="overwrite")

    def restore(self, name: str, version: int) -> int:
        """Restore a table to a version if it differs; return its newest version."""
        table = self._open(name)
        if table.version() == version:
            return version
        with self.as_mirror_errors():
            table.restore(version)
        return int(table.version())

    def unneeded_files(self, name: str, versions: Collection[int]) -> list[Path]:
        """Return the files of a table in a folder that none of these versions needs, also those in no version."""
        # It also names files of the log that were removed before. A log that others wrote could name any file.
        inside = [Path(each) for each in {*self._vacuum(name, versions, dry_run=True)}]
        found = [Path(self.uri(name)) / each for each in inside if not each.is_absolute() and ".." not in each.parts]
        return [each for each in found if each.is_file()]

    def vacuum(self, name: str, versions: Collection[int]) -> None:
        """Remove the files of a table in a bucket that none of these versions needs."""
        self._vacuum(name, {*versions, self.version(name)}, dry_run=False)

    def _vacuum(self, name: str, versions: Collection[int], *, dry_run: bool) -> list[str]:
        table, keep = self._open(name), sorted(versions)
        how = {"retention_hours": 0, "enforce_retention_duration": False, "full": True, "keep_versions": keep}
        with self.as_mirror_errors():
            return list(table.vacuum(dry_run=dry_run, **how))

    def forget(self) -> None:
        """Forget what was read, because other files can have the same version's number after `cleanup`."""
        self._cache.clear()
        self._sound.clear()

    def _open(self, name: str, version: int | None = None) -> Any:
        with self.as_mirror_errors():
            self._check_folder(name)
            return _deltalake().DeltaTable(self.uri(name), version=version, storage_options=self.options.reveal())

    def _check_folder(self, name: str) -> None:
        if self.local:
            check_folder(self.local / name)

    def _write(self, name: str, rows: pa.Table, **how: Any) -> int:
        deltalake = _deltalake()
        properties = deltalake.WriterProperties(
            compression="ZSTD",
            compression_level=_COMPRESSION_LEVEL,
            column_properties=dict.fromkeys(
                _RARELY_REPEATED & {*rows.column_names}, deltalake.ColumnProperties(dictionary_enabled=False)
            ),
        )
        how = {key: value for key, value in how.items() if value is not None}
        with self.as_mirror_errors():
            self._check_room(rows)
            deltalake.write_deltalake(
                self.uri(name),
                # Combined, because chunks would be written in any order.
                rows.combine_chunks(),
                storage_options=self.options.reveal(),
                writer_properties=properties,
                **how,
            )
        return self.version(name)

    def _check_room(self, rows: pa.Table, commit_bytes: int = _COMMIT_BYTES) -> None:
        """Raise the error of a full disk before it is full, because deltalake would print pages of text."""
        if self.local is None:
            return
        free = shutil.disk_usage(self.local).free - commit_bytes
        if free < rows.nbytes and free < _bytes_on_disk(rows):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _files_and_schema(self, name: str, version: int) -> tuple[tuple[DataFile, ...], pa.Schema]:
        # Looked up once, because another thread may `forget`.
        return self._cache.get((name, version)) or self._add_to_cache(name, self._open(name, version))

    def _add_to_cache(self, name: str, table: Any) -> tuple[tuple[DataFile, ...], pa.Schema]:
        with self.as_mirror_errors():
            actions = pa.table(table.get_add_actions(flatten=True))
            fields = pa.schema(table.schema().to_arrow())
            check_protocol(self.uri(name), table.protocol().reader_features)
        schema = pa.schema([_plain_field(each) for each in fields if each.name != PARTITION])
        files = data_files(self.uri(name), self.local and self.local / name, actions)
        found = self._cache[name, int(table.version())] = files, schema
        return found

    def _filesystem_and_paths(self, data_files: Sequence[DataFile]) -> tuple[fs.FileSystem, list[str]]:
        if self.local:
            return fs.LocalFileSystem(), [file.uri for file in data_files]
        return self.options.filesystem(), [
            f"{urlsplit(file.uri).netloc}{urlsplit(file.uri).path}" for file in data_files
        ]

    @contextmanager
    def as_mirror_errors(self) -> Iterator[None]:
        """Raise errors of the storage as `MirrorError`."""
        from deltalake.exceptions import DeltaError

        try:
            yield
        except BaseException as error:
            # A bug of deltalake, for example with a damaged log, raises a panic, which is not an Exception.
            is_panic = type(error).__name__ == "PanicException"
            if not is_panic and not isinstance(error, DeltaError | OSError | pa.ArrowException):
                raise
            text = self.options.mask_in(str(error))
            if text != str(error):
                # Its text is changed, because frames with this error can be shown, too.
                error.args = (text,)
                if isinstance(error, OSError) and error.strerror:
                    error.strerror = self.options.mask_in(error.strerror)
            # Frames of deltalake hold the options as text.
            raise mirror_error(self.location, error, text) from error.with_traceback(None)


def _checked_folder(location: str) -> Path:
    folder = user_path(location).absolute()
    # It opens the target of a link.
    found = _NO_NAME.search(folder.as_posix()) or _NO_NAME.search(Path(os.path.realpath(folder)).as_posix())
    if found:
        raise MirrorError(
            f"{location!r} can't be a mirror's folder: Delta Lake does not open paths with {found[0]!r}. Name another."
        )
    return folder


def _deltalake() -> Any:
    import deltalake

    check_library("deltalake", MirrorError)
    return deltalake


def check_installed() -> None:
    """Raise MirrorError if deltalake is not installed."""
    try:
        import deltalake  # noqa: F401
    except ImportError as error:
        raise MirrorError(
            "A mirror needs deltalake, which is not installed: pip install 'billframes[mirror]'."
        ) from error


def _bytes_on_disk(rows: pa.Table) -> int:
    """Return the bytes that these rows take on disk, with a file for each partition."""
    if PARTITION not in rows.column_names:
        return _file_size(rows)
    partitions, rows = rows.column(PARTITION), rows.drop_columns([PARTITION])
    return sum(_file_size(rows.filter(pc.equal(partitions, each))) for each in partitions.unique())


def _file_size(rows: pa.Table) -> int:
    stream = pa.MockOutputStream()
    pq.write_table(rows, stream, compression="zstd", compression_level=_COMPRESSION_LEVEL)
    return -(-int(stream.size()) // _BLOCK_BYTES) * _BLOCK_BYTES


def _plain_field(field: pa.Field) -> pa.Field:
    kind = field.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        kind = pa.string()
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind = pa.list_(pa.string())
    elif pa.types.is_timestamp(kind):
        kind = pa.timestamp("us", tz=kind.tz)
    return pa.field(field.name, kind)
