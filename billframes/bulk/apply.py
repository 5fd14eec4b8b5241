"""Send all changes of a journal side by side, and say what became of each.

Changes are sent in the order of the plan, as many at once as the client allows; deletions come last, because what they
delete may be in use until the updates are made. Only changes under way are in memory. Creates whose answer never came
are looked for once everything else is sent:

| new records on the server that are the same | the create is |
|---|---|
| none | sent again |
| as many as are missing, or fewer | done, and the rest are sent again |
| more | uncertain: somebody else created the same, and it can't be said which is which |

The changes that fail do not stop the others. A credential that is not accepted does, and so does a server that does
not answer for many changes in a row; the journal then goes on with `bf.resume`.
"""

from __future__ import annotations

import datetime as dt
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from billframes._names import snake_case
from billframes.bulk.changes import ACTIONS, TEXT, Change, body_for, series_of
from billframes.bulk.columns import EditColumn, columns_of, read_cell, text_of_cell
from billframes.bulk.connection import WritingConnection
from billframes.bulk.creations import find_same, identity_of
from billframes.bulk.journal import FINISHED, Entry, Journal, folder
from billframes.bulk.present import Record, Server
from billframes.bulk.writing import Writer
from billframes.errors import AuthenticationError, BillframesError, TransportError
from billframes.loading.load import definitions_of
from billframes.loading.progress import Progress, reporting
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.resources import RESOURCES, Resource

if TYPE_CHECKING:
    from billframes.bulk.plan import Plan

__all__ = ["Outcomes", "finish_journal", "new_journal"]

# Rounds in which creates are sent again that did not happen.
_ROUNDS = 3
# Seconds after which a create that was sent, and whose answer never came, is looked for.
SETTLED = 2.0
# Seconds within which outcomes are written to the disk at once.
_TOGETHER = 0.004
# Failures in a row after which the server counts as down.
_DOWN = 50
# Seconds that the server's clock may differ from the one it tells in whole seconds.
_SLACK = dt.timedelta(seconds=2)
# What can be planned again as it was; an uncertain change has to be looked at first.
_AGAIN = frozenset({"changed since planned", "refused", "failed"})


class Outcomes(pd.DataFrame):
    """
    What became of each change of a plan; made by `Plan.apply` and `bf.resume`.

    A DataFrame with a row for each change: `id` (str; of a created record if it is known), `action` (category),
    `columns` (str, the columns that were sent), `outcome` (category: done, changed since planned, billed, refused,
    gone, uncertain, failed), `reason` (str) and `row` (Int64, the place in the edited frame from 0). Frames made
    from it are plain ones.

    Attributes
    ----------
    journal : Path
        The journal's file.
    """

    # Set and found without becoming a column.
    _metadata: ClassVar[list[str]] = ["_told"]
    _told: _Told

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self._told.journal

    @property
    def failed(self) -> Plan:
        """
        Plan again the changes that were refused, skipped or could not be sent, against the server's present state.

        Uncertain ones are not in it: look at the record first, then plan it again yourself.
        """
        return self._told.again()

    def reverse(self) -> Plan:
        """Plan the way back; as `Plan.reverse`."""
        return self._told.reversed()


class _Told:
    """What `Outcomes` needs to plan again; the changes themselves are in the journal."""

    def __init__(self, connection: WritingConnection, resource: Resource, journal: Path) -> None:
        self.connection, self.resource, self.journal = connection, resource, journal

    def _entries(self) -> Iterator[Entry]:
        with Journal.open(self.journal) as journal:
            yield from journal.entries()

    def again(self) -> Plan:
        from billframes.bulk.plan import make_plan

        failed = [each for each in self._entries() if each.state in _AGAIN]
        id_ = snake_case(self.resource.id)
        rows = [
            {id_: each.id, **{name: after for name, _, after in each.cells}}
            for each in failed
            if each.action != "delete"
        ]
        return _joined(
            [
                make_plan(self.connection, self.resource, part, delete, duplicates=True)
                for part, delete in _parts(rows, id_, [each.id for each in failed if each.action == "delete"])
            ],
            lambda: make_plan(self.connection, self.resource, None),
        )

    def reversed(self) -> Plan:
        from billframes.bulk.plan import make_plan

        done = [each for each in self._entries() if each.state == "done"]
        id_ = snake_case(self.resource.id)
        updated = [each for each in done if each.action == "update"]
        created = [each for each in done if each.action == "create" and each.id]
        columns = _columns(self.connection, self.resource, {name for each in done for name, *_ in each.cells})
        expected = {str(each.id).casefold(): _after(each, columns) for each in (*updated, *created)}
        rows = [{id_: each.id, **{name: before for name, before, _ in each.cells}} for each in updated]
        lost = [_lost(each) for each in done if each.action == "delete" or (each.action == "create" and not each.id)]
        parts = _parts(rows, id_, [each.id for each in created])
        plans = [make_plan(self.connection, self.resource, part, delete, expected=expected) for part, delete in parts]
        plan = _joined(plans, lambda: make_plan(self.connection, self.resource, None))
        plan.changes += lost
        return plan


