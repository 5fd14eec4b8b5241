"""Changes in little memory: packed by the thousand, and unpacked again while they are gone through.

A change and its cells take a kilobyte as Python objects, and about a tenth packed. A change that was unpacked is a
copy: marking it changes nothing here, so a step that marks changes puts them into new `Changes`.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Self

from billframes.bulk.changes import Cell, Change

__all__ = ["Changes"]

_BLOCK = 1_000
# What `apply` and people who read a plan need of the record as the server has it.
_KEPT = frozenset({"modified_at", "date", "matter_name", "name"})


class Changes:
    """
    Many changes, in their order.

    Parameters
    ----------
    changes : iterable of Change
    kept : collection of str
        The columns of a change's `present` that are kept.

    Examples
    --------
    >>> changes = Changes([Change("update", 0, "a", [Cell("hours", 1.0, 2.0)])])
    >>> len(changes), next(iter(changes)).cells[0].after
    (1, 2.0)
    """

    def __init__(self, changes: Iterable[Change] = (), kept: Collection[str] = _KEPT) -> None:
        self._kept = kept
        self._blocks: list[bytes] = []
        self._rows: list[tuple[Any, ...]] = []
        self._number = 0
        self.__iadd__(changes)

    def append(self, change: Change) -> None:
        """Add a change at the end."""
        self._rows.append(_packed(change, self._kept))
        self._number += 1
        if len(self._rows) == _BLOCK:
            self._blocks.append(zlib.compress(pickle.dumps(self._rows, pickle.HIGHEST_PROTOCOL), 1))
            self._rows = []

    def __iadd__(self, changes: Iterable[Change]) -> Self:
        for each in changes:
            self.append(each)
        return self

    def __iter__(self) -> Iterator[Change]:
        for block in tuple(self._blocks):
            # Nobody else made these bytes.
            yield from map(_unpacked, pickle.loads(zlib.decompress(block)))  # noqa: S301
        yield from map(_unpacked, tuple(self._rows))

    def __len__(self) -> int:
        return self._number


def _packed(change: Change, kept: Collection[str]) -> tuple[Any, ...]:
    cells = [(each.column, each.before, each.after, each.status, each.reason) for each in change.cells]
    present = {name: change.present[name] for name in kept if name in change.present}
    return change.action, change.place, change.id, cells, present, change.status, change.reason, change.twins


def _unpacked(row: tuple[Any, ...]) -> Change:
    action, place, id_, cells, present, status, reason, twins = row
    return Change(action, place, id_, [Cell(*each) for each in cells], present, status, reason, twins)
