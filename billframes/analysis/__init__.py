"""What the figures of a firm mean: pure functions from frames to frames, on any engine."""

from __future__ import annotations

from billframes.analysis.aging import aging
from billframes.analysis.budget_burn import budget_burn
from billframes.analysis.contribution import contribution
from billframes.analysis.effective_rates import effective_rates
from billframes.analysis.lockup import lockup
from billframes.analysis.normalize_balances import normalize_balances
from billframes.analysis.origination import origination
from billframes.analysis.realization import realization
from billframes.analysis.reconcile import reconcile
from billframes.analysis.utilization import utilization
from billframes.analysis.wip import wip

__all__ = [
    "aging",
    "budget_burn",
    "contribution",
    "effective_rates",
    "lockup",
    "normalize_balances",
    "origination",
    "realization",
    "reconcile",
    "utilization",
    "wip",
]
