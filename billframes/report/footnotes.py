"""The notes below the report's figures: what they mean, and what they leave out."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Sequence

import pandas as pd

from billframes._show import format_number, long_date, month_name
from billframes.analysis.capacity import working_days
from billframes.analysis.metrics import title_of_key
from billframes.config.firm import describe_settings
from billframes.report.figures import Figure
from billframes.report.month import LOOK_BACK, Month
from billframes.report.views import View

__all__ = [
    "BY_MONTH",
    "LIMITS",
    "PART_HOURS",
    "TARGETS",
    "as_of",
    "balances",
    "below_floor",
    "capacity",
    "changes",
    "earlier_balances",
    "headlines",
    "later_balances",
    "left_out",
    "part",
    "realization",
    "receivables",
    "utilization",
    "warnings_of",
    "why_outside",
    "work_in_progress",
]

_HEADLINES = (
    "Fees worked is the worth of the month’s billable time at the rates on the entries. Fees billed is what time was "
    "billed at on final invoices dated in the month, whenever it was worked: the invoice less its expenses and fixed "
    "fees. They cover different work, so don’t divide one by the other. Billing realization is fees billed ÷ worth of "
    "billed work, which is the worth of the time on the same invoices.",
    "A year to date is the sum of its months, from January on.",
    "* As of today. Earlier months had more time to be invoiced and settled, so no change is shown.",
    "Lock-up is work in progress, without contingency matters, and receivables in days of all fees: the time fees and "
    "fixed fees billed in the last 365 days.",
)
BY_MONTH = (
    "Client and available hours belong to the month the work was done in; fees billed, the worth of that work and "
    "settled fees to the month of the invoice. Settled fees follow from today’s balances, so recent invoices still "
    "have time to be settled."
)
_RECEIVABLES = (
    "Open balances of final invoices, by days past their due date; one due on the day itself is current. "
    "Credits are taken off, in the column of their own date, so a figure can be negative. Balances include expenses "
    "and fixed fees. Overdue is everything past due, whatever its column."
)
_WIP = (
    "Work in progress is the worth of time, expenses and fixed fees that are on no final invoice, by days since the "
    "work. Lock-up is work in progress and receivables in days of all fees: ÷ the time fees and fixed fees billed in "
    "the last 365 days × 365. Work on contingency matters is work in progress, and is not counted in lock-up; its "
    "worth is in a column of its own."
)
TARGETS = (
    "Targets are the firm’s own, prorated by working days. Pace is what was reached ÷ target. Fees are net billed time "
    "fees on invoices dated in the month, by timekeeper. Used of a budget are billed fees, prebills and unbilled time "
    "over the matter’s whole life."
)
PART_HOURS = (
    "Hours on these matters. Client hours are billable and fixed-fee time, except on internal matters. Available hours "
    "are not divided among matters, so only the firm’s report shows utilization."
)
_PARTS = {
    "client": "This report covers one client: its matters, and its invoices and credit notes in full.",
    "practice_area": "This report covers the matters of one practice area.",
    "responsible": "This report covers the matters that one lawyer is responsible for, including others’ work on them.",
}
_SHARES = (
    "An invoice for several matters counts with the share of these matters in its fees and balance, as in the firm’s "
    "report by {key}. All these reports, including the one for unassigned items such as credit notes without items, "
    "add up to the firm’s report."
)
LIMITS = (
    "The billing system does not distinguish payments from credits and write-offs, so this report says settled, not "
    "collected. It has no payment dates, money received by month, trust balances or tax."
)


def utilization(month: Month) -> list[str]:
    """Say what utilization means."""
    return [
        "Utilization is client hours ÷ available hours. Client hours are billable and fixed-fee time; time on internal "
        "matters is never client time, and pro bono time isn’t either. Available hours are those of everyone whose "
        "role is principal, attorney, paralegal or timekeeper, and of others with client hours.",
        capacity(month),
    ]


def capacity(month: Month) -> str:
    """Say what available hours are made of."""
    days = len(working_days(month.settings, month.first, month.last))
    return (
        f"The month has {days} working days of {month.settings.hours_per_day:g} hours each for full-time staff. "
        f"{describe_settings(month.book.settings)}"
    )


def part(month: Month) -> list[str]:
    """Say what counts in the report of a client, practice area or responsible lawyer."""
    if month.scope is None:
        return []
    key = month.scope.key
    shares = [] if key == "client" else [_SHARES.format(key=title_of_key(key))]
    unassigned = f"This report covers only items without a {title_of_key(key)}."
    return [_PARTS[key] if month.scope.id else unassigned, *shares]


def why_outside(rows: Sequence[Figure]) -> list[str]:
    """Say what the ratios mean that are below 0% or above 100%."""
    return [f"‡ {note}" for each in rows for note in each.why_outside()]


def below_floor(month: Month, view: View) -> list[str]:
    """Say which rows are below the realization floor of the firm's settings."""
    floor = month.settings.realization_floor
    if floor is None:
        return []
    rows = view.rows[view.rows["billing_realization"] < floor]
    names = [
        f"{row[view.label]} ({format_number(row['billing_realization'], 'ratio')})" for row in rows.to_dict("records")
    ]
    told = ", ".join(names) or f"no {view.what}"
    return [f"Below the firm’s floor of {format_number(floor, 'ratio')}: {told}."]


