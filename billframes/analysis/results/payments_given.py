"""The payments that figures of cash need, and the days that they cover.

Cash outside these days is not in them, so a sum would be too small and look right.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any

from billframes._format import long_span
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.frames.data_span import covers
from billframes.analysis.results.names import find_figure
from billframes.errors import ParameterError
from billframes.loading.load_info import attached
from billframes.periods import Period

__all__ = ["check_days", "needs_payments", "not_covered", "payment_days"]


def needs_payments(analysis: Analysis) -> bool:
    """Tell whether an analysis counts payments, which the billing system does not have."""
    return analysis.book.first == "payments"


def payment_days(names: Iterable[str], payments: Any) -> Period:
    """Return the days that payments cover, open where that is not known; refuse figures of cash without payments."""
    of_cash = [name for name in names if needs_payments(find_figure(name).analysis)]
    if of_cash and payments is None:
        raise ParameterError(
            f"{of_cash[0]!r} needs payments, which the billing system does not have: pass "
            "payments=book.payments(bf.read_ledger(…))."
        )
    return Period.stated(attached(payments, "payments") or {})


def not_covered(days: Period, start: dt.date | None, end: dt.date | None) -> str:
    """Say that payments don't cover a period; empty if they do. An open period is all that the payments have."""
    begun = start is None or covers(days.start, start)
    if begun and not (days.end and end and end > days.end):
        return ""
    return f"The payments are those of {long_span(days)}."


def check_days(days: Period, start: dt.date | None, end: dt.date | None) -> None:
    """Refuse a period that payments don't cover."""
    if said := not_covered(days, start, end):
        raise ParameterError(f"{said} Choose a period within, or export more.")
