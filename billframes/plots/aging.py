"""Receivables as a chart: balances by days past due."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes.analysis._reading import rows_of
from billframes.plots._ages import buckets_of, by_age

__all__ = ["aging"]


def aging(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.aging`: a column a bucket, or for several rows a bar each, cut into buckets.

    Older is darker. Credits lie to the left of zero. A bar's words are its total.

    Parameters
    ----------
    result : frame
        With the buckets (`current`, `1-30`, …) and `total`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `aging`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"current": [60.0], "1-30": [30.0], "31-60": [0.0], "61-90": [-5.0], "91+": [15.0],
    ...                        "total": [100.0]})
    >>> ax = aging(result)
    >>> [text.get_text().split() for text in ax.texts]
    [['60', '60.0%'], ['30', '30.0%'], ['0', '0.0%'], ['−5', '−5.0%'], ['15', '15.0%']]
    >>> ax.get_title(loc="left")
    'Receivables by days past due'
    """
    buckets = buckets_of(result, "aging")
    past = "past due" if "current" in buckets else "since the invoice date"
    return by_age(rows_of(result, (*buckets, "total"), "aging"), buckets, ax, what="Receivables", age=f"days {past}")
