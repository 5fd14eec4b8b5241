"""Compare results of one analysis: each group's figures before and after (`bridge`), or by period (`compare`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from billframes._shared.names import closest
from billframes.analysis.data.engine import eager_from_arrow
from billframes.analysis.data.expressions import or_nan, quotient
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import analyses, measures
from billframes.analysis.declare.metrics import FIGURES, Measure
from billframes.analysis.keys.by import PEOPLE_AND_MATTERS, TIMES, By, names_in
from billframes.analysis.results.result_rows import identifying_keys, key_columns, refuse_total
from billframes.errors import ParameterError

BILLED = "billed_amount"
ENDS = ("before", "after")
REST, WHOLE = -1, 0
"""In `FiguresByPeriod.instead`: the rest of twelve months, and the result to add up in place of a period's own."""

PERIODS_PER_YEAR = {"month": 12, "quarter": 4, "year": 1, "fiscal_quarter": 4, "fiscal_year": 1}
COLUMNS = ("now", "previous", "since_previous", "year_ago", "since_year_ago", "twelve_months")
Pair = tuple[float, float]
"""A figure before and after, or the numerator and the denominator of a ratio."""


@functools.cache
def analyses_of_period(name: str) -> tuple[str, ...]:
    """
    Return the names of the analyses of a period that have a measure, the most usual first.

    Other analyses, such as `aging`, are of one day.

    Examples
    --------
    >>> analyses_of_period("billed_amount")[0], analyses_of_period("overdue")
    ('realization', ())
    """
    # A scorecard has also balances of one day, although it takes a period.
    dated = [each for each in analyses().values() if each.name != "scorecard" and "start" in each.takes]
    found = [each.name for each in dated if any(column.name == name for column in each.columns)]
    return tuple(sorted(found, key=lambda each: (each not in ("realization", "utilization"), each)))


def analysis_of(measure: str) -> str:
    """Return the analysis with a period that has a measure; `realization` takes precedence over others."""
    for name in analyses_of_period(measure) if isinstance(measure, str) else ():
        if "by" in analyses()[name].takes:
            return name
    known = {name for name, each in measures().items() if each.ratios and analyses_of_period(name)} | {BILLED}
    raise ParameterError(
        f"measure={measure!r} is not a figure of a period. Balances and work in progress are figures of one day, which "
        f"can't be split.{closest(measure, known)} Try "
        "'billing_realization', 'settlement_ratio', 'effective_rate', 'utilization' or 'billed_amount'."
    )


@dataclass(frozen=True, slots=True)
class Group:
    """One group in two results: its keys, and its figures before and after."""

    keys: dict[str, Any]
    figures: dict[str, Pair]


def common_keys(frames: Mapping[str, Frame], by: By) -> list[str]:
    """Return the key columns to split by; refuse results with different keys."""
    keys = {name: key_columns(column_names(frame)) for name, frame in frames.items()}
    if keys["before"] != keys["after"]:
        words = {name: ", ".join(each) or "no keys" for name, each in keys.items()}
        raise ParameterError(
            f"before has rows by {words['before']} and after by {words['after']}: pass two results of the same "
            "analysis with the same by=."
        )
    if by is None:
        chosen = keys["after"]
    else:
        names = names_in(by)
        wanted = [column for name in names for column in PEOPLE_AND_MATTERS.get(name, (name,))]
        for column in wanted:
            if column not in keys["after"]:
                raise ParameterError(
                    f"by={by!r}: the results have no rows by {column}{closest(column, keys['after'])}; they have "
                    f"{', '.join(keys['after']) or 'no keys'}. Run the analysis with that by= for both periods."
                )
        chosen = list(dict.fromkeys(wanted))
    for time in TIMES:
        if time in chosen:
            raise ParameterError(
                f"The results have rows by {time}, and no {time} is in both. Run the analysis without {time!r}, once "
                "for each period."
            )
    return chosen


def pair_results(tables: Mapping[str, pa.Table], keys: Sequence[str], columns: Sequence[str]) -> list[Group]:
    """Add up both results by the keys, and pair their figures; people and matters are matched by id."""
    ids = identifying_keys(keys)
    groups: dict[tuple[Any, ...], Group] = {}
    for end, name in enumerate(ENDS):
        rows = tables[name].to_pylist()
        own_keys = key_columns(tables[name].column_names)
        refuse_wrong_rows(tables[name], name, own_keys)
        for row in rows:
            group = groups.setdefault(tuple(row[key] for key in ids), Group({}, dict.fromkeys(columns, (0.0, 0.0))))
            # If a name has changed, the later one is used.
            group.keys.update({key: row[key] for key in keys})
            for column in columns:
                pair = list(group.figures[column])
                pair[end] += or_nan(row[column])
                group.figures[column] = (pair[0], pair[1])
    return list(groups.values())


def refuse_wrong_rows(table: pa.Table, name: str, keys: Sequence[str]) -> None:
    """Refuse a result with two rows of the same keys, or with a row that is the total of the others."""
    ids, seen = identifying_keys(keys), set()
    for row in table.to_pylist():
        key = tuple(row[each] for each in ids)
        if key in seen:
            row_name = ", ".join(f"{each}={value!r}" for each, value in zip(ids, key, strict=True)) or "one row of all"
            raise ParameterError(f"{name} has {row_name} twice; pass the result of one analysis, not several together.")
        seen.add(key)
    refuse_total(table.to_pandas(ignore_metadata=True), [*keys], name)


