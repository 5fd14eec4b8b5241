"""Find edits that are allowed but look like a mistake. The plan shows a sentence about each kind above its cells.

They are left by merged cells, failed lookups, sorted, filled or pasted rows, swapped columns, other units, and the
settings of another country. The documentation of bulk edits lists them.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import Any

from billframes.bulk.cells import text_of_cell
from billframes.bulk.changes import Change
from billframes.bulk.columns import EditColumn
from billframes.bulk.server_records import identity_of
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

_Pairs = list[tuple[Any, Any]]
"""The values before and after of a column's cells."""


class Mistakes:
    """The edits of a plan that look like mistakes; cells that are not sent are ignored."""

    def __init__(self, changes: Sequence[Change], columns: Mapping[str, EditColumn], resource: Resource) -> None:
        self._columns, self._resource = columns, resource
        self._sent = [change for change in changes if change.is_sent and change.action != "delete"]
        self._updates: dict[str, _Pairs] = {}
        # The hours of updates and of new rows, which have none before.
        self._hours: _Pairs = []
        for change in self._sent:
            for cell in change.sent_cells():
                if change.action == "update":
                    self._updates.setdefault(cell.column, []).append((cell.before, cell.after))
                if columns[cell.column].kind == "hours" and cell.after:
                    self._hours.append((cell.before, cell.after))

    def notes(self) -> list[str]:
        """Return a sentence about each kind of mistake that was found."""
        dates = [pair for _, pairs in self._of_kinds("date") for pair in pairs if None not in pair]
        swapped = sum((before.month, before.day) == (after.day, after.month) for before, after in dates)
        return [
            *self._emptied_cells(),
            *self._moved_rows(),
            *self._swapped_columns(),
            *_swapped_dates(swapped, len(dates)),
            *_strange_hours(self._hours),
            *self._other_units(),
            *_far_dates(dates),
            *self._moved_dates(swapped),
            *self._other_signs(),
            *self._filled_down(),
            *self._equal_rows(),
        ]

    def _of_kinds(self, *kinds: str) -> Iterator[tuple[str, _Pairs]]:
        return ((name, pairs) for name, pairs in self._updates.items() if self._columns[name].kind in kinds)

    def _emptied_cells(self) -> Iterator[str]:
        emptied = {name: sum(after in (None, "") for _, after in pairs) for name, pairs in self._updates.items()}
        if any(emptied.values()):
            named = ", ".join(f"{name} {number:,}" for name, number in emptied.items() if number)
            yield f"Cells that have a value on the server and will be empty: {named}."

    def _moved_rows(self) -> Iterator[str]:
        for name, pairs in self._of_kinds("text"):
            texts = [(before, after) for before, after in pairs if before and after][:_SAMPLE]
            others, different = {before for before, _ in texts}, len({after for _, after in texts})
            moved = sum(after in others for _, after in texts)
            # A code or a phrase that many rows share is not a sign of moved rows.
            if moved >= _LEAST_ROWS and 2 * moved > len(texts) and 2 * different > len(texts):
                yield (
                    f"{moved:,} of the new values in {name} are the old values of other changed rows. If the rows were "
                    "sorted without the id's column, every value is at the wrong record: check `before`."
                )

    def _swapped_columns(self) -> Iterator[str]:
        # Rows in which both columns change, and those in which each gets the other's value.
        rows: Counter[tuple[str, str]] = Counter()
        swapped: Counter[tuple[str, str]] = Counter()
        for change in self._sent:
            for one, other in combinations(change.sent_cells() if change.action == "update" else (), 2):
                pair = one.column, other.column
                rows[pair] += 1
                swapped[pair] += _equal_values(one.after, other.before) and _equal_values(other.after, one.before)
        for (one_name, other_name), number in swapped.items():
            if number >= _LEAST_ROWS and 2 * number > rows[one_name, other_name]:
                yield (
                    f"In {number:,} rows, {one_name} gets the old value of {other_name}, and {other_name} the old "
                    f"value of {one_name}. Are the two headings swapped?"
                )

    def _other_units(self) -> Iterator[str]:
        for name, pairs in self._of_kinds("money", "rate"):
            found = [(was, now) for was, now in pairs if was and now and not _is_near(now / was)]
            if found:
                was, now = map(text_of_cell, found[0])
                yield (
                    f"Values in {name} that become at least {_OTHER_UNIT:g} times as large or as small: "
                    f"{len(found):,}, such as {was} to {now}. Are they in cents?"
                )

    def _moved_dates(self, swapped: int) -> Iterator[str]:
        for name, pairs in self._of_kinds("date"):
            days, rows, total = _most_common((after - before).days for before, after in pairs if before and after)
            if rows >= _MOVED_ROWS and 10 * rows > 9 * total and rows > swapped:
                moved = f"{abs(days):,} {'day' if abs(days) == 1 else 'days'} {'later' if days > 0 else 'earlier'}"
                yield f"{rows:,} values in {name} become {moved}. Did a spreadsheet or a time zone move them?"

    def _other_signs(self) -> Iterator[str]:
        for name, pairs in self._of_kinds("hours", "money"):
            signs = [after == -before for before, after in pairs if before]
            if sum(signs) >= _LEAST_ROWS and 2 * sum(signs) > len(signs):
                yield f"{sum(signs):,} values in {name} get the other sign. Was the column negated?"

    def _filled_down(self) -> Iterator[str]:
        for name, pairs in self._of_kinds("id", "date", "hours", "money"):
            known = [pair for pair in pairs if None not in pair]
            value, rows, total = _most_common(after for _, after in known)
            replaced = len({before for before, _ in known})
            if rows >= _FILLED_ROWS and 10 * rows > 9 * total and replaced >= _FILLED_VALUES:
                yield (
                    f"{rows:,} rows get the same {name}, {text_of_cell(value)}, in place of {replaced:,} different "
                    "values. Was one cell filled down?"
                )

    def _equal_rows(self) -> Iterator[str]:
        new = [
            identity_of(self._resource, {cell.column: cell.after for cell in change.cells})
            for change in self._sent
            if change.action == "create"
        ]
        equal = len(new) - len({repr(sorted(each.items())) for each in new})
        if equal:
            yield (
                f"{equal:,} new {self._resource.noun if equal == 1 else self._resource.nouns} "
                f"{'is' if equal == 1 else 'are'} the same as another new row, and each will be created."
            )


