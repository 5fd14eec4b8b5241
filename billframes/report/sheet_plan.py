"""The sheets of the workbook in their order: which tables each has, what it answers, and the records behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd

from billframes._shared.format import enum_label
from billframes._shared.notes import Notes, collect_notes
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.spec import Analysis
from billframes.analysis.results.rows_behind import run_rows
from billframes.book.methods import call_analysis
from billframes.book.records import by_invoice, shown_columns, with_details
from billframes.book.slices import keep_rows
from billframes.report.cells import SheetRange, sheet_name
from billframes.report.month import Month
from billframes.report.outline import OUTLINE
from billframes.report.table_spec import ReportTable

START, MONTH, DEFINITIONS = "Start", "In figures", "Definitions"
LISTS = "Lists"
COLORS = {
    "Overview": "#1b1f24",
    "Fees": "#1f4e79",
    "Hours": "#2f7070",
    "Realization": "#74406c",
    "Work in progress": "#6b5415",
    "Receivables and cash": "#33663a",
    LISTS: "#59636d",
}
"""The colour of the tabs of each group."""
SHEET_OF = {
    "trends": "Twelve months",
    "month_by_month": "Twelve months",
    "changes": "What changed",
    "concentration": "Fees by client",
    "targets": "Fee targets, budgets",
    "budgets": "Fee targets, budgets",
    "rates": "Rates",
    "rates_by_year": "Rates",
    "origination": "Originators, new business",
    "new_business": "Originators, new business",
    "utilization": "Hours",
    "scorecard": "Scorecard",
    "missing_time": "Missing time",
    "billing_lag": "Days to invoice",
    "timekeeping_lag": "Days to invoice",
    "realization": "Realization",
    "write_downs": "Write-downs",
    "realization_by_person": "Write-downs",
    "work_in_progress": "Work in progress",
    "exposure": "Receivables",
    "stale": "Stale work and matters",
    "prebills": "Drafts",
    "rejected_items": "Guidelines and e-billing",
    "guidelines": "Guidelines and e-billing",
    "receivables": "Receivables",
    "receivables_by_responsible": "Receivables",
    "overdue_invoices": "Overdue invoices",
    "cash_expected": "Cash",
    "fees_collected": "What came in",
    "tie_out": "Receivables and the books",
    "invoices": "Invoices",
    "narratives": "Time entries",
}
"""The sheet of each section's tables; those of others are on a sheet of their own."""
SAYS = {
    START: ("Overview", "Key points, to do, and this list"),
    MONTH: ("Overview", "The figures beside the period before, a year ago and the years to date"),
    "Twelve months": ("Overview", "Hours, fees and realization, month by month"),
    "What changed": ("Fees", "Why fees billed and realization moved: hours, rate, realization, mix"),
    "Fees by client": ("Fees", "All fees of twelve months with shares"),
    "Fee targets, budgets": ("Fees", "People’s fee targets, matters’ budgets"),
    "Rates": ("Fees", "Effective and agreed rates by timekeeper and year"),
    "Originators, new business": ("Fees", "Fees by originator, new matters by area"),
    "Hours": ("Hours", "Client hours, utilization and targets by person"),
    "Scorecard": ("Hours", "Each person’s hours, fees, open amounts and timekeeping"),
    "Missing time": ("Hours", "Short days by person and date"),
    "Days to invoice": ("Hours", "From work to entry and to invoice"),
    "Realization": ("Realization", "By practice area and client"),
    "Write-downs": ("Realization", "By responsible lawyer and timekeeper"),
    "Work in progress": ("Work in progress", "By lawyer and client, by age, with lock-up"),
    "Stale work and matters": ("Work in progress", "Old work, archived matters, open fixed fees"),
    "Drafts": ("Work in progress", "Items on draft bills"),
    "Guidelines and e-billing": ("Work in progress", "What clients may refuse or their portals reject"),
    "Receivables": ("Receivables and cash", "By client and lawyer, by days past due, and exposure"),
    "Overdue invoices": ("Receivables and cash", "Every overdue invoice with the work since"),
    "Cash": ("Receivables and cash", "By week and client, and how good earlier forecasts were"),
    "What came in": ("Receivables and cash", "Cash and days to pay, from the firm’s books"),
    "Receivables and the books": ("Receivables and cash", "Where they differ, and why"),
    "Invoices": (LISTS, "The final invoices beside their items"),
    DEFINITIONS: (LISTS, "What each figure counts, and what is left out"),
}
"""The group of each sheet, and what it answers."""
_LIST_OF = {
    "utilization": ("Time", "The entries that hours count"),
    "realization": ("Billed work", "The entries on the invoices"),
    "wip": ("Open work", "Every item of work in progress"),
    "aging": ("Open invoices", "Every open balance"),
}
MOST_ROWS = 100_000
"""The most records of a list: its sums would take Excel minutes."""
# Rows between two tables of a sheet.
_GAP = 3


@dataclass(frozen=True)
class Sheet:
    """A sheet with its group, what it answers, and its tables, one below the other."""

    name: str
    group: str
    says: str
    tables: tuple[ReportTable, ...] = ()


