"""Loaders of resources that are not lists: codes, code sets, client balances and health."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
import pyarrow as pa

from billframes._shared.names import as_given, snake_case
from billframes._shared.suggestions import check_choice
from billframes.errors import ConfigError, DecodeError, PagingError, ParameterError
from billframes.loaders.lists import Clients
from billframes.loaders.loader import Id, Loader
from billframes.loading.balance_buckets import bucketed
from billframes.loading.convert import FORMATS, Frame, convert
from billframes.loading.ids import identifier, path_segment
from billframes.loading.progress import Progress, check_progress, progress_reporter
from billframes.loading.table_builder import build_table
from billframes.paging.scheduler import ThreadTransport
from billframes.schema.columns import Column, dictionary_encode, enum_column
from billframes.schema.decode import decode_single, stated_total
from billframes.schema.records import BALANCE_SETS, ClientBalances, CodeList, CodeSet, HealthCheckResponse
from billframes.schema.resources import CLIENTS, CODES, Resource
from billframes.schema.sources import ColumnSource, sources_of
from billframes.transport.request import Response


class Codes(Loader):
    """Load LEDES codes."""

    _resource = CODES

    def __call__(self, *, to: str = "pandas") -> Frame:
        """
        Load LEDES codes, each with its code set and its heading.

        Returns
        -------
        DataFrame
            One row for each code: `code_type` (category: activity, task, expense), `code`, `label`, `code_set_id`,
            `code_set_label`, `parent_code`, `parent_label` and `selectable` (boolean; False for headings, which
            can't be assigned), in the server's order.

        Raises
        ------
        DecodeError, ApiError
            As for the other loaders.
        """
        check_choice(to, "to", FORMATS)
        codes = _code_list(self)
        sets = {each.code_set_id: each.label for each in codes.code_sets}
        typed = [(name, each) for name in ("activity", "task", "expense") for each in getattr(codes, name)]
        labels = {(name, each.code_set_id, each.code): each.label for name, each in typed}
        table = build_table([each for _, each in typed], CODES, sources_of(CODES.record))
        types = Column("code_type", "enum", required=True, values=("activity", "task", "expense"))
        added = {
            types: enum_column(dictionary_encode([name for name, _ in typed]), types.values),
            Column("code_set_label", "text"): pa.array([sets.get(each.code_set_id) for _, each in typed], pa.string()),
            Column("parent_label", "text"): pa.array(
                [labels.get((name, each.code_set_id, each.parent_code)) for name, each in typed], pa.string()
            ),
        }
        for column, values in added.items():
            table = table.append_column(column.field, values)
        order = ["code_type", "code", "label", "code_set_id", "code_set_label", "parent_code", "parent_label"]
        return convert(table.select([*order, "selectable"]), to)


class CodeSets(Loader):
    """Load LEDES code sets."""

    _resource = Resource(name="code_sets", path=CODES.path, record=CodeSet, id="codeSetId", paginated=False)

    def __call__(self, *, to: str = "pandas") -> Frame:
        """
        Load LEDES code sets.

        Returns
        -------
        DataFrame
            One row for each set: `code_set_id`, `label` and `description`.
        """
        check_choice(to, "to", FORMATS)
        return convert(build_table(_code_list(self).code_sets, self._resource, sources_of(CodeSet)), to)


class ClientBalancesLoader(Loader):
    """Load what clients owe."""

    _resource = Resource(
        name="client_balances", path=CLIENTS.path, record=ClientBalances, id="clientId", paginated=False
    )

    def __call__(
        self,
        client_ids: Id | Collection[Id] | None = None,
        *,
        normalize: bool = False,
        progress: bool | Progress | None = None,
        to: str = "pandas",
    ) -> Frame:
        """
        Load what clients owe, with one request for each client; several are sent at once.

        Parameters
        ----------
        client_ids : str, UUID or list of these, optional
            The clients. None is all clients; their list is loaded first.
        normalize : bool
            Whether to return the columns of `aging` instead of the API's two sets of fields.
        progress : bool or callable, optional
            As for the other loaders; it counts clients.

        Returns
        -------
        DataFrame
            One row for each client, in the order of `client_ids`, or by name: `client_id`, `balance`, `overdue`, and
            the buckets of both sets of fields of the API, as float64. A server sends one set; the columns of the other
            are empty. The buckets of set A (`current`, `overdue0_to30` …) don't overlap; those of set B (`overdue30` …)
            are cumulative. With `normalize=True`, the columns after `client_id` are those of `aging`: `current`,
            `1-30`, `31-60`, `61-90`, `91+`, `total` and `overdue`, from either set (set A if both are complete), and
            `weighted_days_overdue`, which is always missing, because balances don't show it.

        Raises
        ------
        NotFoundError
            A client does not exist.
        DecodeError
            In a response, both sets are incomplete.

        Warns
        -----
        IncompleteDataWarning
            With `normalize=True`, figures of set B rise from one number of days to the next, so the buckets of these
            clients are missing. The warning names the clients.

        Examples
        --------
        >>> bf.client_balances().columns[:3].tolist()
        ['client_id', 'balance', 'overdue']
        >>> bf.client_balances(normalize=True).columns[:4].tolist()
        ['client_id', 'current', '1-30', '31-60']
        """
        check_choice(to, "to", FORMATS)
        check_progress(progress)
        if not isinstance(normalize, bool):
            raise ParameterError(f"{as_given('normalize', normalize)} is neither True nor False.")
        ids = self._ids(client_ids)
        records = self._records(ids, self._connection.progress if progress is None else progress)
        table = build_table(records, self._resource, sources_of(ClientBalances))
        table = table.add_column(0, pa.field("client_id", pa.string(), nullable=False), pa.array(ids, pa.string()))
        return convert(bucketed(table) if normalize else table, to)

    def _ids(self, client_ids: Id | Collection[Id] | None) -> list[str]:
        if client_ids is None:
            listed = Clients(self._owner)(select="", to="arrow", progress=False)
            return list(listed.column("client_id").to_pylist())
        several = isinstance(client_ids, Collection) and not isinstance(client_ids, str | bytes)
        given: Any = client_ids if several else [client_ids]
        ids = list(dict.fromkeys(identifier(each, "client_ids") for each in given))
        for each in ids:
            path_segment(each, "client_ids")
        return ids

    def _records(self, ids: list[str], progress: bool | Progress | None) -> list[ClientBalances]:
        """Return the balances in the order of the ids; Ctrl-C ends the requests under way."""
        connection = self._connection
        with connection.cancel_scope() as scope, progress_reporter(progress, "client_balances") as report:

            def fetch(client_id: str) -> Response:
                path = f"{CLIENTS.path}/{path_segment(client_id, 'client_ids')}/balances"
                return connection.fetch(path, resource="client_balances", scope=scope)

            records: dict[int, ClientBalances] = {}
            transport = ThreadTransport(fetch, connection.concurrency)
            try:
                for place, client_id in enumerate(ids):
                    transport.send(place, client_id)
                while len(records) < len(ids):
                    place, response = transport.receive()
                    if isinstance(response, BaseException):
                        raise response
                    records[place] = _balances(response.body, ids[place])
                    report(len(records), len(ids))
            finally:
                transport.close()
        return [records[place] for place in range(len(ids))]


def _balances(body: bytes, client_id: str) -> ClientBalances:
    record: ClientBalances = decode_single(body, ClientBalances, "client_balances", id=client_id)
    if not any(all(getattr(record, snake_case(name)) is not None for name in names) for names in BALANCE_SETS.values()):
        raise DecodeError(
            f"client_balances: record {client_id} breaks the API's description at $.data: both sets of balance fields "
            "are incomplete."
        )
    return record


class Health(Loader):
    """Load the result of the server's health check."""

    _resource = Resource(name="health", path="", record=HealthCheckResponse, id="status", paginated=False)

    def __call__(self, *, to: str = "pandas") -> Frame:
        """
        Load the result of the server's health check.

        The API's description does not show the path of the health check. Give it as `health_path=` when you connect.

        Returns
        -------
        DataFrame
            One row: `status` (category: unhealthy, degraded, healthy), `version` (JSON text, because the API's
            description does not show its fields) and `message`.

        Raises
        ------
        ConfigError
            No `health_path` is set.
        """
        check_choice(to, "to", FORMATS)
        path = self._connection.health_path
        if not path:
            raise ConfigError(
                "The API's description does not show the path of the health check. Give it when you connect, such as "
                "health_path='/health'."
            )
        body = self._connection.fetch(path, resource="health", may_be_empty=True).body
        record = _health(body)
        sources = [
            source if source.column.name != "version" else ColumnSource(Column("version", "text"), "version_text")
            for source in sources_of(HealthCheckResponse)
        ]
        return convert(build_table([record], self._resource, sources), to)


class _HealthRow(HealthCheckResponse):
    @property
    def version_text(self) -> str | None:
        return None if self.version is None else msgspec.json.encode(self.version).decode()


def _health(body: bytes) -> _HealthRow:
    # The response may be wrapped like a single record or not: the API's description does not show it.
    text = body.strip() or b"{}"
    try:
        data = msgspec.json.decode(text, type=dict[str, msgspec.Raw]).get("data", b"")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        data = b""
    wrapped = bytes(data).lstrip()[:1] == b"{"
    record: _HealthRow = decode_single(text if wrapped else b'{"data": %s}' % text, _HealthRow, "health")
    return record


def _code_list(loader: Loader) -> CodeList:
    body = loader._connection.fetch(CODES.path, resource="codes").body
    codes: CodeList = decode_single(body, CodeList, "codes")
    received = sum(map(len, (codes.activity, codes.task, codes.expense)))
    total = stated_total(body)
    if total is not None and total > received:
        raise PagingError(
            f"codes: the server sent {received} of {total} codes, and the API has no way to request the others."
        )
    return codes
