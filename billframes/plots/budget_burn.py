"""Budgets as a chart: what is used of each, by how far it is billed."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from billframes.analysis._reading import rows_of
from billframes.plots._axes import INK, legend, money, percent
from billframes.plots._stacks import shades, stacked

__all__ = ["budget_burn"]

_PARTS = {
    "billed_amount": "Billed time",
    "fixed_fee_amount": "Fixed fees",
    "prebill_amount": "On prebills",
    "unbilled_amount": "Unbilled",
    "unknown_amount": "Unknown invoices",
}
_RARE = ("fixed_fee_amount", "unknown_amount")


def budget_burn(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.budget_burn`: billed, on prebills and unbilled, and the budget as a black mark.

    A bar's words are used ÷ budget. What is on invoices that were not passed is drawn where there is any.

    Parameters
    ----------
    result : frame
        With `budget_amount`, `billed_amount`, `fixed_fee_amount`, `prebill_amount`, `unbilled_amount`, `unknown_amount`
        and `budget_burn`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `budget_burn`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"matter_name": ["Acme v. Bolt"], "budget_amount": [1000.0], "billed_amount": [500.0],
    ...                        "fixed_fee_amount": [0.0], "prebill_amount": [200.0], "unbilled_amount": [100.0],
    ...                        "unknown_amount": [0.0], "budget_burn": [0.8]})
    >>> [text.get_text() for text in budget_burn(result).texts]
    ['80.0%']
    """
    rows = rows_of(result, ("budget_amount", *_PARTS, "budget_burn"), "budget_burn")
    frame = rows.frame
    drawn = {name: title for name, title in _PARTS.items() if name not in _RARE or frame[name].fillna(0.0).any()}
    parts = dict(zip(drawn.values(), shades(len(drawn))[::-1], strict=True))
    words = [percent(value) for value in frame["budget_burn"]]
    ax = stacked(rows, tuple(drawn), parts, words, ax, title=f"Budget used{rows.by}", unit=money, reach="budget_amount")
    budgets, places = frame["budget_amount"].astype("float64"), np.arange(len(frame))
    # A pale edge, for in print the mark is as dark as what is billed.
    edge = [withStroke(linewidth=4.2, foreground="white")]
    ax.vlines(budgets, places - 0.42, places + 0.42, color=INK, linewidth=2.2, label="Budget", path_effects=edge)
    legend(ax)
    return ax
