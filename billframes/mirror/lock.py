"""One refresh at a time: a lock on the mirror's folder, which the operating system releases when a process ends."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from billframes.errors import MirrorError

__all__ = ["locked", "private_files"]

PAUSE = 0.1


@contextmanager
def locked(folder: Path | None, wait: float) -> Iterator[None]:
    """
    Hold the lock of a mirror; its files are readable for their owner only.

    A mirror in a bucket has no lock: there, Delta's commits refuse the later of two refreshes.

    Parameters
    ----------
    folder : Path, optional
        The mirror's folder; None in a bucket.
    wait : float
        Seconds to wait for another process that holds it.

    Raises
    ------
    MirrorError
        The folder can't be made or written, or another process still holds the lock.
    """
    if folder is None:
        yield
        return
    handle = _opened(folder)
    try:
        _wait(handle, folder, wait)
        with _PRIVATE:
            yield
    finally:
        os.close(handle)


class _Private:
    """Files made meanwhile are their owner's alone; the mask is the process's, so the last to leave puts it back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._mask = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._mask = os.umask(0o077)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                os.umask(self._mask)


_PRIVATE = _Private()


def private_files() -> _Private:
    """Make files that their owner alone can read; for writes that need no lock."""
    return _PRIVATE


def _opened(folder: Path) -> int:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise MirrorError(f"The mirror {folder} can't be written: {error.strerror}. Nothing was changed.") from error


def _wait(handle: int, folder: Path, wait: float) -> None:
    end = time.monotonic() + wait
    while not _take(handle):
        if time.monotonic() > end:
            raise MirrorError(f"Another process has been refreshing the mirror {folder} for {wait:g} seconds.")
        time.sleep(PAUSE)


def _take(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
