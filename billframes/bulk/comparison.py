"""Compare an edited frame with the server: find each cell that differs, and whether it can be sent."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from billframes._shared.export import is_cut
from billframes._shared.names import closest
from billframes.bulk.cells import NumberText, cells_equal, text_of_cell
from billframes.bulk.changes import CellChange, Change, request_body
from billframes.bulk.columns import EditColumn
from billframes.bulk.edited_frame import EditedRow, EditedRows, UnreadableCell
from billframes.bulk.mistakes import Mistakes
from billframes.bulk.rules import RuleChecks, check_deletions
from billframes.bulk.server_records import ListHint, RecordReader, ServerRecord, find_by_values, identity_of
from billframes.config.credentials import same_address
from billframes.errors import ParameterError
from billframes.schema.resources import Resource

# Columns that tell whether a record may be changed.
_ALWAYS_READ = ("billed", "modified_at")
# Columns that the rules of codes and fixed fees need, and columns by which people recognize a record.
_READ_FOR_CHECKS = (
    *("matter_id", "fixed_fee_id", "billing_type", "activity_code", "task_code", "expense_code"),
    *("date", "name"),
)
# The columns of a record that `apply` and the display of a plan need.
_SHOWN = ("modified_at", "date", "matter_name", "name")
# People don't edit `created_at`. If it is another record's, the rows were sorted without the column of ids.
_WRONG_ID = "created_at is another record's, so this row was moved against its id, as by a sort without the id's column"
_READ_ONLY = "the API does not let callers write it"
# The most matters, or periods, to which a list is narrowed. A gap of more days between dates begins a new period.
_MOST_STREAMS, _GAP = 3, dt.timedelta(days=45)
# Loader arguments that can be used again to list the same records.
_REPEATABLE = frozenset({"user_id", "matter_id", "client_id", "billing_type", "fixed_fee_id", "billed"})


class FrameComparison:
    """The comparison of an edited frame with the server; others changed records with other cells than `expected`."""

    def __init__(
        self,
        reader: RecordReader,
        resource: Resource,
        columns: Mapping[str, EditColumn],
        rows: EditedRows,
        expected: Mapping[str, ServerRecord],
    ) -> None:
        self._reader, self._resource, self._columns, self._rows = reader, resource, columns, rows
        self._expected = expected
        self._notes: list[str] = []
        self._not_loaded: set[str] = set()
        # Columns of new rows that only the server sets. A new row copied from another has values in them.
        self._set_by_server: set[str] = set()

    def compare(self, *, duplicates: bool) -> tuple[list[Change], list[str]]:
        """Return the changes and the notes."""
        checks = RuleChecks(self._resource, self._columns, self._reader)
        changes = self._compare_rows(checks)
        checks.read()
        new = self._check_changes(changes, checks)
        if new and not duplicates:
            self._mark_existing(changes, new)
        return changes, self._notes + Mistakes(changes, self._columns, self._resource).notes()

    def _compare_rows(self, checks: RuleChecks) -> list[Change]:
        current = self._current_records()
        self._note_frame(current)
        changes: list[Change] = []
        for row in self._rows:
            change = self._compare_row(row, current)
            if change is not None:
                checks.add(change)
                changes.append(change)
        if self._set_by_server:
            named = ", ".join(sorted(self._set_by_server))
            self._notes.append(f"In new rows, these columns are not sent, because the server sets them: {named}.")
        return changes

    def _check_changes(self, changes: Sequence[Change], checks: RuleChecks) -> list[dict[str, Any]]:
        """Check the changes. Return the values by which each new record can be found."""
        new = []
        for change in changes:
            checks.check(change)
            self._check_body(change)
            # A plan of many rows does not hold all of the server's cells.
            change.current = {name: change.current[name] for name in _SHOWN if name in change.current}
            if change.action == "create" and change.is_sent:
                new.append(identity_of(self._resource, {cell.column: cell.after for cell in change.sent_cells()}))
        return new

    def _current_records(self) -> dict[str, ServerRecord]:
        ids = list(filter(None, self._rows.ids))
        needed = {*self._rows.known_columns, *_ALWAYS_READ}
        columns = [
            each
            for name, each in self._columns.items()
            if (name in needed or (name in _READ_FOR_CHECKS and each.listed)) and (each.source or each.custom)
        ]
        return self._reader.records(self._resource, ids, columns, self._list_hint(len(ids)))

    def _list_hint(self, wanted: int) -> ListHint:
        """Return filters for the list of records: those of the frame's load, or the rows' dates and matters."""
        info = self._rows.info
        if not self._resource.date:
            return ListHint()
        if info and info.rows is not None and wanted * 2 >= info.rows and set(info.arguments) <= _REPEATABLE:
            period = {name: day for name, day in (("start", info.start), ("end", info.end)) if day}
            # A record may no longer fit the filters: it may be billed by now, or belong to another matter.
            wider = ListHint(period) if period else self._list_hint_by_rows()
            return ListHint({**info.arguments, **period}, info.rows, wider if info.arguments else None)
        return self._list_hint_by_rows()

    def _list_hint_by_rows(self) -> ListHint:
        """Return filters for the dates and matters of the rows; each period is a list of its own."""
        days = Counter(day for day in self._rows.values("date") if isinstance(day, dt.date))
        matters = {each for each in self._rows.values("matter_id") if isinstance(each, str)}
        arguments = {"matter_id": sorted(matters)} if 0 < len(matters) <= _MOST_STREAMS else {}
        hint: ListHint | None = None
        for start, end, rows in _periods(days):
            hint = ListHint({**arguments, "start": start, "end": end}, fallback=hint, at_most=rows)
        return hint or ListHint(arguments)

    def _note_frame(self, current: Mapping[str, ServerRecord]) -> None:
        """Note whether the frame is of another server, lacks a time, or has columns that are not compared."""
        loaded, here = self._rows.info and self._rows.info.server, getattr(self._reader.connection, "base_url", "")
        if loaded and not same_address(loaded, here):
            self._notes.append(f"The frame was loaded from {loaded}, and this plan changes {here}.")
        nouns = self._resource.nouns
        for name in self._rows.unknown_columns:
            hint = closest(name, [each for each, column in self._columns.items() if column.update])
            self._notes.append(f"{nouns} have no column {name!r}, so it is not sent.{hint}")
        for name in self._rows.known_columns:
            if not self._columns[name].may_be_hidden or not self._rows.is_empty(name):
                continue
            if any(record.get(name) is not None for record in current.values()):
                self._not_loaded.add(name)
                if self._columns[name].update:
                    self._notes.append(
                        f"{name} is empty in every row although the server has values, so it was not loaded with the "
                        "frame, and stays as it is."
                    )
        dated = "modified_at" in self._rows.known_columns or self._loaded_at
        if current and not dated and not self._expected:
            self._notes.append(
                "The frame has no column modified_at, and the time of its load is unknown, so changes that others made "
                "since then can't be detected. The column `before` shows the server's current values."
            )

    @property
    def _loaded_at(self) -> dt.datetime | None:
        return self._rows.info.time if self._rows.info else None

    def _compare_row(self, row: EditedRow, current: Mapping[str, ServerRecord]) -> Change | None:
        """Return the change of a row; None if the row is empty."""
        if row.id is None:
            return self._new_record(row)
        record = current.get(row.id.casefold())
        if record is None:
            return Change("update", row.place, row.id, status="gone", reason="the record is not on the server")
        change = Change("update", row.place, str(record[self._resource.id_column]), current=record)
        for name, after in row.cells.items():
            cell = self._compare_cell(name, record.get(name), after, creating=False)
            if cell is not None:
                change.cells.append(cell)
        if not change.cells:
            change.status = "no change"
        elif any(cell.column == "created_at" for cell in change.cells):
            change.mark("invalid", _WRONG_ID)
        elif record.get("billed") is True:
            change.mark("billed", "the record is on an invoice")
        elif reason := self._reason_changed(row, record):
            change.mark("changed since loaded", reason)
        return change

    def _compare_cell(self, name: str, before: Any, after: Any, *, creating: bool) -> CellChange | None:
        """Return a cell with its status; None if it does not differ or is not compared."""
        column = self._columns[name]
        if name in self._not_loaded or name == "modified_at":
            return None
        path = column.create if creating else column.update
        if isinstance(after, UnreadableCell):
            if after.shown.strip() == text_of_cell(before) or (
                is_cut(after.shown) and cells_equal(column, before, after.shown)
            ):
                return None
            if path is None:
                return CellChange(name, before, after.shown, "read-only column", _READ_ONLY)
            return CellChange(name, before, after.shown, "invalid", after.expected)
        if cells_equal(column, before, after):
            return None
        if isinstance(after, NumberText):
            after = str(after)
        if path is None:
            only_new = not creating and column.create is not None
            reason = "only a new record takes it" if only_new else _READ_ONLY
            return CellChange(name, before, after, "read-only column", reason)
        return CellChange(name, before, after)

    def _reason_changed(self, row: EditedRow, record: ServerRecord) -> str:
        """Return why a record counts as changed since the frame was loaded; "" if it does not."""
        if self._expected:
            return _first_unexpected(self._expected.get(str(row.id).casefold(), {}), record, self._columns)
        now, then = record.get("modified_at"), row.cells.get("modified_at")
        if now is None:
            return ""
        if isinstance(then, dt.datetime):
            changed = not cells_equal(self._columns["modified_at"], now, then)
        else:
            changed = self._loaded_at is not None and now > self._loaded_at
        return f"it was changed on {now:%Y-%m-%d at %H:%M:%S} UTC" if changed else ""

    def _new_record(self, row: EditedRow) -> Change | None:
        change = Change("create", row.place, None)
        for name, after in row.cells.items():
            cell = self._compare_cell(name, None, after, creating=True)
            if cell is not None and cell.status == "read-only column":
                self._set_by_server.add(name)
            elif cell is not None:
                change.cells.append(cell)
        # An empty row at the end of a sheet is not a new record.
        return change if change.cells else None

    def _check_body(self, change: Change) -> None:
        if change.is_sent:
            try:
                request_body(change, self._resource, self._columns)
            except ParameterError as error:
                change.mark("invalid", str(error))

    def _mark_existing(self, changes: Sequence[Change], new: Sequence[Mapping[str, Any]]) -> None:
        """Mark new rows that the server has already, because a frame with new rows may have been applied before."""
        id_ = self._resource.id_column
        existing = iter(find_by_values(self._reader, self._resource, self._columns, new))
        for change in changes:
            found = next(existing) if change.action == "create" and change.is_sent else []
            if found:
                change.existing_ids = tuple(str(record[id_]) for record in found)
                change.mark(
                    "invalid",
                    f"the server has the same {self._resource.noun} already ({change.existing_ids[0]}); "
                    "duplicates=True creates another one",
                )


def _periods(days: Mapping[dt.date, int]) -> list[tuple[dt.date, dt.date, int]]:
    """Return the ends and rows of each period without a long gap; one period if there are many."""
    periods: list[tuple[dt.date, dt.date, int]] = []
    for day in sorted(days):
        if periods and day - periods[-1][1] <= _GAP:
            periods[-1] = (periods[-1][0], day, periods[-1][2] + days[day])
        else:
            periods.append((day, day, days[day]))
    return periods if len(periods) <= _MOST_STREAMS else [(periods[0][0], periods[-1][1], sum(days.values()))]


def compare_deletions(
    reader: RecordReader,
    resource: Resource,
    columns: Mapping[str, EditColumn],
    delete: Sequence[str],
    expected: Mapping[str, ServerRecord],
) -> list[Change]:
    """Return the deletions, each with a status."""
    # People recognize a record in the plan by its date and matter, or by its name.
    names = {*_ALWAYS_READ, "date", "matter_name", "name", *(name for cells in expected.values() for name in cells)}
    read = [columns[name] for name in columns if name in names and columns[name].source]
    current = reader.records(resource, delete, read) if delete else {}
    changes = [Change("delete", None, id_, current=current.get(id_.casefold(), {})) for id_ in delete]
    for change in changes:
        if not change.current:
            change.status, change.reason = "gone", "the record is not on the server"
        elif change.current.get("billed") is True:
            change.status, change.reason = "billed", "the record is on an invoice"
        else:
            change.status = "will change"
        reason = _first_unexpected(expected.get(str(change.id).casefold(), {}), change.current, columns)
        if change.is_sent and reason:
            change.status, change.reason = "changed since loaded", reason
    check_deletions(changes, resource, reader)
    return changes


def _first_unexpected(expected: ServerRecord, record: ServerRecord, columns: Mapping[str, EditColumn]) -> str:
    """Return a sentence with the first cell that is not as expected; "" if there is none."""
    wrong = (name for name, value in expected.items() if not cells_equal(columns[name], record.get(name), value))
    name = next(wrong, None)
    return f"{name} no longer has the value that was written" if name else ""
