"""Load a firm's records once for all visits to a dashboard.

Each visit has a kernel of its own. The command loads the records while the first kernel starts, and writes them to the
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
from billframes.book.methods import FRAME_NAMES
from billframes.client import Client

if sys.platform != "win32":
    import fcntl

__all__ = ["SharedFrames"]

_AHEAD = ("time_entries", "expenses", "fixed_fees", "invoices", "matters", "clients", "users")


class SharedFrames:
    """
    Frames in a folder, in place of a client.

    Parameters
    ----------
    folder : Path
        Readable for this user only, because it holds the firm's records, and because reading a pickle runs what is in
        it.
    client : Client, optional
        What the records are loaded with; the default client if it is not given.
    """

    def __init__(self, folder: Path, client: Client | None = None) -> None:
        self._folder, self._given = folder, client
        folder.mkdir(mode=0o700, exist_ok=True)

    def as_client(self) -> Client:
        """Return itself; a book needs only the loaders and settings of a client."""
        return cast("Client", self)

    def load_ahead(self) -> None:
        """Load the records that every visit needs in the background."""
        threading.Thread(target=self._load_ahead, daemon=True).start()

    def _load_ahead(self) -> None:
        # Who needs the records loads them again and meets the same error; when the command ends the connection closes.
        with contextlib.suppress(Exception):
            for name in _AHEAD:
                if not (self._folder / f"{name}.pickle").exists():
                    self._frame(name)

    def clear(self) -> None:
        """Load the records again when they are next needed, also for visits to come."""
        with self._alone("all"):
            for path in self._folder.glob("*.pickle"):
                path.unlink(missing_ok=True)

    def __getattr__(self, name: str) -> Any:
        return partial(self._frame, name) if name in FRAME_NAMES else getattr(self._client, name)

    @property
    def _client(self) -> Client:
        return self._given or default_client()

    def _frame(self, name: str) -> pd.DataFrame:
        path = self._folder / f"{name}.pickle"
        with self._alone(name):
            if not path.exists():
                frame = getattr(self._client, name)()
                part = path.with_suffix(".part")
                part.write_bytes(pickle.dumps(frame, protocol=5))
                part.replace(path)
                return cast("pd.DataFrame", frame)
        return cast("pd.DataFrame", pickle.loads(path.read_bytes()))  # noqa: S301

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Wait until no other visit loads the same records. The system lets go of the file if a kernel ends."""
        with (self._folder / f"{name}.lock").open("w") as file:
            # Without locks, two visits at the same moment load the same records twice, and both are right.
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
