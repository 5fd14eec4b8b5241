"""Find new records on the server by their values, because a new row has no id.

Two records are the same if they have the same matter, date, person, narrative, and hours or amount. For matters, these
are client, name and reference, and for clients name and reference. The search shows whether a new row is on the server
before it is sent, as when a workbook is applied twice. It also shows whether a create without a response happened:

| equal records that are new on the server | outcome of the creates |
|---|---|
| none | they are sent again |
| at most as many as creates | so many are done, and the others are sent again |
| more | uncertain: somebody else created the same, and the records can't be distinguished |
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from billframes.bulk.cells import cells_equal, read_cell
from billframes.bulk.columns import EditColumn
from billframes.bulk.journal import Entry, Journal
from billframes.bulk.server_records import RecordReader, ServerRecord
from billframes.errors import BillframesError
from billframes.loading.connection import WritingConnection
from billframes.schema.resources import CLIENTS, MATTERS, Resource

_ITEM_COLUMNS = ("matter_id", "date", "user_id", "description", "hours", "amount")
_OTHER_COLUMNS = {MATTERS.name: ("client_id", "name", "reference"), CLIENTS.name: ("name", "reference")}
# Records of at most this many matters are listed by matter.
_MOST_MATTERS = 3


def identity_of(resource: Resource, cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by which a new record can be found; of a time entry sent without a timekeeper, any will do."""
    names = _OTHER_COLUMNS.get(resource.name, _ITEM_COLUMNS)
    if resource.name == "time_entries":
        return {name: cells[name] for name in names if cells.get(name) is not None}
    # If these two are not sent, the new record has none.
    return {name: cells.get(name) for name in names if name in cells or name in {"user_id", "reference"}}


def find_by_values(
    reader: RecordReader,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    wanted: Sequence[Mapping[str, Any]],
    *,
    since: dt.datetime | None = None,
) -> list[list[ServerRecord]]:
    """Return, for each set of values of `identity_of`, the records that have them and were created since."""
    if not wanted:
        return []
    names = {name for each in wanted for name in each} | {"created_at"}
    read = [columns[name] for name in columns if name in names]
    positions: dict[Any, list[ServerRecord]] = {}
    for record in reader.listed(resource, read, _arguments(resource, wanted, since)).values():
        if since is None or record.get("created_at") is None or record["created_at"] >= since:
            positions.setdefault(_first_key(resource, record), []).append(record)
    return [
        [
            record
            for record in positions.get(_first_key(resource, each), ())
            if all(cells_equal(columns[name], record.get(name), value) for name, value in each.items())
        ]
        for each in wanted
    ]


def _first_key(resource: Resource, cells: Mapping[str, Any]) -> Any:
    """Return the values to look records up by, so that not every record is compared with every row."""
    if resource.name in _OTHER_COLUMNS:
        return cells.get("name")
    return str(cells.get("matter_id")).casefold(), cells.get("date")


def _arguments(resource: Resource, wanted: Sequence[Mapping[str, Any]], since: dt.datetime | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {"modified_since": since - dt.timedelta(seconds=1)} if since else {}
    if resource.date:
        days = [each["date"] for each in wanted]
        arguments |= {"start": min(days), "end": max(days)}
        matters = {each["matter_id"] for each in wanted}
        if len(matters) <= _MOST_MATTERS:
            arguments["matter_id"] = sorted(matters)
    elif len(wanted) == 1:
        arguments["query"] = wanted[0]["name"]
    return arguments


# A server states its time in whole seconds, which can differ by this much from its clock.
_CLOCK_TOLERANCE = dt.timedelta(seconds=2)


class UnansweredCreates:
    """The creates of a journal that got no response, or a response without an id."""

    def __init__(
        self, connection: WritingConnection, journal: Journal, resource: Resource, columns: Mapping[str, EditColumn]
    ) -> None:
        self._connection, self._journal = connection, journal
        self._resource, self._columns = resource, columns

    def find_outcomes(self, entries: Sequence[Entry]) -> list[tuple[str, str | None]]:
        """Return the outcome of each create and its id, if known: "done", "missing" on the server, or "uncertain"."""
        wanted, records = self._search(entries)
        known_ids, without_id = self._known_creates()
        found: list[tuple[str, str | None]] = [("missing", None)] * len(entries)
        for key, positions in _group_equal(wanted).items():
            ids = self._unknown_ids(records[positions[0]], [entries[position] for position in positions], known_ids)
            # The ids also include creates that are done and whose ids are unknown.
            states = _create_states(len(ids) - without_id[key], len(positions))
            for position, state in zip(positions, states, strict=True):
                found[position] = (state, ids.pop() if state == "done" and not without_id[key] else None)
        return found

    def find_ids(self) -> None:
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
