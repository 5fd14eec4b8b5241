"""The report's sections, in order.

The page and its contents, the sheets of the workbook and the notebook are made from this list.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from billframes._shared.format import long_date, month_name
from billframes.report import figures, footnotes, page_parts, report_tables, section_findings, sections, standing_out
from billframes.report.section_spec import FIRM, SectionSpec, balances_of
from billframes.report.table_spec import Table
from billframes.wings import in_report

# Only the firm's workbook has the tables of these sections.
_sheets = partial(SectionSpec, scopes=FIRM, on_page=False)

_OWN = (
    SectionSpec(name="cover", show=sections.cover, options=", title=title, remark=remark, generated=generated"),
    SectionSpec(name="page_one", show=sections.page_one, step="Comparing with last month and a year ago"),
    SectionSpec(name="headlines", show=sections.headlines),
    SectionSpec(
        name="changes",
        title="Fees billed",
        tables=(report_tables.change_of_fees, report_tables.change_of_realization),
        page=page_parts.fees,
        finding=section_findings.fees,
        scope=lambda month: f"{month.same_days_name(0, short=False)} beside {month.same_days_name(1, short=False)}",
        notes=footnotes.changes,
        empty=footnotes.why_not_compared,
    ),
    SectionSpec(
        name="utilization",
        title="Hours and targets",
        tables=(report_tables.timekeepers, partial(figures.targets, "hours")),
        page=page_parts.hours,
        finding=section_findings.hours,
        scope=footnotes.working_days_of,
        notes=footnotes.utilization,
        empty="No time is recorded in {month}.",
    ),
    SectionSpec(
        name="targets",
        title="Fee targets",
        tables=(partial(figures.targets, "fees"),),
        quiet=section_findings.fee_targets_in_short,
        notes=lambda _month, table: table.meaning,
        scopes=FIRM,
    ),
    SectionSpec(
        name="realization",
        tables=tuple(map(report_tables.realization, ("practice_area", "client"))),
        title="Realization",
        page=page_parts.realization,
        finding=section_findings.realization,
        scope=lambda month: f"invoices dated {month.same_days_name(0, short=False)}",
        notes=footnotes.realization,
        empty="No final invoice of {month} bills time.",
    ),
    _sheets(name="write_downs", tables=(report_tables.write_downs,)),
    SectionSpec(
        name="realization_by_person",
        tables=tuple(map(report_tables.realization, ("user", "responsible"))),
        on_page=False,
    ),
    SectionSpec(
        name="budgets",
        title="Budgets",
        tables=(report_tables.budgets,),
        page=page_parts.budgets,
        finding=section_findings.budgets,
        quiet=section_findings.budgets_in_short,
        notes="",
        scopes=FIRM,
    ),
    SectionSpec(
        name="work_in_progress",
        title="Work in progress",
        tables=(
            report_tables.wip("responsible"),
            report_tables.lockup,
            report_tables.wip("client"),
        ),
        page=page_parts.work,
        finding=section_findings.work,
        quiet=section_findings.work_in_short,
        scope=balances_of,
        notes=footnotes.work_in_progress,
        empty="There is no work in progress: all work is on final invoices.",
    ),
    SectionSpec(
        name="receivables",
        title="Receivables and cash",
        tables=(report_tables.receivables,),
        page=page_parts.receivables,
        finding=section_findings.receivables,
        scope=balances_of,
        notes=footnotes.receivables,
        empty="Nothing is owed: no final invoice has an open balance.",
    ),
    _sheets(name="overdue_invoices", tables=(report_tables.overdue_invoices,)),
    SectionSpec(
        name="stale", tables=(report_tables.stale,), notes=footnotes.stale, empty="Nothing is stale.", scopes=FIRM
    ),
    _sheets(name="exposure", tables=(Table(analysis="exposure", by="client", order=("exposure_amount",)),)),
    _sheets(name="scorecard", tables=(report_tables.scorecard,)),
    _sheets(
        name="receivables_by_responsible",
        tables=(Table(analysis="aging", title="Receivables by {by}", by="responsible", order=("overdue",)),),
    ),
    SectionSpec(
        name="billing_lag",
        tables=(Table(analysis="billing_lag", by="responsible", order=("hours_weighted_lag_days",)),),
        stands_out=standing_out.late_bills,
        scopes=FIRM,
    ),
    SectionSpec(
        name="timekeeping_lag",
        tables=(Table(analysis="timekeeping_lag", by="user", order=("late_ratio",)),),
        stands_out=standing_out.late_time,
        scopes=FIRM,
    ),
    _sheets(name="missing_time", tables=(report_tables.missing_time, report_tables.missing_time_by_day)),
    SectionSpec(
        name="rates",
        tables=(Table(analysis="effective_rates", by="user", order=("billed_amount",)),),
        stands_out=standing_out.rates,
        scopes=FIRM,
    ),
    _sheets(
        name="rates_by_year",
        tables=(
            Table(
                analysis="effective_rates",
                title="Rates by timekeeper and year",
                options=lambda month: {"by": ["user", "year"], "end": month.last},
                notes=lambda month: [f"{month.last.year} counts up to {long_date(month.last)}."],
            ),
        ),
    ),
    SectionSpec(
        name="origination",
        tables=(report_tables.fees_by_originator,),
        stands_out=standing_out.origination,
        scopes=FIRM,
    ),
    SectionSpec(
        name="concentration",
        tables=(
            Table(
                analysis="contribution",
                title="Fees of twelve months by {by}",
                by="client",
                order=("fees_amount",),
                options=lambda month: {"start": standing_out.twelve_months(month).start, "end": month.last},
            ),
        ),
        scope=lambda month: f"invoices of twelve months to {month_name(month.earlier(0))}",
        stands_out=standing_out.concentration,
        scopes=FIRM,
    ),
    SectionSpec(
        name="new_business",
        tables=(Table(analysis="new_business", by="practice_area", order=("fees_amount",)),),
        stands_out=standing_out.new_business,
        notes="This table has the matters opened, and the shares of new and of the largest clients in the fees.",
        scopes=FIRM,
    ),
    _sheets(name="prebills", tables=(report_tables.prebills,)),
    SectionSpec(
        name="invoices",
        tables=(Table(analysis="reconcile", title="Invoices", label="invoice_number"),),
        # Another part of the firm has only a share of some invoices.
        scopes=(*FIRM, "client"),
        on_page=False,
    ),
    SectionSpec(
        name="month_by_month",
        tables=tuple(partial(report_tables.month_by_month, each) for each in ("billed_amount", "billing_realization")),
        on_page=False,
    ),
    SectionSpec(
        name="trends",
        title="Twelve months",
        tables=(report_tables.twelve_months,),
        page=page_parts.trends,
        finding=section_findings.trends,
        quiet=section_findings.trends_in_short,
        scope=lambda month: f"invoices of the months to {month_name(month.earlier(0))}",
        notes="Figures belong to the month of the invoice.",
    ),
    SectionSpec(name="narratives", tables=(report_tables.time_entries,), show=sections.narratives, narratives=True),
    SectionSpec(name="notes", show=sections.notes),
)


def _outline() -> Iterator[SectionSpec]:
    of_wings = in_report("SECTIONS")
    for own in _OWN:
        yield own
        for each in of_wings:
            yield from each.get(own.name, ())


OUTLINE = tuple(_outline())
