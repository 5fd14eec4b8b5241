"""The tables of the report, for the page and the workbook: their rows in order, totals and columns.

The page shows the largest rows and the sum of all others. The workbook shows all rows, in the same order and with the
same title. An analysis declares its columns: the page shows its `brief` columns, the workbook all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from billframes import tables
from billframes._format import format_number
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.declare.spec import measures
from billframes.analysis.results.result_rows import total_of
from billframes.report.month import LEAST_HOURS, Month
from billframes.tables import TableOf

__all__ = [
    "NARRATIVES",
    "TRENDS",
    "ReportTable",
    "budgets",
    "change",
    "effective_rates",
    "exposure",
    "invoices",
    "lockup",
    "month_by_month",
    "new_business",
    "overdue_invoices",
    "prebills",
    "realization",
    "receivables",
    "scorecard",
    "stale",
    "timekeepers",
    "top_and_rest",
    "trend_columns",
    "wip",
    "write_downs",
]

NARRATIVES = ("date", "user_name", "client_name", "matter_name", "billing_type", "description", "hours")
"""The columns of time entries with their narratives."""

TRENDS = {
    "utilization": ("client_hours", "capacity_hours", "utilization"),
    "realization": (
        "worked_amount",
        "write_down_amount",
        "billed_amount",
        "billing_realization",
        "settlement_ratio",
    ),
}
"""The columns of the twelve months, by the analysis whose chart shows them."""


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """
    One table of the report.

    Parameters
    ----------
    title : str
        The heading of its section, and the name of its sheet.
    analysis : str
    label : str
        The column that names the rows.
    rows : DataFrame
        All rows, in the order of the report.
    total : DataFrame
        One row, or none.
    order : str
        The column by which the largest rows are chosen; empty if the rows are sorted already.
    units : tuple of str
        The units of the columns to show; all columns if empty.
    without : tuple of str
        Columns not to show.
    """

    title: str
    analysis: str
    label: str
    rows: pd.DataFrame
    total: pd.DataFrame
    order: str = ""
    units: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def noun(self) -> str:
        """What a row is, such as "client"."""
        return title_of_key(self.label)

    @property
    def declared(self) -> TableOf:
        """The table that the analysis declares."""
        declared: TableOf = getattr(tables, self.analysis)
        return declared

    def columns(self, *, brief: bool) -> list[Measure]:
        """Return the columns of the page (brief) or of the workbook."""
        found = [each for each in self.declared.measures(self.rows) if each.name not in self.without]
        found = [each for each in found if not self.units or each.unit in self.units]
        chosen = self.declared.page_columns(self.rows) if brief else [each.name for each in found]
        return [each for each in found if each.name in chosen]


def timekeepers(month: Month) -> tuple[ReportTable, list[str]]:
    """Return utilization by timekeeper, and a note on people without hours, who are only in the total."""
    rows, total = month.with_distinct_names(month.utilization), month.utilization_total
    idle = rows["total_hours"].abs() < LEAST_HOURS
    note = [] if month.scope or month.is_empty else _without_hours(rows[idle])
    order = "client_hours" if month.scope else "utilization"
    rows = _largest_first(rows[~idle], order)
    table = ReportTable(
        title="Utilization by timekeeper",
        analysis="utilization",
        label="user_name",
        rows=rows.iloc[:0] if month.is_empty else rows,
        total=total,
        order="client_hours",
    )
    if not month.scope:
        return table, note
    # Available hours are not divided among matters.
    unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
    return replace(table, title="Hours by timekeeper", units=("hours",), without=unknown), note


def _without_hours(idle: pd.DataFrame) -> list[str]:
    """Name the people without hours, and say how much of the total is theirs, so that readers can add it up."""
    if idle.empty:
        return []
    parts = (("capacity_hours", "{} available hours"), ("target_hours", "target of {} hours"))
    sums = [(float(idle[name].sum()), words) for name, words in parts if name in idle]
    included = " and ".join(words.format(format_number(found, "hours")) for found, words in sums if found)
    names = ", ".join(idle["user_name"].astype("str"))
    return [f"No hours recorded: {names}." + (f" The total includes their {included}." if included else "")]


def realization(month: Month, by: str) -> ReportTable:
    """Return realization of the month's invoices by a key; in a report of one client, by matter and not by client."""
    by = month.grouping_key(by)
    rows, total = month.realization(by), month.realization(None)
    order = "worked_amount" if total["worked_amount"].notna().all() else "billed_amount"
    return _by("realization", f"Realization by {title_of_key(by)}", month, rows, total, order)


