"""The sheets of the month's workbook: one per analysis, with its columns, total and meaning.

Columns and definitions are those of `billframes.tables`. Nothing here depends on Excel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pandas as pd

from billframes import tables
from billframes.analysis.metrics import Measure, title_of_key
from billframes.analysis.spec import Analysis, analyses, measure
from billframes.report import footnotes
from billframes.report.month import Month
from billframes.report.tables import FEES_TREND, HOURS_TREND, NARRATIVES
from billframes.tables import TableOf
from billframes.tables.declaration import in_words

__all__ = ["Sheet", "sheets"]

_REALIZATION = {
    "practice_area": "Realization by practice area",
    "client": "Realization by client",
    "user": "Realization by timekeeper",
    "responsible": "Realization by responsible",
}


@dataclass(frozen=True)
class Sheet:
    """
    A sheet of the workbook.

    Parameters
    ----------
    name : str
        At most 31 characters.
    meaning : tuple of str
        What the figures mean, in paragraphs.
    labels : tuple of str
        Columns of text and dates that identify the rows, in order.
    measures : tuple of Measure
        Columns of figures, after the labels.
    rows : DataFrame
    total : DataFrame
        One row, or none.
    note : str
        A sentence above the headings, for what readers must not overlook.
    """

    name: str
    meaning: tuple[str, ...]
    labels: tuple[str, ...]
    measures: tuple[Measure, ...]
    rows: pd.DataFrame
    total: pd.DataFrame
    note: str = ""

    @property
    def headings(self) -> list[str]:
        """The columns' headings."""
        return [*(title_of_key(each).capitalize() for each in self.labels), *(each.title for each in self.measures)]


def sheets(month: Month, *, narratives: bool = False) -> list[Sheet]:
    """
    Compute the month's sheets.

    Parameters
    ----------
    month : Month
    narratives : bool
        Whether time entries are listed with their descriptions.
    """
    made = [*_figures(month), *([_narratives(month)] if narratives else [])]
    return [each for each in made if each.measures]


def _figures(month: Month) -> Iterator[Sheet]:
    hours = _of(tables.utilization, "Utilization", month, month.utilization, month.utilization_total)
    yield _hours(hours) if month.scope else hours
    total = month.realization(None)
    for key, name in _REALIZATION.items():
        if month.scope is None or month.scope.key != key:
            yield _of(tables.realization, name, month, month.realization(key), total)
    note = " ".join(footnotes.balances(month))
    owed = _of(tables.aging, "Receivables by client", month, month.receivables("client"), month.receivables(None))
    yield replace(owed, note=note)
    work = month.wip(None)
    for key in ("client", "user"):
        yield _of(tables.wip, f"Work in progress by {title_of_key(key)}", month, month.wip(key), work)
    yield replace(_of(tables.lockup, "Lock-up", month, month.lockup(), None), note=note)
    # A total of drafts and final invoices would mean nothing. A part of the firm has only a share of some invoices.
    if month.scope is None or month.scope.key == "client":
        yield _of(tables.reconcile, "Invoices", month, month.reconcile(), None)
    yield _twelve_months(month)


def _of(table: TableOf, name: str, month: Month, rows: pd.DataFrame, total: pd.DataFrame | None) -> Sheet:
    said = analyses()[table.analysis]
    rows = month.named(rows)
    measures = table.measures(rows)
    labels = table.keys or tuple(column for column in map(str, rows.columns) if _is_label(column))
    return Sheet(
        name,
        (said.question, *_parts(said)),
        labels,
        tuple(measures),
        rows,
        rows.iloc[:0] if total is None else total,
    )


def _parts(said: Analysis) -> Iterator[str]:
    for heading, texts in said.parts.items():
        # Readers could take an example's figures for the firm's.
        if heading == "Example":
            continue
        plain = (without_arguments(text) for text in texts)
        yield from (f"{heading}: {in_words(text)}" for text in plain if text)


def without_arguments(text: str) -> str:
    """
    Leave out what a text says of a function's arguments: readers of a workbook can't set them.

    Examples
    --------
    >>> without_arguments("Non-billable time, except that on pro bono matters with `include_probono=True`.")
    'Non-billable time.'
    >>> without_arguments("Internal matters; fixed-fee time with `include_fixed_fee=False`. `total_hours` has all.")
    'Internal matters. `total_hours` has all.'
    """
    text = _EXCEPTION.sub("", text)
    text = re.sub(r"\(([^()]*)\)", lambda found: f"({_without_clauses(found[1])})", text).replace(" ()", "")
    kept = (_without_clauses(sentence) for sentence in re.split(r"(?<=\.) ", text))
    return " ".join(f"{each}." for each in kept if each)


_ARGUMENT = re.compile(r"`\w+=[^`]*`|`matter_types`")
_EXCEPTION = re.compile(rf", except[^.;]*({_ARGUMENT.pattern})[^.;]*")


def _without_clauses(sentence: str) -> str:
    clauses = (each for each in re.split(r"(?<=[;:]) ", sentence) if not _ARGUMENT.search(each))
    return " ".join(clauses).rstrip(" ;:.")


def _is_label(column: str) -> bool:
    return measure(column) is None and not column.endswith("_id")


def _hours(sheet: Sheet) -> Sheet:
    """Keep only the hours: for a part of the firm, available hours are not divided."""
    meaning = "Hours on these matters; available hours are nobody’s part, so there is no utilization."
    shown = tuple(
        each for each in sheet.measures if each.name.endswith("_hours") and sheet.total[each.name].notna().all()
    )
    return Sheet("Hours", (meaning,), sheet.labels, shown, sheet.rows, sheet.total)


def _twelve_months(month: Month) -> Sheet:
    rows = month.by_month.iloc[1:].rename_axis("month").reset_index()
    measures = tuple(each for each in (*HOURS_TREND, *FEES_TREND) if rows[each.name].notna().any())
    meaning = "Hours belong to the month of the work; billed fees, their worth and settled fees to the invoice’s."
    return Sheet("Twelve months", (meaning,), ("month",), measures, rows, rows.iloc[:0])


def _narratives(month: Month) -> Sheet:
    rows = month.narratives()
    found = measure("hours")
    total = pd.DataFrame({"hours": [rows["hours"].sum()]})
    meaning = "Time dated in the month, of every billing type, with its descriptions."
    return Sheet("Time entries", (meaning,), NARRATIVES[:-1], (found,) if found else (), rows, total)
