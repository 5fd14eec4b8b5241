"""The tables of the report: their rows in order, totals, columns, charts and notes.

The page shows the largest rows and the sum of all others. The workbook shows all rows, in the same order and with the
same title. An analysis declares its columns: the page shows its `brief` columns, the workbook all of them.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from billframes import tables
from billframes._format import format_number, long_date, month_name
from billframes.analysis.declare.lookup import analyses, measure, measures
from billframes.analysis.declare.metrics import Measure, title_of_key
from billframes.analysis.results.result_rows import total_of
from billframes.report.month import LEAST_HOURS, YEAR, Month
from billframes.tables import TableOf

__all__ = [
    "BY_MONTH",
    "SCOPE_HOURS",
    "Chart",
    "MakeTable",
    "ReportTable",
    "Table",
    "at_risk",
    "balances",
    "budgets",
    "change_of_fees",
    "change_of_realization",
    "client_guidelines",
    "days_of",
    "e_billing",
    "later_balances",
    "month_by_month",
    "of_analysis",
    "overdue_invoices",
    "prebills",
    "realization",
    "receivables",
    "scorecard",
    "stale",
    "time_entries",
    "timekeepers",
    "top_and_rest",
    "twelve_months",
    "wip",
]

BY_MONTH = (
    "Client and available hours belong to the month of the work. Value of time billed, fees billed and the settled "
    "share belong to the month of the invoice. The settled share follows from today’s balances, so recent invoices "
    "still have time to be settled."
)
SCOPE_HOURS = (
    "Hours on these matters. Client hours are billable and fixed-fee time, except on internal matters. Available hours "
    "are not divided among matters, so only the firm’s report shows utilization."
)
_E_BILLING = (
    "Findings of the LEDES check: items that clients’ portals would reject, of the month’s work that is not on a final "
    "invoice. An item can have several findings."
)
_GUIDELINES = (
    "What clients may refuse or cut by their guidelines, of the work that is not on a final invoice. An item can have "
    "several findings. In the total it counts once, with its largest finding, so that the rows add up to more."
)
_FINDINGS = Measure("findings", "Findings", "count", "The number of findings; each row is one.", adds_up=True)
_TRENDS = {
    "utilization": ("client_hours", "capacity_hours", "utilization"),
    "realization": ("worked_amount", "write_down_amount", "billed_amount", "billing_realization", "settlement_ratio"),
}
"""The columns of the twelve months, by the analysis whose chart shows them."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A chart of a table's rows or of its total. Without a height in inches, it has one bar per row."""

    of: Literal["rows", "total"] = "rows"
    analysis: str = ""
    height: float = 0.0
    below: bool = False

    def title(self, table: ReportTable) -> str:
        """Return its title: that of the table, or what the total is divided by."""
        drawn = analyses()[self.analysis or table.analysis].chart
        if self.of == "total" and drawn:
            return f"{drawn.title} by {drawn.age[0]}"
        return f"{drawn.title}, {table.title.lower()}" if self.analysis and drawn else table.title


@dataclass(frozen=True, kw_only=True)
class ReportTable:
    """
    One table of the report, with all its rows in order.

    The page shows the measures named in `brief` and the `top` largest rows by `order`, named by the column `label`.
    The workbook shows all `columns` and all rows, identified by the columns `labels`. No `brief` and 0 mean all.
    `meaning` says what figures mean that are not those of one analysis. Readers must not overlook `notes`.
    """

    title: str
    label: str
    rows: pd.DataFrame
    total: pd.DataFrame
    columns: tuple[Measure, ...]
    brief: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    analysis: str = ""
    meaning: tuple[str, ...] = ()
    order: str = ""
    top: int = 10
    notes: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()

    @property
    def noun(self) -> str:
        """What a row is, such as "client"."""
        return title_of_key(self.label)

    @property
    def page_columns(self) -> list[Measure]:
        """The figures that the page shows."""
        return [each for each in self.columns if not self.brief or each.name in self.brief]

    @property
    def headings(self) -> list[str]:
        """The headings of the workbook's columns."""
        return [*(title_of_key(each).capitalize() for each in self.labels), *(each.title for each in self.columns)]

    def row_name(self, label: object) -> str:
        """Return the name of a row."""
        return month_name(pd.Timestamp(f"{label}-01"), short=True) if self.label == "month" else str(label)

    def page_rows(self, top: int | None = None) -> pd.DataFrame:
        """Return the largest rows, and below them the sum of all others if the table has a total."""
        top = self.top if top is None else top
        if not top:
            return self.rows
        if self.total.empty:
            return self.rows.head(top)
        return top_and_rest(self.rows, self.label, self.order, top=top, rest=f"All other {self.noun}s")


