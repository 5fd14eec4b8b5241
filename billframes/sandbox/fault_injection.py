"""Inject faults, so that users can try their error handling; off by default.

Each kind of fault is legal for a server, or at least common. The faults are drawn from a seeded generator, so the same
calls in the same order get the same faults. `BackgroundWriter` creates, changes and deletes unbilled time entries at a
given rate, as another user would, but directly in the database.
"""

from __future__ import annotations

import math
import random
import sqlite3
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from billframes.errors import ConfigError
from billframes.sandbox.credentials import Caller
from billframes.sandbox.items import TIME_ENTRY_WRITES
from billframes.sandbox.operations import Edit, Operation, perform
from billframes.sandbox.problems import Faults, HttpProblem
from billframes.sandbox.query_parameters import ListQuery
from billframes.sandbox.store import Store
from billframes.schema.resources import Resource

OTHER_NAMES = ("", "strict", "lenient", "dropping")
FAULTS = ("500", "502", "503", "504", "drop", "cut", "lost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """
    The faults a sandbox injects. The default injects none.

    Parameters
    ----------
    faults : float
        Share of calls, 0 to 1, that fail.
    fault_kinds : tuple of str
        How they fail. With a status (500, 502, 503, 504) or "drop" (the connection ends after the response's headers)
        the call is not processed. With "cut" it is processed, and the connection ends in the middle of the response.
        With "lost" it is processed, and then the response is 500 or the connection ends, so the outcome of a write is
        unknown.
    shuffled_ties : bool
        Whether records that are equal under the sort are in another order in each response.
    late_commits : float
        Share of writes that become visible later than their modified date.
    late_seconds : float
        Seconds by which they are later.
    still_edits : float
        Share of updates that do not set the modified date.
    most_granted : int, optional
        The largest limit that is granted for a page of a list.
    replaced_objects : bool
        Whether an update replaces a nested object (contact, conflictInformation). Otherwise fields of it that are not
        sent stay.
    other_names : {"", "strict", "lenient", "dropping"}
        Serve the `select` names of another server of this family. A matter's client is selected by `client` instead of
        `matter`. The invoice of a time entry, expense or fixed fee is only sent if `invoice` is selected, and these
        lists have the filter `invoiceId`. An unknown name is refused with 400 ("strict"), ignored ("lenient"), or makes
        the server ignore the whole `select` ("dropping").
    ignored : tuple of str
        Query parameters that are ignored, such as "modifiedSince" or "startDate".
    writes_per_second : float
        How many unbilled time entries the background writer creates, changes or deletes per second.
    seed : int
        Decides which calls get a fault.

    Raises
    ------
    ConfigError
        A share is not from 0 to 1, a number is out of its range, or a word is unknown.
    """

    faults: float = 0.0
    fault_kinds: tuple[str, ...] = FAULTS
    shuffled_ties: bool = False
    late_commits: float = 0.0
    late_seconds: float = 2.0
    still_edits: float = 0.0
    most_granted: int | None = None
    replaced_objects: bool = False
    other_names: str = ""
    ignored: tuple[str, ...] = ()
    writes_per_second: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("faults", "late_commits", "still_edits"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; expected a share from 0 to 1.")
        unknown = set(self.fault_kinds) - set(FAULTS)
        if unknown or not self.fault_kinds:
            raise ConfigError(f"fault_kinds has {sorted(unknown)}; expected some of {', '.join(FAULTS)}.")
        if self.other_names not in OTHER_NAMES:
            raise ConfigError(f"other_names is {self.other_names!r}; expected one of {', '.join(OTHER_NAMES[1:])}.")
        if self.most_granted is not None and self.most_granted < 1:
            raise ConfigError(f"most_granted is {self.most_granted!r}; expected 1 or more.")
        for name in ("late_seconds", "writes_per_second"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ConfigError(f"{name} is {getattr(self, name)!r}; expected a number, 0 or more.")

    @classmethod
    def parse(cls, text: str) -> Trouble:
        """
        Parse the command line's form: `name=value` separated by commas. The words of a value are separated by `+`.

        Examples
        --------
        >>> Trouble.parse("faults=0.1,fault_kinds=503+drop,shuffled_ties").fault_kinds
        ('503', 'drop')
        >>> [Trouble.parse(f"shuffled_ties={word}").shuffled_ties for word in ("yes", "no", "False")]
        [True, False, False]
        """
        defaults = {each.name: each.default for each in fields(cls)}
        settings: dict[str, Any] = {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, _, value = part.partition("=")
            if name not in defaults:
                raise ConfigError(f"{name!r} is not a fault setting; expected some of {', '.join(defaults)}.")
            try:
                settings[name] = _parse_value(defaults[name], value)
            except ValueError:
                raise ConfigError(f"{name} is {value!r}; expected a number.") from None
        return cls(**settings)


def _parse_value(default: Any, text: str) -> Any:
    if isinstance(default, bool):
        return text.lower() not in {"false", "no"}
    if isinstance(default, tuple):
        return tuple(text.split("+"))
    if isinstance(default, str):
        return text
    return float(text) if isinstance(default, float) else int(text)


class FaultInjector:
    """Draw the faults of calls, and change the queries of lists accordingly."""

    def __init__(self, trouble: Trouble) -> None:
        self.trouble = trouble
        self._lock = threading.Lock()
        self._random = random.Random(trouble.seed)  # noqa: S311 - protects no secret

    def happens(self, share: float) -> bool:
        """Draw True in this share of calls."""
        with self._lock:
            return share > 0 and self._random.random() < share

    def draw_fault(self) -> str | None:
        """Return how this call fails; None if it does not."""
        if not self.happens(self.trouble.faults):
            return None
        with self._lock:
            return self._random.choice(self.trouble.fault_kinds)

    def used_parameters(self, pairs: list[tuple[str, str]], resource: Resource) -> list[tuple[str, str]]:
        """Return the query parameters without those that the server ignores."""
        used = [(name, value) for name, value in pairs if name not in self.trouble.ignored]
        if self.trouble.other_names in {"", "strict"}:
            return used
        return [(name, self._used_select(value, resource) if name == "select" else value) for name, value in used]

    def _used_select(self, text: str, resource: Resource) -> str:
        """Return the `select` names that the server uses if it does not refuse unknown names."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        known = [word for word in words if word.removeprefix("-") in resource.select]
        return ",".join([] if self.trouble.other_names == "dropping" and known != words else known)

    def renamed(self, resource: Resource, always: frozenset[str]) -> tuple[Resource, frozenset[str]]:
        """Return the resource and the details that lists always show, as served under `other_names`."""
        if not self.trouble.other_names:
            return resource, always
        replaced = {each.described_name for each in resource.alternates}
        names = [name for name in resource.select if name not in replaced]
        names += [each.name for each in resource.alternates]
        brought = {each.reference for each in resource.alternates}
        filters = tuple(replace(each, described=True) for each in resource.filters)
        return replace(resource, select=tuple(names), filters=filters), always - brought

    def granted_query(self, query: ListQuery) -> ListQuery:
        """Return the query with the granted limit, and with shuffled ties if configured."""
        most = self.trouble.most_granted
        limit = query.limit if most is None else min(query.limit, most)
        return replace(query, limit=limit, shuffled=self.trouble.shuffled_ties)


class FaultMiddleware:
    """Make calls fail, before or after they are processed."""

    def __init__(self, app: ASGIApp, injector: FaultInjector) -> None:
        self._app = app
        self._injector = injector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call, or inject a fault."""
        kind = self._injector.draw_fault() if scope["type"] == "http" else None
        if kind == "lost":
            await self._process(scope, receive)
            kind = "500" if self._injector.happens(0.5) else "drop"
        if kind is None:
            await self._app(scope, receive, send)
        elif kind == "cut":
            start, body = await self._process(scope, receive)
            await _send_cut(send, start, body[: len(body) // 2])
        elif kind == "drop":
            await _send_cut(send, _START, b"")
        else:
            problem = HttpProblem(int(kind), "The sandbox injected this fault, as its settings require.")
            await problem.response()(scope, receive, send)

    async def _process(self, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
        messages: list[Message] = []

        async def store(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, store)
        return messages[0], b"".join(each.get("body", b"") for each in messages[1:])


_START: Message = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]}


async def _send_cut(send: Send, start: Message, body: bytes) -> None:
    """Send fewer bytes than the headers promise; the server then closes the connection."""
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": True})


# Seconds to wait for the current change.
_STOP_TIMEOUT = 3.0

_CREATE, _UPDATE, _DELETE = TIME_ENTRY_WRITES


class BackgroundWriter:
    """A thread that creates, changes and deletes unbilled time entries."""

    def __init__(self, store: Store, trouble: Trouble) -> None:
        self._store = store
        self._pause = 1 / trouble.writes_per_second
        self._random = random.Random(trouble.seed)  # noqa: S311 - protects no secret
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="billframes sandbox background writer", daemon=True)

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop after the current change, without waiting long for a change that waits for a lock."""
        self._stopping.set()
        self._thread.join(_STOP_TIMEOUT)

    def _run(self) -> None:
        while not self._stopping.wait(self._pause):
            # Another process holds the lock, or the database has been closed.
            with suppress(sqlite3.OperationalError):
                self.write()

    def write(self) -> None:
        """Make one change: usually a new entry or a new description, sometimes a deletion."""
        operation = self._random.choices((_CREATE, _UPDATE, _DELETE), (5, 4, 1))[0]
        with self._store.write_transaction() as (connection, at):
            matter = self._pick(connection, "matter", "TRUE", "matter_id, responsible_id")
            entry = self._pick(connection, "time_entry", "invoice_id IS NULL", "time_entry_id")
            if matter is None or (entry is None and operation is not _CREATE):
                return
            id_ = str(uuid.uuid4()) if operation is _CREATE else entry[0]
            edit = Edit(
                operation=operation,
                connection=connection,
                caller=Caller(matter[1], frozenset()),
                at=at,
                id=id_,
                sent=self._body(operation, matter[0], at[:10]),
                faults=Faults(),
            )
            perform(edit)

    def _body(self, operation: Operation, matter_id: str, date: str) -> dict[str, Any]:
        hours = self._random.randint(1, 80) * 1_000
        if operation is _CREATE:
            return {"matterId": matter_id, "date": date, "description": "A colleague's work", "hours": hours}
        return {"description": f"A colleague's change {self._random.randint(1, 10**6)}", "hours": hours}

    def _pick(self, connection: sqlite3.Connection, table: str, where: str, columns: str) -> Any:
        """Return columns of a random record: the next one after a random id."""
        start = str(uuid.UUID(int=self._random.getrandbits(128)))
        key = f"{table}_id"
        sql = f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {key} < ?, {key} LIMIT 1"  # noqa: S608
        return connection.execute(sql, [start]).fetchone()