def planned(month: Month, *, narratives: bool = False) -> list[Sheet]:
    """Return the sheets with tables, group by group; each table knows the rows above it."""
    found: dict[str, list[ReportTable]] = {}
    titles = set()
    for section in OUTLINE:
        if narratives or not section.narratives:
            for table in section.made(month):
                # A part of the firm can have the same key for two tables.
                if table.columns and table.title not in titles:
                    titles.add(table.title)
                    shown = _in_points(table if narratives else _without_descriptions(table))
                    found.setdefault(SHEET_OF.get(section.name, sheet_name(table.title)), []).append(shown)
    order = [*SAYS, *found]
    return [
        Sheet(name, *SAYS.get(name, (LISTS, found[name][0].title)), tuple(stacked(name, found[name])))
        for name in sorted(found, key=order.index)
    ]


def _in_points(table: ReportTable) -> ReportTable:
    """Return a table whose differences of ratios are hundred times as large, because Excel shows no ratio as points."""
    names = [each.name for each in table.columns if each.unit == "points"]

    def scaled(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(**{name: rows[name] * 100 for name in names if name in rows})

    # A formula can be a difference of ratios or a sum of points; the one that gives the figures is used.
    columns = tuple(
        replace(each, formula=" or ".join(f"({text}) * 100 or {text}" for text in each.formula.split(" or ")))
        if each.name in names and each.formula
        else each
        for each in table.columns
    )
    return replace(table, rows=scaled(table.rows), total=scaled(table.total), columns=columns) if names else table


def list_sheet(table: ReportTable) -> Sheet:
    """Return the sheet of the records behind an analysis."""
    name, says = _LIST_OF.get(table.analysis, (sheet_name(table.title), table.title))
    return Sheet(name, LISTS, says, tuple(stacked(name, [table])))


def stacked(name: str, tables: Iterable[ReportTable]) -> Iterator[ReportTable]:
    """Place tables on a sheet, one below the other."""
    above = 0
    for each in tables:
        placed = replace(each, sheet=name, above=above)
        yield placed
        place = SheetRange(placed)
        above = (place.total if len(each.total) else place.last) + _GAP - 1


def _without_descriptions(table: ReportTable) -> ReportTable:
    return replace(table, labels=tuple(name for name in table.labels if name != "description"))


def details(month: Month, tables: Sequence[ReportTable], *, narratives: bool = False) -> list[ReportTable]:
    """
    Return one table of records for each analysis that names them (`records`) and has a table by a key.

    They are the rows that the analysis adds up, so the rows of the other sheets can be sums of them
    (`formulas.Records`). A table of more than `MOST_ROWS` is left out.
    """
    found = []
    for name in dict.fromkeys(each.analysis for each in tables if each.analysis):
        shown = [each for each in tables if each.analysis == name and each.labels == (each.label,)]
        # The items of exposure are those of work in progress and receivables.
        if shown and analyses()[name].records and name != "exposure":
            found.append(_table(month, analyses()[name], shown, narratives))
    return [each for each in found if 0 < len(each.rows) <= MOST_ROWS]


def _table(month: Month, analysis: Analysis, shown: Sequence[ReportTable], narratives: bool) -> ReportTable:
    keys = list(dict.fromkeys(_key(each.label) for each in shown))
    parts = {each.name: each for table in shown for each in table.columns if each.adds_up}
    rows = _rows(month, analysis, keys, [*parts])
    parts = {name: each for name, each in parts.items() if name in rows and rows[name].fillna(0.0).any()}
    rows = with_details(rows, partial(getattr, month.firm_book), [*parts])
    words = {name: rows[name].map(_word) for name in ("billing_type", "invoice_state") if name in rows}
    rows = month.with_distinct_names(rows.assign(**words))
    there = [name for name in shown_columns(rows, [*parts.values()]) if narratives or name != "description"]
    own = {name: each for name in there if name not in parts and (each := measure(name)) and each.unit != "text"}
    texts = [name for name in there if name not in {*parts, *own}]
    labels = tuple(dict.fromkeys([*texts, *(each.label for each in shown)]))
    return ReportTable(
        title=f"{shown[0].title.partition(' by ')[0]} by {analysis.records}",
        analysis=analysis.name,
        label=labels[0],
        labels=labels,
        rows=rows.sort_values([*labels], kind="stable", ignore_index=True),
        total=pd.DataFrame([rows[[*own, *parts]].sum()]),
        columns=(*own.values(), *parts.values()),
    )


def _key(label: str) -> str:
    return label.removesuffix("_name").removesuffix("_label")


def _rows(month: Month, analysis: Analysis, keys: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    of_scope = [month.scope.key] if month.scope else []
    of_invoices = ["invoice_id"] if analysis.records == "invoice" else []
    given = {"by": list(dict.fromkeys([*of_scope, *keys, *of_invoices])), **month.days_for(analysis.name)}
    # The other tables already give the notes of this analysis.
    with collect_notes(Notes("page")):
        rows = call_analysis(analysis, month.firm_book, given, partial(run_rows, names))
    rows = keep_rows(rows, {f"{month.scope.key}_id": month.scope.id}) if month.scope else rows
    return by_invoice(rows, [name for name in names if name in rows]) if of_invoices else rows


def _word(value: object) -> object:
    return None if pd.isna(value) else enum_label(str(value))  # type: ignore[call-overload]
