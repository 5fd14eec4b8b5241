"""The key points of a month: what stands out, the firm's own limits first.

Each function asks a rule of `rules` about one figure, and says it with its size: the figure ÷ its threshold. A breach
of a limit in the firm's settings comes first, always. At least three points are shown, if there are so many, and at
most seven.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from billframes._shared.format import format_number, money
from billframes._shared.names import join_names
from billframes.report import report_tables, rules
from billframes.report.month import A_UNIT, LEAST_HOURS, OLDEST, Month
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import called
from billframes.wings import in_report

FEWEST, MOST = 3, 7
# The days whose work for a client with overdue invoices is recent.
_RECENT_DAYS = 90
# The causes of a change of fees, as they raise and as they lower them.
_CAUSES = {
    "hours_change_amount": ("more hours", "fewer hours"),
    "rate_change_amount": ("higher rates", "lower rates"),
    "realization_change_amount": ("higher realization", "lower realization"),
    "mix_change_amount": ("the mix of work", "the mix of work"),
}


@dataclass(frozen=True)
class Point:
    """
    One key point: a sentence with the figure, and who or what contributed most.

    `section` is the name of the section with the figures, empty for none, and `size` the figure ÷ its threshold. `asks`
    is what the page answers about it.
    """

    headline: str
    detail: str
    section: str
    size: float
    is_breach: bool = False
    asks: str = ""

    @property
    def text(self) -> str:
        """Both sentences."""
        return f"{self.headline} {self.detail}".rstrip()


def key_points(month: Month) -> list[Point]:
    """Return the key points, breaches of the firm's limits first in the order of the rules, then the largest."""
    if month.is_empty:
        return []
    found = _joined(point for rule in (*_RULES, *in_report("points")) for point in rule(month))
    found.sort(key=lambda point: (not point.is_breach, 0.0 if point.is_breach else -point.size))
    large = sum(point.is_breach or point.size >= 1 for point in found)
    return found[: min(max(large, FEWEST), MOST)]


def _joined(points: Iterable[Point]) -> list[Point]:
    """Join the breaches with figures in the same section into one point."""
    found = dict[Any, Point]()
    for point in points:
        key = point.section if point.is_breach and point.section else point
        first = found.get(key)
        found[key] = replace(first, detail=f"{first.detail} {point.text}".lstrip()) if first else point
    return [*found.values()]


def _floor(month: Month) -> Iterator[Point]:
    floor, total = rules.floor_of(month.settings), month.of("realization").iloc[0]
    ratio = float(total["billing_realization"])
    if floor is None or not floor.holds(ratio):
        return
    table = report_tables.realization("client")(month)
    largest = _largest(table.rows, "write_down_amount")
    detail = ""
    if largest is not None and len(table.rows) > 1:
        worked, billed = (float(total[name]) - float(largest[name]) for name in ("worked_amount", "billed_amount"))
        without = f"; without them it would be {format_number(billed / worked, 'ratio')}" if worked > 0 else ""
        detail = (
            f"{money(largest['write_down_amount'])} of the {money(total['write_down_amount'])} written down is on "
            f"the bills of {largest[table.label]}{without}"
        ).removesuffix(".") + "."
    before = month.figures(1).get("billing_realization", math.nan)
    then = f"{month.same_days_name(1, short=False)}: {format_number(before, 'ratio')}" if before == before else ""
    limit = f"below the firm’s floor of {format_number(floor.limit, 'ratio')}"
    headline = rules.beyond("Billing realization", ratio, "ratio", limit, then=then)
    yield Point(headline, detail, "realization", 1.0, is_breach=True, asks=_asks("realization", largest))


