"""Find records on the server that are the same as new rows.

A create has no id of its own, so what it became can only be found by its values: the same matter, date, person,
narrative, and hours or amount; for matters the same client, name and reference; for clients the same name and
reference. This answers two questions: whether a new row is on the server before it is sent (somebody applied the same
workbook twice), and whether a create whose answer never came has happened.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from billframes.bulk.columns import EditColumn, same
from billframes.bulk.present import Server
from billframes.bulk.records import Record
from billframes.schema.resources import CLIENTS, MATTERS, Resource

__all__ = ["find_same", "identity_of"]

_ITEM = ("matter_id", "date", "user_id", "description", "hours", "amount")
_IDENTITY = {MATTERS.name: ("client_id", "name", "reference"), CLIENTS.name: ("name", "reference")}
# A list of more matters than this is read whole.
_STREAMS = 3


def identity_of(resource: Resource, cells: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the values by which a new record can be found.

    Time entries have a timekeeper even if none was sent: then any will do.
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
