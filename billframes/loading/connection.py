"""A client's connection to its server, and the protocol that a mirror's connection follows, too; lend threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from billframes.config.profiles import Limits
from billframes.config.secret import Secret
from billframes.loading.ids import identifier
from billframes.loading.progress import Progress
from billframes.loading.query_args import ListRequest
from billframes.loading.select_names import SelectNames
from billframes.schema.custom_fields import FieldNames
from billframes.transport.connections import CancelScope
from billframes.transport.http import HttpClient
from billframes.transport.request import OutcomeCheck, QueryPairs, Response, absolute_path


@contextmanager
def request_threads(number: int) -> Iterator[ThreadPoolExecutor]:
    """Lend threads that send requests side by side. If anything is raised, the requests that wait are not sent."""
    with ThreadPoolExecutor(number) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class LocalTables(Protocol):
    """A local copy of the API's lists, which answers in place of a server."""

    def load(self, request: ListRequest, *, to: str) -> Any:
        """Return a frame of the records of a request."""

    def count(self, request: ListRequest) -> int:
        """Return how many records match."""


class ApiConnection(Protocol):
    """A connection to one API, or to a local copy of it, with the options that loads and single records use."""

    page_size: int
    concurrency: int
    progress: bool | Progress | None
    health_path: str | None
    acting_user: str | None
    acting_user_header: str
    select_names: SelectNames

    @property
    def field_names(self) -> FieldNames:
        """The names of custom fields' columns."""

    @property
    def tables(self) -> LocalTables | None:
        """The local copy that lists are read from; None if they are requested from the server."""

    def cancel_scope(self) -> CancelScope:
        """Return a cancel scope for the requests of one load; leaving its `with` block cancels them."""

    def fetch(
        self,
        path: str,
        query: QueryPairs = (),
        *,
        resource: str,
        scope: CancelScope | None = None,
        may_be_empty: bool = False,
    ) -> Response:
        """Send one GET."""

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        resource: str,
        headers: Mapping[str, str] | None = None,
        check_outcome: OutcomeCheck | None = None,
    ) -> Response:
        """Send one POST, PUT or DELETE."""


class WritingConnection(ApiConnection, Protocol):
    """A connection to a server whose address is known, unlike that of a mirror."""

    base_url: str


class Connected(Protocol):
    """A client or a mirror: it has the connection that its loaders use."""

    @property
    def _connection(self) -> ApiConnection: ...


class ServerConnection(HttpClient):
    """A client's connection: it sends requests, and has the options that loads and single records use."""

    tables: LocalTables | None = None

    def __init__(self, base_url: str, *, token: Secret | None, limits: Limits, options: Mapping[str, Any]) -> None:
        names = ("auth", "headers", "timeout", "retries", "concurrency", "rate_limit", "verify", "transport")
        super().__init__(base_url, token=token, limits=limits, **{name: options[name] for name in names})
        self.progress: bool | Progress | None = options["progress"]
        self.page_size: int = options["page_size"]
        self.concurrency: int = options["concurrency"]
        acting = options["acting_user"]
        self.acting_user: str | None = identifier(acting, "acting_user") if acting else None
        self.acting_user_header: str = options["acting_user_header"]
        self.health_path = absolute_path(options["health_path"]) if options["health_path"] else None
        self.select_names = SelectNames(options["select_names"])
        self.field_names = FieldNames()
