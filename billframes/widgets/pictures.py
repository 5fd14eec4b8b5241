"""Charts of the explorer's tabs: an SVG, which is sharp on every screen, and the buttons over its bars."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from billframes.plots.axes import NARROW, fit_narrow
from billframes.plots.drawing import height_for
from billframes.widgets.html import ON_CLICK

# Inches. At the width that the style sheet gives to a chart, its text has the size of text in tables.
_WIDTH, _HEIGHT = 8.0, 3.4
# The SVG keeps text as text in the page's typeface. Matplotlib measures with DejaVu Sans, which is wider.
_TYPEFACE = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"

Place = tuple[float, float]
"""The start and the size of a bar, as fractions of the picture's height or, for vertical bars, of its width."""


def picture(
    draw: Callable[[Axes], Any], bars: int, *, horizontal: bool, alt: str, narrow: bool = False
) -> tuple[str, list[Place]]:
    """Draw a chart, for a phone if `narrow` is set, and return it with the places of its bars."""
    figure = Figure(figsize=(NARROW if narrow else _WIDTH, height_for(bars) if horizontal else _HEIGHT))
    figure.set_layout_engine("none")
    axes = figure.add_subplot()
    draw(axes)
    # The headings above the chart say the same.
    axes.set_title("", loc="left")
    if narrow:
        fit_narrow(axes)
    image = f'<img class="bf-chart" alt="{escape(alt)}" src="{svg_address(axes)}">'
    return image, [_place(axes, bar, horizontal=horizontal) for bar in range(bars)]


def _place(axes: Axes, bar: int, *, horizontal: bool) -> Place:
    whole = axes.get_figure(root=True).bbox  # type: ignore[union-attr]
    ends = axes.transData.transform([(bar - 0.45, bar - 0.45), (bar + 0.45, bar + 0.45)])
    if horizontal:
        top, bottom = sorted(1 - end / whole.height for end in ends[:, 1])
        return float(top), float(bottom - top)
    left, right = sorted(end / whole.width for end in ends[:, 0])
    return float(left), float(right - left)


def bar_buttons(labels: Mapping[int, str], places: Mapping[int, Place], marked: int | None, *, horizontal: bool) -> str:
    """Return transparent buttons over the bars of these rows, which show the records behind them; one can be marked."""
    start, size, kind = ("top", "height", "bf-lying") if horizontal else ("left", "width", "bf-standing")
    buttons = "".join(
        f'<button type="button" class="bf-hit {kind}{" bf-marked" if row == marked else ""}" data-ask="open {row}" '
        f'style="{start}:{places[row][0]:.3%};{size}:{places[row][1]:.3%}" '
        f'title="{(words := escape(f"Show the rows behind {label}"))}" aria-label="{words}"></button>'
        for row, label in labels.items()
    )
    return f"<div {ON_CLICK}>{buttons}</div>"


def svg_address(ax: Axes) -> str:
    """Lay out the axes' figure, and return it as an address that contains the SVG."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "billframes"}):
        figure: Any = ax.figure
        # Saving a figure that has a layout engine draws it twice. A canvas of SVG measures text in points.
        FigureCanvasSVG(figure)
        figure.dpi = 72
        ConstrainedLayoutEngine().execute(figure)
        _keep_legend_inside(ax)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = re.sub(r"'DejaVu Sans',[^;\"]{0,200}sans-serif", _TYPEFACE, buffer.getvalue())
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _keep_legend_inside(ax: Axes) -> None:
    """Move a legend to the left that would be cut off: it begins with the axes, which long names push to the right."""
    figure: Any = ax.figure
    legend = ax.get_legend()
    if legend and (beyond := legend.get_window_extent().x1 - figure.bbox.x1) > 0:
        legend.set_bbox_to_anchor((-beyond / ax.bbox.width, 1.0), ax.transAxes)
