"""Compare an edited frame, or the changes of an earlier apply, with the server, and return the changes to make.

An apply is known by its journal: its failed changes can be planned again, and its made changes can be reversed.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from billframes.bulk.cells import read_cell
from billframes.bulk.changes import Change
from billframes.bulk.columns import EditColumn, columns_of, load_columns
from billframes.bulk.comparison import FrameComparison, compare_deletions
from billframes.bulk.edited_frame import EditedRows, checked_ids, read_edited
from billframes.bulk.journal import Journal
from billframes.bulk.journal_entry import Entry
from billframes.bulk.server_records import RecordReader, ServerRecord
from billframes.errors import MirrorError, ParameterError
from billframes.loading.connection import WritingConnection
from billframes.loading.load import custom_field_columns
from billframes.schema.resources import Resource

# Outcomes of changes that can be planned again; an uncertain change has to be looked at first.
_PLANNED_AGAIN = frozenset({"changed since planned", "refused", "failed"})


@dataclass
class PlannedChanges:
    """The changes of a plan, with notes and requests; `time` is the server's when the first record was read."""

    columns: Mapping[str, EditColumn]
    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    requests: int = 0
    time: dt.datetime | None = None

    def add(self, other: PlannedChanges) -> None:
        """Add the changes of another comparison."""
        self.columns = {**self.columns, **other.columns}
        self.changes += other.changes
        self.notes = list(dict.fromkeys((*self.notes, *other.notes)))
        self.requests += other.requests
        self.time = min(filter(None, (self.time, other.time)), default=None)


def plan_changes(
    connection: WritingConnection,
    resource: Resource,
    edited: Any,
    delete: Any = (),
    *,
    duplicates: bool = False,
    expected: Mapping[str, ServerRecord] | None = None,
) -> PlannedChanges:
    """
    Compare an edited frame, and ids to delete, with the server.

    With `duplicates`, new rows are created even if the server has the same record. A record with other cells than those
    in `expected`, by id in lower case, was changed by somebody else.
    """
    if connection.tables is not None:
        raise MirrorError("A mirror can't be written to. Connect to the server, and plan there.")
    delete, expected = checked_ids(delete, resource), expected or {}
    reader = RecordReader(connection)
    columns = columns_of(resource)
    changes, notes = list[Change](), list[str]()
    if edited is not None:
        # Checked before the first request, so that a frame that can't be planned costs no request.
        rows = read_edited(edited, resource, columns)
        if resource.entity and any(str(name).startswith("cf_") for name in rows.unknown_columns):
            columns = columns_of(resource, custom_field_columns(connection, resource.entity))
            reader.requests += 1
            rows = read_edited(edited, resource, columns)
        _check_apart(rows, delete)
        changes, notes = FrameComparison(reader, resource, columns, rows, expected).compare(duplicates=duplicates)
    changes += compare_deletions(reader, resource, columns, delete, expected)
    return PlannedChanges(columns, changes, notes, reader.requests, reader.time)


def _check_apart(rows: EditedRows, delete: Sequence[str]) -> None:
    both = {each.casefold() for each in delete} & {each.casefold() for each in rows.ids if each}
    if both:
        raise ParameterError(
            f"{min(both)} is to be deleted and is a row of the frame, too. Take it out of one of them."
        )


def plan_failed(connection: WritingConnection, resource: Resource, journal: Path) -> PlannedChanges:
    """Plan again the changes of a journal that were refused, skipped or could not be sent."""
    failed = [each for each in _entries(journal) if each.state in _PLANNED_AGAIN]
    id_ = resource.id_column
    rows = [
        {id_: each.id, **{name: after for name, _, after in each.cells}} for each in failed if each.action != "delete"
    ]
    parts = _parts(rows, id_, [each.id for each in failed if each.action == "delete"])
    return _plan_parts(connection, resource, parts, duplicates=True)


def plan_reverse(connection: WritingConnection, resource: Resource, journal: Path) -> PlannedChanges:
    """Plan the values from before for the updates of a journal, and the deletion of the records that it created."""
    done = [each for each in _entries(journal) if each.state == "done"]
    id_ = resource.id_column
    updated = [each for each in done if each.action == "update"]
    created = [each for each in done if each.action == "create" and each.id]
    columns = load_columns(connection, resource, {name for each in done for name, *_ in each.cells})
    expected = {str(each.id).casefold(): _cells_after(each, columns) for each in (*updated, *created)}
    rows = [{id_: each.id, **{name: before for name, before, _ in each.cells}} for each in updated]
    planned = _plan_parts(connection, resource, _parts(rows, id_, [each.id for each in created]), expected=expected)
    planned.changes += [
        _irreversible(each) for each in done if each.action == "delete" or (each.action == "create" and not each.id)
    ]
    return planned


def _entries(path: Path) -> Iterator[Entry]:
    with Journal.open(path) as journal:
        yield from journal.entries()


def _parts(rows: Sequence[Mapping[str, Any]], id_: str, delete: Sequence[Any]) -> Iterator[tuple[Any, Sequence[Any]]]:
    """Yield a frame for each set of columns, because a missing column would count as emptied; then the deletions."""
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row), []).append(row)
    for names, group in groups.items():
        yield pd.DataFrame({name: pd.Series([row[name] for row in group], dtype=object) for name in names}), ()
    if delete:
        yield None, delete


def _plan_parts(
    connection: WritingConnection, resource: Resource, parts: Iterator[tuple[Any, Sequence[Any]]], **options: Any
) -> PlannedChanges:
    planned = PlannedChanges(columns_of(resource))
    for edited, delete in parts:
        planned.add(plan_changes(connection, resource, edited, delete, **options))
    return planned


def _cells_after(entry: Entry, columns: Mapping[str, EditColumn]) -> ServerRecord:
    return {
        name: read_cell(columns[name], after)
        for name, _, after in entry.cells
        if columns[name].source or columns[name].custom
    }


def _irreversible(entry: Entry) -> Change:
    """Return the change that would reverse a deletion, or a create without a known id, marked as impossible."""
    deleted = "it was deleted; created again, it would have another id"
    reason = deleted if entry.action == "delete" else "it was created, and its id is unknown"
    return Change(
        "delete" if entry.action == "create" else "create", entry.place, entry.id, status="gone", reason=reason
    )
