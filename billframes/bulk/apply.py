"""Write the changes of a plan into a journal, send them, and note the outcome of each.

Changes are sent in the order of the plan, as many at once as the client allows. Deletions are sent last, because other
records may refer to a deleted record until the updates are made. Only the changes under way are in memory. Creates
without a response are looked for on the server after everything else is sent, by their values:

| equal records that are new on the server | outcome of the creates |
|---|---|
| none | they are sent again |
| at most as many as creates | so many are done, and the others are sent again |
| more | uncertain: somebody else created the same, and the records can't be distinguished |

A change that fails does not stop the others. A credential that is not accepted stops the run, and so does a server that
does not respond to many changes in a row. `bf.bulk.resume` finishes the journal later.
"""

from __future__ import annotations

import datetime as dt
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from billframes._shared.limits import user_path
from billframes.bulk.cells import read_cell, text_of_cell
from billframes.bulk.changes import Change, request_body
from billframes.bulk.columns import EditColumn, load_columns
from billframes.bulk.journal import Journal, folder
from billframes.bulk.journal_entry import Entry
from billframes.bulk.modified_since import ChangedRecords
from billframes.bulk.sender import Sender
from billframes.bulk.server_records import RecordReader, ServerRecord, find_by_values, identity_of
from billframes.bulk.writer import Writer
from billframes.errors import BillframesError
from billframes.loading.connection import WritingConnection, request_threads
from billframes.loading.progress import Progress, progress_reporter
from billframes.schema.resources import RESOURCE_OF, Resource

# The most times that a create is sent again if the server does not have it.
_ROUNDS = 3
# Seconds to wait before the server is searched for a change that was sent and got no response.
SETTLE_SECONDS = 2.0
# The same for a create that a killed process sent. It is longer, because a record created twice is worse than one
# updated twice.
ABANDONED_SECONDS = 10.0
# Seconds after which the server has surely ended a request of a killed process.
_ENDED_SECONDS = 120.0
# A server states its time in whole seconds, which can differ by this much from its clock.
_CLOCK_TOLERANCE = dt.timedelta(seconds=2)


def write_journal(
    path: str | Path | None,
    connection: WritingConnection,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    changes: Sequence[Change],
    read_at: dt.datetime | None,
) -> Journal:
    """Write the changes that will be sent into a new journal; without a path, into the folder of journals."""
    named = f"{resource.name}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}.journal"
    where = user_path(path) if path is not None else folder() / named
    about = {"base_url": connection.base_url, "resource": resource.name}
    if read_at is not None:
        about["read_at"] = read_at.isoformat()
    return Journal.create(where, about, _entries(resource, columns, changes))


def _entries(resource: Resource, columns: Mapping[str, EditColumn], changes: Sequence[Change]) -> Iterator[Entry]:
    sent = [change for change in changes if change.is_sent]
    for number, change in enumerate(sorted(sent, key=lambda each: each.action == "delete")):
        body = None if change.action == "delete" else request_body(change, resource, columns)
        cells = [(cell.column, _as_json(cell.before), _as_json(cell.after)) for cell in change.sent_cells()]
        modified_at = change.current["modified_at"].isoformat() if change.current.get("modified_at") else None
        yield Entry(number, change.action, change.place, change.id, body, cells, modified_at, change.existing_ids)


def _as_json(value: Any) -> Any:
    return value if isinstance(value, str | float | bool | None) else text_of_cell(value)


def send_journal(
    connection: WritingConnection,
    journal: Journal,
    progress: bool | Progress | None = None,
    columns: Mapping[str, EditColumn] | None = None,
) -> None:
    """
    Send the changes of a journal that were not sent, and find out the outcomes of those without a response.

    Without `columns`, it was begun before, so its new records are searched for: a copy of it may have created them.

    Raises `AuthenticationError` if the credential is not accepted, and `TransportError` if the server does not respond;
    the journal is then unfinished.
    """
    resource, resumed = resource_of(journal), columns is None
    if columns is None:
        columns = load_columns(connection, resource, {name for entry in journal.entries() for name, *_ in entry.cells})
        # Custom fields were not known when the journal was opened.
        journal.check_cells(columns)
    run = _JournalRun(connection, journal, resource, columns)
    with progress_reporter(connection.progress if progress is None else progress, "changes") as show_progress:
        run.finish(show_progress, resumed=resumed)
    journal.finish()


