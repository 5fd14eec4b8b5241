"""Key cover: a list read in overlapping tiles whose keys, together, leave no gap.

What a tile proves. Sorted by a key, a tile holds, as of its instant, every row whose key lies strictly between the keys
of its first and its last row: whatever else the list did, rows between those two places are between those two keys.
The tile at offset 0 holds every row before its last key, a short tile at the end every row after its first. A record
that stays as it is keeps its key, so once these open intervals cover the whole line of keys, every such record is here.

Why a join needs a key strictly between. Two tiles X and Y leave no gap where `first(Y) < last(X)`: every key is before
the one or after the other. Equal is not enough, because a group of equal keys may reach beyond both tiles. Dates,
numbers and instants compare here as they do on the server. Text does not, since nobody knows the server's collation;
but a key K that occurs in both tiles lies between `first(Y)` and `last(X)` in whatever order the server uses, and if
it differs from one of the two under every collation (see `keys`), the order is strict. That two tiles share a record
proves nothing: it may have moved.

Where tiles don't join, from drift, a long group of equal keys or keys of which nobody knows whether they are equal,
another is fetched across the gap, within a budget of twice the tiles plus ten; then the next sort is tried; then it is
`PagingError`. On a quiet list there is a cheaper proof, see `catchup`: once as many records are here as every answer
counted, the reading can stop for it, and go on if it fails.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from billframes.errors import PagingError
from billframes.paging.keys import surely_differ
from billframes.paging.list_schema import Query, asked, changed
from billframes.paging.page import Answer, Ask
from billframes.paging.record_store import Held
from billframes.paging.scheduler import Session

__all__ = ["Cover", "Covering", "Tile", "joined", "read_cover"]

Key = tuple[Any, ...]

# Instants hardly tie, so few rows of overlap join tiles; other keys take 5 %.
OVERLAP_OF_INSTANTS = 10
OVERLAP = 0.05
# Tiles further apart than this many places in the list of tiles are not tried for a join.
NEAR = 8
# So many tiles in vain after the same one, and the next sort may do better.
VAIN = 7
# Where the next tile is looked for after the list moved, in pages from the last sure one.
_NEARER = (0.75, 0.5, 0.25, 0.0, -0.5)


def _differ(one: Key, other: Key) -> bool:
    """Tell whether two keys differ under every collation."""
    return any(map(surely_differ, one, other))


@dataclass(eq=False)
class Tile:
    """An answer's keys, in its order, whether the list ends in it, and how often a neighbour was looked for."""

    keys: Sequence[Key]
    offset: int = 0
    ends: bool = False
    tried: int = 0
    _joins: dict[Tile, bool] = field(default_factory=dict)

    def joins(self, other: Tile) -> bool:
        """Tell, having looked once, whether another follows without a gap."""
        if other not in self._joins:
            self._joins[other] = joined(self, other)
        return self._joins[other]

    @cached_property
    def known(self) -> frozenset[Key]:
        """The keys that occur in it, literally."""
        return frozenset(self.keys)


def joined(one: Tile, other: Tile) -> bool:
    """Tell whether it is sure that `other`'s first key comes strictly before `one`'s last."""
    if not one.keys or not other.keys:
        return False
    first, last = other.keys[0], one.keys[-1]
    if all(isinstance(each, dt.date | int | float) for each in (first[0], last[0])) and first[0] != last[0]:
        return bool(first[0] < last[0])
    return any(_differ(key, first) or _differ(key, last) for key in one.known & other.known)


def read_cover(
    session: Session,
    query: Query,
    sorts: Sequence[tuple[str, ...]],
    held: Held,
    *,
    narrowed: Query = (),
    first: Answer | None = None,
) -> int | None:
    """
    Read a list by key cover.

    Parameters and errors are those of `Covering` and its `read`.

    Returns
    -------
    int or None
        How many records the list has by the server's own count, where it said the same each time.
    """
    covering = Covering(session, query, sorts, held, narrowed=narrowed, first=first)
    covering.read()
    return covering.count


