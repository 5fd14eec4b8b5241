"""Charts as SVG, for the report and the explorer: sharp on every screen, and with text that stays text."""

from __future__ import annotations

import base64
import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.layout_engine import ConstrainedLayoutEngine

# The SVG keeps text as text in the page's typeface. Matplotlib measures with DejaVu Sans, which is wider.
_TYPEFACE = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


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
