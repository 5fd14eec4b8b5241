"""The report's sections, one function each. Each cell of the notebook calls one and shows the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from billframes import plots
from billframes._show import format_number, long_date, month_name, short_date
from billframes.analysis.explain import plain
from billframes.analysis.metrics import Measure, title_of_key
from billframes.analysis.spec import analyses
from billframes.config.firm import describe_settings
from billframes.report import footnotes, views
from billframes.report.figures import figures, month_targets, tiles
from billframes.report.html import Section, Table, outside, table
from billframes.report.month import LOOK_BACK, Month
from billframes.report.pictures import picture, side_by_side, tall
from billframes.report.points import key_points as points_of
from billframes.report.tables import NARRATIVES, TRENDS, top_and_rest, trend_columns
from billframes.report.views import View

__all__ = [
    "Section",
    "changes",
    "collections",
    "cover",
    "headlines",
    "key_points",
    "narratives",
    "notes",
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
    as_of = f"{footnotes.as_of(month)} {describe_settings(month.book.settings)}"
    return Section("cover.html", month=month, title=title, remark=remark, generated=generated, as_of=as_of)


def headlines(month: Month) -> Section:
    """Show the headline figures beside last month, the same month a year ago, and the years to date."""
    rows = figures(month)
    columns = [month_name(month.earlier(back), short=True) for back in (0, 1, LOOK_BACK)]
    columns += [month.to_date_name(), month.to_date_name(1)]
    notes = [*footnotes.headlines(month), *footnotes.why_outside(rows)]
    return Section(
        "headlines.html",
        title="The month in figures",
        key=tiles(month, rows),
        figures=rows,
        columns=columns,
        notes=notes,
    )


def key_points(month: Month) -> Section:
    """Show three to five key points, each with the table that it comes from."""
    return Section("key_points.html", points=points_of(month))


def changes(month: Month, *, top: int = 10) -> Section:
    """Show what billed fees and billing realization changed by since last month, and which clients that comes from."""
    found = [each for name in ("billed_amount", "billing_realization") if (each := views.change(month, name))]
    found = [each for each in found if len(each.rows)]
    before = month_name(month.earlier(1), short=True)
    blocks: list[Any] = []
    for view in found:
        if view is found[0]:
            blocks.append(
                _chart(picture, plots.bridge, view.rows, f"Fees billed from {before} to {month.name}", month, 1.9)
            )
        blocks.append(_table(month, view, _top(view, top), view.title))
    return Section(
        "section.html",
        title="What changed",
        blocks=blocks,
        notes=[footnotes.changes(before, month.name)],
        empty="The month is not over, or nothing was billed, so nothing is compared with last month.",
    )


def utilization(month: Month) -> Section:
    """Show client hours, available hours and utilization by timekeeper; of a part of the firm, hours."""
    view, without_hours = views.timekeepers(month)
    words = "Client hours" if month.scope else "Client hours on available hours"
    chart = _chart(side_by_side, plots.utilization, view.rows, f"{words} of each timekeeper", month)
    notes = [footnotes.PART_HOURS] if month.scope else footnotes.utilization(month)
    if "pace" in view.rows and not month.scope:
        notes.append("Pace is the client hours of those who have a target ÷ their target, prorated by working days.")
    return _section(month, view, [chart], [*without_hours, *notes], f"No time is recorded in {month.name}.")


def realization(month: Month, by: str = "practice_area", *, top: int = 10, chart: bool = True) -> Section:
    """
    Show the fees billed on the month's invoices, the worth of that work, and how much is settled.

    Parameters
    ----------
    month : Month
    by : str
        "practice_area", "client", "user", "responsible", "originator" or "matter". A report of one client has matters
        in place of clients.
    top : int
        How many rows are named: those with the most worth of work, or most billed if rates are hidden. All others
        are one row.
    chart : bool
        Whether to show a chart above the table.
    """
    view = views.realization(month, by)
    rows = _top(view, top)
    alt = f"Worth of billed work and fees billed by {view.what}"
    made = [_chart(picture, plots.realization, rows, alt, month)] if chart else []
    notes = footnotes.realization(view.total, view.what, brief=not chart)
    notes += footnotes.below_floor(month, view)
    return _section(month, view, made, notes, f"No final invoice is dated in {month.name}.", rows)


def write_downs(month: Month, by: str = "responsible", *, top: int = 10) -> Section | None:
    """Show how much was written down on the firm's invoices of the month, and whose it is. None for a part of it."""
    if month.scope:
        return None
    view = views.write_downs(month, by)
    empty = f"No final invoice is dated in {month.name}."
    return _section(month, view, [], [question_of(view)], empty, _top(view, top))


def collections(month: Month, *, top: int = 10) -> Section | None:
    """Show the firm's largest overdue invoices, and the work done for these clients since. None for a part of it."""
    return None if month.scope else _list(month, views.collections(month), top, "No invoice is overdue.", "invoices")


def stale(month: Month, *, top: int = 10) -> Section | None:
    """Show the firm's old work, archived and idle matters. None for a part of it."""
    return None if month.scope else _list(month, views.stale(month), top, "Nothing is stale.", "findings")


def _list(month: Month, view: View, top: int, empty: str, what: str) -> Section:
    """Show the first rows of a list, and say how many there are."""
    rows = view.rows.head(top)
    told = f" The {len(rows)} largest of {len(view.rows)} {what}; the workbook has all." if len(view.rows) > top else ""
    return _section(month, view, [], [f"{question_of(view)}{told}"], empty, rows)


def question_of(view: View) -> str:
    """Return what the analysis does, as a note below its table."""
    analysis = analyses()[view.analysis]
    said = plain(analysis.summary, analysis)
    return f"This table {said.removeprefix('It ')}" if said.startswith("It ") else said


