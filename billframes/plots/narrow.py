"""Charts for the width of a phone: the report and the explorer draw them anew, and this makes their text fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from billframes.plots.drawing import SHORT, shortened

__all__ = ["NARROW", "cut_labels", "fit_narrow"]

# Inches; on a phone, text in charts then has the size of the text in tables.
NARROW = 4.4


def fit_narrow(ax: Axes) -> None:
    """Make what was drawn fit a phone: names are cut, months and what stands above them are turned."""
    if (legend := ax.get_legend()) is not None:
        texts = [each.get_text() for each in legend.get_texts()]
        handles: Any = legend.legend_handles
        size = legend.get_texts()[0].get_fontsize()
        figure: Any = ax.figure
        # From the picture's left side, not from the axes', which names of rows push to the right.
        ax.legend(
            handles,
            texts,
            loc="lower left",
            bbox_to_anchor=(0.02, 1.0),
            bbox_transform=blended_transform_factory(figure.transFigure, ax.transAxes),
            ncols=3,
            frameon=False,
            fontsize=size,
            handlelength=1.0,
            columnspacing=0.9,
            borderpad=0.0,
        )
    months = [label.get_text() for label in ax.get_xticklabels()]
    if any("\n" in each for each in months):
        ax.set_xticks(ax.get_xticks(), [each.replace("\n", " ") for each in months], rotation=90)
        for text in ax.texts:
            text.set(rotation=90, va="bottom")
        ax.margins(y=0.42)
    elif all(each.endswith(" days") for each in months[1:]):
        # The axis' title says that they are days.
        ax.set_xticks(ax.get_xticks(), [each.removesuffix(" days") for each in months])
    cut_labels(ax)


def cut_labels(ax: Axes) -> None:
    """Cut the names of rows that are long."""
    labels: Sequence[str] = [label.get_text() for label in ax.get_yticklabels()]
    if ax.yaxis_inverted():
        ax.set_yticks(ax.get_yticks(), [shortened(each, SHORT) for each in labels])
