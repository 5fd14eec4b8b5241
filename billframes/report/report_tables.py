"""The tables of the report, in the order of its outline."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pandas as pd

from billframes._shared.format import enum_label, format_number, long_date
from billframes.analysis.declare.lookup import measures
from billframes.analysis.declare.metrics import title_of_key
from billframes.analysis.results.result_rows import total_of
from billframes.report.month import LEAST_HOURS, Month
from billframes.report.month_days import YEAR
from billframes.report.table_spec import (
    MakeTable,
    ReportTable,
    Table,
    declared_table,
    largest_first,
    of_analysis,
)

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


receivables = Table(
    analysis="aging",
    title="Receivables by {by}",
    by="client",
    order=("total",),
    notes=balances,
)


def _with_invoice(rows: pd.DataFrame) -> pd.DataFrame:
    client = rows["client_name"].astype("str").fillna("No client")
    return rows.assign(invoice=client + ", " + rows["invoice_number"].astype("str").fillna(""))


overdue_invoices = Table(analysis="overdue_invoices", order=("balance",), label="invoice", prepare=_with_invoice)


def timekeepers(month: Month) -> ReportTable:
    """Return utilization by timekeeper, with a note on people without hours, who are only in the total."""
    rows, total = month.with_distinct_names(month.utilization), month.utilization_total
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


def change(measure: str) -> MakeTable:
    """Return a table of the change of a figure since last month by client; None if last month is not fully known."""
    figure = {"billed_amount": "fees billed", "billing_realization": "realization"}[measure]

    def make(month: Month) -> ReportTable | None:
        if not month.is_known(month.same_days(1)):
            return None
        by = month.grouping_key("client")
        rows, total = month.changes(measure, by)
        rows = unless_zero(rows)
        changed = {"billed_amount": "change_amount", "billing_realization": "change_ratio"}[measure]
        if rows[changed].isna().all():
            return None
        title = f"Change of {figure} by {title_of_key(by)}"
        rows = month.with_distinct_names(rows).sort_values(changed, key=abs, ascending=False, kind="stable")
        return of_analysis("bridge", title, rows.reset_index(drop=True), total, bar=changed)

    return make


change_of_fees = change("billed_amount")
change_of_realization = change("billing_realization")


def month_by_month(measure: str) -> MakeTable:
    """Return a table of a figure for twelve months, each beside the month before and the year before."""
    figure = {"billed_amount": "Fees billed", "billing_realization": "Realization"}[measure]

    def make(month: Month) -> ReportTable:
        rows = month.month_by_month(measure)
        title = f"{figure} month by month"
        return of_analysis("compare", title, rows, rows.iloc[:0], label="month", top=0, names=month.names_of_parts)

    return make


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
    rows = month.with_distinct_names(month.result("contribution", by="originator", start=month.first, end=month.last))
    # The last of the running shares is that of all fees.
    total = pd.DataFrame([total_of(rows) | {"running_share": rows["running_share"].max()}])
    return of_analysis("contribution", "Fees by originator", rows, total, order="fees_amount")


def scorecard(month: Month) -> ReportTable:
    """Return the firm's scorecard by timekeeper, with a note on people without figures."""
    rows = month.result("scorecard", by="user", start=month.first, end=month.last, as_of=month.as_of)
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
    columns = tuple(each for each in declared_table("prebill_review").measures(rows) if each.name not in labels)
    none = rows.iloc[:0]
    return of_analysis(
        "prebill_review",
        "Items on draft bills",
        rows,
        none,
        label="item_id",
        labels=labels,
        columns=columns,
        notes=(note,),
    )


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
