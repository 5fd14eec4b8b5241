"""Note edits that are allowed and look like a mistake: the plan says them in a sentence above its cells.

| note | the mistake behind it |
|---|---|
| cells lose their value | merged cells, a failed lookup, a merge of frames that found nothing |
| new values are those of other rows | rows that were sorted without the id's column |
| more than 24 hours | minutes typed as hours, a missing decimal point |
| a date moves by more than a year | a year mistyped, a number taken for a date |
| day and month change places | a spreadsheet of another country read the dates |
| two columns change places | a heading above the wrong column |
| amounts become 50 times as large or as small | cents, a missing decimal point |
| new rows are equal | rows pasted twice |
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import Cell, Change
from billframes.bulk.columns import EditColumn
from billframes.bulk.creations import identity_of
from billframes.schema.resources import Resource

__all__ = ["Mistakes"]

_DAY_HOURS = 24.0
_YEAR = dt.timedelta(days=366)
# So many rows tell whether values were moved between rows.
_SAMPLE = 2_000
_LEAST_MOVED = 3
# Prices change; by so much, the unit or the decimal point is another.
_OTHER_UNIT = 50.0


class Mistakes:
    """
    What looks like a mistake in the changes of a plan.

    Parameters
    ----------
    columns : mapping of str to EditColumn
    resource : Resource
    """

    def __init__(self, columns: Mapping[str, EditColumn], resource: Resource) -> None:
        self._columns, self._resource = columns, resource
        self._emptied: Counter[str] = Counter()
        # Texts before and after, by column, of the first rows.
        self._texts: dict[str, tuple[list[str], list[str]]] = {}
        self._long: list[float] = []
        self._far: list[tuple[dt.date, dt.date]] = []
        self._dates: Counter[bool] = Counter()
        # Rows in which both columns change, and those in which each gets the other's value.
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._swapped: Counter[tuple[str, str]] = Counter()
        self._scaled: dict[str, list[tuple[float, float]]] = {}
        self._new: Counter[int] = Counter()

    def look(self, change: Change) -> None:
        """Look at one change; what is not sent is passed over."""
        if change.action == "create" and change.is_sent:
            identity = identity_of(self._resource, {cell.column: cell.after for cell in change.cells})
            self._new[hash(repr(sorted(identity.items())))] += 1
        cells = list(change.sent_cells())
        if change.action == "update" and len(cells) > 1:
            self._look_at_pairs(cells)
        for cell in cells:
            if change.action == "update":
                self._look_at_update(cell)
            if self._columns[cell.column].kind == "hours" and abs(cell.after or 0.0) > _DAY_HOURS:
                self._long.append(cell.after)

    def _look_at_update(self, cell: Cell) -> None:
        column, before, after = self._columns[cell.column], cell.before, cell.after
        if after is None or after == "":
            self._emptied[cell.column] += 1
        elif column.kind == "text" and before:
            texts = self._texts.setdefault(cell.column, ([], []))
            if len(texts[0]) < _SAMPLE:
                texts[0].append(before)
                texts[1].append(after)
        elif column.kind == "date" and before is not None:
            if abs(after - before) > _YEAR:
                self._far.append((before, after))
            self._dates[(before.month, before.day) == (after.day, after.month)] += 1
        elif column.kind in {"money", "rate"} and _of_other_unit(before, after):
            self._scaled.setdefault(cell.column, []).append((before, after))

    def _look_at_pairs(self, cells: list[Cell]) -> None:
        for one, other in combinations(cells, 2):
            pair = one.column, other.column
            self._pairs[pair] += 1
            self._swapped[pair] += _same(one.after, other.before) and _same(other.after, one.before)

    def notes(self) -> list[str]:
        """Return a sentence for each kind of mistake that was seen."""
        return [
            *self._emptied_cells(),
            *self._moved_rows(),
            *self._swapped_columns(),
            *self._numbers(),
            *self._equal_rows(),
        ]

    def _emptied_cells(self) -> Iterator[str]:
        if self._emptied:
            named = ", ".join(f"{name} {number:,}" for name, number in self._emptied.items())
            yield f"Cells that have a value on the server and will be empty: {named}."

    def _moved_rows(self) -> Iterator[str]:
        for name, (before, after) in self._texts.items():
            others, different = set(before), len(set(after))
            moved = sum(text in others for text in after)
            # A code or a phrase that many rows have says nothing.
            if moved >= _LEAST_MOVED and 2 * moved > len(after) and 2 * different > len(after):
                yield (
                    f"{moved:,} of the new values in {name} are those of other rows that change too. If rows were "
                    "sorted without the id's column, every value is at a wrong record: check `before`."
                )

    def _swapped_columns(self) -> Iterator[str]:
        for (one, other), rows in self._swapped.items():
            if rows >= _LEAST_MOVED and 2 * rows > self._pairs[one, other]:
                yield (
                    f"{rows:,} rows get in {one} what they have in {other}, and in {other} what they have in {one}. "
                    "Are the two headings in each other's place?"
                )
        turned = self._dates[True]
        if turned >= _LEAST_MOVED and turned > self._dates[False]:
            yield f"Dates whose day and month change places: {turned:,}. Did a spreadsheet read them the other way?"

    def _numbers(self) -> Iterator[str]:
        if self._long:
            yield f"Rows with more than 24 hours: {len(self._long):,}, such as {text_of_cell(self._long[0])}."
        for name, values in self._scaled.items():
            was, becomes = values[0]
            yield (
                f"Values in {name} that become at least {_OTHER_UNIT:g} times as large or as small: {len(values):,}, "
                f"such as {text_of_cell(was)} to {text_of_cell(becomes)}. Are they in cents?"
            )
        if self._far:
            before, after = self._far[0]
            yield f"Dates that move by more than a year: {len(self._far):,}, such as {before} to {after}."

    def _equal_rows(self) -> Iterator[str]:
        equal = sum(number - 1 for number in self._new.values())
        if equal:
            yield (
                f"{equal:,} new {self._resource.noun if equal == 1 else self._resource.name.replace('_', ' ')} "
                f"{'is' if equal == 1 else 'are'} the same as another new row, and each will be created."
            )


def _of_other_unit(before: float | None, after: float) -> bool:
    return bool(before and after) and not 1 / _OTHER_UNIT < abs(after / (before or 1.0)) < _OTHER_UNIT


def _same(after: Any, before: Any) -> bool:
    """Tell whether a value that a row gets is one that it has in another column."""
    return after is not None and type(after) is type(before) and after == before
