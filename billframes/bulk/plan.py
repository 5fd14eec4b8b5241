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

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._suggestions import SuggestsNames
from billframes.bulk.apply import finish_journal, new_journal
from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import ACTIONS, STATUSES, TEXT, Change, Changes, series_of
from billframes.bulk.columns import EditColumn, columns_of
from billframes.bulk.comparison import Comparison, deletions
from billframes.bulk.display import as_html, as_text
from billframes.bulk.edited import EditedRows, ids_given, read_edited
from billframes.bulk.outcomes import Outcomes
from billframes.bulk.present import Server
from billframes.bulk.records import Record
from billframes.errors import MirrorError, ParameterError
from billframes.loading.connection import WritingConnection
from billframes.loading.load import definitions_of
from billframes.loading.progress import Progress
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.resources import Resource

__all__ = ["Plan", "make_plan"]


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

    def __init__(
        self,
        connection: WritingConnection,
        resource: Resource,
        columns: Mapping[str, EditColumn],
        changes: Changes,
        notes: Sequence[str] = (),
        requests: int = 0,
        time: dt.datetime | None = None,
    ) -> None:
        self.connection, self.resource, self.columns = connection, resource, columns
        self.changes = changes
        self.notes = tuple(notes)
        self.requests = requests
        # When the first record was read, by the server's clock.
        self.time = time
        self._begun = False
        self._outcomes: Outcomes | None = None

    @property
    def sent(self) -> list[Change]:
        """The changes that `apply` sends."""
        return [change for change in self.changes if change.is_sent]

    @property
    def counts(self) -> dict[str, int]:
        """Records by what will be done, and cells by status."""
        sent: Counter[str] = Counter()
        cells: Counter[str] = Counter()
        for change in self.changes:
            sent.update([change.action] if change.is_sent else [])
            cells.update(_statuses(change))
        return {action: sent[action] for action in ACTIONS} | {
            status: cells[status] for status in STATUSES if status != "will change"
        }

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
        with new_journal(self, journal) as opened:
            self._begun = True
            self._outcomes = finish_journal(self.connection, opened, make_plan, progress, self.columns)
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
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _statuses(change: Change) -> Iterable[str]:
    if change.action == "delete" or not change.cells:
        return (change.status,)
    return (cell.status for cell in change.cells)


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
    connection: WritingConnection,
    resource: Resource,
    edited: Any,
    delete: Any = (),
    *,
    duplicates: bool = False,
    expected: Mapping[str, Record] | None = None,
) -> Plan:
    """
    Compare an edited frame with the server.

    Parameters
    ----------
    connection : WritingConnection
    resource : Resource
        One whose records can be read, created, updated and deleted.
    edited : frame, optional
        Of pandas, Polars or Arrow.
    delete : iterable of str
        Ids of records to delete.
    duplicates : bool
        Create new rows also if the server has the same record.
    expected : mapping, optional
        The cells that records must have now, by id in lower case; a record with others was changed by somebody else.

    Raises
    ------
    ParameterError
        The frame can't be planned; no request was sent.
    MirrorError
        The connection is a mirror.
    """
    if connection.tables is not None:
        raise MirrorError("A mirror can't be written to. Connect to the server, and plan there.")
    delete = ids_given(delete, resource)
    server = Server(connection)
    custom: tuple[CustomColumn, ...] = ()
    if edited is not None and resource.entity and any(str(name).startswith("cf_") for name in _names(edited)):
        # Checked first: a frame that can't be planned costs no request.
        read_edited(edited, resource, columns_of(resource))
        custom = definitions_of(connection, resource.entity)
        server.requests += 1
    columns = columns_of(resource, custom)
    rows = read_edited(edited, resource, columns) if edited is not None else None
    changes, notes = Changes(), list[str]()
    if rows is not None:
        _check_apart(rows, delete)
        changes, notes = Comparison(server, resource, columns, rows, expected or {}).run(duplicates=duplicates)
    changes += deletions(server, resource, columns, delete, expected or {})
    return Plan(connection, resource, columns, changes, notes, server.requests, server.time)


def _names(frame: Any) -> Iterable[Any]:
    names = getattr(frame, "column_names", None)
    return list(getattr(frame, "columns", ())) if names is None else list(names)


def _check_apart(rows: EditedRows, delete: Sequence[str]) -> None:
    both = {each.casefold() for each in delete} & {each.casefold() for each in rows.ids if each}
    if both:
        raise ParameterError(
            f"{min(both)} is to be deleted and is a row of the frame, too. Take it out of one of them."
        )
