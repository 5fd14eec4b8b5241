"""Lists of the report: matters with budgets, stale matters, and missing time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pandas as pd

from billframes._shared.format import count_of
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import Measure
from billframes.report.month import Month, once
from billframes.report.table_spec import ReportTable, Table, largest_first

_SHORT_DAYS = Measure("short_days", "Short days", "count", "Working days with less time than expected.", adds_up=True)


def _with_all_findings(rows: pd.DataFrame) -> pd.DataFrame:
    joined = rows.groupby("matter_id")["finding"].agg(_in_words).str.capitalize()
    return rows.assign(all_findings=rows["matter_id"].map(joined))


def _in_words(findings: pd.Series[Any]) -> str:
    return ", ".join(each if number == 1 else count_of(number, each) for each, number in Counter(findings).items())


_STALE = Table(
    analysis="stale",
    order=("open_amount",),
    label="matter_name",
    prepare=_with_all_findings,
    beside=("client_name", "responsible_name", "all_findings"),
    once="matter_id",
)


def stale(month: Month) -> ReportTable:
    """Return stale work and matters. The page has those of the budgets only there, with their findings."""
    table, budgeted = _STALE(month), budgets(month)
    elsewhere: list[str] = [] if budgeted is None else budgeted.page_rows()["matter_id"].tolist()
    return replace(table, elsewhere=frozenset(elsewhere) & frozenset(table.rows["matter_id"]))


missing_time_by_day = Table(analysis="missing_time", order=("missing_hours",), label="user_name", beside=("date",))


@once
def missing_time(month: Month) -> ReportTable:
    """Return the days with less time than expected and the hours missing on them, one row per person."""
    days = month.with_distinct_names(month.result("missing_time", start=month.first, end=month.last))
    sums = {"short_days": ("date", "size"), "missing_hours": ("missing_hours", "sum")}
    rows = days.groupby(["user_id", "user_name"], dropna=False, sort=False).agg(**sums).reset_index()
    return ReportTable(
        title="Missing time by timekeeper",
        label="user_name",
        labels=("user_name",),
        rows=largest_first(rows, "missing_hours"),
        total=pd.DataFrame([rows[[*sums]].sum()]),
        columns=(_SHORT_DAYS, measures()["missing_hours"]),
        order="missing_hours",
        top=0,
        meaning=("Working days with less time than expected, and the hours missing on them.",),
    )


_BUDGETS = Table(
    analysis="budget_burn",
    title="Budgets",
    label="matter_name",
    order=("budget_burn",),
    prepare=lambda rows: rows[rows["budget_amount"].notna()],
    notes=lambda _month: [
        "Used are fees billed, fixed fees, draft bills and unbilled time over the matter’s whole life."
    ],
)


@once
def budgets(month: Month) -> ReportTable | None:
    """Return the matters that have a budget; None if the firm's settings have none."""
    if not month.settings.budgets:
        return None
    table = _BUDGETS(month)
    who = ("client_name", "responsible_name")
    matters = month.with_distinct_names(month.firm_book.matters[["matter_id", "client_id", "responsible_id", *who]])
    rows = table.rows.merge(matters[["matter_id", *who]], on="matter_id", how="left")
    findings = _STALE(month).rows.drop_duplicates("matter_id").set_index("matter_id")["all_findings"]
    rows = rows.assign(all_findings=rows["matter_id"].map(findings))
    return replace(table, rows=rows, labels=("matter_name", *who), beside=(*who, "all_findings"))