def _utilization_target(month: Month) -> Iterator[Point]:
    goal = rules.target_of(month.settings)
    ratio = math.nan if month.scope else float(month.of("utilization")["utilization"].iloc[0])
    if goal is None or not goal.holds(ratio):
        return
    table = report_tables.timekeepers(month)
    idle = _largest(table.rows, "idle_capacity_hours") if "idle_capacity_hours" in table.rows else None
    hours = (goal.limit - ratio) * float(month.of("utilization")["capacity_hours"].iloc[0])
    detail = f"{format_number(hours, 'hours')} more client hours would have reached it."
    if idle is not None:
        detail += f" {idle[table.label]} recorded none of {format_number(idle['idle_capacity_hours'], 'hours')} hours."
    limit = f"below the firm’s target of {format_number(goal.limit, 'ratio')}"
    yield Point(rules.beyond("Utilization", ratio, "ratio", limit), detail, "utilization", 1.0, is_breach=True)


def _budgets(month: Month) -> Iterator[Point]:
    over = report_tables.over_budget(month)
    if over.empty:
        return
    worst: Any = over.iloc[0]
    count = "1 matter is over its budget" if len(over) == 1 else f"{len(over)} matters are over their budgets"
    headline = f"{count}, by {money(-over['remaining_amount'].sum())} in all."
    detail = f"{worst['matter_name']} has used {money(worst['used_amount'])} of {money(worst['budget_amount'])}."
    yield Point(headline, detail, "budgets", float(worst["budget_burn"]), is_breach=True)


def _fees(month: Month) -> Iterator[Point]:
    table = report_tables.change_of_fees(month)
    if table is None:
        return
    whole = table.total.iloc[0]
    change, before = float(whole["change_amount"]), float(whole["before_amount"])
    if not before > 0 or not change:
        return
    then = f"{month.same_days_name(1, short=False)}: {money(before)}"
    headline = rules.moved("Fees billed", change, float(whole["after_amount"]), "money", then=then)
    detail = f"{_causes(whole, change)}{_largest_part(table, 'change_amount', change=change)}"
    yield Point(headline, detail, "changes", rules.FEES.size(change / before), asks="fees")


def _causes(whole: Any, change: float) -> str:
    """Say which cause explains most of the change of fees, and what the others add or take: together all of it."""
    sign = math.copysign(1, change)
    causes = {name: float(whole[name]) * sign for name in _CAUSES if pd.notna(whole[name])}
    main = max(causes, key=lambda each: causes[each], default=None)
    if main is None or causes[main] < A_UNIT:
        return ""
    words = {name: _CAUSES[name][(amount > 0) != (sign > 0)] for name, amount in causes.items()}
    with_it = [name for name, amount in causes.items() if amount >= A_UNIT and name != main]
    against = [name for name, amount in causes.items() if amount <= -A_UNIT]
    verb = "explains" if main == "mix_change_amount" or "realization" in main else "explain"
    is_all = not against and abs(causes[main] - abs(change)) < A_UNIT
    text = f"{words[main][:1].upper()}{words[main][1:]} {verb} {'all' if is_all else money(causes[main])} of it"
    if with_it:
        text += f", and {join_names([words[name] for name in with_it])} {money(sum(causes[n] for n in with_it))}"
    if against:
        took = "took back" if change > 0 else "made up for"
        text += f"; {join_names([words[name] for name in against])} {took} {money(-sum(causes[n] for n in against))}"
    return f"{text}. "


def _realization(month: Month) -> Iterator[Point]:
    table = report_tables.change_of_realization(month)
    if table is None:
        return
    whole = table.total.iloc[0]
    change, now, floor = float(whole["change_ratio"]), float(whole["after_ratio"]), rules.floor_of(month.settings)
    # Below the floor, the breach is the point.
    if not abs(change) > 0 or (floor is not None and floor.holds(now)):
        return
    headline = rules.moved("Billing realization", change, now, "ratio")
    detail = _largest_part(table, "change_ratio", "points", change)
    yield Point(headline, detail, "realization", rules.REALIZATION.size(change))