class Covering:
    """
    A list read by key cover, under one sort after another.

    Parameters
    ----------
    session : Session
    query : query
        Without limit and offset; its sort is replaced.
    sorts : sequence of tuple of str
        Sorts to try, one after the other.
    held : Held
        Where the records go.
    narrowed : query, optional
        The parameters of the query that the reader chose itself.
    first : Answer, optional
        One that came to this query at offset 0, whatever its sort.
    """

    def __init__(
        self,
        session: Session,
        query: Query,
        sorts: Sequence[tuple[str, ...]],
        held: Held,
        *,
        narrowed: Query = (),
        first: Answer | None = None,
    ) -> None:
        self._session = session
        self._held = held
        self._first = first
        self._sort = asked(query, "sort")
        # What covered the list before comes first.
        self._sorts = tuple(sorted(sorts, key=lambda sort: sort != session.covered_by))
        self._covers = [Cover(session, query, sort, held, narrowed) for sort in self._sorts]
        self._place = 0

    @property
    def count(self) -> int | None:
        """The list's length, where every answer under the last sort said the same."""
        return self._covers[self._place].count

    @property
    def all_counted(self) -> bool:
        """Whether every answer counted the same, and as many records are here."""
        totals = set[int]().union(*(cover.totals for cover in self._covers))
        if self._first is not None:
            totals.add(self._first.total or 0)
        return totals == {len(self._held)}

    def look(self) -> bool:
        """
        Read by the first sort until the list is covered, or every record that the server counts is here.

        Returns
        -------
        bool
            Whether the list is covered. It may not be although not every record is here: then `read` goes on, for
            more requests.
        """
        self._begin()
        cover = self._covers[0]
        return cover.fill(len(cover.tiles) // 2 + 5, lambda: self.all_counted)

    def read(self) -> None:
        """
        Read until the list is covered.

        Raises
        ------
        PagingError
            No sort covers the list within the budget.
        """
        while self._place < len(self._covers):
            self._begin()
            cover = self._covers[self._place]
            if cover.fill(2 * len(cover.tiles) + 10):
                self._session.covered_by = self._sorts[self._place]
                return
            self._place += 1
        tried = ", then by ".join(",".join(sort) for sort in self._sorts) or "nothing: no sort fits"
        raise PagingError(
            f"{self._session.listing.name}: pages sorted by {tried} could not be joined without a gap, so the list "
            "can't be shown to be complete. Too many rows may be equal under these sorts, or the list changes too "
            "fast: try again when fewer people are writing, with a larger page_size, or narrow the list with filters."
        )

    def _begin(self) -> None:
        cover, first = self._covers[self._place], self._first
        if not cover.tiles:
            same = self._sort == ",".join(self._sorts[self._place])
            cover.begin(first if same else None, first.total if first else None)


class Cover:
    """
    The tiles of one sort, and how far they reach.

    Parameters are those of `Covering`.

    Attributes
    ----------
    tiles : list of Tile
    totals : set of int
        How many records the list has, by each answer.
    """

    def __init__(self, session: Session, query: Query, sort: tuple[str, ...], held: Held, narrowed: Query = ()) -> None:
        self._session = session
        self._query = changed(query, sort=",".join(sort))
        self._narrowed = narrowed
        self._held = held
        self._sort = sort
        self._instants = sort == ("created",)
        self.tiles: list[Tile] = []
        self.totals: set[int] = set()
        self._total = 0
        self._whole = False
        self._stuck = False
        self._vain = False

    @property
    def count(self) -> int | None:
        """The list's length, where every answer said the same."""
        return self._total if len(self.totals) == 1 else None

    def read(self, first: Answer | None = None, expected: int | None = None) -> bool:
        """Fetch tiles until they cover the list; False where the budget does not reach."""
        self.begin(first, expected)
        return self.fill(2 * len(self.tiles) + 10)

    def begin(self, first: Answer | None = None, expected: int | None = None) -> None:
        """
        Fetch the tiles.

        Parameters
        ----------
        first : Answer, optional
            The tile at offset 0, where it is here.
        expected : int, optional
            The list's length, where it is known: then all tiles are asked for at once.
        """
        if first is not None:
            self._keep(first)
        elif expected is None:
            self._fetch([0])
        else:
            self._total = expected
        if not self._whole:
            self._fetch(list(range(self._step if self.tiles else 0, self._total - self._overlap + 1, self._step)))

    def fill(self, budget: int, enough: Callable[[], bool] = lambda: False) -> bool:
        """Fetch tiles across what does not join; False where the budget does not reach, or what came is enough."""
        while not self._whole and (gap := self._gap()) is not None:
            if budget <= 0 or self._stuck or self._vain or enough():
                return False
            self._fetch([gap])
            budget -= 1
        return True

    @property
    def _overlap(self) -> int:
        page = self._session.page_size
        overlap = min(OVERLAP_OF_INSTANTS, page // 4) if self._instants else int(page * OVERLAP)
        return min(max(overlap, 2), page - 1)

    @property
    def _step(self) -> int:
        return self._session.page_size - self._overlap

    def _fetch(self, offsets: list[int]) -> None:
        page = self._session.page_size
        asks = [Ask(self._query, page, offset, self._narrowed) for offset in offsets]
        self._session.run(asks, lambda _ask, answer: self._keep(answer))

    def _keep(self, answer: Answer) -> tuple[()]:
        self._held.take(answer)
        self._total = answer.total or 0
        self.totals.add(self._total)
        self._whole = self._whole or answer.whole
        keys = [answer.keys(name) for name in self._sort]
        if self._instants:
            # They compare as they are: nothing is to be learnt from those in between.
            keys = [[*each[:1], *each[-1:]] for each in keys]
        tile = Tile(list(zip(*keys, strict=True)), answer.offset, ends=answer.short)
        self.tiles.append(tile)
        # No tile reaches across a whole one of equal keys.
        self._stuck = self._stuck or (not tile.ends and len(tile.keys) > 1 and tile.keys[0] == tile.keys[-1])
        return ()

    def _gap(self) -> int | None:
        """Return the offset of a tile across the first gap; None where there is none."""
        tiles = sorted((each for each in self.tiles if each.keys), key=lambda each: each.offset)
        reached = _reached(tiles)
        if any(each.ends for each in reached):
            return None
        if not reached:
            return 0
        one = reached[-1]
        other = next((each for each in tiles if each.offset > one.offset), None)
        if other is None and one.tried == 0 and one.offset + self._step < self._total:
            offset = one.offset + self._step
        elif other is None and one.tried == 0:
            # The list shrank before its end was seen.
            offset = self._total - self._session.page_size // 2
        elif other is not None and one.tried == 0:
            offset = (one.offset + other.offset) // 2
        else:
            # The list moved under the tiles: go on from the last sure one, forwards, else nearer to it.
            offset = one.offset + int(_NEARER[one.tried % len(_NEARER)] * self._session.page_size)
        one.tried += 1
        self._vain = one.tried > VAIN
        return max(0, offset)


def _reached(tiles: list[Tile]) -> list[Tile]:
    """Return the tiles that are joined, step by step, to one at the list's beginning; by offset."""
    waiting = [place for place, each in enumerate(tiles) if each.offset == 0]
    reached = set(waiting)
    while waiting:
        place = waiting.pop()
        for near in range(max(0, place - NEAR), min(len(tiles), place + NEAR + 1)):
            if near not in reached and tiles[place].joins(tiles[near]):
                reached.add(near)
                waiting.append(near)
    return [tiles[place] for place in sorted(reached)]
