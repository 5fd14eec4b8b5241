"""Compare results of one analysis: each group's figures before and after (`bridge`), or by period (`compare`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from billframes._shared.names import closest
from billframes.analysis.declare.columns import Frame, column_names
from billframes.analysis.declare.key_words import PEOPLE_AND_MATTERS, TIMES
from billframes.analysis.declare.lookup import analyses, measures
from billframes.analysis.declare.metrics import FIGURES, Measure
from billframes.analysis.keys.by import By, names_in
from billframes.analysis.results.figure_rows import group_keys
from billframes.analysis.results.result_rows import Floats, identifying_keys, key_columns, quotients, refuse_total
from billframes.errors import ParameterError

BILLED = "billed_amount"
ENDS = ("before", "after")
REST, WHOLE = -1, 0
"""In `FiguresByPeriod.instead`: the rest of twelve months, and the result to add up in place of a period's own."""

PERIODS_PER_YEAR = {"month": 12, "quarter": 4, "year": 1, "fiscal_quarter": 4, "fiscal_year": 1}
COLUMNS = ("now", "previous", "since_previous", "year_ago", "since_year_ago", "twelve_months")


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
        f"can't be split; mirror.implied_receipts lists how balances fell.{closest(measure, known)} Try "
        "'billing_realization', 'settlement_ratio', 'effective_rate', 'utilization' or 'billed_amount'."
    )


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


def refuse_wrong_rows(table: pa.Table, name: str, keys: Sequence[str]) -> None:
    """Refuse a result with two rows of the same keys, or with a row that is the total of the others."""
    ids, rows = identifying_keys(keys), table.to_pandas(ignore_metadata=True)
    twice = rows.duplicated(ids).to_numpy() if ids else np.arange(len(rows)) > 0
    if twice.any():
        [row] = table.slice(twice.argmax(), 1).to_pylist()
        row_name = ", ".join(f"{each}={row[each]!r}" for each in ids) or "one row of all"
        raise ParameterError(f"{name} has {row_name} twice; pass the result of one analysis, not several together.")
    refuse_total(rows, [*keys], name)


@dataclass(frozen=True, slots=True)
class Matched:
    """Results whose groups are matched by their ids: the keys of each group, and its figures in each result."""

    keys: pa.Table
    figures: Mapping[str, Mapping[str, Floats]]

    @classmethod
    def of(
        cls, tables: Mapping[str, pa.Table], keys: Sequence[str], columns: Sequence[str], *, sums: bool = True
    ) -> Matched:
        """
        Add up the rows of results by the keys, the latest result first: if a name has changed, the latest is used.

        Without `sums`, the figures of a group that a result does not have are missing instead of 0.
        """
        plain = [_plain(each.select([*keys])) for each in tables.values()]
        labels, groups = group_keys(plain, [len(each) for each in tables.values()])
        figures: dict[str, dict[str, Floats]] = {}
        for (name, rows), own in zip(tables.items(), groups, strict=True):
            absent = 0.0 if sums else np.where(np.bincount(own, minlength=len(labels)), 0.0, math.nan)
            values = {each: np.asarray(rows[each].cast(pa.float64())) for each in columns}
            sums_of = {each: np.bincount(own, of, len(labels)) + absent for each, of in values.items()}
            figures[name] = cast("dict[str, Floats]", sums_of)
        kinds = {key: [each.schema.field(key).type for each in plain] for key in keys}
        known = {key: next((kind for kind in of if kind != pa.null()), pa.string()) for key, of in kinds.items()}
        texts = {key: pa.array(labels[key], kind, from_pandas=True) for key, kind in known.items()}
        return cls(pa.table(texts), figures)

    @property
    def labels(self) -> list[tuple[Any, ...]]:
        """What the groups are sorted by: the labels, those of the last key first; missing ones are last."""
        rows = [[*reversed(row.values())] for row in self.keys.to_pylist()] if self.keys.column_names else [[]]
        return [tuple((each is None, str(each)) for each in row) for row in rows]


def _plain(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries."""
    kinds = [each.type.value_type if pa.types.is_dictionary(each.type) else each.type for each in table.schema]
    return table.replace_schema_metadata().cast(pa.schema(zip(table.column_names, kinds, strict=True)))


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
    matched : Matched
        The figures by period, and others by the names in `instead`.
    instead : mapping of (str, int) to str
        By period and number of periods back, the name of the result to compare with in place of the earlier period's.
        A name without a result means that the figure is not known. A period and `REST` stand for the days before these
        periods that its twelve months also have, and a period and `WHOLE` for the result that twelve months add up.
    """

    measure: Measure
    pair: tuple[str, str]
    time: str
    matched: Matched
    instead: Mapping[tuple[str, int], str]

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
        figures = self.matched.figures
        unknown = {name: each * math.nan for name, each in next(iter(figures.values())).items()}
        parts = [figures.get(name, unknown) for name in names]
        part, whole = (np.sum([each[name] for each in parts], axis=0) for name in self.pair)
        return quotients(part, whole) if self.measure.ratios else cast("Floats", part)


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
