"""Draw the kinds of chart: bars, stacks, points, money by age, ranges, running shares and waterfalls."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from billframes._shared.format import format_number, money
from billframes.analysis.declare.lookup import measure
from billframes.analysis.results.result_rows import ResultRows
from billframes.plots.axes import (
    DARK,
    INK,
    MISSED,
    MUTED,
    PALE,
    RAMP,
    SIZE,
    add_legend,
    axes_for,
    format_money,
    shorten_label,
    style_axes,
)

_LONGEST_TITLE = 80
_LINE: dict[str, Any] = {"color": "#999999", "linewidth": 0.8}


@dataclass(frozen=True, slots=True)
class ChartData:
    """
    The data of a chart: a result with numbers as floats, and the text beside each row.

    `columns` are those to draw, with their names in the legend, and `mark` is one drawn over the bars. The title has no
    " by client". `unit` formats values of the axis, whose title is `axis`; `age` is the unit of buckets, such as "days
    past due". `ends` are the figures at both ends of a waterfall, and `span` the columns with the ends of a range.
    `scope` ends the title: the days and the currency.
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
    span: tuple[str, ...] = ()
    scope: str = ""

    def values(self) -> list[pd.Series[float]]:
        """Return the columns to draw."""
        return [self.rows.frame[name] for name in self.columns]

    def positions(self) -> Any:
        """Return a position on the axis for each row."""
        return np.arange(len(self.rows.frame))

    def style_axes(self, ax: Axes, values: str = "x", end: str = "") -> Axes:
        """Set the title and the style of the axes."""
        title = f"{self.rows.full_title(self.title)}{end}"
        separator = ", " if len(title) + len(self.scope) < _LONGEST_TITLE else "\n"
        title = separator.join(filter(None, [title, self.scope]))
        return style_axes(ax, title, values=values, unit=self.unit, name=self.axis)


def axis_title(unit: str, currency: str = "") -> str:
    """Name an axis by the unit of its values, such as "Amount (USD)"."""
    title = {"money": "Amount", "rate": "Rate", "hours": "Hours", "days": "Days"}.get(unit, "")
    of = {"money": currency, "rate": f"{currency} an hour"}.get(unit, "") if currency else ""
    return f"{title} ({of})" if of else title


def height_for(rows: int) -> float:
    """Return the height, in inches, of a chart with this number of horizontal bars."""
    return 1.1 + 0.27 * max(rows, 2)


def bars(chart: ChartData, ax: Axes | None) -> Axes:
    """
    Draw the first column as a pale bar, and the second as a dark, narrow bar on it.

    Bars of months, quarters and years are vertical, others horizontal. If all values of the first column are missing,
    such as available hours by client, only the second is drawn. One column, or more than two, are bars beside each
    other.
    """
    vertical = chart.rows.over_time
    ax = axes_for(ax) if vertical else axes_for(ax, height=height_for(len(chart.words)))
    position, values = chart.positions(), [each.fillna(0.0) for each in chart.values()]
    names, known = list(chart.columns.values()), [bool(each.notna().any()) for each in chart.values()]
    draw: Any = ax.bar if vertical else ax.barh
    thickness = "width" if vertical else "height"
    known[-1] = True
    if len(values) == 2:
        styles = [(0.0, 0.74, PALE), (0.0, 0.42, DARK)] if vertical else [(0.0, 0.72, PALE), (0.0, 0.4, DARK)]
    else:
        part = 0.76 / len(values)
        styles = [(part * (i + 0.5) - 0.38, part, shade) for i, shade in enumerate(_shades(len(values))[::-1])]
    for value, name, drawn, (offset, size, shade) in zip(values, names, known, styles, strict=True):
        if drawn:
            draw(position + offset, value, color=shade, label=name, **{thickness: size})
    both = np.stack(values)
    ends = np.maximum(both.max(axis=0), 0.0)
    if vertical:
        _annotate(ax, chart.words, zip(position, ends, strict=True), (0, 3), fontsize=SIZE - 1.0, ha="center")
        ax.set_xticks(position, list(chart.rows.labels))
        ax.set_xlim(-0.6, len(position) - 0.4)
        ax.margins(y=0.1)
    else:
        _annotate(ax, chart.words, zip(ends, position, strict=True), (5, 0), va="center")
        if (both < 0).any():
            ax.axvline(0, **_LINE)
        _label_rows(ax, chart.rows.labels)
        ax.margins(x=0.16)
    add_legend(ax)
    return chart.style_axes(ax, "y" if vertical else "x")


