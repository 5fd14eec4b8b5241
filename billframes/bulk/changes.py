"""The changes of a plan: the cells of each record before and after, their status, and the body of the request.

Only cells with the status `will change` are sent, all cells of a record in one request. If one cell of a record is
invalid, none of its cells is sent, because half of an edit can be worse than no edit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from msgspec import UNSET

from billframes._shared.names import join_names
from billframes.bulk.columns import EditColumn
from billframes.bulk.server_records import ServerRecord
from billframes.loading.request_bodies import custom_field_updates, encode_body
from billframes.schema.resources import Resource

ACTIONS = ("update", "create", "delete")
# Statuses of cells that differ and are not sent.
NOT_SENT = ("billed", "changed since loaded", "read-only column", "invalid", "gone")
STATUSES = ("will change", "no change", *NOT_SENT)


@dataclass(slots=True)
class CellChange:
    """A cell that differs: its column, the server's value, the edited value, and its status."""

    column: str
    before: Any
    after: Any
    status: str = "will change"
    reason: str = ""


@dataclass(slots=True)
class Change:
    """
    The change of one record.

    `place` is the row in the edited frame, from 0; None for a deletion. `cells` are those that differ, and `current`
    are the record's cells as the server has them now. `status` and `reason` belong to a deletion, or to a record
    without cells that differ; otherwise each cell has its own. `existing_ids` are those of records that are the same as
    this new one.
    """

    action: Literal["update", "create", "delete"]
    place: int | None
    id: str | None
    cells: list[CellChange] = field(default_factory=list)
    current: ServerRecord = field(default_factory=dict)
    status: str = ""
    reason: str = ""
    existing_ids: tuple[str, ...] = ()

    @property
    def has_no_cells(self) -> bool:
        """Whether the status is that of the whole record."""
        return self.action == "delete" or not self.cells

    @property
    def is_sent(self) -> bool:
        """Whether `apply` sends the change."""
        if self.action == "delete":
            return self.status == "will change"
        return bool(self.sent_cells())

    def sent_cells(self) -> list[CellChange]:
        """Return the cells that are sent."""
        return [cell for cell in self.cells if cell.status == "will change"]

    def value_after(self, column: str) -> Any:
        """Return the value that a column of the record will have after the change."""
        sent = (cell.after for cell in self.sent_cells() if cell.column == column)
        return next(sent, self.current.get(column))

    def changes(self, column: str) -> bool:
        """Tell whether the change sends this column."""
        return any(cell.column == column for cell in self.sent_cells())

    def mark(self, status: str, reason: str = "") -> None:
        """Give another status to every cell that would be sent."""
        for cell in self.sent_cells():
            cell.status, cell.reason = status, reason

    def mark_invalid(self, column: str, reason: str) -> None:
        """Mark a column's cell as invalid; add the cell if there is none, as for a missing required value."""
        for cell in self.cells:
            if cell.column == column and cell.status in {"will change", "invalid"}:
                cell.status, cell.reason = "invalid", cell.reason or reason
                return
        value = self.current.get(column)
        self.cells.append(CellChange(column, value, value, "invalid", reason))

    def hold_back(self) -> None:
        """Mark all cells of the record as invalid if one of them is."""
        if wrong := list(dict.fromkeys(cell.column for cell in self.cells if cell.status == "invalid")):
            verb = "is" if len(wrong) == 1 else "are"
            self.mark("invalid", f"not sent, because {join_names(wrong)} of this row {verb} invalid")


def request_body(change: Change, resource: Resource, columns: Mapping[str, EditColumn]) -> bytes:
    """Return the body of the request that updates or creates the record, with the changed fields only."""
    creating = change.action == "create"
    request = resource.creates if creating else resource.updates
    assert request is not None  # noqa: S101 - only such resources have plans
    values: dict[str, Any] = {}
    custom: dict[str, Any] = {}
    for cell in change.sent_cells():
        column = columns[cell.column]
        path = column.create if creating else column.update
        assert path is not None  # noqa: S101 - cells of other columns are read-only
        if column.custom:
            custom[column.custom.definition.id] = cell.after
        elif len(path) == 2:
            values.setdefault(path[0], {})[path[1]] = cell.after
        else:
            values[path[0]] = cell.after if creating else column.update_value(cell.after)
    if custom:
        known = [column.custom for column in columns.values() if column.custom]
        values["custom_fields"] = custom_field_updates(custom, known)
    return encode_body(request, {name: UNSET if creating and each is None else each for name, each in values.items()})


def frame_of(rows: Iterable[Sequence[Any]], types: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return a frame of rows; the type of each column is its categories, or a dtype."""
    dtypes: dict[str, Any] = {
        name: pd.CategoricalDtype(list(kind)) if isinstance(kind, tuple) else kind for name, kind in types.items()
    }
    return pd.DataFrame(list(rows), columns=list(types), dtype=object).astype(dtypes)


def count_changes(changes: Iterable[Change]) -> dict[str, int]:
    """Return the number of records to update, create and delete, then the number of cells with each other status."""
    sent: Counter[str] = Counter()
    cells: Counter[str] = Counter()
    for change in changes:
        sent.update([change.action] if change.is_sent else [])
        cells.update([change.status] if change.has_no_cells else [cell.status for cell in change.cells])
    return {action: sent[action] for action in ACTIONS} | {status: cells[status] for status in STATUSES[1:]}