MakeTable = Callable[[Month], ReportTable | None]
"""Makes a table of a month; None if the month has none."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """
    A table of one analysis; call it with a month.

    Without `by`, it is a list; the report of one client has matters in place of clients. Rows are sorted by the first
    column of `order` that is not hidden, largest first. `options` are the arguments of the analysis in place of the
    month's days, and `prepare` takes the rows and returns those to show. `{by}` in the title is the title of the key;
    without a title, it is the one that the analysis declares.
    """

    analysis: str
    by: str = ""
    title: str = ""
    order: tuple[str, ...] = ()
    options: Callable[[Month], Mapping[str, Any]] | None = None
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda rows: rows
    label: str = ""
    notes: Callable[[Month], Iterable[str]] = lambda _month: ()
    charts: tuple[Chart, ...] = ()

    def __call__(self, month: Month) -> ReportTable:
        """Return the table of a month."""
        options = dict(self.options(month) if self.options else days_of(month, self.analysis))
        by = month.grouping_key(self.by)
        rows = month.result(self.analysis, **options, **({"by": by} if by else {}))
        rows = self.prepare(month.with_distinct_names(rows))
        total = month.result(self.analysis, **options, by=None) if by else rows.iloc[:0]
        known = (each for each in self.order if total.empty or total[each].notna().all())
        order = next(known, self.order[-1] if self.order else "")
        title = self.title or f"{_declared(self.analysis).title}{' by {by}' if by else ''}"
        return of_analysis(
            self.analysis,
            title.format(by=title_of_key(by)),
            _largest_first(rows, order) if order else rows,
            total,
            order=order,
            label=self.label,
            notes=tuple(self.notes(month)),
            charts=self.charts,
        )


def days_of(month: Month, analysis: str) -> dict[str, Any]:
    """Return the days for an analysis: the month's first and last day, and a day of balances if it needs one."""
    takes = inspect.signature(analyses()[analysis].function).parameters
    days = {"start": month.first, "end": month.last} if "start" in takes else {}
    needs_day = "as_of" in takes and takes["as_of"].default is inspect.Parameter.empty
    return days | ({"as_of": month.as_of} if needs_day else {})


def _declared(analysis: str) -> TableOf:
    """Return the table that an analysis declares."""
    declared: TableOf = getattr(tables, analysis)
    return declared


def of_analysis(
    analysis: str, title: str, rows: pd.DataFrame, total: pd.DataFrame, *, label: str = "", **more: Any
) -> ReportTable:
    """Return a table with the columns that the analysis declares."""
    names = [name for name in map(str, rows.columns) if measure(name) is None and not name.endswith("_id")]
    return ReportTable(
        title=title,
        analysis=analysis,
        label=label or next(name for name in names if name.endswith(("_name", "_label"))),
        rows=rows,
        total=total,
        **{
            "columns": tuple(_declared(analysis).measures(rows)),
            "brief": tuple(_declared(analysis).page_columns(rows)),
            "labels": _declared(analysis).keys or tuple(names),
            **more,
        },
    )