def _written_down(month: Month) -> Iterator[Point]:
    table = report_tables.realization("client")(month)
    whole = table.total.iloc[0]
    down, worth = float(whole["write_down_amount"]), float(whole["worked_amount"])
    floor = rules.floor_of(month.settings)
    # A breach of the floor says the same.
    if not (worth > 0 and down > 0) or (floor is not None and floor.holds(1 - down / worth)):
        return
    headline = f"{money(down)} was written down, {format_number(down / worth, 'ratio')} of the value of time billed."
    asks = _asks("realization", _largest(table.rows, "write_down_amount"))
    size = rules.WRITTEN_DOWN.size(down / worth)
    yield Point(headline, _largest_part(table, "write_down_amount"), "realization", size, asks=asks)


def _utilization(month: Month) -> Iterator[Point]:
    if month.scope or not month.is_over:
        return
    spans = [month.same_days(back) for back in (0, 1)]
    now, before = (month.figures(back).get("utilization", math.nan) for back in (0, 1))
    if not abs(now - before) > 0:
        return
    table = report_tables.timekeepers(month)
    busy = table.rows[table.rows["utilization"] > 1]
    count = f"{len(busy)} of {len(table.rows)} people recorded more than their available hours." if len(busy) else ""
    change = now - before
    headline = rules.moved("Utilization", change, now, "ratio")
    # People who left have available hours until the settings say when.
    active = [month.result("utilization", by=None, start=each.start, end=each.end, roster="active") for each in spans]
    now_active, before_active = (float(each["utilization"].iloc[0]) for each in active)
    change = abs(change)
    if rules.UTILIZATION.holds(change - abs(now_active - before_active)):
        change = abs(now_active - before_active)
        then = f"{month.same_days_name(1, short=False)}: {format_number(before_active, 'ratio')}"
        count = f"Of those who recorded hours it is {format_number(now_active, 'ratio')} ({then}). {count}".rstrip()
    yield Point(headline, count, "utilization", rules.UTILIZATION.size(change))


def _overdue(month: Month) -> Iterator[Point]:
    row = month.of("aging").iloc[0]
    late, unused = float(row["overdue"]), float(row["credit_amount"])
    owed = float(row["total"]) - unused
    if not late > 0:
        return
    table = report_tables.receivables(month)
    day = f", with the balances of {month.balances_day:%-d %B}" if month.balances_day else ""
    undeducted = f" {money(-unused)} of unused credits is not deducted." if unused <= -0.5 else ""
    headline = f"{money(late)} of {money(owed)} owed on invoices is overdue{day}.{undeducted}"
    detail, asks = _largest_part(table, "overdue"), "receivables"
    if not month.scope:
        first = _largest(called(month), "overdue")
        if first is not None:
            detail = f"{first['client_name']} owes {money(first['overdue'])} of it."
            asks = _asks(asks, first)
    yield Point(headline, detail, "receivables", rules.OVERDUE.size(late / owed), asks=asks)


def last_work(month: Month, client: Any) -> str:
    """Say how many hours were recorded for a client since its oldest overdue invoice was due, at most in 90 days."""
    days = min(int(client["oldest"]), _RECENT_DAYS)
    start = month.as_of - dt.timedelta(days - 1)
    rows = month.result("utilization", by="client", start=start, end=month.as_of)
    hours = float(rows.loc[rows["client_id"] == client["client_id"], "client_hours"].sum())
    when = f"in the last {days} days" if days < client["oldest"] else "since the oldest invoice was due"
    if hours < LEAST_HOURS:
        return f"No hours were recorded for {client['client_name']} {when}."
    return f"Work for {client['client_name']} continued: {format_number(hours, 'hours')} hours {when}."


