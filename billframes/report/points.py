"""The key points of a month: templates over its figures, each with the table it comes from.

A rule gives a point only if its figure passes a threshold. Points are sorted by how far they pass it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes._show import format_number, month_name, rounded
from billframes.analysis.checked_frames import remembered
from billframes.report import views
from billframes.report.month import Month
from billframes.report.views import View

__all__ = ["MOST", "Point", "key_points"]

MOST = 5
# Shares and changes from which a figure matters.
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
        How many times the threshold the figure is.
    """

    text: str
    table: str
    size: float


def key_points(month: Month) -> list[Point]:
    """Return the points that matter, the largest first, at most five."""
    if month.is_empty:
        return []
    with remembered():
        found = [point for rule in _RULES for point in rule(month)]
    return sorted(found, key=lambda point: -point.size)[:MOST]


def _fees(month: Month) -> Iterator[Point]:
    """Say how billed fees changed, why, and from whom that comes."""
    view = views.change(month, "billed_amount")
    if view is None:
        return
    whole = view.total.iloc[0]
    change, before = float(whole["change_amount"]), float(whole["before_amount"])
    if not before > 0 or abs(change) < _FEES * before:
        return
    causes = {words: float(whole[name]) for name, words in _CAUSES.items() if pd.notna(whole[name])}
    cause = max(causes, key=lambda words: causes[words] * math.copysign(1, change))
    text = (
        f"Fees billed are {_money(month, abs(change))} {_higher(change)} than in {_before(month)}, at "
        f"{_money(month, whole['after_amount'])}; {cause} alone changed them by {_signed(causes[cause])}. "
        f"{_most(view, 'change_amount', change)}"
    )
    yield Point(text, "What changed", abs(change) / before / _FEES)


def _realization(month: Month) -> Iterator[Point]:
    view = views.change(month, "billing_realization")
    if view is None:
        return
    whole = view.total.iloc[0]
    change = float(whole["change_ratio"])
    if not abs(change) >= _POINTS:
        return
    text = (
        f"Billing realization is {_points(abs(change))} {_higher(change)} than in {_before(month)}, at "
        f"{format_number(whole['after_ratio'], 'ratio')}. {_most(view, 'change_ratio', change, unit='points')}"
    )
    yield Point(text, "What changed", abs(change) / _POINTS)


def _floor(month: Month) -> Iterator[Point]:
    floor, whole = month.settings.realization_floor, month.realization(None)["billing_realization"].iloc[0]
    if floor is None or not whole < floor:
        return
    view = views.realization(month, "practice_area")
    lowest: Any = view.rows.sort_values("billing_realization").iloc[0]
    text = (
        f"Billing realization of {format_number(whole, 'ratio')} is below the firm’s floor of "
        f"{format_number(floor, 'ratio')}; the lowest is {lowest[view.label]} with "
        f"{format_number(lowest['billing_realization'], 'ratio')}."
    )
    yield Point(text, view.title, 1 + (floor - whole) / _POINTS)


def _written_down(month: Month) -> Iterator[Point]:
    view = views.realization(month, "client")
    whole = view.total.iloc[0]
    down, worth = float(whole["write_down_amount"]), float(whole["worked_amount"])
    if not worth > 0 or not down >= _WRITTEN_DOWN * worth:
        return
    text = (
        f"{_money(month, down)} were written down, {format_number(down / worth, 'ratio')} of the worth of billed work"
        f"{_of_which(view, 'write_down_amount')}"
    )
    yield Point(text, view.title, down / worth / _WRITTEN_DOWN)


def _utilization(month: Month) -> Iterator[Point]:
    if month.scope or not month.is_over:
        return
    now, before = (float(month.by_month["utilization"].iloc[place]) for place in (-1, -2))
    if not abs(now - before) >= _POINTS:
        return
    view, _ = views.timekeepers(month)
    busy = view.rows[view.rows["utilization"] > 1]
    more = f"; {len(busy)} of {len(view.rows)} timekeepers are above 100%" if len(busy) else ""
    text = (
        f"Utilization is {_points(abs(now - before))} {_higher(now - before)} than in {_before(month)}, at "
        f"{format_number(now, 'ratio')}{more}."
    )
    yield Point(text, view.title, abs(now - before) / _POINTS)


def _overdue(month: Month) -> Iterator[Point]:
    view = views.receivables(month)
    whole = view.total.iloc[0]
    total, overdue = float(whole["total"]), float(whole["overdue"])
    if not total > 0 or not overdue >= _OVERDUE * total:
        return
    text = (
        f"{_money(month, overdue)} of {format_number(total, 'money')} of receivables are overdue"
        f"{_of_which(view, 'overdue')}"
    )
    yield Point(text, view.title, overdue / total / _OVERDUE)


def _old_work(month: Month) -> Iterator[Point]:
    view = views.wip(month, "responsible")
    whole = view.total.iloc[0]
    oldest = next(name for name in view.total.columns if str(name).endswith("+"))
    total, old = float(whole["total"]), float(whole[oldest])
    if not total > 0 or not old >= _OLD * total:
        return
    text = (
        f"{_money(month, old)} of {format_number(total, 'money')} of work in progress is "
        f"{str(oldest).removesuffix('+')} days old or more{_of_which(view, str(oldest))}"
    )
    yield Point(text, "Work in progress and lock-up", old / total / _OLD)


def _e_billing(month: Month) -> Iterator[Point]:
    line = month.e_billing.line
    if line and month.e_billing.rejected:
        yield Point(line, "Work in progress and lock-up", 1.0)


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


def _most(view: View, column: str, change: float, unit: str = "money") -> str:
    """Name the row that moved the figure most, in the direction of the whole."""
    rows = view.rows[view.rows[column] * change > 0]
    if rows.empty:
        return ""
    row: Any = rows.loc[rows[column].abs().sort_values(ascending=False, kind="stable").index[0]]
    return f"{row[view.label]} contributed most ({_signed(row[column], unit)})."


def _of_which(view: View, column: str) -> str:
    """Name the row with the largest part, and end the sentence."""
    if len(view.rows) < 2 or not (view.rows[column] > 0).any():
        return "."
    row: Any = view.rows.sort_values(column, ascending=False, kind="stable").iloc[0]
    # A name can end with a period, such as "Corp.".
    return f", of which {format_number(row[column], 'money')} for {str(row[view.label]).removesuffix('.')}."


def _higher(change: float) -> str:
    return "higher" if change > 0 else "lower"


def _before(month: Month) -> str:
    return month_name(month.earlier(1))


def _money(month: Month, value: float) -> str:
    text = format_number(float(value), "money")
    return f"{text} {month.currency}" if month.currency else text


def _points(value: float) -> str:
    return f"{rounded(value * 100, '{:,.1f}')} points"


def _signed(value: float, unit: str = "money") -> str:
    text = format_number(float(value), unit)
    return f"+{text}" if value > 0 and not text.startswith("+") else text