def changes(before: str, after: str) -> str:
    """Say what the parts of a change are."""
    return (
        f"From {before} to {after}. The change of fees billed is split into hours, rate (worth an hour), realization "
        "(fees billed ÷ worth) and mix (hours that moved to clients of a higher or lower effective rate); the change "
        "of realization into the client’s own change and mix. The parts add up to the change."
    )


def work_in_progress(month: Month) -> list[str]:
    """Say what work in progress and lock-up mean, and what e-billing would reject."""
    line = month.e_billing.line
    return [_WIP, *(f"Of receivables: {each}" for each in balances(month)), *([line] if line else [])]


def earlier_balances(month: Month) -> list[str]:
    """Say which day's balances stand for earlier months' ends, or that there are none."""
    found = [
        f"{month_name(month.earlier(back), short=True)} from the mirror as refreshed on {long_date(each.day)}"
        for back, each in zip((1, LOOK_BACK), month.open_earlier, strict=True)
        if each
    ]
    if found:
        return [f"Receivables, work in progress and lock-up of earlier months: {', '.join(found)}."]
    return ["The billing system has only today’s balances, so there are none of earlier months."]


def realization(total: pd.DataFrame, what: str, *, brief: bool = False) -> list[str]:
    """Say what realization by `what` means, and what was left out of `total`, the one row of everything."""
    if brief:
        same = "The same invoices and figures as in the table before, so both have the same total."
        return [f"{same} {left_out(total)}"]
    return [
        "Final invoices dated in the month, with all the work on them. Worth of billed work is what their billable "
        "time is worth at its rates; fees billed are what it was billed at; written down is the difference, negative "
        "for a write-up. Billing realization is fees billed ÷ worth of billed work. Settlement is the settled part of "
        "fees billed ÷ fees billed. Fixed fees and expenses are not in these figures."
        + ("" if what == "client" else f" Unassigned are items without a {what}, such as credit notes."),
        left_out(total),
    ]


def left_out(total: pd.DataFrame) -> str:
    """Say what time on matters that don’t count was left out."""
    names = ("left_out_hours", "left_out_amount", "left_out_billed_amount")
    hours, worth, billed = (float(total[name].sum()) for name in names)
    if not (hours or worth or billed):
        return "Time on contingency, pro bono and internal matters is left out; these invoices have none."
    return (
        f"Left out is time on contingency, pro bono and internal matters: {format_number(hours, 'hours')} hours worth "
        f"{format_number(worth, 'money')}, billed at {format_number(billed, 'money')}."
    )


def receivables(month: Month) -> list[str]:
    """Say what receivables mean, and that they are not what was owed back then."""
    return [*balances(month), _RECEIVABLES]


def balances(month: Month) -> list[str]:
    """Say that the balances are of a later day than asked for, if they are."""
    return [later_balances(month.balances_of, month.as_of)] if month.balances_of else []


def warnings_of(month: Month) -> list[str]:
    """Return the warnings of loads and analyses, except the one that `balances` puts in plain words."""
    return [note for note in month.notes if not note.startswith("as_of=")]


def later_balances(loaded: dt.date, as_of: dt.date) -> str:
    """Say that the balances are those of the day they were loaded, which is after `as_of`."""
    return (
        f"Balances are those of {long_date(loaded)}, when they were loaded: payments since {long_date(as_of)} are "
        "already taken off, so this is not what was owed on that day."
    )


def headlines(month: Month) -> list[str]:
    """Say what the headline figures mean."""
    row = month.by_month.iloc[-1]
    hours, worth = row["left_out_hours_of_work"], row["left_out_amount_of_work"]
    left = (
        f"Fees worked leaves out {format_number(hours, 'hours')} billable hours worth {format_number(worth, 'money')} "
        "on contingency, pro bono and internal matters."
    )
    part = "The month is not over: changes compare part of a month with whole months."
    return [*_HEADLINES, *earlier_balances(month), *([left] if hours else []), *([] if month.is_over else [part])]


def as_of(month: Month) -> str:
    """Say what day the report stands for, and when its data were loaded."""
    zone = month.settings.time_zone
    loaded = month.loaded_at and month.loaded_at.astimezone(zoneinfo.ZoneInfo(zone))
    where = zone if zone == "UTC" else f"({zone})"
    when = f"Data as of {long_date(loaded.date())}, {loaded:%H:%M} {where}. " if loaded else ""
    covers = "" if month.is_over else f" The month is not over: figures run to {long_date(month.last)}."
    return f"{when}Receivables are aged to {long_date(month.as_of)}.{covers}"
