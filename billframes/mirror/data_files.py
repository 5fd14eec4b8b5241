"""The files of a mirror's tables, and the check that a table names and has only files of its own folder.

Anybody can make a folder that looks like a mirror, with a log that names other files of the machine. A mirror's own
files have plain names, and there are no links among them. So other names and links are refused before a file is opened,
also for engines, which would expand patterns and addresses in names.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from billframes.errors import MirrorError
from billframes.mirror.tables import PARTITION

_NAME = re.compile(r"(?:[\w=-][\w.=-]*/){0,3}[\w=-][\w.=-]*\.parquet", re.ASCII)
# What deltalake declares for instants without a time zone.
_FEATURES = frozenset({"timestampNtz"})


@dataclass(frozen=True, slots=True)
class DataFile:
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


def _outside(path: Path | str) -> MirrorError:
    return MirrorError(
        f"{str(path)!r} is not a file of the mirror's own folder, so it was not read. A mirror has no links and names "
        "no files elsewhere; this one was changed, or another program wrote it."
    )
