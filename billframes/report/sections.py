"""The report's sections, one function each. Each cell of the report's notebook calls one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from billframes import plots
from billframes._format import format_number, long_date, month_name, short_date
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.declare.spec import analyses
from billframes.analysis.results.explain import plain_words
from billframes.config.firm import describe_settings
from billframes.report import footnotes, report_tables
from billframes.report.figures import figures, month_targets
from billframes.report.first_page import budget, tiles
from billframes.report.html import PageTable, Section, outside_notes, page_table
from billframes.report.month import YEAR, Month
from billframes.report.pictures import bars_height, picture, side_by_side
from billframes.report.points import key_points
from billframes.report.report_tables import NARRATIVES, TRENDS, ReportTable, top_and_rest, trend_columns
from billframes.report.to_do import to_do

__all__ = [
    "Section",
    "changes",
    "cover",
    "headlines",
    "narratives",
    "notes",
    "overdue_invoices",
    "page_one",
    "realization",
    "receivables",
    "stale",
    "targets",
    "trends",
    "utilization",
    "work_in_progress",
    "write_downs",
]


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
    as_of = footnotes.data_day(month)
    return Section("cover.html", month=month, title=title, remark=remark, generated=generated, as_of=as_of)


def headlines(month: Month) -> Section:
    """Show the headline figures beside last month, the same month a year ago, and the years to date."""
    rows = figures(month)
    columns = [month.same_days_name(back) for back in (0, 1, YEAR)]
    columns += [month.to_date_name(), month.to_date_name(1)]
    notes = [*footnotes.headlines(month), *footnotes.why_outside(rows)]
    return Section(
        "headlines.html",
        title="The month in figures",
        figures=rows,
        columns=columns,
        notes=notes,
    )


def page_one(month: Month) -> Section:
    """Show the month on one page: its figures, the firm's budget, key points, and what to do."""
    return Section(
        "page_one.html",
        month=month,
        tiles=tiles(month),
        budget=budget(month),
        points=key_points(month),
        to_do=to_do(month),
        currency=month.currency,
    )


def changes(month: Month, *, top: int = 10) -> Section:
    """Show the changes of fees billed and billing realization since last month, by client."""
    found = [each for name in ("billed_amount", "billing_realization") if (each := report_tables.change(month, name))]
    found = [each for each in found if len(each.rows)]
    before, now = (month.same_days_name(back, short=False) for back in (1, 0))
    blocks: list[Any] = []
    for table in found:
        if table is found[0]:
            blocks.append(_chart(picture, plots.bridge, table.rows, f"Fees billed from {before} to {now}", month, 1.9))
        blocks.append(_table(month, table, _top(table, top), table.title))
    return Section(
        "section.html",
        title="What changed",
        blocks=blocks,
        notes=[footnotes.changes(before, now)],
        empty="The month before is not known, or nothing was billed, so nothing is compared.",
    )


def utilization(month: Month) -> Section:
    """Show client hours, available hours and utilization by timekeeper; for a part of the firm, hours only."""
    table, without_hours = report_tables.timekeepers(month)
    words = "Client hours" if month.scope else "Client hours and available hours"
    chart = _chart(side_by_side, plots.utilization, table.rows, f"{words} of each timekeeper", month)
    notes = [footnotes.SCOPE_HOURS] if month.scope else footnotes.utilization(month)
    if "pace" in table.rows and not month.scope:
        notes.append("Pace is the client hours of people with a target ÷ their target, prorated by working days.")
    return _section(month, table, [chart], [*without_hours, *notes], f"No time is recorded in {month.name}.")


def realization(month: Month, by: str = "practice_area", *, top: int = 10, chart: bool = True) -> Section:
    """
    Show the fees billed on the month's invoices, the worth of the billed work, and how much is settled.

    Parameters
    ----------
    month : Month
    by : str
        "practice_area", "client", "user", "responsible", "originator" or "matter". A report of one client has matters
        in place of clients.
    top : int
        How many rows to show: those with the largest worth of work, or the largest fees if rates are hidden. One more
        row has the sum of all others.
    chart : bool
        Whether to show a chart above the table.
    """
    table = report_tables.realization(month, by)
    rows = _top(table, top)
    alt = f"Worth of billed work and fees billed by {table.noun}"
    charts = [_chart(picture, plots.realization, rows, alt, month)] if chart else []
    notes = footnotes.realization(table.total, table.noun, brief=not chart)
    notes += footnotes.below_floor(month, table)
    return _section(month, table, charts, notes, f"No final invoice is dated in {month.name}.", rows)


