"""Check rules of columns: how many rows break a rule, whether these are too many, and the sentence that says so.

The rules themselves are in `implausible_values`. Each is checked in memory at once; on lazy frames, all are counted in
one query.
"""

from __future__ import annotations

import datetime as dt
import functools
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from billframes._notes import Rule
from billframes.analysis.declare.columns import Frame, as_arrow, column_names
from billframes.analysis.frames.engine import collect_counts, collect_values
from billframes.analysis.frames.expressions import count_if, midnight, value_if

C = nw.col

# So many rows show what is true of most rows.
_FIRST = 1_000
# Fewer implausible rows are exceptions.
_SEVERAL = 5
# With daylight saving time, midnight has two times in another zone.
_TIMES = 2

_Condition = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """
    A rule of columns whose values must fit each other, or of one column whose values have bounds.

    Parameters
    ----------
    name : str
    columns : mapping of str to str
        The columns that the rule needs, with their kind: "number", "date", "time" (a date with a time of day) or
        "instant". If the rule is broken, analyses that use the last of them give the note.
    implausible : callable or None
        A function of these columns, as expressions or as arrays, that tells whether a row is implausible. None for a
        rule with `bounds`.
    plausible : callable or None
        The same for plausible rows. A row can be neither, for example if a value is missing. If None, one implausible
        row breaks the rule; otherwise there must be several, and more than are plausible.
    note : Rule or None
        The note, whose amount is the number of implausible rows, with the values `{example}` and `{stake}`. None if
        only some analyses can give it, with words of their own.
    stake : str
        The column whose sum over the implausible rows is shown as `{stake}`; empty for none.
    bounds : tuple
        The lowest and the highest value of the last column that are plausible; None leaves an end open.
    unless : tuple of str
        Names of rules that explain the same rows: if one of them is broken, this one gives no warning.
    among : mapping of str to tuple of str
        Only rows with these values of other columns count.
    clears : bool
        Whether implausible values of the last column are replaced by missing ones.
    gate : str
        The name of an earlier rule: without several implausible rows of it, this one is not checked.
    alike : bool
        Whether the rule is only broken if the implausible rows have at most two different times of day.
    least : float
        The share of all rows that must be implausible at least, and then several must be; 0 if one is enough.
    """

    name: str
    columns: Mapping[str, str]
    implausible: _Condition | None
    plausible: _Condition | None
    note: Rule | None
    stake: str = ""
    bounds: tuple[Any, Any] = (None, None)
    unless: tuple[str, ...] = ()
    among: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    clears: bool = False
    gate: str = ""
    alike: bool = False
    least: float = 0.0

    @property
    def column(self) -> str:
        """The column whose use gives the warning."""
        return list(self.columns)[-1]

    def applies_to(self, schema: Mapping[str, Any]) -> bool:
        """Tell whether a frame has the columns, with the right types."""
        return all(_has_kind(schema.get(column), kind) for column, kind in self.columns.items())

    def broken_by(self, function: _Condition | None, there: Collection[str] = ()) -> nw.Expr:
        """Return whether a row meets `implausible`, or `plausible`, as an expression."""
        kinds = self.columns.items()
        values = [C(name) if kind == "number" else C(name).cast(nw.Datetime("us")) for name, kind in kinds]
        condition: nw.Expr = self._out_of_bounds(values[-1]) if function is None else function(*values)
        chosen = [C(name).cast(nw.String).is_in(each) for name, each in self.among.items() if name in there]
        return functools.reduce(operator.and_, chosen, condition)

    def _out_of_bounds(self, value: nw.Expr) -> nw.Expr:
        low, high = (midnight(each) if isinstance(each, dt.date) else each for each in self.bounds)
        below, above = (None if low is None else value < low), (None if high is None else value > high)
        return functools.reduce(operator.or_, [each for each in (below, above) if each is not None])

    def count_in_memory(self, frame: nw.DataFrame[Any], first: Mapping[str, Any]) -> int:
        """Count the implausible rows among the first rows of a frame or, if one breaks the rule, among all."""
        if self.implausible is None:
            return int(self._exceeds_bounds(frame.get_column(self.column)))
        rows = (
            first
            if self.plausible
            else {name: _array(frame.get_column(name), kind) for name, kind in self.columns.items()}
        )
        return _count_in(self.implausible, [rows[name] for name in self.columns])

    def fails_in_memory(self, count: int, first: Mapping[str, Any]) -> bool:
        """Tell whether these implausible rows may break the rule."""
        if self.plausible is None or count < _SEVERAL:
            return self.plausible is None and count > 0
        return count > _count_in(self.plausible, [first[name] for name in self.columns])

    def _exceeds_bounds(self, values: nw.Series[Any]) -> bool:
        low, high = self.bounds
        least, most = (_comparable(each) for each in (values.min(), values.max()))
        return least is not None and bool((low is not None and least < low) or (high is not None and most > high))

    def fails(self, frame: Frame, count: float) -> bool:
        """Tell whether a frame breaks the rule, given the number of implausible rows, which is unknown in memory."""
        if isinstance(frame, nw.DataFrame) or self.plausible is None:
            return True
        plausible = {"rows": count_if(self.broken_by(self.plausible))}
        return count >= _SEVERAL and count > (collect_values((frame, plausible))["rows"] or 0.0)

    def seen(self, frame: Frame, id_: str | None) -> dict[str, Any]:
        """Return the values of the note, with the number of implausible rows in the whole frame; empty if none are."""
        there = column_names(frame)
        needed = [name for name in (*self.columns, self.stake, *self.among, id_) if name in there]
        rows = as_arrow(frame, list(dict.fromkeys(needed)))
        rows = rows.with_columns(_wrong=self.broken_by(self.implausible, there))
        values = {"rows": count_if(C("_wrong")), "all": nw.len()}
        if self.stake in there:
            values["stake"] = value_if(C("_wrong"), C(self.stake).cast(nw.Float64)).sum()
        if id_ and self.note is not None and "{example}" in self.note.seen:
            values["example"] = nw.when(C("_wrong")).then(C(id_).cast(nw.String)).min()
        queries: list[tuple[Frame, dict[str, nw.Expr]]] = [(rows, values)]
        if self.alike:
            time = C(self.column).dt.hour().cast(nw.Int64) * 60 + C(self.column).dt.minute().cast(nw.Int64)
            queries.append((rows.filter(C("_wrong")), {"times": time.n_unique()}))
        found = collect_values(*queries)
        count = 0.0 if found.get("times", 0) > _TIMES else found["rows"] or 0.0
        if self.least and count < max(_SEVERAL, self.least * found["all"]):
            count = 0.0
        example = f" (for example `{id_}` {found['example']})" if found.get("example") else ""
        return {"n": count, "example": example, "stake": f"{found.get('stake') or 0.0:,.2f}"} if count else {}