def _old_work(month: Month) -> Iterator[Point]:
    """Say how much work is old, and whose it is; contingency work, which is billed when the case ends, is beside it."""
    rows = month.with_distinct_names(month.of("wip", month.grouping_key("responsible")))
    total, old = float(rows["total"].sum()), float(rows[OLDEST].sum())
    if not (total > 0 and old > 0):
        return
    label = next(name for name in map(str, rows.columns) if name.endswith(("_name", "_label")))
    first = rows.sort_values(OLDEST, ascending=False, kind="stable").head(2)
    names = [f"{each[label]} ({money(each[OLDEST])})" for each in first.to_dict("records") if each[OLDEST] > 0]
    contingent = float(rows["contingent_amount"].sum())
    beside = f" Beside it, {money(contingent)} is on contingency." if contingent >= A_UNIT else ""
    headline = f"{money(old)} of {money(total)} work in progress is older than 90 days."
    verb = "is responsible" if len(names) == 1 else "are responsible"
    detail = f"{join_names(names)} {verb} for most of it." if label == "responsible_name" else f"{join_names(names)}."
    detail = f"{detail if len(rows) > 1 else ''}{beside}".strip()
    yield Point(headline, detail, "work_in_progress", rules.OLD_WORK.size(old / total), asks="wip")


def _unbilled(month: Month) -> Iterator[Point]:
    work = float(month.of("wip").iloc[0]["total"])
    if not month.has_invoices and work > 0:
        first = "" if month.noun == "month" else f"{month.counted_from: %B}"
        days = f"{month.counted_from.day}{first} to {month.last:%-d %B}"
        headline = f"Nothing was billed: no final invoice is dated from {days}."
        yield Point(headline, f"Work in progress is {money(work)}.", "work_in_progress", 1.0)


def _missing_time(month: Month) -> Iterator[Point]:
    if not is_time_missing(month):
        return
    table = report_tables.missing_time(month)
    away = "" if month.settings.leave else " Leave counts as missing: it is not in the firm’s settings."
    detail = f"{_largest_part(table, 'missing_hours', 'hours')}{away}".strip()
    yield Point(missing_words(table), detail, "utilization", 1.0)


def is_time_missing(month: Month) -> bool:
    """Tell whether a twentieth of the available hours is missing on days with less time than expected."""
    if month.scope:
        return False
    missing = float(report_tables.missing_time(month).total["missing_hours"].iloc[0])
    available = float(month.of("utilization")["capacity_hours"].iloc[0])
    return missing >= LEAST_HOURS and missing >= rules.MISSING_TIME.limit * available


def missing_words(table: ReportTable) -> str:
    """Say whose time is missing."""
    hours = format_number(float(table.total["missing_hours"].iloc[0]), "hours")
    names = table.rows[table.label].tolist()
    return (
        f"{names[0]}’s time lacks {hours} hours."
        if len(names) == 1
        else f"The time of {len(names)} people lacks {hours} hours."
    )


_RULES: tuple[Callable[[Month], Iterator[Point]], ...] = (
    _floor,
    _utilization_target,
    _budgets,
    _fees,
    _realization,
    _written_down,
    _utilization,
    _overdue,
    _old_work,
    _unbilled,
    _missing_time,
)


def _largest_part(table: ReportTable, column: str, unit: str = "money", change: float | None = None) -> str:
    """Name the row that contributed most: to a total, or to its change, in the direction of that."""
    rows = table.rows if change is None else table.rows[table.rows[column] * change > 0]
    row = _largest(rows, column, by_size=change is not None)
    if row is None or len(table.rows) < 2:
        return ""
    text = format_number(float(row[column]), unit)
    sign = "+" if change is not None and row[column] > 0 and not text.startswith("+") else ""
    return f"The largest part is {row[table.label]} ({sign}{text})."


def _asks(subject: str, row: Any) -> str:
    """Return a question about a subject, only for the client of a row if it has one."""
    id_ = None if row is None else row.get("client_id")
    return f"{subject}/client={id_}" if isinstance(id_, str) else subject


def _largest(rows: pd.DataFrame, column: str, *, by_size: bool = False) -> Any:
    """Return the row with the largest amount above 0, or of the largest size; None if there is none."""
    values = rows[column].abs() if by_size else rows[column]
    values = values[values > 0]
    return None if values.empty else rows.loc[values.sort_values(ascending=False, kind="stable").index[0]]
