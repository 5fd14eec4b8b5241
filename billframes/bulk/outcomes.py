"""`Outcomes`: what became of each change of a plan, and the plans that follow from it: once more, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from billframes._names import snake_case
from billframes.bulk.cells import read_cell
from billframes.bulk.changes import ACTIONS, TEXT, Change, series_of
from billframes.bulk.columns import EditColumn, columns_of
from billframes.bulk.journal import FINISHED, Entry, Journal
from billframes.bulk.records import Record
from billframes.loading.connection import WritingConnection
from billframes.loading.load import definitions_of
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.resources import Resource

if TYPE_CHECKING:
    from billframes.bulk.plan import Plan

__all__ = ["Outcomes", "not_done", "outcomes_of", "summed_up", "written_columns"]

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


def summed_up(outcomes: Outcomes) -> str:
    """Return how many changes have each outcome, such as "12 done, 1 billed"."""
    return ", ".join(f"{number:,} {name}" for name, number in outcomes["outcome"].value_counts().items() if number)


def not_done(outcomes: Outcomes) -> pd.DataFrame:
    """Return the changes that were not made as people read them: id, columns, outcome and reason, all of them texts."""
    wrong = outcomes.loc[outcomes["outcome"] != "done", ["id", "columns", "outcome", "reason"]]
    return wrong.astype({"outcome": str}).fillna({"id": "new", "reason": ""})


class _Told:
    """What `Outcomes` needs to plan again; the changes themselves are in the journal."""

    def __init__(
        self, connection: WritingConnection, resource: Resource, journal: Path, make_plan: Callable[..., Plan]
    ) -> None:
        self.connection, self.resource, self.journal = connection, resource, journal
        self._make_plan = make_plan

    def _entries(self) -> Iterator[Entry]:
        with Journal.open(self.journal) as journal:
            yield from journal.entries()

    def again(self) -> Plan:
        failed = [each for each in self._entries() if each.state in _AGAIN]
        id_ = snake_case(self.resource.id)
        rows = [
            {id_: each.id, **{name: after for name, _, after in each.cells}}
            for each in failed
            if each.action != "delete"
        ]
        return _joined(
            [
                self._make_plan(self.connection, self.resource, part, delete, duplicates=True)
                for part, delete in _parts(rows, id_, [each.id for each in failed if each.action == "delete"])
            ],
            lambda: self._make_plan(self.connection, self.resource, None),
        )

    def reversed(self) -> Plan:
        done = [each for each in self._entries() if each.state == "done"]
        id_ = snake_case(self.resource.id)
        updated = [each for each in done if each.action == "update"]
        created = [each for each in done if each.action == "create" and each.id]
        columns = written_columns(self.connection, self.resource, {name for each in done for name, *_ in each.cells})
        expected = {str(each.id).casefold(): _after(each, columns) for each in (*updated, *created)}
        rows = [{id_: each.id, **{name: before for name, before, _ in each.cells}} for each in updated]
        lost = [_lost(each) for each in done if each.action == "delete" or (each.action == "create" and not each.id)]
        parts = _parts(rows, id_, [each.id for each in created])
        plans = [
            self._make_plan(self.connection, self.resource, part, delete, expected=expected) for part, delete in parts
        ]
        plan = _joined(plans, lambda: self._make_plan(self.connection, self.resource, None))
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
        first.time = min(filter(None, (first.time, other.time)), default=None)
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


def written_columns(connection: WritingConnection, resource: Resource, names: Iterable[str]) -> dict[str, EditColumn]:
    """Return a resource's columns; custom fields are asked for only if one of the names is theirs."""
    custom: tuple[CustomColumn, ...] = ()
    if resource.entity and any(name.startswith("cf_") for name in names):
        custom = definitions_of(connection, resource.entity)
    return columns_of(resource, custom)


def outcomes_of(
    connection: WritingConnection, resource: Resource, journal: Journal, make_plan: Callable[..., Plan]
) -> Outcomes:
    """Return what a journal says became of each change; `make_plan` makes the plans that follow from it."""
    types = {"id": TEXT, "action": ACTIONS, "columns": TEXT, "outcome": FINISHED, "reason": TEXT, "row": "Int64"}
    frame = Outcomes(series_of(journal.outcomes(), types))
    frame._told = _Told(connection, resource, journal.path, make_plan)
    return frame
