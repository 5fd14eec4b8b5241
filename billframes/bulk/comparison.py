"""Compare an edited frame with the server: each cell that differs, and whether it can be sent."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from billframes._export import is_cut
from billframes._names import closest, snake_case
from billframes.bulk.cells import Digits, same, text_of_cell
from billframes.bulk.changes import Cell, Change, Changes, body_for
from billframes.bulk.columns import EditColumn
from billframes.bulk.creations import find_same, identity_of
from billframes.bulk.edited import EditedRow, EditedRows, Unreadable
from billframes.bulk.journal import same_server
from billframes.bulk.mistakes import Mistakes
from billframes.bulk.present import ListHint, Server
from billframes.bulk.records import Record, Records
from billframes.bulk.rules import Checks, check_deletions
from billframes.errors import ParameterError
from billframes.schema.resources import Resource

__all__ = ["Comparison", "deletions"]

_ALWAYS = ("billed", "modified_at")
# What the checks of codes and of a fixed fee read of the record itself, and what people know a record by.
_CHECKED = ("matter_id", "fixed_fee_id", "billing_type", "activity_code", "task_code", "expense_code", "date", "name")
# Nobody edits this column, so another record's time of creation shows that the ids stayed while the rows were sorted.
_MOVED_ROW = (
    "created_at is another record's, so this row was moved against its id, as by a sort without the id's column"
)
# Lists that are narrowed to one of so many matters or periods; days further apart begin a new period.
_STREAMS, _GAP = 3, dt.timedelta(days=45)
# Loader arguments by which the same records can be listed again.
_REPEATABLE = frozenset({"user_id", "matter_id", "client_id", "billing_type", "fixed_fee_id", "billed"})


class Comparison:
    """
    The comparison of one edited frame with the server.

    Parameters
    ----------
    server : Server
    resource : Resource
    columns : mapping of str to EditColumn
    rows : EditedRows
    expected : mapping
        The cells that records must have now, by id in lower case; a record with others was changed by somebody else.
    """

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

    def run(self, *, duplicates: bool) -> tuple[Changes, list[str]]:
        """Return the changes and the notes."""
        checks = Checks(self._resource, self._columns, self._server)
        compared = self._compared(checks)
        checks.read()
        changes, new = self._checked(compared, checks)
        if new and not duplicates:
            changes = self._with_twins(changes, new)
        mistakes = Mistakes(self._columns, self._resource)
        for change in changes:
            mistakes.look(change)
        self._notes += mistakes.notes()
        return changes, self._notes

    def _compared(self, checks: Checks) -> Changes:
        """Compare the rows, some thousand at a time, and note what the checks need."""
        present = self._present()
        self._note_columns(present)
        compared = Changes(kept={*_ALWAYS, *_CHECKED, "matter_name"})
        for rows in self._rows.parts():
            records = present.some(row.id for row in rows if row.id is not None)
            for row in rows:
                change = self._change(row, records)
                if change is not None:
                    checks.add(change)
                    compared.append(change)
        if self._not_new:
            named = ", ".join(sorted(self._not_new))
            self._notes.append(f"In new rows, these columns are not sent, because the server sets them: {named}.")
        return compared

    def _checked(self, compared: Changes, checks: Checks) -> tuple[Changes, list[dict[str, Any]]]:
        """Check the changes; return them, and by what the new records among them can be found."""
        changes, new = Changes(), []
        for change in compared:
            checks.check(change)
            self._check_body(change)
            changes.append(change)
            if change.action == "create" and change.is_sent:
                new.append(identity_of(self._resource, {cell.column: cell.after for cell in change.sent_cells()}))
        return changes, new

    def _present(self) -> Records:
        ids = self._rows.ids.known
        names = {*self._rows.known, *_ALWAYS, *(name for name in _CHECKED if self._columns.get(name, _NONE).listed)}
        read = [each for name, each in self._columns.items() if name in names and (each.source or each.custom)]
        return self._server.records(self._resource, ids, read, self._hint(len(ids)))

    def _hint(self, wanted: int) -> ListHint:
        """Return how the list can be narrowed: as the frame was loaded, or by the rows' own dates and matters."""
        info = self._rows.info
        if not self._resource.date:
            return ListHint()
        if info and info.rows is not None and wanted * 2 >= info.rows and set(info.arguments) <= _REPEATABLE:
            period = {name: day for name, day in (("start", info.start), ("end", info.end)) if day}
            # Records may no longer be as they were listed: billed meanwhile, or of another matter.
            wider = ListHint(period) if period else self._hint_by_rows()
            return ListHint({**info.arguments, **period}, info.rows, wider if info.arguments else None)
        return self._hint_by_rows()

    def _hint_by_rows(self) -> ListHint:
        days = Counter(day for day in self._rows.values("date") if isinstance(day, dt.date))
        matters = {each for each in self._rows.values("matter_id") if isinstance(each, str)}
        arguments = {"matter_id": sorted(matters)} if 0 < len(matters) <= _STREAMS else {}
        hint: ListHint | None = None
        for start, end, rows in _periods(days):
            hint = ListHint({**arguments, "start": start, "end": end}, otherwise=hint, most=rows)
        return hint or ListHint(arguments)

    def _note_columns(self, present: Records) -> None:
        """Note columns that are not compared."""
        nouns = self._resource.name.replace("_", " ")
        loaded, here = (
            self._rows.info.server if self._rows.info else None,
            getattr(self._server.connection, "base_url", ""),
        )
        if loaded and not same_server(loaded, here):
            self._notes.append(f"The frame was loaded from {loaded}, and this plan changes {here}.")
        for name in self._rows.unknown:
            hint = closest(name, [each for each, column in self._columns.items() if column.update])
            self._notes.append(f"{nouns} have no column {name!r}, so nothing of it is sent.{hint}")
        for name in self._rows.known:
            if not self._columns[name].may_hide or not self._rows.is_empty(name):
                continue
            if present.has(name):
                self._skipped.add(name)
                if self._columns[name].update:
                    self._notes.append(
                        f"{name} is empty in every row although the server has values, so it was not loaded with the "
                        "frame, and stays as it is."
                    )
        if len(present) and "modified_at" not in self._rows.known and not self._loaded_at and not self._expected:
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
        elif any(cell.column == "created_at" for cell in change.cells):
            change.mark("invalid", _MOVED_ROW)
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
            if after.shown.strip() == text_of_cell(before) or (
                is_cut(after.shown) and same(column, before, after.shown)
            ):
                return None
            if path is None:
                return Cell(name, before, after.shown, "read-only column", "the API does not let callers write it")
            return Cell(name, before, after.shown, "invalid", after.expected)
        if same(column, before, after):
            return None
        if isinstance(after, Digits):
            after = str(after)
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

    def _check_body(self, change: Change) -> None:
        """Let the declaration of the request have the last word."""
        if change.is_sent:
            try:
                body_for(change, self._resource, self._columns)
            except ParameterError as error:
                change.mark("invalid", str(error))

    def _with_twins(self, changes: Changes, new: Sequence[Mapping[str, Any]]) -> Changes:
        """Mark new rows that the server has already: a frame with new rows may have been applied before."""
        marked, id_ = Changes(), snake_case(self._resource.id)
        twins = iter(find_same(self._server, self._resource, self._columns, new))
        for change in changes:
            found = next(twins) if change.action == "create" and change.is_sent else []
            if found:
                change.twins = tuple(str(record[id_]) for record in found)
                change.mark(
                    "invalid",
                    f"the server has the same {self._resource.noun} already ({change.twins[0]}); duplicates=True "
                    "creates another one",
                )
            marked.append(change)
        return marked