def _parts(rows: Sequence[Mapping[str, Any]], id_: str, delete: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yield a frame for each set of columns, because a column that a row does not have would count as emptied."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row), []).append(row)
    for names, group in groups.items():
        yield pd.DataFrame({name: pd.Series([row[name] for row in group], dtype=object) for name in names}), ()
    if delete:
        yield None, delete


def _joined(plans: Sequence[Plan], empty: Any) -> Plan:
    if not plans:
        plan: Plan = empty()
        return plan
    first, *others = plans
    for other in others:
        first.changes += other.changes
        first.notes = tuple(dict.fromkeys((*first.notes, *other.notes)))
        first.requests += other.requests
        first.columns = {**first.columns, **other.columns}
    return first


def _after(entry: Entry, columns: Mapping[str, EditColumn]) -> Record:
    return {
        name: read_cell(columns[name], after)
        for name, _, after in entry.cells
        if columns[name].source or columns[name].custom
    }


def _lost(entry: Entry) -> Change:
    deleted = "it was deleted; created again, it would have another id"
    reason = deleted if entry.action == "delete" else "it was created, and the server did not say under which id"
    return Change(
        "delete" if entry.action == "create" else "create", entry.place, entry.id, status="gone", reason=reason
    )


def _columns(connection: WritingConnection, resource: Resource, names: Iterable[str]) -> dict[str, EditColumn]:
    """Return a resource's columns; custom fields are asked for only if one of the names is theirs."""
    custom: tuple[CustomColumn, ...] = ()
    if resource.entity and any(name.startswith("cf_") for name in names):
        custom = definitions_of(connection, resource.entity)
    return columns_of(resource, custom)


def new_journal(plan: Plan, path: str | Path | None) -> Journal:
    """
    Write a plan's changes into a new journal.

    Raises
    ------
    ParameterError
        The file exists, or can't be written.
    """
    named = f"{plan.resource.name}-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}.journal"
    where = Path(path).expanduser() if path is not None else folder() / named
    about = {"base_url": plan.connection.base_url, "resource": plan.resource.name}
    return Journal.create(where, about, _planned(plan))


def _planned(plan: Plan) -> Iterator[Entry]:
    order = sorted(plan.sent, key=lambda change: change.action == "delete")
    for number, change in enumerate(order):
        body = None if change.action == "delete" else body_for(change, plan.resource, plan.columns)
        cells = [(cell.column, _plain(cell.before), _plain(cell.after)) for cell in change.sent_cells()]
        base = change.base.isoformat() if change.base else None
        yield Entry(number, change.action, change.place, change.id, body, cells, base, tuple(change.twins))


def _plain(value: Any) -> Any:
    """Return a cell as JSON has it."""
    return value if isinstance(value, str | float | bool | None) else text_of_cell(value)


def finish_journal(
    connection: WritingConnection,
    journal: Journal,
    progress: bool | Progress | None = None,
    columns: Mapping[str, EditColumn] | None = None,
) -> Outcomes:
    """
    Send what a journal has not sent, find out what became of what was sent without an answer, and return all outcomes.

    Raises
    ------
    AuthenticationError
        The credential is not accepted; the journal is unfinished.
    TransportError
        The server does not answer; the journal is unfinished.
    """
    resource = next(each for each in RESOURCES if each.name == journal.about["resource"])
    if columns is None:
        names = {name for entry in journal.entries() for name, *_ in entry.cells}
        columns = _columns(connection, resource, names)
    run = _Run(connection, journal, resource, columns)
    with reporting(connection.progress if progress is None else progress, "changes") as told:
        run.finish(told)
    journal.finish()
    return _outcomes(connection, resource, journal)


class _Run:
    """One run over a journal."""

    def __init__(
        self, connection: WritingConnection, journal: Journal, resource: Resource, columns: Mapping[str, EditColumn]
    ) -> None:
        self._connection, self._journal = connection, journal
        self._resource, self._columns = resource, columns
        self._writer = Writer(connection, resource, columns)
        self._unsent: list[Entry] = []
        self._last_sent = 0.0
        self._ended = 0

    def finish(self, told: Progress) -> None:
        self._take_up()
        total = self._journal.count()
        self._ended = total - self._journal.count("planned")
        with ThreadPoolExecutor(self._connection.concurrency) as pool:
            try:
                for _ in range(_ROUNDS):
                    self._send(pool, ("update", "create"), told, total)
                    if not self._look_for_creates():
                        break
                self._send(pool, ("update", "create"), told, total)
                self._look_for_creates(last=True)
                self._send(pool, ("delete",), told, total)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        self._find_ids()

    def _take_up(self) -> None:
        """Take up what a killed process left: an update is sent again if it did not happen, a create is looked for."""
        for entry in list(self._journal.entries("sent")):
            state = "unanswered" if entry.action == "create" else "planned"
            noted = entry.with_outcome(state)
            self._journal.note([_tried(noted)])

    def _send(self, pool: ThreadPoolExecutor, actions: Sequence[str], told: Progress, total: int) -> None:
        """Send what is planned; the journal knows of every change before it leaves and after its answer."""
        at_once = self._connection.concurrency
        running: dict[Future[Entry], Entry] = {}
        try:
            while True:
                # Twice as many as are sent at once, so that no connection waits for the journal.
                if len(running) <= at_once:
                    planned = self._journal.waiting("planned", actions, 2 * at_once - len(running))
                    for entry in self._journal.note_sent(planned):
                        running[pool.submit(self._writer.send, entry)] = entry
                    self._last_sent = time.monotonic() if planned else self._last_sent
                if not running:
                    return
                wait(running, return_when=FIRST_COMPLETED)
                # What ends together is written together.
                time.sleep(_TOGETHER)
                done = {each: running.pop(each) for each in list(running) if each.done()}
                self._note(done)
                self._ended += len(done)
                told(min(self._ended, total), total)
        except BaseException:
            # What is under way ends, so that its outcome is in the journal.
            for each in running:
                each.cancel()
            wait(running)
            with suppress(BillframesError):
                self._note(running)
            raise

    def _note(self, done: Mapping[Future[Entry], Entry]) -> None:
        """Write outcomes into the journal; raise if going on makes no sense."""
        outcomes: list[Entry] = []
        refused: BaseException | None = None
        for each, entry in done.items():
            error = None if each.cancelled() else each.exception()
            refused = refused or error
            unsent = each.cancelled() or isinstance(error, AuthenticationError)
            outcomes += [replace(entry, state="planned")] if unsent else [] if error else [each.result()]
        self._journal.note(outcomes)
        if refused is not None:
            raise refused
        for entry in outcomes:
            self._unsent = [*self._unsent, entry] if entry.state == "failed" else []
        if len(self._unsent) >= _DOWN:
            self._journal.note([replace(entry, state="planned") for entry in self._unsent])
            raise TransportError(
                f"{self._resource.name}: the last {len(self._unsent)} changes could not be sent "
                f"({self._unsent[-1].reason}). Go on with bf.resume({str(self._journal.path)!r}) later."
            )

    def _look_for_creates(self, *, last: bool = False) -> bool:
        """Find out what became of creates without an answer; return whether some have to be sent again."""
        unanswered = list(self._journal.entries("unanswered"))
        if not unanswered:
            return False
        # The server may still be at work on them.
        ago = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(max(str(each.sent_at) for each in unanswered))
        time.sleep(max(0.0, SETTLED - min(time.monotonic() - self._last_sent, ago.total_seconds())))
        found = self._found(unanswered)
        noted = [
            self._settled(entry, state, id_, last=last) for entry, (state, id_) in zip(unanswered, found, strict=True)
        ]
        self._journal.note(noted)
        return any(entry.state == "planned" for entry in noted)

    def _settled(self, entry: Entry, state: str, id_: str | None, *, last: bool) -> Entry:
        if state == "done":
            return entry.with_outcome("done", id_=id_)
        if state == "uncertain":
            said = (
                "no answer came, and the server has more records with these values than were sent: look which is which"
            )
            return entry.with_outcome("uncertain", said)
        if last:
            return entry.with_outcome("failed", f"not created: {entry.reason}")
        return _tried(entry.with_outcome("planned"))

    def _found(self, entries: Sequence[Entry]) -> list[tuple[str, str | None]]:
        """Return for each create whether the server has it ("done" with its id, "missing", or "uncertain")."""
        wanted = [self._identity(entry) for entry in entries]
        server = Server(self._connection)
        since = self._server_time(min(str(entry.sent_at) for entry in entries))
        records = find_same(server, self._resource, self._columns, wanted, since=since)
        known = self._known()
        found: list[tuple[str, str | None]] = [("missing", None)] * len(entries)
        for key, places in _grouped(wanted).items():
            ids = self._unaccounted(records[places[0]], [entries[place] for place in places], known)
            # Creates that were answered without an id are among them.
            nameless = known.without_id.get(key, 0)
            for place, state in zip(places, _states(len(ids) - nameless, len(places)), strict=True):
                found[place] = (state, ids.pop() if state == "done" and not nameless else None)
        return found

    def _unaccounted(self, records: Sequence[Record], entries: Sequence[Entry], known: _Known) -> list[str]:
        """Return the ids of the records that are neither of a known create nor were there before."""
        own = known.ids | {twin.casefold() for entry in entries for twin in entry.twins}
        ids = [str(record[snake_case(self._resource.id)]) for record in records]
        return [each for each in ids if each.casefold() not in own]

    def _identity(self, entry: Entry) -> dict[str, Any]:
        return identity_of(
            self._resource, {name: read_cell(self._columns[name], after) for name, _, after in entry.cells}
        )

    def _known(self) -> _Known:
        known = _Known()
        for entry in self._journal.entries("done"):
            if entry.action == "create" and entry.id:
                known.ids.add(entry.id.casefold())
            elif entry.action == "create":
                key = _key(self._identity(entry))
                known.without_id[key] = known.without_id.get(key, 0) + 1
        return known

    def _server_time(self, sent_at: str) -> dt.datetime:
        """Return when a change was sent at the earliest, by the server's clock."""
        begun = dt.datetime.now(dt.UTC)
        answer = self._connection.fetch(
            self._resource.path, (("limit", "1"), ("offset", "0")), resource=self._resource.name
        )
        ahead = answer.date - begun if answer.date else dt.timedelta()
        return dt.datetime.fromisoformat(sent_at) + ahead - _SLACK

    def _find_ids(self) -> None:
        """Find the ids of created records that the server answered without."""
        entries = [entry for entry in self._journal.entries("done") if entry.action == "create" and not entry.id]
        if not entries:
            return
        try:
            wanted = [self._identity(entry) for entry in entries]
            since = self._server_time(min(str(entry.sent_at) for entry in entries))
            records = find_same(Server(self._connection), self._resource, self._columns, wanted, since=since)
        except BillframesError:
            # They are created all the same; only the way back does not know them.
            return
        known, noted = self._known(), []
        for places in _grouped(wanted).values():
            group = [entries[place] for place in places]
            ids = self._unaccounted(records[places[0]], group, known)
            # If somebody else created the same, it can't be said which is which.
            if len(ids) <= len(group):
                noted += [entry.with_outcome("done", id_=id_) for entry, id_ in zip(group, ids, strict=False)]
        self._journal.note(noted)


class _Known:
    """Creates that are known to have happened: their ids, and how many have none, by their values."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.without_id: dict[str, int] = {}


def _grouped(wanted: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the places of equal creates, by their values."""
    groups: dict[str, list[int]] = {}
    for place, each in enumerate(wanted):
        groups.setdefault(_key(each), []).append(place)
    return groups


def _key(identity: Mapping[str, Any]) -> str:
    return repr(sorted(identity.items()))


def _states(extra: int, number: int) -> list[str]:
    """
    Return what became of so many equal creates, of which so many more records are there than are accounted for.

    Examples
    --------
    >>> _states(1, 1), _states(0, 1), _states(2, 1), _states(1, 2)
    (['done'], ['missing'], ['uncertain'], ['done', 'missing'])
    """
    if not 0 <= extra <= number:
        return ["uncertain"] * number
    return ["done"] * extra + ["missing"] * (number - extra)


def _tried(entry: Entry) -> Entry:
    return replace(entry, tries=entry.tries + 1)


def _outcomes(connection: WritingConnection, resource: Resource, journal: Journal) -> Outcomes:
    rows = (
        (each.id, each.action, ", ".join(name for name, *_ in each.cells), each.state, each.reason or None, each.place)
        for each in journal.entries()
    )
    types = {"id": TEXT, "action": ACTIONS, "columns": TEXT, "outcome": FINISHED, "reason": TEXT, "row": "Int64"}
    frame = Outcomes(series_of(rows, types))
    frame._told = _Told(connection, resource, journal.path)
    return frame
