"""Records as the server has them: their cells by column.

The records of a list share a Python list for each column, and equal texts are one object: a dict a record would take
ten times the memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from typing import Any

import pyarrow as pa

from billframes.bulk.columns import EditColumn, read_cell

__all__ = ["Record", "records_of"]

# Its cells by column.
Record = Mapping[str, Any]


class _Row(Mapping[str, Any]):
    """A record of a list."""

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


def records_of(
    table: pa.Table, id_: str, columns: Sequence[EditColumn], wanted: AbstractSet[str] | None = None
) -> dict[str, Record]:
    """
    Return the records of a loaded list, by id in lower case.

    Parameters
    ----------
    table : Table
    id_ : str
        The column with ids.
    columns : sequence of EditColumn
        Columns to read; those that the table lacks are left out.
    wanted : set of str, optional
        Ids in lower case; all records if not given.
    """
    keys = [id_.casefold() for id_ in table.column(id_).to_pylist()]
    if wanted is not None:
        places = [place for place, key in enumerate(keys) if key in wanted]
        table, keys = table.take(pa.array(places, pa.int64())), [keys[place] for place in places]
    lists = {id_: table.column(id_).to_pylist()}
    for each in columns:
        if each.name in table.column_names:
            lists[each.name] = _cells(table.column(each.name), each)
    return {key: _Row(lists, place) for place, key in enumerate(keys)}


def _cells(cells: pa.ChunkedArray, column: EditColumn) -> list[Any]:
    if not pa.types.is_dictionary(cells.type):
        return [read_cell(column, value) for value in cells.to_pylist()]
    read: list[Any] = []
    for chunk in cells.chunks:
        # Each text once, however many records have it.
        values = [read_cell(column, value) for value in chunk.dictionary.to_pylist()]
        read += [None if index is None else values[index] for index in chunk.indices.to_pylist()]
    return read
