"""The changes of a plan: the cells of each record before and after, their status, and the body of the request.

Only cells with the status `will change` are sent, all cells of a record in one request. If one cell of a record is
invalid, none of its cells is sent, because half of an edit can be worse than no edit.

`Changes` holds many changes in little memory. It packs them in blocks of a thousand, and unpacks a block while it is
read. A change with its cells takes about a kilobyte as Python objects, and a tenth of that packed. An unpacked change
is a copy, and marking it does not change the packed one. So a step that marks changes puts them into new `Changes`.
"""

from __future__ import annotations

import datetime as dt
import pickle
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Self

import pandas as pd
from msgspec import UNSET

from billframes._names import join_names
from billframes.bulk.columns import EditColumn
from billframes.bulk.records import Record
from billframes.loading.request_bodies import custom_field_updates, encode_body
from billframes.schema.resources import Resource

__all__ = ["ACTIONS", "NOT_SENT", "STATUSES", "TEXT", "Cell", "Change", "Changes", "request_body", "series_of"]

TEXT = "text"
ACTIONS = ("update", "create", "delete")
# Statuses of cells that differ and are not sent.
NOT_SENT = ("billed", "changed since loaded", "read-only column", "invalid", "gone")
STATUSES = ("will change", "no change", *NOT_SENT)

_ROWS_AT_ONCE = 5_000


@dataclass(slots=True)
class Cell:
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

    Parameters
    ----------
    action : {"update", "create", "delete"}
    place : int, optional
        The row in the edited frame, from 0; None for a deletion.
    id : str, optional
        The record's id; None if it is to be created.
    cells : list of Cell
        The cells that differ.
    current : mapping
        The record's cells as the server has them now.
    status, reason : str
        The status of a deletion or of a record without cells that differ; other changes have a status for each cell.
    existing_ids : tuple of str
        Ids of records on the server that are the same as this new one.
    """

    action: str
    place: int | None
    id: str | None
    cells: list[Cell] = field(default_factory=list)
    current: Record = field(default_factory=dict)
    status: str = ""
    reason: str = ""
    existing_ids: tuple[str, ...] = ()

    @property
    def modified_at(self) -> dt.datetime | None:
        """When the record was last changed before the plan was made."""
        modified_at: dt.datetime | None = self.current.get("modified_at")
        return modified_at

    @property
    def is_sent(self) -> bool:
        """Whether `apply` sends the change."""
        if self.action == "delete":
            return self.status == "will change"
        return bool(self.sent_cells())

    def sent_cells(self) -> list[Cell]:
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
        self.cells.append(Cell(column, value, value, "invalid", reason))

    def hold_back(self) -> None:
        """Mark all cells of the record as invalid if one of them is."""
        wrong = list(dict.fromkeys(cell.column for cell in self.cells if cell.status == "invalid"))
        if wrong:
            self.mark(
                "invalid",
                f"not sent, because {join_names(wrong)} of this row {'is' if len(wrong) == 1 else 'are'} invalid",
            )


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
    return encode_body(
        request, {name: UNSET if creating and value is None else value for name, value in values.items()}
    )


def series_of(rows: Iterable[Sequence[Any]], types: Mapping[str, Sequence[str]]) -> dict[str, pd.Series[Any]]:
    """
    Return the columns of a frame; their dtypes do not depend on the rows.

    Parameters
    ----------
    rows : iterable of sequence
    types : mapping
        The type of each column by name: `TEXT`, the categories, or a dtype.
    """
    parts: list[list[pd.Series[Any]]] = [[pd.Series([], dtype=_dtype(kind))] for kind in types.values()]
    rows = iter(rows)
    # Each cell is a Python object, so only a few thousand rows are converted at a time.
    while part := list(islice(rows, _ROWS_AT_ONCE)):
        for known, cells, kind in zip(parts, zip(*part, strict=True), types.values(), strict=True):
            known.append(pd.Series(list(cells), dtype=_dtype(kind)))
    return {name: pd.concat(known, ignore_index=True) for name, known in zip(types, parts, strict=True)}


def _dtype(kind: Sequence[str]) -> Any:
    if isinstance(kind, tuple):
        return pd.CategoricalDtype(list(kind))
    return pd.StringDtype(na_value=float("nan")) if kind == TEXT else kind


_BLOCK_SIZE = 1_000
# The columns of `current` that `apply` and the display of a plan need.
_KEPT_COLUMNS = frozenset({"modified_at", "date", "matter_name", "name"})


class Changes:
    """
    Many changes, in their order.

    Parameters
    ----------
    changes : iterable of Change
    kept_columns : collection of str
        The columns of a change's `current` that are kept.

    Examples
    --------
    >>> changes = Changes([Change("update", 0, "a", [Cell("hours", 1.0, 2.0)])])
    >>> len(changes), next(iter(changes)).cells[0].after
    (1, 2.0)
    """

    def __init__(self, changes: Iterable[Change] = (), kept_columns: Collection[str] = _KEPT_COLUMNS) -> None:
        self._kept = kept_columns
        self._blocks: list[bytes] = []
        self._rows: list[tuple[Any, ...]] = []
        self._number = 0
        self.__iadd__(changes)

    def append(self, change: Change) -> None:
        """Add a change at the end."""
        self._rows.append(_pack(change, self._kept))
        self._number += 1
        if len(self._rows) == _BLOCK_SIZE:
            self._blocks.append(zlib.compress(pickle.dumps(self._rows, pickle.HIGHEST_PROTOCOL), 1))
            self._rows = []

    @property
    def counts(self) -> dict[str, int]:
        """The number of records to update, create and delete, then the number of cells with each other status."""
        sent: Counter[str] = Counter()
        cells: Counter[str] = Counter()
        for change in self:
            sent.update([change.action] if change.is_sent else [])
            cells.update(_statuses(change))
        return {action: sent[action] for action in ACTIONS} | {
            status: cells[status] for status in STATUSES if status != "will change"
        }

    def __iadd__(self, changes: Iterable[Change]) -> Self:
        for each in changes:
            self.append(each)
        return self

    def __iter__(self) -> Iterator[Change]:
        for block in tuple(self._blocks):
            # Safe to unpickle: `append` made these bytes.
            yield from map(_unpack, pickle.loads(zlib.decompress(block)))  # noqa: S301
        yield from map(_unpack, tuple(self._rows))

    def __len__(self) -> int:
        return self._number


def _statuses(change: Change) -> Iterable[str]:
    if change.action == "delete" or not change.cells:
        return (change.status,)
    return (cell.status for cell in change.cells)


def _pack(change: Change, kept_columns: Collection[str]) -> tuple[Any, ...]:
    cells = [(each.column, each.before, each.after, each.status, each.reason) for each in change.cells]
    current = {name: change.current[name] for name in kept_columns if name in change.current}
    return change.action, change.place, change.id, cells, current, change.status, change.reason, change.existing_ids


def _unpack(row: tuple[Any, ...]) -> Change:
    action, place, id_, cells, current, status, reason, existing_ids = row
    return Change(action, place, id_, [Cell(*each) for each in cells], current, status, reason, existing_ids)
