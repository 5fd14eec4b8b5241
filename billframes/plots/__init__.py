"""Charts of the analyses' results: one function an analysis, each drawing on an `Axes` and returning it.

A few drawings serve all: a pale bar for the whole and a dark one on it for the part, a bar cut into shades of one
blue, two points on a line. The figure that matters stands beside it in words, so that a chart reads the same in
colour, in grey and in print. Nothing here touches pyplot or its global state.
"""

from __future__ import annotations

from billframes.plots.aging import aging
from billframes.plots.billing_lag import billing_lag
from billframes.plots.budget_burn import budget_burn
from billframes.plots.contribution import contribution
from billframes.plots.effective_rates import effective_rates
from billframes.plots.fixed_fee_realization import fixed_fee_realization
from billframes.plots.leverage import leverage
from billframes.plots.lockup import lockup
from billframes.plots.origination import origination
from billframes.plots.profitability import profitability
from billframes.plots.realization import realization
from billframes.plots.timekeeping_lag import timekeeping_lag
from billframes.plots.utilization import utilization
from billframes.plots.wip import wip

__all__ = [
    "aging",
    "billing_lag",
    "budget_burn",
    "contribution",
    "effective_rates",
    "fixed_fee_realization",
    "leverage",
    "lockup",
    "origination",
    "profitability",
    "realization",
    "timekeeping_lag",
    "utilization",
    "wip",
]
