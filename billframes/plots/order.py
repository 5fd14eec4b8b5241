"""The order of a chart's rows: by size, unless they are periods; the smallest of many are added up."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import pandas as pd

from billframes.analysis.declare.metrics import BUCKET, Measure
from billframes.analysis.declare.spec import ChartSpec
from billframes.analysis.results.result_rows import ResultRows, total_of

# More steps of a waterfall would be too small to see.
_MOST_ROWS, _MOST_STEPS = 20, 12
# Keys of forecasts, which are in the order of time.
_PERIODS = (["horizon"], ["forecast"])
_Chart = TypeVar("_Chart", bound=ChartSpec)


def fitting(chart: _Chart, rows: pd.DataFrame) -> _Chart:
    """Return the chart for a result, which can lack the values of a column."""
    hides = chart.hidden and not rows[chart.hidden].notna().any()
    return dataclasses.replace(chart, **chart.instead) if hides else chart


def bucket_columns(rows: pd.DataFrame) -> list[str]:
    """Return the columns of a result that are parts of its total: buckets of days, and unused credits if any."""
    names = [name for name in map(str, rows.columns) if name == "current" or BUCKET.fullmatch(name)]
    credits_ = rows["credit_amount"].astype("float64").fillna(0.0) if "credit_amount" in rows else pd.Series([0.0])
    return [*names, "credit_amount"] if names and credits_.any() else names


def by_size(chart: ChartSpec, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a result with their index, the largest first."""
    size = _sizes(fitting(chart, rows), rows).round(6)
    return rows.loc[size.sort_values(ascending=False, kind="stable").index]


def _sizes(chart: ChartSpec, rows: pd.DataFrame) -> pd.Series[float]:
    """Return the size of each row: the sum of a stack, the longest of several bars, or else the first figure."""
    names = [name for name in chart.columns if name in rows] or bucket_columns(rows)
    values = rows[[chart.order] if chart.order else names].astype("float64")
    if chart.kind in {"stacks", "ages"}:
        return values.sum(axis=1)
    if chart.kind == "waterfall":
        return values.iloc[:, 0].abs()
    return values.max(axis=1) if chart.kind == "bars" else values.iloc[:, 0]


def arranged(chart: ChartSpec, rows: ResultRows, more: Mapping[str, Measure]) -> ResultRows:
    """
    Sort rows by size unless they are periods; of many, the smallest are one last row, such as "9 others".

    `more` are measures that are not declared; those that add up are added up, too.
    """
    in_time = (rows.over_time and chart.kind != "running_share") or rows.keys in _PERIODS
    if not rows.keys or in_time:
        return rows
    frame = by_size(chart, rows.frame)
    most = _MOST_STEPS if chart.kind == "waterfall" else _MOST_ROWS
    if len(frame) <= most:
        return _with_rows(rows, frame)
    sizes = _sizes(chart, frame).abs()
    kept = frame.index.isin(sizes.sort_values(ascending=False, kind="stable").index[: most - 1])
    rest = frame[~kept]
    added = {name: rest[name].sum(skipna=False) for name, each in more.items() if each.adds_up}
    others: dict[str, Any] = added | total_of(rest)
    if chart.kind == "running_share":
        others[chart.columns[1]] = rest[chart.columns[1]].iloc[-1]
    made = _with_rows(rows, frame[kept])
    frame = pd.concat([made.frame, pd.DataFrame([others])], ignore_index=True)
    return dataclasses.replace(made, frame=frame, labels=[*made.labels, f"{len(rest)} others"])


def without_longest_others(chart: ChartSpec, rows: ResultRows) -> ResultRows:
    """Return rows whose last one, all others, has no bar if it would make every other bar short."""
    sizes = _sizes(chart, rows.frame)
    if chart.kind in {"points", "waterfall"} or sizes.iloc[-1] <= sizes.iloc[:-1].max():
        return rows
    bars = chart.columns[:1] if chart.kind == "running_share" else (*chart.columns, *filter(None, [chart.mark]))
    frame = rows.frame.copy()
    frame.loc[frame.index[-1], [*bars] or bucket_columns(frame)] = math.nan
    return dataclasses.replace(rows, frame=frame)


def _with_rows(rows: ResultRows, frame: pd.DataFrame) -> ResultRows:
    labels = [rows.labels[place] for place in frame.index]
    return dataclasses.replace(rows, frame=frame.reset_index(drop=True), labels=labels)
