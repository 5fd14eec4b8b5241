"""The tables and charts of each section on the page: those of the workbook with fewer columns, and some of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, enum_label, format_number
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.declare.lookup import measure, measures
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.report import figures, lists, report_tables
from billframes.report.line_chart import LineChart, fees_line, year_lines
from billframes.report.month import A_UNIT, Month
from billframes.report.open_amounts import called
from billframes.report.page_table import PageTable, page_table
from billframes.report.table_spec import ReportTable, largest_first
from billframes.wings import in_report

_ROLES = ("principal", "attorney", "paralegal", "timekeeper")
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
    brief = [
        each.name for each in table.columns if each.name in {"change_amount", "after_amount"} or "_change_" in each.name
    ]
    return [replace(table, brief=tuple(brief))]


def targets_of_fees(month: Month) -> list[ReportTable]:
    """Return fees billed by the people who have a target of fees."""
    table = figures.targets("fees")(month)
    return [] if table is None else [table]


def realization(month: Month) -> list[ReportTable]:
    """Return realization by practice area, and by client in a list."""
    area, client = month.grouping_key("practice_area"), month.grouping_key("client")
    made = [_realization(month, "practice_area"), _realization(month, "client")]
    largest = largest_write_downs(month, area, client)
    words = [
        f"{row[f'{client}_name']}, {format_number(row['write_down_amount'], 'money')}" if row is not None else ""
        for row in map(largest.get, made[0].rows[f"{area}_id"].fillna(""))
    ]
    below, floor = made[1].rows["billing_realization"], month.settings.realization_floor
    few = "" if floor is None else f", {int((below < floor).sum())} of them below the floor"
    clients = count_of(len(made[1].rows), title_of_key(client))
    return [
        replace(
            made[0],
            rows=made[0].rows.assign(largest=words),
            words=("largest",),
            titles={"largest": "Largest write-down"},
        ),
        replace(made[1], fold=f"All {title_of_key(client)}s: {clients}{few}", top=0),
    ]


def _realization(month: Month, by: str) -> ReportTable:
    table = report_tables.realization(by)(month)
    known = len(table.total) and pd.notna(table.total["write_down_amount"].iloc[0])
    order = "write_down_amount" if known else table.order
    return replace(table, brief=_REALIZATION, order=order, rows=largest_first(table.rows, order))


def largest_write_downs(month: Month, key: str, *more: str) -> dict[str, Any]:
    """Return by the value of a key the part of it that was written down most, such as the client of a practice area."""
    rows = month.result("realization", by=[key, *more], start=month.first, end=month.last)
    rows = month.with_distinct_names(rows).dropna(subset=["write_down_amount"])
    rows = largest_first(rows[rows["write_down_amount"] >= A_UNIT], "write_down_amount")
    first = rows.assign(key=rows[f"{key}_id"].fillna("")).drop_duplicates("key")
    return {str(row["key"]): row for row in first.to_dict("records")}


def hours(month: Month) -> list[ReportTable | PageTable]:
    """Return hours beside targets by role and name; without targets, utilization."""
    table = report_tables.timekeepers(month)
    if month.scope or table.rows.empty:
        return [table]
    rows = table.rows.assign(role=roles_of(month, table.rows["user_id"]))
    missing = lists.missing_time(month).rows.set_index("user_id")
    rows = rows.assign(missing_hours=rows["user_id"].map(missing["missing_hours"]))
    goals = figures.targets("hours")(month)
    columns: list[Measure] = [measures()["client_hours"]]
    if goals is not None:
        by_id = goals.rows.set_index("user_id")
        rows = rows.assign(
            target_hours=rows["user_id"].map(by_id["target"]), pace_to_date=rows["user_id"].map(by_id["pace_to_date"])
        )
        rows["difference_hours"] = rows["client_hours"] - rows["target_hours"]
        columns += [measures()["target_hours"], _DIFFERENCE]
        columns += [_YEAR_PACE] if month.first_of_year < month.first else []
    else:
        columns += [measures()[name] for name in ("capacity_hours", "utilization")]
    columns.append(measures()["missing_hours"])
    rows = _by_role(rows)
    with_goal = rows["target_hours"].notna() if goals is not None else pd.Series(data=True, index=rows.index)
    total = table.total.assign(missing_hours=missing["missing_hours"].sum())
    name = "Total"
    if goals is not None:
        sums = rows.loc[with_goal, ["client_hours", "target_hours", "difference_hours", "missing_hours"]].sum()
        total = pd.DataFrame([{**sums, "pace_to_date": goals.total["pace_to_date"].iloc[0]}])
        name = f"{count_of(int(with_goal.sum()), 'person', 'people')} with a target"
    shown = replace(
        table,
        rows=rows,
        total=total,
        total_name=name,
        columns=tuple(columns),
        brief=(),
        bar="client_hours",
        mark="target_hours" if goals is not None else "",
        group="role",
        titles={"bar": "mark: target" if goals is not None else ""},
    )
    made = page_table(shown, rows)
    inside = [each for each, has in zip(made.rows, with_goal, strict=True) if has]
    outside = [
        replace(each, detail="no target", group="") for each, has in zip(made.rows, with_goal, strict=True) if not has
    ]
    counts = (*made.counts, *(goals.notes if goals is not None else ()))
    return [replace(made, rows=inside, after=outside, counts=counts)]


def roles_of(month: Month, ids: pd.Series[Any]) -> list[str]:
    """Return the role of each person in the plural, as the heading of a group."""
    by_id = month.firm_book.users.set_index("user_id")["role"].astype("str")
    return [f"{enum_label(each)}s" if each in _ROLES else "Others" for each in ids.map(by_id)]


def _by_role(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort people by role and name."""
    places = {f"{enum_label(each)}s": place for place, each in enumerate(_ROLES)}
    rows = rows.assign(place=rows["role"].map(places).fillna(len(_ROLES)))
    return rows.sort_values(["place", "user_name"], kind="stable", ignore_index=True)


