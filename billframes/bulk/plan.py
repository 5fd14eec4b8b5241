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
from typing import TYPE_CHECKING, Any

import pandas as pd

from billframes._names import closest, snake_case
from billframes.bulk.changes import ACTIONS, STATUSES, TEXT, Cell, Change, body_for, series_of
from billframes.bulk.columns import EditColumn, columns_of, same, text_of_cell
from billframes.bulk.connection import WritingConnection
from billframes.bulk.creations import find_same, identity_of
from billframes.bulk.display import as_html, as_text
from billframes.bulk.edited import EditedRow, EditedRows, Unreadable, ids_given, read_edited
from billframes.bulk.present import ListHint, Record, Server
from billframes.bulk.rules import check_changes, check_deletions
from billframes.errors import MirrorError, ParameterError
from billframes.loading.load import definitions_of
from billframes.loading.progress import Progress
from billframes.schema.custom_fields import CustomColumn
from billframes.schema.resources import Resource

if TYPE_CHECKING:
    from billframes.bulk.apply import Outcomes

__all__ = ["Plan", "make_plan"]

_ALWAYS = ("billed", "modified_at")
# What the checks of codes and of a fixed fee read of the record itself, and what people know a record by.
_CHECKED = ("matter_id", "fixed_fee_id", "billing_type", "activity_code", "task_code", "expense_code", "date", "name")
# Loader arguments by which the same records can be listed again.
_REPEATABLE = frozenset({"user_id", "matter_id", "client_id", "billing_type", "fixed_fee_id"})


class Plan:
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
        changes: list[Change],
        notes: Sequence[str] = (),
        requests: int = 0,
    ) -> None:
        self.connection, self.resource, self.columns = connection, resource, columns
        self.changes = changes
        self.notes = tuple(notes)
        self.requests = requests
        self._begun = False
        self._outcomes: Outcomes | None = None

    @property
    def sent(self) -> list[Change]:
        """The changes that `apply` sends."""
        return [change for change in self.changes if change.is_sent]

    @property
    def counts(self) -> dict[str, int]:
        """Records by what will be done, and cells by status."""
        sent = Counter(change.action for change in self.sent)
        cells = Counter(status for change in self.changes for status in _statuses(change))
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

        Changes are sent side by side at the client's concurrency. Each record is read again just before it is written,
        and skipped if somebody changed it since the plan was made. One refusal does not stop the rest. Deletions are
        sent last.

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
        from billframes.bulk.apply import finish_journal, new_journal

        if self._begun:
            raise ParameterError(
                "This plan has been applied. Plan again from the frame, or take .failed of its outcomes; if it did not "
                "end, bf.resume goes on with its journal."
            )
        with new_journal(self, journal) as opened:
            self._begun = True
            self._outcomes = finish_journal(self.connection, opened, progress, self.columns)
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
    extra: Iterable[Change] = (),
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
    extra : iterable of Change
        Changes to list that are not sent.

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
    changes: list[Change] = []
    notes: list[str] = []
    if rows is not None:
        _check_apart(rows, delete)
        changes, notes = _Comparison(server, resource, columns, rows, expected or {}).run(duplicates=duplicates)
    changes += _deletions(server, resource, columns, delete, expected or {})
    changes += extra
    return Plan(connection, resource, columns, changes, notes, server.requests)


def _names(frame: Any) -> Iterable[Any]:
    names = getattr(frame, "column_names", None)
    return list(getattr(frame, "columns", ())) if names is None else list(names)


def _check_apart(rows: EditedRows, delete: Sequence[str]) -> None:
    both = {each.casefold() for each in delete} & {each.casefold() for each in rows.ids if each}
    if both:
        raise ParameterError(
            f"{min(both)} is to be deleted and is a row of the frame, too. Take it out of one of them."
        )