def result_frame(like: Frame, rows: Sequence[Mapping[str, Any]], types: Mapping[str, pa.DataType]) -> Frame:
    """Return rows as a frame of the engine of `like`, with the columns of `types` in their order."""
    table = pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})
    return eager_from_arrow(like, table)


def key_types(tables: Mapping[str, pa.Table], keys: Sequence[str]) -> dict[str, pa.DataType]:
    """Return the Arrow types of the key columns, from the last result in which the column is not of type null."""
    types = {}
    for key in keys:
        kinds = [table.schema.field(key).type for table in reversed(list(tables.values()))]
        known = [kind for kind in kinds if not pa.types.is_null(kind)]
        kind = known[0] if known else pa.string()
        types[key] = kind.value_type if pa.types.is_dictionary(kind) else kind
    return types


class FiguresByPeriod:
    """
    The figures of one measure by key and period, with their changes and totals of twelve months.

    Parameters
    ----------
    measure : Measure
    pair : sequence of str
        The columns of the numerator and the denominator; twice the measure if it is not a ratio.
    time : str
        The length of the periods, one of `PERIODS_PER_YEAR`.
    tables : mapping of str to Table
        The results by period, and others by the names in `instead`.
    keys : sequence of str
    instead : mapping of (str, int) to str
        By period and number of periods back, the name of the result to compare with in place of the earlier period's.
        A name without a result means that the figure is not known. A period and `REST` stand for the days before these
        periods that its twelve months also have, and a period and `WHOLE` for the result that twelve months add up.
    """

    def __init__(
        self,
        measure: Measure,
        pair: Sequence[str],
        time: str,
        tables: Mapping[str, pa.Table],
        keys: Sequence[str],
        instead: Mapping[tuple[str, int], str],
    ) -> None:
        self._measure, self._pair, self._time, self._instead = measure, pair, time, instead
        # Balances of several days can't be added up.
        self._summable = measure.adds_up and bool(analyses_of_period(measure.name))
        self._labels: dict[tuple[Any, ...], dict[str, Any]] = {} if keys else {(): {}}
        self._rows: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
        ids = identifying_keys(keys)
        for label in sorted(tables):
            rows = tables[label].to_pylist()
            self._rows[label] = {tuple(row[name] for name in ids): row for row in rows}
            self._labels |= {key: {name: row[name] for name in keys} for key, row in self._rows[label].items()}

    def rows(self, periods: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield one row per key and period."""
        unit, a_year = FIGURES[self._measure.unit], PERIODS_PER_YEAR[self._time]
        keys = sorted(self._labels.items(), key=lambda item: [(v is None, str(v)) for v in reversed(item[1].values())])
        for key, labels in keys:
            for label in periods:
                earlier = [self._instead.get((label, back)) or earlier_period(label, back) for back in (1, a_year)]
                now, before, year_ago = (self._value(key, each) for each in (label, *earlier))
                trailing = self._trailing(key, self._twelve_months(label))
                figures = (now, before, now - before, year_ago, now - year_ago, trailing)
                named = {f"{name}_{unit}": each for name, each in zip(COLUMNS, figures, strict=True)}
                yield {**labels, self._time: int(label) if self._time == "year" else label, **named}

    def _twelve_months(self, label: str) -> list[str]:
        """Return the names of the results that together are the twelve months up to the end of a period."""
        names = [earlier_period(label, back) for back in range(PERIODS_PER_YEAR[self._time])]
        names = [self._instead.get((each, WHOLE), each) for each in names]
        rest = self._instead.get((label, REST))
        return [label, *names[1:], rest] if rest else names

    def _value(self, key: tuple[Any, ...], label: str) -> float:
        if label not in self._rows:
            return math.nan
        row = self._rows[label].get(key)
        if row is None:
            return 0.0 if self._measure.adds_up else math.nan
        return or_nan(row.get(self._measure.name)) if not self._measure.ratios else quotient(*self._sums(key, label))

    def _sums(self, key: tuple[Any, ...], label: str) -> Pair:
        if label not in self._rows:
            return math.nan, math.nan
        row = self._rows[label].get(key, dict.fromkeys(self._pair, 0.0))
        part, whole = (or_nan(row[name]) for name in self._pair)
        return part, whole

    def _trailing(self, key: tuple[Any, ...], labels: Sequence[str]) -> float:
        if self._measure.ratios:
            sums = [self._sums(key, label) for label in labels]
            return quotient(sum(part for part, _ in sums), sum(whole for _, whole in sums))
        return sum(self._value(key, label) for label in labels) if self._summable else math.nan


def periods_as_columns(
    rows: Sequence[dict[str, Any]], shown: Sequence[str], time: str, unit: str
) -> list[dict[str, Any]]:
    """Return one row per key from its consecutive rows: the last row, with a column per period."""
    count = len(shown)
    return [
        rows[start + count - 1] | {f"{unit}_{row[time]}": row[f"now_{unit}"] for row in rows[start : start + count]}
        for start in range(0, len(rows), count)
    ]


def earlier_period(label: str, back: int) -> str:
    """Return the label of an earlier period of the same kind."""
    if label.startswith("FY"):
        return f"FY{earlier_period(label.removeprefix('FY'), back)}"
    if "Q" in label:
        number = int(label[:4]) * 4 + int(label[-1]) - 1 - back
        return f"{number // 4:04}-Q{number % 4 + 1}"
    if "-" in label:
        number = int(label[:4]) * 12 + int(label[5:]) - 1 - back
        return f"{number // 12:04}-{number % 12 + 1:02}"
    return f"{int(label) - back:04}"
