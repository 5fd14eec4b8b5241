"""The frames of a book, each loaded when it is first needed, and what the analyses make of them once.

A user gets a shallow copy at each access: with pandas' copy-on-write, a write into it changes neither the book nor what
was made from its frames. To change a frame of a book, assign another one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, overload

import pandas as pd

from billframes.analysis.data.data import Data
from billframes.config.firm import FirmSettings


class BookFrame:
    """A frame of a book, declared by the function that loads it."""

    def __init__(self, load: Callable[[Any], pd.DataFrame]) -> None:
        self.load, self.name, self.__doc__ = load, load.__name__, load.__doc__

    @overload
    def __get__(self, book: None, owner: type) -> BookFrame: ...

    @overload
    def __get__(self, book: BookFrames, owner: type) -> pd.DataFrame: ...

    def __get__(self, book: BookFrames | None, owner: type) -> BookFrame | pd.DataFrame:
        if book is None:
            return self
        if self.name not in book._frames:
            book._frames[self.name] = self.load(book)
        return book._frames[self.name].copy(deep=False)

    def __set__(self, book: BookFrames, frame: pd.DataFrame) -> None:
        book._frames[self.name] = frame
        book._forget()


class BookFrames:
    """The frames that a book has loaded so far, and their `Data`, which a copied or pickled book makes for itself."""

    def __init__(self) -> None:
        self._frames: dict[str, pd.DataFrame] = {}
        self._data = Data.of_book()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_frames": {**self._frames}, "_data": Data.of_book()}

    def _forget(self) -> None:
        """Drop what was made from the frames, because one of them was replaced."""
        self._data = Data.of_book()

    def _view(self, names: Collection[str], settings: FirmSettings | None) -> Data:
        """Return some of the frames for an analysis, loaded if they are not there yet."""
        lacking = {name: getattr(self, name) for name in names if name not in self._data}
        if lacking:
            self._data.add(**lacking)
        return self._data.view(names, settings)