def _count_in(condition: _Condition | None, columns: Sequence[Any]) -> int:
    # A column without rows can have any type.
    if condition is None or not len(columns[0]):
        return 0
    with np.errstate(all="ignore"):
        return int(condition(*columns).sum())


def absolute(values: Any) -> Any:
    """Return absolute values of an expression or an array."""
    return values.abs() if isinstance(values, nw.Expr) else np.abs(values)


def parts_of_day(day: Any) -> tuple[Any, Any, Any]:
    """Return the year, month and day of an expression or of an array of dates."""
    if isinstance(day, nw.Expr):
        return day.dt.year().cast(nw.Int64), day.dt.month().cast(nw.Int64), day.dt.day().cast(nw.Int64)
    return day.dt.year, day.dt.month, day.dt.day


def implausible_counts(rules: Sequence[ColumnRule], frame: Frame, schema: Mapping[str, Any]) -> dict[str, nw.Expr]:
    """
    Return the counts of implausible rows that the caller must compute, by the name of the rule.

    Frames in memory are checked at once, and only broken rules are returned. For lazy frames, all rows are counted: a
    database that sorts or groups rows would have to compute everything twice to find the first.
    """
    named = {rule.name: rule for rule in rules if rule.applies_to(schema)}
    if not isinstance(frame, nw.DataFrame):
        ungated = [rule for rule in named.values() if rule.gate not in named]
        return {rule.name: count_if(rule.broken_by(rule.implausible, schema)) for rule in ungated}
    of_most = {name: kind for rule in named.values() if rule.plausible for name, kind in rule.columns.items()}
    first = _first_rows(frame, of_most)
    counts: dict[str, int] = {}
    for rule in named.values():
        if rule.gate not in named or counts[rule.gate] >= _SEVERAL:
            counts[rule.name] = rule.count_in_memory(frame, first)
    return {name: nw.len() for name, count in counts.items() if named[name].fails_in_memory(count, first)}


def broken_rules(rules: Sequence[ColumnRule], frame: Frame, counts: Mapping[str, float]) -> list[ColumnRule]:
    """Return the rules that a frame breaks, from the counts of `implausible_counts` that are not 0."""
    counts = {**counts, **_gated_counts(rules, frame, counts)}
    failed = [rule for rule in rules if counts.get(rule.name) and rule.fails(frame, counts[rule.name])]
    names = {rule.name for rule in failed}
    return [rule for rule in failed if names.isdisjoint(rule.unless)]


def _gated_counts(rules: Sequence[ColumnRule], frame: Frame, counts: Mapping[str, float]) -> dict[str, float]:
    """Count the implausible rows of a lazy frame for the rules whose gate is open."""
    behind = [rule for rule in rules if counts.get(rule.gate, 0.0) >= _SEVERAL]
    if isinstance(frame, nw.DataFrame) or not behind:
        return {}
    schema = frame.collect_schema()
    behind = [rule for rule in behind if rule.applies_to(schema)]
    return collect_counts((frame, {rule.name: count_if(rule.broken_by(rule.implausible, schema)) for rule in behind}))


def _first_rows(frame: nw.DataFrame[Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the first values of columns of dates or numbers as arrays: a query would take longer to build."""
    first = {name: _array(frame.get_column(name).head(_FIRST), kind) for name, kind in columns.items()}
    return {name: each if columns[name] == "number" else pd.Series(each) for name, each in first.items()}


def _array(values: nw.Series[Any], kind: str) -> Any:
    return values.cast(nw.Float64).to_numpy() if kind == "number" else _naive(values)


def _naive(values: nw.Series[Any]) -> Any:
    """Return dates or instants as an array of times without a zone."""
    zone = getattr(values.dtype, "time_zone", None)
    naive = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else values
    array = naive.to_numpy()
    # pandas makes objects of Arrow's dates.
    return naive.to_arrow().to_numpy(zero_copy_only=False) if array.dtype == object else array


def _comparable(value: Any) -> Any:
    """Return a number or a date; None if there are no values."""
    if pd.isna(value):
        return None
    return value.date() if isinstance(value, dt.datetime) else value


def _has_kind(dtype: Any, kind: str) -> bool:
    """Tell whether a type is that of a "number", a "date", a "time" (a date with a time of day) or an "instant"."""
    if dtype is None:
        return False
    if kind == "number":
        return bool(dtype.is_numeric())
    if kind == "instant":
        return bool(dtype == nw.Datetime)
    has_time = dtype == nw.Datetime and getattr(dtype, "time_zone", None) is None
    return bool(has_time or (kind == "date" and dtype == nw.Date))
