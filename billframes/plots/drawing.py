"""The kinds of chart: parts of a whole, stacks, points on a line, money by age, and a running share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from billframes._format import format_number
from billframes.analysis.result_rows import ResultRows
from billframes.analysis.spec import measure
from billframes.plots.axes import DARK, INK, MUTED, PALE, RAMP, SIZE, axes_for, finish, legend, shortened

__all__ = ["KINDS", "Drawn", "axis_title", "height_for"]

# More steps of a waterfall would be too small to see.
LONGEST_WALK = 12
_LINE: dict[str, Any] = {"color": "#999999", "linewidth": 0.8}


@dataclass(frozen=True, slots=True)
class Drawn:
    """
    What is drawn.

    Parameters
    ----------
    rows : ResultRows
        With numbers as floats.
    columns : mapping of str to str
        The columns drawn, in order, and what the legend calls them.
    words : sequence of str
        What stands at each row.
    title : str
        Without what the rows are by.
    unit : callable
        Formats a value of the axis.
    mark : (str, str), optional
        A column drawn as a mark over the bars, and what the legend calls it.
    darkest_first : bool
        Whether the first part of a stack is the darkest.
    age : str
        What the buckets of an age are counted in, such as "days past due".
    axis : str
        Title of the values' axis: their unit.
    ends : (float, float), optional
        The figures before the first step of a waterfall and after its last.
    """

    rows: ResultRows
    columns: Mapping[str, str]
    words: Sequence[str]
    title: str
    unit: Callable[[float], str]
    mark: tuple[str, str] | None = None
    darkest_first: bool = False
    age: str = ""
    axis: str = ""
    ends: tuple[float, float] | None = None

    def values(self) -> list[pd.Series[float]]:
        """Return the columns drawn."""
        return [self.rows.frame[name] for name in self.columns]

    def places(self) -> Any:
        """Return a place on the axis for each row."""
        return np.arange(len(self.rows.frame))

    def finish(self, ax: Axes, values: str = "x", end: str = "") -> Axes:
        """Give the axes their title and frame."""
        return finish(ax, f"{self.rows.full_title(self.title)}{end}", values=values, unit=self.unit, name=self.axis)


def axis_title(unit: str, currency: str = "") -> str:
    """
    Name an axis by the unit of its values.

    Examples
    --------
    >>> axis_title("money", "USD"), axis_title("rate", "USD"), axis_title("money"), axis_title("hours")
    ('Amount (USD)', 'Rate (USD an hour)', 'Amount', 'Hours')
    """
    title = {"money": "Amount", "rate": "Rate", "hours": "Hours", "days": "Days"}.get(unit, "")
    of = {"money": currency, "rate": f"{currency} an hour"}.get(unit, "") if currency else ""
    return f"{title} ({of})" if of else title


def height_for(rows: int) -> float:
    """Inches that many lying bars need, with title, axis and legend."""
    return 1.1 + 0.27 * max(rows, 2)


def bars(drawn: Drawn, ax: Axes | None) -> Axes:
    """
    Draw the second column as a dark part on the first as a pale whole: months as columns, anything else as rows.

    The whole may be all missing, such as available hours by client; then only the part is drawn.
    """
    standing = drawn.rows.over_time
    ax = axes_for(ax) if standing else axes_for(ax, height=height_for(len(drawn.words)))
    place, (whole, part) = drawn.places(), drawn.values()
    names = list(drawn.columns.values())
    draw: Any = ax.bar if standing else ax.barh
    thickness = "width" if standing else "height"
    broad, narrow = (0.74, 0.42) if standing else (0.72, 0.4)
    if whole.notna().any():
        draw(place, whole.fillna(0.0), color=PALE, label=names[0], **{thickness: broad})
    draw(place, part.fillna(0.0), color=DARK, label=names[1], **{thickness: narrow})
    both = np.stack([whole.fillna(0.0), part.fillna(0.0)])
    ends = np.maximum(both.max(axis=0), 0.0)
    if standing:
        _write(ax, drawn.words, zip(place, ends, strict=True), (0, 3), fontsize=SIZE - 1.0, ha="center")
        ax.set_xticks(place, list(drawn.rows.labels))
        ax.set_xlim(-0.6, len(place) - 0.4)
        ax.margins(y=0.1)
    else:
        _write(ax, drawn.words, zip(ends, place, strict=True), (5, 0), va="center")
        if (both < 0).any():
            ax.axvline(0, **_LINE)
        _label_rows(ax, drawn.rows.labels)
        ax.margins(x=0.16)
    legend(ax)
    return drawn.finish(ax, "y" if standing else "x")


def stacks(drawn: Drawn, ax: Axes | None) -> Axes:
    """Draw a bar a row, cut into parts: what is positive right of zero and what is negative left of it."""
    count, places = len(drawn.columns), drawn.places()
    # Two parts are neither as pale as paper nor as dark as ink.
    shades = _shades(count) if drawn.age or count != 2 else _shades(4)[1:3]
    ax = axes_for(ax, height=height_for(len(places)))
    right, left = np.zeros(len(places)), np.zeros(len(places))
    colours = shades[::-1] if drawn.darkest_first else shades
    least = 0.002 * max((float(each.abs().max()) for each in drawn.values()), default=0.0)
    for column, name, colour in zip(drawn.values(), drawn.columns.values(), colours, strict=True):
        values = column.fillna(0.0).to_numpy()
        starts = np.where(values < 0, left, right)
        # The edges of a part without width would be a dark line, like a sliver of the darkest part.
        edges = np.where(np.abs(values) > least, 0.4, 0.0)
        ax.barh(places, values, left=starts, height=0.66, color=colour, edgecolor=INK, linewidth=edges, label=name)
        right, left = right + np.maximum(values, 0.0), left + np.minimum(values, 0.0)
    ends = np.fmax(right, drawn.rows.frame[drawn.mark[0]]) if drawn.mark else right
    _write(ax, drawn.words, zip(ends, places, strict=True), (5, 0), va="center")
    if left.any():
        ax.axvline(0, **_LINE)
    _label_rows(ax, drawn.rows.labels)
    ax.margins(x=0.14)
    legend(ax)
    drawn.finish(ax, end=f", by {drawn.age}" if drawn.age else "")
    if drawn.mark:
        # A pale edge, because in print the mark is as dark as what is billed.
        edge = [withStroke(linewidth=4.2, foreground="white")]
        look: dict[str, Any] = {"color": INK, "linewidth": 2.2, "label": drawn.mark[1], "path_effects": edge}
        ax.vlines(drawn.rows.frame[drawn.mark[0]], places - 0.42, places + 0.42, **look)
        legend(ax)
    return ax


def points(drawn: Drawn, ax: Axes | None) -> Axes:
    """Draw two days a row as points that differ by shape and shade, and the line between them."""
    ax, places = axes_for(ax, height=height_for(len(drawn.words))), drawn.places()
    first, second = (each.to_numpy() for each in drawn.values())
    ax.hlines(places, first, second, color=PALE, linewidth=4)
    looks = zip((first, second), drawn.columns.values(), "oD", (DARK, "white"), strict=True)
    for each, name, marker, face in looks:
        ax.plot(each, places, marker, label=name, markersize=6.5, markerfacecolor=face, markeredgecolor=DARK, zorder=3)
    ends = np.nan_to_num(np.fmax(first, second))
    _write(ax, drawn.words, zip(ends, places, strict=True), (9, 0), va="center")
    _label_rows(ax, drawn.rows.labels)
    ax.margins(x=0.12)
    # Days are read from 0, and no point is cut off at the border or lies on a name.
    left, right = ax.get_xlim()
    ax.set_xlim(left=left if (np.fmin(first, second) < 0).any() else -0.025 * right)
    legend(ax)
    return drawn.finish(ax)


def ages(drawn: Drawn, ax: Axes | None) -> Axes:
    """Draw money in buckets: one column per bucket for the whole, or one stack per row, the older the darker."""
    if drawn.rows.key_title or len(drawn.rows.frame) != 1:
        return stacks(drawn, ax)
    ax, places = axes_for(ax, height=2.6), np.arange(len(drawn.columns))
    values = [float(each.iloc[0]) for each in drawn.values()]
    total = float(drawn.rows.frame["total"].iloc[0])
    ax.bar(places, values, width=0.62, color=DARK)
    words = [
        format_number(each, "money") + (f"\n{format_number(each / total, 'ratio')}" if total else "") for each in values
    ]
    tops = [max(each, 0.0) for each in values]
    _write(ax, words, zip(places, tops, strict=True), (0, 3), ha="center")
    ax.axhline(0, **_LINE)
    ax.set_xticks(places, list(drawn.columns.values()))
    ax.set_xlabel(drawn.age[:1].upper() + drawn.age[1:], fontsize=SIZE - 0.5, color=MUTED)
    ax.margins(y=0.22)
    return drawn.finish(ax, "y", f" by {drawn.age}")


def running_share(drawn: Drawn, ax: Axes | None) -> Axes:
    """Draw the first column as bars and the second as a line, against a scale of its own at the top."""
    ax, places = axes_for(ax, height=height_for(len(drawn.words)) + 0.3), drawn.places()
    values, shares = drawn.values()
    names = list(drawn.columns.values())
    ax.barh(places, values.fillna(0.0), height=0.72, color=PALE, label=names[0])
    # Beyond the axes, where the line does not run.
    spots = ((1.0, place) for place in places)
    _write(ax, drawn.words, spots, (8, 0), xycoords=ax.get_yaxis_transform(), va="center")
    _label_rows(ax, drawn.rows.labels)
    top, known = ax.twiny(), shares.dropna()
    top.plot(shares, places, "o-", color=DARK, linewidth=1.4, markersize=3.5, label=names[1])
    top.set_xlim(min(0.0, *known, 0.0), max(1.05, *known, 1.05))
    top.xaxis.set_major_formatter(lambda value, _position: f"{value:.0%}".replace("-", "−"))
    top.tick_params(length=0, labelsize=SIZE, labelcolor=MUTED)
    top.set_xlabel(names[1], fontsize=SIZE - 0.5, color=MUTED)
    top.spines[:].set_visible(False)
    return drawn.finish(ax)


def waterfall(drawn: Drawn, ax: Axes | None) -> Axes:
    """
    Draw the steps from one figure to another as bars in the air: a step a row, or of several columns one a column.

    The ends are points, because bars that don't begin at 0 would be read by their length.
    """
    names, steps, changes = _steps(drawn)
    first, last = drawn.ends or (0.0, math.nan)
    starts = first + np.concatenate([[0.0], np.cumsum(steps)])
    places = np.arange(len(names) + 2)
    ax = axes_for(ax, height=height_for(len(places)))
    falls = steps < 0
    for chosen, colour, name in ((~falls, DARK, "Rise"), (falls, PALE, "Fall")):
        if (steps[chosen] != 0).any():
            look: dict[str, Any] = {"color": colour, "edgecolor": DARK, "linewidth": 0.8, "label": name}
            ax.barh(places[1:-1][chosen], steps[chosen], left=starts[:-1][chosen], height=0.6, **look)
    ax.vlines(starts, places[:-1], places[1:], **_LINE)
    ax.plot([first, last], places[[0, -1]], "D", color=INK, markersize=6.5)
    values = np.array([first, *np.fmax(starts[:-1], starts[1:]), last])
    shown = [drawn.unit(first), *changes, drawn.unit(last)]
    _write(ax, shown, zip(np.nan_to_num(values), places, strict=True), (8, 0), va="center")
    _label_rows(ax, ["Before", *names, "After"])
    # The axis does not begin at 0, so nothing ends at its border.
    ax.use_sticky_edges = False
    ax.margins(x=0.18)
    if ax.get_legend_handles_labels()[0]:
        legend(ax)
    return drawn.finish(ax)


def _steps(drawn: Drawn) -> tuple[list[str], Any, list[str]]:
    """Return the names of a waterfall's steps, how far each goes, and what stands beside it."""
    frame, columns = drawn.rows.frame, list(drawn.columns)
    if len(columns) > 1:
        names, steps = list(drawn.columns.values()), frame[columns].sum(skipna=False).to_numpy()
    else:
        names, steps = list(drawn.rows.labels), frame[columns[0]].to_numpy()
    if len(names) > LONGEST_WALK:
        rest = len(names) - LONGEST_WALK + 1
        names = [*names[:-rest], f"{rest} others"]
        steps = np.concatenate([steps[:-rest], [steps[-rest:].sum()]])
    found = measure(columns[0])
    unit = found.unit if found else "count"
    words = [format_number(each, unit) for each in steps]
    signed = [
        text if each <= 0 or text.startswith("+") else f"+{text}" for each, text in zip(steps, words, strict=True)
    ]
    return names, np.nan_to_num(steps), signed


KINDS: dict[str, Callable[[Drawn, Axes | None], Axes]] = {
    each.__name__: each for each in (bars, stacks, points, ages, running_share, waterfall)
}
"""The kinds of chart by the names that analyses declare."""


def _write(ax: Axes, words: Sequence[str], spots: Any, offset: tuple[int, int], **how: Any) -> None:
    for text, spot in zip(words, spots, strict=True):
        ax.annotate(text, spot, offset, **{"textcoords": "offset points", "fontsize": SIZE, "color": INK, **how})


def _label_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Name the rows, the first at the top."""
    ax.set_yticks(np.arange(len(labels)), [shortened(label.replace("\n", " ")) for label in labels])
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)


def _shades(count: int) -> list[str]:
    """Return colours from pale to dark."""
    places = np.linspace(0, len(RAMP) - 1, count).round().astype(int)
    return [RAMP[place] for place in places]
