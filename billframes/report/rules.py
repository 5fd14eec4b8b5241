"""The rules of what stands out in the report of any firm, each declared once, and the sentences that all rules share.

A rule is of the class of those in the firm's settings. Its figure is one of `billframes.figures`, or a share of two.
Key points, findings and further sections ask these rules; the sentences are also those of `billframes watch`.
"""

from __future__ import annotations

from billframes._shared.format import format_number, format_rounded
from billframes.config.firm import FirmSettings
from billframes.config.watch import Rule

# Against the month before.
FEES = Rule(figure="billed_amount", moved_by=0.1)
REALIZATION = Rule(figure="billing_realization", moved_by=0.02)
UTILIZATION = Rule(figure="utilization", moved_by=0.02)
# Of the month, or on its last day.
WRITTEN_DOWN = Rule(figure="write_down_ratio", reaches=0.05)
OVERDUE = Rule(figure="overdue / (receivable_amount - credit_amount)", reaches=0.25)
OLD_WORK = Rule(figure="the oldest part of wip_amount / wip_amount", reaches=0.2)
MISSING_TIME = Rule(figure="missing_hours / capacity_hours", reaches=0.05)
LATE_TIME = Rule(figure="late_ratio", reaches=0.1)
# Against a year ago.
LATE_BILLS = Rule(figure="hours_weighted_lag_days", rose_by=5.0)
RATES = Rule(figure="effective_rate", moved_by=0.05)
ORIGINATION = Rule(figure="contribution.share", by="originator", moved_by=0.1)
# Of twelve months.
CONCENTRATION = Rule(figure="contribution.share", by="client", reaches=0.15, days=365)
UNEVEN = Rule(figure="contribution.share × the clients with fees", by="client", above=1.5)
NEW_CLIENTS = Rule(figure="new_client_share", reaches=0.1)


def floor_of(settings: FirmSettings) -> Rule | None:
    """Return the firm's floor of billing realization; None without one."""
    floor = settings.realization_floor
    return None if floor is None else Rule(figure="billing_realization", below=floor)


def target_of(settings: FirmSettings) -> Rule | None:
    """Return the firm's target of utilization; None without one."""
    goal = settings.firm_target.get("utilization")
    return None if goal is None else Rule(figure="utilization", below=goal)


def points(change: float) -> str:
    """Format a difference of ratios, without its sign."""
    return f"{format_rounded(abs(change) * 100, '{:,.1f}')} pts"


def number(value: float, unit: str) -> str:
    """Format a figure of a sentence."""
    return f"{format_number(value, unit)}{' days' if unit == 'days' else ''}"


def moved(what: str, change: float, now: float, unit: str, *, by: str = "", then: str = "") -> str:
    """Say how far a figure rose or fell: `by` is the change in words, and `then` what it was before."""
    by = by or (points(change) if unit == "ratio" else number(abs(change), unit))
    verb = "rose" if change > 0 else "fell"
    return f"{what} {verb} by {by} to {number(now, unit)}{f' ({then})' if then else ''}."


def beyond(what: str, value: float, unit: str, limit: str, *, then: str = "", more: str = "", verb: str = "is") -> str:
    """Say that a figure is beyond a limit, such as "below 85%"; `more` is what explains it."""
    now = f"{number(value, unit)}{f' ({then})' if then else ''}"
    return f"{what} {verb} {now}, {limit}{f'; {more}' if more else ''}."