class _Comparison:
    """The comparison of one edited frame with the server."""

    def __init__(
        self,
        server: Server,
        resource: Resource,
        columns: Mapping[str, EditColumn],
        rows: EditedRows,
        expected: Mapping[str, Record],
    ) -> None:
        self._server, self._resource, self._columns, self._rows = server, resource, columns, rows
        self._expected = expected
        self._notes: list[str] = []
        self._skipped: set[str] = set()
        # Columns of new rows that the server sets itself: a row copied to make a new one has them all.
        self._not_new: set[str] = set()

    def run(self, *, duplicates: bool) -> tuple[list[Change], list[str]]:
        """Return the changes and the notes."""
        present = self._present()
        self._note_columns(present)
        changes = [change for row in self._rows if (change := self._change(row, present)) is not None]
        if self._not_new:
            named = ", ".join(sorted(self._not_new))
            self._notes.append(f"In new rows, these columns are not sent, because the server sets them: {named}.")
        check_changes(changes, self._resource, self._columns, self._server)
        self._check_bodies(changes)
        if not duplicates:
            self._mark_twins(changes)
        return changes, self._notes

    def _present(self) -> dict[str, Record]:
        ids = [id_ for id_ in self._rows.ids if id_ is not None]
        names = {*self._rows.known, *_ALWAYS, *(name for name in _CHECKED if self._columns.get(name, _NONE).listed)}
        read = [each for name, each in self._columns.items() if name in names and (each.source or each.custom)]
        return self._server.records(self._resource, ids, read, self._hint(len(ids)))

    def _hint(self, wanted: int) -> ListHint:
        """Return how the list can be narrowed: as the frame was loaded, else by the rows' own dates and matters."""
        info = self._rows.info
        if not self._resource.date:
            return ListHint()
        if info and info.rows is not None and wanted * 2 >= info.rows and set(info.arguments) <= _REPEATABLE:
            period = {"start": info.start, "end": info.end}
            return ListHint({**info.arguments, **{name: day for name, day in period.items() if day}}, info.rows)
        days = [day for day in self._rows.values("date") if isinstance(day, dt.date)]
        arguments: dict[str, Any] = {"start": min(days), "end": max(days)} if days else {}
        matters = {each for each in self._rows.values("matter_id") if isinstance(each, str)}
        if 0 < len(matters) <= 3:
            arguments["matter_id"] = sorted(matters)
        return ListHint(arguments)

    def _note_columns(self, present: Mapping[str, Record]) -> None:
        """Note columns that are not compared."""
        nouns = self._resource.name.replace("_", " ")
        for name in self._rows.unknown:
            hint = closest(name, [each for each, column in self._columns.items() if column.update])
            self._notes.append(f"{nouns} have no column {name!r}, so nothing of it is sent.{hint}")
        for name in self._rows.known:
            if not self._columns[name].may_hide or not self._rows.is_empty(name):
                continue
            if any(record.get(name) is not None for record in present.values()):
                self._skipped.add(name)
                if self._columns[name].update:
                    self._notes.append(
                        f"{name} is empty in every row although the server has values, so it was not loaded with the "
                        "frame, and stays as it is."
                    )
        if present and "modified_at" not in self._rows.known and not self._loaded_at and not self._expected:
            self._notes.append(
                "The frame has no column modified_at and does not say when it was loaded, so changes that others made "
                "since then can't be seen. The column `before` shows what the server has now."
            )

    @property
    def _loaded_at(self) -> dt.datetime | None:
        return self._rows.info.time if self._rows.info else None

    def _change(self, row: EditedRow, present: Mapping[str, Record]) -> Change | None:
        if row.id is None:
            return self._create(row)
        record = present.get(row.id.casefold())
        if record is None:
            return Change("update", row.place, row.id, status="gone", reason="the server has no such record")
        change = Change("update", row.place, str(record[snake_case(self._resource.id)]), present=record)
        for name, after in row.cells.items():
            cell = self._cell(name, record.get(name), after, creating=False)
            if cell is not None:
                change.cells.append(cell)
        if not change.cells:
            change.status = "no change"
        elif record.get("billed") is True:
            change.mark("billed", "the record is on an invoice")
        elif reason := self._moved(row, record):
            change.mark("changed since loaded", reason)
        return change

    def _cell(self, name: str, before: Any, after: Any, *, creating: bool) -> Cell | None:
        """Return a cell if it differs."""
        column = self._columns[name]
        if name in self._skipped or name == "modified_at":
            return None
        path = column.create if creating else column.update
        if isinstance(after, Unreadable):
            if path is None:
                return Cell(name, before, after.shown, "read-only column", "the API does not let callers write it")
            return Cell(name, before, after.shown, "invalid", after.expected)
        if same(column, before, after):
            return None
        if path is None:
            only_new = not creating and column.create is not None
            reason = "only a new record takes it" if only_new else "the API does not let callers write it"
            return Cell(name, before, after, "read-only column", reason)
        return Cell(name, before, after)

    def _moved(self, row: EditedRow, record: Record) -> str:
        """Say why a record counts as changed since the frame was loaded; nothing if it does not."""
        if self._expected:
            return _differs(self._expected.get(str(row.id).casefold(), {}), record, self._columns)
        now, then = record.get("modified_at"), row.cells.get("modified_at")
        if now is None:
            return ""
        if isinstance(then, dt.datetime):
            if not same(self._columns["modified_at"], now, then):
                return f"the server changed it on {now:%Y-%m-%d at %H:%M:%S} UTC"
        elif self._loaded_at is not None and now > self._loaded_at:
            return f"the server changed it on {now:%Y-%m-%d at %H:%M:%S} UTC"
        return ""

    def _create(self, row: EditedRow) -> Change | None:
        change = Change("create", row.place, None)
        for name, after in row.cells.items():
            cell = self._cell(name, None, after, creating=True)
            if cell is not None and cell.status == "read-only column":
                self._not_new.add(name)
            elif cell is not None:
                change.cells.append(cell)
        # An empty row at the end of a sheet is not a new record.
        return change if change.cells else None

    def _check_bodies(self, changes: Iterable[Change]) -> None:
        """Let the declaration of the request have the last word."""
        for change in changes:
            if change.is_sent:
                try:
                    body_for(change, self._resource, self._columns)
                except ParameterError as error:
                    change.mark("invalid", str(error))

    def _mark_twins(self, changes: Iterable[Change]) -> None:
        """Mark new rows that the server has already: a frame with new rows may have been applied before."""
        new = [change for change in changes if change.action == "create" and change.is_sent]
        wanted = [identity_of(self._resource, {cell.column: cell.after for cell in each.sent_cells()}) for each in new]
        id_ = snake_case(self._resource.id)
        for change, found in zip(new, find_same(self._server, self._resource, self._columns, wanted), strict=True):
            if found:
                change.twins = [str(record[id_]) for record in found]
                change.mark(
                    "invalid",
                    f"the server has the same {self._resource.noun} already ({change.twins[0]}); duplicates=True "
                    "creates another one",
                )