def resource_of(journal: Journal) -> Resource:
    """Return the resource whose records a journal changes."""
    return RESOURCE_OF[journal.about["resource"]]


def _group_equal(wanted: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for position, each in enumerate(wanted):
        groups.setdefault(_key_of(each), []).append(position)
    return groups


def _key_of(identity: Mapping[str, Any]) -> str:
    return repr(sorted(identity.items()))


def _create_states(extra: int, number: int) -> list[str]:
    """Return the outcomes of `number` equal creates if the server has `extra` equal records of no other create."""
    if not 0 <= extra <= number:
        return ["uncertain"] * number
    return ["done"] * extra + ["missing"] * (number - extra)


class _JournalRun:
    def __init__(
        self, connection: WritingConnection, journal: Journal, resource: Resource, columns: Mapping[str, EditColumn]
    ) -> None:
        self._connection, self._journal = connection, journal
        self._resource, self._columns = resource, columns
        self._writer = Writer(connection, resource, columns)
        # The earliest time to search the server for creates, by `time.monotonic`.
        self._not_before = 0.0
        read_at = journal.about.get("read_at")
        self._changed = (
            ChangedRecords(connection, resource, columns, dt.datetime.fromisoformat(read_at)) if read_at else None
        )

    def finish(self, progress: Progress, *, resumed: bool) -> None:
        """Send all changes, and find out the outcomes of those without a response."""
        self._reopen_sent()
        at_once = self._connection.concurrency
        with request_threads(at_once) as pool:
            planned = [each for each in self._journal.entries("planned") if each.action == "create" and resumed]
            if planned:
                self._resolve_creates(0.0, planned)
            sender = Sender(pool, self._journal, self._writer, self._changed, at_once, progress)
            for _ in range(_ROUNDS):
                sender.send(("update", "create"))
                if not self._resolve_creates(sender.last_sent):
                    break
            sender.send(("update", "create"))
            self._resolve_creates(sender.last_sent, last=True)
            sender.send(("delete",))
        self._find_ids()

    def _reopen_sent(self) -> None:
        """
        Prepare changes without an outcome that a killed process sent: search for creates, plan others again.

        The writer sends an update or a deletion only if the server does not have it yet.
        """
        sent = list(self._journal.entries("sent"))
        recent = {entry.action for entry in sent if _seconds_since_sent(entry) < _ENDED_SECONDS}
        # The server may still be working on them, and what it has not done yet looks as if it had not happened.
        if "create" in recent:
            self._not_before = time.monotonic() + ABANDONED_SECONDS
        if recent - {"create"}:
            time.sleep(SETTLE_SECONDS)
        for entry in sent:
            state = "unanswered" if entry.action == "create" else "planned"
            self._journal.save([_sent_once_more(entry.with_outcome(state))])

    def _resolve_creates(self, last_sent: float, planned: Sequence[Entry] = (), *, last: bool = False) -> bool:
        """Find out the outcomes of creates without a response, and of `planned` ones; return whether some are sent."""
        creates = [*self._journal.entries("unanswered"), *planned]
        if not creates:
            return False
        # The server may still be working on them.
        now = time.monotonic()
        wait = SETTLE_SECONDS - min([now - last_sent, *(_seconds_since_sent(each) for each in creates if each.sent_at)])
        time.sleep(max(0.0, wait, self._not_before - now))
        found = self._find_outcomes(creates)
        resolved = [
            _create_with_outcome(entry, state, id_, last=last)
            for entry, (state, id_) in zip(creates, found, strict=True)
        ]
        self._journal.save(resolved)
        return any(entry.state == "planned" for entry in resolved)

    def _find_outcomes(self, entries: Sequence[Entry]) -> list[tuple[str, str | None]]:
        """Return the outcome of each create and its id, if known: "done", "missing" on the server, or "uncertain"."""
        wanted, records = self._search(entries)
        known_ids, without_id = self._known_creates()
        found: list[tuple[str, str | None]] = [("missing", None)] * len(entries)
        for key, positions in _group_equal(wanted).items():
            ids = self._unknown_ids(records[positions[0]], [entries[position] for position in positions], known_ids)
            # The ids also include creates that are done and whose ids are unknown.
            states = _create_states(len(ids) - without_id[key], len(positions))
            for position, state in zip(positions, states, strict=True):
                found[position] = (state, ids.pop() if state == "done" else None)
        return found

    def _find_ids(self) -> None:
        """Find the ids of created records if the server's response had none."""
        entries = [each for each in self._journal.entries("done") if each.action == "create" and each.id is None]
        if not entries:
            return
        try:
            wanted, records = self._search(entries)
        except BillframesError:
            # The records are created anyway; only their reversal needs the ids.
            return
        (known_ids, _), noted = self._known_creates(), []
        for positions in _group_equal(wanted).values():
            group = [entries[position] for position in positions]
            ids = self._unknown_ids(records[positions[0]], group, known_ids)
            # If there are more, somebody else created the same, and they can't be distinguished.
            if len(ids) <= len(group):
                noted += [entry.with_outcome("done", id_=id_) for entry, id_ in zip(group, ids, strict=False)]
        self._journal.save(noted)

    def _search(self, entries: Sequence[Entry]) -> tuple[list[dict[str, Any]], list[list[ServerRecord]]]:
        """Return the values of each create, and the server's records that have them."""
        wanted = [self._identity(entry) for entry in entries]
        times = [entry.sent_at for entry in entries]
        # A copy of the journal may have created those that this one has not sent, at any time.
        since = None if None in times else self._server_time(min(map(str, times)))
        reader = RecordReader(self._connection)
        return wanted, find_by_values(reader, self._resource, self._columns, wanted, since=since)

    def _unknown_ids(self, records: Sequence[ServerRecord], entries: Sequence[Entry], known_ids: set[str]) -> list[str]:
        """Return the ids of records that existed neither before, nor belong to another create with a known id."""
        own = known_ids | {twin.casefold() for entry in entries for twin in entry.existing_ids}
        ids = [str(record[self._resource.id_column]) for record in records]
        return [each for each in ids if each.casefold() not in own]

    def _identity(self, entry: Entry) -> dict[str, Any]:
        return identity_of(
            self._resource, {name: read_cell(self._columns[name], after) for name, _, after in entry.cells}
        )

    def _known_creates(self) -> tuple[set[str], Counter[str]]:
        """Return the ids of creates that are done, and the number of those without a known id by their values."""
        ids: set[str] = set()
        without_id: Counter[str] = Counter()
        for entry in self._journal.entries("done"):
            if entry.action == "create" and entry.id:
                ids.add(entry.id.casefold())
            elif entry.action == "create":
                without_id[_key_of(self._identity(entry))] += 1
        return ids, without_id

    def _server_time(self, sent_at: str) -> dt.datetime:
        """Convert the time of sending to the server's clock, and return the earliest instant that it can be."""
        begun = dt.datetime.now(dt.UTC)
        answer = self._connection.fetch(
            self._resource.path, (("limit", "1"), ("offset", "0")), resource=self._resource.name
        )
        ahead = answer.date - begun if answer.date else dt.timedelta()
        return dt.datetime.fromisoformat(sent_at) + ahead - _CLOCK_TOLERANCE


def _seconds_since_sent(entry: Entry) -> float:
    return (dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(str(entry.sent_at))).total_seconds()


def _create_with_outcome(entry: Entry, state: str, id_: str | None, *, last: bool) -> Entry:
    """Return a create after the server was searched for it; in the last round it is not planned again."""
    if state == "done":
        return entry.with_outcome("done", id_=id_)
    if state == "uncertain":
        reason = "the server has more records with these values than were sent: check them"
        return entry.with_outcome("uncertain", reason)
    if entry.sent_at is None:
        return entry
    if last:
        return entry.with_outcome("failed", f"not created: {entry.reason}")
    return _sent_once_more(entry.with_outcome("planned"))


def _sent_once_more(entry: Entry) -> Entry:
    return replace(entry, tries=entry.tries + 1)
