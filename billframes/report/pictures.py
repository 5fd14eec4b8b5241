"""Draw charts as pictures for the page: an SVG inside an `img`, and another one for the width of a phone."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from billframes.plots.axes import NARROW, fit_narrow, shorten_labels
from billframes.plots.svg import svg_address

# Inches, wider than the text on paper, so that text in charts has about the size of text in tables, also on a screen.
_WIDTH = 9.3
# Pixels. A page up to this width is shown on a phone; paper is wider.
_PHONE_WIDTH = 640
# A chart with so many bars is lower than a quarter of a page. A higher one could leave that much empty before it.
_MOST_BARS = 11

Draw = Callable[..., Axes]


def bars_height(rows: pd.DataFrame) -> float:
    """Return the height in inches of a chart with one horizontal bar per row, with legend and axis."""
    return 0.78 + 0.16 * max(len(rows), 2)


def picture(draw: Draw, rows: pd.DataFrame, alt: str, *, height: float, currency: str = "") -> Markup:
    """Draw a result for wide pages and for phones, and return both pictures."""
    wide = svg_address(_axes(draw, rows, _WIDTH, height, currency))
    narrow = _axes(draw, rows, NARROW, height + 0.5, currency)
    fit_narrow(narrow)
    return Markup(
        '<picture><source media="(max-width: {}px)" srcset="{}"><img class="chart" src="{}" alt="{}"></picture>'
    ).format(_PHONE_WIDTH, svg_address(narrow), wide, alt)


def side_by_side(draw: Draw, rows: pd.DataFrame, alt: str, *, currency: str = "") -> Markup:
    """
    Draw the first and the last rows of a long result side by side, and a short result as one picture.

    On a phone the two pictures are below each other. Rows between them are only in the table.
    """
    if len(rows) <= _MOST_BARS:
        return picture(draw, rows, alt, height=bars_height(rows), currency=currency)
    count = min(_MOST_BARS, (len(rows) + 1) // 2)
    halves = [rows.iloc[:count], rows.iloc[max(count, len(rows) - count) :]]
    axes = [_axes(draw, half, _WIDTH / 2, bars_height(halves[0]), currency) for half in halves]
    left, right = (f(each.get_xlim()[end] for each in axes) for f, end in ((min, 0), (max, 1)))
    for each in axes:
        each.set_xlim(left, right)
        # Bars have the same height in both halves, even if the second has one row less.
        each.set_ylim(len(halves[0]) - 0.4, -0.6)
        shorten_labels(each)
    images = Markup("").join(
        Markup('<img class="chart" src="{}" alt="{}">').format(svg_address(ax), alt) for ax in axes
    )
    return Markup('<div class="halves">{}</div>').format(images)


def _axes(draw: Draw, rows: pd.DataFrame, width: float, height: float, currency: str) -> Axes:
    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("none")
    ax = draw(rows, figure.add_subplot(), currency=currency)
    # The section's heading or caption is the title.
    ax.set_title("", loc="left")
    return ax
