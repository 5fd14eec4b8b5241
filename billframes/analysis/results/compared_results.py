"""Compare results of one analysis: each group's figures before and after (`bridge`), or by period (`compare`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from billframes._shared.names import closest
from billframes.analysis.data.engine import eager_from_arrow
from billframes.analysis.data.expressions import RESIDUE, or_nan
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.lookup import analyses, measures
from billframes.analysis.declare.metrics import FIGURES, Measure
from billframes.analysis.keys.by import PEOPLE_AND_MATTERS, TIMES, By, names_in
from billframes.analysis.results.figure_rows import joined
from billframes.analysis.results.result_rows import Floats, identifying_keys, key_columns, refuse_total
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


def as_plain(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries."""
    kinds = [each.type.value_type if pa.types.is_dictionary(each.type) else each.type for each in table.schema]
    return table.cast(pa.schema(zip(table.column_names, kinds, strict=True)))


def key_types(tables: Mapping[str, pa.Table], keys: Sequence[str]) -> dict[str, pa.DataType]:
    """Return the Arrow types of the key columns, from the last result in which the column is not of type null."""
    types = {}
    for key in keys:
        kinds = [table.schema.field(key).type for table in reversed(list(tables.values()))]
        known = [kind for kind in kinds if not pa.types.is_null(kind)]
        kind = known[0] if known else pa.string()
        types[key] = kind.value_type if pa.types.is_dictionary(kind) else kind
    return types


@dataclass(frozen=True, slots=True)
class FiguresByPeriod:
    """
    The figures of one measure by key and period, with their changes and totals of twelve months.

    Parameters
    ----------
    measure : Measure
    pair : (str, str)
        The columns of the numerator and the denominator; twice the measure if it is not a ratio.
    time : str
        The length of the periods, one of `PERIODS_PER_YEAR`.
    keys : Table
        The keys of each group.
    parts : mapping of str to DataFrame
        The figures of each group by period, and others by the names in `instead`.
    instead : mapping of (str, int) to str
        By period and number of periods back, the name of the result to compare with in place of the earlier period's.
        A name without a result means that the figure is not known. A period and `REST` stand for the days before these
        periods that its twelve months also have, and a period and `WHOLE` for the result that twelve months add up.
    """

    measure: Measure
    pair: tuple[str, str]
    time: str
    keys: pa.Table
    parts: Mapping[str, pd.DataFrame]
    instead: Mapping[tuple[str, int], str]

    @classmethod
    def of(
        cls,
        measure: Measure,
        pair: tuple[str, str],
        time: str,
        tables: Mapping[str, pa.Table],
        instead: Mapping[tuple[str, int], str],
    ) -> FiguresByPeriod:
        """Match the groups of results by their ids. If a name has changed, the latest is used."""
        keys = key_columns(next(iter(tables.values())).column_names)
        types = key_types(tables, keys)
        plain = {name: tables[name].select([*keys, *dict.fromkeys(pair)]) for name in sorted(tables, reverse=True)}
        frames = {name: as_plain(each).to_pandas(ignore_metadata=True) for name, each in plain.items()}
        found = {name: (each[keys], each[[*dict.fromkeys(pair)]].astype("float64")) for name, each in frames.items()}
        sums = [*dict.fromkeys(pair)] if measure.adds_up or measure.ratios else []
        labels, parts = joined(found, dict.fromkeys(found, sums))
        of_keys = {name: pa.array(labels[name], kind, from_pandas=True) for name, kind in types.items()}
        return cls(measure, pair, time, pa.table(of_keys), parts, instead)

    @property
    def order(self) -> Floats:
        """The places of the groups, sorted by the labels of the last key first."""
        labels = [[*reversed(row.values())] for row in self.keys.to_pylist()] or [[]]
        return np.array(sorted(range(len(labels)), key=lambda at: [(each is None, str(each)) for each in labels[at]]))

    def of_period(self, label: str) -> dict[str, Floats]:
        """Return the figures of each group in a period, by the name of their column."""
        unit, a_year = FIGURES[self.measure.unit], PERIODS_PER_YEAR[self.time]
        earlier = [self.instead.get((label, back)) or earlier_period(label, back) for back in (1, a_year)]
        now, before, year_ago = (self._figure([each]) for each in (label, *earlier))
        trailing = self._figure(self._twelve_months(label))
        # Balances of several days can't be added up, and neither can medians.
        if not (self.measure.ratios or (self.measure.adds_up and analyses_of_period(self.measure.name))):
            trailing = trailing * math.nan
        figures = (now, before, now - before, year_ago, now - year_ago, trailing)
        return {f"{name}_{unit}": each for name, each in zip(COLUMNS, figures, strict=True)}

    def _twelve_months(self, label: str) -> list[str]:
        """Return the names of the results that together are the twelve months up to the end of a period."""
        names = [earlier_period(label, back) for back in range(PERIODS_PER_YEAR[self.time])]
        names = [self.instead.get((each, WHOLE), each) for each in names]
        rest = self.instead.get((label, REST))
        return [label, *names[1:], rest] if rest else names

    def _figure(self, names: Sequence[str]) -> Floats:
        """Return the figure of some results together; missing if one of them is not known."""
        count = max(len(each) for each in self.parts.values())
        unknown = pd.DataFrame(math.nan, range(count), [*dict.fromkeys(self.pair)])
        frames = [self.parts.get(name, unknown) for name in names]
        part, whole = (np.sum([each[name] for each in frames], axis=0, dtype="float64") for name in self.pair)
        if self.measure.ratios:
            part = np.divide(part, whole, out=np.full(count, math.nan), where=np.abs(whole) > RESIDUE)
        return cast("Floats", part)


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
