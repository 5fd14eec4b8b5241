"""Draw figures of several analyses."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from billframes._shared.names import join_names
from billframes.analysis.results.figure_names import read_figures
from billframes.plots.chart import Chart

_MOST_BARS, _LONGEST_TITLE = 3, 70


def figures(result: Any, ax: Axes | None = None, *, currency: str = "") -> Axes:
    """
    Draw a result of `billframes.figures`: the first figure, and up to two others of its unit, as bars.

    The text beside a row is its first ratio, or else the first figure.

    Parameters
    ----------
    result : frame
        With a column of a figure; of any engine.
    ax : Axes, optional
        The axes to draw on. By default a new figure, which pyplot does not manage.
    currency : str
        The currency to show in the title of a chart of money; results do not have it.

    Returns
    -------
    Axes
        Its figure is `ax.figure`.

    Raises
    ------
    MissingColumnError
        The frame has no figures.
    ParameterError
        The same group is in two rows, or a row is the total of the others.

    Examples
    --------
    >>> import pandas as pd
    >>> result = pd.DataFrame({"user_name": ["Ada"], "billed_amount": [900.0], "billing_realization": [0.9]})
    >>> ax = figures(result)
    >>> [text.get_text() for text in ax.texts], ax.get_title(loc="left")
    (['90.0%'], 'Fees billed and billing realization by timekeeper')
    """
    found = read_figures(result, "chart")[1]
    units = {name: each.unit for name, each in found.items()}
    first = next(iter(units))
    of_unit = [name for name, unit in units.items() if unit == units[first] and "_since_" not in name]
    earlier = [name for name in of_unit[1:] if name.startswith(f"{first}_")]
    bars = [first, *(earlier or of_unit[1:])][:_MOST_BARS]
    text = next((name for name, unit in units.items() if unit == "ratio"), first)
    named = [first, text] if earlier else [*bars, text]
    titles = [found[name].title for name in dict.fromkeys(named)]
    words = join_names([titles[0], *(each[:1].lower() + each[1:] for each in titles[1:])])
    chart = Chart(
        analysis="figures",
        kind="bars",
        title=words if len(words) < _LONGEST_TITLE else "Figures",
        columns=tuple(bars),
        words=[f"{{{text}}}"],
        shows="",
        measures=found,
    )
    return chart.draw(result, ax, currency)
