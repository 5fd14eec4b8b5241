"""Give each process its own locks, threads and connections, also a process that was forked.

`os.fork` copies the memory of a process, and only the thread that called it. In the child a lock can stay locked
forever, because the thread that would release it is not there, and a copied socket is still the parent's connection:
whoever reads from it takes the other's responses. So each process gets its own, at its first use:

- `PerProcess` makes a value for each process. The parent's value is kept, and never used or closed in the child.
- `Process` tells whether an object was made in this process.
- `in_each_child` runs a function at the start of each child, such as one that closes copied sockets.
- `hold_during_fork` lets a fork wait for a lock, and `keep_in_children` never finalizes an object in a child.

The process id is compared at each use, because a fork by a C library does not run Python's hooks.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from billframes.errors import BillframesError, ConfigError

T = TypeVar("T")


class Process:
    """A process. Its id alone would not identify it, because the system uses the ids of ended processes again."""

    __slots__ = ("id",)
    _current: Process

    def __init__(self) -> None:
        self.id = os.getpid()

    @classmethod
    def current(cls) -> Process:
        """Return this process."""
        current = cls._current
        if current.id != os.getpid():
            cls.begin()
            return cls._current
        return current

    @classmethod
    def begin(cls) -> None:
        """Record that a new process has begun."""
        cls._current = cls()

    @property
    def is_current(self) -> bool:
        """Whether this is still the same process, and not a child of it."""
        return self.id == os.getpid() and self is Process._current


Process.begin()


class PerProcess(Generic[T]):
    """A value that each process makes for itself, by calling `make` here, and again in each child that uses it."""

    __slots__ = ("__weakref__", "_make", "_values")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        # Parents' values stay here, so that they are not finalized.
        self._values = {Process.current(): make()}

    @property
    def own(self) -> T:
        """The value of this process."""
        process = Process.current()
        try:
            return self._values[process]
        except KeyError:
            # If two threads come here, both get the value of one of them.
            return self._values.setdefault(process, self._make())

    @property
    def made(self) -> T | None:
        """The value of this process; None if it is not made yet."""
        return self._values.get(Process.current())


def check_own(process: Process, what: str) -> None:
    """Raise `ConfigError` if something that was begun in another process is continued here."""
    if not process.is_current:
        raise ConfigError(f"This process was forked from another one that {what}. Begin again in this process.")


_first_users: dict[str, Process] = {}


def check_library(library: str, error: type[BillframesError] = ConfigError) -> None:
    """Raise `error` if a parent has used a library whose threads are not copied, so that this process would wait."""
    if not _first_users.setdefault(library, Process.current()).is_current:
        raise error(
            f"This process was forked from one that had used {library}, whose threads are not copied by a fork. Start "
            f"processes with multiprocessing's 'spawn' or 'forkserver', or use {library} only in the forked ones."
        )


def remove_at_end(folder: Path, owner: object) -> Callable[[], object]:
    """Remove a folder at the end of its owner or of this process, but not of its children; return this function."""
    return weakref.finalize(owner, _remove, folder, Process.current())


def _remove(folder: Path, process: Process) -> None:
    if process.is_current:
        shutil.rmtree(folder, ignore_errors=True)


def in_each_child(function: Callable[[], object]) -> None:
    """Call a function at the start of each child that is forked from here on."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


class _Lock(Protocol):
    def acquire(self) -> Any: ...

    def release(self) -> None: ...


def hold_during_fork(lock: _Lock) -> None:
    """Let a fork wait for a lock that is held briefly, so that the child finds whole what it guards."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


_kept: weakref.WeakSet[Any] = weakref.WeakSet()


def keep_in_children(value: object) -> None:
    """
    Never finalize an object in a child, not even when it ends.

    SQLite forbids a child to close a connection of its parent: it would roll back an unfinished transaction.
    """
    _kept.add(value)


def _keep_all() -> None:
    for each in list(_kept):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))


in_each_child(Process.begin)
in_each_child(_keep_all)
