"""Bars for a part of a whole: lying for names, standing for months."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from billframes.analysis._reading import Rows
from billframes.plots._axes import DARK, INK, PALE, SIZE, axes_for, finish, legend

__all__ = ["PartOfWhole", "drawn", "height_for", "label_rows"]

# Longer names would leave no room for the bars.
LONGEST = 34


@dataclass(frozen=True)
class PartOfWhole:
    """
    What is drawn: for each label a whole, the part of it, and words.

    `whole` may be all missing, such as available hours by client; then only the part is drawn.
    """

    labels: Sequence[str]
    whole: pd.Series[float]
    part: pd.Series[float]
    words: Sequence[str]
    names: tuple[str, str]


def height_for(rows: int) -> float:
    """Inches that many lying bars need, with title, axis and legend."""
    return 1.1 + 0.27 * max(rows, 2)


def drawn(rows: Rows, data: PartOfWhole, ax: Axes | None, *, title: str, unit: Any) -> Axes:
    """Draw months, quarters and years side by side, anything else as a row each, on `ax` or on new axes."""
    if rows.over_time:
        ax = axes_for(ax)
        _standing(ax, data)
        return finish(ax, title, values="y", unit=unit)
    ax = axes_for(ax, height=height_for(len(rows.frame)))
    _lying(ax, data)
    return finish(ax, title, values="x", unit=unit)


def label_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Name the rows, the first at the top."""
    ax.set_yticks(np.arange(len(labels)), [_short(label.replace("\n", " ")) for label in labels])
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)


def _lying(ax: Axes, data: PartOfWhole) -> None:
    """Draw a row a label, the first at the top, with its words at the end of the bar."""
    places = np.arange(len(data.labels))
    whole, part = data.whole.fillna(0.0), data.part.fillna(0.0)
    if data.whole.notna().any():
        ax.barh(places, whole, height=0.72, color=PALE, label=data.names[0])
    ax.barh(places, part, height=0.4, color=DARK, label=data.names[1])
    ends = np.maximum(np.maximum(whole, part), 0.0)
    for place, end, words in zip(places, ends, data.words, strict=True):
        ax.annotate(words, (end, place), (5, 0), textcoords="offset points", va="center", fontsize=SIZE, color=INK)
    if (np.minimum(whole, part) < 0).any():
        ax.axvline(0, color="#999999", linewidth=0.8)
    label_rows(ax, data.labels)
    ax.margins(x=0.16)
    legend(ax)


def _standing(ax: Axes, data: PartOfWhole) -> None:
    """Draw a column a label, in the order given, with its words above."""
    places = np.arange(len(data.labels))
    whole, part = data.whole.fillna(0.0), data.part.fillna(0.0)
    if data.whole.notna().any():
        ax.bar(places, whole, width=0.74, color=PALE, label=data.names[0])
    ax.bar(places, part, width=0.42, color=DARK, label=data.names[1])
    tops = np.maximum(np.maximum(whole, part), 0.0)
    for place, top, words in zip(places, tops, data.words, strict=True):
        ax.annotate(
            words, (place, top), (0, 3), textcoords="offset points", ha="center", fontsize=SIZE - 1.0, color=INK
        )
    ax.set_xticks(places, list(data.labels))
    ax.set_xlim(-0.6, len(places) - 0.4)
    ax.margins(y=0.1)
    legend(ax)


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else f"{label[: LONGEST - 1].rstrip()}…"
