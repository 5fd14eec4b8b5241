"""Find edits that are allowed but look like a mistake. The plan shows a sentence about each kind above its cells.

They are left by merged cells, failed lookups, sorted, filled or pasted rows, swapped columns, other units, and the
settings of another country. The documentation of bulk edits lists them.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import combinations
from typing import Any

from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import CellChange, Change
from billframes.bulk.columns import EditColumn
from billframes.bulk.find_created import identity_of
from billframes.schema.resources import Resource

_HOURS_PER_DAY = 24.0
_MINUTES_PER_DAY = 1_440
_YEAR = dt.timedelta(days=366)
# Rows that are enough to tell whether values were moved between rows.
_SAMPLE = 2_000
_LEAST_ROWS = 3
# An amount that changes by this factor probably has another unit or a misplaced decimal point.
_OTHER_UNIT = 50.0
# One value in place of so many different ones, in so many rows, was probably filled down.
_FILLED_ROWS, _FILLED_VALUES = 20, 5
# Fewer dates may well belong to the next day.
_MOVED_ROWS = 10
_FILLED_KINDS = frozenset({"id", "date", "hours", "money"})


class Mistakes:
    """The edits of a plan that look like mistakes."""

    def __init__(self, columns: Mapping[str, EditColumn], resource: Resource) -> None:
        self._columns, self._resource = columns, resource
        self._emptied: Counter[str] = Counter()
        # The texts before and after of the first rows, by column.
        self._texts: dict[str, tuple[list[str], list[str]]] = {}
        self._long_hours: list[float] = []
        # The hours before, None for a new row, and after.
        self._hours: list[tuple[float | None, float]] = []
        self._far_dates: list[tuple[dt.date, dt.date]] = []
        self._swapped_dates: Counter[bool] = Counter()
        # Rows in which both columns change, and those in which each gets the other's value.
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._swapped: Counter[tuple[str, str]] = Counter()
        self._other_units: dict[str, list[tuple[float, float]]] = {}
        # The days by which dates move, and numbers that get the other sign, by column.
        self._moves: dict[str, Counter[int]] = {}
        self._signs: dict[str, Counter[bool]] = {}
        # The new values by column, and the different values before.
        self._filled: dict[str, tuple[Counter[Any], set[Any]]] = {}
        self._new_rows: Counter[int] = Counter()

    def add(self, change: Change) -> None:
        """Add a change; cells that are not sent are ignored."""
        if change.action == "create" and change.is_sent:
            identity = identity_of(self._resource, {cell.column: cell.after for cell in change.cells})
            self._new_rows[hash(repr(sorted(identity.items())))] += 1
        cells = list(change.sent_cells())
        if change.action == "update" and len(cells) > 1:
            self._add_pairs(cells)
        for cell in cells:
            if change.action == "update":
                self._add_update(cell)
            if self._columns[cell.column].kind == "hours" and cell.after:
                self._hours.append((cell.before, cell.after))
                if abs(cell.after) > _HOURS_PER_DAY:
                    self._long_hours.append(cell.after)

    def _add_update(self, cell: CellChange) -> None:
        column, before, after = self._columns[cell.column], cell.before, cell.after
        if column.kind in _FILLED_KINDS and before is not None and after is not None:
            values, replaced = self._filled.setdefault(cell.column, (Counter(), set()))
            values[after] += 1
            replaced.add(before)
        if column.kind in {"hours", "money"} and before:
            self._signs.setdefault(cell.column, Counter())[after == -before] += 1
        if after is None or after == "":
            self._emptied[cell.column] += 1
        elif column.kind == "text" and before:
            texts = self._texts.setdefault(cell.column, ([], []))
            if len(texts[0]) < _SAMPLE:
                texts[0].append(before)
                texts[1].append(after)
        elif column.kind == "date" and before is not None:
            if abs(after - before) > _YEAR:
                self._far_dates.append((before, after))
            self._swapped_dates[(before.month, before.day) == (after.day, after.month)] += 1
            self._moves.setdefault(cell.column, Counter())[(after - before).days] += 1
        elif column.kind in {"money", "rate"} and _has_other_unit(before, after):
            self._other_units.setdefault(cell.column, []).append((before, after))

    def _add_pairs(self, cells: list[CellChange]) -> None:
        for one, other in combinations(cells, 2):
            pair = one.column, other.column
            self._pairs[pair] += 1
            self._swapped[pair] += _equal_values(one.after, other.before) and _equal_values(other.after, one.before)

    def notes(self) -> list[str]:
        """Return a sentence about each kind of mistake that was found."""
        return [
            *self._emptied_cells(),
            *self._moved_rows(),
            *self._swapped_columns(),
            *self._numbers(),
            *self._whole_columns(),
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
            # A code or a phrase that many rows share is not a sign of moved rows.
            if moved >= _LEAST_ROWS and 2 * moved > len(after) and 2 * different > len(after):
                yield (
                    f"{moved:,} of the new values in {name} are the old values of other changed rows. If the rows were "
                    "sorted without the id's column, every value is at the wrong record: check `before`."
                )

    def _swapped_columns(self) -> Iterator[str]:
        for (one, other), rows in self._swapped.items():
            if rows >= _LEAST_ROWS and 2 * rows > self._pairs[one, other]:
                yield (
                    f"In {rows:,} rows, {one} gets the old value of {other}, and {other} the old value of {one}. "
                    "Are the two headings swapped?"
                )
        swapped = self._swapped_dates[True]
        if swapped >= _LEAST_ROWS and swapped > self._swapped_dates[False]:
            yield f"Dates whose day and month are swapped: {swapped:,}. Did a spreadsheet read them the other way?"

    def _numbers(self) -> Iterator[str]:
        if self._long_hours:
            number, first = len(self._long_hours), text_of_cell(self._long_hours[0])
            yield f"Rows with more than 24 hours: {number:,}, such as {first}."
        if parts := self._parts_of_a_day():
            minutes, shown = round(abs(parts[0]) * _MINUTES_PER_DAY), text_of_cell(parts[0])
            yield (
                f"Hours that look like parts of a day: {len(parts):,}, such as {shown} for {minutes // 60}:"
                f"{minutes % 60:02}. Spreadsheets store times so: multiply them by 24."
            )
        for name, values in self._other_units.items():
            was, becomes = values[0]
            yield (
                f"Values in {name} that become at least {_OTHER_UNIT:g} times as large or as small: {len(values):,}, "
                f"such as {text_of_cell(was)} to {text_of_cell(becomes)}. Are they in cents?"
            )
        if self._far_dates:
            before, after = self._far_dates[0]
            yield f"Dates that move by more than a year: {len(self._far_dates):,}, such as {before} to {after}."

    def _parts_of_a_day(self) -> list[float]:
        """Return the hours that are 24 times too small: all, if they are odd as hours and even as parts of a day."""
        values = [after for _, after in self._hours]
        odd = [each for each in values if not (_is_whole(each, 60) or _is_whole(each, 8))]
        even = all(abs(each) < 1 and _is_whole(each, _MINUTES_PER_DAY) for each in values)
        if even and len(values) >= _LEAST_ROWS and 2 * len(odd) >= len(values):
            return values
        return [after for before, after in self._hours if before and _equal_times(before, after)]

    def _whole_columns(self) -> Iterator[str]:
        for name, moves in self._moves.items():
            days, rows = moves.most_common(1)[0]
            if rows >= _MOVED_ROWS and 10 * rows > 9 * moves.total() and rows > self._swapped_dates[True]:
                moved = f"{abs(days):,} {'day' if abs(days) == 1 else 'days'} {'later' if days > 0 else 'earlier'}"
                yield f"{rows:,} values in {name} become {moved}. Did a spreadsheet or a time zone move them?"
        for name, signs in self._signs.items():
            if signs[True] >= _LEAST_ROWS and signs[True] > signs[False]:
                yield f"{signs[True]:,} values in {name} get the other sign. Was the column negated?"
        for name, (values, replaced) in self._filled.items():
            value, rows = values.most_common(1)[0]
            if rows >= _FILLED_ROWS and 10 * rows > 9 * values.total() and len(replaced) >= _FILLED_VALUES:
                shown = text_of_cell(value)
                yield (
                    f"{rows:,} rows get the same {name}, {shown}, in place of {len(replaced):,} different values. Was "
                    "one cell filled down?"
                )

    def _equal_rows(self) -> Iterator[str]:
        equal = sum(number - 1 for number in self._new_rows.values())
        if equal:
            yield (
                f"{equal:,} new {self._resource.noun if equal == 1 else self._resource.nouns} "
                f"{'is' if equal == 1 else 'are'} the same as another new row, and each will be created."
            )


def _has_other_unit(before: float | None, after: float) -> bool:
    return bool(before and after) and not 1 / _OTHER_UNIT < abs(after / (before or 1.0)) < _OTHER_UNIT


def _is_whole(value: float, times: int) -> bool:
    """Tell whether a number, which may be rounded to the decimals that it has, is a multiple of 1 / times."""
    rounding = 10.0 ** min(int(Decimal(repr(value)).as_tuple().exponent), 0) / 2
    return bool(abs(value * times - round(value * times)) <= rounding * times)


def _equal_times(before: float, after: float) -> bool:
    return abs(before) < _HOURS_PER_DAY and round(after * _MINUTES_PER_DAY) == round(before * 60)


def _equal_values(after: Any, before: Any) -> bool:
    return after is not None and type(after) is type(before) and after == before
