"""Billing lag as a chart: days from work to invoice."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes.analysis._reading import rows_of
from billframes.plots._points import points

__all__ = ["billing_lag"]


def billing_lag(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.billing_lag`: the mean entry's days and, beside it, days weighted by worth.

    Where rates are hidden, the weights are hours. A row's words are its mean.

    Parameters
    ----------
    result : frame
        With `mean_lag_days`, `amount_weighted_lag_days` and `hours_weighted_lag_days`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `billing_lag`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"client_name": ["Acme"], "mean_lag_days": [30.0], "amount_weighted_lag_days": [41.5],
    ...                        "hours_weighted_lag_days": [40.0]})
    >>> [text.get_text() for text in billing_lag(result).texts]
    ['30.0 days']
    """
    needs = ("mean_lag_days", "amount_weighted_lag_days", "hours_weighted_lag_days")
    rows = rows_of(result, needs, "billing_lag")
    known = bool(rows.frame["amount_weighted_lag_days"].notna().any())
    weights = (
        {"amount_weighted_lag_days": "Weighted by worth"} if known else {"hours_weighted_lag_days": "Weighted by hours"}
    )
    columns = {"mean_lag_days": "Mean entry", **weights}
    return points(rows, columns, ax, title=f"Days from work to invoice{rows.by}")
