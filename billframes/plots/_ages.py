"""Money by age: a column a bucket for the whole, or for several rows a bar each, cut into buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._frames import from_native
from billframes.analysis._reading import Rows
from billframes.analysis.vocabulary import BUCKET, measure
from billframes.errors import MissingColumnError
from billframes.plots._axes import DARK, INK, SIZE, axes_for, finish, money
from billframes.plots._stacks import shades, stacked

__all__ = ["buckets_of", "by_age"]


def buckets_of(result: Any, analysis: str) -> list[str]:
    """
    Find the buckets of a result.

    Raises
    ------
    ParameterError
        It is no frame.
    MissingColumnError
        It has none.
    """
    frame = from_native(result, "result", f"the chart takes a frame, the result of billframes.{analysis}()")
    columns = frame.collect_schema().names()
    found = [name for name in columns if name == "current" or BUCKET.fullmatch(name)]
    if not found:
        raise MissingColumnError(
            "The chart needs columns of days such as '31-60', which the frame does not have; pass a result of "
            f"billframes.{analysis}(). It has: {', '.join(columns)}."
        )
    return found


def by_age(rows: Rows, buckets: list[str], ax: Axes | None, *, what: str, age: str) -> Axes:
    """Draw money in buckets, older being darker; `what` and `age` are words of the title."""
    if not rows.what and len(rows.frame) == 1:
        ax = axes_for(ax, height=2.6)
        _columns(ax, rows.frame.iloc[0], buckets)
        return finish(ax, f"{what} by {age}", values="y", unit=money)
    words = [show(total, "money") for total in rows.frame["total"]]
    parts = dict(zip(map(_spoken, buckets), shades(len(buckets)), strict=True))
    return stacked(rows, buckets, parts, words, ax, title=f"{what}{rows.by}, by {age}", unit=money)


def _columns(ax: Axes, row: pd.Series[Any], buckets: list[str]) -> None:
    values = [float(row[name]) for name in buckets]
    total = float(row["total"])
    ax.bar(np.arange(len(buckets)), values, width=0.62, color=DARK)
    for place, value in enumerate(values):
        share = f"\n{show(value / total, 'ratio')}" if total else ""
        ax.annotate(
            show(value, "money") + share,
            (place, max(value, 0.0)),
            (0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=SIZE,
            color=INK,
        )
    ax.axhline(0, color="#999999", linewidth=0.8)
    ax.set_xticks(np.arange(len(buckets)), [_spoken(name) for name in buckets])
    ax.margins(y=0.22)


def _spoken(bucket: str) -> str:
    found = measure(bucket)
    return found.title if found else bucket
