"""Read the rows of a report: transactions, the headings of groups, and totals, which are added up again."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from billframes._messages import warn
from billframes.bulk.sheets import CellError
from billframes.errors import IncompleteDataWarning, LedgerError
from billframes.ledger.cells import Cells, is_unsaved
from billframes.ledger.reports import MONEY, Report
from billframes.ledger.values import cents, is_date, read_date

_STAMP = re.compile(
    r"((?P<basis>cash|accrual) basis)?\s*(?P<date>(mon|tues|wednes|thurs|fri|satur|sun)day, .*)", re.IGNORECASE
)
_TOTAL = re.compile(r"total (?:for )?(?P<name>.+?)(?P<whole> with sub-\w+)?", re.IGNORECASE)
_BALANCES = frozenset({"opening balance", "closing balance", "beginning balance"})
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
    """An open group: its heading, the sums of its rows and closed groups, and where these begin."""

    label: str
    first: int
    sums: Sums
    closed: list[_Group] = field(default_factory=list)


def is_stamp(cells: list[Any]) -> re.Match[str] | None:
    """Return the time stamp at the end of a report, if the row is one."""
    filled = [cell for cell in cells if cell is not None]
    return _STAMP.fullmatch(str(filled[0])) if len(filled) == 1 else None


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
        self._whole = _Group("", 0, dict.fromkeys(self._names, 0))
        # Rows without a group, which "Total for --" adds up.
        self._loose = dict.fromkeys(self._names, 0)
        self._open = [self._whole]
        self._subtotaled: set[str] = set()
        self._total_row: int | None = None
        self.transactions: list[Transaction] = []
        self.checked = self.unsaved = 0
        self._ended = False
        previous = cells.rows[heading][0]
        for number, row in cells.rows[heading + 1 :]:
            if is_stamp(row) and (self._total_row or number > previous + 1):
                self._ended = not report.totals
            else:
                self._read(number, row)
            previous = number
        self._check_end()

    def _read(self, number: int, row: list[Any]) -> None:
        file = self._cells.file
        if self._total_row is not None or self._ended:
            raise LedgerError(f"{file}, row {number}: there are rows after the end, so files were joined; {_AGAIN}.")
        broken = next((cell for cell in row if isinstance(cell, CellError) and not is_unsaved(cell)), None)
        if broken is not None:
            raise LedgerError(f"{file}, row {number} has a cell with the error {broken}; {_AGAIN}.")
        filled = [at for at, cell in enumerate(row) if cell is not None]
        label = str(row[filled[0]])
        has_amounts = any(at in self._places.values() for at in filled if self._is_money(at))
        if is_date(self._cell(row, "date")):
            self._add(number, row)
        elif label.casefold() == "total":
            self._close_all(number, row)
        elif (found := _TOTAL.fullmatch(label)) and has_amounts:
            self._close(number, row, found["name"].casefold(), whole=bool(found["whole"]))
        elif label.casefold() in _BALANCES:
            pass
        elif filled == [0] and self._report.groups:
            self._begin(label)
        else:
            raise LedgerError(
                f"{file}, row {number} is neither a transaction nor a heading nor a total; the report was edited, or "
                "its layout is another one."
            )

    def _is_money(self, place: int) -> bool:
        return any(self._places[name] == place for name in self._names)

    def _cell(self, row: list[Any], name: str) -> Any:
        place = self._places.get(name, len(row))
        return row[place] if place < len(row) else None

    def _begin(self, label: str) -> None:
        if not self._report.totals:
            del self._open[1:]
        self._open.append(_Group(label, len(self.transactions), dict.fromkeys(self._names, 0)))

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
        except (TypeError, ValueError) as error:
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

    def _close(self, number: int, row: list[Any], name: str, *, whole: bool) -> None:
        """Compare the total of a group, and close it."""
        if name == "--":
            self._check(number, row, self._loose, "rows without a group")
            self._loose = dict.fromkeys(self._names, 0)
            return
        group, parent = self._open[-1], self._open[-2] if len(self._open) > 1 else self._open[-1]
        if group is not self._whole and group.label.casefold() == name:
            self._open.pop()
            parent.closed.append(group)
            for each in self._names:
                parent.sums[each] += group.sums[each]
        elif whole and (parts := _since(group.closed, name)):
            group = self._with_sub_groups(group, parts)
        else:
            raise LedgerError(
                f"{self._cells.file}, row {number}: a total closes a group that is not open, because a heading or a "
                f"total was removed; {_AGAIN}."
            )
        self._check(number, row, group.sums, "the group")
        self._subtotaled |= {each for each in self._names if self._cell(row, each) is not None}

    def _with_sub_groups(self, parent: _Group, parts: list[_Group]) -> _Group:
        """Combine a group that is closed already with its sub-groups, which follow it."""
        first = parts[0]
        for transaction in self.transactions[parts[1].first if len(parts) > 1 else len(self.transactions) :]:
            transaction.groups.insert(0, first.label)
        sums = {name: sum(part.sums[name] for part in parts) for name in self._names}
        group = _Group(first.label, first.first, sums)
        parent.closed[-len(parts) :] = [group]
        return group

    def _close_all(self, number: int, row: list[Any]) -> None:
        """Compare the total of the report."""
        if len(self._open) > 1:
            raise LedgerError(
                f"{self._cells.file}, row {number}: the total of a group before this row was removed; {_AGAIN}."
            )
        needed = self._subtotaled if self._report.groups else self._names
        if any(self._cell(row, name) is None for name in needed):
            raise LedgerError(f"{self._cells.file} ends inside its TOTAL row, so it is cut off: {_AGAIN}.")
        self._check(number, row, self._whole.sums, "the report")
        self._total_row = number

    def _check(self, number: int, row: list[Any], sums: Sums, what: str) -> None:
        """Compare the amounts in a row of totals with the sums of its rows."""
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
                    f"to {sums[name] / 100:,.2f}. "
                )

    def _differ(self, sentence: str) -> None:
        if self._totals == "require":
            raise LedgerError(f"{sentence}Rows were removed or changed; {_AGAIN}.")
        warn(f"{sentence}Rows may have been removed or changed.", IncompleteDataWarning)

    def _check_end(self) -> None:
        if self._report.totals and self._total_row is None:
            raise LedgerError(f"{self._cells.file} has no TOTAL row at its end, so it is cut off: {_AGAIN}.")
        if not self._report.totals and not self._ended:
            raise LedgerError(f"{self._cells.file} has no time stamp at its end, so it is cut off: {_AGAIN}.")


def _since(closed: list[_Group], name: str) -> list[_Group]:
    """Return the last closed group of a name, and those closed after it."""
    at = next((at for at in reversed(range(len(closed))) if closed[at].label.casefold() == name), len(closed))
    return closed[at:]
