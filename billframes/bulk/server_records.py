"""Read the current state of some records from the server, in as few requests as possible.

A list takes one request per thousand records. It can be filtered by date, matter and user, but not by id. A single
record takes one request, and only it has the codes of expenses and fixed fees and the notes of matters and clients. The
way that takes fewer requests is used. Records that are not in the list are then read one by one: their date may have
been changed, or they were deleted. So the result does not depend on the filters of the list.

New records have no id, so they are found by their values: the same matter, date, person, narrative, and hours or
amount; for matters client, name and reference, and for clients name and reference.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from billframes.bulk.cells import cells_equal, read_cell, record_cells
from billframes.bulk.columns import EditColumn
from billframes.errors import DecodeError, NotFoundError
from billframes.loading.connection import ApiConnection, request_threads
from billframes.loading.ids import path_segment
from billframes.loading.load import count_records, load
from billframes.loading.load_info import attached
from billframes.loading.query_args import ListRequest, build_request
from billframes.schema.decode import decode_single, same_id
from billframes.schema.resources import CLIENTS, MATTERS, Resource

# The cells of one record by column.
ServerRecord: TypeAlias = Mapping[str, Any]

# Up to this many records are read one by one without counting the list first.
_FEW_RECORDS = 6
# Requests that a list takes besides its pages, to prove that it is complete.
_PROOF_REQUESTS = 2


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


def _records_of(table: pa.Table, id_: str, columns: Sequence[EditColumn]) -> dict[str, ServerRecord]:
    """Return the rows of a loaded list by id in lower case, without the columns that it lacks."""
    ids = table.column(id_).to_pylist()
    columns = [each for each in columns if each.name in table.column_names]
    names = (id_, *(each.name for each in columns))
    cells = zip(ids, *(_read_column(table.column(each.name), each) for each in columns), strict=True)
    return {row[0].casefold(): dict(zip(names, row, strict=True)) for row in cells}


@dataclass(frozen=True, slots=True)
class ListHint:
    """Filters for a list that probably has the wanted records, at most `at_most`; `fallback` is a list for others."""

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
    ) -> dict[str, ServerRecord]:
        """Return the cells of the records that exist, by id in lower case."""
        wanted = {each.casefold() for each in ids}
        found: dict[str, ServerRecord] = {}
        hint = (hint or ListHint()) if all(each.listed for each in columns) else None
        while hint is not None:
            missing = wanted - found.keys()
            at_most = len(missing) if hint.at_most is None else min(len(missing), hint.at_most)
            if self._list_is_cheaper(resource, at_most, hint):
                listed = self.listed(resource, columns, hint.arguments)
                found |= {id_: listed[id_] for id_ in missing & listed.keys()}
            hint = hint.fallback
        singles = [id_ for id_ in ids if id_.casefold() not in found]
        if singles:
            self.requests += len(singles)
            with request_threads(self.connection.concurrency) as pool:
                records = pool.map(lambda id_: self._record(resource, id_, columns), singles)
                found |= {id_.casefold(): each for id_, each in zip(singles, records, strict=True) if each}
        return found

    def listed(
        self, resource: Resource, columns: Sequence[EditColumn], arguments: Mapping[str, Any]
    ) -> dict[str, ServerRecord]:
        """Return the cells of a list's records, by id in lower case."""
        select = sorted({each.select for each in columns if each.select})
        table = load(self.connection, _list_request(resource, arguments, select), to="arrow", progress=False)
        info = attached(table, "load") or {}
        self.requests += info.get("requests") or 0
        self._note_time(dt.datetime.fromisoformat(str(info["time"])) if info.get("time") else None)
        return _records_of(table, resource.id_column, columns)

    def count(self, resource: Resource, arguments: Mapping[str, Any]) -> int:
        """Return the number of records in a list."""
        self.requests += 1
        return count_records(self.connection, _list_request(resource, arguments, ()))

    def _list_is_cheaper(self, resource: Resource, wanted: int, hint: ListHint) -> bool:
        if wanted <= _FEW_RECORDS:
            return False
        rows = self.count(resource, hint.arguments) if hint.rows is None else hint.rows
        return math.ceil(rows / self.connection.page_size) + _PROOF_REQUESTS < wanted

    def _record(self, resource: Resource, id_: str, columns: Sequence[EditColumn]) -> ServerRecord | None:
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
    """Return the cells of a single record from the body of its response."""
    struct = decode_single(body, resource.detail, resource.name, id_name=resource.id, id=id_)
    name = resource.id_column
    returned = getattr(struct, name)
    if not same_id(str(returned), id_):
        raise DecodeError(f"{resource.name}: record {id_} was requested, and the server returned another one.")
    return {name: returned, **record_cells(struct, columns, resource)}


_ITEM_COLUMNS = ("matter_id", "date", "user_id", "description", "hours", "amount")
_OTHER_COLUMNS = {MATTERS.name: ("client_id", "name", "reference"), CLIENTS.name: ("name", "reference")}
# Records of at most this many matters are listed by matter.
_MOST_MATTERS = 3


def identity_of(resource: Resource, cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by which a new record can be found; of a time entry sent without a timekeeper, any will do."""
    names = _OTHER_COLUMNS.get(resource.name, _ITEM_COLUMNS)
    if resource.name == "time_entries":
        return {name: cells[name] for name in names if cells.get(name) is not None}
    # If these two are not sent, the new record has none.
    return {name: cells.get(name) for name in names if name in cells or name in {"user_id", "reference"}}


def find_by_values(
    reader: RecordReader,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    wanted: Sequence[Mapping[str, Any]],
    *,
    since: dt.datetime | None = None,
) -> list[list[ServerRecord]]:
    """Return, for each set of values of `identity_of`, the records that have them and were created since."""
    if not wanted:
        return []
    names = {name for each in wanted for name in each} | {"created_at"}
    read = [columns[name] for name in columns if name in names]
    positions: dict[Any, list[ServerRecord]] = {}
    for record in reader.listed(resource, read, _arguments(resource, wanted, since)).values():
        if since is None or record.get("created_at") is None or record["created_at"] >= since:
            positions.setdefault(_first_key(resource, record), []).append(record)
    return [
        [
            record
            for record in positions.get(_first_key(resource, each), ())
            if all(cells_equal(columns[name], record.get(name), value) for name, value in each.items())
        ]
        for each in wanted
    ]


def _first_key(resource: Resource, cells: Mapping[str, Any]) -> Any:
    """Return the values to look records up by, so that not every record is compared with every row."""
    if resource.name in _OTHER_COLUMNS:
        return cells.get("name")
    return str(cells.get("matter_id")).casefold(), cells.get("date")


def _arguments(resource: Resource, wanted: Sequence[Mapping[str, Any]], since: dt.datetime | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {"modified_since": since - dt.timedelta(seconds=1)} if since else {}
    if resource.date:
        days = [each["date"] for each in wanted]
        arguments |= {"start": min(days), "end": max(days)}
        matters = {each["matter_id"] for each in wanted}
        if len(matters) <= _MOST_MATTERS:
            arguments["matter_id"] = sorted(matters)
    elif len(wanted) == 1:
        arguments["query"] = wanted[0]["name"]
    return arguments
