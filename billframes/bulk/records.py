"""Hold records of the server in little memory: in an Arrow table, of which a few thousand rows are read at a time.

A Python object for each cell would take ten times as much memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from billframes.bulk.cells import read_cell
from billframes.bulk.columns import EditColumn

__all__ = ["Hashes", "PackedTexts", "Record", "Records", "hashes_of"]

# The cells of one record by column.
Record: TypeAlias = Mapping[str, Any]
Hashes: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"

_BLOCK_SIZE = 5_000


def hashes_of(ids: Iterable[str]) -> Hashes:
    """Return a hash for each id, the same for upper and lower case."""
    return np.fromiter((hash(each.casefold()) for each in ids), np.int64)


class PackedTexts:
    """Texts, or None, held without a Python object for each. They can be iterated many times."""

    def __init__(self, parts: Iterable[Sequence[str | None]] = ()) -> None:
        self._texts = pa.chunked_array([pa.array(part, pa.string()) for part in parts], pa.string())

    def drop_none(self) -> PackedTexts:
        """Return the texts without None."""
        texts = PackedTexts()
        texts._texts = self._texts.drop_null()
        return texts

    def chunk(self, start: int, stop: int) -> list[str | None]:
        """Return the texts from `start` to before `stop`."""
        chunk: list[str | None] = self._texts.slice(start, stop - start).to_pylist()
        return chunk

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[Any]:
        for start in range(0, len(self), _BLOCK_SIZE):
            yield from self.chunk(start, start + _BLOCK_SIZE)


class _Row(Mapping[str, Any]):
    """A row of a table's columns, as a record."""

    __slots__ = ("_lists", "_place")

    def __init__(self, lists: Mapping[str, list[Any]], place: int) -> None:
        self._lists, self._place = lists, place

    def __getitem__(self, name: str) -> Any:
        return self._lists[name][self._place]

    def get(self, name: str, default: Any = None) -> Any:
        cells = self._lists.get(name)
        return default if cells is None else cells[self._place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)


class Records:
    """
    Records by id.

    Parameters
    ----------
    id_ : str
        The column with ids.
    columns : sequence of EditColumn
        The columns to read; columns that a table lacks are left out.
    """

    def __init__(self, id_: str, columns: Sequence[EditColumn]) -> None:
        self._id, self._columns = id_, columns
        # Tables, each with the hashes of its ids and the order that sorts them.
        self._tables: list[tuple[pa.Table, Hashes, Any]] = []
        self._singles: dict[str, Record] = {}

    def add_list(self, table: pa.Table, wanted: Hashes | None = None) -> None:
        """Add the records of a loaded list, or those whose ids have the wanted hashes."""
        names = [self._id, *(each.name for each in self._columns if each.name in table.column_names)]
        table = table.select(list(dict.fromkeys(names)))
        hashes = hashes_of(_texts(table.column(self._id)))
        if wanted is not None:
            inside = np.isin(hashes, wanted)
            table, hashes = table.filter(pa.array(inside)), hashes[inside]
        self._tables.append((table, hashes, np.argsort(hashes)))

    def add_single(self, id_: str, record: Record) -> None:
        """Add one record."""
        self._singles[id_.casefold()] = record

    def are_missing(self, wanted: Hashes) -> Any:
        """Return which of these hashes are in no list, as an array of bool."""
        found = [hashes for _, hashes, _ in self._tables]
        return ~np.isin(wanted, np.concatenate(found)) if found else np.ones(len(wanted), bool)

    def find(self, ids: Iterable[str]) -> dict[str, Record]:
        """Return the records with these ids that exist, by id in lower case."""
        keys = {each.casefold() for each in ids}
        found = {key: self._singles[key] for key in keys if key in self._singles}
        wanted = hashes_of(keys)
        for table, hashes, order in self._tables:
            many = len(wanted) > _BLOCK_SIZE
            rows = order[np.isin(hashes[order], wanted)] if many else _rows_with(hashes, order, wanted)
            # Two ids can have the same hash.
            found |= {key: row for key, row in self._rows(table.take(pa.array(rows))) if key in keys}
        return found

    def has_values(self, name: str) -> bool:
        """Tell whether any record has a value in a column."""
        for table, _, _ in self._tables:
            if name in table.column_names and table.column(name).null_count < len(table):
                return True
        return any(record.get(name) is not None for record in self._singles.values())

    def items(self) -> Iterator[tuple[str, Record]]:
        """Yield each id in lower case, with its record."""
        for table, _, _ in self._tables:
            for start in range(0, len(table), _BLOCK_SIZE):
                yield from self._rows(table.slice(start, _BLOCK_SIZE))
        yield from self._singles.items()

    def __len__(self) -> int:
        return sum(len(table) for table, _, _ in self._tables) + len(self._singles)

    def _rows(self, table: pa.Table) -> list[tuple[str, Record]]:
        lists = {self._id: table.column(self._id).to_pylist()}
        for each in self._columns:
            if each.name in table.column_names:
                lists[each.name] = _read_column(table.column(each.name), each)
        return [(id_.casefold(), _Row(lists, place)) for place, id_ in enumerate(lists[self._id])]


def _rows_with(hashes: Hashes, order: Any, wanted: Hashes) -> Any:
    """Return the rows whose hashes are wanted, by binary search: faster than `np.isin` for few."""
    first = np.searchsorted(hashes, wanted, "left", sorter=order)
    last = np.searchsorted(hashes, wanted, "right", sorter=order)
    return order[np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)] or [first])]


def _texts(cells: pa.ChunkedArray) -> Iterator[str]:
    for chunk in cells.chunks:
        yield from chunk.to_pylist()


def _read_column(cells: pa.ChunkedArray, column: EditColumn) -> list[Any]:
    read: list[Any] = []
    for chunk in cells.chunks:
        if not pa.types.is_dictionary(chunk.type) or len(chunk.dictionary) > len(chunk):
            read += [read_cell(column, value) for value in chunk.to_pylist()]
            continue
        # Each distinct text is converted once.
        values = [read_cell(column, value) for value in chunk.dictionary.to_pylist()]
        read += [None if index is None else values[index] for index in chunk.indices.to_pylist()]
    return read
