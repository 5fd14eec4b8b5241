"""Write a plan's changes into a journal, send all of it, and say what became of each change.

Changes are sent in the order of the plan, as many at once as the client allows; deletions come last, because what they
delete may be in use until the updates are made. Only changes under way are in memory. Creates whose answer never came
are looked for once everything else is sent (see `billframes.bulk.creations`).

The changes that fail do not stop the others. A credential that is not accepted does, and so does a server that does
not answer for many changes in a row; the journal then goes on with `bf.resume`.
"""

from __future__ import annotations

import datetime as dt
import secrets
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import Changes, body_for
from billframes.bulk.columns import EditColumn, load_columns
from billframes.bulk.creations import LostCreates
from billframes.bulk.journal import Entry, Journal, folder
from billframes.bulk.moved import ChangedRecords
from billframes.bulk.sending import Sending
from billframes.bulk.writing import Writer
from billframes.loading.connection import WritingConnection
from billframes.loading.progress import Progress, reporting
from billframes.schema.resources import RESOURCES, Resource

__all__ = ["resource_of", "send_journal", "write_journal"]

# Rounds in which creates are sent again that did not happen.
_ROUNDS = 3
# Seconds after which a change that was sent, and whose answer never came, is looked for.
SETTLED = 2.0
# The same for a create that a killed process sent: nobody was there to wait for its answer, and created twice is worse
# than written twice.
ABANDONED = 10.0
# Seconds after which whatever was sent has ended, if the process that sent it was killed.
_LONG_AGO = 120.0


def write_journal(
    path: str | Path | None,
    connection: WritingConnection,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    changes: Changes,
    read_at: dt.datetime | None,
) -> Journal:
    """
    Write the changes that will be sent into a new journal.

    Parameters
    ----------
    path : str or Path, optional
        The file; a new one in the folder of journals if not given.
    read_at : datetime, optional
        When the first record was read, by the server's clock.

    Raises
    ------
    ParameterError
        The file exists, or can't be written.
    """
    named = f"{resource.name}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}.journal"
    where = Path(path).expanduser() if path is not None else folder() / named
    about = {"base_url": connection.base_url, "resource": resource.name}
    if read_at is not None:
        about["read_at"] = read_at.isoformat()
    return Journal.create(where, about, _planned(resource, columns, changes))


def _planned(resource: Resource, columns: Mapping[str, EditColumn], changes: Changes) -> Iterator[Entry]:
    deletions = [False, True] if changes.counts["delete"] else [False]
    order = (each for last in deletions for each in changes if each.is_sent and (each.action == "delete") is last)
    for number, change in enumerate(order):
        body = None if change.action == "delete" else body_for(change, resource, columns)
        cells = [(cell.column, _plain(cell.before), _plain(cell.after)) for cell in change.sent_cells()]
        base = change.base.isoformat() if change.base else None
        yield Entry(number, change.action, change.place, change.id, body, cells, base, change.twins)


def _plain(value: Any) -> Any:
    """Return a cell as JSON has it."""
    return value if isinstance(value, str | float | bool | None) else text_of_cell(value)


def send_journal(
    connection: WritingConnection,
    journal: Journal,
    progress: bool | Progress | None = None,
    columns: Mapping[str, EditColumn] | None = None,
) -> None:
    """
    Send the changes of a journal that were not sent, and find out the outcomes of those sent without an answer.

    Raises
    ------
    AuthenticationError
        The credential is not accepted; the journal is unfinished.
    TransportError
        The server does not answer; the journal is unfinished.
    """
    resource = resource_of(journal)
    if columns is None:
        columns = load_columns(connection, resource, {name for entry in journal.entries() for name, *_ in entry.cells})
    run = _Run(connection, journal, resource, columns)
    with reporting(connection.progress if progress is None else progress, "changes") as told:
        run.finish(told)
    journal.finish()


def resource_of(journal: Journal) -> Resource:
    """Return the resource whose records a journal changes."""
    return next(each for each in RESOURCES if each.name == journal.about["resource"])


class _Run:
    """One run over a journal."""

    def __init__(
        self, connection: WritingConnection, journal: Journal, resource: Resource, columns: Mapping[str, EditColumn]
    ) -> None:
        self._connection, self._journal = connection, journal
        self._writer = Writer(connection, resource, columns)
        self._lost = LostCreates(connection, journal, resource, columns)
        # Creates are not looked for before, by `time.monotonic`.
        self._not_before = 0.0
        read_at = journal.about.get("read_at")
        self._changed = (
            ChangedRecords(connection, resource, columns, dt.datetime.fromisoformat(read_at)) if read_at else None
        )

    def finish(self, told: Progress) -> None:
        self._take_up()
        at_once = self._connection.concurrency
        with ThreadPoolExecutor(at_once) as pool:
            sending = Sending(pool, self._journal, self._writer, self._changed, at_once, told)
            try:
                for _ in range(_ROUNDS):
                    sending.send(("update", "create"))
                    if not self._look_for_creates(sending):
                        break
                sending.send(("update", "create"))
                self._look_for_creates(sending, last=True)
                sending.send(("delete",))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._lost.find_ids()

    def _take_up(self) -> None:
        """Take up what a killed process left: an update is sent again if it did not happen, a create is looked for."""
        sent = list(self._journal.entries("sent"))
        recent = {entry.action for entry in sent if _since(entry) < _LONG_AGO}
        # The server may still be at work on them: what it is about to do looks as if it had not happened.
        if "create" in recent:
            self._not_before = time.monotonic() + ABANDONED
        if recent - {"create"}:
            time.sleep(SETTLED)
        for entry in sent:
            state = "unanswered" if entry.action == "create" else "planned"
            self._journal.note([_tried(entry.with_outcome(state))])

    def _look_for_creates(self, sending: Sending, *, last: bool = False) -> bool:
        """Find out what became of creates without an answer; return whether some have to be sent again."""
        unanswered = list(self._journal.entries("unanswered"))
        if not unanswered:
            return False
        # The server may still be at work on them.
        now = time.monotonic()
        settled = SETTLED - min(now - sending.last_sent, *map(_since, unanswered))
        time.sleep(max(0.0, settled, self._not_before - now))
        found = self._lost.look_for(unanswered)
        noted = [_settled(entry, state, id_, last=last) for entry, (state, id_) in zip(unanswered, found, strict=True)]
        self._journal.note(noted)
        return any(entry.state == "planned" for entry in noted)


def _since(entry: Entry) -> float:
    """Return the seconds since a change was noted as sent."""
    return (dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(str(entry.sent_at))).total_seconds()


def _settled(entry: Entry, state: str, id_: str | None, *, last: bool) -> Entry:
    if state == "done":
        return entry.with_outcome("done", id_=id_)
    if state == "uncertain":
        said = "no answer came, and the server has more records with these values than were sent: look which is which"
        return entry.with_outcome("uncertain", said)
    if last:
        return entry.with_outcome("failed", f"not created: {entry.reason}")
    return _tried(entry.with_outcome("planned"))


def _tried(entry: Entry) -> Entry:
    return replace(entry, tries=entry.tries + 1)
