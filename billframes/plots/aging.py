"""Receivables as a chart: balances by days past due."""

from __future__ import annotations

import re
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from billframes.analysis._reading import Rows, rows_of
from billframes.errors import MissingColumnError
from billframes.plots._axes import DARK, INK, RAMP, SIZE, axes_for, finish, legend, money
from billframes.plots._bars import height_for

__all__ = ["aging"]

_BUCKET = re.compile(r"current|\d+-\d+|\d+\+")


def aging(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.aging`: a column a bucket, or for several rows a bar each, cut into buckets.

    Older is darker. Credits lie to the left of zero. A bar's words are its total.

    Parameters
    ----------
    result : frame
        With the buckets (`current`, `1-30`, …) and `total`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `aging`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"current": [60.0], "1-30": [30.0], "31-60": [0.0], "61-90": [-5.0], "91+": [15.0],
    ...                        "total": [100.0]})
    >>> ax = aging(result)
    >>> [text.get_text().split() for text in ax.texts]
    [['60', '60.0%'], ['30', '30.0%'], ['0', '0.0%'], ['−5', '−5.0%'], ['15', '15.0%']]
    >>> ax.get_title(loc="left")
    'Receivables by days past due'
    """
    buckets = _buckets(result)
    rows = rows_of(result, (*buckets, "total"), "aging")
    past = "past due" if "current" in buckets else "since the invoice date"
    if not rows.what and len(rows.frame) == 1:
        ax = axes_for(ax, height=2.6)
        _columns(ax, rows.frame.iloc[0], buckets)
        return finish(ax, f"Receivables by days {past}", values="y", unit=money)
    ax = axes_for(ax, height=height_for(len(rows.frame)))
    _stacks(ax, rows, buckets)
    return finish(ax, f"Receivables{rows.by}, by days {past}", values="x", unit=money)


def _buckets(result: Any) -> list[str]:
    columns = nw.from_native(result).collect_schema().names()
    found = [name for name in columns if _BUCKET.fullmatch(name)]
    if not found:
        raise MissingColumnError(
            "The chart needs columns such as 'current' and '1-30', which the frame does not have; pass a result of "
            f"billframes.aging(). It has: {', '.join(columns)}."
        )
    return found


def _columns(ax: Axes, row: pd.Series[Any], buckets: list[str]) -> None:
    values = [float(row[name]) for name in buckets]
    total = float(row["total"])
    ax.bar(np.arange(len(buckets)), values, width=0.62, color=DARK)
    for place, value in enumerate(values):
        share = f"\n{value / total:.1%}".replace("-", "−") if total else ""
        ax.annotate(
            f"{value:,.0f}".replace("-", "−") + share,
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


def _stacks(ax: Axes, rows: Rows, buckets: list[str]) -> None:
    """Stack what is owed to the right of zero and credits to the left, both from the newest on."""
    places = np.arange(len(rows.frame))
    right, left = np.zeros(len(places)), np.zeros(len(places))
    for name, colour in zip(buckets, _shades(len(buckets)), strict=True):
        values = rows.frame[name].fillna(0.0).to_numpy()
        starts = np.where(values < 0, left, right)
        ax.barh(
            places, values, left=starts, height=0.66, color=colour, edgecolor=INK, linewidth=0.4, label=_spoken(name)
        )
        right, left = right + np.maximum(values, 0.0), left + np.minimum(values, 0.0)
    for place, end, total in zip(places, right, rows.frame["total"], strict=True):
        ax.annotate(
            f"{total:,.0f}".replace("-", "−"),
            (end, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SIZE,
            color=INK,
        )
    ax.set_yticks(places, rows.labels)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.margins(x=0.12)
    legend(ax)


def _shades(count: int) -> list[str]:
    places = np.linspace(0, len(RAMP) - 1, count).round().astype(int)
    return [RAMP[place] for place in places]


def _spoken(bucket: str) -> str:
    return "Current" if bucket == "current" else f"{bucket.replace('-', '–')} days"