def write_downs(month: Month, by: str = "responsible", *, top: int = 10) -> Section | None:
    """Show the write-downs on the firm's invoices of the month. Return None for a part of the firm."""
    if month.scope:
        return None
    table = report_tables.write_downs(month, by)
    empty = f"No final invoice is dated in {month.name}."
    return _section(month, table, [], [_summary_of(table)], empty, _top(table, top))


def overdue_invoices(month: Month, *, top: int = 10) -> Section | None:
    """Show the firm's largest overdue invoices and the work for these clients since. Return None for a part of it."""
    if month.scope:
        return None
    return _list(month, report_tables.overdue_invoices(month), top, "No invoice is overdue.", "invoices")


def stale(month: Month, *, top: int = 10) -> Section | None:
    """Show the firm's old work, archived and idle matters. Return None for a part of the firm."""
    if month.scope:
        return None
    return _list(month, report_tables.stale(month), top, "Nothing is stale.", "findings")


def _list(month: Month, table: ReportTable, top: int, empty: str, noun: str) -> Section:
    """Show the first rows of a list, and say how many there are."""
    rows, count = table.rows.head(top), len(table.rows)
    more = f" These are the {len(rows)} largest of {count} {noun}; the workbook has all of them." if count > top else ""
    return _section(month, table, [], [f"{_summary_of(table)}{more}"], empty, rows)


def _summary_of(table: ReportTable) -> str:
    """Return a note that says what the analysis of the table does."""
    analysis = analyses()[table.analysis]
    summary = plain_words(analysis.summary, analysis).replace("'", "’")
    return f"This table {summary.removeprefix('It ')}" if summary.startswith("It ") else summary


def targets(month: Month) -> Section | None:
    """Show the firm's targets with the year to date, and budgets. Return None if it has none, or for a part of it."""
    if month.scope:
        return None
    both = {kind: month_targets(month, kind) for kind in ("hours", "fees")}
    shown = {kind: each for kind, each in both.items() if len(each.rows)}
    blocks = [
        page_table(
            *("timekeeper", "user_name", each.columns, each.rows, each.rows.iloc[:0]),
            caption=each.title,
            currency=month.currency,
        )
        for each in shown.values()
    ]
    idle = [each.note for each in both.values() if each.note]
    notes = [*idle, " ".join([footnotes.TARGETS, *(footnotes.BY_TARGET[kind] for kind in shown)])] if blocks else idle
    for each in shown.values():
        notes += _outside_notes(each.columns, each.rows, "user_name")
    if month.settings.budgets and len((table := report_tables.budgets(month)).rows):
        rows = _top(table, 10)
        blocks.append(_table(month, table, rows, "Budgets"))
        notes.append(footnotes.BUDGETS)
        notes += _outside_notes(table.columns(brief=True), rows, table.label, table.total)
    if not (blocks or idle):
        return None
    return Section("section.html", title="Targets and budgets", blocks=blocks, notes=notes, empty=" ".join(idle))


def work_in_progress(month: Month, by: str = "responsible", *, top: int = 10) -> Section:
    """Show work in progress by days since the work, and lock-up."""
    work, lockup = report_tables.wip(month, by), report_tables.lockup(month, by)
    chart = _chart(picture, plots.wip, work.total, "Work in progress by days since the work", month, height=1.8)
    blocks = [chart, *(_table(month, each, _top(each, top), each.title) for each in (work, lockup))]
    empty = "There is no work in progress: all work is on final invoices."
    return Section(
        "section.html",
        title="Work in progress and lock-up",
        blocks=blocks if len(work.rows) else [],
        notes=footnotes.work_in_progress(month),
        empty=empty,
    )


def receivables(month: Month, *, top: int = 10) -> Section:
    """Show open balances by days past due, in total and for the clients that owe most."""
    table = report_tables.receivables(month)
    rows = _top(table, top)
    later = f", with the balances of {long_date(month.balances_day)}" if month.balances_day else ""
    total = _chart(picture, plots.aging, table.total, "Receivables by days past due", month, height=1.8)
    largest = _chart(picture, plots.aging, rows, f"Receivables by {table.noun} and days past due", month)
    blocks = [total, _table(month, table, rows), largest]
    return Section(
        "section.html",
        title=f"{table.title}{later}",
        blocks=blocks if len(rows) else [],
        notes=footnotes.receivables(month),
        empty="Nothing is owed: no final invoice has an open balance.",
    )


