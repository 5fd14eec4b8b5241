"""The tables of the report, and its lists: matters with budgets, stale matters, missing time and time entries."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, enum_label, format_number, long_date
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.results.result_rows import total_of
from billframes.report.month import A_UNIT, LEAST_HOURS, Month, once
from billframes.report.month_days import YEAR
from billframes.report.table_spec import ReportTable, Table, largest_first, of_analysis

BY_MONTH = (
    "Client and available hours belong to the month of the work. Value of time billed, fees billed and the settled "
    "share belong to the month of the invoice. The settled share follows from today’s balances, so recent invoices "
    "still have time to be settled."
)
SCOPE_HOURS = (
    "Hours on these matters. Client hours are billable and fixed-fee time, except on internal matters. Available hours "
    "are not divided among matters, so only the firm’s report shows utilization."
)
_TRENDS = (
    "client_hours",
    "capacity_hours",
    "utilization",
    "worked_amount",
    "write_down_amount",
    "billed_amount",
    "billing_realization",
    "settlement_ratio",
)
_SHORT_DAYS = Measure("short_days", "Short days", "count", "Working days with less time than expected.", adds_up=True)


def realization(by: str) -> Table:
    """Return a table of realization by a key. If rates are hidden, the value of work is missing."""
    return Table(analysis="realization", by=by, order=("worked_amount", "billed_amount"), prepare=unless_zero)


def unless_zero(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, or none if all their amounts are 0, as those of invoices with only fixed fees."""
    amounts = rows.filter(regex="_(?:amount|hours)$")
    return rows if amounts.empty or (amounts != 0).any(axis=None) else rows.iloc[:0]


write_downs = Table(analysis="write_downs", by="responsible", order=("write_down_amount",), prepare=unless_zero)


def wip(by: str) -> Table:
    """Return a table of work in progress by a key."""
    return Table(analysis="wip", by=by, title="Work in progress by {by}", order=("total",))


def balances(month: Month) -> list[str]:
    """Say that the balances are of a later day than the day they are aged to, if they are."""
    return [later_balances(month.balances_day, month.as_of)] if month.balances_day else []


def later_balances(loaded: dt.date, as_of: dt.date) -> str:
    """Say that the balances are those of the day they were loaded, which is after `as_of`."""
    return (
        f"Balances are those of {long_date(loaded)}, when they were loaded. Payments since {long_date(as_of)} are "
        "already deducted, so this is not what was owed on that day."
    )


_LOCKUP = Table(analysis="lockup", by="responsible", order=("wip_amount",), notes=balances)


def lockup(month: Month) -> ReportTable | None:
    """Return lock-up by responsible lawyer; None if lock-up says nothing of the firm."""
    return None if month.why_no_lockup else _LOCKUP(month)


receivables = Table(analysis="aging", title="Receivables by {by}", by="client", order=("total",), notes=balances)


def _with_invoice(rows: pd.DataFrame) -> pd.DataFrame:
    client = rows["client_name"].astype("str").fillna("No client")
    return rows.assign(invoice=client + ", " + rows["invoice_number"].astype("str").fillna(""))


overdue_invoices = Table(analysis="overdue_invoices", order=("balance",), label="invoice", prepare=_with_invoice)


def timekeepers(month: Month) -> ReportTable:
    """Return utilization by timekeeper, with a note on people without hours, who are only in the total."""
    rows, total = month.with_distinct_names(month.of("utilization", "user")), month.of("utilization")
    idle = rows["total_hours"].abs() < LEAST_HOURS
    rows, without = largest_first(rows[~idle], "client_hours" if month.scope else "utilization"), rows[idle]
    table = of_analysis(
        "utilization",
        "Utilization by timekeeper",
        rows.iloc[:0] if month.is_empty else rows,
        total,
        notes=() if month.scope or month.is_empty else _without_hours(without),
        top=0,
    )
    if not month.scope:
        return table
    # Available hours are not divided among matters.
    unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
    hours = tuple(each for each in table.columns if each.unit == "hours" and each.name not in unknown)
    return replace(table, title="Hours by timekeeper", columns=hours, meaning=(SCOPE_HOURS,))


def _without_hours(idle: pd.DataFrame) -> tuple[str, ...]:
    """Name the people without hours, and say how much of the total is theirs, so that readers can add it up."""
    if idle.empty:
        return ()
    parts = (("capacity_hours", "{} available hours"), ("target_hours", "target of {} hours"))
    sums = [(float(idle[name].sum()), words) for name, words in parts if name in idle]
    included = " and ".join(words.format(format_number(found, "hours")) for found, words in sums if found)
    names = ", ".join(idle["user_name"].astype("str"))
    return (f"No hours recorded: {names}." + (f" The total includes their {included}." if included else ""),)


# What a figure is called in titles, and the column of its change.
_FIGURES = {"billed_amount": ("fees billed", "change_amount"), "billing_realization": ("realization", "change_ratio")}