_NONE = EditColumn("", "text", listed=False)


def _deletions(
    server: Server,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    delete: Sequence[str],
    expected: Mapping[str, Record],
) -> list[Change]:
    """Return the deletions, each with a status."""
    names = {*_ALWAYS, *(name for cells in expected.values() for name in cells)}
    read = [columns[name] for name in columns if name in names and columns[name].source]
    present = server.records(resource, delete, read) if delete else {}
    changes = [Change("delete", None, id_, present=present.get(id_.casefold(), {})) for id_ in delete]
    for change in changes:
        if not change.present:
            change.status, change.reason = "gone", "the server has no such record"
        elif change.present.get("billed") is True:
            change.status, change.reason = "billed", "the record is on an invoice"
        else:
            change.status = "will change"
        reason = _differs(expected.get(str(change.id).casefold(), {}), change.present, columns)
        if change.is_sent and reason:
            change.status, change.reason = "changed since loaded", reason
    check_deletions(changes, resource, server)
    return changes


def _differs(expected: Record, record: Record, columns: Mapping[str, EditColumn]) -> str:
    """Say which cell is not as expected, if one is not."""
    wrong = (name for name, value in expected.items() if not same(columns[name], record.get(name), value))
    name = next(wrong, None)
    return f"{name} is no longer what was written" if name else ""