def _swapped_dates(swapped: int, total: int) -> Iterator[str]:
    if swapped >= _LEAST_ROWS and 2 * swapped > total:
        yield f"Dates whose day and month are swapped: {swapped:,}. Did a spreadsheet read them the other way?"


def _far_dates(dates: _Pairs) -> Iterator[str]:
    far = [(before, after) for before, after in dates if abs(after - before) > _YEAR]
    if far:
        yield f"Dates that move by more than a year: {len(far):,}, such as {far[0][0]} to {far[0][1]}."


def _strange_hours(hours: _Pairs) -> Iterator[str]:
    if long := [after for _, after in hours if abs(after) > _HOURS_PER_DAY]:
        yield f"Rows with more than 24 hours: {len(long):,}, such as {text_of_cell(long[0])}."
    if parts := _parts_of_a_day(hours):
        minutes, shown = round(abs(parts[0]) * _MINUTES_PER_DAY), text_of_cell(parts[0])
        yield (
            f"Hours that look like parts of a day: {len(parts):,}, such as {shown} for {minutes // 60}:"
            f"{minutes % 60:02}. Spreadsheets store times so: multiply them by 24."
        )


def _parts_of_a_day(hours: _Pairs) -> list[float]:
    """Return the hours that are 24 times too small: all, if they are odd as hours and even as parts of a day."""
    values = [after for _, after in hours]
    odd = [each for each in values if not (_is_whole(each, 60) or _is_whole(each, 8))]
    even = all(abs(each) < 1 and _is_whole(each, _MINUTES_PER_DAY) for each in values)
    if even and len(values) >= _LEAST_ROWS and 2 * len(odd) >= len(values):
        return values
    return [
        after
        for before, after in hours
        if before and abs(before) < _HOURS_PER_DAY and round(after * _MINUTES_PER_DAY) == round(before * 60)
    ]


def _is_whole(value: float, times: int) -> bool:
    """Tell whether a number, which may be rounded to the decimals that it has, is a multiple of 1 / times."""
    rounding = 10.0 ** min(int(Decimal(repr(value)).as_tuple().exponent), 0) / 2
    return bool(abs(value * times - round(value * times)) <= rounding * times)


def _is_near(ratio: float) -> bool:
    return 1 / _OTHER_UNIT < abs(ratio) < _OTHER_UNIT


def _most_common(values: Iterator[Any]) -> tuple[Any, int, int]:
    """Return the most frequent value, its number, and the number of all values."""
    counted = Counter(values)
    return *(counted.most_common(1) or [(None, 0)])[0], counted.total()


def _equal_values(after: Any, before: Any) -> bool:
    return after is not None and type(after) is type(before) and after == before
