"""Remove files that no version needs: those of a refresh that did not finish, and those that only old versions need.

A refresh makes an empty file `.unfinished` before its first write, and removes it at its end. While this file exists,
the tables may have commits and files that belong to no version, which `undo_unfinished` removes. It writes nothing, so
it works on a full disk, and it can be interrupted at any time, because it removes nothing that a version needs.

`remove_versions` removes versions from the table of versions, and then their files. On a full disk, the files come
first. If it is interrupted there, the table has versions that lack files. All others can be read, and the next call
finishes.

The folder's lock must be held. In a bucket there is no lock, and another refresh could be writing files: nothing is
undone there.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from billframes.errors import MirrorError
from billframes.mirror.catalogue import NAME, Catalogue, Version
from billframes.mirror.storage import Storage
from billframes.mirror.storage_errors import FullDiskError, full_disk_error
from billframes.mirror.tables import REFERENCES, TABLES

_DAY = dt.timedelta(days=1)
_MARK = ".unfinished"
_NAMES = (*TABLES, REFERENCES.name)
_COMMIT = re.compile(r"(\d{20})\.")


class Freed(NamedTuple):
    """The number of versions that were removed, and the bytes of their files; None in a bucket."""

    versions: int
    bytes: int | None


def versions_to_keep(
    versions: Sequence[Version], span: dt.timedelta, now: dt.datetime, *, month_ends: bool
) -> list[Version]:
    """
    Return the tagged versions, those that began within the span, the newest, and perhaps the last of each month, in
    UTC.
    """
    last_of_month = {each.time.strftime("%Y-%m"): each.number for each in versions} if month_ends else {}
    numbers = {*last_of_month.values(), *(each.number for each in versions[-1:])}
    return [each for each in versions if each.tags or now - each.began <= span or each.number in numbers]


def is_due(versions: Sequence[Version], kept: Sequence[Version], span: dt.timedelta, now: dt.datetime) -> bool:
    """
    Tell whether a version has exceeded its span by a day, or by the span if that is shorter.

    A removal reads the log of every version that is kept, so a refresh each hour should not remove one each time.
    """
    numbers = {each.number for each in kept}
    return any(now - each.began > span + min(span, _DAY) for each in versions if each.number not in numbers)


@contextlib.contextmanager
def undone_if_it_fails(storage: Storage, catalogue: Catalogue) -> Iterator[None]:
    """Undo the writes of a refresh if it fails, whatever the reason. The block contains all its writes."""
    try:
        _mark(storage, catalogue)
        yield
        if storage.local:
            (storage.local / _MARK).unlink(missing_ok=True)
    except BaseException as error:
        # If this fails, too, the mark stays, and the next refresh does it.
        with contextlib.suppress(MirrorError, OSError):
            undo_unfinished(storage, catalogue)
        if isinstance(error, FullDiskError):
            raise full_disk_error(storage.location, _next_step(catalogue)) from error.__cause__
        raise


def undo_unfinished(storage: Storage, catalogue: Catalogue) -> int:
    """Remove what a refresh left that did not finish, and return the bytes."""
    if storage.local is None or not (storage.local / _MARK).exists():
        return 0
    storage.forget()
    versions = catalogue.read() if catalogue.exists() else []
    freed = 0
    with storage.as_mirror_errors():
        for name in _NAMES:
            if name in (versions[-1].tables if versions else ()):
                _remove_commits(storage.local / name / "_delta_log", versions[-1].tables[name])
            elif not _numbers(versions, name):
                freed += _remove_folder(storage.local / name)
        freed += _remove_unneeded(storage, versions) if versions else _remove_folder(storage.local / NAME)
        (storage.local / _MARK).unlink()
    return freed


def remove_versions(
    storage: Storage, catalogue: Catalogue, kept_of: Callable[[Sequence[Version]], Sequence[Version]]
) -> tuple[Sequence[Version], Freed]:
    """
    Remove versions, and the files that no other version needs. Return those that `kept_of` keeps; none if it removes a
    first refresh that did not finish.
    """
    unfinished = undo_unfinished(storage, catalogue)
    if unfinished and not catalogue.exists():
        return [], Freed(0, unfinished)
    versions = catalogue.read()
    kept = kept_of(versions)
    if storage.local is None:
        catalogue.keep_only([each.number for each in kept])
        for name in versions[-1].tables:
            storage.vacuum(name, _numbers(kept, name))
        return kept, Freed(len(versions) - len(kept), None)
    freed = unfinished
    for needed in (versions, kept, None):
        try:
            catalogue.keep_only([each.number for each in kept])
            break
        except FullDiskError as error:
            if needed is None:
                step = (
                    f"{freed:,} bytes were freed, but the list of versions could not be written. Free some more space, "
                )
                raise full_disk_error(storage.location, f"{step}and call vacuum again.") from error.__cause__
            freed += _remove_unneeded(storage, needed)
    return kept, Freed(len(versions) - len(kept), freed + _remove_unneeded(storage, kept))


def _mark(storage: Storage, catalogue: Catalogue) -> None:
    """Mark the refresh as unfinished. Tables that are there before the first refresh are not its own."""
    if storage.local is None:
        return
    if catalogue.exists() or not any((storage.local / name).exists() for name in (*_NAMES, NAME)):
        with storage.as_mirror_errors():
            (storage.local / _MARK).touch()


def _next_step(catalogue: Catalogue) -> str:
    if not catalogue.exists():
        return "It has no version yet, and no file of this refresh was kept. Free some space, and refresh again."
    newest = catalogue.newest()
    return (
        f"Its last version, {newest.number} of {newest.time:%Y-%m-%d %H:%M} UTC, is complete. Free some space, and "
        "refresh again: m.vacuum(…) removes old versions, and needs no space for it."
    )


def _remove_commits(log: Path, newest: int) -> None:
    """Remove a table's commits after a version, the last one first, so that the log never has a gap."""
    (log / "_last_checkpoint").unlink(missing_ok=True)
    found = [(int(match[1]), each) for each in log.iterdir() if (match := _COMMIT.match(each.name))]
    # Of one commit, its checkpoint before its log.
    for number, each in sorted(found, key=lambda one: (one[0], one[1].suffix != ".json"), reverse=True):
        if number > newest:
            each.unlink()


def _remove_unneeded(storage: Storage, versions: Collection[Version]) -> int:
    freed = 0
    for name in dict.fromkeys(name for each in versions for name in each.tables):
        freed += _remove_files(storage, name, _numbers(versions, name))
    # A reader may have opened the table of versions before its last commit.
    newest = storage.version(NAME)
    return freed + _remove_files(storage, NAME, {newest, max(newest - 1, 0)})


def _numbers(versions: Collection[Version], name: str) -> set[int]:
    return {each.tables[name] for each in versions if name in each.tables}


def _remove_files(storage: Storage, name: str, versions: Collection[int]) -> int:
    freed = 0
    with storage.as_mirror_errors():
        for each in storage.unneeded_files(name, versions):
            freed += each.stat().st_size
            each.unlink()
    return freed


def _remove_folder(folder: Path) -> int:
    freed = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    if folder.exists():
        shutil.rmtree(folder)
    return freed
