"""Lock-up as a chart: days of fees tied up in work in progress and in receivables."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._show import MISSING, show
from billframes.analysis._reading import rows_of
from billframes.plots._axes import hours
from billframes.plots._stacks import shades, stacked

__all__ = ["lockup"]


def lockup(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.lockup`: days of work in progress (pale) and of receivables (dark).

    A bar's words are the days of both. Several results under each other, such as a row a month with `month` in front,
    are a bar each.

    Parameters
    ----------
    result : frame
        With `wip_days`, `receivable_days` and `lockup_days`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `lockup`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"wip_days": [50.0], "receivable_days": [30.0], "lockup_days": [80.0]})
    >>> [text.get_text() for text in lockup(result).texts]
    ['80.0 days']
    """
    columns = ("wip_days", "receivable_days")
    rows = rows_of(result, (*columns, "lockup_days"), "lockup")
    words = [f"{show(value, 'days')} days" if value == value else MISSING for value in rows.frame["lockup_days"]]
    parts = dict(zip(("Work in progress", "Receivables"), shades(4)[1:3], strict=True))
    return stacked(rows, columns, parts, words, ax, title=f"Days of fees tied up{rows.by}", unit=hours)
