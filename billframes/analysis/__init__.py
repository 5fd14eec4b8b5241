"""What the figures of a firm mean: pure functions from frames to frames, on any engine."""

from __future__ import annotations

from billframes.analysis.aging import aging
from billframes.analysis.billing_lag import billing_lag
from billframes.analysis.code_check import code_check
from billframes.analysis.duplicates import duplicates
from billframes.analysis.fixed_fee_realization import fixed_fee_realization
from billframes.analysis.leverage import leverage
from billframes.analysis.missing_time import missing_time
from billframes.analysis.profitability import profitability
from billframes.analysis.realization import realization
from billframes.analysis.timekeeping_lag import timekeeping_lag
from billframes.analysis.utilization import utilization

__all__ = [
    "aging",
    "billing_lag",
    "code_check",
    "duplicates",
    "fixed_fee_realization",
    "leverage",
    "missing_time",
    "profitability",
    "realization",
    "timekeeping_lag",
    "utilization",
]