def realization(by: str, *charts: Chart) -> Table:
    """Return a table of realization by a key. If rates are hidden, the value of work is missing."""
    return Table(analysis="realization", by=by, order=("worked_amount", "billed_amount"), charts=charts)


def wip(by: str, *charts: Chart) -> Table:
    """Return a table of work in progress by a key."""
    return Table(analysis="wip", by=by, title="Work in progress by {by}", order=("total",), charts=charts)


def balances(month: Month) -> list[str]:
    """Say that the balances are of a later day than the day they are aged to, if they are."""
    return [later_balances(month.balances_day, month.as_of)] if month.balances_day else []


def later_balances(loaded: dt.date, as_of: dt.date) -> str:
    """Say that the balances are those of the day they were loaded, which is after `as_of`."""
    return (
        f"Balances are those of {long_date(loaded)}, when they were loaded. Payments since {long_date(as_of)} are "
        "already deducted, so this is not what was owed on that day."
    )


receivables = Table(
    analysis="aging",
    title="Receivables by {by}",
    by="client",
    order=("total",),
    notes=balances,
    charts=(Chart(of="total", height=1.8), Chart(below=True)),
)


def _with_invoice(rows: pd.DataFrame) -> pd.DataFrame:
    client = rows["client_name"].astype("str").fillna("No client")
    return rows.assign(invoice=client + ", " + rows["invoice_number"].astype("str").fillna(""))


overdue_invoices = Table(analysis="overdue_invoices", order=("balance",), label="invoice", prepare=_with_invoice)


def _with_finding(rows: pd.DataFrame) -> pd.DataFrame:
    findings = rows["finding"].astype("str").str.capitalize()
    return rows.assign(finding_and_matter=findings + ": " + rows["matter_name"].astype("str"))


stale = Table(analysis="stale", order=("open_amount",), label="finding_and_matter", prepare=_with_finding)
_BUDGETS = Table(
    analysis="budget_burn",
    title="Budgets",
    label="matter_name",
    order=("budget_burn",),
    prepare=lambda rows: rows[rows["budget_amount"].notna()],
    notes=lambda _month: [
        "Used are fees billed, fixed fees, draft bills and unbilled time over the matter’s whole life."
    ],
)


def budgets(month: Month) -> ReportTable | None:
    """Return the matters that have a budget; None if the firm's settings have none."""
    return _BUDGETS(month) if month.settings.budgets else None


def timekeepers(month: Month) -> ReportTable:
    """Return utilization by timekeeper, with a note on people without hours, who are only in the total."""
    rows, total = month.with_distinct_names(month.utilization), month.utilization_total
    idle = rows["total_hours"].abs() < LEAST_HOURS
    rows, without = _largest_first(rows[~idle], "client_hours" if month.scope else "utilization"), rows[idle]
    table = of_analysis(
        "utilization",
        "Utilization by timekeeper",
        rows.iloc[:0] if month.is_empty else rows,
        total,
        notes=() if month.scope or month.is_empty else _without_hours(without),
        top=0,
        charts=(Chart(),),
    )
    if not month.scope:
        return table
    # Available hours are not divided among matters.
    unknown = ("capacity_hours", "idle_capacity_hours", "target_hours")
    hours = tuple(each for each in table.columns if each.unit == "hours" and each.name not in unknown)
    return replace(table, title="Hours by timekeeper", columns=hours, meaning=(SCOPE_HOURS,))


def _without_hours(idle: pd.DataFrame) -> tuple[str, ...]:
    """Name the people without hours, and say how much of the total is theirs, so that readers can add it up."""
    if idle.empty:
        return ()
    parts = (("capacity_hours", "{} available hours"), ("target_hours", "target of {} hours"))
    sums = [(float(idle[name].sum()), words) for name, words in parts if name in idle]
    included = " and ".join(words.format(format_number(found, "hours")) for found, words in sums if found)
    names = ", ".join(idle["user_name"].astype("str"))
    return (f"No hours recorded: {names}." + (f" The total includes their {included}." if included else ""),)


