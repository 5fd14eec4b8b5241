"""The report's sections, one function each. Each cell of the notebook calls one and shows the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes import plots
from billframes._show import format_number, long_date, month_name
from billframes.analysis.metrics import Measure, title_of_key
from billframes.config.firm import describe_settings
from billframes.report import footnotes
from billframes.report.figures import figures
from billframes.report.html import Section, picture, table
from billframes.report.month import LOOK_BACK, Month
from billframes.report.tables import (
    AGING,
    FEES_TREND,
    HOURS_TREND,
    NARRATIVES,
    REALIZATION,
    TARGETS,
    UTILIZATION,
    top_and_rest,
)

__all__ = [
    "Section",
    "cover",
    "headlines",
    "narratives",
    "notes",
    "realization",
    "receivables",
    "trends",
    "utilization",
]

_KEY_FIGURES = {"Client hours", "Utilization", "Fees billed", "Billing realization", "Receivables"}


def cover(month: Month, *, title: str = "", remark: str = "", generated: str = "") -> Section:
    """
    Show the firm, the month and when the report was made.

    Parameters
    ----------
    month : Month
    title : str
        The firm's name.
    remark : str
        A line in a box, for example that the figures are a demonstration.
    generated : str
        When the report was made, as text.
    """
    as_of = f"{footnotes.as_of(month)} {describe_settings(month.book.settings)}"
    return Section(
        "cover.html",
        month=month,
        title=title,
        remark=remark,
        generated=generated,
        as_of=as_of,
    )


def headlines(month: Month) -> Section:
    """Show the headline figures beside those of last month and of the same month a year ago."""
    rows = [each for each in figures(month) if not (month.scope and each.name == "Utilization")]
    key = [each for each in rows if each.name in _KEY_FIGURES]
    columns = [month_name(month.earlier(back), short=True) for back in (0, 1, LOOK_BACK)]
    of = month.balances_of and f"balances of {long_date(month.balances_of)}"
    notes = footnotes.headlines(month)
    return Section("headlines.html", key=key, figures=rows, columns=columns, balances=of, notes=notes)


def utilization(month: Month) -> Section:
    """Show client hours, available hours and utilization by timekeeper."""
    frames = [month.utilization, month.utilization_total]
    rows, total = (frame.assign(other_hours=frame["total_hours"] - frame["client_hours"]) for frame in frames)
    absent = (rows["total_hours"] == 0) & ~(rows["capacity_hours"] > 0)
    gone = rows.loc[absent, "user_name"].tolist()
    rows = (
        rows.iloc[:0]
        if month.is_empty
        else rows[~absent].sort_values("utilization", ascending=False, kind="stable", ignore_index=True)
    )
    if month.scope:
        return _hours(month, rows, total)
    columns = (*UTILIZATION, *(TARGETS if "pace" in rows else ()))
    notes = footnotes.utilization(month)
    if gone:
        notes.append(f"Not listed, with neither hours nor available hours in the month: {', '.join(gone)}.")
    if "pace" in rows:
        notes.append("Pace is the client hours of those who have a target ÷ their target, prorated by working days.")
    return _section(
        "Utilization by timekeeper",
        tables=[table("Hours and utilization", "Timekeeper", "user_name", columns, rows, total)] if len(rows) else [],
        chart=_chart(plots.utilization, rows, "Client hours on available hours of each timekeeper", _tall(rows)),
        notes=notes,
        empty=f"No time is recorded in {month.name}.",
    )


def _hours(month: Month, rows: pd.DataFrame, total: pd.DataFrame) -> Section:
    """Show the hours of a part of the firm. Available hours are not divided by matter, so there is no utilization."""
    columns = [each for each in UTILIZATION if each.name.endswith("_hours") and each.name != "capacity_hours"]
    rows = rows[rows["total_hours"] > 0].sort_values("client_hours", ascending=False, kind="stable", ignore_index=True)
    return _section(
        "Hours by timekeeper",
        tables=[table("Hours", "Timekeeper", "user_name", columns, rows, total)] if len(rows) else [],
        chart=_chart(plots.utilization, rows, "Client hours of each timekeeper", _tall(rows)),
        notes=[footnotes.PART_HOURS],
        empty=f"No time is recorded in {month.name}.",
    )


def realization(month: Month, by: str = "practice_area", *, top: int = 10, chart: bool = True) -> Section:
    """
    Show the fees billed on the month's invoices, the worth of that work, and how much is settled.

    Parameters
    ----------
    month : Month
    by : str
        "practice_area", "client", "user", "responsible", "originator" or "matter".
    top : int
        How many rows are named: those with the most worth of work, or most billed if rates are hidden. All others
        are one row.
    chart : bool
        Whether to show a chart above the table.
    """
    rows, total = month.realization(by), month.realization(None)
    order = "worked_amount" if total["worked_amount"].notna().all() else "billed_amount"
    label, what = str(rows.columns[1]), title_of_key(by)
    rows = top_and_rest(month.named(rows), label, order, top=top, rest=f"All other {what}s")
    return _section(
        f"Realization by {what}",
        tables=[_table(f"Fees by {what}", what, label, REALIZATION, rows, total)] if len(rows) else [],
        chart=_chart(plots.realization, rows, f"Worth of billed work and fees billed by {what}", _tall(rows))
        if chart
        else "",
        notes=footnotes.realization(total, what, brief=not chart),
        empty=f"No final invoice is dated in {month.name}.",
    )


def receivables(month: Month, *, top: int = 10) -> Section:
    """Show open balances by days past due, for the firm and for the clients that owe most."""
    rows, total = month.receivables("client"), month.receivables(None)
    rows = top_and_rest(month.named(rows), "client_name", "total", top=top, rest="All other clients")
    of = month.balances_of and long_date(month.balances_of)
    return _section(
        f"Receivables by age, with the balances of {of}" if of else "Receivables by age",
        tables=[_table("Receivables by client", "client", "client_name", AGING, rows, total)] if len(rows) else [],
        chart=_chart(plots.aging, total if len(rows) else rows, "Receivables by days past due", 2.1),
        second=_chart(plots.aging, rows, "Receivables of the same clients, cut into the same days", _tall(rows)),
        notes=footnotes.receivables(month),
        empty="Nothing is owed: no final invoice has an open balance.",
    )


def trends(month: Month) -> Section:
    """Show hours, utilization, fees billed, the worth of that work and realization for twelve months."""
    rows = month.by_month.iloc[1:].rename_axis("month").reset_index()
    hours = tuple(each for each in HOURS_TREND if not month.scope or each.name == "client_hours")
    named = rows.assign(month=[month_name(pd.Timestamp(f"{each}-01"), short=True) for each in rows["month"]])
    charts = [("Worth of billed work, fees billed and billing realization", plots.realization, FEES_TREND)]
    if not month.scope:
        charts.insert(0, ("Client hours, available hours and utilization", plots.utilization, HOURS_TREND))
    return Section(
        "trends.html",
        charts=[
            (title, _chart(draw, _only(rows, measures), f"{title}, twelve months to {month.name}", 2.15))
            for title, draw, measures in charts
        ],
        table=_table("Twelve months in figures", "month", "month", (*hours, *FEES_TREND), named, rows.iloc[:0]),
        notes=[footnotes.BY_MONTH],
    )


def narratives(month: Month) -> Section:
    """Show the month's time entries with their descriptions."""
    headings = [title_of_key(name).capitalize() for name in NARRATIVES]
    rows = narrative_rows(month)
    return Section("narratives.html", headings=headings, rows=rows, empty=f"No time is recorded in {month.name}.")


