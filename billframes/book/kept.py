"""Results of analyses that several uses share, and a book that calculates each analysis once."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.declare.lookup import analyses


@dataclass(frozen=True, slots=True)
class _Same:
    """Equal to itself only. It keeps the object, so that no other one gets its id."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _key(value: Any) -> Hashable:
    """Return what is equal for equal arguments of a call; a frame is the same only if it is the same object."""
    if isinstance(value, Mapping):
        return type(value), tuple((name, _key(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_key, value))
    # 1, 1.0 and True are equal.
    return (type(value), value) if isinstance(value, _PLAIN) else _Same(value)


_PLAIN = (str, int, float, dt.date, type(None))


class KeptResults:
    """Results of analyses, each calculated once. Its notes are passed on again whenever the result is used."""

    def __init__(self) -> None:
        self._results: dict[Hashable, tuple[pd.DataFrame, Notes]] = {}

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, call: object) -> bool:
        return _key(call) in self._results

    def get(self, call: object, calculate: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return the result of a call, such as its name and arguments; `calculate` is called if there is none yet."""
        key = _key(call)
        if key not in self._results:
            with collect_notes(Notes("book")) as notes:
                self._results[key] = calculate(), notes
        result, notes = self._results[key]
        notes.finish()
        return result


class KeptBook:
    """
    A book, or a slice of one, whose results are kept: calls with the same arguments calculate an analysis once.

    The warnings of an analysis are given again whenever its result is used. Frames and settings are always those of the
    book, which must not change meanwhile.
    """

    def __init__(self, book: Any) -> None:
        self._book = book
        self._results = KeptResults()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._book, name)
        return partial(self._result, name, found) if name in analyses() else found

    def _result(self, name: str, method: Callable[..., pd.DataFrame], *args: Any, **options: Any) -> pd.DataFrame:
        call = inspect.signature(method).bind(*args, **options)
        # Lock-up is calculated from results of a book, which are kept, too.
        of_book = analyses()[name].book.method
        calculate = partial(of_book, self, **call.arguments) if of_book else partial(method, *args, **options)
        call.apply_defaults()
        return self._results.get((name, call.arguments), calculate)
