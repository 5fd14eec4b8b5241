"""What the figures of a firm mean: pure functions from frames to frames, on any engine."""

from __future__ import annotations

from billframes.analysis.aging import aging
from billframes.analysis.billing_lag import billing_lag
from billframes.analysis.budget_burn import budget_burn
from billframes.analysis.code_check import code_check
from billframes.analysis.contribution import contribution
from billframes.analysis.duplicates import duplicates
from billframes.analysis.effective_rates import effective_rates
from billframes.analysis.fixed_fee_realization import fixed_fee_realization
from billframes.analysis.leverage import leverage
from billframes.analysis.lockup import lockup
from billframes.analysis.missing_time import missing_time
from billframes.analysis.normalize_balances import normalize_balances
from billframes.analysis.origination import origination
from billframes.analysis.profitability import profitability
from billframes.analysis.realization import realization
from billframes.analysis.reconcile import reconcile
from billframes.analysis.timekeeping_lag import timekeeping_lag
from billframes.analysis.utilization import utilization
from billframes.analysis.wip import wip

__all__ = [
    "aging",
    "billing_lag",
    "budget_burn",
    "code_check",
    "contribution",
    "duplicates",
    "effective_rates",
    "fixed_fee_realization",
    "leverage",
    "lockup",
    "missing_time",
    "normalize_balances",
    "origination",
    "profitability",
    "realization",
    "reconcile",
    "timekeeping_lag",
    "utilization",
    "wip",
]
