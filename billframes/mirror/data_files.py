"""The files of a mirror's tables, and the check that a table names and has only files of its own folder.

Anybody can make a folder that looks like a mirror, with a log that names other files of the machine. A mirror's own
files have plain names, and there are no links among them. So other names and links are refused before a file is opened,
also for engines, which would expand patterns and addresses in names. A file is read only if it has the rows that the
log names, and if it does not unpack to far more than its size.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from billframes.errors import MirrorError
from billframes.mirror.tables import PARTITION

_NAME = re.compile(r"(?:[\w=-][\w.=-]*/){0,3}[\w=-][\w.=-]*\.parquet", re.ASCII)
# What deltalake declares for instants without a time zone.
_FEATURES = frozenset({"timestampNtz"})
# The bytes in memory that a file may take: 2 to 30 times its size is usual, and every row has an id of its own.
_MOST_TIMES, _MOST_BYTES = 200, 4_000_000
_WIDTH = 8


class DataFile(NamedTuple):
    """One file of a table: its address, partition, rows and bytes."""

    uri: str
    partition: str | None
    rows: int
    size: int


def check_folder(folder: Path) -> None:
    """Raise `MirrorError` if a table's folder is a link, or its log or one of the log's files."""
    log = folder / "_delta_log"
    if Path(os.path.realpath(log)) != Path(os.path.realpath(folder.parent)) / folder.name / log.name:
        raise _outside(log)
    with os.scandir(log) as entries:
        for each in entries:
            if not each.is_file(follow_symlinks=False) and not each.is_dir(follow_symlinks=False):
                raise _outside(Path(each.path))


def check_protocol(folder: str, features: list[str] | None) -> None:
    """Raise `MirrorError` if a table's files can't be read as they are, because it has features of other programs."""
    others = sorted({*(features or ())} - _FEATURES)
    if others:
        raise MirrorError(
            f"{folder} is not a table of a mirror: another program wrote it with features that billframes does not "
            f"read ({', '.join(others)})."
        )


def data_files(uri: str, folder: Path | None, actions: pa.Table) -> tuple[DataFile, ...]:
    """Return the files that a table's log names, by partition; refuse files outside its folder (None in a bucket)."""
    found = tuple(sorted(_files(uri, actions), key=lambda file: (file.partition or "", file.uri)))
    if folder:
        inside = os.path.realpath(folder) + os.sep
        for file in found:
            # A file that was vacuumed is missing.
            if not os.path.realpath(file.uri).startswith(inside) or not _is_plain(file.uri):
                raise _outside(Path(file.uri))
    return found


def _files(uri: str, actions: pa.Table) -> Iterator[DataFile]:
    name = f"partition.{PARTITION}"
    none = [None] * actions.num_rows
    partitions = actions.column(name).to_pylist() if name in actions.column_names else none
    rows = actions.column("num_records").to_pylist() if "num_records" in actions.column_names else none
    paths, sizes = (actions.column(name).to_pylist() for name in ("path", "size_bytes"))
    for path, partition, number, size in zip(paths, partitions, rows, sizes, strict=True):
        plain = unquote(path)
        if not _NAME.fullmatch(plain):
            raise _outside(plain)
        if number is None or number < 0 or size < 0:
            raise MirrorError(f"The mirror's table {uri} is damaged: its log does not say how many rows {plain} has.")
        yield DataFile(f"{uri}/{plain}", partition, int(number), int(size))


def _is_plain(path: str) -> bool:
    """Tell whether a path is a file or does not exist. To open a pipe would wait for ever."""
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except FileNotFoundError:
        return True


def check_content(source: Any, name: str, rows: int, size: int, columns: Collection[str] = ()) -> None:
    """Raise `MirrorError` if a Parquet file has other rows, lacks columns, or takes far more memory than its size."""
    metadata = pq.read_metadata(source)
    lacking = {*columns} - {*metadata.schema.to_arrow_schema().names}
    if lacking:
        raise damaged(f"{name} lacks the column {min(lacking)!r}")
    if metadata.num_rows != rows:
        raise damaged(f"{name} has {metadata.num_rows:,} rows, and the mirror names {rows:,}")
    groups = [metadata.row_group(each) for each in range(metadata.num_row_groups)]
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    values, unpacked = sum(each.num_values for each in chunks), sum(each.total_uncompressed_size for each in chunks)
    most = _MOST_BYTES + _MOST_TIMES * size
    # If each value were as long as all of them together, and, if that is too much, by the texts themselves.
    is_large = max(unpacked, _WIDTH * values) > most
    if is_large or (values * unpacked > most and _text_bytes(source, metadata, most) > most):
        raise damaged(f"{name} takes far more memory than files of {size:,} bytes do")


def _text_bytes(source: Any, metadata: pq.FileMetaData, most: int) -> int:
    """Return the bytes of a file's texts if each value has its own copy; an upper bound if that is at most `most`."""
    texts = [at for at, each in enumerate(metadata.schema) if each.physical_type == "BYTE_ARRAY"]
    paths = [metadata.schema.column(at).path for at in texts]
    file = pq.ParquetFile(source, metadata=metadata, read_dictionary=paths)
    bound = 0
    for group in range(metadata.num_row_groups):
        for at, path in zip(texts, paths, strict=True):
            # With its first row come all texts to which rows refer.
            for first in file.iter_batches(1, row_groups=[group], columns=[path]):
                longest = pc.max(pc.binary_length(_coded(first.column(0)).dictionary)).as_py() or 0
                bound += metadata.row_group(group).column(at).num_values * longest
                break
    if bound <= most:
        return bound
    columns = (_coded(batch.column(0)) for path in paths for batch in file.iter_batches(columns=[path]))
    return sum(pc.sum(pc.binary_length(each.dictionary).take(each.indices)).as_py() or 0 for each in columns)


def _coded(column: pa.Array) -> pa.DictionaryArray:
    """Return the texts of a column of texts, or of lists of texts."""
    while pa.types.is_list(column.type):
        column = column.flatten()
    if not pa.types.is_dictionary(column.type):
        raise damaged(f"a column has values of {column.type}")
    return column


def damaged(reason: str) -> MirrorError:
    """Return the error for a file that billframes has not written like this."""
    return MirrorError(
        f"The mirror is damaged: {reason}. Load everything again with refresh(full=True), or `billframes sync` with "
        "--full."
    )


def _outside(path: Path | str) -> MirrorError:
    return MirrorError(
        f"{str(path)!r} is not a file of the mirror's own folder, so it was not read. A mirror has no links and names "
        "no files elsewhere; this one was changed, or another program wrote it."
    )
