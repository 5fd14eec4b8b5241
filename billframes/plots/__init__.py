"""Charts of the analyses' results. The function with the name of an analysis draws its result and returns the `Axes`.

Each analysis declares its chart, and `drawing` draws the few kinds of chart. The main figure is written beside each
bar, so a chart can also be read in black and white. Charts do not use pyplot or its global state.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from types import FunctionType
from typing import NoReturn, cast

from billframes._shared.suggestions import suggest_arguments
from billframes.analysis.declare.lookup import analyses, result_to_pass
from billframes.analysis.declare.spec import ChartSpec
from billframes.errors import unknown_name
from billframes.plots.chart import Chart, figures

_FIELDS = [each.name for each in dataclasses.fields(ChartSpec)]
_CHARTS = {
    name: Chart(analysis=name, **{field: getattr(each.chart, field) for field in _FIELDS}).function
    for name, each in analyses().items()
    if each.chart
} | {
    "figures": suggest_arguments(cast("FunctionType", figures), "billframes.plots", partial(result_to_pass, "figures"))
}

__all__ = list(_CHARTS)

globals().update(_CHARTS)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name("billframes.plots", name, __all__)


def __dir__() -> list[str]:
    return __all__
