"""
Findings of the sections: one sentence, its cause, and who does what next.

The thresholds are those of the key points. A finding goes one level deeper than the first page, such as from the firm
to a practice area, and from a client to a matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, format_number, format_rounded, money
from billframes._shared.names import join_names
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.lookup import measures
from billframes.periods import year_before
from billframes.report import figures, key_points, page_parts, report_tables, rules, standing_out
from billframes.report.month import A_UNIT, LEAST_HOURS, OLDEST, Month
from billframes.report.month_days import YEAR
from billframes.report.section_spec import Finding
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import ToDo, by_person, called, draft_bills, of_bills, to_do

_MOST_NAMED = 2
# A part of a sum that is most of it.
_MOST = 0.5


def fees(month: Month) -> Finding | None:
    """Say which client changed fees billed most, and on which matter."""
    table = report_tables.change_of_fees(month)
    if table is None:
        return None
    whole = table.total.iloc[0]
    change, before = float(whole["change_amount"]), float(whole["before_amount"])
    rows = table.rows[table.rows["change_amount"] * change > 0]
    if not before > 0 or not rules.FEES.holds(change / before) or rows.empty:
        return None
    first: Any = rows.iloc[0]
    verb, name = "rose" if change > 0 else "fell", first[table.label]
    headline = (
        f"Fees billed {'to' if table.noun == 'client' else 'for'} {name} {verb} by "
        f"{money(abs(first['change_amount']))} from {month.same_days_name(1, short=False)}"
        f"{_how_many(len(rows), len(table.rows), table.noun, verb)}."
    )
    against = table.rows[table.rows["change_amount"] * change < 0]
    cause = ""
    if len(against):
        other: Any = against.iloc[0]
        cause = (
            f"The largest change in the other direction is {other[table.label]} ({_signed(other['change_amount'])})."
        )
    is_client = table.label == "client_name"
    matter = _matter_of(month, first, change) if is_client else ""
    return Finding(headline, f"{matter}{cause}".strip(), _bills_of_client(month, first) if is_client else "")


def _how_many(number: int, of_all: int, noun: str, verb: str) -> str:
    if of_all == 1:
        return ""
    every = f"both {noun}s" if of_all == 2 else f"all {of_all} {noun}s"
    return f"; they {verb} for {every if number == of_all else f'{number} of {of_all} {noun}s'}"


def _matter_of(month: Month, client: Any, change: float) -> str:
    rows, _ = month.changes("billed_amount", ["client", "matter"])
    rows = rows[rows["client_id"] == client["client_id"]]
    rows = rows[rows["change_amount"] * change > 0].sort_values("change_amount", key=abs, ascending=False)
    if rows.empty:
        return ""
    first: Any = month.with_distinct_names(rows.head(1)).iloc[0]
    if abs(first["change_amount"] - client["change_amount"]) < A_UNIT:
        return f"All of it is the matter {first['matter_name']}. "
    return f"The largest part of it is {first['matter_name']} ({_signed(first['change_amount'])}). "


def _bills_of_client(month: Month, client: Any) -> str:
    """Say who sends the client's draft bills, which are its next fees."""
    bills = draft_bills(month)
    bills = bills[bills["client_id"] == client["client_id"]]
    tasks = []
    for person, mine in by_person(bills):
        what, amount = f"Send {count_of(len(mine), 'draft bill')} to this client", float(mine["invoice_amount"].sum())
        tasks.append(ToDo(person, what, "", amount, "", of=of_bills(len(mine))))
    return _next(tasks)


def realization(month: Month) -> Finding | None:
    """Say which practice area is farthest below the floor in money, and which client and matter explain it."""
    table, floor = page_parts.realization(month)[0], month.settings.realization_floor
    rows = table.rows[table.rows["worked_amount"] > 0]
    limit = 1 - rules.WRITTEN_DOWN.limit if floor is None else floor
    rows = rows.assign(gap=(limit - rows["billing_realization"]) * rows["worked_amount"])
    rows = rows[rows["gap"] >= A_UNIT].sort_values("gap", ascending=False, kind="stable")
    if rows.empty:
        return None
    first: Any = rows.iloc[0]
    ratio, down = float(first["billing_realization"]), float(first["write_down_amount"])
    below = f", {_points(floor - ratio)} below the floor" if floor is not None else ""
    name = f"Work without a {table.noun}" if first[table.label] == UNASSIGNED else first[table.label]
    cause, client = _largest_write_down(month, first)
    others = [
        f"work without a {table.noun}" if each == UNASSIGNED else str(each) for each in rows[table.label].iloc[1:]
    ]
    if floor is not None and others:
        verb, names = "is" if len(others) == 1 else "are", join_names(others)
        cause += f" {names[:1].upper()}{names[1:]} {verb} below the floor, too."
    tasks = [each for each in _of(month, "realization") if client and client in each.names]
    return Finding(
        f"{name} realized {_ratio(ratio)}{below}; {money(down)} was written down.",
        cause.strip(),
        _next(tasks),
    )


