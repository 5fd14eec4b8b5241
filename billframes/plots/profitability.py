"""Profitability as a chart: what is left of the fees."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes.analysis._reading import rows_of
from billframes.plots._axes import money, percent
from billframes.plots._bars import PartOfWhole, drawn

__all__ = ["profitability"]


def profitability(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.profitability`: profit (dark) on fees (pale), and the margin.

    A loss lies to the left of zero. Without cost rates only fees are drawn.

    Parameters
    ----------
    result : frame
        With `fees_amount`, `profit_amount` and `margin_ratio`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `profitability`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"client_name": ["Acme", "Bolt"], "fees_amount": [1000.0, 500.0],
    ...                        "profit_amount": [400.0, -50.0], "margin_ratio": [0.4, -0.1]})
    >>> [text.get_text() for text in profitability(result).texts]
    ['40.0%', '−10.0%']
    """
    rows = rows_of(result, ("fees_amount", "profit_amount", "margin_ratio"), "profitability")
    frame = rows.frame
    words = [percent(value) for value in frame["margin_ratio"]]
    data = PartOfWhole(rows.labels, frame["fees_amount"], frame["profit_amount"], words, ("Fees", "Profit"))
    return drawn(rows, data, ax, title=f"Fees, profit and margin{rows.by}", unit=money)
