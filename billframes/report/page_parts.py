"""The tables and charts of each section on the page: those of the workbook with fewer columns, and some of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, enum_label, money
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.lookup import measure, measures
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.sheets.utilization import TIMEKEEPERS
from billframes.report import figures, report_tables
from billframes.report.line_chart import LineChart, fees_line, year_lines
from billframes.report.month import A_UNIT, Month
from billframes.report.page_table import Cell, PageRow, PageTable, page_table
from billframes.report.table_spec import ReportTable, largest_first
from billframes.report.to_do import called
from billframes.wings import in_report

_DIFFERENCE = Measure("difference_hours", "Difference", "hours", "Client hours less the target.", adds_up=True)
_YEAR_PACE = Measure("pace_to_date", "Year to date", "ratio", "Client hours of the year to date ÷ their target.")
_COUNT = Measure("invoices", "Invoices", "count", "Invoices with an overdue balance.", adds_up=True)
_OLDEST = Measure("oldest", "Oldest, days", "count", "Days since the oldest of them was due.")
_OLD = Measure("91+", "91+ days", "money", "Overdue for more than 90 days.", adds_up=True)
_REALIZATION = ("write_down_amount", "worked_amount", "billed_amount", "billing_realization")


def fees(month: Month) -> list[ReportTable]:
    """Return the change of fees billed by client."""
    table = report_tables.change_of_fees(month)
    if table is None:
        return []
    names = [each.name for each in table.columns]
    brief = [name for name in names if name in {"change_amount", "after_amount"} or "_change_" in name]
    return [replace(table, brief=tuple(brief))]


def realization(month: Month) -> list[ReportTable]:
    """Return realization by practice area, and by client in a list."""
    area, client = month.grouping_key("practice_area"), month.grouping_key("client")
    made = [_realization(month, "practice_area"), _realization(month, "client")]
    largest = largest_write_downs(month, area, client)
    words = [
        f"{row[f'{client}_name']}, {money(row['write_down_amount'])}" if row is not None else ""
        for row in map(largest.get, made[0].rows[f"{area}_id"].fillna(""))
    ]
    below, floor = made[1].rows["billing_realization"], month.settings.realization_floor
    few = "" if floor is None else f", {int((below < floor).sum())} of them below the floor"
    clients = count_of(len(made[1].rows), title_of_key(client))
    rows, titles = made[0].rows.assign(largest=words), {"largest": "Largest write-down"}
    return [
        replace(made[0], rows=rows, words=("largest",), titles=titles),
        replace(made[1], fold=f"By {title_of_key(client)}: {clients}{few}"),
    ]


def _realization(month: Month, by: str) -> ReportTable:
    table = report_tables.realization(by)(month)
    known = len(table.total) and pd.notna(table.total["write_down_amount"].iloc[0])
    order = "write_down_amount" if known else table.order
    return replace(table, brief=_REALIZATION, order=order, rows=largest_first(table.rows, order))


def largest_write_downs(month: Month, key: str, *more: str) -> dict[str, Any]:
    """Return by the value of a key the part of it that was written down most, such as the client of a practice area."""
    rows = month.of("realization", [key, *more])
    rows = month.with_distinct_names(rows).dropna(subset=["write_down_amount"])
    rows = largest_first(rows[rows["write_down_amount"] >= A_UNIT], "write_down_amount")
    first = rows.assign(key=rows[f"{key}_id"].fillna("")).drop_duplicates("key")
    return {str(row["key"]): row for row in first.to_dict("records")}


def hours(month: Month) -> list[ReportTable | PageTable]:
    """Return hours beside targets by role and name; without targets, utilization."""
    table = report_tables.timekeepers(month)
    if month.scope or table.rows.empty:
        return [table]
    ids, missing = table.rows["user_id"], report_tables.missing_time(month).rows.set_index("user_id")["missing_hours"]
    rows = _by_role(table.rows.assign(role=roles_of(month, ids), missing_hours=ids.map(missing)))
    total = table.total.assign(missing_hours=missing.sum())
    columns = tuple(measures()[name] for name in ("client_hours", "capacity_hours", "utilization", "missing_hours"))
    table = replace(table, rows=rows, total=total, columns=columns, brief=(), bar="client_hours", group="role")
    goals = figures.targets("hours", month)
    return [page_table(table, rows) if goals is None else _beside_targets(month, table, goals)]


def _beside_targets(month: Month, table: ReportTable, goals: ReportTable) -> PageTable:
    by_id = goals.rows.set_index("user_id")
    target, year = (table.rows["user_id"].map(by_id[name]) for name in ("target", "pace_to_date"))
    rows = table.rows.assign(
        target_hours=target, difference_hours=table.rows["client_hours"] - target, pace_to_date=year
    )
    is_part = month.first_of_year < month.first
    columns = [measures()["client_hours"], measures()["target_hours"], _DIFFERENCE, *([_YEAR_PACE] if is_part else [])]
    with_goal = target.notna()
    sums = rows.loc[with_goal, ["client_hours", "target_hours", "difference_hours", "missing_hours"]].sum()
    shown = replace(
        table,
        rows=rows,
        total=pd.DataFrame([{**sums, "pace_to_date": goals.total["pace_to_date"].iloc[0]}]),
        total_name=f"{count_of(int(with_goal.sum()), 'person', 'people')} with a target",
        columns=(*columns, measures()["missing_hours"]),
        mark="target_hours",
        titles={"bar": "mark: target"},
    )
    made = page_table(shown, rows)
    people = list(zip(made.rows, with_goal, strict=True))
    outside = [replace(each, detail="no target", group="") for each, has_goal in people if not has_goal]
    inside = [each for each, has_goal in people if has_goal]
    return replace(made, rows=inside, after=outside, counts=(*made.counts, *goals.notes))


def roles_of(month: Month, ids: pd.Series[Any]) -> list[str]:
    """Return the role of each person in the plural, as the heading of a group."""
    users = month.firm_book.users.set_index("user_id")
    roles = users["role"].astype("str").to_dict() | dict(month.settings_by_id.roles)
    return [f"{enum_label(roles[each])}s" if roles.get(each) in TIMEKEEPERS else "Others" for each in ids]


def _by_role(rows: pd.DataFrame) -> pd.DataFrame:
    places = {f"{enum_label(each)}s": place for place, each in enumerate(TIMEKEEPERS)}
    rows = rows.assign(place=rows["role"].map(places).fillna(len(places)))
    return rows.sort_values(["place", "user_name"], kind="stable", ignore_index=True)


def budgets(month: Month) -> list[ReportTable]:
    """Return the matters with a budget: what is used, and the budget as a mark."""
    table = report_tables.budgets(month)
    if table is None:
        return []
    return [replace(table, bar="used_amount", mark="budget_amount", titles={"bar": "mark: budget"}, top=0)]


def work(month: Month) -> list[ReportTable]:
    """Return work in progress by responsible lawyer with lock-up, and by client in a list."""
    table = report_tables.wip("responsible")(month)
    lockup = report_tables.lockup(month)
    brief = ("total", "91+", "prebill_amount")
    if lockup is not None and table.label in lockup.rows:
        days = tuple(each for each in lockup.columns if each.unit == "days" and each.name != "days")
        names = [each.name for each in days]
        key = f"{table.label.removesuffix('_name')}_id"
        rows = table.rows.merge(lockup.rows[[key, *names]], on=key, how="left")
        total = table.total.assign(**{name: lockup.total[name].iloc[0] for name in names})
        table = replace(table, rows=rows, total=total, columns=(*table.columns, *days), brief=(*brief, *names), top=0)
    else:
        table = replace(table, brief=(*brief, "61-90", "31-60", "contingent_amount"), top=0)
    other = report_tables.wip("client")(month)
    noun = title_of_key(other.label)
    listed = replace(
        other,
        brief=("total", "91+", "prebill_amount", "contingent_amount"),
        red="91+",
        fold=f"By {noun}: {count_of(len(other.rows), noun)}",
        top=20,
    )
    return [replace(table, red="91+"), listed]


def receivables(month: Month) -> list[Any]:
    """Return what is owed by age beside the cash that may come in, and whom to call."""
    table = report_tables.receivables(month)
    if table.rows.empty:
        return [table]
    halves = [_by_age(month), *filter(None, (each(month) for each in in_report("beside_receivables")))]
    calls = _calls(month)
    return [tuple(halves), *([calls] if len(calls.rows) else [])]


def _by_age(month: Month) -> PageTable:
    row = month.of("aging").iloc[0]
    names = [name for name in map(str, row.index) if name == "current" or name[0].isdigit()]
    titles = [found.title if (found := measure(name)) else name for name in names]
    rows = pd.DataFrame({"age": titles, "total": [float(row[name]) for name in names]})
    rows["91+"] = rows["total"].where(rows.index == len(rows) - 1, 0.0)
    table = ReportTable(
        title="Owed, by days past due",
        label="age",
        rows=rows,
        total=pd.DataFrame([{"total": float(row["total"])}]),
        columns=(measures()["total"],),
        bar="total",
        red="91+",
        total_name="Receivables",
    )
    made, unused = page_table(table, rows, caption=table.title), float(row["credit_amount"])
    credit = PageRow(name="Unused credits", cells=[Cell(money(unused)), Cell(bar=())])
    return replace(made, rows=[*made.rows, credit]) if unused <= -A_UNIT else made


def _calls(month: Month) -> ReportTable:
    """Return the clients with overdue invoices: how much, how old, the last work, and who calls."""
    rows = called(month)
    entries = month.firm_book.time_entries
    # Leave and appointments are entered in advance.
    done = entries[entries["date"] <= pd.Timestamp(month.as_of)]
    work_of = done.groupby("client_id")["date"].max().to_dict()
    last_work, lawyers = pd.to_datetime(rows["client_id"].map(work_of)), rows["responsible_name"].fillna(UNASSIGNED)
    rows = rows.assign(last_work=last_work, responsible=lawyers)
    sums = rows[["overdue", "91+", "invoices"]].sum()
    return ReportTable(
        title="Whom to call",
        label="client_name",
        rows=rows,
        total=pd.DataFrame([{**sums, "oldest": rows["oldest"].max()}]),
        columns=(measures()["overdue"], _OLD, _COUNT, _OLDEST),
        order="overdue",
        red="91+",
        words=("last_work", "responsible"),
        titles={"last_work": "Last work", "responsible": "Who calls"},
        total_name="Overdue",
        is_alone=False,
    )


def trends(month: Month) -> list[tuple[LineChart, ...]]:
    """Return the fees and realization of twelve months, each as a line."""
    billed = None if month.other_fees else year_lines(month, "billed_amount")
    realized = year_lines(month, "billing_realization")
    drawn = tuple(filter(None, (billed or fees_line(month), realized)))
    return [drawn] if drawn else []