def narrative_rows(month: Month) -> list[list[str]]:
    """Format the time entries, with the columns of `NARRATIVES`."""
    entries = month.narratives()[list(NARRATIVES)]
    return [
        [f"{day:%Y-%m-%d}", *("" if pd.isna(each) else str(each) for each in texts), format_number(hours, "hours")]
        for day, *texts, hours in entries.itertuples(index=False, name=None)
    ]


def notes(month: Month) -> Section:
    """Show the warnings of loads and analyses, and what the figures can't tell."""
    return Section("notes.html", notes=[*footnotes.part(month), *footnotes.warnings_of(month), footnotes.LIMITS])


def _section(
    title: str, *, tables: Sequence[Any], chart: Any, notes: Sequence[str], empty: str, second: Any = ""
) -> Section:
    return Section("section.html", title=title, tables=tables, chart=chart, second=second, notes=notes, empty=empty)


def _table(
    caption: str, what: str, label: str, columns: Sequence[Measure], rows: pd.DataFrame, total: pd.DataFrame
) -> Any:
    return table(caption, what.capitalize(), label, columns, rows, total)


def _chart(draw: Any, rows: pd.DataFrame, alt: str, height: float) -> Any:
    return picture(draw, rows, f"Chart: {alt}. The table has the numbers.", height=height) if len(rows) else ""


def _only(rows: pd.DataFrame, measures: Sequence[Measure]) -> pd.DataFrame:
    return rows[["month", *(column.name for column in measures)]]


def _tall(rows: pd.DataFrame) -> float:
    return 0.6 + 0.175 * len(rows)
