"""Origination as a chart: fees by who brought the matters in."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._reading import rows_of
from billframes.plots._axes import money
from billframes.plots._stacks import shades, stacked

__all__ = ["origination"]


def origination(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.origination`: billed time fees (pale) and fixed fees (dark), and their sum.

    Credits lie to the left of zero.

    Parameters
    ----------
    result : frame
        With `billed_amount`, `fixed_fee_amount` and `fees_amount`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `origination`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"originator_name": ["Ada"], "billed_amount": [1000.0], "fixed_fee_amount": [500.0],
    ...                        "fees_amount": [1500.0]})
    >>> [text.get_text() for text in origination(result).texts]
    ['1,500']
    """
    columns = ("billed_amount", "fixed_fee_amount")
    rows = rows_of(result, (*columns, "fees_amount"), "origination")
    words = [show(value, "money") for value in rows.frame["fees_amount"]]
    parts = dict(zip(("Billed time", "Fixed fees"), shades(4)[1:3], strict=True))
    return stacked(rows, columns, parts, words, ax, title=f"Fees{rows.by}", unit=money)