def trends(month: Month) -> Section:
    """Show hours, utilization, fees billed, the worth of billed work and realization for twelve months."""
    rows = month.by_month.iloc[-YEAR:].rename_axis("month").reset_index()
    named = rows.assign(month=[month_name(pd.Timestamp(f"{each}-01"), short=True) for each in rows["month"]])
    columns = [each for name in TRENDS for each in trend_columns(name)]
    charts = [("realization", plots.realization, "Worth of billed work, fees billed and billing realization")]
    if month.scope:
        columns = [each for each in columns if each.name not in {"capacity_hours", "utilization"}]
    else:
        charts.insert(0, ("utilization", plots.utilization, "Client hours, available hours and utilization"))
    pictures = [
        _chart(picture, draw, rows[["month", *TRENDS[name]]], f"{words}, twelve months to {month.name}", month, 1.8)
        for name, draw, words in charts
    ]
    table = page_table("month", "month", columns, named, rows.iloc[:0], currency=month.currency)
    notes = [footnotes.BY_MONTH, *_outside_notes(columns, named, "month")]
    return Section("section.html", title="Twelve months", blocks=[*pictures, table], notes=notes, empty="")


def narratives(month: Month) -> Section:
    """Show the month's time entries with their descriptions."""
    headings = [title_of_key(name).capitalize() for name in NARRATIVES]
    rows = [
        [short_date(day), *("" if pd.isna(each) else str(each) for each in texts), format_number(hours, "hours")]
        for day, *texts, hours in month.narratives()[list(NARRATIVES)].itertuples(index=False, name=None)
    ]
    return Section("narratives.html", headings=headings, rows=rows, empty=f"No time is recorded in {month.name}.")


def notes(month: Month) -> Section:
    """Show the warnings of loads and analyses, and what the figures can't tell."""
    basis = f"{footnotes.as_of(month)} {describe_settings(month.book.settings)}"
    return Section("notes.html", notes=[*footnotes.scope(month), basis, *month.notes, footnotes.LIMITS])


def _section(
    month: Month, table: ReportTable, charts: Sequence[Any], notes: Sequence[str], empty: str, rows: Any = None
) -> Section:
    """Show charts, a table, and notes on what it means."""
    rows = table.rows if rows is None else rows
    blocks = [*charts, _table(month, table, rows)] if len(rows) else []
    notes = [*notes, *_outside_notes(table.columns(brief=True), rows, table.label, table.total)]
    return Section("section.html", title=table.title, blocks=blocks, notes=notes, empty=empty)


def _outside_notes(
    columns: Iterable[Measure], rows: pd.DataFrame, label: str, total: pd.DataFrame | None = None
) -> list[str]:
    """Say what the ratios mean that the table marks because they are outside 0% to 100%; also of its total."""
    if total is not None and len(total) and len(rows) > 1:
        rows = pd.concat([rows, total.assign(**{label: "Total"})[[label, *(each.name for each in columns)]]])
    return [f"‡ {note}" for each in columns for note in outside_notes(rows[label], rows[each.name], each)]


def _table(month: Month, table: ReportTable, rows: pd.DataFrame, caption: str = "") -> PageTable:
    columns = table.columns(brief=True)
    currency = month.currency
    return page_table(table.noun, table.label, columns, rows, table.total, caption=caption, currency=currency)


def _top(table: ReportTable, top: int) -> pd.DataFrame:
    return top_and_rest(table.rows, table.label, table.order, top=top, rest=f"All other {table.noun}s")


def _chart(layout: Any, draw: Any, rows: pd.DataFrame, alt: str, month: Month, height: float | None = None) -> Any:
    """Draw a chart. Without a height it has one bar per row, and a single row has no chart."""
    if len(rows) < 2 and height is None:
        return ""
    alt = f"Chart: {alt}. The table has the numbers."
    options = {} if layout is side_by_side else {"height": height or bars_height(rows)}
    return layout(draw, rows, alt, currency=month.currency, **options) if len(rows) else ""
