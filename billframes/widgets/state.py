"""The filter state: a value that can be compared, saved as JSON and set again.

A state maps columns to criteria. A list has the chosen values; None in it means rows without a value. `{"from": …,
"to": …}` is a range of dates or numbers. Both ends are inclusive, and both are optional. Columns not in the state are
not filtered, so an empty list or a range without ends is not stored.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from billframes._shared.limits import checked_number
from billframes._shared.names import closest
from billframes.errors import ParameterError
from billframes.periods import FixedCalendar, resolve
from billframes.widgets.filter_fields import FilterField

Value = str | bool | int | None
Values = tuple[Value, ...]
_RANGE_KEYS = {"from", "to", "missing"}


@dataclass(frozen=True, slots=True)
class Range:
    """Dates or numbers from `first` to `last`, inclusive; None is open. `missing` adds rows without a value."""

    first: Any = None
    last: Any = None
    missing: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the range has no ends."""
        return self.first is None and self.last is None


Criterion = Values | Range


@dataclass(frozen=True, slots=True)
class FilterState:
    """The criteria by column."""

    criteria: Mapping[str, Criterion] = field(default_factory=dict)

    def with_criterion(self, column: str, criterion: Criterion | None) -> FilterState:
        """Return the state with another criterion for one column; None removes it."""
        others = {name: each for name, each in self.criteria.items() if name != column}
        return FilterState(others if _passes_all(criterion) else {**others, column: criterion})  # type: ignore[dict-item]

    def only(self, columns: Iterable[str]) -> FilterState:
        """Return the state for some of the columns."""
        wanted = set(columns)
        return FilterState({name: each for name, each in self.criteria.items() if name in wanted})

    def as_dict(self) -> dict[str, Any]:
        """Return the state in the form for JSON."""
        return {name: _as_json(each) for name, each in self.criteria.items()}


def read_state(saved: Mapping[str, Any], fields: Sequence[FilterField], today: dt.date | None = None) -> FilterState:
    """
    Read a state as `FilterState.as_dict` returns it, or as a user writes it; what is unknown is a `ParameterError`.

    Without `today`, from which "last month" is counted, that is refused.

    Examples
    --------
    >>> read_state({"date": "2026-10"}, [FilterField("date", "Period", "dates")]).as_dict()
    {'date': {'from': '2026-10-01', 'to': '2026-10-31'}}
    """
    if not isinstance(saved, Mapping):
        raise ParameterError(f"state={saved!r} is not a mapping; it takes criteria by column.")
    known = {each.column: each for each in fields}
    state = FilterState()
    for column, value in saved.items():
        if column not in known:
            raise ParameterError(
                f"state has {column!r}, for which the panel has no filter.{closest(column, known)} "
                f"It takes {', '.join(known)}."
            )
        if value is not None:
            kind = known[column].kind
            read = _read_dates(value, column, today) if kind == "dates" else _READERS[kind](value, column)
            state = state.with_criterion(column, read)
    return state


def _passes_all(criterion: Criterion | None) -> bool:
    return not criterion if not isinstance(criterion, Range) else criterion.is_open


def _as_json(criterion: Criterion) -> Any:
    if not isinstance(criterion, Range):
        return list(criterion)
    ends = (end.isoformat() if isinstance(end, dt.date) else end for end in (criterion.first, criterion.last))
    return dict(zip(("from", "to"), ends, strict=True)) | ({"missing": True} if criterion.missing else {})


def _read_choice(value: Any, column: str) -> Criterion:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ParameterError(f"state[{column!r}]={value!r} takes a list of values; None in it means missing.")
    values = list(value)
    for each in values:
        if not (each is None or isinstance(each, str | bool | int)):
            raise ParameterError(
                f"state[{column!r}] contains {each!r}; it takes text, whole numbers, True, False and None."
            )
    return tuple(dict.fromkeys(values))


def _read_dates(value: Any, column: str, today: dt.date | None) -> Criterion:
    ends = _span_of(value, column) if isinstance(value, Mapping) else {"from": value}
    names = (f"state[{column!r}]['from']", f"state[{column!r}]['to']")
    period = resolve(ends.get("from"), ends.get("to"), names=names, calendar=FixedCalendar(today))
    return Range(period.start, period.end, bool(ends.get("missing", False)))


def _read_numbers(value: Any, column: str) -> Criterion:
    span = _span_of(value, column)
    first, last = (_number(span.get(name), column) for name in ("from", "to"))
    if first is not None and last is not None and first > last:
        raise ParameterError(f"state[{column!r}]: from={first} is above to={last}.")
    return Range(first, last, bool(span.get("missing", False)))


def _span_of(value: Any, column: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or set(value) - _RANGE_KEYS:
        raise ParameterError(f"state[{column!r}]={value!r} takes {{'from': …, 'to': …}}, and 'missing': True or False.")
    return value


def _number(value: Any, column: str) -> float | None:
    if value is None:
        return None
    try:
        return checked_number(value)
    except ValueError as error:
        raise ParameterError(f"state[{column!r}]: {error}.") from None


_READERS = {"choice": _read_choice, "numbers": _read_numbers}
