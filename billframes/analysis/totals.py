"""The total of a result's rows, where it follows from them: sums, and ratios of sums; else it is missing.

A total is never a mean of ratios. What can't be told from the rows (a median; the head count of rows that share
people) comes from the same analysis with `by=None`.
"""

from __future__ import annotations

import math

import pandas as pd

from billframes.analysis.expressions import quotient
from billframes.analysis.metrics import Measure
from billframes.analysis.spec import measure, measures

__all__ = ["total_of"]


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
