"""Contribution as a Pareto chart: fees from the largest on, and their running share."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._reading import Rows, rows_of
from billframes.plots._axes import DARK, INK, MUTED, PALE, SIZE, axes_for, finish, money, percent
from billframes.plots._bars import height_for, label_rows

__all__ = ["contribution"]


def contribution(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.contribution`: fees (bars) and their running share (line, read at the top).

    Rows are in the result's order, largest fees first. Words at the right are a row's fees and their share.

    Parameters
    ----------
    result : frame
        With `fees_amount`, `share` and `running_share`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `contribution`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"client_name": ["Acme", "Bolt"], "fees_amount": [750.0, 250.0], "share": [0.75, 0.25],
    ...                        "running_share": [0.75, 1.0]})
    >>> [text.get_text() for text in contribution(result).texts]
    ['750 · 75.0%', '250 · 25.0%']
    """
    rows = rows_of(result, ("fees_amount", "share", "running_share"), "contribution")
    ax = axes_for(ax, height=height_for(len(rows.frame)) + 0.3)
    _bars(ax, rows)
    _line(ax, rows)
    return finish(ax, f"Fees (bars) and running share (line){rows.by}", values="x", unit=money)


def _bars(ax: Axes, rows: Rows) -> None:
    frame = rows.frame
    places = np.arange(len(frame))
    ax.barh(places, frame["fees_amount"].astype("float64").fillna(0.0), height=0.72, color=PALE, label="Fees")
    for place, fees, share in zip(places, frame["fees_amount"], frame["share"], strict=True):
        # Beyond the axes, where the line does not run.
        ax.annotate(
            f"{show(fees, 'money')} · {percent(share)}",
            (1.0, place),
            (8, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            va="center",
            fontsize=SIZE,
            color=INK,
        )
    label_rows(ax, rows.labels)


def _line(ax: Axes, rows: Rows) -> None:
    """Draw the running share against a scale of its own, at the top."""
    shares = rows.frame["running_share"].astype("float64")
    top = ax.twiny()
    top.plot(shares, np.arange(len(shares)), "o-", color=DARK, linewidth=1.4, markersize=3.5, label="Running share")
    known = shares.dropna()
    top.set_xlim(min(0.0, *known, 0.0), max(1.05, *known, 1.05))
    top.xaxis.set_major_formatter(lambda value, _position: f"{value:.0%}".replace("-", "−"))
    top.tick_params(length=0, labelsize=SIZE, labelcolor=MUTED)
    top.spines[:].set_visible(False)