def _largest_write_down(month: Month, row: Any) -> tuple[str, str]:
    """Say which matter of a practice area was written down most, and return its client."""
    area, client = month.grouping_key("practice_area"), month.grouping_key("client")
    by_area = page_parts.largest_write_downs(month, area, *dict.fromkeys([client, "matter"]))
    largest = by_area.get("" if pd.isna(row[f"{area}_id"]) else str(row[f"{area}_id"]))
    if largest is None:
        return "", ""
    name = str(largest.get("client_name", ""))
    whose = f" of {name}" if client == "client" else ""
    ratio = _ratio(largest["billing_realization"]) if largest["worked_amount"] > 0 else ""
    billed = f", billed at {ratio} of its value" if ratio else ""
    down = money(largest["write_down_amount"])
    return f"{down} of it is on the matter {largest['matter_name']}{whose}{billed}.", name


def hours(month: Month) -> Finding | None:
    """Say whether targets were met, by how many people, and how the year stands; else whose time is missing."""
    if month.scope:
        return None
    missing = report_tables.missing_time(month)
    entered = _time_to_enter(missing)
    goals = figures.targets("hours", month)
    if goals is None or not len(goals.rows):
        return Finding(_missing_by_role(month, missing), "", entered) if key_points.is_time_missing(month) else None
    rows, whole = goals.rows, goals.total.iloc[0]
    gap, below = float(whole["reached"] - whole["target"]), rows[rows["reached"] < rows["target"] - LEAST_HOURS]
    year = float(whole["pace_to_date"])
    if gap >= 0 and not year < 1 and not key_points.is_time_missing(month):
        return None
    is_part = month.first_of_year < month.first
    stands = f"; the year stands at {_ratio(year)}" if is_part and math.isfinite(year) else ""
    met = f"{_hours(gap)} above" if gap >= 0 else f"{_hours(-gap)} below"
    headline = f"Client hours are {met} the target of {_hours(whole['target'])}{stands}."
    short = float((below["target"] - below["reached"]).sum())
    people = count_of(len(rows), "person", "people")
    cause = f"{len(below)} of {people} were below their target, together by {_hours(short)}." if len(rows) > 1 else ""
    behind = float(whole["target_to_date"] - whole["reached_to_date"])
    if behind >= LEAST_HOURS and is_part:
        cause += f" The year is {_hours(behind)} behind its target to date of {_hours(whole['target_to_date'])}."
    return Finding(headline, cause.strip() if len(below) else "", entered)


def _missing_by_role(month: Month, missing: ReportTable) -> str:
    """Say which role lacks most hours, unless several do: people are not named for it."""
    by_role = missing.rows.groupby(page_parts.roles_of(month, missing.rows["user_id"]))["missing_hours"].sum()
    role, total = str(by_role.idxmax()), float(missing.total["missing_hours"].iloc[0])
    if by_role.max() >= total - LEAST_HOURS or (by_role > by_role.max() - LEAST_HOURS).sum() > 1:
        return f"{_hours(total)} may be missing."
    return f"{role} lack {_hours(by_role.max())} of the {_hours(total)} that may be missing."


def _time_to_enter(missing: ReportTable) -> str:
    total = float(missing.total["missing_hours"].iloc[0])
    if total < LEAST_HOURS:
        return ""
    days, people = int(missing.total["short_days"].iloc[0]), len(missing.rows)
    who = (
        f"{people} people enter their time" if people > 1 else f"{missing.rows[missing.label].iloc[0]} enters the time"
    )
    return f"{_hours(total)} on {count_of(days, 'day')} may still be missing: {who} or days of leave."


def budgets(month: Month) -> Finding | None:
    """Say which matters are over their budgets, if there are several; the first page names a single one."""
    over = report_tables.over_budget(month)
    if len(over) < 2:
        return None
    names = [f"{row['matter_name']} ({money(-row['remaining_amount'])})" for row in over.to_dict("records")]
    return Finding(
        f"{len(over)} matters are over their budgets, by {money(-over['remaining_amount'].sum())} in all.",
        f"{join_names(names[:3])}.",
        _next(_of(month, "budgets")),
    )


def budgets_in_short(month: Month) -> str:
    """Say how much of their budgets the matters have used."""
    table, over = report_tables.budgets(month), len(report_tables.over_budget(month))
    if table is None or table.rows.empty:
        return ""
    burn = table.rows["budget_burn"]
    kept = burn[table.rows["remaining_amount"] > -A_UNIT]
    used = f"the others have used up to {_ratio(kept.max())}" if over else f"the most used is {_ratio(kept.max())}"
    first = count_of(len(burn), "matter")
    if over:
        first = f"{over} of {first} {'is' if over == 1 else 'are'} over"
    return f"{first}; {used}" if len(kept) else first


def fee_targets_in_short(month: Month) -> str:
    """Say how much of their target of fees people have reached."""
    table = figures.targets("fees", month)
    if table is None or table.total.empty:
        return ""
    whole, people = table.total.iloc[0], count_of(len(table.rows), "person", "people")
    return f"{people} reached {_ratio(whole['pace'])} of the target, and {_ratio(whole['pace_to_date'])} of the year’s"


