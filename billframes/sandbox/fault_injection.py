"""Inject faults, to try one's own error handling; off by default.

Each kind of fault is legal for a server, or at least common. All are drawn from one seeded generator, so the same calls
in the same order get the same faults. `BackgroundWriter` creates, changes and deletes unbilled time entries at a given
rate, as a colleague of the caller would: directly in the database, not over HTTP.
"""

from __future__ import annotations

import math
import random
import sqlite3
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from billframes.errors import ConfigError
from billframes.sandbox.credentials import Caller
from billframes.sandbox.parameters import ListQuery
from billframes.sandbox.problems import Faults, Problem
from billframes.sandbox.store import Store
from billframes.sandbox.writes.edits import Edit, Operation, perform
from billframes.sandbox.writes.items import TIME_ENTRY_WRITES
from billframes.schema.resources import Resource

__all__ = ["FAULTS", "BackgroundWriter", "FaultInjector", "FaultMiddleware", "Trouble"]

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
        How they fail. A status (500, 502, 503, 504) or "drop" (the connection ends after the response's headers)
        comes before anything is done. "cut" does what was asked and ends the connection in the middle of the
        response. "lost" does what was asked, then answers 500 or ends the connection: a write's outcome is unknown.
    shuffled_ties : bool
        Records equal under the sort come in another order each time.
    late_commits : float
        Share of writes that become visible later than the instant they are dated by.
    late_seconds : float
        How much later, in seconds.
    still_edits : float
        Share of updates that do not move the modified date.
    most_granted : int, optional
        The most records granted per page of a list.
    replaced_objects : bool
        Whether an update replaces a nested object (contact, conflictInformation). Otherwise fields of it that are not
        sent stay.
    other_names : {"", "strict", "lenient", "dropping"}
        Serve the `select` names of another server of this family: a matter's client comes by `client` instead of
        `matter`, the invoice of a time entry, expense or fixed fee only by `invoice`, and these lists have the filter
        `invoiceId`. An unknown name is refused with 400 ("strict"), ignored ("lenient"), or makes the server ignore the
        whole `select` ("dropping").
    ignored : tuple of str
        Query parameters that are ignored, such as "modifiedSince" or "startDate".
    writes_per_second : float
        How many unbilled time entries a colleague creates, changes or deletes a second.
    seed : int
        Decides which calls have a fault.

    Raises
    ------
    ConfigError
        A share is not from 0 to 1, or a kind of fault is unknown.
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
        few = self.most_granted is not None and self.most_granted < 1
        rates = (self.late_seconds, self.writes_per_second)
        if few or not all(0 <= each < math.inf for each in rates):
            raise ConfigError("late_seconds and writes_per_second are numbers from 0; most_granted is 1 or more.")

    @classmethod
    def read(cls, text: str) -> Trouble:
        """
        Parse the command line's form: `name=value` separated by commas; several words separated by `+`.

        Examples
        --------
        >>> Trouble.read("faults=0.1,fault_kinds=503+drop,shuffled_ties").fault_kinds
        ('503', 'drop')
        >>> [Trouble.read(f"shuffled_ties={word}").shuffled_ties for word in ("yes", "no", "False")]
        [True, False, False]
        """
        known = {each.name: each.default for each in fields(cls)}
        settings: dict[str, Any] = {}
        for part in filter(None, (each.strip() for each in text.split(","))):
            name, _, value = part.partition("=")
            if name not in known:
                raise ConfigError(f"There is no fault setting called {name!r}; there are {', '.join(known)}.")
            try:
                settings[name] = _value(known[name], name, value)
            except ValueError:
                raise ConfigError(f"{name} can't be {value!r}.") from None
        return cls(**settings)


def _value(default: Any, name: str, text: str) -> Any:
    """Return a setting's value, converted to the type of its default."""
    if isinstance(default, bool):
        return {"": True, "true": True, "yes": True, "false": False, "no": False}.get(text.lower(), bool(text))
    if isinstance(default, tuple):
        return tuple(text.split("+"))
    if isinstance(default, str):
        return text
    return float(text) if isinstance(default, float) else int(text)


@dataclass(slots=True)
class FaultInjector:
    """Decide for each call which fault happens."""

    trouble: Trouble
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.trouble.seed)  # noqa: S311 - trouble keeps no secrets

    def strikes(self, share: float) -> bool:
        """Return True in this share of calls."""
        with self._lock:
            return share > 0 and self._random.random() < share

    def fault(self) -> str | None:
        """Return how this call fails; None if it does not."""
        if not self.strikes(self.trouble.faults):
            return None
        with self._lock:
            return self._random.choice(self.trouble.fault_kinds)

    def lateness(self) -> float:
        """Return the seconds between a write's instant and its commit."""
        return self.trouble.late_seconds if self.strikes(self.trouble.late_commits) else 0.0

    def stands_still(self) -> bool:
        """Tell whether this update leaves the modified date unchanged."""
        return self.strikes(self.trouble.still_edits)

    def parameters(self, pairs: list[tuple[str, str]], served: Resource) -> list[tuple[str, str]]:
        """Return the query parameters that are not ignored."""
        kept = [(name, value) for name, value in pairs if name not in self.trouble.ignored]
        if self.trouble.other_names in {"", "strict"}:
            return kept
        return [(name, self._select(value, served) if name == "select" else value) for name, value in kept]

    def _select(self, text: str, served: Resource) -> str:
        """Return the `select` names that are used if unknown names are not refused."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        known = [word for word in words if word.removeprefix("-") in served.select]
        return ",".join([] if self.trouble.other_names == "dropping" and known != words else known)

    def served(self, resource: Resource, always: frozenset[str]) -> tuple[Resource, frozenset[str]]:
        """Return a resource with the names it is served under, and the details that are always sent."""
        if not self.trouble.other_names:
            return resource, always
        replaced = {each.described_name for each in resource.alternates}
        names = [name for name in resource.select if name not in replaced]
        names += [each.name for each in resource.alternates]
        brought = {each.reference for each in resource.alternates}
        filters = tuple(replace(each, described=True) for each in resource.filters)
        return replace(resource, select=tuple(names), filters=filters), always - brought

    def granted(self, asked: ListQuery) -> ListQuery:
        """Return the request with the granted limit, and with ties shuffled if configured."""
        most = self.trouble.most_granted
        limit = asked.limit if most is None else min(asked.limit, most)
        return replace(asked, limit=limit, shuffled=self.trouble.shuffled_ties)


class FaultMiddleware:
    """Make calls fail, before or after they are processed."""

    def __init__(self, app: ASGIApp, injector: FaultInjector) -> None:
        self._app = app
        self._injector = injector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a call, or inject a fault."""
        kind = self._injector.fault() if scope["type"] == "http" else None
        if kind is None:
            await self._app(scope, receive, send)
        elif kind == "cut":
            start, body = await self._worked_on(scope, receive)
            await _cut(send, start, body[: len(body) // 2])
        elif kind == "drop":
            await _cut(send, _PROMISE, b"")
        elif kind == "lost":
            await self._worked_on(scope, receive)
            await (_failure(500).send(send) if self._injector.strikes(0.5) else _cut(send, _PROMISE, b""))
        else:
            await _failure(int(kind)).send(send)

    async def _worked_on(self, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
        """Process the call and return its response without sending it."""
        messages: list[Message] = []

        async def keep(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, keep)
        return messages[0], b"".join(each.get("body", b"") for each in messages[1:])


_PROMISE: Message = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]}


async def _cut(send: Send, start: Message, body: bytes) -> None:
    """Send fewer bytes than the headers promise; the server then closes the connection."""
    await send(start)
    await send({"type": "http.response.body", "body": body, "more_body": True})


def _failure(status: int) -> Problem:
    return Problem(status, "A fault the sandbox was told to inject.")


_PATIENCE = 3.0

_CREATE, _UPDATE, _DELETE = TIME_ENTRY_WRITES


class BackgroundWriter:
    """
    A thread that changes time entries.

    Parameters
    ----------
    store : Store
        The firm.
    trouble : Trouble
        How many writes a second, and the seed of what they are.
    """

    def __init__(self, store: Store, trouble: Trouble) -> None:
        self._store = store
        self._pause = 1 / trouble.writes_per_second
        self._random = random.Random(trouble.seed)  # noqa: S311 - decides what is written, keeps no secrets
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="billframes sandbox background writer", daemon=True)

    def start(self) -> Self:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop after the current change; give up one that waits for a lock."""
        self._end.set()
        self._thread.join(_PATIENCE)

    def _work(self) -> None:
        while not self._end.wait(self._pause):
            # Another process holds the lock, or the database has been closed.
            with suppress(sqlite3.OperationalError):
                self.write()

    def write(self) -> None:
        """Make one change: usually a new entry or a new description, sometimes a deletion."""
        kind = self._random.choices((_CREATE, _UPDATE, _DELETE), (5, 4, 1))[0]
        with self._store.writing() as (connection, at):
            matter = connection.execute(*self._some("matter", "TRUE", "matter_id, responsible_id")).fetchone()
            entry = connection.execute(*self._some("time_entry", "invoice_id IS NULL", "time_entry_id")).fetchone()
            if matter is None or (entry is None and kind is not _CREATE):
                return
            id_ = str(uuid.uuid4()) if kind is _CREATE else entry[0]
            edit = Edit(
                connection=connection,
                caller=Caller(matter[1], frozenset()),
                at=at,
                id=id_,
                sent=self._sent(kind, matter[0], at[:10]),
                faults=Faults(),
            )
            perform(kind, edit)

    def _sent(self, kind: Operation, matter_id: str, date: str) -> dict[str, Any]:
        hours = self._random.randint(1, 80) * 1_000
        if kind is _CREATE:
            return {"matterId": matter_id, "date": date, "description": "A colleague's work", "hours": hours}
        return {"description": f"A colleague's change {self._random.randint(1, 10**6)}", "hours": hours}

    def _some(self, table: str, where: str, columns: str) -> tuple[str, list[str]]:
        """Return a query for one record at a random place among the ids."""
        start = str(uuid.UUID(int=self._random.getrandbits(128)))
        key = f"{table}_id"
        sql = f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {key} < ?, {key} LIMIT 1"  # noqa: S608
        return sql, [start]
