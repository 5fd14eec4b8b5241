"""Charts of the analyses' results: one function an analysis, each drawing on an `Axes` and returning it.

A few drawings serve all: a pale bar for the whole and a dark one on it for the part, a bar cut into shades of one
blue, two points on a line. The figure that matters stands beside it in words, so that a chart reads the same in
colour, in grey and in print. Nothing here touches pyplot or its global state. What each chart shows is declared beside
its analysis.
"""

from __future__ import annotations

import dataclasses
from typing import NoReturn

from billframes.analysis.spec import ChartSpec, analyses
from billframes.errors import unknown_name
from billframes.plots._declaration import Chart

_FIELDS = [each.name for each in dataclasses.fields(ChartSpec)]
_CHARTS = {
    name: Chart(analysis=name, **{field: getattr(each.chart, field) for field in _FIELDS}).function
    for name, each in analyses().items()
    if each.chart
}

__all__ = list(_CHARTS)

globals().update(_CHARTS)


def __getattr__(name: str) -> NoReturn:
    raise unknown_name("billframes.plots", name, __all__)


def __dir__() -> list[str]:
    return __all__
