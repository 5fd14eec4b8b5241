"""Axes that show themselves in a notebook, and how all charts look.

A figure made without pyplot is shown by nobody, so these axes bring their own picture; in return nothing global
is changed and no figure stays open.
"""

from __future__ import annotations

import io
from typing import Any, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from billframes._show import MINUS, MISSING, format_number

__all__ = ["DARK", "INK", "MUTED", "PALE", "RAMP", "SIZE", "axes_for", "finish", "hours", "legend", "money", "percent"]

# Shades of one blue differ in lightness, so colour-blind readers and black-and-white prints show the difference.
DARK = "#1f4e79"
PALE = "#c9d7e4"
RAMP = ("#dfe8f0", "#b3c8da", "#7fa3c3", "#457aa5", "#12324f")
INK = "#222222"
MUTED = "#5a5a5a"
SIZE = 9.0
# Below this many hours or days, axes have ticks at halves.
SMALL = 20


class _ShownAxes(Axes):
    """Axes that a notebook shows as a picture."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        figure = cast("Figure", self.figure)
        figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", metadata={"Software": None})
        return buffer.getvalue()


def axes_for(ax: Axes | None, *, width: float = 7.2, height: float = 3.2) -> Axes:
    """Return `ax`, or axes on a new figure of that size in inches."""
    if ax is not None:
        return ax
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot(axes_class=_ShownAxes)


def finish(ax: Axes, title: str, *, values: str, unit: Any, name: str = "") -> Axes:
    """
    Give axes their title and a quiet frame.

    Parameters
    ----------
    ax : Axes
    title : str
    values : {"x", "y"}
        The axis that values are read from.
    unit : callable
        Formats a value of that axis: `hours`, `money` or `percent`.
    name : str
        The axis' own title: the unit that values are in.
    """
    pad = 24 if ax.get_legend() else 10
    ax.set_title(title, loc="left", fontsize=SIZE + 1.5, color=INK, fontweight="bold", pad=pad)
    axis, other = (ax.xaxis, ax.yaxis) if values == "x" else (ax.yaxis, ax.xaxis)
    axis.set_major_formatter(FuncFormatter(lambda value, _position: unit(value)))
    axis.set_label_text(name, fontsize=SIZE - 0.5, color=MUTED)
    axis.grid(visible=True, color="#e4e4e4", linewidth=0.6)
    other.grid(visible=False)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left" if values == "x" else "bottom"]].set_visible(values == "never")
    for spine in ax.spines.values():
        spine.set_color("#999999")
    ax.tick_params(length=0, labelsize=SIZE, labelcolor=INK)
    return ax


def legend(ax: Axes) -> None:
    """Say what the colours are, in one line between title and chart; before `finish`."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=6,
        frameon=False,
        fontsize=SIZE,
        labelcolor=MUTED,
        handlelength=1.2,
        columnspacing=1.1,
        borderpad=0.0,
        borderaxespad=0.5,
    )


def money(value: float) -> str:
    """
    Money on an axis, in thousands or millions where it is large.

    Examples
    --------
    >>> [money(value) for value in (0, 950, 12_500, 240_000, -2_000, 1_500_000)]
    ['0', '950', '12.5k', '240k', '−2k', '1.5m']
    """
    if value != value:
        return MISSING
    size = abs(value)
    unit, suffix = (1e6, "m") if size >= 1e6 else (1e3, "k") if size >= 1e3 else (1.0, "")
    text = f"{size / unit:,.1f}".removesuffix(".0") if suffix else f"{size:,.0f}"
    return f"{MINUS if value < 0 and text != '0' else ''}{text}{suffix}"


def hours(value: float) -> str:
    """
    Hours, or days, on an axis.

    Examples
    --------
    >>> [hours(value) for value in (0, 2.5, 1250.4)]
    ['0', '2.5', '1,250']
    """
    if value != value:
        return MISSING
    text = f"{value:,.1f}".removesuffix(".0") if abs(value) < SMALL else f"{value:,.0f}"
    return text.replace("-", MINUS)


def percent(value: float) -> str:
    """
    Show a ratio as a percentage; a dash where it is missing.

    Examples
    --------
    >>> [percent(value) for value in (0.745, 1.0, float("nan"))]
    ['74.5%', '100.0%', '–']
    """
    return format_number(value, "ratio")
