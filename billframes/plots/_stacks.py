"""Bars cut into parts: what is positive to the right of zero and what is negative to its left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from billframes.analysis._reading import Rows
from billframes.plots._axes import INK, RAMP, SIZE, axes_for, finish, legend
from billframes.plots._bars import height_for, label_rows

__all__ = ["shades", "stacked"]


def stacked(
    rows: Rows,
    columns: Sequence[str],
    parts: Mapping[str, str],
    words: Sequence[str],
    ax: Axes | None,
    *,
    title: str,
    unit: Any,
    reach: str | None = None,
) -> Axes:
    """
    Draw a row a bar.

    Parameters
    ----------
    rows : Rows
    columns : sequence of str
        The parts, in the order in which they are put side by side.
    parts : mapping of str to str
        What each of these is called, and its colour.
    words : sequence of str
        What stands at the end of each bar.
    ax : Axes, optional
    title : str
    unit : callable
        Formats a value of the axis.
    reach : str, optional
        A column up to which the words leave room, too, for what is drawn over the bars.
    """
    ax = axes_for(ax, height=height_for(len(rows.frame)))
    places = np.arange(len(rows.frame))
    right, left = np.zeros(len(places)), np.zeros(len(places))
    for column, (name, colour) in zip(columns, parts.items(), strict=True):
        values = rows.frame[column].astype("float64").fillna(0.0).to_numpy()
        starts = np.where(values < 0, left, right)
        ax.barh(places, values, left=starts, height=0.66, color=colour, edgecolor=INK, linewidth=0.4, label=name)
        right, left = right + np.maximum(values, 0.0), left + np.minimum(values, 0.0)
    ends = right if reach is None else np.fmax(right, rows.frame[reach].astype("float64").to_numpy())
    for place, end, text in zip(places, ends, words, strict=True):
        ax.annotate(text, (end, place), (5, 0), textcoords="offset points", va="center", fontsize=SIZE, color=INK)
    if left.any():
        ax.axvline(0, color="#999999", linewidth=0.8)
    label_rows(ax, rows.labels)
    ax.margins(x=0.14)
    legend(ax)
    return finish(ax, title, values="x", unit=unit)


def shades(count: int) -> list[str]:
    """Return colours from pale to dark."""
    places = np.linspace(0, len(RAMP) - 1, count).round().astype(int)
    return [RAMP[place] for place in places]
