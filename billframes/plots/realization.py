"""Realization as a chart: billed fees on the worth of the work."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes.analysis._reading import rows_of
from billframes.plots._axes import money, percent
from billframes.plots._bars import PartOfWhole, drawn

__all__ = ["realization"]


def realization(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.realization`: billed fees (dark) on worked fees (pale), and their ratio.

    Months, quarters and years stand side by side; anything else is a row each, in the result's order. With
    rates hidden only billed fees are drawn.

    Parameters
    ----------
    result : frame
        With `worked_amount`, `billed_amount` and `billing_realization`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `realization`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"month": ["2026-09", "2026-10"], "worked_amount": [1000.0, 0.0],
    ...                        "billed_amount": [800.0, -50.0], "billing_realization": [0.8, None]})
    >>> ax = realization(result)
    >>> [text.get_text() for text in ax.texts]
    ['80.0%', '–']
    >>> ax.get_title(loc="left")
    'Worked and billed fees by month'
    """
    rows = rows_of(result, ("worked_amount", "billed_amount", "billing_realization"), "realization")
    frame = rows.frame
    known = bool(frame["worked_amount"].notna().any())
    words = frame["billing_realization"].map(percent) if known else frame["billed_amount"].map(money)
    data = PartOfWhole(
        rows.labels, frame["worked_amount"], frame["billed_amount"], words.tolist(), ("Worked", "Billed")
    )
    title = f"{'Worked and billed' if known else 'Billed'} fees{rows.by}"
    return drawn(rows, data, ax, title=title, unit=money)
