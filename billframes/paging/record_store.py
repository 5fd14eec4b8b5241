"""Store the newest version of each record that a load has received.

Records are packed page by page. The store has only the position of each record among the rows of all blocks.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import count
from operator import attrgetter
from typing import Any

from billframes.paging.list_schema import ListSchema
from billframes.paging.page import Page, RecordBlock


class DayIndex:
    """Index of the records by day."""

    def __init__(self) -> None:
        self._ids: dict[dt.date, set[str]] = {}
        self._day: dict[str, dt.date] = {}

    def put(self, name: str, day: dt.date | None) -> None:
        """Set the day of a record; None removes it."""
        before = self._day.pop(name, None)
        if before is not None:
            self._ids[before].discard(name)
        if day is not None:
            self._day[name] = day
            self._ids.setdefault(day, set()).add(name)

    def counts(self, low: dt.date | None, high: dt.date | None) -> list[tuple[dt.date, int]]:
        """Return the days from `low` to `high` that have records, with their number; None is an open end."""
        first, last = low or dt.date.min, high or dt.date.max
        return sorted((day, len(ids)) for day, ids in self._ids.items() if first <= day <= last and ids)

    def ids(self, low: dt.date | None, high: dt.date | None) -> set[str]:
        """Return the ids of the records dated from `low` to `high`."""
        return set().union(*(self._ids[day] for day, _ in self.counts(low, high)))


class RecordStore:
    """
    The newest version of each record: its position among the rows of all packed pages, by id.

    `updates` counts the new or updated records received; `shows_modified` is whether all of them state when they
    changed.
    """

    def __init__(self, schema: ListSchema) -> None:
        self._schema = schema
        self._starts: list[int] = []
        self._end = 0
        self.blocks: list[RecordBlock] = []
        self.positions: dict[str, int] = {}
        self.updates = 0
        self.shows_modified = schema.meta
        self._index: DayIndex | None = None
        self._changed_ids: set[str] = set()

    def __len__(self) -> int:
        return len(self.positions)

    def __contains__(self, name: str) -> bool:
        return name in self.positions

    def add(self, page: Page) -> None:
        """Add a page's records. Of two versions of a record, the newer is kept; if equally old, the last received."""
        records = page.records
        if not records:
            return
        first = self._append(page.block)
        fresh = dict(zip(map(self._schema.id_of, records), count(first), strict=False))
        self.shows_modified = self.shows_modified and all(map(attrgetter("meta"), records))
        for name in fresh.keys() & self.positions.keys():
            place = fresh.pop(name)
            self._replace(name, place, self._schema.modified(records[place - first]))
        self.positions |= fresh
        self._changed_ids.update(fresh if self._index else ())
        self.updates += len(fresh)

    def merge(self, other: RecordStore, only: Mapping[str, frozenset[str]] | None = None) -> None:
        """Add the records of another store; `only` has the accepted values of each filter, in lower case."""
        first = self._end
        for block in other.blocks:
            self._append(block)
        self.shows_modified = self.shows_modified and other.shows_modified
        for name, place in other.positions.items():
            if only and not self._has_values(first + place, only):
                continue
            if name in self.positions:
                self._replace(name, first + place, self._modified(first + place))
            else:
                self.positions[name] = first + place
                self._changed_ids.add(name)
                self.updates += 1

    def remove(self, ids: Iterable[str]) -> None:
        """Remove records."""
        for name in ids:
            if self.positions.pop(name, None) is not None:
                self._changed_ids.add(name)

    def clear(self) -> None:
        """Remove all records."""
        self.blocks.clear()
        self._starts.clear()
        self.positions.clear()
        self._end = 0
        self._index = None

    def days(self) -> DayIndex:
        """Return the index by day, for lists with dates; each call updates it with the changes since the last call."""
        column = str(self._schema.resource.date_column)
        if self._index is None:
            days = [day for block in self.blocks for day in block.values(column)]
            self._index = DayIndex()
            for name, place in self.positions.items():
                self._index.put(name, days[place])
        else:
            for name in self._changed_ids:
                here = self.positions.get(name)
                self._index.put(name, None if here is None else self._value(column, here))
        self._changed_ids.clear()
        return self._index

    def latest_modified(self) -> dt.datetime | None:
        """Return the latest modified date of all records; None if some records do not state theirs."""
        instants = [self._modified(place) for place in self.positions.values()]
        return max((each for each in instants if each), default=None) if None not in instants else None

    def modified_since(self, mark: dt.datetime) -> set[str]:
        """Return the ids of the records whose modified date is after an instant."""
        return {name for name, place in self.positions.items() if (at := self._modified(place)) and at > mark}

    def _append(self, block: RecordBlock) -> int:
        first = self._end
        self.blocks.append(block)
        self._starts.append(first)
        self._end += block.rows
        return first

    def _replace(self, name: str, place: int, now: dt.datetime | None) -> None:
        then = self._modified(self.positions[name]) if self.shows_modified else None
        age = 0 if now is None or then is None else (now > then) - (now < then)
        if age >= 0:
            self.positions[name] = place
            self._changed_ids.add(name)
        self.updates += age > 0

    def _modified(self, place: int) -> dt.datetime | None:
        instant: dt.datetime | None = self._value("modified_at", place)
        return instant

    def _has_values(self, place: int, only: Mapping[str, frozenset[str]]) -> bool:
        filter_columns = self._schema.filter_columns
        return all(str(self._value(filter_columns[name], place)).casefold() in texts for name, texts in only.items())

    def _value(self, column: str, place: int) -> Any:
        block = bisect_right(self._starts, place) - 1
        return self.blocks[block].value(column, place - self._starts[block])