def receivables(month: Month) -> ReportTable:
    """Return receivables by client; in a report of one client, by matter."""
    by = month.grouping_key("client")
    title = f"Receivables by {title_of_key(by)}"
    return _by("aging", title, month, month.receivables(by), month.receivables(None), "total")


def wip(month: Month, by: str) -> ReportTable:
    """Return work in progress by a key."""
    by = month.grouping_key(by)
    title = f"Work in progress by {title_of_key(by)}"
    return _by("wip", title, month, month.wip(by), month.wip(None), "total")


def lockup(month: Month, by: str = "responsible") -> ReportTable:
    """Return lock-up by a key."""
    by = month.grouping_key(by)
    title = f"Lock-up by {title_of_key(by)}"
    return _by("lockup", title, month, month.lockup(by), month.lockup(), "wip_amount")


def change(month: Month, measure: str) -> ReportTable | None:
    """Return the change of a figure since last month by client; None if last month is not fully known."""
    if not month.is_known(month.same_days(1)):
        return None
    by = month.grouping_key("client")
    rows, total = month.changes(measure, by)
    figure = {"billed_amount": "fees billed", "billing_realization": "realization"}[measure]
    title = f"Change of {figure} by {title_of_key(by)}"
    return _by("bridge", title, month, rows, total, "")


def write_downs(month: Month, by: str = "responsible") -> ReportTable:
    """Return the firm's write-downs by a key, the largest first."""
    rows, total = (month.result("write_downs", by=key, start=month.first, end=month.last) for key in (by, None))
    title = f"Write-downs by {title_of_key(by)}"
    return _by("write_downs", title, month, rows, total, "write_down_amount")


def overdue_invoices(month: Month) -> ReportTable:
    """Return the firm's overdue invoices, the largest balance first."""
    rows = month.result("overdue_invoices", as_of=month.as_of)
    rows = _largest_first(month.with_distinct_names(rows), "balance")
    client = rows["client_name"].astype("str").fillna("No client")
    rows = rows.assign(invoice=client + ", " + rows["invoice_number"].astype("str").fillna(""))
    none = rows.iloc[:0]
    return ReportTable(
        title="Overdue invoices", analysis="overdue_invoices", label="invoice", rows=rows, total=none, order="balance"
    )


def exposure(month: Month) -> ReportTable:
    """Return the firm's work in progress and receivables together by client."""
    rows, total = (month.result("exposure", by=key, as_of=month.as_of) for key in ("client", None))
    return _by("exposure", "Exposure by client", month, rows, total, "exposure_amount")


def scorecard(month: Month) -> tuple[ReportTable, list[str]]:
    """Return the firm's scorecard by timekeeper, and a note on people without figures."""
    rows = month.result("scorecard", by="user", start=month.first, end=month.last, as_of=month.as_of)
    rows = month.with_distinct_names(rows)
    idle = rows["client_hours"].abs() < LEAST_HOURS
    amounts = rows[["billed_amount", "wip_amount", "receivable_amount"]].fillna(0)
    empty = idle & (amounts == 0).all(axis=1)
    table = _by("scorecard", "Scorecard by timekeeper", month, rows[~empty], rows.iloc[:0], "")
    names = ", ".join(rows.loc[empty, "user_name"].astype("str"))
    note = (
        f"Not listed, because they have neither client hours nor amounts: {names}. Amounts of peers are the mean of "
        "everyone with available hours."
    )
    return table, [note] if names else []


def effective_rates(month: Month) -> ReportTable:
    """Return the firm's rates by timekeeper and year. There is no total, because growth has none."""
    rows = month.result("effective_rates", by=["user", "year"], end=month.last)
    return _by("effective_rates", "Rates by timekeeper and year", month, rows, rows.iloc[:0], "")


def new_business(month: Month) -> ReportTable:
    """Return the firm's new business by practice area."""
    keys = ("practice_area", None)
    rows, total = (month.result("new_business", by=key, start=month.first, end=month.last) for key in keys)
    return _by("new_business", "New business by practice area", month, rows, total, "fees_amount")


