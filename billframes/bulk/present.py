"""Read the server's present state of some records, in as few requests as possible.

A list takes one request for a thousand records and can be narrowed by date, matter and user, but not by id; a single
record takes one request each, and only it has the codes of expenses and fixed fees and the notes of matters and
clients. The cheaper way is taken. Records that a list does not bring (their date was changed, or they are gone) are
read one by one, so the result never depends on how well the list was narrowed.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from billframes._names import snake_case
from billframes.bulk.cells import values_of
from billframes.bulk.columns import EditColumn
from billframes.bulk.records import Record, Records, hashes_of
from billframes.errors import DecodeError, NotFoundError
from billframes.loading.connection import ApiConnection
from billframes.loading.ids import segment
from billframes.loading.load import count_records, load
from billframes.loading.load_info import told_of
from billframes.loading.query_args import build_request
from billframes.schema.decode import decode_single, same_id
from billframes.schema.resources import Resource

__all__ = ["ListHint", "Server", "cells_of"]

# Up to this many records are read one by one without looking for a cheaper way.
FEW = 6
# A list takes this many requests more than its pages, to be proved whole.
_PROOF = 2


@dataclass(frozen=True, slots=True)
class ListHint:
    """
    How a list can be narrowed to the records that are wanted.

    Parameters
    ----------
    arguments : mapping
        Arguments of the loader: `start`, `end`, and filters.
    rows : int, optional
        How many records it has, if known; otherwise they are counted first.
    otherwise : ListHint, optional
        For the records that this list does not bring, if reading them one by one takes more requests.
    most : int, optional
        How many of the wanted records it has at most, if known.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    otherwise: ListHint | None = None
    most: int | None = None


class Server:
    """
    Reads records, and counts the requests.

    Parameters
    ----------
    connection : ApiConnection
    """

    def __init__(self, connection: ApiConnection) -> None:
        self.connection = connection
        self.requests = 0
        # When the first record was read, by the server's clock.
        self.time: dt.datetime | None = None

    def records(
        self, resource: Resource, ids: Iterable[str], columns: Sequence[EditColumn], hint: ListHint | None = None
    ) -> Records:
        """
        Return the cells of the records that exist.

        Parameters
        ----------
        resource : Resource
        ids : iterable of str
            Iterated twice.
        columns : sequence of EditColumn
            The columns to read.
        hint : ListHint, optional
            How to narrow the list; the whole list if not given.
        """
        wanted = hashes_of(ids)
        found = Records(snake_case(resource.id), columns)
        narrowed = (hint or ListHint()) if all(each.listed for each in columns) else None
        while narrowed is not None:
            missing = wanted[found.lacks(wanted)]
            most = len(missing) if narrowed.most is None else min(len(missing), narrowed.most)
            if self._list_is_cheaper(resource, most, narrowed):
                found.add_list(self._list(resource, columns, narrowed.arguments), missing)
            narrowed = narrowed.otherwise
        lacking = found.lacks(wanted)
        if lacking.any():
            singles = [id_ for id_, lacks in zip(ids, lacking, strict=True) if lacks]
            for id_, record in self._singles(resource, singles, columns):
                found.add_single(id_, record)
        return found

    def listed(self, resource: Resource, columns: Sequence[EditColumn], arguments: Mapping[str, Any]) -> Records:
        """Return the cells of a list's records."""
        found = Records(snake_case(resource.id), columns)
        found.add_list(self._list(resource, columns, arguments))
        return found

    def _list(self, resource: Resource, columns: Sequence[EditColumn], arguments: Mapping[str, Any]) -> pa.Table:
        names = ("start", "end", "modified_since")
        request = build_request(
            resource,
            {name: value for name, value in arguments.items() if name not in names},
            **{name: arguments[name] for name in names if name in arguments},
            select=sorted({each.select for each in columns if each.select}),
        )
        table = load(self.connection, request, to="arrow", progress=False)
        told = told_of(table) or {}
        self.requests += told.get("requests") or 0
        self._read_at(dt.datetime.fromisoformat(str(told["time"])) if told.get("time") else None)
        return table

    def count(self, resource: Resource, arguments: Mapping[str, Any]) -> int:
        """Return how many records a list has."""
        filters = {name: value for name, value in arguments.items() if name not in {"start", "end"}}
        period = {name: arguments[name] for name in ("start", "end") if name in arguments}
        self.requests += 1
        return count_records(self.connection, build_request(resource, filters, **period, select=()))

    def _list_is_cheaper(self, resource: Resource, wanted: int, hint: ListHint) -> bool:
        if wanted <= FEW:
            return False
        rows = self.count(resource, hint.arguments) if hint.rows is None else hint.rows
        return math.ceil(rows / self.connection.page_size) + _PROOF < wanted

    def _singles(
        self, resource: Resource, ids: Sequence[str], columns: Sequence[EditColumn]
    ) -> list[tuple[str, Record]]:
        self.requests += len(ids)
        with ThreadPoolExecutor(self.connection.concurrency) as pool:
            records = pool.map(lambda id_: self.single(resource, id_, columns), ids)
            try:
                return [(id_, each) for id_, each in zip(ids, records, strict=True) if each is not None]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def single(self, resource: Resource, id_: str, columns: Sequence[EditColumn]) -> Record | None:
        """Return the cells of one record; None if it does not exist."""
        path = f"{resource.path}/{segment(id_, 'id')}"
        try:
            answer = self.connection.fetch(path, resource=resource.name)
        except NotFoundError:
            return None
        self._read_at(answer.date)
        return cells_of(answer.body, resource, id_, columns)

    def _read_at(self, date: dt.datetime | None) -> None:
        self.time = date if self.time is None else self.time


def cells_of(body: bytes, resource: Resource, id_: str, columns: Sequence[EditColumn]) -> Record:
    """
    Return the cells of a single record's answer.

    Raises
    ------
    DecodeError
        The answer breaks the API's description, or is of another record.
    """
    struct = decode_single(body, resource.detail, resource.name, id_name=resource.id, id=id_)
    name = snake_case(resource.id)
    came = getattr(struct, name)
    if not same_id(str(came), id_):
        raise DecodeError(f"{resource.name}: asked for record {id_}, the server answered with another one.")
    return {name: came, **values_of(struct, columns, resource)}
