"""The key points of a month: sentences about its figures, each with the table that has the figures.

A rule gives a point only if its figure passes a threshold. Points are sorted by how many times the threshold it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._format import format_number, format_rounded
from billframes.analysis.frames.checked_frames import share_checks
from billframes.report import report_tables
from billframes.report.month import Month
from billframes.report.report_tables import ReportTable

__all__ = ["MOST", "Point", "key_points"]

MOST = 5
# Thresholds: shares, and changes as shares or as points of a ratio.
_FEES, _WRITTEN_DOWN, _POINTS, _OVERDUE, _OLD = 0.1, 0.05, 0.02, 0.25, 0.2
_CAUSES = {
    "hours_change_amount": "hours",
    "rate_change_amount": "rates",
    "realization_change_amount": "realization",
    "mix_change_amount": "the mix of work",
}


@dataclass(frozen=True)
class Point:
    """
    One key point.

    Parameters
    ----------
    text : str
    table : str
        The title of the section that has the figures.
    size : float
        The figure ÷ its threshold.
    """

    text: str
    table: str
    size: float


def key_points(month: Month) -> list[Point]:
    """Return the key points, the largest first, at most five."""
    if month.is_empty:
        return []
    with share_checks():
        found = [point for rule in _RULES for point in rule(month)]
    return sorted(found, key=lambda point: -point.size)[:MOST]


def _fees(month: Month) -> Iterator[Point]:
    """Say how fees billed changed, with the main cause and the client that contributed most."""
    table = report_tables.change(month, "billed_amount")
    if table is None:
        return
    whole = table.total.iloc[0]
    change, before = float(whole["change_amount"]), float(whole["before_amount"])
    if not before > 0 or abs(change) < _FEES * before:
        return
    causes = {cause: float(whole[name]) for name, cause in _CAUSES.items() if pd.notna(whole[name])}
    cause = max(causes, key=lambda each: causes[each] * math.copysign(1, change))
    text = (
        f"Fees billed are {_money(month, abs(change))} {_direction(change)} than in {_month_before(month)}, at "
        f"{_money(month, whole['after_amount'])}; {cause} alone changed them by {_signed(causes[cause])}. "
        f"{_largest_contribution(table, 'change_amount', change)}"
    )
    yield Point(text, "What changed", abs(change) / before / _FEES)


def _realization(month: Month) -> Iterator[Point]:
    table = report_tables.change(month, "billing_realization")
    if table is None:
        return
    whole = table.total.iloc[0]
    change = float(whole["change_ratio"])
    if not abs(change) >= _POINTS:
        return
    text = (
        f"Billing realization is {_points(abs(change))} {_direction(change)} than in {_month_before(month)}, at "
        f"{format_number(whole['after_ratio'], 'ratio')}. "
        f"{_largest_contribution(table, 'change_ratio', change, unit='points')}"
    )
    yield Point(text, "What changed", abs(change) / _POINTS)


def _floor(month: Month) -> Iterator[Point]:
    floor, whole = month.settings.realization_floor, month.realization(None)["billing_realization"].iloc[0]
    if floor is None or not whole < floor:
        return
    table = report_tables.realization(month, "practice_area")
    lowest: Any = table.rows.sort_values("billing_realization").iloc[0]
    text = (
        f"Billing realization of {format_number(whole, 'ratio')} is below the firm’s floor of "
        f"{format_number(floor, 'ratio')}; the lowest is {lowest[table.label]} with "
        f"{format_number(lowest['billing_realization'], 'ratio')}."
    )
    yield Point(text, table.title, 1 + (floor - whole) / _POINTS)


def _written_down(month: Month) -> Iterator[Point]:
    table = report_tables.realization(month, "client")
    whole = table.total.iloc[0]
    down, worth = float(whole["write_down_amount"]), float(whole["worked_amount"])
    if not worth > 0 or not down >= _WRITTEN_DOWN * worth:
        return
    text = (
        f"{_money(month, down)} were written down ({format_number(down / worth, 'ratio')} of the worth of billed work)"
        f"{_of_which(table, 'write_down_amount')}"
    )
    yield Point(text, table.title, down / worth / _WRITTEN_DOWN)


def _utilization(month: Month) -> Iterator[Point]:
    if month.scope or not month.is_over:
        return
    now, before = (month.figures_of(month.same_days(back)).get("utilization", math.nan) for back in (0, 1))
    if not abs(now - before) >= _POINTS:
        return
    table, _ = report_tables.timekeepers(month)
    busy = table.rows[table.rows["utilization"] > 1]
    more = f"; {len(busy)} of {len(table.rows)} timekeepers are above 100%" if len(busy) else ""
    text = (
        f"Utilization is {_points(abs(now - before))} {_direction(now - before)} than in {_month_before(month)}, at "
        f"{format_number(now, 'ratio')}{more}."
    )
    yield Point(text, table.title, abs(now - before) / _POINTS)


def _overdue(month: Month) -> Iterator[Point]:
    table = report_tables.receivables(month)
    whole = table.total.iloc[0]
    total, overdue = float(whole["total"]), float(whole["overdue"])
    if not total > 0 or not overdue >= _OVERDUE * total:
        return
    text = (
        f"Receivables are {_money(month, total)}; {format_number(overdue, 'money')} are overdue"
        f"{_of_which(table, 'overdue')}"
    )
    yield Point(text, table.title, overdue / total / _OVERDUE)


def _old_work(month: Month) -> Iterator[Point]:
    table = report_tables.wip(month, "responsible")
    whole = table.total.iloc[0]
    oldest = next(name for name in table.total.columns if str(name).endswith("+"))
    total, old = float(whole["total"]), float(whole[oldest])
    if not total > 0 or not old >= _OLD * total:
        return
    text = (
        f"Work in progress is {_money(month, total)}; {format_number(old, 'money')} is "
        f"{str(oldest).removesuffix('+')} days old or more{_of_which(table, str(oldest))}"
    )
    yield Point(text, "Work in progress and lock-up", old / total / _OLD)


def _e_billing(month: Month) -> Iterator[Point]:
    summary = month.e_billing.summary
    if summary and month.e_billing.rejected:
        yield Point(summary, "Work in progress and lock-up", 1.0)


_RULES: tuple[Callable[[Month], Iterator[Point]], ...] = (
    _fees,
    _realization,
    _floor,
    _written_down,
    _utilization,
    _overdue,
    _old_work,
    _e_billing,
)


def _largest_contribution(table: ReportTable, column: str, change: float, unit: str = "money") -> str:
    """Name the row that contributed most to the change, in the direction of the total's change."""
    rows = table.rows[table.rows[column] * change > 0]
    if rows.empty:
        return ""
    row: Any = rows.loc[rows[column].abs().sort_values(ascending=False, kind="stable").index[0]]
    return f"{row[table.label]} contributed most ({_signed(row[column], unit)})."


def _of_which(table: ReportTable, column: str) -> str:
    """End the sentence with the row that has the largest part."""
    if len(table.rows) < 2 or not (table.rows[column] > 0).any():
        return "."
    row: Any = table.rows.sort_values(column, ascending=False, kind="stable").iloc[0]
    # A name can end with a period, such as "Corp.".
    return f", of which {format_number(row[column], 'money')} for {str(row[table.label]).removesuffix('.')}."


def _direction(change: float) -> str:
    return "higher" if change > 0 else "lower"


def _month_before(month: Month) -> str:
    return month.same_days_name(1, short=False)


def _money(month: Month, value: float) -> str:
    text = format_number(float(value), "money")
    return f"{text} {month.currency}" if month.currency else text


def _points(value: float) -> str:
    return f"{format_rounded(value * 100, '{:,.1f}')} points"


def _signed(value: float, unit: str = "money") -> str:
    text = format_number(float(value), unit)
    return f"+{text}" if value > 0 and not text.startswith("+") else text
