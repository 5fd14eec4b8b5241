"""The notes below the report's figures: what they mean, and what they leave out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from billframes._shared.format import count_of, format_number, long_date, money, month_name
from billframes._shared.names import join_names
from billframes.analysis.declare.metrics import title_of_key
from billframes.analysis.facts.capacity import working_days
from billframes.config.firm import describe_settings
from billframes.report import report_tables
from billframes.report.figures import Headline
from billframes.report.month import Month
from billframes.report.month_days import YEAR
from billframes.report.report_tables import SCOPE_HOURS
from billframes.report.section_spec import summary_of
from billframes.report.table_spec import ReportTable
from billframes.report.to_do import draft_bills
from billframes.wings import in_report

_HEADLINES = (
    "Value of time worked is the value of the month’s billable time at the rates on the entries. Fees billed are the "
    "amounts of the month’s final invoices, less their expenses and fixed fees; the time on them can be of any month. "
    "Both cover different work, so don’t divide one by the other. Billing realization is fees billed ÷ value of time "
    "billed, which is the value of the time on the same invoices.",
    "* As of today. Earlier months had more time to be invoiced and settled, so no change is shown.",
    "Work in progress leaves out contingency matters, whose work is beside it.",
)
_MISSING_TIME = (
    "Missing hours are what people lack of a whole day on working days with less than half of its hours; leave that is "
    "not in the settings is missing, too. The workbook lists the days."
)
_SCOPES = {
    "client": "This report covers one client: its matters, and its invoices and credit notes in full.",
    "practice_area": "This report covers the matters of one practice area.",
    "responsible": "This report covers the matters that one lawyer is responsible for, including others’ work on them.",
}
_SHARES = (
    "An invoice for several matters counts with the share of these matters in its fees and balance, as in the firm’s "
    "report by {key}. All these reports, including the one for unassigned items such as credit notes without items, "
    "add up to the firm’s report."
)
_NO_CASH = "It has no payment dates, money received by month, trust balances or tax."
_SETTLED = (
    "The billing system does not distinguish payments from credits and write-offs, so what is settled can be either"
)


def utilization(month: Month, table: ReportTable) -> Iterator[str]:
    """Say what utilization means, and how many working days the month has."""
    if month.scope:
        yield SCOPE_HOURS
        return
    yield (
        "Utilization is client hours ÷ available hours. Client hours are billable and fixed-fee time, except on "
        "internal matters. Non-billable time does not count, even on pro bono matters. Principals, "
        "attorneys, paralegals and timekeepers have available hours, and so does everyone else with client hours."
    )
    days = len(working_days(month.settings, month.counted_from, month.last))
    hours = f"working days of {month.settings.hours_per_day:g} hours each for full-time staff."
    start = f"From {long_date(month.counted_from)}, the first day of the data, the {month.noun} has"
    whole = f"The {month.noun} has" if month.counted_from == month.first else start
    yield f"{whole} {days} {hours}"
    if "pace" in table.rows:
        yield "Targets are the firm’s own, prorated by working days; people stand by role and name."
    yield _MISSING_TIME


def working_days_of(month: Month) -> str:
    """Say how many working days the days of the section have."""
    days = len(working_days(month.settings, month.counted_from, month.last))
    return f"{month.same_days_name(0, short=False)}, {count_of(days, 'working day')}"


def receivables(month: Month, _table: ReportTable) -> Iterator[str]:
    """Say what receivables are, and what the wings add, such as what would change the forecast of cash."""
    yield (
        "Open balances of final invoices with expenses and fixed fees, by days past their due date. An invoice that is "
        "due on the day itself is current. Overdue is before unused credits. The workbook lists the overdue invoices."
    )
    yield from report_tables.balances(month)
    for notes in in_report("about_receivables"):
        yield from notes(month)


def scope(month: Month) -> list[str]:
    """Say what counts in the report of a client, practice area or responsible lawyer; nothing for the firm's."""
    if month.scope is None:
        return []
    key = month.scope.key
    shares = [] if key == "client" else [_SHARES.format(key=title_of_key(key))]
    unassigned = f"This report covers only items without a {title_of_key(key)}."
    return [_SCOPES[key] if month.scope.id else unassigned, *shares]


def notes(month: Month) -> list[str]:
    """Return the notes of loads and analyses, the settings, and what the figures can't tell."""
    return [*scope(month), f"{as_of(month)} {describe_settings(month.book.settings)}", *month.remarks, *limits(month)]


def limits(month: Month) -> list[str]:
    """Say what the figures can't tell, and which report of the firm's books would."""
    found = [each(month) for each in in_report("about_cash")]
    known = "".join(collected for collected, _ in found) or _NO_CASH
    return [f"{_SETTLED}. {known}", *(f"{each}." for _, missing in found for each in missing)]


def why_outside(rows: Sequence[Headline]) -> list[str]:
    """Say what the ratios below 0% or above 100% mean."""
    return [f"‡ {note}" for each in rows for note in each.why_outside()]


def stale(month: Month, table: ReportTable) -> Iterator[str]:
    """Say what is stale, and where the matters are that the page does not repeat."""
    yield from summary_of(month, table)
    if table.elsewhere:
        yield "Matters of the table Budgets are only there, with these findings. The workbook lists all of them here."


def changes(month: Month, _table: ReportTable) -> Iterator[str]:
    """Say what the parts of a change are."""
    before, after = (month.same_days_name(back, short=False) for back in (1, 0))
    yield (
        f"Changes from {before} to {after}. The change of fees billed is split into hours, rate (value per hour), "
        "realization (fees billed ÷ value) and mix (hours that moved to clients with a higher or lower effective "
        "rate). The change of realization is split into the client’s own change and mix. The parts add up to the "
        "change."
    )