def work(month: Month) -> Finding | None:
    """Say which matter has most of the old work."""
    rows = month.with_distinct_names(month.of("wip", ["client", "matter", "responsible"]))
    total, old = float(rows["total"].sum()), float(rows[OLDEST].sum())
    if not (total > 0 and rules.OLD_WORK.holds(old / total)):
        return None
    first: Any = rows.sort_values(OLDEST, ascending=False, kind="stable").iloc[0]
    headline = (
        f"{money(first[OLDEST])} of the {money(old)} older than 90 days is on one matter, {first['matter_name']}."
    )
    whose = first["responsible_name"] if pd.notna(first["responsible_name"]) else "nobody"
    drafts = float(rows["prebill_amount"].sum())
    cause = f"{whose[:1].upper()}{whose[1:]} is responsible for it (client: {first['client_name']})."
    cause += f" {money(drafts)} of all work is on draft bills." if drafts >= A_UNIT else ""
    return Finding(headline, cause, _next(_of(month, "work_in_progress")))


def work_in_short(month: Month) -> str:
    """Say how much work is in progress, and how much is on contingency."""
    row = month.of("wip").iloc[0]
    contingent = float(row["contingent_amount"])
    rest = f"; {money(contingent)} is on contingency" if contingent >= A_UNIT else ""
    return f"{money(row['total'])} is on no final invoice{rest}"


def receivables(month: Month) -> Finding | None:
    """Say which clients owe most of what is more than 90 days overdue, and whether work for them continues."""
    row = month.of("aging").iloc[0]
    late, owed = float(row["overdue"]), float(row["total"]) - float(row["credit_amount"])
    if not late > 0 or not rules.OVERDUE.holds(late / owed):
        return None
    rows = called(month)
    if rows.empty:
        return None
    is_old = rows[OLDEST].sum() >= A_UNIT
    column, words = (OLDEST, "that is more than 90 days overdue") if is_old else ("overdue", "that is overdue")
    rows = rows.sort_values(column, ascending=False, kind="stable")
    total = float(rows[column].sum())
    few = rows.head(_MOST_NAMED) if len(rows) > _MOST_NAMED else rows.head(1)
    part = float(few[column].sum())
    verb = "owes" if len(few) == 1 else "owe"
    headline = f"{join_names(few['client_name'].tolist())} {verb} {money(part)} of the {money(total)} {words}."
    if len(rows) == 1:
        headline = f"{few['client_name'].iloc[0]} owes all of the {money(total)} {words}."
    cause = " ".join(filter(None, (key_points.last_work(month, each) for each in few.to_dict("records"))))
    return Finding(headline, cause, _next(_of(month, "receivables")))


def trends(month: Month) -> Finding | None:
    """Say how the fees of twelve months changed, if those of the year before are known."""
    name, (now, before) = month.fees_column, _two_years(month)
    if not before > 0 or not abs(now / before - 1) > 0:
        return None
    by = _ratio(abs(now / before - 1))
    return Finding(rules.moved(f"{measures()[name].title} of twelve months", now - before, now, "money", by=by))


def _two_years(month: Month) -> Iterator[float]:
    """Yield the fees of twelve months and those of the year before; missing ones are not known."""
    if not month.other_fees:
        rows = month.month_by_month("billed_amount").iloc[-YEAR:]
        yield from (float(rows[name].sum(skipna=False)) for name in ("now_amount", "year_ago_amount"))
        return
    for each in (standing_out.twelve_months(month), year_before(month.earlier(YEAR - 1), month.last)):
        if month.is_known(each):
            yield float(month.result("contribution", by=None, start=each.start, end=each.end)["fees_amount"].iloc[0])
        else:
            yield math.nan


def trends_in_short(month: Month) -> str:
    """Say the fees of the months that are known."""
    name = month.fees_column
    known = month.by_month[name].iloc[-YEAR:].dropna()
    title = measures()[name].title.lower()
    return f"{count_of(len(known), 'month')}, {title} {money(known.sum())}" if len(known) else ""


def _of(month: Month, section: str) -> list[ToDo]:
    return [each for each in to_do(month, most=0) if each.section == section]


def _next(rows: Iterable[ToDo]) -> str:
    few = sorted(rows, key=lambda each: -each.amount)[:_MOST_NAMED]
    texts = [f"{each.person}: {each.what[:1].lower()}{each.what[1:]} ({each.of}{each.shown_amount})" for each in few]
    return f"{'; '.join(texts)}." if texts else ""


def _signed(value: Any) -> str:
    return f"{'+' if value > 0 else ''}{money(value)}"


def _ratio(value: float) -> str:
    return format_number(float(value), "ratio")


def _hours(value: Any) -> str:
    return f"{format_number(float(value), 'hours')} hours"


def _points(value: float) -> str:
    return f"{format_rounded(value * 100, '{:,.1f}')} points"
