"""The tables of the report, declared once for the page and the workbook: rows in order, total and columns.

The page names the largest rows and adds the others up; the workbook has them all, in the same order and with the same
title. Columns are those that the analysis declares: its `brief` ones on the page, all of them in the workbook.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from billframes import tables
from billframes._show import format_number
from billframes.analysis.metrics import Measure, title_of_key
from billframes.report.month import LEAST_HOURS, Month
from billframes.tables import TableOf

__all__ = [
    "View",
    "budgets",
    "change",
    "collections",
    "compared",
    "exposure",
    "invoices",
    "lockup",
    "new_business",
    "prebills",
    "rates",
    "realization",
    "receivables",
    "scorecard",
    "shortened",
    "stale",
    "timekeepers",
    "wip",
    "write_downs",
]


@dataclass(frozen=True, kw_only=True)
class View:
    """
    One table of the report.

    Parameters
    ----------
    title : str
        The heading of its section, and the name of its sheet.
    analysis : str
    label : str
        The column that names the rows; empty for the columns that the analysis declares.
    rows : DataFrame
        All rows, in the order of the report.
    total : DataFrame
        One row, or none.
    order : str
        The column that the largest rows are chosen by; empty if the rows are sorted already.
    units : tuple of str
        The units of the columns that are shown; all of them if empty.
    without : tuple of str
        Columns that are not shown.
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
    def what(self) -> str:
        """What a row is of, such as "client"."""
        return title_of_key(self.label)

    @property
    def declared(self) -> TableOf:
        """The table that the analysis declares."""
        table: TableOf = getattr(tables, self.analysis)
        return table

    def columns(self, *, brief: bool) -> list[Measure]:
        """Return the columns of the page (brief) or of the workbook. Targets are there if the firm has some."""
        found = [each for each in self.declared.measures(self.rows) if each.name not in self.without]
        found = [each for each in found if not self.units or each.unit in self.units]
        chosen = self.declared.page_columns(self.rows) if brief else [each.name for each in found]
        return [each for each in found if each.name in chosen]


def timekeepers(month: Month) -> tuple[View, list[str]]:
    """Return utilization by timekeeper, and a note of those without hours: they are only in the total."""
    rows, total = month.named(month.utilization), month.utilization_total
    idle = rows["total_hours"].abs() < LEAST_HOURS
    note = [] if month.scope or month.is_empty else _without_hours(rows[idle])
    order = "client_hours" if month.scope else "utilization"
    rows = rows[~idle].sort_values(order, ascending=False, kind="stable", ignore_index=True)
    view = View(
        title="Utilization by timekeeper",
        analysis="utilization",
        label="user_name",
        rows=rows.iloc[:0] if month.is_empty else rows,
        total=total,
        order="client_hours",
    )
    if not month.scope:
        return view, note
    # Available hours are not divided by matter.
    unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
    return replace(view, title="Hours by timekeeper", units=("hours",), without=unknown), note


def _without_hours(idle: pd.DataFrame) -> list[str]:
    """Name the people without hours, and what the total has of them, so that a reader can add it up."""
    if idle.empty:
        return []
    parts = (("capacity_hours", "{} available hours"), ("target_hours", "target of {} hours"))
    sums = [(float(idle[name].sum()), words) for name, words in parts if name in idle]
    told = " and ".join(words.format(format_number(found, "hours")) for found, words in sums if found)
    names = ", ".join(idle["user_name"].astype("str"))
    return [f"No hours recorded: {names}." + (f" The total includes their {told}." if told else "")]


def realization(month: Month, by: str) -> View:
    """Return realization of the month's invoices by a key. A report of one client shows matters for clients."""
    by = month.divided_by(by)
    rows, total = month.realization(by), month.realization(None)
    order = "worked_amount" if total["worked_amount"].notna().all() else "billed_amount"
    return _by("realization", f"Realization by {title_of_key(by)}", month, rows, total, order)


def receivables(month: Month) -> View:
    """Return receivables by client, or of one client by matter."""
    by = month.divided_by("client")
    title = f"Receivables by {title_of_key(by)}"
    return _by("aging", title, month, month.receivables(by), month.receivables(None), "total")


def wip(month: Month, by: str) -> View:
    """Return work in progress by a key."""
    by = month.divided_by(by)
    title = f"Work in progress by {title_of_key(by)}"
    return _by("wip", title, month, month.wip(by), month.wip(None), "total")


def lockup(month: Month, by: str = "responsible") -> View:
    """Return lock-up by a key."""
    by = month.divided_by(by)
    title = f"Lock-up by {title_of_key(by)}"
    return _by("lockup", title, month, month.lockup(by), month.lockup(), "wip_amount")


def change(month: Month, measure: str) -> View | None:
    """Return what changed since last month by client, the largest change first; None if the month is not over."""
    if not month.is_over:
        return None
    by = month.divided_by("client")
    rows, total = month.changes(measure, by)
    what = {"billed_amount": "fees billed", "billing_realization": "realization"}[measure]
    title = f"Change of {what} by {title_of_key(by)}"
    return _by("bridge", title, month, rows, total, "")