def change(measure: str, *charts: Chart) -> MakeTable:
    """Return a table of the change of a figure since last month by client; None if last month is not fully known."""
    figure = {"billed_amount": "fees billed", "billing_realization": "realization"}[measure]

    def make(month: Month) -> ReportTable | None:
        if not month.is_known(month.same_days(1)):
            return None
        by = month.grouping_key("client")
        rows, total = month.changes(measure, by)
        title = f"Change of {figure} by {title_of_key(by)}"
        return of_analysis("bridge", title, month.with_distinct_names(rows), total, charts=charts)

    return make


change_of_fees = change("billed_amount", Chart(height=1.9))
change_of_realization = change("billing_realization")


def month_by_month(measure: str) -> MakeTable:
    """Return a table of a figure for twelve months, each beside the month before and the year before."""
    figure = {"billed_amount": "Fees billed", "billing_realization": "Realization"}[measure]

    def make(month: Month) -> ReportTable:
        rows = month.month_by_month(measure)
        return of_analysis("compare", f"{figure} month by month", rows, rows.iloc[:0], label="month", top=0)

    return make


def twelve_months(month: Month) -> ReportTable:
    """Return hours, utilization, fees billed and realization for twelve months."""
    rows = month.by_month.iloc[-YEAR:].rename_axis("month").reset_index()
    # Available hours are not divided among matters.
    unknown = {"capacity_hours", "utilization"} if month.scope else set()
    columns = dict.fromkeys(name for names in _TRENDS.values() for name in names if name not in unknown)
    drawn = [each for each in _TRENDS if each not in unknown]
    return ReportTable(
        title="Twelve months",
        label="month",
        labels=("month",),
        rows=rows,
        total=rows.iloc[:0],
        columns=tuple(measures()[name] for name in columns),
        meaning=(BY_MONTH,),
        top=0,
        charts=tuple(Chart(analysis=each, height=1.8) for each in drawn),
    )


def scorecard(month: Month) -> ReportTable:
    """Return the firm's scorecard by timekeeper, with a note on people without figures."""
    rows = month.result("scorecard", by="user", start=month.first, end=month.last, as_of=month.as_of)
    rows = month.with_distinct_names(rows)
    amounts = rows[["billed_amount", "wip_amount", "receivable_amount"]].fillna(0)
    empty = (rows["client_hours"].abs() < LEAST_HOURS) & (amounts == 0).all(axis=1)
    names = ", ".join(rows.loc[empty, "user_name"].astype("str"))
    note = (
        f"Not listed, because they have neither client hours nor amounts: {names}. Amounts of peers are the mean of "
        "everyone with available hours."
    )
    notes = (note,) if names else ()
    return of_analysis("scorecard", "Scorecard by timekeeper", rows[~empty], rows.iloc[:0], notes=notes)


def prebills(month: Month) -> ReportTable:
    """Return the items on the firm's invoices that are not final."""
    # Codes are checked for e-billing only.
    rows = month.with_distinct_names(month.result("prebill_review", codes=None, code_sets=None))
    who = ("invoice_number", "client_name", "responsible_name", "date", "user_name", "matter_name")
    labels = (*who, "description", "findings")
    as_of = f" as of {long_date(month.loaded_on)}" if month.loaded_on else ""
    note = f"Items of any date on invoices that are drafts, in review or approved{as_of}. Flags show possible errors."
    columns = tuple(each for each in _declared("prebill_review").measures(rows) if each.name not in labels)
    none = rows.iloc[:0]
    return of_analysis(
        "prebill_review",
        "Items on draft bills",
        rows,
        none,
        label="item_id",
        labels=labels,
        columns=columns,
        notes=(note,),
    )


