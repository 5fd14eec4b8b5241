"""Work in progress as a chart: its worth by age."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes.analysis._reading import rows_of
from billframes.plots._ages import buckets_of, by_age

__all__ = ["wip"]


def wip(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.wip`: a column a bucket, or for several rows a bar each, cut into buckets.

    Older is darker, and what is negative lies to the left of zero. A bar's words are its total.

    Parameters
    ----------
    result : frame
        With the buckets (`0-30`, `31-60`, …) and `total`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `wip`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"0-30": [60.0], "31-60": [30.0], "61+": [10.0], "total": [100.0]})
    >>> ax = wip(result)
    >>> [text.get_text().split() for text in ax.texts]
    [['60', '60.0%'], ['30', '30.0%'], ['10', '10.0%']]
    >>> ax.get_title(loc="left")
    'Work in progress by days since the work'
    """
    buckets = buckets_of(result, "wip")
    rows = rows_of(result, (*buckets, "total"), "wip")
    return by_age(rows, buckets, ax, what="Work in progress", age="days since the work")