def why_not_compared(month: Month) -> str:
    """Say why the fees of the month are not compared with those before."""
    if month.first_day and not month.is_known(month.same_days(1)):
        return f"Nothing is compared: the data begin on {long_date(month.first_day)}."
    names = [month.same_days_name(back, short=False) for back in (1, 0)]
    return f"Nothing is compared: no time was billed in {names[0]} and {names[1]}."


def work_in_progress(month: Month, _table: ReportTable) -> Iterator[str]:
    """Say what work in progress and lock-up mean, and what clients' portals or guidelines would not accept."""
    yield (
        "Work in progress is the value of time, expenses and fixed fees that are on no final invoice, by days since "
        "the work. Work on contingency matters is not part of it: it is under “On contingency”. "
        f"{_lockup(month)}"
    )
    bills = draft_bills(month)
    if len(bills):
        yield (
            "“On draft bills” is the value of the work on them, by the lawyer of its matter. The to-do list has the "
            f"amounts of these bills, {money(bills['invoice_amount'].sum())} in all, each with the "
            "lawyer of its largest item."
        )
    yield from filter(None, (each(month) for each in in_report("about_open_work")))


def _lockup(month: Month) -> str:
    if month.why_no_lockup:
        return f"Lock-up is not shown: {month.why_no_lockup}."
    days = float(month.of("lockup")["days"].iloc[0])
    return (
        f"Lock-up is (work in progress + receivables) ÷ fees × {days:.0f}. Fees are the time fees and fixed fees "
        f"billed in the last {days:.0f} days."
    )


def realization(month: Month, table: ReportTable) -> Iterator[str]:
    """Say what realization means, and what it leaves out."""
    yield (
        f"Final invoices dated in the {month.noun}, with all the work on them. Value of time billed is the value "
        "of their billable time at its rates. Fees billed are what this time was billed at. Written down is the "
        "difference, negative for a write-up. Billing realization is fees billed ÷ value of time billed. The settled "
        "share is the settled part of the fees billed. Fixed fees and expenses are not in these figures."
        + ("" if table.noun == "client" else f" Items without a {table.noun}, such as credit notes, are Unassigned.")
    )
    yield _left_out(table.total)


def _left_out(total: pd.DataFrame) -> str:
    names = ("left_out_hours", "left_out_amount", "left_out_billed_amount")
    hours, worth, billed = (float(total[name].sum()) for name in names)
    matters = "time on contingency, pro bono and internal matters"
    if not (hours or worth or billed):
        return f"These invoices bill no {matters}."
    return (
        f"Not counted is {matters}: {format_number(hours, 'hours')} hours worth {money(worth)}, "
        f"billed at {money(billed)}."
    )


def headlines(month: Month) -> list[str]:
    """Say what the headline figures mean."""
    row = month.of("realization", basis="work_date").iloc[0]
    hours, worth = row["left_out_hours"], row["left_out_amount"]
    left_out = (
        f"{format_number(hours, 'hours')} billable hours worth {money(worth)} on contingency, pro "
        "bono and internal matters are not counted in the value of time worked."
    )
    others = join_names([f"{money(amount)} {words}" for words, amount in month.other_fees.items()])
    until = long_date(month.last)
    unfinished = f"The {month.noun} is not over: it counts to {until}, and is compared with the same days."
    return [
        *(each.replace("the month’s", f"the {month.noun}’s") for each in _HEADLINES),
        f"A year to date is the sum of its months; this one is {month.to_date_name()}.",
        _earlier_balances(month),
        *([left_out] if hours else []),
        *([f"Fees billed are for time: the {month.noun}’s invoices also bill {others}."] if others else []),
        *([] if month.is_over else [unfinished]),
    ]


def _earlier_balances(month: Month) -> str:
    """Say on which day the mirror had the balances of earlier months, or that they are not known."""
    found = [
        f"{month_name(day, short=True)} from the mirror as refreshed on {long_date(each.day)}"
        for day, each in zip(month.earlier_days, month.earlier_balances, strict=False)
        if each
    ]
    if found:
        return f"Receivables, work in progress and lock-up of earlier months: {', '.join(found)}."
    return "The billing system has only today’s balances, so those of earlier months are not shown."


def data_day(month: Month) -> str:
    """Say the currency, and when the data were loaded, for the head of the page."""
    zone, loaded = month.settings.time_zone, month.loaded_at
    data = f"data of {long_date(loaded.date())}, {loaded:%H:%M} {zone}" if loaded else "data without a day"
    first = month.first_day
    data += f" · they begin on {long_date(first)}" if first and not month.is_known(month.same_days(YEAR)) else ""
    return f"Amounts in {month.currency} · {data}" if month.currency else f"{data[:1].upper()}{data[1:]}"


def as_of(month: Month) -> str:
    """Say when the data were loaded, and the day to which the report counts."""
    zone, loaded = month.settings.time_zone, month.loaded_at
    zone_name = zone if zone == "UTC" else f"({zone})"
    data = f"Data as of {long_date(loaded.date())}, {loaded:%H:%M} {zone_name}. " if loaded else ""
    unfinished = "" if month.is_over else f" The {month.noun} is not over: figures run to {long_date(month.last)}."
    return f"{data}Receivables are aged to {long_date(month.as_of)}.{unfinished}"
