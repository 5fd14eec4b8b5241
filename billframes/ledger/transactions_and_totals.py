"""Read the rows of a report: transactions, the headings of groups, and totals, which are added up again."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from billframes._shared.messages import warn
from billframes._shared.workbook_sheets import CellError
from billframes.errors import IncompleteDataWarning, LedgerError
from billframes.ledger.amounts_and_dates import cents, is_date, is_period, read_date
from billframes.ledger.csv_and_excel import Cells, is_unsaved
from billframes.ledger.notes import is_balance, is_percentage, is_phone, says_empty, stamp_of
from billframes.ledger.reports import MONEY, Report

_WITH_SUBS = re.compile(r" with sub-\w+$")
_AGAIN = "export it again"

Sums = dict[str, int]


@dataclass(slots=True)
class Transaction:
    """A transaction: its row in the file, its cells by column, its amounts in cents, and the headings above it."""

    row: int
    cells: dict[str, Any]
    money: dict[str, int | None]
    date: dt.date
    due_date: dt.date | None
    groups: list[str]


@dataclass(slots=True)
class _Group:
    """An open group: its heading with its row, the sums of its rows and closed groups, and where these begin."""

    label: str
    row: int
    first: int
    sums: Sums
    closed: list[_Group] = field(default_factory=list)


class Body:
    """The rows below the headings, which are at a position; `places` are those of the columns."""

    def __init__(
        self,
        cells: Cells,
        report: Report,
        heading: int,
        places: Mapping[str, int],
        *,
        style: str,
        order: str | None,
        totals: str,
    ) -> None:
        self._cells, self._report, self._places = cells, report, places
        self._style, self._order, self._totals = style, order, totals
        self._width = len(cells.rows[heading][1])
        self._names = [name for name in MONEY if name in places]
        self._whole = _Group("", 0, 0, dict.fromkeys(self._names, 0))
        # Rows without a group, which "Total for --" adds up.
        self._loose = dict.fromkeys(self._names, 0)
        self._open = [self._whole]
        self._subtotaled: set[str] = set()
        self._total_row: int | None = None
        self.transactions: list[Transaction] = []
        self.checked = self.unsaved = 0
        self._ended = self._is_empty = False
        rows = cells.rows[heading + 1 :]
        self._has_dates = any(is_date(self._cell(row, "date")) for _, row in rows)
        # The names of all groups that have a total. So a customer called "Total" is not taken for a total.
        self._closing = {
            name for _, row in rows if len(_filled(row)) > 1 for name in _names(str(row[_filled(row)[0]]).casefold())
        }
        previous = cells.rows[heading][0]
        for number, row in rows:
            if (
                (self._total_row or number > previous + 1)
                and stamp_of(row)
                and not (report.totals and self._is_group(row))
            ):
                self._ended = self._ended or not report.totals
                self._is_empty = self._is_empty or not self.transactions
            elif not self._is_note(row):
                self._read(number, row)
            previous = number
        self._check_end()
        self._leave_out_periods()

    def _is_note(self, row: list[Any]) -> bool:
        """Tell whether a row is neither a transaction nor a part of the sums."""
        if self._is_group(row):
            return False
        if is_percentage(row) or self._is_remark(row):
            return True
        if _filled(row) == [0] and self._report.groups == "customer":
            return False
        money = {self._places[name] for name in self._names}
        words = [cell for at, cell in enumerate(row) if at not in money]
        return is_balance(words, self._cell(row, "type"), self._cell(row, "number"))

    def _is_remark(self, row: list[Any]) -> bool:
        """Tell whether a row only says that there is no data, or has a phone number, or begins a period."""
        filled = _filled(row)
        if len(filled) > 1:
            return False
        label = str(row[filled[0]])
        if not self._has_dates and says_empty(row):
            self._is_empty = True
            return True
        if self._report.groups == "customer":
            # Collections has the phone number below the customer.
            return (
                self._open[-1] is not self._whole and self._open[-1].first == len(self.transactions) and is_phone(label)
            )
        return not self._report.groups and is_period(label)

    def _is_group(self, row: list[Any]) -> bool:
        """Tell whether a row is the heading of a group, which has a total if groups of the report have."""
        if _filled(row) != [0]:
            return False
        name, _, below = str(row[0]).casefold().partition("\n")
        closed = name in self._closing if is_phone(below) else str(row[0]).casefold() in self._closing
        return closed if self._report.totals else bool(self._report.groups)

    def _read(self, number: int, row: list[Any]) -> None:
        file = self._cells.file
        if self._total_row is not None or self._ended:
            end = f"TOTAL in row {self._total_row}" if self._total_row else "the time stamp"
            raise LedgerError(f"{file}, row {number}: there are rows after the end, which is {end}; {_AGAIN}.")
        broken = next((cell for cell in row if isinstance(cell, CellError) and not is_unsaved(cell)), None)
        if broken is not None:
            raise LedgerError(f"{file}, row {number} has a cell with the error {broken}; {_AGAIN}.")
        filled = _filled(row)
        label = str(row[filled[0]])
        has_amounts = any(self._cell(row, name) is not None for name in self._names)
        if is_date(self._cell(row, "date")):
            self._add(number, row)
        elif self._is_group(row) or (filled == [0] and self._report.groups and label.casefold() != "total"):
            self._begin(number, label)
        elif label.casefold() == "total":
            self._close_all(number, row)
        elif has_amounts and (names := _names(label.casefold())):
            self._close(number, row, names)
        else:
            raise LedgerError(
                f"{file}, row {number} is neither a transaction nor a heading nor a total{self._found(row)}; export "
                "the report again, with its standard columns."
            )

    def _found(self, row: list[Any]) -> str:
        """Return what a row has in place of a date, unless it could be a name."""
        value = self._cell(row, "date")
        if isinstance(value, str) and sum(map(str.isdigit, value)) < max(len(value) / 3, 3):
            return ""
        return "" if value is None else f": {value!s:.60} is not a date that is read"

    def _cell(self, row: list[Any], name: str) -> Any:
        place = self._places.get(name, len(row))
        return row[place] if place < len(row) else None

    def _begin(self, number: int, label: str) -> None:
        name, _, below = label.partition("\n")
        label = name.strip() if is_phone(below) else label
        if not self._report.totals:
            del self._open[1:]
        self._open.append(_Group(label, number, len(self.transactions), dict.fromkeys(self._names, 0)))

    def _add(self, number: int, row: list[Any]) -> None:
        file = self._cells.file
        if self._cells.padded and len(row) < self._width:
            raise LedgerError(f"{file}, row {number} has fewer cells than the headings, so it is cut off; {_AGAIN}.")
        money: dict[str, int | None] = {}
        due: dt.date | None = None
        try:
            for name in self._names:
                value = self._cell(row, name)
                money[name] = None if value is None else cents(value, self._style)
            date = read_date(self._cell(row, "date"), self._order)
            if self._cell(row, "due_date") is not None:
                due = read_date(self._cell(row, "due_date"), self._order)
        except ValueError as error:
            raise LedgerError(f"{file}, row {number} has an amount or a date that can't be read: {error}.") from error
        if not self._report.totals and not any(value is not None for value in money.values()):
            # No total would show that an amount was deleted.
            raise LedgerError(f"{file}, row {number} has no amount; {_AGAIN}.")
        for name, value in money.items():
            self._open[-1].sums[name] += value or 0
            if len(self._open) == 1:
                self._loose[name] += value or 0
        cells = {name: self._cell(row, name) for name in self._places if name not in self._names}
        groups = [group.label for group in self._open[1:]]
        self.transactions.append(Transaction(number, cells, money, date, due, groups))

    def _close(self, number: int, row: list[Any], names: tuple[str, ...]) -> None:
        """Compare the total of a group that has one of some names, and close it."""
        if "--" in names:
            self._check(number, row, self._loose, "rows without a group")
            self._loose = dict.fromkeys(self._names, 0)
            return
        group, parent = self._open[-1], self._open[-2] if len(self._open) > 1 else self._open[-1]
        path = ":".join(each.label for each in self._open[1:]).casefold()
        if group is not self._whole and (group.label.casefold() in names or path in names):
            self._open.pop()
            parent.closed.append(group)
            for each in self._names:
                parent.sums[each] += group.sums[each]
        elif parts := _since(group.closed, names[2:]):
            group = self._with_sub_groups(group, parts)
        else:
            opened = f"the open group is that of row {group.row}" if group.row else "no group is open"
            raise LedgerError(
                f"{self._cells.file}, row {number}: a total closes a group that is not open; {opened}. A heading or a "
                f"total is missing; {_AGAIN}."
            )
        self._check(number, row, group.sums, "the group")
        self._subtotaled |= {each for each in self._names if self._cell(row, each) is not None}

    def _with_sub_groups(self, parent: _Group, parts: list[_Group]) -> _Group:
        """Combine a group that is closed already with its sub-groups, which follow it."""
        first = parts[0]
        for transaction in self.transactions[parts[1].first if len(parts) > 1 else len(self.transactions) :]:
            transaction.groups.insert(0, first.label)
        sums = {name: sum(part.sums[name] for part in parts) for name in self._names}
        group = _Group(first.label, first.row, first.first, sums)
        parent.closed[-len(parts) :] = [group]
        return group

    def _close_all(self, number: int, row: list[Any]) -> None:
        if len(self._open) > 1:
            raise LedgerError(
                f"{self._cells.file}, row {number}: the group whose heading is in row {self._open[-1].row} has no "
                f"total before the TOTAL of the report; {_AGAIN}."
            )
        needed = self._subtotaled if self._report.groups else self._names
        if self.transactions and any(self._cell(row, name) is None for name in needed):
            raise LedgerError(f"{self._cells.file} ends inside its TOTAL row, so it is cut off: {_AGAIN}.")
        self._check(number, row, self._whole.sums, "the report")
        self._total_row = number

    def _check(self, number: int, row: list[Any], sums: Sums, what: str) -> None:
        file = self._cells.file
        for name in self._names:
            value = self._cell(row, name)
            if value is None:
                continue
            if is_unsaved(value):
                self.unsaved += 1
                continue
            try:
                total = cents(value, self._style)
            except ValueError as error:
                raise LedgerError(f"{file}, row {number} has a total that can't be read: {error}.") from error
            self.checked += 1
            if total != sums[name]:
                self._differ(
                    f"{file}, row {number}: the total of {name} for {what} is {total / 100:,.2f}, but its rows add up "
                    f"to {sums[name] / 100:,.2f}. Rows may have been removed or changed"
                )

    def _differ(self, sentence: str) -> None:
        if self._totals == "require":
            raise LedgerError(f"{sentence}; {_AGAIN}.")
        warn(f"{sentence}.", IncompleteDataWarning)

    def _check_end(self) -> None:
        file = self._cells.file
        if len(self._open) == 1 and self._is_empty and not self.transactions:
            return
        if self._report.totals and self._total_row is None:
            found = "" if self.transactions else "no transactions below its headings and "
            raise LedgerError(f"{file} has {found}no TOTAL row at its end, so it is cut off: {_AGAIN}.")
        if not self._report.totals and not self._ended:
            raise LedgerError(f"{file} has no time stamp at its end, so it is cut off: {_AGAIN}.")

    def _leave_out_periods(self) -> None:
        """Leave out groups by month or another period, in which the rows have no other group that is a name."""
        if not all(each.groups and is_period(each.groups[0]) for each in self.transactions):
            return
        by = self._report.groups
        for each in self.transactions:
            del each.groups[0]
            if by in ("customer", "account") and not each.groups and by not in each.cells:
                raise LedgerError(
                    f"{self._cells.file} is grouped by period and has no column {by}; export it grouped by {by}."
                )


def _filled(row: list[Any]) -> list[int]:
    return [at for at, cell in enumerate(row) if cell is not None]


def _names(label: str) -> tuple[str, ...]:
    """
    Return the names that a group can have whose total has a label, those without sub-groups last; () for other labels.

    Examples
    --------
    >>> _names("total for a & b with sub-customers"), _names("total a")
    (('a & b with sub-customers', 'for a & b with sub-customers', 'a & b', 'for a & b'), ('a', 'a'))
    """
    if not label.startswith("total "):
        return ()
    rest = label.removeprefix("total ").strip()
    names = (rest.removeprefix("for ").strip(), rest)
    shorter = tuple(_WITH_SUBS.sub("", name) for name in names)
    return names if shorter == names else (*names, *shorter)


def _since(closed: list[_Group], names: tuple[str, ...]) -> list[_Group]:
    """Return the last closed group that has one of some names, and those closed after it."""
    at = next((at for at in reversed(range(len(closed))) if closed[at].label.casefold() in names), len(closed))
    return closed[at:]
