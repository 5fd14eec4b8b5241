"""Charts of the analyses' results: one function an analysis, each drawing on an `Axes` and returning it.

The same drawing serves all: a pale bar for the whole, a dark bar on it for the part, and the ratio in words, so
that a chart reads the same in colour, in grey and in print. Nothing here touches pyplot or its global state.
"""

from __future__ import annotations

from billframes.plots.aging import aging
from billframes.plots.realization import realization
from billframes.plots.utilization import utilization

__all__ = ["aging", "realization", "utilization"]
