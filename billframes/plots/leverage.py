"""Leverage as a chart: principals' client hours beside everyone else's."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._reading import rows_of
from billframes.plots._axes import hours
from billframes.plots._stacks import shades, stacked

__all__ = ["leverage"]


def leverage(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.leverage`: hours of principals (pale), of others, and of unknown role (dark).

    A bar's words are the others' hours for each hour of a principal; people of unknown role are in neither.

    Parameters
    ----------
    result : frame
        With `principal_hours`, `non_principal_hours`, `unknown_role_hours` and `hours_leverage`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `leverage`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"client_name": ["Acme"], "principal_hours": [10.0], "non_principal_hours": [25.0],
    ...                        "unknown_role_hours": [0.0], "hours_leverage": [2.5]})
    >>> [text.get_text() for text in leverage(result).texts]
    ['2.50']
    """
    columns = ("principal_hours", "non_principal_hours", "unknown_role_hours")
    rows = rows_of(result, (*columns, "hours_leverage"), "leverage")
    words = [show(value, "multiple") for value in rows.frame["hours_leverage"]]
    parts = dict(zip(("Principals", "Others", "Unknown role"), shades(3), strict=True))
    title = f"Client hours of principals and others, and their ratio{rows.by}"
    return stacked(rows, columns, parts, words, ax, title=title, unit=hours)
