"""Fixed fees as a chart: what they bring on what their hours are worth."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._show import show
from billframes.analysis._reading import rows_of
from billframes.plots._axes import money, percent
from billframes.plots._bars import PartOfWhole, drawn

__all__ = ["fixed_fee_realization"]


def fixed_fee_realization(result: Any, ax: Axes | None = None) -> Axes:
    """
    Draw a result of `billframes.fixed_fee_realization`: fees (dark) on their hours at standard rates (pale).

    A bar's words are fees ÷ standard, or, where standard rates are missing, what an hour brought.

    Parameters
    ----------
    result : frame
        With `fee_amount`, `standard_amount`, `fixed_fee_realization` and `effective_rate`; of any engine.
    ax : Axes, optional
        Where to draw; a new figure, outside pyplot, where it is not given.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame is no result of `fixed_fee_realization`.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"client_name": ["Acme", "Bolt"], "fee_amount": [800.0, 500.0],
    ...                        "standard_amount": [1000.0, None], "fixed_fee_realization": [0.8, None],
    ...                        "effective_rate": [320.0, 250.0]})
    >>> [text.get_text() for text in fixed_fee_realization(result).texts]
    ['80.0%', '250 an hour']
    """
    needs = ("fee_amount", "standard_amount", "fixed_fee_realization", "effective_rate")
    rows = rows_of(result, needs, "fixed_fee_realization")
    frame = rows.frame
    pairs = zip(frame["fixed_fee_realization"], frame["effective_rate"], strict=True)
    words = [_words(ratio, rate) for ratio, rate in pairs]
    names = ("Hours at standard rates", "Fixed fees")
    data = PartOfWhole(rows.labels, frame["standard_amount"], frame["fee_amount"], words, names)
    return drawn(rows, data, ax, title=f"Fixed fees and the worth of their hours{rows.by}", unit=money)


def _words(ratio: float, rate: float) -> str:
    return f"{show(rate, 'rate')} an hour" if ratio != ratio and rate == rate else percent(ratio)