def stacks(chart: ChartData, ax: Axes | None) -> Axes:
    """Draw one bar per row, divided into parts: positive parts to the right of zero, and negative parts to the left."""
    count, positions = len(chart.columns), chart.positions()
    # For two parts, shades from the middle of the ramp, which are neither as pale as paper nor as dark as ink.
    shades = _shades(count) if chart.age or count != 2 else _shades(4)[1:3]
    ax = axes_for(ax, height=height_for(len(positions)))
    right, left = np.zeros(len(positions)), np.zeros(len(positions))
    colours = shades[::-1] if chart.darkest_first else shades
    least = 0.002 * max((float(each.abs().max()) for each in chart.values()), default=0.0)
    for column, name, colour in zip(chart.values(), chart.columns.values(), colours, strict=True):
        values = column.fillna(0.0).to_numpy()
        starts = np.where(values < 0, left, right)
        # A part without width has no edges, because they would look like a thin dark part.
        edges = np.where(np.abs(values) > least, 0.4, 0.0)
        ax.barh(positions, values, left=starts, height=0.66, color=colour, edgecolor=INK, linewidth=edges, label=name)
        right, left = right + np.maximum(values, 0.0), left + np.minimum(values, 0.0)
    ends = np.fmax(right, chart.rows.frame[chart.mark[0]]) if chart.mark else right
    if chart.span:
        first, last = (chart.rows.frame[name].to_numpy() for name in chart.span)
        middle = positions + 0.42
        ax.hlines(middle, first, last, color=INK, linewidth=1.4, label="Range")
        caps = np.r_[middle, middle]
        ax.vlines(np.r_[first, last], caps - 0.1, caps + 0.1, color=INK, linewidth=1.4)
        ends = np.fmax(ends, last)
    _annotate(ax, chart.words, zip(ends, positions, strict=True), (5, 0), va="center")
    if left.any():
        ax.axvline(0, **_LINE)
    _label_rows(ax, chart.rows.labels)
    # Not `margins`: a part without width at the end of the longest bar would leave no room for its text.
    low, high = float(left.min(initial=0.0)), float(np.max(np.asarray(ends), initial=0.0))
    room = 0.14 * ((high - low) or 1.0)
    ax.set_xlim(low - room if low < 0 else 0.0, high + room)
    add_legend(ax)
    chart.style_axes(ax, end=f", by {chart.age}" if chart.age else "")
    if chart.mark:
        # A white edge, because in print the mark is as dark as the first part.
        edge = [withStroke(linewidth=4.2, foreground="white")]
        style: dict[str, Any] = {"color": INK, "linewidth": 2.2, "label": chart.mark[1], "path_effects": edge}
        ax.vlines(chart.rows.frame[chart.mark[0]], positions - 0.42, positions + 0.42, **style)
        add_legend(ax)
    return ax


def points(chart: ChartData, ax: Axes | None) -> Axes:
    """Draw two values per row as points of different shapes and shades, with a line between them."""
    ax, positions = axes_for(ax, height=height_for(len(chart.words))), chart.positions()
    first, second = (each.to_numpy() for each in chart.values())
    ax.hlines(positions, first, second, color=PALE, linewidth=4)
    for values, name, marker, face in zip((first, second), chart.columns.values(), "oD", (DARK, "white"), strict=True):
        style: dict[str, Any] = {"markersize": 6.5, "markerfacecolor": face, "markeredgecolor": DARK, "zorder": 3}
        ax.plot(values, positions, marker, label=name, **style)
    ends = np.nan_to_num(np.fmax(first, second))
    _annotate(ax, chart.words, zip(ends, positions, strict=True), (9, 0), va="center")
    _label_rows(ax, chart.rows.labels)
    ax.margins(x=0.12)
    # The axis begins a little below 0, so that points at 0 are not cut off and do not cover the names.
    left, right = ax.get_xlim()
    ax.set_xlim(left=left if (np.fmin(first, second) < 0).any() else -0.025 * right)
    add_legend(ax)
    return chart.style_axes(ax)


