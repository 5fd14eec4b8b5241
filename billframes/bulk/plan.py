"""`Plan`: every cell of an edited frame that differs from the server, with its status, before anything is sent.

| status | meaning | sent |
|---|---|---|
| `will change` | the server's value becomes the edited one | yes |
| `no change` | the record is on the server as it is in the frame | no |
| `billed` | the record is on an invoice, and the API refuses changes | no |
| `changed since loaded` | somebody changed the record after the frame was loaded | no |
| `read-only column` | the API does not let callers write this column, or the resource has no such column | no |
| `invalid` | a rule of the API or the matter's LEDES settings is against it; `reason` says which | no |
| `gone` | the server has no such record any more | no |

Only columns that are in the frame are compared, so what was never loaded stays untouched. A detail that is missing in
every row of the frame, while the server has it, counts as never loaded: it was hidden from whoever loaded it (rates,
contacts), and is not taken for an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from billframes._suggestions import SuggestsNames
from billframes.bulk.apply import resource_of, send_journal, write_journal
from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import ACTIONS, STATUSES, TEXT, Change, series_of
from billframes.bulk.columns import EditColumn
from billframes.bulk.display import as_html, as_text
from billframes.bulk.journal import FINISHED, Journal
from billframes.bulk.planned_changes import PlannedChanges, plan_changes, plan_failed, plan_reverse
from billframes.errors import ParameterError
from billframes.loading.connection import WritingConnection
from billframes.loading.progress import Progress
from billframes.schema.resources import Resource

__all__ = ["Outcomes", "Plan", "apply_journal", "make_plan"]


class Plan(SuggestsNames):
    """
    What an edited frame would change; made by the loaders' `plan`. Nothing is written until `apply`.

    Attributes
    ----------
    frame : DataFrame
        A row for each cell that differs: `id` (missing for a record to be created), `column`, `before` and `after` as
        text, `status`, `reason`, `action` (update, create or delete) and `row`, the place in the edited frame from 0.
        A record in which nothing differs has one row without a column, with the status "no change".
    counts : dict of str to int
        How many records will be updated, created and deleted, then how many cells have each other status.
    notes : tuple of str
        What to know beside the cells: columns that are not compared, and why.
    requests : int
        Requests that it took to make the plan.
    """

    def __init__(self, connection: WritingConnection, resource: Resource, planned: PlannedChanges) -> None:
        self.connection, self.resource = connection, resource
        self.columns, self.changes = planned.columns, planned.changes
        self.notes = tuple(planned.notes)
        self.requests = planned.requests
        self.time = planned.time
        self._begun = False
        self._outcomes: Outcomes | None = None

    @property
    def sent(self) -> list[Change]:
        """The changes that `apply` sends."""
        return [change for change in self.changes if change.is_sent]

    @property
    def counts(self) -> dict[str, int]:
        """Records by what will be done, and cells by status."""
        return self.changes.counts

    @property
    def frame(self) -> pd.DataFrame:
        """Every cell that differs."""
        types = {
            "id": TEXT,
            "column": TEXT,
            "before": TEXT,
            "after": TEXT,
            "status": STATUSES,
            "reason": TEXT,
            "action": ACTIONS,
            "row": "Int64",
        }
        return pd.DataFrame(series_of((row for change in self.changes for row in _rows(change)), types))

    def apply(self, journal: str | Path | None = None, *, progress: bool | Progress | None = None) -> Outcomes:
        """
        Send what will change, and return what became of each change.

        Changes are sent side by side at the client's concurrency. Just before a record is written, the server is asked
        whether somebody changed it since the plan was made; if so, it is skipped. One refusal does not stop the rest.
        Deletions are sent last.

        Parameters
        ----------
        journal : str or Path, optional
            The file that remembers each change before it is sent and after it is answered; a new one in
            `billframes.bulk.journal.folder()` if not given. It holds narratives, is readable by you alone, and has no
            credentials. It must not exist yet.
        progress : bool or callable, optional
            As for the loaders.

        Returns
        -------
        Outcomes
            A DataFrame with a row for each change: `id`, `action`, `columns`, `outcome` and `reason`.
            `.failed` plans again what did not happen; `.journal` is the file.

        Raises
        ------
        ParameterError
            The plan has been applied before, or the journal exists or can't be written.
        AuthenticationError
            The credential is not accepted. `bf.resume` goes on from there.

        Examples
        --------
        >>> entries = bf.time_entries("2026-10", billed=False, limit=2)
        >>> plan = bf.time_entries.plan(entries.assign(description="Call with the client"))
        >>> plan.apply()["outcome"].tolist()
        ['done', 'done']
        >>> plan.reverse().apply()["outcome"].tolist()
        ['done', 'done']
        """
        if self._begun:
            raise ParameterError(
                "This plan has been applied. Plan again from the frame, or take .failed of its outcomes; if it did not "
                "end, bf.resume goes on with its journal."
            )
        with write_journal(journal, self.connection, self.resource, self.columns, self.changes, self.time) as opened:
            self._begun = True
            self._outcomes = apply_journal(self.connection, opened, progress, self.columns)
        return self._outcomes

    def reverse(self) -> Plan:
        """
        Plan the way back after `apply`: the values from before for what was updated, the deletion of what was created.

        What somebody changed since is marked `changed since loaded`, what was billed since `billed`. A deletion can't
        be undone, because a new record has another id: these are listed as `gone`.

        Returns
        -------
        Plan
            To be applied like any other.

        Raises
        ------
        ParameterError
            The plan has not been applied.
        """
        if self._outcomes is None:
            raise ParameterError("This plan has not been applied, so there is nothing to reverse.")
        return self._outcomes.reverse()

    def __repr__(self) -> str:
        return as_text(self.resource, self.changes, self.notes)

    def _repr_html_(self) -> str:
        return as_html(self.resource, self.changes, self.notes)


def _rows(change: Change) -> Iterable[tuple[Any, ...]]:
    if change.action == "delete" or not change.cells:
        yield (change.id, None, None, None, change.status, change.reason or None, change.action, change.place)
        return
    for cell in change.cells:
        before, after = text_of_cell(cell.before), text_of_cell(cell.after)
        yield (
            change.id, cell.column, before, after, cell.status, cell.reason or None, change.action, change.place
        )  # fmt: skip


def make_plan(
    connection: WritingConnection, resource: Resource, edited: Any, delete: Any = (), *, duplicates: bool = False
) -> Plan:
    """Compare an edited frame with the server, as `plan_changes` does, and return the plan."""
    return Plan(connection, resource, plan_changes(connection, resource, edited, delete, duplicates=duplicates))


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

    # pandas keeps these as attributes instead of making them columns.
    _metadata: ClassVar[list[str]] = ["_applied"]
    _applied: _Applied

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    @property
    def journal(self) -> Path:
        """The journal's file."""
        return self._applied.journal

    @property
    def failed(self) -> Plan:
        """
        Plan again the changes that were refused, skipped or could not be sent, against the server's present state.

        Uncertain ones are not in it: look at the record first, then plan it again yourself.
        """
        connection, resource, journal = self._applied
        return Plan(connection, resource, plan_failed(connection, resource, journal))

    def reverse(self) -> Plan:
        """Plan the way back; as `Plan.reverse`."""
        connection, resource, journal = self._applied
        return Plan(connection, resource, plan_reverse(connection, resource, journal))


class _Applied(NamedTuple):
    """The journal that was applied; it has the changes from which other plans are made."""

    connection: WritingConnection
    resource: Resource
    journal: Path


def apply_journal(
    connection: WritingConnection,
    journal: Journal,
    progress: bool | Progress | None = None,
    columns: Mapping[str, EditColumn] | None = None,
) -> Outcomes:
    """Send the unfinished changes of a journal, as `send_journal` does, and return the outcomes of all its changes."""
    send_journal(connection, journal, progress, columns)
    types = {"id": TEXT, "action": ACTIONS, "columns": TEXT, "outcome": FINISHED, "reason": TEXT, "row": "Int64"}
    outcomes = Outcomes(series_of(journal.outcomes(), types))
    outcomes._applied = _Applied(connection, resource_of(journal), journal.path)
    return outcomes