def month_by_month(month: Month, measure: str) -> ReportTable:
    """Return a figure for twelve months, each beside the month before and the year before."""
    figure = {"billed_amount": "Fees billed", "billing_realization": "Realization"}[measure]
    rows = month.month_by_month(measure)
    rows = rows.assign(month=pd.to_datetime(rows["month"]))
    return ReportTable(
        title=f"{figure} month by month", analysis="compare", label="month", rows=rows, total=rows.iloc[:0]
    )


def prebills(month: Month, *, narratives: bool) -> ReportTable:
    """Return the items on the firm's invoices that are not final, with or without their narratives."""
    # Codes are checked for e-billing only.
    rows = month.with_distinct_names(month.result("prebill_review", codes=None, code_sets=None))
    none = rows.iloc[:0]
    without = () if narratives else ("description",)
    return ReportTable(
        title="Items on prebills", analysis="prebill_review", label="item_id", rows=rows, total=none, without=without
    )


def stale(month: Month) -> ReportTable:
    """Return the firm's old work, archived and idle matters, the largest open amount first."""
    rows = month.result("stale", as_of=month.as_of)
    rows = _largest_first(month.with_distinct_names(rows), "open_amount")
    findings = rows["finding"].astype("str").str.capitalize()
    rows = rows.assign(finding_and_matter=findings + ": " + rows["matter_name"].astype("str"))
    none = rows.iloc[:0]
    return ReportTable(
        title="Stale work and matters",
        analysis="stale",
        label="finding_and_matter",
        rows=rows,
        total=none,
        order="open_amount",
    )


def budgets(month: Month) -> ReportTable:
    """Return the matters that have a budget, those with the largest used share first."""
    rows = month.with_distinct_names(month.result("budget_burn"))
    rows = _largest_first(rows[rows["budget_amount"].notna()], "budget_burn")
    return ReportTable(title="Budgets", analysis="budget_burn", label="matter_name", rows=rows, total=rows.iloc[:0])


def invoices(month: Month) -> ReportTable:
    """Return the month's invoices beside the sums of their items; without a total, as some are not final."""
    rows = month.with_distinct_names(month.reconcile())
    return ReportTable(title="Invoices", analysis="reconcile", label="invoice_number", rows=rows, total=rows.iloc[:0])


def _by(analysis: str, title: str, month: Month, rows: pd.DataFrame, total: pd.DataFrame, order: str) -> ReportTable:
    label = next(name for name in map(str, rows.columns) if name.endswith(("_name", "_label")))
    rows = month.with_distinct_names(rows)
    if order:
        rows = _largest_first(rows, order)
    return ReportTable(title=title, analysis=analysis, label=label, rows=rows, total=total, order=order)


def trend_columns(analysis: str) -> list[Measure]:
    """Return the columns of the twelve months that an analysis has."""
    return [measures()[name] for name in TRENDS[analysis]]


def top_and_rest(frame: pd.DataFrame, label: str, order: str, *, top: int, rest: str) -> pd.DataFrame:
    """
    Keep the rows with the largest values of `order`, and add all other rows up into one.

    Parameters
    ----------
    frame : DataFrame
        A result with a column of labels and columns of numbers.
    label, order : str
        The column with the rows' names, and the column to sort by, largest first. If `order` is empty, rows stay in
        their order.
    top : int
        How many rows to keep. If only one more row is left, it is kept too.
    rest : str
        Name of the row with the sum of all others. Their number is added in brackets.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": list("abc"), "billed_amount": [10.0, 30.0, 20.0],
    ...                      "worked_amount": [20.0, 30.0, 40.0], "billing_realization": [0.5, 1.0, 0.5]})
    >>> top_and_rest(rows, "name", "billed_amount", top=1, rest="Others")
             name  billed_amount  worked_amount  billing_realization
    0           b           30.0           30.0                  1.0
    1  Others (2)           30.0           60.0                  0.5
    """
    ordered = _largest_first(frame, order) if order else frame
    if len(ordered) <= top + 1:
        return ordered
    others = ordered.iloc[top:]
    row = pd.DataFrame([{**total_of(others), label: f"{rest} ({len(others)})"}])
    return pd.concat([ordered.iloc[:top], row], ignore_index=True)[list(frame.columns.intersection(row.columns))]


def _largest_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    return rows.sort_values(column, ascending=False, kind="stable", ignore_index=True)
