"""Load the server's lists for a refresh: count the requests, and note the server's time.

Long lists of dated records are loaded window by window, so that little memory is needed. Each window is loaded
separately, and proved to be complete. A record whose date changes while the windows are loaded can be in two of them,
or in none. So the caller removes duplicates, and stores the changes since the refresh began.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, cast

import pyarrow as pa
import pyarrow.compute as pc

from billframes.client import Client
from billframes.errors import MirrorError, NotFoundError
from billframes.loaders.loader_set import LoaderSet
from billframes.loading.connection import ApiConnection, Connected
from billframes.loading.ids import path_segment
from billframes.loading.progress import Progress
from billframes.mirror.day_search import Window
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import Table, to_stored
from billframes.schema.custom_fields import FieldNames
from billframes.schema.decode import stated_total
from billframes.schema.resources import CODES, CUSTOM_FIELDS
from billframes.transport.request import QueryPairs, Response

# The most times that balances are requested if a client is deleted between the list and its balance.
_TRIES = 3
# The number of invoices listed in addition to those that are open in the mirror, to find new ones.
EXTRA_INVOICES = 50
# The number of records in a window.
WINDOW_ROWS = 50_000
_DAY = dt.timedelta(days=1)


class _CountingConnection:
    """A connection that counts its requests and keeps the earliest time that the server states."""

    tables = None

    def __init__(self, connection: ApiConnection, progress: bool | Progress | None) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.progress = connection.progress if progress is None else progress
        self.requests = 0
        self.first_date: dt.datetime | None = None
        # Custom fields and codes are requested once, so that all frames of a refresh have the same columns. If the
        # definitions of all custom fields are known, a load takes those of its entity from them.
        self._definitions: dict[tuple[str, QueryPairs], Response] = {}
        self.field_names = FieldNames()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def fetch(self, path: str, query: QueryPairs = (), **options: Any) -> Response:
        key = path, tuple(query)
        known = self._definitions.get(key) or self._definitions.get((path, ()))
        if known is not None:
            return known
        with self._lock:
            self.requests += 1
        response = self._connection.fetch(path, query, **options)
        with self._lock:
            if response.date and (self.first_date is None or response.date < self.first_date):
                self.first_date = response.date
            if path in {CUSTOM_FIELDS.path, CODES.path} and stated_total(response.body) is None:
                self._definitions[key] = response
        return response

    def send(self, *_args: Any, **_options: Any) -> NoReturn:
        raise MirrorError("A refresh writes nothing to the server.")


class _RecordingConnection:
    """A connection that keeps the responses of one list, for the total that they state."""

    def __init__(self, connection: _CountingConnection, path: str) -> None:
        self._counting = connection
        self._path = path
        self.bodies: list[bytes] = []

    @property
    def _connection(self) -> Any:
        """Itself: loaders can belong to it as they belong to a client."""
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._counting, name)

    def fetch(self, path: str, query: QueryPairs = (), **options: Any) -> Response:
        response = self._counting.fetch(path, query, **options)
        if path == self._path:
            self.bodies.append(response.body)
        return response


class ServerLists:
    """The lists of a server, as Arrow tables."""

    def __init__(self, client: Client, progress: bool | Progress | None = None) -> None:
        self.address = str(client.base_url)
        self.client = client
        self.concurrency = client._connection.concurrency
        self._connection = _CountingConnection(client._connection, progress)
        self._loaders = LoaderSet(lambda: cast("Connected", self))

    def keep_field_names(self, earlier: Collection[str]) -> None:
        """Let custom fields keep the names of their columns, given their ids in the order in which they got them."""
        self._connection.field_names = FieldNames(earlier)

    @property
    def requests(self) -> int:
        """The number of requests so far."""
        return self._connection.requests

    @property
    def page_size(self) -> int:
        """The number of records on a page."""
        return int(self._connection.page_size)

    @property
    def time(self) -> dt.datetime | None:
        """The server's time at the first response; None if it does not state it."""
        return self._connection.first_date

    def load(self, name: str, *period: Any, **options: Any) -> pa.Table:
        """Load a list."""
        frame: pa.Table = getattr(self._loaders, name)(*period, **options, to="arrow")
        return frame

    def load_window(self, table: Table, window: Window = (None, None)) -> pa.Table:
        """Load a window of a dated list, or a whole list without dates."""
        return self.load(table.name, *(window if table.date else ()))

    def count(self, name: str, *period: Any, **options: Any) -> int:
        """Count a list."""
        return int(getattr(self._loaders, name).count(*period, **options))

    def first_page(self, table: Table, *period: Any, **options: Any) -> tuple[pa.Table, int] | None:
        """Load the first page of a dated list, and the total that it states; None if that took several requests."""
        recording = _RecordingConnection(self._connection, getattr(self._loaders, table.name)._resource.path)
        options |= {"sort": table.date_sort, "limit": self.page_size, "progress": False, "to": "arrow"}
        loader = getattr(LoaderSet(lambda: recording), table.name)
        frame: pa.Table = loader(*period, **options)
        total = stated_total(recording.bodies[0])
        return None if total is None or len(recording.bodies) > 1 else (frame, total)

    def client_ids(self) -> list[str]:
        """Return the ids of all clients, in the order in which their balances are listed."""
        return list(self.load("clients", select="", progress=False).column("client_id").to_pylist())

    def balances(self, client_ids: Collection[str] | None = None) -> pa.Table:
        """Load the balances of some or all clients; a client may be deleted while they are read."""
        for _ in range(_TRIES - 1):
            try:
                return self.load("client_balances", client_ids)
            except NotFoundError:
                if client_ids is not None:
                    client_ids = sorted({*client_ids} & {*self.client_ids()})
        return self.load("client_balances", client_ids)

    def open_invoices(self, above: int, below: int) -> pa.Table:
        """Load the final invoices with a balance above or below 0; there were about `above` and `below` of them."""
        return pa.concat_tables([self._balances_from("-balance", above, 1), self._balances_from("balance", below, -1)])

    def _balances_from(self, sort: str, about: int, sign: int) -> pa.Table:
        # A few more rows than expected, to find the end of the open ones, but not an additional page.
        limit = min(about + EXTRA_INVOICES, (about // self.page_size + 1) * self.page_size)
        while True:
            rows = self.load("invoices", invoice_state="final", sort=sort, limit=limit, progress=False)
            open_rows = rows.filter(pc.greater(pc.multiply(rows.column("balance"), sign), 0))
            if rows.num_rows < limit or open_rows.num_rows < rows.num_rows:
                return open_rows
            limit *= 2

    def shows_rates(self) -> bool | None:
        """Tell whether the credential sees rates; None if there is no billable entry."""
        entries = self.load("time_entries", billing_type="billable", limit=1, progress=False)
        return bool(entries.column("rate").null_count == 0) if entries.num_rows else None

    def is_deleted(self, table: Table, id_: str) -> bool:
        """Tell whether the server no longer has the record; True for lists without single records."""
        if table.resource is None or table.resource.detail is None:
            return True
        try:
            self._connection.fetch(f"{table.resource.path}/{path_segment(id_, 'id')}", resource=table.name)
        except NotFoundError:
            return True
        return False

    def invoices_of(self, client_ids: Collection[str]) -> pa.Table:
        """Load all invoices of some clients."""
        return self.load("invoices", client_id=list(client_ids))


def cut_windows(server: ServerLists, table: Table, total: int) -> list[Window]:
    """Cut a list into windows of at most about `WINDOW_ROWS` records; the first and last window are open."""
    if not table.date or total <= WINDOW_ROWS:
        return [(None, None)]
    first, last = (
        server.load(table.name, sort=order, limit=1, progress=False).column(table.date)[0].as_py()
        for order in (table.date_sort, f"-{table.date_sort}")
    )
    cuts = list(_cuts(server, table, first, last, total))
    starts = [None, *(cut + _DAY for cut in cuts)]
    return list(zip(starts, [*cuts, None], strict=True))


def fill(server: ServerLists, stored: StoredTable, windows: list[Window]) -> Iterator[pa.Table]:
    """Load all windows into an empty table; each window is written while the next one is loaded."""
    with ThreadPoolExecutor(1) as writing:
        pending = None
        for window in windows:
            frame = server.load_window(stored.table, window)
            if pending is not None:
                pending.result()
            pending = writing.submit(stored.append, to_stored(frame, stored.table))
            yield frame
        if pending is not None:
            pending.result()


def _cuts(server: ServerLists, table: Table, first: dt.date, last: dt.date, total: int) -> Iterator[dt.date]:
    """Yield the last days of windows between two days; these are ends of months if possible."""
    if total <= WINDOW_ROWS or first >= last:
        return
    cut = _middle(first, last)
    before = server.count(table.name, first, cut)
    yield from _cuts(server, table, first, cut, before)
    yield cut
    yield from _cuts(server, table, cut + _DAY, last, total - before)


def _middle(first: dt.date, last: dt.date) -> dt.date:
    """Return a day before `last`, about in the middle; the end of a month if there is one between the days."""
    day = first + (last - first) // 2
    end_of_month = day.replace(day=1) - _DAY
    return end_of_month if first <= end_of_month < last else day
