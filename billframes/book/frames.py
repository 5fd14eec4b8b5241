"""The frames of a book, each loaded when it is first needed, and what the analyses make of them once.

A user gets a shallow copy at each access: with pandas' copy-on-write, a write into it changes neither the book nor what
was made from its frames. To change a frame of a book, assign another one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast, overload

import pandas as pd

from billframes.analysis.data.data import Data
from billframes.book.denied import DETAILS, load_details
from billframes.client import Client
from billframes.config.firm import FirmSettings


class BookFrame:
    """A frame of a book; the client's loader of the same name loads it."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, book: None, owner: type) -> BookFrame: ...

    @overload
    def __get__(self, book: BookFrames, owner: type) -> pd.DataFrame: ...

    def __get__(self, book: BookFrames | None, owner: type) -> BookFrame | pd.DataFrame:
        if book is None:
            return self
        if self.name not in book._frames:
            book._frames[self.name] = book._load(self.name)
        return book._frames[self.name].copy(deep=False)

    def __set__(self, book: BookFrames, frame: pd.DataFrame) -> None:
        book._frames[self.name] = frame
        book._forget()


class BookFrames:
    """The frames that a book has loaded so far, and their `Data`, which a copied or pickled book makes for itself."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._frames: dict[str, pd.DataFrame] = {}
        # The names of frames without rows that the credential may not read, once they were needed.
        self._denied: set[str] = set()
        self._data = Data.of_book()

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in vars(self).items() if name != "_days"}
        return {**own, "_frames": {**self._frames}, "_data": Data.of_book()}

    def _load(self, name: str) -> pd.DataFrame:
        if name not in DETAILS:
            return cast("pd.DataFrame", getattr(self._client, name)())
        frame, allowed = load_details(self._client, name)
        if not allowed:
            self._denied.add(name)
        return frame

    def _denied_of(self, names: Collection[str]) -> set[str]:
        """Return those of the frames that the credential may not read; details are loaded, because it shows then."""
        for name in DETAILS:
            if name in names and name not in self._frames:
                getattr(self, name)
        return self._denied.intersection(names)

    def _forget(self) -> None:
        """Drop what was made from the frames, because one of them was replaced."""
        self._data = Data.of_book()
        vars(self).pop("_days", None)

    def _view(self, names: Collection[str], settings: FirmSettings | None) -> Data:
        """Return some of the frames for an analysis, loaded if they are not there yet."""
        lacking = {name: getattr(self, name) for name in names if name not in self._data}
        if lacking:
            self._data.add(**lacking)
        return self._data.view(names, settings)