def ages(chart: ChartData, ax: Axes | None) -> Axes:
    """Draw money by age: one column per bucket for a single row, else stacks with older buckets darker."""
    if chart.rows.key_title or len(chart.rows.frame) != 1:
        return stacks(chart, ax)
    ax, positions = axes_for(ax, height=2.6), np.arange(len(chart.columns))
    values = [float(each.iloc[0]) for each in chart.values()]
    total = float(chart.rows.frame["total"].iloc[0])
    ax.bar(positions, values, width=0.62, color=DARK)
    words = [money(each) + (f"\n{format_number(each / total, 'ratio')}" if total else "") for each in values]
    tops = [max(each, 0.0) for each in values]
    _annotate(ax, words, zip(positions, tops, strict=True), (0, 3), ha="center")
    ax.axhline(0, **_LINE)
    ax.set_xticks(positions, list(chart.columns.values()))
    ax.set_xlabel(chart.age[:1].upper() + chart.age[1:], fontsize=SIZE - 0.5, color=MUTED)
    ax.margins(y=0.22)
    return chart.style_axes(ax, "y", f" by {chart.age}")


def ranges(chart: ChartData, ax: Axes | None) -> Axes:
    """Draw what was expected as a dash on its range, and what came as a dot, with a ring if it is outside."""
    ax, positions = axes_for(ax, height=height_for(len(chart.words))), chart.positions()
    expected, came = (each.to_numpy() for each in chart.values())
    low, high = (chart.rows.frame[name].to_numpy() for name in chart.span)
    outside = (came < low) | (came > high)
    names = list(chart.columns.values())
    ax.hlines(positions, low, high, color=PALE, linewidth=7, label="Range")
    ax.plot(expected, positions, "|", color=DARK, markersize=11, markeredgewidth=2, label=names[0])
    ax.plot(came, positions, "o", color=INK, markersize=4.5, label=names[1])
    ring: dict[str, Any] = {"markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.6}
    if outside.any():
        ax.plot(came[outside], positions[outside], "o", color=MISSED, label="Outside the range", **ring)
    ends = np.nan_to_num(np.fmax(high, came))
    _annotate(ax, chart.words, zip(ends, positions, strict=True), (9, 0), va="center")
    _label_rows(ax, chart.rows.labels)
    ax.set_xlim(left=0.0)
    ax.margins(x=0.14)
    add_legend(ax)
    number = len(came)
    chart = replace(chart, rows=replace(chart.rows, key_title=""))
    return chart.style_axes(ax, end=f": inside the range {number - int(outside.sum())} of {number} times")


def running_share(chart: ChartData, ax: Axes | None) -> Axes:
    """Draw the first column as bars, and the second as a line with its own scale at the top."""
    ax, positions = axes_for(ax, height=height_for(len(chart.words)) + 0.3), chart.positions()
    values, shares = chart.values()
    names = list(chart.columns.values())
    ax.barh(positions, values.fillna(0.0), height=0.72, color=PALE, label=names[0])
    # The text is to the right of the axes, so that it does not cover the line.
    spots = ((1.0, position) for position in positions)
    _annotate(ax, chart.words, spots, (8, 0), xycoords=ax.get_yaxis_transform(), va="center")
    _label_rows(ax, chart.rows.labels)
    top, known = ax.twiny(), shares.dropna()
    top.plot(shares, positions, "o-", color=DARK, linewidth=1.4, markersize=3.5, label=names[1])
    top.set_xlim(min(0.0, *known, 0.0), max(1.05, *known, 1.05))
    top.xaxis.set_major_formatter(lambda value, _position: f"{value:.0%}".replace("-", "−"))
    top.tick_params(length=0, labelsize=SIZE, labelcolor=MUTED)
    top.set_xlabel(names[1], fontsize=SIZE - 0.5, color=MUTED)
    top.spines[:].set_visible(False)
    return chart.style_axes(ax)


def waterfall(chart: ChartData, ax: Axes | None) -> Axes:
    """
    Draw the steps from one figure to another as floating bars: one step per row or, for several columns, per column.

    The ends are points. Bars would be read by their length, which is wrong because the axis may not begin at 0.
    """
    names, steps, changes = _steps(chart)
    first, last = chart.ends or (0.0, math.nan)
    starts = first + np.concatenate([[0.0], np.cumsum(steps)])
    positions = np.arange(len(names) + 2)
    ax = axes_for(ax, height=height_for(len(positions)))
    falls = steps < 0
    for chosen, colour, name in ((~falls, DARK, "Rise"), (falls, PALE, "Fall")):
        if (steps[chosen] != 0).any():
            style: dict[str, Any] = {"color": colour, "edgecolor": DARK, "linewidth": 0.8, "label": name}
            ax.barh(positions[1:-1][chosen], steps[chosen], left=starts[:-1][chosen], height=0.6, **style)
    ax.vlines(starts, positions[:-1], positions[1:], **_LINE)
    ax.plot([first, last], positions[[0, -1]], "D", color=INK, markersize=6.5)
    values = np.array([first, *np.fmax(starts[:-1], starts[1:]), last])
    shown = [_end(chart, first), *changes, _end(chart, last)]
    _annotate(ax, shown, zip(np.nan_to_num(values), positions, strict=True), (8, 0), va="center")
    _label_rows(ax, ["Before", *names, "After"])
    # Bars and points need a margin on both sides, because the axis does not begin at 0.
    ax.use_sticky_edges = False
    ax.margins(x=0.18)
    if ax.get_legend_handles_labels()[0]:
        add_legend(ax)
    return chart.style_axes(ax)


def _end(chart: ChartData, value: float) -> str:
    """Format an end of a waterfall; money in full, as the changes beside it."""
    return money(value) if chart.unit is format_money else chart.unit(value)


def _steps(chart: ChartData) -> tuple[list[str], Any, list[str]]:
    frame, columns = chart.rows.frame, list(chart.columns)
    if len(columns) > 1:
        names, steps = list(chart.columns.values()), frame[columns].sum(skipna=False).to_numpy()
    else:
        names, steps = list(chart.rows.labels), frame[columns[0]].to_numpy()
    found = measure(columns[0])
    unit = found.unit if found else "count"
    words = [format_number(each, unit) for each in steps]
    signed = [
        f"+{text}" if each > 0 and text[:1].isdigit() and any(digit in text for digit in "123456789") else text
        for each, text in zip(steps, words, strict=True)
    ]
    return names, np.nan_to_num(steps), signed


KINDS: dict[str, Callable[[ChartData, Axes | None], Axes]] = {
    each.__name__: each for each in (bars, stacks, points, ages, ranges, running_share, waterfall)
}
"""The functions that draw, by the kind of chart that analyses declare."""


def _annotate(ax: Axes, words: Sequence[str], spots: Any, offset: tuple[int, int], **how: Any) -> None:
    for text, spot in zip(words, spots, strict=True):
        ax.annotate(text, spot, offset, **{"textcoords": "offset points", "fontsize": SIZE, "color": INK, **how})


def _label_rows(ax: Axes, labels: Sequence[str]) -> None:
    ax.set_yticks(np.arange(len(labels)), [shorten_label(label.replace("\n", " ")) for label in labels])
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)


def _shades(count: int) -> list[str]:
    positions = np.linspace(0, len(RAMP) - 1, count).round().astype(int)
    return [RAMP[position] for position in positions]
