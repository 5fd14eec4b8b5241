"""The sheets of the month's workbook: one per table of the report, with all its rows and columns.

Titles and the order of rows are the same as on the page. Nothing here depends on Excel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from billframes._format import long_date
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.declare.spec import Analysis, analyses, measure, measures
from billframes.analysis.results.explain import plain_words
from billframes.report import footnotes, report_tables
from billframes.report.client_guidelines import ClientGuidelines
from billframes.report.month import YEAR, Month
from billframes.report.report_tables import NARRATIVES, TRENDS, ReportTable, trend_columns

__all__ = ["Sheet", "sheet_name", "sheets"]


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
        Sentences above the headings that readers must not overlook.
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
    return [each for each in _sheets(month, narratives=narratives) if each.measures]


def _sheets(month: Month, *, narratives: bool) -> Iterator[Sheet]:
    hours = _sheet_of(*report_tables.timekeepers(month))
    yield replace(hours, meaning=(footnotes.SCOPE_HOURS,)) if month.scope else hours
    for key in _keys(month, "practice_area", "client", "user", "responsible"):
        yield _sheet_of(report_tables.realization(month, key))
    changes = (report_tables.change(month, name) for name in ("billed_amount", "billing_realization"))
    yield from (_sheet_of(each) for each in changes if each)
    if month.scope is None:
        yield from _sheets_of_firm(month, narratives=narratives)
    for key in _keys(month, "responsible", "client", "user"):
        yield _sheet_of(report_tables.wip(month, key))
    yield _sheet_of(report_tables.lockup(month), footnotes.balances(month))
    yield _sheet_of(report_tables.receivables(month), footnotes.balances(month))
    if month.scope is None and month.settings.budgets:
        yield _sheet_of(report_tables.budgets(month))
    # A part of the firm has only a share of some invoices.
    if month.scope is None or month.scope.key == "client":
        yield _sheet_of(report_tables.invoices(month))
    if month.e_billing.needed:
        yield _e_billing(month)
    if month.guidelines.findings is not None:
        yield from _guidelines(month.guidelines)
    for name in ("billed_amount", "billing_realization"):
        yield _sheet_of(report_tables.month_by_month(month, name))
    yield _twelve_months(month)
    if narratives:
        yield _narratives(month)


def _sheets_of_firm(month: Month, *, narratives: bool) -> Iterator[Sheet]:
    """Return the sheets that only the firm's report has."""
    yield _sheet_of(report_tables.write_downs(month))
    yield _sheet_of(report_tables.overdue_invoices(month))
    yield _sheet_of(report_tables.stale(month))
    yield _sheet_of(report_tables.exposure(month))
    yield _sheet_of(*report_tables.scorecard(month))
    yield _sheet_of(report_tables.effective_rates(month), [f"{month.last.year} counts up to {long_date(month.last)}."])
    yield _sheet_of(report_tables.new_business(month))
    yield _prebills(month, narratives=narratives)


def _keys(month: Month, *keys: str) -> list[str]:
    """Return the keys to group by, each once, as on the page."""
    return list(dict.fromkeys(month.grouping_key(key) for key in keys))


def _sheet_of(table: ReportTable, notes: Sequence[str] = ()) -> Sheet:
    analysis = analyses()[table.analysis]
    labels = table.declared.keys or tuple(column for column in map(str, table.rows.columns) if _is_label(column))
    meaning, measures = (analysis.question, *_definitions(analysis)), tuple(table.columns(brief=False))
    return Sheet(sheet_name(table.title), meaning, labels, measures, table.rows, table.total, " ".join(notes))


def sheet_name(title: str, longest: int = 31) -> str:
    """
    Shorten a title to the name of a sheet, which Excel limits to 31 characters.

    Examples
    --------
    >>> sheet_name("Work in progress by responsible lawyer"), sheet_name("Utilization by timekeeper")
    ('Work in progress by responsible', 'Utilization by timekeeper')
    """
    return title if len(title) <= longest else title[: longest + 1].rpartition(" ")[0]


