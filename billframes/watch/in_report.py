"""The firm's own rules in the monthly report: what they find on its last day is among its key points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from billframes._shared.format import count_of
from billframes._shared.names import first_few
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.results.figure_names import find_figure
from billframes.config.watch import Rule
from billframes.report import report_tables, rules
from billframes.report.key_points import Point
from billframes.report.month import Month, once
from billframes.watch.look import look_at
from billframes.watch.named import Held

# The sections that have the figures of a rule, or of an analysis.
_SECTIONS = {
    "budget_used": "budgets",
    "budget_burn": "budgets",
    "old_drafts": "work_in_progress",
    "wip": "work_in_progress",
    "no_time": "utilization",
    "utilization": "utilization",
    "realization": "realization",
    "aging": "receivables",
}
_MOST = 3


def points(month: Month) -> Iterator[Point]:
    """Yield one point for each rule that found something; rules that can't be checked have none."""
    for rule, found in itertools.groupby(_holding(month), key=lambda each: each.rule):
        first, *others = found
        also = f"Also {first_few([_short(each) for each in others], _MOST)}." if others else ""
        section = _SECTIONS.get(rule.rule or find_figure(rule.figure).analysis.name, "")
        yield Point(first.text, also, section, 1.0, is_breach=True)


@once
def _holding(month: Month) -> list[Held]:
    """Return what holds and no other key point says."""
    if month.scope or not month.settings.watch:
        return []
    watched = [rule for rule in month.settings.rules if not _is_said(rule, month)]
    with collect_notes(Notes("page")):
        seen = look_at(month.firm_book, watched, month.last)
    # The point on budgets counts these matters.
    over = {*report_tables.over_budget(month)["matter_id"]}
    return [each for each in seen.holding if each.rule.rule != "budget_used" or each.key not in over]


def _is_said(rule: Rule, month: Month) -> bool:
    """Tell whether the firm's floor or target says the same, because the month is below it."""
    limits = [each for each in (rules.floor_of(month.settings), rules.target_of(month.settings)) if each]
    broken = {each.figure for each in limits if each.holds(month.figures().get(each.figure, math.nan))}
    return not rule.by and rule.how == "below" and find_figure(rule.figure).column in broken


def _short(held: Held) -> str:
    if held.rule.rule in ("old_drafts", "no_time"):
        return f"{held.name} ({count_of(int(held.value), 'day')})"
    unit = "ratio" if held.rule.rule else find_figure(held.rule.figure).measure.unit
    return f"{held.name} ({rules.number(held.value, unit)})"
