"""The report's tables from the firm's books: what came in by responsible lawyer and client, and the tie-out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from billframes._shared.format import count_of, enum_label, format_number, long_date
from billframes.analysis.declare.lookup import analyses
from billframes.analysis.declare.metrics import Measure
from billframes.ledger.month_reports import Ledgers, ledger_paths, read_ledgers
from billframes.ledger.tie_out_rows import TOTALS, UNEXPLAINED, add_up_reasons
from billframes.periods import Period, month_end
from billframes.report.ask.cube import Subject
from billframes.report.first_page import Tile
from billframes.report.key_points import Point
from billframes.report.month import Month
from billframes.report.section_spec import FIRM, SectionSpec
from billframes.report.table_spec import ReportTable, Table, of_analysis, to_date

_CASH = ("cash_amount", "collected_amount")
_ROWS = Measure("rows", "Invoices and entries", "count", "The rows with this reason.", adds_up=True)
_KEY = "responsible"


def load(month: Month, files: Sequence[str]) -> None:
    """Read reports of the books, the named ones or those of the settings' folder, and keep them with the month."""
    paths = ledger_paths(files, month.settings.books.folder)
    month.parts["ledger"] = read_ledgers(month, paths, must_fit=bool(files))


def keep_payments(month: Month, payments: pd.DataFrame) -> None:
    """Keep payments that are already read with the month, if they have all its days."""
    days = Period.stated(payments.attrs["payments"])
    known = replace(_ledgers(month), payments=payments, since=days.start)
    if known.covers(month.first) and not (days.end and days.end < month.last):
        month.parts["ledger"] = known


def _ledgers(month: Month) -> Ledgers:
    found: Ledgers = month.parts["ledger"] if "ledger" in month.parts else Ledgers()
    return found


def about_cash(month: Month) -> tuple[str, Sequence[str]]:
    """Say where the cash is from, if it is known, and which reports would show more."""
    ledgers = _ledgers(month)
    known = "What was collected is from the firm’s books; trust balances are not known."
    return "" if ledgers.payments is None else known, ledgers.missing


def cash_tile(month: Month, settled: str) -> Tile | None:
    """Return the cash of the month, with that of the year to date if it is known; None without payments."""
    ledgers = _ledgers(month)
    if ledgers.payments is None:
        return None
    of_month, to_date = (
        month.result("fees_collected", payments=ledgers.payments, by=None, start=first, end=month.last).iloc[0]
        for first in (month.first, month.first_of_year)
    )
    cash, fees, of_year = (
        format_number(float(row[name]), "money")
        for row, name in ((of_month, "cash_amount"), (of_month, "collected_amount"), (to_date, "cash_amount"))
    )
    year = f"{of_year} in {month.to_date_name()}" if ledgers.covers(month.first_of_year) else ""
    return Tile("Collected", cash, "", tuple(filter(None, (f"{fees} of it fees", year, settled))))


def points(month: Month) -> Iterator[Point]:
    """Say how much the books and the billing system differ for reasons that nobody can tell, if any."""
    table = None if month.scope else tie_out_by_reason(month)
    differs = _ledgers(month).unexplained
    if table is None or not differs:
        return
    size, count = differs
    rows = count_of(count, "invoice or entry", "invoices or entries")
    amount, whole = (format_number(each, "money") for each in (size, float(table.total["difference_amount"].iloc[0])))
    headline = f"Receivables and the books differ by {amount} in {rows}, and the reports don’t show why."
    detail = f"With all reasons, they differ by {whole}."
    yield Point(headline, detail, "tie_out", 1.0, is_breach=True)


def subjects(month: Month) -> Iterator[Subject]:
    """Yield cash as a subject of questions, if the payments are known."""
    ledgers = _ledgers(month)
    # Cash of some days of a month would look like that of the month.
    since = ledgers.since and month_end(ledgers.since - dt.timedelta(days=1)) + dt.timedelta(days=1)
    if ledgers.payments is not None and (since is None or since <= month.last):
        yield Subject("cash", "Cash", ("collected_amount",), options={"payments": ledgers.payments}, since=since)


def collected_by_responsible(month: Month) -> ReportTable | None:
    """Return the cash of the month and of the year to date beside fees billed; None without payments."""
    ledgers = _ledgers(month)
    if ledgers.payments is None:
        return None
    spans = {"": month.first}
    if ledgers.covers(month.first_of_year) and month.first_of_year < month.first:
        spans["_to_date"] = month.first_of_year
    rows, total = (_beside_billed(month, spans, by) for by in (_KEY, None))
    declared = _columns_of("realization") | _columns_of("fees_collected")
    columns = [replace(declared[name], ratios=()) for name in (*_CASH, "billed_amount")]
    columns += [to_date(each) for each in columns if "_to_date" in spans]
    notes = [
        "Cash is all money of the payments: fees, expenses, tax, and money on no invoice. Fees collected are the fees "
        "in it, of work billed in any month. Credits and write-offs are not cash. The payments are from "
        f"{ledgers.payments.attrs['payments']['file']}.",
    ]
    if "_to_date" not in spans and ledgers.since and month.first_of_year < month.first:
        notes.append(f"The year to date is not known: the payments begin on {long_date(ledgers.since)}.")
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
        cash = month.result("fees_collected", payments=_ledgers(month).payments, **days)
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
    options=lambda month: {"payments": _ledgers(month).payments, "start": month.first, "end": month.last},
)


def days_to_pay_by_client(month: Month) -> ReportTable | None:
    """Return how long the clients took that paid in the month; None without payments."""
    return None if _ledgers(month).payments is None else _DAYS_TO_PAY(month)


def tie_out_by_reason(month: Month) -> ReportTable | None:
    """Return why the receivables and the books differ; None without a report of the day."""
    tied = _ledgers(month).tie_out
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
    tied = _ledgers(month).tie_out
    if tied is None:
        return None
    rows = tied[tied["reason"] != "agrees"]
    rows = rows.sort_values("difference_amount", key=abs, ascending=False, kind="stable", ignore_index=True)
    rows = rows.assign(reason=[enum_label(str(each)) for each in rows["reason"]])
    return of_analysis("tie_out", "Invoices that differ", rows, rows.iloc[:0], label="invoice_number")


SECTIONS = {
    "overdue_invoices": (
        SectionSpec(
            name="fees_collected",
            title="What came in",
            tables=(collected_by_responsible, days_to_pay_by_client),
            notes="",
            scopes=FIRM,
        ),
        SectionSpec(
            name="tie_out",
            title="Receivables and the books",
            tables=(tie_out_by_reason, invoices_that_differ),
            notes="",
            scopes=FIRM,
        ),
    )
}