def e_billing(month: Month) -> ReportTable | None:
    """Return the findings of the LEDES check; None if no matter needs LEDES."""
    if not month.e_billing.needed:
        return None
    labels = ("responsible_name", "matter_name", "date", "item", "field", "problem", "value", "fix")
    rows = month.e_billing.findings.reindex(columns=[*labels])
    rows = rows.sort_values(["responsible_name", "matter_name", "date"], kind="stable", ignore_index=True)
    return ReportTable(
        title="E-billing",
        label="item_id",
        labels=labels,
        rows=rows.assign(findings=1.0),
        total=rows.iloc[:0],
        columns=(_FINDINGS,),
        meaning=(_E_BILLING, month.e_billing.summary),
    )


def at_risk(month: Month) -> ReportTable | None:
    """Return what clients may refuse or cut by client and rule; None if the firm has no guideline files."""
    if month.guidelines.findings is None:
        return None
    rows = month.guidelines.by_rule
    items = Measure("items", "Items", "count", "Time entries, expenses and fixed fees with findings.", adds_up=False)
    return ReportTable(
        title="At risk by rule",
        label="rule",
        labels=("client", "rule"),
        rows=rows.iloc[:-1],
        total=rows.iloc[-1:],
        columns=(items, _FINDINGS, measures()["at_risk"]),
        meaning=(_GUIDELINES,),
    )


def client_guidelines(month: Month) -> ReportTable | None:
    """Return the findings of the clients' guidelines; None if the firm has no guideline files."""
    findings = month.guidelines.findings
    if findings is None:
        return None
    labels = ("client_name", "responsible_name", "user_name", "matter_name", "date", "severity", "name", "clause")
    amounts = {name: findings[name].astype("float64") for name in ("at_risk", "item_amount")}
    return ReportTable(
        title="Client guidelines",
        label="item_id",
        labels=(*labels, "problem", "value", "fix", "changeable"),
        rows=findings.assign(**amounts, severity=findings["severity"].astype("str")),
        total=month.guidelines.by_rule.iloc[-1:],
        columns=(measures()["at_risk"], measures()["item_amount"]),
        meaning=(_GUIDELINES,),
    )


def time_entries(month: Month) -> ReportTable:
    """Return the month's time entries with their descriptions."""
    rows = month.narratives()
    return ReportTable(
        title="Time entries",
        label="description",
        labels=("date", "user_name", "client_name", "matter_name", "billing_type", "description"),
        rows=rows,
        total=pd.DataFrame({"hours": [rows["hours"].sum()]}),
        columns=(measures()["hours"],),
        meaning=("Time dated in the month, of every billing type, with its descriptions.",),
    )


def top_and_rest(frame: pd.DataFrame, label: str, order: str, *, top: int, rest: str) -> pd.DataFrame:
    """
    Keep the rows with the largest values of `order`, and add all other rows up into one.

    Parameters
    ----------
    frame : DataFrame
        A result with a column of labels and columns of numbers.
    label, order : str
        The column with the rows' names, and the column to sort by, largest first. If `order` is empty, rows stay in
        their order.
    top : int
        How many rows to keep. If only one more row is left, it is kept too.
    rest : str
        Name of the row with the sum of all others. Their number is added in brackets.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": list("abc"), "billed_amount": [10.0, 30.0, 20.0],
    ...                      "worked_amount": [20.0, 30.0, 40.0], "billing_realization": [0.5, 1.0, 0.5]})
    >>> top_and_rest(rows, "name", "billed_amount", top=1, rest="Others")
             name  billed_amount  worked_amount  billing_realization
    0           b           30.0           30.0                  1.0
    1  Others (2)           30.0           60.0                  0.5
    """
    ordered = _largest_first(frame, order) if order else frame
    if len(ordered) <= top + 1:
        return ordered
    others = ordered.iloc[top:]
    row = pd.DataFrame([{**total_of(others), label: f"{rest} ({len(others)})"}])
    return pd.concat([ordered.iloc[:top], row], ignore_index=True)[list(frame.columns.intersection(row.columns))]


def _largest_first(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    return rows.sort_values(column, ascending=False, kind="stable", ignore_index=True)