def _definitions(analysis: Analysis) -> Iterator[str]:
    for heading, texts in analysis.parts.items():
        # Readers could mistake an example's figures for the firm's.
        if heading == "Example":
            continue
        sentences = (plain_words(text, analysis) for text in texts)
        yield from (_sentence(_OPENINGS.get(heading, ""), text) for text in sentences if text)


_OPENINGS = {
    "Formula": "The formula is ",
    "Numerator": "Numerator: ",
    "Denominator": "Denominator: ",
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
    return Sheet("E-billing", (_E_BILLING, month.e_billing.summary), columns, (_FINDINGS,), rows, rows.iloc[:0])


_E_BILLING = (
    "Findings of the LEDES check: items that clients’ portals would reject, of the month’s work that is not on a final "
    "invoice. An item can have several findings."
)
_FINDINGS = Measure("findings", "Findings", "count", "The number of findings; each row is one.", adds_up=True)


def _guidelines(found: ClientGuidelines) -> Iterator[Sheet]:
    """Return the amounts at risk by client and rule, and the findings."""
    rows, at_risk = found.by_rule, measure("at_risk")
    measures = tuple(filter(None, (_ITEMS, _FINDINGS, at_risk)))
    yield Sheet("At risk by rule", (_GUIDELINES,), ("client", "rule"), measures, rows.iloc[:-1], rows.iloc[-1:])
    labels = ("client_name", "responsible_name", "user_name", "matter_name", "date", "severity", "name", "clause")
    texts = ("problem", "value", "fix", "changeable", "item_id")
    findings = found.findings if found.findings is not None else pd.DataFrame()
    amounts = {name: findings[name].astype("float64") for name in ("at_risk", "item_amount")}
    shown = findings.assign(**amounts, severity=findings["severity"].astype("str"))
    money = tuple(filter(None, (at_risk, measure("item_amount"))))
    yield Sheet("Client guidelines", (_GUIDELINES,), (*labels, *texts), money, shown, rows.iloc[-1:])


_GUIDELINES = (
    "What clients may refuse or cut by their guidelines, of the work that is not on a final invoice. An item can have "
    "several findings. In the total it counts once, with its largest finding, so that the rows add up to more."
)
_ITEMS = Measure("items", "Items", "count", "Time entries, expenses and fixed fees with findings.", adds_up=False)


def _prebills(month: Month, *, narratives: bool) -> Sheet:
    table = report_tables.prebills(month, narratives=narratives)
    texts = ("description", "findings") if narratives else ("findings",)
    labels = ("invoice_number", "client_name", "responsible_name", "date", "user_name", "matter_name", *texts)
    sheet = _sheet_of(table)
    measures = tuple(each for each in sheet.measures if each.name not in labels)
    as_of = f" as of {long_date(month.loaded_on)}" if month.loaded_on else ""
    note = f"Items of any date on invoices that are drafts, in review or approved{as_of}. Flags show possible errors."
    return replace(sheet, labels=labels, measures=measures, note=note)


def _twelve_months(month: Month) -> Sheet:
    rows = month.by_month.iloc[-YEAR:].rename_axis("month").reset_index()
    rows = rows.assign(month=pd.to_datetime(rows["month"]))
    columns = [each for name in TRENDS for each in trend_columns(name)]
    measures = tuple(each for each in columns if rows[each.name].notna().any())
    return Sheet("Twelve months", (footnotes.BY_MONTH,), ("month",), measures, rows, rows.iloc[:0])


def _narratives(month: Month) -> Sheet:
    rows = month.narratives()
    total = pd.DataFrame({"hours": [rows["hours"].sum()]})
    meaning = "Time dated in the month, of every billing type, with its descriptions."
    return Sheet("Time entries", (meaning,), NARRATIVES[:-1], (measures()["hours"],), rows, total)