def change(measure: str, month: Month) -> ReportTable | None:
    """Return the change of a figure since last month by client; None if last month is not fully known."""
    if not month.is_known(month.same_days(1)):
        return None
    by, (figure, changed) = month.grouping_key("client"), _FIGURES[measure]
    rows, total = month.changes(measure, by)
    rows = unless_zero(rows)
    if rows[changed].isna().all():
        return None
    rows = month.with_distinct_names(rows).sort_values(changed, key=abs, ascending=False, kind="stable")
    title = f"Change of {figure} by {title_of_key(by)}"
    made = of_analysis("bridge", title, rows.reset_index(drop=True), total, bar=changed)
    return replace(made, columns=tuple(_of_period(each, month) for each in made.columns))


def _of_period(column: Measure, month: Month) -> Measure:
    """Return a column of the figures before or after with the name of the period in place of these words."""
    what, _, when = column.title.rpartition(" ")
    if when not in {"before", "after"}:
        return column
    days = month.same_days_name(1 if when == "before" else 0)
    return replace(column, title=f"{what}, {days}", meaning=column.meaning.replace(f" {when}.", f" in {days}."))


change_of_fees = partial(change, "billed_amount")
change_of_realization = partial(change, "billing_realization")


def month_by_month(measure: str, month: Month) -> ReportTable:
    """Return a table of a figure for twelve months, each beside the month before and the year before."""
    rows, title = month.month_by_month(measure), f"{_FIGURES[measure][0].capitalize()} month by month"
    return of_analysis("compare", title, rows, rows.iloc[:0], label="month", top=0, names=month.names_of_parts)


def twelve_months(month: Month) -> ReportTable:
    """Return hours, utilization, fees billed and realization for twelve months."""
    rows = month.by_month.iloc[-YEAR:].rename_axis("month").reset_index()
    # Available hours are not divided among matters.
    unknown = {"capacity_hours", "utilization"} if month.scope else set()
    return ReportTable(
        title="Twelve months",
        label="month",
        labels=("month",),
        rows=rows,
        total=rows.iloc[:0],
        columns=tuple(measures()[name] for name in _TRENDS if name not in unknown),
        meaning=(BY_MONTH,),
        names=month.names_of_parts,
        top=0,
    )


def fees_by_originator(month: Month) -> ReportTable:
    """Return fees by originator; the shares of an invoice's originators add up to its fees."""
    rows = month.with_distinct_names(month.of("contribution", "originator"))
    # The last of the running shares is that of all fees.
    total = pd.DataFrame([total_of(rows) | {"running_share": rows["running_share"].max()}])
    return of_analysis("contribution", "Fees by originator", rows, total, order="fees_amount")


def scorecard(month: Month) -> ReportTable:
    """Return the firm's scorecard by timekeeper, with a note on people without figures."""
    rows = month.of("scorecard", "user", as_of=month.as_of)
    rows = month.with_distinct_names(rows)
    amounts = rows[["billed_amount", "wip_amount", "receivable_amount"]].fillna(0)
    empty = (rows["client_hours"].abs() < LEAST_HOURS) & (amounts == 0).all(axis=1)
    names = ", ".join(rows.loc[empty, "user_name"].astype("str"))
    note = (
        f"Not listed, because they have neither client hours nor amounts: {names}. Amounts of peers are the mean of "
        "everyone with available hours."
    )
    notes = (note,) if names else ()
    return of_analysis("scorecard", "Scorecard by timekeeper", rows[~empty], rows.iloc[:0], notes=notes)


def prebills(month: Month) -> ReportTable:
    """Return the items on the firm's invoices that are not final."""
    rows = month.with_distinct_names(month.draft_items)
    who = ("invoice_number", "client_name", "responsible_name", "date", "user_name", "matter_name")
    labels = (*who, "description", "findings")
    as_of = f" as of {long_date(month.loaded_on)}" if month.loaded_on else ""
    note = f"Items of any date on invoices that are drafts, in review or approved{as_of}. Flags show possible errors."
    made = of_analysis(
        "prebill_review", "Items on draft bills", rows, rows.iloc[:0], label="item_id", labels=labels, notes=(note,)
    )
    return replace(made, columns=tuple(each for each in made.columns if each.name not in labels))


def time_entries(month: Month) -> ReportTable:
    """Return the month's time entries with their descriptions, sorted by day, person and matter."""
    entries = month.book.time_entries
    entries = entries[entries["date"].between(pd.Timestamp(month.first), pd.Timestamp(month.last))]
    entries = entries.assign(billing_type=[enum_label(str(each)) for each in entries["billing_type"]])
    order = ["date", "user_name", "matter_name", "time_entry_id"]
    rows = month.with_distinct_names(entries.sort_values(order, kind="stable", ignore_index=True))
    return ReportTable(
        title="Time entries",
        label="description",
        labels=("date", "user_name", "client_name", "matter_name", "billing_type", "description"),
        rows=rows,
        total=pd.DataFrame({"hours": [rows["hours"].sum()]}),
        columns=(measures()["hours"],),
        meaning=("Time dated in the month, of every billing type, with its descriptions.",),
    )


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


def over_budget(month: Month) -> pd.DataFrame:
    """Return the firm's matters that are over their budgets, the one that is most over it first; none for a part."""
    table = None if month.scope else budgets(month)
    if table is None:
        return pd.DataFrame({"matter_id": [], "remaining_amount": []})
    rows = table.rows[table.rows["remaining_amount"] <= -A_UNIT]
    return rows.sort_values("remaining_amount", kind="stable")


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
