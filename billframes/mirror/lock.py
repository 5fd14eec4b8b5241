"""Lock the mirror's folder during a refresh; the operating system releases the lock when the process ends.

A forked process closes its copy of the lock's file. Otherwise it would hold the lock as long as it runs.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from billframes._shared.forks import Process, hold_during_fork, in_each_child
from billframes.errors import MirrorError

_PAUSE = 0.1
# The errors of a lock that another process holds. All others mean that the file system has no locks.
_BUSY = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES}
_handles: set[int] = set()


@contextmanager
def folder_lock(folder: Path | None, wait: float, doing: str = "refreshing the mirror") -> Iterator[None]:
    """
    Hold the lock of a mirror's folder, or of another one, and make files that only their owner can read.

    A mirror in a bucket has no lock (`folder` is None). There, the later of two refreshes is refused when it commits.
    Raise `MirrorError` if another process still holds the lock after `wait` seconds, or if there are no locks.
    """
    if folder is None:
        yield
        return
    process, handle = Process.current(), _open_lock_file(folder)
    _handles.add(handle)
    try:
        _wait_for_lock(handle, folder, wait, doing)
        with private_files:
            yield
    finally:
        if process.is_current:
            _handles.discard(handle)
            _unlock(handle)


class _PrivateFiles:
    """Makes files that only their owner can read. The mask is the process's, so the last thread to exit restores it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._mask = 0
        hold_during_fork(self._lock)
        in_each_child(self._begin_in_child)

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._mask = os.umask(0o077)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._inside == 1:
                os.umask(self._mask)
            self._inside = max(0, self._inside - 1)

    def _begin_in_child(self) -> None:
        """Restore the mask: the threads that would do so are the parent's."""
        if self._inside:
            os.umask(self._mask)
        self._inside = 0


private_files = _PrivateFiles()
"""Use it as a context: `with private_files:`."""


def _open_lock_file(folder: Path) -> int:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A link would make a file elsewhere.
        return os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as error:
        raise MirrorError(f"The folder {folder} can't be written: {error.strerror}. Nothing was changed.") from error


def _wait_for_lock(handle: int, folder: Path, wait: float, doing: str) -> None:
    end = time.monotonic() + wait
    while not _try_lock(handle, folder):
        if time.monotonic() > end:
            raise MirrorError(f"Another process has been {doing} {folder} for {wait:g} seconds.")
        time.sleep(_PAUSE)


def _try_lock(handle: int, folder: Path) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise MirrorError(
            f"The folder {folder} can't be locked, so nothing was changed: {error.strerror}. Its file system may have "
            "no locks. Keep it on a disk of this machine; a mirror can also be in a bucket."
        ) from error
    return True


def _unlock(handle: int) -> None:
    """Release the lock for all copies of its file, and close it."""
    if sys.platform != "win32":
        import fcntl

        # It fails on a file system without locks.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


def _close_copies() -> None:
    while _handles:
        os.close(_handles.pop())


in_each_child(_close_copies)
