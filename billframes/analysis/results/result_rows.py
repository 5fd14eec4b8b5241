"""Read a result for charts and tables: the keys and labels of its rows, and their total.

A total is never a mean of ratios. Totals that can't be computed from the rows (of medians, or of people who are in
several rows) need the same analysis with `by=None`.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from billframes._shared.names import join_names
from billframes.analysis.data.distinct_names import DistinctNames
from billframes.analysis.data.engine import collect
from billframes.analysis.data.expressions import RESIDUE
from billframes.analysis.data.native import wrap_frame
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.key_words import TIMES
from billframes.analysis.declare.lookup import analyses, measure, path_of, weight_of
from billframes.analysis.declare.metrics import Measure, bucket_measure, period_measure, title_of_key
from billframes.analysis.declare.spec import Analysis
from billframes.errors import MissingColumnError, ParameterError

# Fewer clients can have the same name.
_SEVERAL = 3
# Rounded rows differ from their rounded total by less.
_ROUNDED, _A_CENT = 0.01, 0.01
_TOTALS = {"total", "totals", "grand total", "sum", "all", "overall"}

Floats = NDArray[np.float64]

MEASURE = "measure"
"""The key in `attrs` of a pandas result whose columns are all figures of one measure."""


@dataclass(frozen=True)
class ResultRows:
    """
    A result, ready for a chart or a table.

    Parameters
    ----------
    frame : DataFrame
        The result as pandas, in its order.
    keys : list of str
        The key columns, without ids that have a label.
    labels : list of str
        The label of each row. Labels that occur twice are numbered.
    key_title : str
        The title of the keys, such as "client"; empty if the result is one row of everything.
    over_time : bool
        Whether the rows are months, quarters or years.
    measure : str
        The title of the measure if all figures are of one measure, as in pandas results of `compare`; else empty.
    """

    frame: pd.DataFrame
    keys: list[str]
    labels: list[str]
    key_title: str
    over_time: bool
    measure: str = ""

    @property
    def by(self) -> str:
        """The last words of a title, such as " by client"."""
        return f" by {self.key_title}" if self.key_title else ""

    def full_title(self, title: str) -> str:
        """Return a title with the measure before it and the keys after it."""
        return f"{self.measure}, {title[:1].lower()}{title[1:]}{self.by}" if self.measure else f"{title}{self.by}"


def read_result(result: Any, needs: Sequence[str], analysis: str, shown: str = "chart") -> ResultRows:
    """
    Read a result of an analysis.

    Parameters
    ----------
    result : frame
        A frame of any engine.
    needs : sequence of str
        The columns that the result must have. All columns before the first of them, or before the first measure, are
        keys.
    analysis : str
        The name of the analysis, for errors.
    shown : str
        "chart" or "table", for errors.

    Raises
    ------
    ParameterError
        It is not a frame, the same group is in two rows, or a row is the total of the others.
    MissingColumnError
        A column is missing.
    """
    frame = _pandas(result, analysis, shown)
    missing = [name for name in needs if name not in frame.columns]
    if missing:
        raise MissingColumnError(
            f"The {shown} needs the column {missing[0]!r}, which the frame does not have; pass a result of "
            f"{path_of(analysis)}. It has: {', '.join(map(str, frame.columns))}."
        )
    own = key_columns(list(frame.columns), analyses().get(analysis))
    columns = list(itertools.takewhile(lambda name: name not in needs, own))
    refuse_total(frame, columns)
    _refuse_repeated(frame, columns, result)
    keys = _keys(columns)
    over_time = len(keys) == 1 and keys[0] in TIMES
    texts = [[_key_text(value, over_time) for value in frame[key]] for key in keys]
    labels = [" · ".join(row) for row in zip(*texts, strict=True)] if keys else ["All"] * len(frame)
    of = str(getattr(result, "attrs", {}).get(MEASURE, ""))
    return ResultRows(
        frame, keys, _number_repeated(labels), join_names(list(map(title_of_key, keys))) if keys else "", over_time, of
    )


def key_columns(columns: Sequence[str], analysis: Analysis | None = None) -> list[str]:
    """
    Return the key columns of a result: those before the first figure of its analysis.

    By default, its analysis is the one that has most of the columns. A key can have the name of a figure of another
    analysis, such as `item_id`.
    """
    there = {*columns}
    of = analysis or max(analyses().values(), key=lambda each: len(there.intersection(each.measure_names)))
    figures = {each.name for each in of.columns if each.unit != "text"}
    is_key = lambda name: name not in figures and not bucket_measure(str(name)) and not period_measure(str(name))  # noqa: E731
    return list(itertools.takewhile(is_key, columns))


def identifying_keys(keys: Sequence[str]) -> list[str]:
    """Return the keys without the names and labels of ids."""
    return [
        name for name in keys if not (name.endswith(("_name", "_label")) and f"{name.rpartition('_')[0]}_id" in keys)
    ]


def present_columns(result: Any, names: Sequence[str]) -> list[str]:
    """Return the columns that a result has; if it has none of them, return the first, for the error."""
    there = [name for name in names if name in getattr(result, "columns", ())]
    return there or list(names[:1])


def _pandas(result: Any, analysis: str, shown: str) -> pd.DataFrame:
    frame = wrap_frame(result, "result", f"the {shown} takes a frame, the result of {path_of(analysis)}")
    eager = cast("nw.DataFrame[Any]", collect(frame))
    return DistinctNames()(eager.to_pandas().reset_index(drop=True))


def _keys(columns: list[str]) -> list[str]:
    labelled = _labelled(columns)
    return [name for name in columns if not (name.endswith("_id") and name.removesuffix("_id") in labelled)]


def _labelled(columns: list[str]) -> set[str]:
    """Return what the columns have a label of, such as "client"."""
    return {name.rpartition("_")[0] for name in columns if name.endswith(("_name", "_label"))}


def _refuse_repeated(frame: pd.DataFrame, columns: list[str], result: Any) -> None:
    """
    Refuse rows of the same group, because a total would count it twice.

    Without ids, two clients can have the same name, but not so many. Records without an id can be different ones. Rows
    without keys are of one group if results were concatenated, which leaves the same number in the index twice.
    """
    labelled = _labelled(columns)
    records = [name for name in columns if name.endswith("_id") and name.removesuffix("_id") not in labelled]
    groups = _texts(frame.dropna(subset=records), columns)
    if not columns:
        index = result.index if isinstance(result, pd.DataFrame) else frame.index
        groups = pd.DataFrame({"": index.astype(str)})
    counts = Counter(groups.itertuples(index=False, name=None))
    repeated = [group for group, count in counts.items() if count > 1]
    by_id = all(f"{name}_id" in columns for name in labelled)
    if not repeated or not (by_id or (len(repeated) >= _SEVERAL and len(repeated) * 2 > len(counts))):
        return
    shown = _keys(columns)
    example = " · ".join(text for name, text in zip(columns, repeated[0], strict=False) if name in shown)
    raise ParameterError(
        f"The frame has several rows of the same group, for example of {example or 'the whole firm'}, so their sum "
        "would count it twice. If these are results of several days, show each day by itself. If they are of several "
        "periods, put a column that tells them apart before the figures, such as frame.insert(0, 'month', …), or use "
        "billframes.analysis.compare()."
    )


def refuse_total(frame: pd.DataFrame, columns: list[str], name: str = "The frame") -> None:
    """
    Refuse a row that is the total of the others: it has no id, no name or the name of a total, and their sums.

    Parameters
    ----------
    frame : DataFrame
        A result.
    columns : list of str
        Its key columns.
    name : str
        The beginning of the error.
    """
    if not columns or len(frame) < _SEVERAL:
        return
    texts = _texts(frame, columns)
    ids = [name for name in columns if name.endswith("_id")]
    named = texts.map(lambda text: text.casefold().strip(" .:") in _TOTALS).any(axis=1)
    for row in frame.index[(texts == "").all(axis=1) | (named & frame[ids].isna().all(axis=1))]:
        others = total_of(frame.drop(row))
        sums = {each: frame.loc[row, each] for each in others if cast("Measure", measure(each)).adds_up}
        known = {each: value for each, value in sums.items() if pd.notna(value)}
        # The row of a missing key can equal the only other row with figures.
        parts = frame.drop(row)[list(known)].fillna(0.0).ne(0.0).any(axis=1).sum()
        if parts > 1 and all(
            math.isclose(value, others[each], rel_tol=_ROUNDED, abs_tol=_A_CENT) for each, value in known.items()
        ):
            raise ParameterError(
                f"{name} has a row that is the total of the other rows, so they would be counted twice. Remove it (row "
                f"{row})."
            )


def _texts(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return key columns as text; missing values are empty."""
    return frame[columns].astype(object).map(lambda value: "" if _is_missing(value) else str(value))


