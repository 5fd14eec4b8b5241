"""Utilization as a chart: client hours on available hours."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes.analysis._reading import rows_of
from billframes.plots._axes import hours, percent
from billframes.plots._bars import PartOfWhole, drawn

__all__ = ["utilization"]


def utilization(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.utilization`: client hours (dark) on available hours (pale), and their ratio.

    Months, quarters and years stand side by side; anything else is a row each, in the result's order. Where
    available hours are missing, as by client, only client hours are drawn.

    Parameters
    ----------
    result : frame
        With `client_hours`, `capacity_hours` and `utilization`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`: `bf.plots.utilization(result).figure.savefig("utilization.png")`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `utilization`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"user_id": ["u1", "u2"], "user_name": ["Ada", "Ben"], "client_hours": [132.0, 0.0],
    ...                        "capacity_hours": [176.0, 176.0], "utilization": [0.75, 0.0]})
    >>> ax = utilization(result)
    >>> [text.get_text() for text in ax.texts]
    ['75.0%', '0.0%']
    >>> ax.get_title(loc="left")
    'Client hours and available hours by timekeeper'
    """
    rows = rows_of(result, ("client_hours", "capacity_hours", "utilization"), "utilization")
    frame = rows.frame
    known = bool(frame["capacity_hours"].notna().any())
    words = frame["utilization"].map(percent) if known else frame["client_hours"].map(hours)
    data = PartOfWhole(
        rows.labels,
        frame["capacity_hours"],
        frame["client_hours"],
        words.tolist(),
        ("Available hours", "Client hours"),
    )
    title = f"Client hours{' and available hours' if known else ''}{rows.by}"
    return drawn(rows, data, ax, title=title, unit=hours)
