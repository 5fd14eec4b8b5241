"""The report's tables from the firm's books: what came in by responsible lawyer and client, and the tie-out."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pandas as pd

from billframes._shared.format import enum_label, long_date
from billframes.analysis.books.tie_out_frame import TOTALS, add_up_reasons
from billframes.analysis.books.tie_out_rows import UNEXPLAINED
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import Measure
from billframes.report.month import Month
from billframes.report.table_spec import ReportTable, Table, of_analysis, to_date

_CASH = ("cash_amount", "collected_amount")
_ROWS = Measure("rows", "Invoices and entries", "count", "The rows with this reason.", adds_up=True)
_KEY = "responsible"


def collected_by_responsible(month: Month) -> ReportTable | None:
    """Return the cash of the month and of the year to date beside fees billed; None without payments."""
    if month.ledgers.payments is None:
        return None
    spans = {"": month.first}
    if month.ledgers.covers(month.first_of_year) and month.first_of_year < month.first:
        spans["_to_date"] = month.first_of_year
    rows, total = (_beside_billed(month, spans, by) for by in (_KEY, None))
    declared = _columns_of("realization") | _columns_of("collected")
    columns = [replace(declared[name], ratios=()) for name in (*_CASH, "billed_amount")]
    columns += [to_date(each) for each in columns if "_to_date" in spans]
    notes = [
        "Cash is all money of the payments: fees, expenses, tax, and money on no invoice. Fees collected are the fees "
        "in it, of work billed in any month. Credits and write-offs are not cash. The payments are from "
        f"{month.ledgers.payments.attrs['payments']['file']}.",
    ]
    if "_to_date" not in spans and month.ledgers.since and month.first_of_year < month.first:
        notes.append(f"The year to date is not known: the payments begin on {long_date(month.ledgers.since)}.")
    rows = month.with_distinct_names(rows).sort_values(_CASH[0], ascending=False, kind="stable", ignore_index=True)
    return ReportTable(
        title="Collected by responsible lawyer",
        label=f"{_KEY}_name",
        labels=(f"{_KEY}_name",),
        rows=rows,
        total=total,
        columns=tuple(columns),
        meaning=("Cash that came in, beside fees billed on invoices of the same days.",),
        order=_CASH[0],
        notes=tuple(notes),
    )


def _columns_of(analysis: str) -> dict[str, Measure]:
    return {each.name: each for each in analyses()[analysis].columns}


def _beside_billed(month: Month, spans: dict[str, dt.date], by: str | None) -> pd.DataFrame:
    parts = []
    for end, first in spans.items():
        days = {"by": by, "start": first, "end": month.last}
        cash = month.result("collected", payments=month.ledgers.payments, **days)
        billed = month.result("realization", **days)
        keys = [f"{by}_id", f"{by}_name"] if by else []
        for frame, names in ((cash, _CASH), (billed, ("billed_amount",))):
            part = frame[[*keys, *names]].rename(columns={name: f"{name}{end}" for name in names})
            # Work without a lawyer has no id.
            parts.append(part.assign(**{keys[0]: part[keys[0]].fillna("")}).set_index(keys) if keys else part)
    joined = pd.concat(parts, axis=1)
    return joined.fillna(0.0).reset_index() if by else joined


_DAYS_TO_PAY = Table(
    analysis="days_to_pay",
    by="client",
    order=("paid_amount",),
    options=lambda month: {"payments": month.ledgers.payments, "start": month.first, "end": month.last},
)


def days_to_pay_by_client(month: Month) -> ReportTable | None:
    """Return how long the clients took that paid in the month; None without payments."""
    return None if month.ledgers.payments is None else _DAYS_TO_PAY(month)


def tie_out_by_reason(month: Month) -> ReportTable | None:
    """Return why the receivables and the books differ; None without a report of the day."""
    tied = month.ledgers.tie_out
    if tied is None:
        return None
    rows = add_up_reasons(tied)
    unknown = rows["reason"].isin(UNEXPLAINED) & (rows["rows"] > 0)
    rows = rows.assign(reason=[enum_label(str(each)) for each in rows["reason"]], rows=rows["rows"].astype("float64"))
    total = pd.DataFrame([rows[["rows", *TOTALS]].sum()])
    notes = [
        f"Receivables on {long_date(month.as_of)} beside the firm’s books ({tied.attrs['tie_out']['file']}), "
        "invoice by invoice. The reasons add up to the whole difference. The workbook has each invoice that differs."
    ]
    if unknown.any():
        notes.append(f"Nobody can tell from the reports what these are: {', '.join(rows.loc[unknown, 'reason'])}.")
    columns = (_ROWS, *(_columns_of("tie_out")[name] for name in TOTALS))
    return of_analysis(
        "tie_out",
        "Tie-out by reason",
        rows,
        total,
        label="reason",
        labels=("reason",),
        columns=columns,
        brief=(),
        top=0,
        notes=tuple(notes),
    )


def invoices_that_differ(month: Month) -> ReportTable | None:
    """Return the invoices and entries whose balances differ, the largest first; None without a report of the day."""
    tied = month.ledgers.tie_out
    if tied is None:
        return None
    rows = tied[tied["reason"] != "agrees"]
    rows = rows.sort_values("difference_amount", key=abs, ascending=False, kind="stable", ignore_index=True)
    rows = rows.assign(reason=[enum_label(str(each)) for each in rows["reason"]])
    return of_analysis("tie_out", "Invoices that differ", rows, rows.iloc[:0], label="invoice_number")
