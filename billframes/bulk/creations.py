"""Find records on the server that are the same as new rows, and what became of creates whose answer never came.

A create has no id of its own, so what it became can only be found by its values: the same matter, date, person,
narrative, and hours or amount; for matters the same client, name and reference; for clients the same name and
reference. This answers two questions: whether a new row is on the server before it is sent (somebody applied the same
workbook twice), and whether a create whose answer never came, or said no id, has happened:

| new records on the server that are the same | the create is |
|---|---|
| none | sent again |
| as many as are missing, or fewer | done, and the rest are sent again |
| more | uncertain: somebody else created the same, and it can't be said which is which |
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from billframes._names import snake_case
from billframes.bulk.cells import read_cell, same
from billframes.bulk.columns import EditColumn
from billframes.bulk.journal import Entry, Journal
from billframes.bulk.present import Server
from billframes.bulk.records import Record
from billframes.errors import BillframesError
from billframes.loading.connection import WritingConnection
from billframes.schema.resources import CLIENTS, MATTERS, Resource

__all__ = ["LostCreates", "find_same", "identity_of"]

_ITEM = ("matter_id", "date", "user_id", "description", "hours", "amount")
_IDENTITY = {MATTERS.name: ("client_id", "name", "reference"), CLIENTS.name: ("name", "reference")}
# A list of more matters than this is read whole.
_STREAMS = 3


def identity_of(resource: Resource, cells: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values by which a new record can be found.

    Time entries have a timekeeper even if none was sent: then any timekeeper matches.
    """
    names = _IDENTITY.get(resource.name, _ITEM)
    needed = resource.name in _IDENTITY or resource.name != "time_entries"
    taken = {name: cells.get(name) for name in names if name in cells or (name in {"user_id", "reference"} and needed)}
    return {name: value for name, value in taken.items() if value is not None or needed}


def find_same(
    server: Server,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    wanted: Sequence[Mapping[str, Any]],
    *,
    since: dt.datetime | None = None,
) -> list[list[Record]]:
    """
    Return, for each set of values, the records that have them.

    Parameters
    ----------
    server : Server
    resource : Resource
    columns : mapping of str to EditColumn
    wanted : sequence of mapping
        As `identity_of` returns them.
    since : datetime, optional
        Only records created at this instant or later.
    """
    if not wanted:
        return []
    names = {name for each in wanted for name in each} | {"created_at"}
    read = [columns[name] for name in columns if name in names]
    records = [each for _, each in server.listed(resource, read, _arguments(resource, wanted, since)).items()]
    if since is not None:
        records = [each for each in records if each.get("created_at") is None or each["created_at"] >= since]
    places: dict[Any, list[Record]] = {}
    for record in records:
        places.setdefault(_key(resource, record), []).append(record)
    return [
        [
            record
            for record in places.get(_key(resource, each), ())
            if all(same(columns[name], record.get(name), value) for name, value in each.items())
        ]
        for each in wanted
    ]


def _key(resource: Resource, cells: Mapping[str, Any]) -> Any:
    """Return what is compared first, so that not every record is compared with every row."""
    if resource.name in _IDENTITY:
        return cells.get("name")
    return str(cells.get("matter_id")).casefold(), cells.get("date")


def _arguments(resource: Resource, wanted: Sequence[Mapping[str, Any]], since: dt.datetime | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {"modified_since": since - dt.timedelta(seconds=1)} if since else {}
    if resource.date:
        days = [each["date"] for each in wanted]
        arguments |= {"start": min(days), "end": max(days)}
        matters = {each["matter_id"] for each in wanted}
        if len(matters) <= _STREAMS:
            arguments["matter_id"] = sorted(matters)
    elif len(wanted) == 1:
        arguments["query"] = wanted[0]["name"]
    return arguments


# Seconds that the server's clock may differ from the one it tells in whole seconds.
_SLACK = dt.timedelta(seconds=2)


class LostCreates:
    """
    Looks for the creates of a journal on the server.

    Parameters
    ----------
    connection : WritingConnection
    journal : Journal
    resource : Resource
    columns : mapping of str to EditColumn
    """

    def __init__(
        self, connection: WritingConnection, journal: Journal, resource: Resource, columns: Mapping[str, EditColumn]
    ) -> None:
        self._connection, self._journal = connection, journal
        self._resource, self._columns = resource, columns

    def look_for(self, entries: Sequence[Entry]) -> list[tuple[str, str | None]]:
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

    def find_ids(self) -> None:
        """Find the ids of created records that the server answered without."""
        entries = self._journal.creates_without_id()
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
                key = _text_of(self._identity(entry))
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


class _Known:
    """Creates that are known to have happened: their ids, and how many have none, by their values."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.without_id: dict[str, int] = {}


def _grouped(wanted: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the places of equal creates, by their values."""
    groups: dict[str, list[int]] = {}
    for place, each in enumerate(wanted):
        groups.setdefault(_text_of(each), []).append(place)
    return groups


def _text_of(identity: Mapping[str, Any]) -> str:
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