def _is_missing(value: Any) -> bool:
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _key_text(value: Any, over_time: bool) -> str:
    if pd.isna(value):
        return UNASSIGNED
    text = str(value)
    if over_time and len(text) == len("2026-10"):
        try:
            return dt.date.fromisoformat(f"{text}-01").strftime("%b\n%Y")
        except ValueError:
            return text
    # Matplotlib reads text between dollar signs as a formula.
    return text.replace("$", r"\$")


def _number_repeated(labels: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    unique = []
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
        unique.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return unique


def total_of(rows: pd.DataFrame) -> dict[str, float]:
    """
    Calculate the total of each measure of a result.

    Parameters
    ----------
    rows : DataFrame
        A result, or some rows of it, without overlap.

    Returns
    -------
    dict of str to float
        By column; NaN if the total can't be computed from the rows, for example because a value is missing.

    Examples
    --------
    >>> rows = pd.DataFrame({"client_hours": [10.0, 0.0], "capacity_hours": [10.0, 30.0], "utilization": [1.0, 0.0]})
    >>> total_of(rows)
    {'client_hours': 10.0, 'capacity_hours': 40.0, 'utilization': 0.25}
    """
    columns = {str(name): values for name, values in rows.items()}
    return {name: float(totals[0]) for name, totals in totals_of(columns, np.zeros(len(rows), "int64"), 1).items()}


def totals_of(rows: Mapping[str, Any], groups: NDArray[np.int64], count: int) -> dict[str, Floats]:
    """Calculate the totals of columns by the group of each row, numbered from 0, as `total_of` does for all rows."""
    columns = {name: found for name in rows if (found := measure(name))}

    def added(values: Floats, of: Any = slice(None)) -> Floats:
        return np.bincount(groups[of], values[of], count).astype("float64", copy=False)

    def total(each: Measure) -> Floats:
        unknown = np.full(count, math.nan)
        if each.adds_up:
            values = _numbers(rows[each.name])
            known = ~np.isnan(values) if each.missing_is_none else slice(None)
            sums = added(values, known)
            return np.where(added(1.0 - np.isnan(values)) > 0, sums, unknown) if each.missing_is_none else sums
        if pair := next((pair for pair in each.ratios if {*pair} <= columns.keys()), None):
            part, whole = (total(columns[name]) for name in pair)
        elif (weight := weight_of(each)) in columns:
            weights, whole = _numbers(rows[weight]), total(columns[weight])
            # A row without weight has no ratio.
            part = added(np.where(np.abs(weights) > RESIDUE, _numbers(rows[each.name]) * weights, 0.0))
        else:
            return unknown
        return quotients(part, whole)

    return {name: total(each) for name, each in columns.items()}


def quotients(part: Floats, whole: Floats) -> Floats:
    """Divide numbers by each other; NaN where the whole is 0 or NaN."""
    unknown = np.full(np.broadcast(part, whole).shape, math.nan)
    return cast("Floats", np.divide(part, whole, out=unknown, where=np.abs(whole) > RESIDUE))


def _numbers(values: pd.Series[Any] | Floats) -> Floats:
    return values if isinstance(values, np.ndarray) else values.to_numpy("float64", na_value=math.nan)
