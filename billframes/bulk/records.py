"""Hold records of the server in an Arrow table, of which a few thousand rows are read at a time.

A Python object for each cell would take ten times as much memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from billframes.bulk.cells import read_cell
from billframes.bulk.columns import EditColumn

__all__ = ["ServerRecord", "ServerRecords"]

# The cells of one record by column.
ServerRecord: TypeAlias = Mapping[str, Any]

_ROWS_AT_ONCE = 5_000


class ServerRecords:
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
        # Tables, each with the row of each id in lower case.
        self._tables: list[tuple[pa.Table, dict[str, int]]] = []
        self._singles: dict[str, ServerRecord] = {}

    def add_list(self, table: pa.Table, wanted: Collection[str] | None = None) -> None:
        """Add the records of a loaded list, or those with the wanted ids, which are in lower case."""
        names = [self._id, *(each.name for each in self._columns if each.name in table.column_names)]
        table = table.select(list(dict.fromkeys(names)))
        rows = {id_.casefold(): row for row, id_ in enumerate(table.column(self._id).to_pylist())}
        if wanted is not None:
            inside = [id_ for id_ in rows if id_ in wanted]
            table = table.take(pa.array([rows[id_] for id_ in inside], pa.int64()))
            rows = {id_: row for row, id_ in enumerate(inside)}
        self._tables.append((table, rows))

    def add_single(self, id_: str, record: ServerRecord) -> None:
        """Add one record."""
        self._singles[id_.casefold()] = record

    def __contains__(self, id_: str) -> bool:
        return id_ in self._singles or any(id_ in rows for _, rows in self._tables)

    def find(self, ids: Iterable[str]) -> dict[str, ServerRecord]:
        """Return the records with these ids that exist, by id in lower case."""
        keys = [each.casefold() for each in ids]
        found = {key: self._singles[key] for key in keys if key in self._singles}
        for table, rows in self._tables:
            found |= self._records(table.take(pa.array([rows[key] for key in keys if key in rows], pa.int64())))
        return found

    def has_values(self, name: str) -> bool:
        """Tell whether any record has a value in a column."""
        for table, _ in self._tables:
            if name in table.column_names and table.column(name).null_count < len(table):
                return True
        return any(record.get(name) is not None for record in self._singles.values())

    def items(self) -> Iterator[tuple[str, ServerRecord]]:
        """Yield each id in lower case, with its record."""
        for table, _ in self._tables:
            for start in range(0, len(table), _ROWS_AT_ONCE):
                yield from self._records(table.slice(start, _ROWS_AT_ONCE)).items()
        yield from self._singles.items()

    def __len__(self) -> int:
        return sum(len(table) for table, _ in self._tables) + len(self._singles)

    def _records(self, table: pa.Table) -> dict[str, ServerRecord]:
        ids = table.column(self._id).to_pylist()
        columns = [each for each in self._columns if each.name in table.column_names]
        names = (self._id, *(each.name for each in columns))
        cells = zip(ids, *(_read_column(table.column(each.name), each) for each in columns), strict=True)
        return {id_.casefold(): dict(zip(names, row, strict=True)) for id_, row in zip(ids, cells, strict=True)}


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
