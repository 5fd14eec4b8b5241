"""Read a result for charts and tables: the names of its rows, the columns that identify them, and the rows' total.

A total is never a mean of ratios. What can't be told from the rows (a median; the head count of rows that share
people) comes from the same analysis with `by=None`.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals.stable.v2 as nw
import pandas as pd

from billframes._names import join_names
from billframes.analysis.engine import collect
from billframes.analysis.expressions import quotient
from billframes.analysis.frames import wrap_frame
from billframes.analysis.keys import TIMES, UNASSIGNED
from billframes.analysis.metrics import Measure, title_of_key
from billframes.analysis.spec import measure, measures
from billframes.errors import MissingColumnError

__all__ = ["MEASURE", "ResultRows", "present_columns", "read_result", "total_of"]

MEASURE = "measure"
"""The attribute of a pandas result that says which measure its columns are of."""


@dataclass(frozen=True)
class ResultRows:
    """
    A result, ready to show.

    Parameters
    ----------
    frame : DataFrame
        The result as pandas, in its own order.
    keys : list of str
        Columns that tell rows apart and can be read: no id that has a label beside it.
    labels : list of str
        What each row is called; one that occurs twice is numbered.
    what : str
        What the rows are by, such as "client"; empty where the result is one row of everything.
    over_time : bool
        Whether the rows are months, quarters or years.
    measure : str
        The title of the one measure that the result is of, if it says so: pandas results of `compare` do.
    """

    frame: pd.DataFrame
    keys: list[str]
    labels: list[str]
    what: str
    over_time: bool
    measure: str = ""

    @property
    def by(self) -> str:
        """The words that end a title, such as " by client"."""
        return f" by {self.what}" if self.what else ""

    def titled(self, title: str) -> str:
        """Return a title with the measure before it and what the rows are by after it."""
        return f"{self.measure}, {title[:1].lower()}{title[1:]}{self.by}" if self.measure else f"{title}{self.by}"


def read_result(result: Any, needs: Sequence[str], analysis: str, shown: str = "chart") -> ResultRows:
    """
    Read a result of an analysis.

    Parameters
    ----------
    result : frame
        Of any engine.
    needs : sequence of str
        Columns that must be there. Every column before the first of them, or of the vocabulary, is a key.
    analysis : str
        The analysis the result should be of, for the error's words.
    shown : str
        What is made of it, such as "table".

    Raises
    ------
    ParameterError
        It is not a frame.
    MissingColumnError
        A column is missing.
    """
    frame = _pandas(result, analysis, shown)
    missing = [name for name in needs if name not in frame.columns]
    if missing:
        raise MissingColumnError(
            f"The {shown} needs the column {missing[0]!r}, which the frame does not have; pass a result of "
            f"billframes.{analysis}(). It has: {', '.join(map(str, frame.columns))}."
        )
    keys = _keys(list(itertools.takewhile(lambda name: name not in needs and not _is_number(name), frame.columns)))
    over_time = len(keys) == 1 and keys[0] in TIMES
    texts = [[_text(value, over_time) for value in frame[key]] for key in keys]
    labels = [" · ".join(row) for row in zip(*texts, strict=True)] if keys else ["All"] * len(frame)
    of = str(getattr(result, "attrs", {}).get(MEASURE, ""))
    return ResultRows(
        frame, keys, _told_apart(labels), join_names(list(map(title_of_key, keys))) if keys else "", over_time, of
    )


def present_columns(result: Any, names: Sequence[str]) -> list[str]:
    """Return those of some columns that a result has; if it has none of them, the first, which is then missing."""
    there = [name for name in names if name in getattr(result, "columns", ())]
    return there or list(names[:1])


def _pandas(result: Any, analysis: str, shown: str) -> pd.DataFrame:
    frame = wrap_frame(result, "result", f"the {shown} takes a frame, the result of billframes.{analysis}()")
    eager = cast("nw.DataFrame[Any]", collect(frame))
    return eager.to_pandas().reset_index(drop=True)


def _is_number(name: str) -> bool:
    found = measure(name)
    return found is not None and found.unit != "text"


def _keys(columns: list[str]) -> list[str]:
    """Leave out ids that a label stands beside."""
    labelled = {name.rpartition("_")[0] for name in columns if name.endswith(("_name", "_label"))}
    return [name for name in columns if not (name.endswith("_id") and name.removesuffix("_id") in labelled)]


def _text(value: Any, over_time: bool) -> str:
    if pd.isna(value):
        return UNASSIGNED
    text = str(value)
    if over_time and len(text) == len("2026-10"):
        try:
            return dt.date.fromisoformat(f"{text}-01").strftime("%b\n%Y")
        except ValueError:
            return text
    # A dollar sign would start a formula in matplotlib's own mark-up.
    return text.replace("$", r"\$")


def _told_apart(labels: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    apart = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        apart.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return apart


def total_of(rows: pd.DataFrame) -> dict[str, float]:
    """
    Add the measures of a result up.

    Parameters
    ----------
    rows : DataFrame
        Rows that share nothing: a result, or some rows of it.

    Returns
    -------
    dict of str to float
        By column; missing where the rows don't tell it, such as where one of them is missing.

    Examples
    --------
    >>> rows = pd.DataFrame({"client_hours": [10.0, 0.0], "capacity_hours": [10.0, 30.0], "utilization": [1.0, 0.0]})
    >>> total_of(rows)
    {'client_hours': 10.0, 'capacity_hours': 40.0, 'utilization': 0.25}
    """
    known = {name: found for name in rows.columns if (found := measure(str(name)))}
    return {name: _total(each, rows) for name, each in known.items()}


def _total(each: Measure, rows: pd.DataFrame) -> float:
    if each.adds_up:
        least = 1 if each.missing_is_none else 0
        return float(rows[each.name].sum(skipna=each.missing_is_none, min_count=least))
    for pair in each.ratios:
        if set(pair) <= set(rows.columns):
            return quotient(*(_total(measures()[name], rows) for name in pair))
    if each.weight in rows.columns:
        weighted = rows[[each.name, each.weight]].dropna(subset=[each.weight]).astype("float64")
        products = weighted[each.name] * weighted[each.weight]
        return quotient(float(products.sum(skipna=False)), float(weighted[each.weight].sum()))
    return math.nan