def write_downs(month: Month, by: str = "responsible") -> View:
    """Return the firm's write-downs by a key, the largest first."""
    rows, total = month.write_downs(by), month.write_downs(None)
    title = f"Write-downs by {title_of_key(by)}"
    return _by("write_downs", title, month, rows, total, "write_down_amount")


def collections(month: Month) -> View:
    """Return the firm's overdue invoices, the largest balance first."""
    rows = month.named(month.collections())
    rows = rows.sort_values("balance", ascending=False, kind="stable", ignore_index=True)
    client = rows["client_name"].astype("str").fillna("No client")
    rows = rows.assign(invoice=client + ", " + rows["invoice_number"].astype("str").fillna(""))
    none = rows.iloc[:0]
    return View(
        title="Overdue invoices", analysis="collections", label="invoice", rows=rows, total=none, order="balance"
    )


def exposure(month: Month) -> View:
    """Return the firm's work in progress and receivables together by client."""
    return _by(
        "exposure", "Exposure by client", month, month.exposure("client"), month.exposure(None), "exposure_amount"
    )


def scorecard(month: Month) -> tuple[View, list[str]]:
    """Return the firm's scorecard by timekeeper, and a note of those who have no figures."""
    rows = month.named(month.scorecard())
    idle = rows["client_hours"].abs() < LEAST_HOURS
    amounts = rows[["billed_amount", "wip_amount", "receivable_amount"]].fillna(0)
    gone = idle & (amounts == 0).all(axis=1)
    view = _by("scorecard", "Scorecard by timekeeper", month, rows[~gone], rows.iloc[:0], "")
    names = ", ".join(rows.loc[gone, "user_name"].astype("str"))
    said = f"Not listed, with neither client hours nor amounts: {names}. Peers are all with available hours."
    return view, [said] if names else []


def rates(month: Month) -> View:
    """Return the firm's rates by timekeeper and year, in the order of the result. Growth has no total."""
    rows = month.rates()
    return _by("rates", "Rates by timekeeper and year", month, rows, rows.iloc[:0], "")


def new_business(month: Month) -> View:
    """Return the firm's new business by practice area."""
    rows, total = month.new_business("practice_area"), month.new_business(None)
    return _by("new_business", "New business by practice area", month, rows, total, "fees_amount")


def compared(month: Month, measure: str) -> View:
    """Return a figure of each of twelve months beside the month and the year before."""
    what = {"billed_amount": "Fees billed", "billing_realization": "Realization"}[measure]
    rows = month.compared(measure)
    rows = rows.assign(month=pd.to_datetime(rows["month"]))
    return View(title=f"{what} month by month", analysis="compare", label="month", rows=rows, total=rows.iloc[:0])


def prebills(month: Month, *, narratives: bool) -> View:
    """Return the items of the firm's invoices that are not final; their narratives only if they are asked for."""
    rows = month.named(month.prebill_review())
    none = rows.iloc[:0]
    without = () if narratives else ("description",)
    return View(
        title="Items on prebills", analysis="prebill_review", label="item_id", rows=rows, total=none, without=without
    )


def stale(month: Month) -> View:
    """Return the firm's old work, archived and idle matters, the largest open amount first."""
    rows = month.named(month.stale())
    rows = rows.sort_values("open_amount", ascending=False, kind="stable", ignore_index=True)
    findings = rows["finding"].astype("str").str.capitalize()
    rows = rows.assign(finding_and_matter=findings + ": " + rows["matter_name"].astype("str"))
    none = rows.iloc[:0]
    return View(
        title="Stale work and matters",
        analysis="stale",
        label="finding_and_matter",
        rows=rows,
        total=none,
        order="open_amount",
    )


def budgets(month: Month) -> View:
    """Return the matters that have a budget, the most used first."""
    rows = month.named(month.budgets())
    rows = rows[rows["budget_amount"].notna()]
    rows = rows.sort_values("budget_burn", ascending=False, kind="stable", ignore_index=True)
    return View(title="Budgets", analysis="budget_burn", label="matter_name", rows=rows, total=rows.iloc[:0])


def invoices(month: Month) -> View:
    """Return the month's invoices beside their items. A total of drafts and final invoices would mean nothing."""
    rows = month.named(month.reconcile())
    return View(title="Invoices", analysis="reconcile", label="invoice_number", rows=rows, total=rows.iloc[:0])


def _by(analysis: str, title: str, month: Month, rows: pd.DataFrame, total: pd.DataFrame, order: str) -> View:
    label = next(name for name in map(str, rows.columns) if name.endswith(("_name", "_label")))
    rows = month.named(rows)
    if order:
        rows = rows.sort_values(order, ascending=False, kind="stable", ignore_index=True)
    return View(title=title, analysis=analysis, label=label, rows=rows, total=total, order=order)


def shortened(titles: Sequence[str], longest: int = 31) -> list[str]:
    """
    Shorten titles to names of sheets, which Excel limits to 31 characters.

    Examples
    --------
    >>> shortened(["Work in progress by responsible lawyer", "Utilization by timekeeper"])
    ['Work in progress by responsible', 'Utilization by timekeeper']
    """
    return [title if len(title) <= longest else title[: longest + 1].rpartition(" ")[0] for title in titles]
