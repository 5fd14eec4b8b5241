"""Effective rates as a chart: what an hour brought on what it is worth."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._reading import rows_of
from billframes.plots._axes import money
from billframes.plots._bars import PartOfWhole, drawn

__all__ = ["effective_rates"]


def effective_rates(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.effective_rates`: what an hour was billed at (dark) on its rate (pale).

    A bar's words are what it was billed at. With rates hidden only that is drawn.

    Parameters
    ----------
    result : frame
        With `effective_rate` and `worked_rate`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `effective_rates`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"user_name": ["Ada"], "effective_rate": [320.4], "worked_rate": [400.0]})
    >>> [text.get_text() for text in effective_rates(result).texts]
    ['320']
    """
    rows = rows_of(result, ("effective_rate", "worked_rate"), "effective_rates")
    frame = rows.frame
    words = [show(value, "rate") for value in frame["effective_rate"]]
    names = ("Worth of an hour at its rates", "Billed an hour")
    data = PartOfWhole(rows.labels, frame["worked_rate"], frame["effective_rate"], words, names)
    return drawn(rows, data, ax, title=f"What an hour of billable time brought{rows.by}", unit=money)
