"""`Plan`, the changes that an edited frame would make, and `Outcomes`, the results of applying it.

The documentation of bulk edits says what each status means. Only columns in the frame are compared. If a detail such as
a rate or a contact is missing in every row of the frame, and the server has values, it was not loaded: the API hid it,
or it was not selected. It does not count as an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from billframes._shared.suggestions import SuggestsNames
from billframes.bulk.apply import resource_of, send_journal, write_journal
from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import ACTIONS, STATUSES, Change, count_changes, frame_of
from billframes.bulk.columns import EditColumn
from billframes.bulk.display import as_html, as_text
from billframes.bulk.journal import Journal, is_finished
from billframes.bulk.journal_entry import OUTCOMES
from billframes.bulk.planning import PlannedChanges, plan_changes, plan_failed, plan_reverse
from billframes.errors import ParameterError
from billframes.loading.connection import WritingConnection
from billframes.loading.progress import Progress
from billframes.schema.resources import Resource


class Plan(SuggestsNames):
    """
    The changes that an edited frame would make; created by a loader's `plan`. Nothing is written until `apply`.

    Attributes
    ----------
    notes : tuple of str
        Remarks on the whole frame: columns that are not compared, and edits that look like a mistake.
    requests : int
        The number of requests that it took to make the plan.
    journal : Path or None
        The path of the journal; None before `apply`.
    """

    def __init__(self, connection: WritingConnection, resource: Resource, planned: PlannedChanges) -> None:
        self._connection, self._resource = connection, resource
        self._columns, self._changes = planned.columns, planned.changes
        self.notes = tuple(planned.notes)
        self.requests = planned.requests
        self._time = planned.time
        self.journal: Path | None = None
        self._outcomes: Outcomes | None = None

    @property
    def _sent(self) -> list[Change]:
        return [change for change in self._changes if change.is_sent]

    @property
    def counts(self) -> dict[str, int]:
        """The number of records to update, create and delete, then the number of cells with each other status."""
        return count_changes(self._changes)

    @property
    def frame(self) -> pd.DataFrame:
        """
        One row for each cell that differs, or for a record without such a cell, with the status "no change".

        Its columns are `id` (missing for a new record), `column`, `before` and `after` as text, `status`, `reason`,
        `action` (update, create or delete) and `row`, the position in the edited frame from 0.
        """
        types: dict[str, Sequence[str]] = dict.fromkeys(("id", "column", "before", "after"), "str")
        types |= {"status": STATUSES, "reason": "str", "action": ACTIONS, "row": "Int64"}
        return frame_of((row for change in self._changes for row in _rows_of(change)), types)

    def apply(self, journal: str | Path | None = None, *, progress: bool | Progress | None = None) -> Outcomes:
        """
        Send the changes with the status `will change`, and return the outcome of each.

        Changes are sent side by side at the client's concurrency. Just before a record is written, the server is asked
        whether somebody changed it after the plan was made; if so, it is skipped. A refused change does not stop the
        others. Deletions are sent last.

        Parameters
        ----------
        journal : str or Path, optional
            The file in which each change is saved before it is sent and after its response. It must not exist yet. If
            not given, a new one in your folder for the state of programs; `plan.journal` is its path. It holds
            narratives and no credentials, and only you can read it.
        progress : bool or callable, optional
            As for the loaders.

        Returns
        -------
        Outcomes
            A DataFrame with one row for each change: `id`, `outcome`, `reason`, `action`, `columns` and `row`.
            `.failed` plans the changes that failed again; `.journal` is the file's path.

        Raises
        ------
        ParameterError
            The plan has been applied before, or the journal exists or can't be written.
        AuthenticationError
            The credential is not accepted. `bf.bulk.resume` sends the other changes later.
        TransportError
            The server does not respond. `bf.bulk.resume` sends the other changes later.

        Examples
        --------
        >>> entries = bf.time_entries("2026-10", billed=False, limit=2)
        >>> plan = bf.time_entries.plan(entries.assign(description="Call with the client"))
        >>> plan.apply()["outcome"].tolist()
        ['done', 'done']
        >>> plan.reverse().apply()["outcome"].tolist()
        ['done', 'done']
        """
        self._check_not_interrupted()
        if self.journal is not None:
            raise ParameterError(
                "This plan has been applied. Plan again from the frame, or take .failed of its outcomes."
            )
        with write_journal(
            journal, self._connection, self._resource, self._columns, self._changes, self._time
        ) as opened:
            self.journal = opened.path
            self._outcomes = apply_journal(self._connection, opened, progress, self._columns)
        return self._outcomes

    def reverse(self) -> Plan:
        """
        Plan to undo `apply`: give updated records their values from before, and delete created records.

        Records that somebody changed since are marked `changed since loaded`, and billed records `billed`. A deletion
        can't be undone, because a new record has another id; deleted records are listed as `gone`.

        Returns
        -------
        Plan
            The plan to apply.

        Raises
        ------
        ParameterError
            The plan has not been applied, or the apply was interrupted.
        """
        self._check_not_interrupted()
        if self.journal is None:
            raise ParameterError("This plan has not been applied, so there is nothing to reverse.")
        return _reversed(self._connection, self._resource, self.journal)

    def _check_not_interrupted(self) -> None:
        """Raise `ParameterError` if `apply` was interrupted, and `bf.bulk.resume` has not finished it."""
        if self.journal is not None and self._outcomes is None and not is_finished(self.journal):
            raise ParameterError(
                f"This plan's apply was interrupted. outcomes = bf.bulk.resume({str(self.journal)!r}) finishes it; "
                "then outcomes.reverse() plans to undo it."
            )

    def __repr__(self) -> str:
        return as_text(self._resource, self._changes, self.notes)

    def _repr_html_(self) -> str:
        return as_html(self._resource, self._changes, self.notes)


def _rows_of(change: Change) -> Iterable[tuple[Any, ...]]:
    if change.has_no_cells:
        yield (change.id, None, None, None, change.status, change.reason or None, change.action, change.place)
        return
    for cell in change.cells:
        before, after = text_of_cell(cell.before), text_of_cell(cell.after)
        yield (change.id, cell.column, before, after, cell.status, cell.reason or None, change.action, change.place)


def make_plan(
    connection: WritingConnection, resource: Resource, edited: Any, delete: Any = (), *, duplicates: bool = False
) -> Plan:
    """Compare an edited frame with the server, as `plan_changes` does, and return the plan."""
    return Plan(connection, resource, plan_changes(connection, resource, edited, delete, duplicates=duplicates))


class _OwnHelp(type):
    """Let `help` show what a class adds to a DataFrame, and not all that it inherits."""

    def __dir__(cls) -> list[str]:
        return [name for name in vars(cls) if not name.startswith("_")]


class Outcomes(pd.DataFrame, metaclass=_OwnHelp):
    """
    The outcome of each change of a plan; created by `Plan.apply` and `bf.bulk.resume`.

    A DataFrame with one row for each change: `id` (str; for a created record, if known), `outcome` (category: done,
    changed since planned, billed, refused, gone, uncertain, failed), `reason` (str), `action` (category), `columns`
    (str, the columns that were sent) and `row` (Int64, the position in the edited frame from 0). Frames derived from it
    are plain DataFrames.

    Attributes
    ----------
    journal : Path
        The path of the journal.
    """

    # pandas keeps these as attributes instead of making them columns.
    _metadata: ClassVar[list[str]] = ["_applied"]
    _applied: _Applied

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    @property
    def journal(self) -> Path:
        """The path of the journal."""
        return self._applied.journal

    @property
    def failed(self) -> Plan:
        """
        Plan the changes again that were refused, skipped or could not be sent, against the server's current state.

        Uncertain changes are not in it: look at the record first, and plan them again yourself.
        """
        connection, resource, journal = self._applied
        return Plan(connection, resource, plan_failed(connection, resource, journal))

    def reverse(self) -> Plan:
        """Plan to undo the changes, as `Plan.reverse` does."""
        return _reversed(*self._applied)


class _Applied(NamedTuple):
    """The journal that was applied. Further plans are made from its changes."""

    connection: WritingConnection
    resource: Resource
    journal: Path


def _reversed(connection: WritingConnection, resource: Resource, journal: Path) -> Plan:
    return Plan(connection, resource, plan_reverse(connection, resource, journal))


def apply_journal(
    connection: WritingConnection,
    journal: Journal,
    progress: bool | Progress | None = None,
    columns: Mapping[str, EditColumn] | None = None,
) -> Outcomes:
    """Send the unfinished changes of a journal, as `send_journal` does, and return the outcomes of all its changes."""
    try:
        send_journal(connection, journal, progress, columns)
    except BaseException as error:
        journal.add_note(error)
        raise
    types = {"id": "str", "outcome": OUTCOMES, "reason": "str", "action": ACTIONS, "columns": "str", "row": "Int64"}
    outcomes = Outcomes(frame_of(journal.outcomes(), types))
    outcomes._applied = _Applied(connection, resource_of(journal), journal.path)
    return outcomes
