"""Charts as pictures that need nothing but the page they are on."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["WIDTH", "picture"]

# Inches: a little more than the text on paper is wide, so that type in charts is the size of that in tables.
WIDTH = 8.2
# Text stays text, in the page's own typeface; the figure is laid out with one that runs wider.
_TYPEFACE = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


def picture(draw: Callable[[Any, Axes], Axes], rows: pd.DataFrame, alt: str, *, height: float) -> Markup:
    """
    Draw a result and return it as an `img` element that holds the picture itself.

    Parameters
    ----------
    draw : callable
        One of `billframes.plots`.
    rows : DataFrame
    alt : str
        What the picture shows, for those who can't see it.
    height : float
        In inches.
    """
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    ax = draw(rows, figure.add_subplot())
    # The page has the title as the section's heading or caption.
    ax.set_title("", loc="left")
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "billframes"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    svg = re.sub(r"'DejaVu Sans',[^;\"]*sans-serif", _TYPEFACE, buffer.getvalue())
    data = base64.b64encode(svg.encode()).decode()
    return Markup('<img class="chart" src="data:image/svg+xml;base64,{}" alt="{}">').format(data, alt)
