"""Axes that notebooks show, and the style of all charts, also for the width of a phone.

Notebooks do not show a figure that was made without pyplot, so these axes have their own picture. The explorer draws
charts a second time for phones; `fit_narrow` makes their text fit.
"""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import blended_transform_factory

from billframes._shared.format import MINUS, MISSING, format_number, format_rounded
from billframes.errors import unknown_name

# Shades of one blue differ in lightness, so they can be distinguished by colour-blind readers and in black and white.
DARK = "#1f4e79"
PALE = "#c9d7e4"
RAMP = ("#dfe8f0", "#b3c8da", "#7fa3c3", "#457aa5", "#12324f")
INK = "#222222"
MUTED = "#5a5a5a"
MISSED = "#b3261e"
SIZE = 9.0
_WIDTH = 7.2
# Below this many hours or days, axes have ticks at halves.
SMALL = 20
# The most characters of a name beside a bar, and of a name in narrow charts.
LONGEST = 34
SHORT = 22
# The end of a label that tells it from others: the reference of a name that repeats, or another key.
_END = re.compile(r" (\([^()]+\)|· [^·]+)$")


class _WholeFigure(Figure):
    """A figure that is saved with its whole title and legend: long names push the axes, and so both, to the right."""

    def savefig(self, fname: Any, *, transparent: bool | None = None, **kwargs: Any) -> None:
        """Save the figure as matplotlib does, by default with `bbox_inches="tight"`."""
        super().savefig(fname, transparent=transparent, **{"bbox_inches": "tight", **kwargs})


class _PngAxes(Axes):
    """Axes that notebooks show as a picture. Their figure is what can be saved."""

    # Hidden from type checkers, which would accept any name.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise unknown_name("The chart", name, ["savefig"], {"savefig": "figure.savefig"})

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        cast("Figure", self.figure).savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        return buffer.getvalue()


def axes_for(ax: Axes | None, *, height: float = 3.2) -> Axes:
    """Return `ax`, or axes on a new figure of this height in inches."""
    if ax is not None:
        return ax
    figure = _WholeFigure(figsize=(_WIDTH, height), layout="constrained")
    return figure.add_subplot(axes_class=_PngAxes)


def style_axes(ax: Axes, title: str, *, values: str, unit: Any, name: str = "") -> Axes:
    """Set the title of axes and a plain style; `unit` formats the values of the axis `values`, titled `name`."""
    pad = 24 if ax.get_legend() else 10
    ax.set_title(title, loc="left", fontsize=SIZE + 1.5, color=INK, fontweight="bold", pad=pad)
    axis, other = (ax.xaxis, ax.yaxis) if values == "x" else (ax.yaxis, ax.xaxis)
    axis.set_major_formatter(FuncFormatter(lambda value, _position: unit(value, exact=True)))
    if values == "x" and unit is format_percent:
        # Matplotlib expects shorter labels, and would let those such as "90.75%" overlap.
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]))
    axis.set_label_text(name, fontsize=SIZE - 0.5, color=MUTED)
    axis.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    other.grid(visible=False)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left" if values == "x" else "bottom"]].set_visible(values == "never")
    for spine in ax.spines.values():
        spine.set_color("#999999")
    ax.tick_params(length=0, labelsize=SIZE, labelcolor=INK)
    return ax


def add_legend(ax: Axes, **how: Any) -> None:
    """Add a legend in one line between the title and the chart; call it before `style_axes`."""
    style = {"frameon": False, "fontsize": SIZE, "labelcolor": MUTED, "borderpad": 0.0, "borderaxespad": 0.5}
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 6, "handlelength": 1.2, "columnspacing": 1.1}
    ax.legend(**style | place | how)


def format_money(value: float, *, exact: bool = False) -> str:
    """
    Format money for an axis, large amounts in thousands or millions.

    Ticks need the `exact` digits, because 1.25m and 1.3m rounded would have the same label.
    """
    if value != value:
        return MISSING
    size = abs(value)
    unit, suffix = (1e6, "m") if size >= 1e6 else (1e3, "k") if size >= 1e3 else (1.0, "")
    text = _digits(size / unit, 1 if suffix else 0, exact)
    return f"{MINUS if value < 0 and text != '0' else ''}{text}{suffix}"


def format_hours(value: float, *, exact: bool = False) -> str:
    """Format hours or days for an axis; `exact` as in `format_money`."""
    if value != value:
        return MISSING
    return _digits(value, 1 if abs(value) < SMALL else 0, exact).replace("-", MINUS)


def format_percent(value: float, *, exact: bool = False) -> str:
    """Format a ratio as a percentage, and a missing ratio as a dash; `exact` as in `format_money`."""
    if not exact or value != value:
        return format_number(value, "ratio")
    return f"{_digits(value * 100, 0, exact).replace('-', MINUS)}%"


def _digits(value: float, places: int, exact: bool) -> str:
    """Format a number with at most this number of decimals; with all its decimals if `exact`."""
    text = format_rounded(value, f"{{:,.{_decimals(value, places) if exact else places}f}}")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimals(value: float, least: int) -> int:
    """Return the number of decimals that a tick needs, at least `least`."""
    return next((each for each in range(least, 6) if math.isclose(value, round(value, each), abs_tol=1e-9)), 6)


def shorten_label(label: str, longest: int = LONGEST) -> str:
    """Shorten a name that is too long for its place beside a bar; a reference or another key at its end stays."""
    if len(label) <= longest:
        return label
    end = _END.search(label)
    tail = end[0] if end and len(end[0]) <= longest // 2 else ""
    return f"{label[: longest - 1 - len(tail)].rstrip()}…{tail}"


# Width in inches of charts for phones, in which text has the same size as in tables.
NARROW = 4.4


def fit_narrow(ax: Axes) -> None:
    """Make a chart fit a phone: shorten names, and rotate months and the text above them."""
    if (legend := ax.get_legend()) is not None:
        figure: Any = ax.figure
        # The legend begins at the left side of the picture; the names of rows push the axes to the right.
        add_legend(
            ax,
            handles=legend.legend_handles,
            labels=[each.get_text() for each in legend.get_texts()],
            bbox_to_anchor=(0.02, 1.0),
            bbox_transform=blended_transform_factory(figure.transFigure, ax.transAxes),
            labelcolor=None,
            ncols=3,
            handlelength=1.0,
            columnspacing=0.9,
        )
    months = [label.get_text() for label in ax.get_xticklabels()]
    if any("\n" in each for each in months):
        ax.set_xticks(ax.get_xticks(), [each.replace("\n", " ") for each in months], rotation=90)
        for text in ax.texts:
            text.set(rotation=90, va="bottom")
        ax.margins(y=0.42)
    elif all(each.endswith(" days") for each in months[1:]):
        # The title of the axis already says "days".
        ax.set_xticks(ax.get_xticks(), [each.removesuffix(" days") for each in months])
    if ax.yaxis_inverted():
        ax.set_yticks(ax.get_yticks(), [shorten_label(each.get_text(), SHORT) for each in ax.get_yticklabels()])