def targets(month: Month) -> Section | None:
    """Show targets of hours and fees with the year to date, and budgets; None if the settings have none."""
    asked = [month_targets(month, what) for what in ("hours", "fees")]
    made = [each for each in asked if len(each.rows)]
    blocks = [
        table(
            "timekeeper",
            "user_name",
            each.columns,
            each.rows,
            each.rows.iloc[:0],
            caption=each.title,
            currency=month.currency,
        )
        for each in made
    ]
    idle = [each.note for each in asked if each.note]
    notes = [*idle, footnotes.TARGETS]
    if month.scope is None and month.settings.budgets and len((view := views.budgets(month)).rows):
        rows = _top(view, 10)
        blocks.append(_table(month, view, rows, "Budgets"))
        notes += _strange(view.columns(brief=True), rows, view.label)
    if month.scope or not (blocks or idle):
        return None
    return Section("section.html", title="Targets and budgets", blocks=blocks, notes=notes, empty=" ".join(idle))


def work_in_progress(month: Month, by: str = "responsible", *, top: int = 10) -> Section:
    """Show work in progress by age, and the days of fees that it and receivables tie up."""
    made = [views.wip(month, by), views.lockup(month, by)]
    total = made[0].total
    chart = _chart(picture, plots.wip, total, "Work in progress by days since the work", month, height=1.8)
    blocks = [chart, *(_table(month, each, _top(each, top), each.title) for each in made)]
    empty = "There is no work in progress: all work is on final invoices."
    return Section(
        "section.html",
        title="Work in progress and lock-up",
        blocks=blocks if len(made[0].rows) else [],
        notes=footnotes.work_in_progress(month),
        empty=empty,
    )


def receivables(month: Month, *, top: int = 10) -> Section:
    """Show open balances by days past due, for the firm and for the clients that owe most."""
    view = views.receivables(month)
    rows = _top(view, top)
    of = month.balances_of and long_date(month.balances_of)
    whole = _chart(picture, plots.aging, view.total, "Receivables by days past due", month, height=1.8)
    each = _chart(picture, plots.aging, rows, f"Receivables by {view.what}, cut into the same days", month)
    blocks = [whole, _table(month, view, rows), each]
    return Section(
        "section.html",
        title=f"{view.title}, with the balances of {of}" if of else view.title,
        blocks=blocks if len(rows) else [],
        notes=footnotes.receivables(month),
        empty="Nothing is owed: no final invoice has an open balance.",
    )


def trends(month: Month) -> Section:
    """Show hours, utilization, fees billed, the worth of that work and realization for twelve months."""
    rows = month.by_month.iloc[-LOOK_BACK:].rename_axis("month").reset_index()
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
    figures_ = table("month", "month", columns, named, rows.iloc[:0], currency=month.currency)
    notes = [footnotes.BY_MONTH, *_strange(columns, named, "month")]
    return Section("section.html", title="Twelve months", blocks=[*pictures, figures_], notes=notes, empty="")


def narratives(month: Month) -> Section:
    """Show the month's time entries with their descriptions."""
    headings = [title_of_key(name).capitalize() for name in NARRATIVES]
    rows = narrative_rows(month)
    return Section("narratives.html", headings=headings, rows=rows, empty=f"No time is recorded in {month.name}.")


def narrative_rows(month: Month) -> list[list[str]]:
    """Format the time entries, with the columns of `NARRATIVES`."""
    entries = month.narratives()[list(NARRATIVES)]
    return [
        [short_date(day), *("" if pd.isna(each) else str(each) for each in texts), format_number(hours, "hours")]
        for day, *texts, hours in entries.itertuples(index=False, name=None)
    ]


def notes(month: Month) -> Section:
    """Show the warnings of loads and analyses, and what the figures can't tell."""
    return Section("notes.html", notes=[*footnotes.part(month), *footnotes.warnings_of(month), footnotes.LIMITS])


def _section(
    month: Month, view: View, charts: Sequence[Any], notes: Sequence[str], empty: str, rows: Any = None
) -> Section:
    """Show one view: charts, table, and notes on what it means."""
    rows = view.rows if rows is None else rows
    blocks = [*charts, _table(month, view, rows)] if len(rows) else []
    told = [*notes, *_strange(view.columns(brief=True), rows, view.label)]
    return Section("section.html", title=view.title, blocks=blocks, notes=told, empty=empty)


def _strange(columns: Iterable[Measure], rows: pd.DataFrame, label: str) -> list[str]:
    """Say why ratios that the table marks lie outside 0 to 100%."""
    return [f"‡ {note}" for each in columns for note in outside(rows[label], rows[each.name], each)]


def _table(month: Month, view: View, rows: pd.DataFrame, caption: str = "") -> Table:
    columns = view.columns(brief=True)
    currency = month.currency
    return table(view.what, view.label, columns, rows, view.total, caption=caption, currency=currency)


def _top(view: View, top: int) -> pd.DataFrame:
    return top_and_rest(view.rows, view.label, view.order, top=top, rest=f"All other {view.what}s")


def _chart(how: Any, draw: Any, rows: pd.DataFrame, alt: str, month: Month, height: float | None = None) -> Any:
    """Draw a chart of two rows or more; one row is shown by its table. A result of everything is one row of ages."""
    if len(rows) < 2 and height is None:
        return ""
    words = f"Chart: {alt}. The table has the numbers."
    given = {} if how is side_by_side else {"height": height or tall(rows)}
    return how(draw, rows, words, currency=month.currency, **given) if len(rows) else ""