def _periods(days: Mapping[dt.date, int]) -> list[tuple[dt.date, dt.date, int]]:
    """
    Return the first day, the last day and the rows of each period without a long gap; one period if they are many.

    Examples
    --------
    >>> periods = _periods({dt.date(2026, 10, 1): 2, dt.date(2026, 8, 30): 1, dt.date(2024, 5, 1): 1})
    >>> [(str(first), str(last), rows) for first, last, rows in periods]
    [('2024-05-01', '2024-05-01', 1), ('2026-08-30', '2026-10-01', 3)]
    """
    periods: list[tuple[dt.date, dt.date, int]] = []
    for day in sorted(days):
        if periods and day - periods[-1][1] <= _GAP:
            periods[-1] = (periods[-1][0], day, periods[-1][2] + days[day])
        else:
            periods.append((day, day, days[day]))
    return periods if len(periods) <= _STREAMS else [(periods[0][0], periods[-1][1], sum(days.values()))]


_NONE = EditColumn("", "text", listed=False)


def deletions(
    server: Server,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    delete: Sequence[str],
    expected: Mapping[str, Record],
) -> list[Change]:
    """Return the deletions, each with a status."""
    # Who reads the plan knows a record by its date and matter, or its name.
    names = {*_ALWAYS, "date", "matter_name", "name", *(name for cells in expected.values() for name in cells)}
    read = [columns[name] for name in columns if name in names and columns[name].source]
    present = server.records(resource, delete, read).some(delete) if delete else {}
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
