"""Timekeeping lag as a chart: days from the work to its entry."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._reading import rows_of
from billframes.plots._points import points

__all__ = ["timekeeping_lag"]


def timekeeping_lag(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.timekeeping_lag`: the median entry's days and the 90th percentile's.

    A row's words are its late share: entries made more than 7 days after the work.

    Parameters
    ----------
    result : frame
        With `median_lag_days`, `p90_lag_days` and `late_ratio`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `timekeeping_lag`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"user_name": ["Ada"], "median_lag_days": [1.0], "p90_lag_days": [9.0],
    ...                        "late_ratio": [0.125]})
    >>> [text.get_text() for text in timekeeping_lag(result).texts]
    ['12.5% late']
    """
    rows = rows_of(result, ("median_lag_days", "p90_lag_days", "late_ratio"), "timekeeping_lag")
    words = [f"{show(value, 'ratio')} late" if value == value else "–" for value in rows.frame["late_ratio"]]
    columns = {"median_lag_days": "Median", "p90_lag_days": "90th percentile"}
    return points(rows, columns, ax, title=f"Days from work to entry{rows.by}", words=words)
