"""The entries, items, invoices and matters behind the figures of the workbook.

A record's part in a figure comes from the analysis itself, grouped by the records as well (`RecordsSpec`), so that the
parts add up to the figure, and the rows of the other sheets can be sums of them (`formulas.Records`).
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from billframes._format import enum_label
from billframes._notes import Notes, collect_notes
from billframes.analysis.declare.columns import IDS, ITEM_ID, ITEMS
from billframes.analysis.declare.lookup import analyses, measure
from billframes.analysis.declare.spec import Analysis, RecordsSpec
from billframes.book.methods import call_analysis
from billframes.book.slices import keep_rows
from billframes.report.month import Month
from billframes.report.table_spec import ReportTable, days_of

MOST_ROWS = 100_000

_KINDS = dict(zip(ITEMS, ("Time", "Expense", "Fixed fee"), strict=True))
_NOUNS = {("time_entries",): "entry", ("invoices",): "invoice", ("matters",): "matter", ITEMS: "item"}


def details(month: Month, tables: Sequence[ReportTable], *, narratives: bool = False) -> list[ReportTable]:
    """
    Return one table of records for each analysis that declares them and that has a table by a key.

    A table of more than `MOST_ROWS` is left out: its sums would take Excel minutes.
    """
    found = []
    for analysis in dict.fromkeys(each.analysis for each in tables):
        shown = [each for each in tables if each.analysis == analysis and each.labels == (each.label,)]
        spec = analyses()[analysis].records if analysis else None
        if spec and spec.has_parts and not spec.of and shown:
            found.append(_table(month, analyses()[analysis], spec, shown, narratives))
    return [each for each in found if 0 < len(each.rows) <= MOST_ROWS]


def _table(
    month: Month, analysis: Analysis, spec: RecordsSpec, shown: Sequence[ReportTable], narratives: bool
) -> ReportTable:
    keys = list(dict.fromkeys(_key(each.label) for each in shown))
    rows = _parts(month, analysis, spec, keys)
    records = _records(month, spec)
    # A matter's own name is that of its id.
    wanted = ["matter_name" if name == "name" else name for name in spec.shown]
    there = [name for name in wanted if name in records and name not in analysis.measure_names]
    own = {name: each for name in there if (each := measure(name)) and each.unit != "text"}
    named = [name for name in there if name not in own and (narratives or name != "description")]
    parts = {each.name: each for table in shown for each in table.columns if each.adds_up}
    parts = {name: each for name, each in parts.items() if name in rows and rows[name].fillna(0.0).any()}
    rows = rows[rows[[*parts]].fillna(0.0).any(axis=1)]
    more = [name for name in records if name == spec.key or (name not in rows and name in there)]
    rows = month.with_distinct_names(rows.merge(records[more], on=spec.key, how="left"))
    labels = tuple(dict.fromkeys([*named, *(each.label for each in shown)]))
    columns = (*own.values(), *parts.values())
    return ReportTable(
        title=f"{shown[0].title.partition(' by ')[0]} by {_NOUNS[spec.frames]}",
        analysis=analysis.name,
        label=labels[0],
        labels=labels,
        rows=rows.sort_values([*labels], kind="stable", ignore_index=True),
        total=pd.DataFrame([rows[[*own, *parts]].sum()]),
        columns=columns,
    )


def _key(label: str) -> str:
    return label.removesuffix("_name").removesuffix("_label")


def _parts(month: Month, analysis: Analysis, spec: RecordsSpec, keys: Sequence[str]) -> pd.DataFrame:
    of_scope = [month.scope.key] if month.scope else []
    given = {"by": list(dict.fromkeys([*of_scope, *keys, spec.key])), **days_of(month, analysis.name)}
    if spec.key == ITEM_ID:
        given |= {name: _items(month, name) for name in spec.frames}
    # The other tables already give the notes of this analysis.
    with collect_notes(Notes("page")):
        rows = call_analysis(analysis, month.firm_book, given)
    return keep_rows(rows, {f"{month.scope.key}_id": month.scope.id}) if month.scope else rows


def _items(month: Month, name: str) -> pd.DataFrame:
    items: pd.DataFrame = getattr(month.firm_book, name)
    return items.assign(item_id=items[IDS[name]], kind=_KINDS[name])


def _records(month: Month, spec: RecordsSpec) -> pd.DataFrame:
    if spec.key == ITEM_ID:
        records = pd.concat([_items(month, name) for name in spec.frames], ignore_index=True)
    else:
        records = getattr(month.firm_book, spec.frames[0]).rename(columns={"name": "matter_name"})
    words = {name: records[name].map(_word) for name in ("billing_type", "invoice_state") if name in records}
    return records.assign(**words)


def _word(value: object) -> object:
    return None if pd.isna(value) else enum_label(str(value))  # type: ignore[call-overload]
