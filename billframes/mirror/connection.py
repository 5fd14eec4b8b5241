"""Answer loaders from the mirror's tables: a connection that takes the place of one to a server.

Lists with filters are answered by `queries`. The few lists without filters (codes, definitions of custom fields,
balances) are returned as the JSON that the server would send, so that their loaders run unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from billframes.errors import MirrorError, NotFoundError
from billframes.loading.checks import check_rates
from billframes.loading.connection import LocalTables
from billframes.loading.load import custom_field_columns, finish
from billframes.loading.progress import Progress
from billframes.loading.query_args import ListRequest
from billframes.loading.select_names import SelectNames
from billframes.mirror.queries import count_rows, read_rows
from billframes.mirror.snapshot import Snapshot
from billframes.paging import LoadResult
from billframes.schema.custom_fields import FieldNames
from billframes.schema.records import ClientBalances, CodeDetail, CodeSet, CustomFieldList
from billframes.schema.resources import CLIENTS, CODES, CUSTOM_FIELDS
from billframes.schema.sources import json_names
from billframes.transport.connections import CancelScope
from billframes.transport.request import QueryPairs, Response

# The seconds that a load from the tables may take.
_LOAD_SECONDS = 3600.0


class MirrorConnection:
    """Answers loaders from a version of the mirror."""

    page_size = 1000
    concurrency = 1
    progress: bool | Progress | None = False
    health_path: str | None = "/"
    acting_user: str | None = None
    acting_user_header = ""

    def __init__(self, snapshot: Callable[[], Snapshot]) -> None:
        self._snapshot = snapshot
        self.select_names = SelectNames(None)
        self._field_names = FieldNames()

    @property
    def field_names(self) -> FieldNames:
        """The names of custom fields' columns, as the refresh of the version stored them."""
        earlier = self._snapshot().version.firm.get("fields", ())
        if self._field_names.earlier != tuple(earlier):
            self._field_names = FieldNames(earlier)
        return self._field_names

    @property
    def tables(self) -> LocalTables:
        """Itself: the tables answer in place of a server."""
        return self

    def load(self, request: ListRequest, *, to: str) -> Any:
        """Return the frame of a request."""
        snapshot = self._snapshot()
        entity = request.resource.entity
        custom = custom_field_columns(self, entity) if entity and "customFields" in request.select else ()
        table = read_rows(snapshot, request, custom)
        check_rates(table, request.resource.name)
        version = snapshot.version
        return finish(table, request, LoadResult(proof="mirror"), version.time, custom, to, version.firm["address"])

    def count(self, request: ListRequest) -> int:
        """Return the number of records that match."""
        return count_rows(self._snapshot(), request)

    def cancel_scope(self) -> CancelScope:
        """Return a cancel scope for the requests of one load."""
        return CancelScope(_LOAD_SECONDS)

    def fetch(self, path: str, query: QueryPairs = (), *, resource: str, **_options: Any) -> Response:
        """Answer a GET of a list without filters; raise `MirrorError` for other paths."""
        snapshot = self._snapshot()
        if path == CODES.path:
            return _response(_codes(snapshot))
        if path == CUSTOM_FIELDS.path:
            return _response(_definitions(snapshot, dict(query).get("entity")))
        client, _, rest = path.removeprefix(f"{CLIENTS.path}/").partition("/")
        if rest == "balances":
            return _response(_balances(snapshot, unquote(client)))
        raise MirrorError(
            f"A mirror holds the API's lists; {resource} can't be answered from it. Connect to the server for it."
        )

    def send(self, method: str, path: str, body: bytes | None = None, *, resource: str, **_options: Any) -> NoReturn:
        """Raise `MirrorError`, because a mirror can only be read."""
        raise MirrorError(f"A mirror can't be written to ({resource}). Connect to the server, then refresh the mirror.")


def _response(data: Any) -> Response:
    return Response(msgspec.json.encode({"data": data}), None)


def _as_json(record: type[Struct], row: Mapping[str, Any]) -> dict[str, Any]:
    return {json_name: row[name] for name, json_name in json_names(record).items() if name in row}


def _codes(snapshot: Snapshot) -> dict[str, Any]:
    codes: dict[str, list[Any]] = {"activity": [], "task": [], "expense": []}
    for row in snapshot.rows("codes"):
        codes[row["code_type"]].append(_as_json(CodeDetail, row))
    return {**codes, "codeSets": [_as_json(CodeSet, row) for row in snapshot.rows("code_sets")]}


def _definitions(snapshot: Snapshot, entity: str | None) -> list[dict[str, Any]]:
    return [
        {**_as_json(CustomFieldList, row), "options": _options(row["option_ids"], row["option_labels"])}
        for row in snapshot.rows("custom_fields")
        if entity is None or row["entity"].casefold() == entity
    ]


def _options(ids: list[str] | None, labels: list[str]) -> list[dict[str, str]] | None:
    if ids is None:
        return None
    return [{"optionId": id_, "label": label} for id_, label in zip(ids, labels, strict=True)]


def _balances(snapshot: Snapshot, client_id: str) -> dict[str, float]:
    row = snapshot.balances.get(client_id)
    if row is None:
        raise NotFoundError(
            f"client_balances: the mirror of {snapshot.version.time:%Y-%m-%d %H:%M} UTC has no client {client_id}.",
            status=404,
            method="GET",
            path=f"{CLIENTS.path}/{client_id}/balances",
        )
    return {name: value for name, value in _as_json(ClientBalances, row).items() if value is not None}
