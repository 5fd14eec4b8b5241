"""Load a firm's records once for all pages of a dashboard.

Each page has its own kernel. The command loads the records while the first kernel starts, and writes them to the
server's private folder, where kernels read them. A dashboard has one connection and one token, so all its visitors may
see the same records.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pandas as pd

from billframes._session import default_client
from billframes._shared.export import write
from billframes.book.methods import FRAME_NAMES
from billframes.client import Client

if sys.platform != "win32":
    import fcntl

_NEEDED = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "clients", "users")


class SharedFrames:
    """
    A client's frames, loaded once and kept in a folder.

    Only this user may read and write the folder: it has the firm's records, and reading a pickle runs the code in it.
    """

    def __init__(self, folder: Path, client: Client | None = None) -> None:
        self._folder, self._given = folder, client
        folder.mkdir(mode=0o700, exist_ok=True)

    def load_ahead(self) -> None:
        """Load in the background the records that every page needs."""
        threading.Thread(target=self._load_ahead, daemon=True).start()

    def _load_ahead(self) -> None:
        # A page that needs the records loads them itself and shows the error. Ending the command closes the connection.
        with contextlib.suppress(Exception):
            for name in _NEEDED:
                if not (self._folder / f"{name}.pickle").exists():
                    self._frame(name)

    def clear(self) -> None:
        """Delete the records, so that this page and later ones load them again."""
        with self._locked("all"):
            for path in self._folder.glob("*.pickle"):
                path.unlink(missing_ok=True)

    def __getattr__(self, name: str) -> Any:
        return partial(self._frame, name) if name in FRAME_NAMES else getattr(self._client, name)

    @property
    def _client(self) -> Client:
        return self._given or default_client()

    def _frame(self, name: str) -> pd.DataFrame:
        path = self._folder / f"{name}.pickle"
        with self._locked(name):
            if not path.exists():
                frame = getattr(self._client, name)()
                write(path, pickle.dumps(frame, protocol=5))
                return cast("pd.DataFrame", frame)
        return cast("pd.DataFrame", pickle.loads(path.read_bytes()))  # noqa: S301

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Wait until no other page loads the same records. The system releases the lock if a kernel ends."""
        with (self._folder / f"{name}.lock").open("w") as file:
            # Without locks, two pages opened at the same moment may both load the records, which is harmless.
            with contextlib.suppress(OSError):
                if sys.platform != "win32":
                    fcntl.flock(file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                # A process that was forked meanwhile has a copy of the file, and would keep the lock.
                with contextlib.suppress(OSError):
                    if sys.platform != "win32":
                        fcntl.flock(file, fcntl.LOCK_UN)
