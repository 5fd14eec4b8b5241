"""The sheets of the month's workbook: one per table of the report, with all its rows and columns.

Rows, order and titles are those of the page (`views`). Columns and definitions are those of `billframes.tables`.
Nothing here depends on Excel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from billframes._show import long_date
from billframes.analysis.explain import plain
from billframes.analysis.metrics import Measure, title_of_key
from billframes.analysis.spec import Analysis, analyses, measure
from billframes.report import footnotes, views
from billframes.report.month import LOOK_BACK, Month
from billframes.report.tables import NARRATIVES, TRENDS, trend_columns
from billframes.report.views import View

__all__ = ["Sheet", "sheets"]


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
    made = [*_figures(month, narratives=narratives), *([_narratives(month)] if narratives else [])]
    return [each for each in made if each.measures]


def _figures(month: Month, *, narratives: bool) -> Iterator[Sheet]:
    hours = _noted(*views.timekeepers(month))
    yield replace(hours, meaning=(_PART_HOURS,)) if month.scope else hours
    for key in _keys(month, "practice_area", "client", "user", "responsible"):
        yield _of(views.realization(month, key))
    yield from (_of(each) for name in ("billed_amount", "billing_realization") if (each := views.change(month, name)))
    if month.scope is None:
        yield from map(_of, (views.write_downs(month), views.collections(month), views.stale(month)))
        yield _of(views.exposure(month))
        yield _noted(*views.scorecard(month))
        yield replace(_of(views.rates(month)), note=f"{month.last.year} counts up to {long_date(month.last)}.")
        yield _of(views.new_business(month))
        yield _prebills(month, narratives=narratives)
    note = " ".join(footnotes.balances(month))
    for key in _keys(month, "responsible", "client", "user"):
        yield _of(views.wip(month, key))
    yield replace(_of(views.lockup(month)), note=note)
    yield replace(_of(views.receivables(month)), note=note)
    if month.scope is None and month.settings.budgets:
        yield _of(views.budgets(month))
    # A part of the firm has only a share of some invoices.
    if month.scope is None or month.scope.key == "client":
        yield _of(views.invoices(month))
    if month.e_billing.needed:
        yield _e_billing(month)
    yield from (_of(views.compared(month, name)) for name in ("billed_amount", "billing_realization"))
    yield _twelve_months(month)


_PART_HOURS = "Hours on these matters. Available hours are not divided by matter, so there is no utilization."


def _keys(month: Month, *keys: str) -> list[str]:
    """Replace the key of the month's own part, as on the page."""
    return list(dict.fromkeys(month.divided_by(key) for key in keys))


def _of(view: View) -> Sheet:
    said = analyses()[view.analysis]
    measures = view.columns(brief=False)
    (name,) = views.shortened([view.title])
    labels = view.declared.keys or tuple(column for column in map(str, view.rows.columns) if _is_label(column))
    return Sheet(name, (said.question, *_parts(said)), labels, tuple(measures), view.rows, view.total)


def _noted(view: View, notes: Sequence[str]) -> Sheet:
    return replace(_of(view), note=" ".join(notes))


def _parts(said: Analysis) -> Iterator[str]:
    for heading, texts in said.parts.items():
        # Readers could take an example's figures for the firm's.
        if heading == "Example":
            continue
        words = (plain(text, said) for text in texts)
        yield from (_sentence(_OPENINGS.get(heading, ""), text) for text in words if text)


_OPENINGS = {
    "Formula": "The formula is ",
    "Numerator": "Above the line of the formula: ",
    "Denominator": "Below the line of the formula: ",
    "Counted": "What counts: ",
    "Left out": "What is left out: ",
    "The billing system can’t tell": "The billing system can’t tell: ",
}


def _sentence(opening: str, text: str) -> str:
    """
    Begin a text with an opening, and end it with a period.

    Examples
    --------
    >>> _sentence("The formula is ", "billed ÷ worth of billed work")
    'The formula is billed ÷ worth of billed work.'
    """
    first = text[:1].lower() if opening and not text[1:2].isupper() else text[:1].upper()
    return f"{opening}{first}{text[1:]}{'' if text.endswith('.') else '.'}"


def _is_label(column: str) -> bool:
    return measure(column) is None and not column.endswith("_id")


def _e_billing(month: Month) -> Sheet:
    columns = ("responsible_name", "matter_name", "date", "item", "field", "problem", "value", "fix", "item_id")
    rows = month.e_billing.findings.reindex(columns=[*columns])
    rows = rows.sort_values(["responsible_name", "matter_name", "date"], kind="stable", ignore_index=True)
    rows = rows.assign(findings=1.0)
    return Sheet("E-billing", (_E_BILLING, month.e_billing.line), columns, (_FINDINGS,), rows, rows.iloc[:0])


_E_BILLING = (
    "These are the findings of the LEDES check on the month’s work that is not billed yet: what the portals of clients "
    "with LEDES billing would reject. An item can have several findings."
)
_FINDINGS = Measure("findings", "Findings", "count", "The number of findings; each row is one.", adds_up=True)


def _prebills(month: Month, *, narratives: bool) -> Sheet:
    view = views.prebills(month, narratives=narratives)
    texts = ("description", "flags") if narratives else ("flags",)
    labels = ("invoice_number", "client_name", "responsible_name", "date", "user_name", "matter_name", *texts)
    made, loaded = _of(view), month.loaded_on
    measures = tuple(each for each in made.measures if each.name not in labels)
    since = f" as of {long_date(loaded)}" if loaded else ""
    return replace(made, labels=labels, measures=measures, note=_PREBILLS.format(since))


_PREBILLS = (
    "Items on invoices that are drafts, in review or approved{}, whatever their date. What looks wrong is in Flags."
)


def _twelve_months(month: Month) -> Sheet:
    rows = month.by_month.iloc[-LOOK_BACK:].rename_axis("month").reset_index()
    rows = rows.assign(month=pd.to_datetime(rows["month"]))
    columns = [each for name in TRENDS for each in trend_columns(name)]
    measures = tuple(each for each in columns if rows[each.name].notna().any())
    return Sheet("Twelve months", (footnotes.BY_MONTH,), ("month",), measures, rows, rows.iloc[:0])


def _narratives(month: Month) -> Sheet:
    rows = month.narratives()
    found = measure("hours")
    total = pd.DataFrame({"hours": [rows["hours"].sum()]})
    meaning = "Time dated in the month, of every billing type, with its descriptions."
    return Sheet("Time entries", (meaning,), NARRATIVES[:-1], (found,) if found else (), rows, total)
