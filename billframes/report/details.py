"""The entries, items and invoices behind the figures of the workbook.

They are the rows that the analysis adds up, so the rows of the other sheets can be sums of them (`links.Records`).
"""

from __future__ import annotations

from collections.abc import Sequence
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
from billframes.report.month import Month
from billframes.report.table_spec import ReportTable, days_of

MOST_ROWS = 100_000


def details(month: Month, tables: Sequence[ReportTable], *, narratives: bool = False) -> list[ReportTable]:
    """
    Return one table of records for each analysis that names them (`records`) and has a table by a key.

    A table of more than `MOST_ROWS` is left out: its sums would take Excel minutes.
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
    given = {"by": list(dict.fromkeys([*of_scope, *keys, *of_invoices])), **days_of(month, analysis.name)}
    # The other tables already give the notes of this analysis.
    with collect_notes(Notes("page")):
        rows = call_analysis(analysis, month.firm_book, given, partial(run_rows, names))
    rows = keep_rows(rows, {f"{month.scope.key}_id": month.scope.id}) if month.scope else rows
    return by_invoice(rows, [name for name in names if name in rows]) if of_invoices else rows


def _word(value: object) -> object:
    return None if pd.isna(value) else enum_label(str(value))  # type: ignore[call-overload]
