"""A change of one record: its cells before and after, each with a status, and the request that makes it.

Only cells with the status `will change` are sent, and all of a record's in one request. If a cell of a record is
invalid, none of its cells is sent, because half of an edit can be worse than none.

`Changes` holds many of them in little memory: packed by the thousand, and unpacked again while they are read. A change
and its cells take a kilobyte as Python objects, and about a tenth packed. A change that was unpacked is a copy: marking
it changes nothing here, so a step that marks changes puts them into new `Changes`.
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

from billframes._names import joined
from billframes.bulk.columns import EditColumn
from billframes.bulk.records import Record
from billframes.loading.request_bodies import body_of, custom_updates
from billframes.schema.resources import Resource

__all__ = ["ACTIONS", "HELD", "STATUSES", "TEXT", "Cell", "Change", "Changes", "body_for", "series_of"]

TEXT = "text"
ACTIONS = ("update", "create", "delete")
# Of cells that differ and are not sent.
HELD = ("billed", "changed since loaded", "read-only column", "invalid", "gone")
STATUSES = ("will change", "no change", *HELD)

_AT_ONCE = 5_000


@dataclass(slots=True)
class Cell:
    """A cell that differs: its column, the server's value, the edited value, and whether it will be sent."""

    column: str
    before: Any
    after: Any
    status: str = "will change"
    reason: str = ""


@dataclass(slots=True)
class Change:
    """
    What a plan does to one record.

    Parameters
    ----------
    action : {"update", "create", "delete"}
    place : int, optional
        The row in the edited frame, from 0; None for a deletion.
    id : str, optional
        The record; None if it is to be created.
    cells : list of Cell
    present : mapping
        The record as the server has it.
    status, reason : str
        Of a deletion, and of a record without cells that differ.
    twins : tuple of str
        Ids of the records that are the same as this new one already.
    """

    action: str
    place: int | None
    id: str | None
    cells: list[Cell] = field(default_factory=list)
    present: Record = field(default_factory=dict)
    status: str = ""
    reason: str = ""
    twins: tuple[str, ...] = ()

    @property
    def base(self) -> dt.datetime | None:
        """When the record was last changed, as the plan saw it."""
        base: dt.datetime | None = self.present.get("modified_at")
        return base

    @property
    def is_sent(self) -> bool:
        """Whether applying the plan sends it."""
        if self.action == "delete":
            return self.status == "will change"
        return any(cell.status == "will change" for cell in self.cells)

    def sent_cells(self) -> list[Cell]:
        """Return the cells that are sent."""
        return [cell for cell in self.cells if cell.status == "will change"]

    def after(self, column: str) -> Any:
        """Return the value that a column of the record has once the change is made."""
        for cell in self.cells:
            if cell.column == column and cell.status == "will change":
                return cell.after
        return self.present.get(column)

    def changes(self, column: str) -> bool:
        """Tell whether the change is of this column."""
        return any(cell.column == column and cell.status == "will change" for cell in self.cells)

    def mark(self, status: str, reason: str = "") -> None:
        """Give every cell that would be sent another status."""
        for cell in self.sent_cells():
            cell.status, cell.reason = status, reason

    def refuse(self, column: str, reason: str) -> None:
        """Mark a cell as invalid; one that the change does not have is added, because it is what is missing."""
        for cell in self.cells:
            if cell.column == column and cell.status in {"will change", "invalid"}:
                cell.status, cell.reason = "invalid", cell.reason or reason
                return
        value = self.present.get(column)
        self.cells.append(Cell(column, value, value, "invalid", reason))

    def hold_back(self) -> None:
        """Send nothing of a record with an invalid cell."""
        wrong = list(dict.fromkeys(cell.column for cell in self.cells if cell.status == "invalid"))
        if wrong:
            self.mark(
                "invalid",
                f"not sent, because {joined(wrong)} of this row {'is' if len(wrong) == 1 else 'are'} invalid",
            )


def body_for(change: Change, resource: Resource, columns: Mapping[str, EditColumn]) -> bytes:
    """Return the body of the request that makes an update or a create, with nothing but the changed fields."""
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
            values[path[0]] = cell.after if creating else column.sent(cell.after)
    if custom:
        values["custom_fields"] = custom_updates(custom, _customs(columns.values()))
    return body_of(request, {name: UNSET if creating and value is None else value for name, value in values.items()})


def _customs(columns: Iterable[EditColumn]) -> list[Any]:
    return [column.custom for column in columns if column.custom]


def series_of(rows: Iterable[Sequence[Any]], types: Mapping[str, Sequence[str]]) -> dict[str, pd.Series[Any]]:
    """
    Return the columns of a frame, whose dtypes do not depend on the rows.

    Parameters
    ----------
    rows : iterable of sequence
    types : mapping
        A column's type by name: `TEXT`, the categories, or a dtype.
    """
    parts: list[list[pd.Series[Any]]] = [[pd.Series([], dtype=_dtype(kind))] for kind in types.values()]
    rows = iter(rows)
    # A Python object for each cell, of a few thousand rows at a time.
    while part := list(islice(rows, _AT_ONCE)):
        for known, cells, kind in zip(parts, zip(*part, strict=True), types.values(), strict=True):
            known.append(pd.Series(list(cells), dtype=_dtype(kind)))
    return {name: pd.concat(known, ignore_index=True) for name, known in zip(types, parts, strict=True)}


def _dtype(kind: Sequence[str]) -> Any:
    if isinstance(kind, tuple):
        return pd.CategoricalDtype(list(kind))
    return pd.StringDtype(na_value=float("nan")) if kind == TEXT else kind


_BLOCK = 1_000
# What `apply` and people who read a plan need of the record as the server has it.
_KEPT = frozenset({"modified_at", "date", "matter_name", "name"})


class Changes:
    """
    Many changes, in their order.

    Parameters
    ----------
    changes : iterable of Change
    kept : collection of str
        The columns of a change's `present` that are kept.

    Examples
    --------
    >>> changes = Changes([Change("update", 0, "a", [Cell("hours", 1.0, 2.0)])])
    >>> len(changes), next(iter(changes)).cells[0].after
    (1, 2.0)
    """

    def __init__(self, changes: Iterable[Change] = (), kept: Collection[str] = _KEPT) -> None:
        self._kept = kept
        self._blocks: list[bytes] = []
        self._rows: list[tuple[Any, ...]] = []
        self._number = 0
        self.__iadd__(changes)

    def append(self, change: Change) -> None:
        """Add a change at the end."""
        self._rows.append(_packed(change, self._kept))
        self._number += 1
        if len(self._rows) == _BLOCK:
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
            # Nobody else made these bytes.
            yield from map(_unpacked, pickle.loads(zlib.decompress(block)))  # noqa: S301
        yield from map(_unpacked, tuple(self._rows))

    def __len__(self) -> int:
        return self._number


def _statuses(change: Change) -> Iterable[str]:
    if change.action == "delete" or not change.cells:
        return (change.status,)
    return (cell.status for cell in change.cells)


def _packed(change: Change, kept: Collection[str]) -> tuple[Any, ...]:
    cells = [(each.column, each.before, each.after, each.status, each.reason) for each in change.cells]
    present = {name: change.present[name] for name in kept if name in change.present}
    return change.action, change.place, change.id, cells, present, change.status, change.reason, change.twins


def _unpacked(row: tuple[Any, ...]) -> Change:
    action, place, id_, cells, present, status, reason, twins = row
    return Change(action, place, id_, [Cell(*each) for each in cells], present, status, reason, twins)
