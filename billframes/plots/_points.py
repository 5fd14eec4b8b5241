"""Two figures of a row as two points on a line: for days, which are no parts of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from billframes._show import MISSING, show
from billframes.analysis._reading import Rows
from billframes.plots._axes import DARK, INK, PALE, SIZE, axes_for, finish, hours, legend
from billframes.plots._bars import height_for, label_rows

__all__ = ["points"]


def points(
    rows: Rows, columns: Mapping[str, str], ax: Axes | None, *, title: str, words: Sequence[str] | None = None
) -> Axes:
    """
    Draw two points a row, told apart by shape and shade, and the line between them.

    Parameters
    ----------
    rows : Rows
    columns : mapping of str to str
        The two columns and what they are called; the first one's are the words where none are given.
    ax : Axes, optional
    title : str
    words : sequence of str, optional
        What stands at the right of each row.
    """
    ax = axes_for(ax, height=height_for(len(rows.frame)))
    places = np.arange(len(rows.frame))
    first, second = (rows.frame[name].astype("float64").to_numpy() for name in columns)
    ax.hlines(places, first, second, color=PALE, linewidth=4)
    for each, name, marker, face in zip((first, second), columns.values(), "oD", (DARK, "white"), strict=True):
        ax.plot(each, places, marker, label=name, markersize=6.5, markerfacecolor=face, markeredgecolor=DARK, zorder=3)
    words = words or [f"{show(float(value), 'days')} days" if value == value else MISSING for value in first]
    ends = np.nan_to_num(np.fmax(first, second))
    for place, end, text in zip(places, ends, words, strict=True):
        ax.annotate(text, (end, place), (9, 0), textcoords="offset points", va="center", fontsize=SIZE, color=INK)
    label_rows(ax, rows.labels)
    ax.margins(x=0.12)
    # Days are read from 0, and no point is cut off at the border or lies on a name.
    left, right = ax.get_xlim()
    ax.set_xlim(left=left if (np.fmin(first, second) < 0).any() else -0.025 * right)
    legend(ax)
    return finish(ax, title, values="x", unit=hours)