def budgets(month: Month) -> list[ReportTable]:
    """Return the matters with a budget: what is used, and the budget as a mark."""
    table = lists.budgets(month)
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
        rows = table.rows.assign(key=table.rows[key].fillna(""))
        beside = lockup.rows.assign(key=lockup.rows[key].fillna("")).drop_duplicates("key").set_index("key")
        rows = rows.assign(**{name: rows["key"].map(beside[name]) for name in names})
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
    row = month.receivables(None).iloc[0]
    names = [name for name in map(str, row.index) if name == "current" or name[0].isdigit()]
    titles = [found.title if (found := measure(name)) else name for name in names]
    rows = pd.DataFrame({"age": titles, "total": [float(row[name]) for name in names]})
    rows["91+"] = rows["total"].where(rows.index == len(rows) - 1, 0.0)
    unused = float(row["credit_amount"])
    made = page_table(
        ReportTable(
            title="Owed, by days past due",
            label="age",
            rows=rows,
            total=pd.DataFrame([{"total": float(row["total"])}]),
            columns=(measures()["total"],),
            bar="total",
            red="91+",
            total_name="Receivables",
        ),
        rows,
        caption="Owed, by days past due",
    )
    credit = page_table(
        ReportTable(
            title="",
            label="age",
            rows=rows,
            total=rows.iloc[:0],
            columns=(measures()["total"],),
            bar="total",
            red="91+",
        ),
        pd.DataFrame({"age": ["Unused credits"] * 2, "total": [unused, 0.0], "91+": [0.0, 0.0]}),
    ).rows[0]
    credit = replace(credit, cells=[credit.cells[0], *(each._replace(bar=(), axis=None) for each in credit.cells[1:])])
    return replace(made, rows=[*made.rows, credit] if unused <= -A_UNIT else made.rows)


def _calls(month: Month) -> ReportTable:
    """Return the clients with overdue invoices: how much, how old, the last work, and who calls."""
    rows = called(month)
    entries = month.firm_book.time_entries
    # Leave and appointments are entered in advance.
    done = entries[entries["date"] <= pd.Timestamp(month.as_of)]
    work_of = done.groupby("client_id")["date"].max().to_dict()
    rows = rows.assign(
        last_work=pd.to_datetime(rows["client_id"].map(work_of)),
        responsible=rows["responsible_name"].fillna(UNASSIGNED),
    )
    columns = (measures()["overdue"], _OLD, _COUNT, _OLDEST)
    sums = rows[["overdue", "91+", "invoices"]].sum()
    return ReportTable(
        title="Whom to call",
        label="client_name",
        rows=rows,
        total=pd.DataFrame([{**sums, "oldest": rows["oldest"].max()}]),
        columns=columns,
        order="overdue",
        red="91+",
        words=("last_work", "responsible"),
        titles={"last_work": "Last work", "responsible": "Who calls"},
        total_name="Overdue",
        is_alone=False,
    )


def trends(month: Month) -> list[tuple[LineChart, ...]]:
    """Return the fees and realization of twelve months, each as a line."""
    billed = None if month.other_fees else year_lines(month, "billed_amount", "now_amount")
    realized = year_lines(month, "billing_realization", "now_ratio")
    drawn = tuple(filter(None, (billed or fees_line(month), realized)))
    return [drawn] if drawn else []
