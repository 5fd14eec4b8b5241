"""Read the current state of some records from the server, in as few requests as possible.

A list takes one request per thousand records. It can be filtered by date, matter and user, but not by id. A single
record takes one request, and only it has the codes of expenses and fixed fees and the notes of matters and clients. The
way that takes fewer requests is used. Records that are not in the list are then read one by one: their date may have
been changed, or they were deleted. So the result does not depend on the filters of the list.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from billframes.bulk.cells import read_cell, record_cells
from billframes.bulk.columns import EditColumn
from billframes.errors import DecodeError, NotFoundError
from billframes.loading.connection import ApiConnection, request_threads
from billframes.loading.ids import path_segment
from billframes.loading.load import count_records, load
from billframes.loading.load_info import load_attrs
from billframes.loading.query_args import ListRequest, build_request
from billframes.schema.decode import decode_single, same_id
from billframes.schema.resources import Resource

__all__ = ["ListHint", "RecordReader", "ServerRecord", "ServerRecords", "response_cells"]

# The cells of one record by column.
ServerRecord: TypeAlias = Mapping[str, Any]

# Up to this many records are read one by one without counting the list first.
_FEW_RECORDS = 6
# Requests that a list takes besides its pages, to prove that it is complete.
_PROOF_REQUESTS = 2
_ROWS_AT_ONCE = 5_000


class ServerRecords:
    """
    Records by id, in Arrow tables. A Python object for each cell would take ten times as much memory.

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


@dataclass(frozen=True, slots=True)
class ListHint:
    """
    Filters for a list that probably has the wanted records.

    Parameters
    ----------
    arguments : mapping
        Arguments of the loader: `start`, `end`, and filters.
    rows : int, optional
        The number of records in the list; counted first if unknown.
    fallback : ListHint, optional
        Another list for records that are not in this one, if reading them one by one would take more requests.
    at_most : int, optional
        The highest possible number of wanted records in this list, if known.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    fallback: ListHint | None = None
    at_most: int | None = None


class RecordReader:
    """Reads records from the server, and counts the requests."""

    def __init__(self, connection: ApiConnection) -> None:
        self.connection = connection
        self.requests = 0
        # When the first record was read, by the server's clock.
        self.time: dt.datetime | None = None

    def records(
        self, resource: Resource, ids: Iterable[str], columns: Sequence[EditColumn], hint: ListHint | None = None
    ) -> ServerRecords:
        """
        Return the cells of the records that exist.

        Parameters
        ----------
        resource : Resource
        ids : iterable of str
            Ids of the records; iterated twice.
        columns : sequence of EditColumn
            The columns to read.
        hint : ListHint, optional
            Filters for the list; the whole list if not given.
        """
        wanted = {each.casefold() for each in ids}
        found = ServerRecords(resource.id_column, columns)
        hint = (hint or ListHint()) if all(each.listed for each in columns) else None
        while hint is not None:
            missing = {each for each in wanted if each not in found}
            at_most = len(missing) if hint.at_most is None else min(len(missing), hint.at_most)
            if self._list_is_cheaper(resource, at_most, hint):
                found.add_list(self._list(resource, columns, hint.arguments), missing)
            hint = hint.fallback
        singles = [id_ for id_ in ids if id_.casefold() not in found]
        if singles:
            for id_, record in self._read_singly(resource, singles, columns):
                found.add_single(id_, record)
        return found

    def listed(self, resource: Resource, columns: Sequence[EditColumn], arguments: Mapping[str, Any]) -> ServerRecords:
        """Return the cells of a list's records."""
        found = ServerRecords(resource.id_column, columns)
        found.add_list(self._list(resource, columns, arguments))
        return found

    def _list(self, resource: Resource, columns: Sequence[EditColumn], arguments: Mapping[str, Any]) -> pa.Table:
        select = sorted({each.select for each in columns if each.select})
        table = load(self.connection, _list_request(resource, arguments, select), to="arrow", progress=False)
        info = load_attrs(table) or {}
        self.requests += info.get("requests") or 0
        self._note_time(dt.datetime.fromisoformat(str(info["time"])) if info.get("time") else None)
        return table

    def count(self, resource: Resource, arguments: Mapping[str, Any]) -> int:
        """Return the number of records in a list."""
        self.requests += 1
        return count_records(self.connection, _list_request(resource, arguments, ()))

    def _list_is_cheaper(self, resource: Resource, wanted: int, hint: ListHint) -> bool:
        if wanted <= _FEW_RECORDS:
            return False
        rows = self.count(resource, hint.arguments) if hint.rows is None else hint.rows
        return math.ceil(rows / self.connection.page_size) + _PROOF_REQUESTS < wanted

    def _read_singly(
        self, resource: Resource, ids: Sequence[str], columns: Sequence[EditColumn]
    ) -> list[tuple[str, ServerRecord]]:
        self.requests += len(ids)
        with request_threads(self.connection.concurrency) as pool:
            records = pool.map(lambda id_: self.record(resource, id_, columns), ids)
            return [(id_, each) for id_, each in zip(ids, records, strict=True) if each is not None]

    def record(self, resource: Resource, id_: str, columns: Sequence[EditColumn]) -> ServerRecord | None:
        """Return the cells of one record; None if it does not exist."""
        path = f"{resource.path}/{path_segment(id_, 'id')}"
        try:
            answer = self.connection.fetch(path, resource=resource.name)
        except NotFoundError:
            return None
        self._note_time(answer.date)
        return response_cells(answer.body, resource, id_, columns)

    def _note_time(self, date: dt.datetime | None) -> None:
        self.time = date if self.time is None else self.time


def _list_request(resource: Resource, arguments: Mapping[str, Any], select: Iterable[str]) -> ListRequest:
    times = {name: arguments[name] for name in ("start", "end", "modified_since") if name in arguments}
    filters = {name: value for name, value in arguments.items() if name not in times}
    return build_request(resource, filters, **times, select=select)


def response_cells(body: bytes, resource: Resource, id_: str, columns: Sequence[EditColumn]) -> ServerRecord:
    """
    Return the cells of a single record from the body of its response.

    Raises
    ------
    DecodeError
        The response does not fit the API's description, or has another record.
    """
    struct = decode_single(body, resource.detail, resource.name, id_name=resource.id, id=id_)
    name = resource.id_column
    returned = getattr(struct, name)
    if not same_id(str(returned), id_):
        raise DecodeError(f"{resource.name}: record {id_} was requested, and the server returned another one.")
    return {name: returned, **record_cells(struct, columns, resource)}
