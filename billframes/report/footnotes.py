"""What the report says beside its numbers: what each means, and what was left out of it."""

from __future__ import annotations

import pandas as pd

from billframes._show import long_date, show
from billframes.analysis.capacity import working_days
from billframes.analysis.metrics import title_of_key
from billframes.report.month import Month

__all__ = [
    "BY_MONTH",
    "LIMITS",
    "PART_HOURS",
    "as_of",
    "capacity",
    "headlines",
    "left_out",
    "part",
    "realization",
    "receivables",
    "utilization",
]

_HEADLINES = (
    "Fees worked is the worth of the month’s billable time at the rates on the entries. Fees billed is what time was "
    "billed at on final invoices dated in the month, whenever it was worked: the invoice less its expenses and fixed "
    "fees. They cover different work, so don’t divide one by the other. Billing realization divides fees billed by "
    "the worth of billed work, which is the worth of the time on the same invoices.",
    "* As things stand today. Earlier months have had longer to be invoiced and settled, so a difference from them "
    "is no change, and none is shown.",
    "† The API holds today’s balances and no past ones, so there is nothing to compare with.",
)
BY_MONTH = (
    "Client and available hours belong to the month the work was done in; fees billed, the worth of that work and "
    "settled fees to the month of the invoice. Settled is as balances stand today, so the latest months are not done "
    "yet."
)
_RECEIVABLES = (
    "Open balances of final invoices, by days past their due date; one due on the day itself is current. "
    "Credits are taken off, in the column of their own date, so a figure can be negative. Balances include expenses "
    "and fixed fees. Overdue is everything past due, whatever its column."
)
PART_HOURS = (
    "Hours on these matters. Client hours are billable and fixed-fee time, internal matters apart. Nobody’s available "
    "hours are divided among matters, so there is no utilization here; it is in the firm’s report."
)
_PARTS = {
    "client": "This report is of one client: its matters, and its invoices and credit notes in full.",
    "practice_area": "This report is of the matters of one practice area.",
    "responsible": "This report is of the matters that one lawyer is responsible for, whoever worked on them.",
}
_SHARES = (
    "Of an invoice of several matters, billed fees and open balance count here with the share of these matters, as in "
    "the firm’s report by {key}. The reports of all of them, with that of what is unassigned, such as credit notes "
    "without items, add up to the firm’s."
)
LIMITS = (
    "The API can’t tell payments from credits and write-offs, so the report speaks of settled, not of collected. Of "
    "money received in a month, payment dates, trust balances and tax it holds nothing."
)


def utilization(month: Month) -> list[str]:
    """Say what utilization means."""
    return [
        "Utilization is client hours ÷ available hours. Client hours are billable and fixed-fee time; time on internal "
        "matters is never client time, and pro bono time isn’t either. Everyone whose role is principal, attorney, "
        "paralegal or timekeeper is listed, also without hours; others only where they have client hours.",
        capacity(month),
    ]


def capacity(month: Month) -> str:
    """Say what available hours are made of."""
    firm = month.settings
    days = len(working_days(firm, month.first, month.last))
    basis = f"Available are {days} working days in the month of {firm.hours_per_day:g} hours each"
    if month.book.settings is None:
        return (
            f"{basis}. No firm settings were given, so holidays, leave, part time, and people who joined or left are "
            "not taken into account."
        )
    return f"{basis}, with the holidays, part time, leave, and first and last days that the firm’s settings hold."


def part(month: Month) -> list[str]:
    """Say what counts in the report of a client, practice area or responsible lawyer."""
    if month.scope is None:
        return []
    key = month.scope.key
    shares = [] if key == "client" else [_SHARES.format(key=title_of_key(key))]
    unassigned = f"What has no {title_of_key(key)} is in this report, and nothing else."
    return [_PARTS[key] if month.scope.id else unassigned, *shares]


def realization(total: pd.DataFrame, what: str, *, brief: bool = False) -> list[str]:
    """Say what realization by `what` means, and what was left out of `total`, the one row of everything."""
    if brief:
        same = "The same invoices and figures as in the table before, so both have the same total."
        return [f"{same} {left_out(total)}"]
    return [
        "Final invoices dated in the month, with all the work on them. Worth of billed work is what their billable "
        "time is worth at its rates, billed what it was billed at, written down the difference (negative: a write-up). "
        "Billing realization is billed ÷ worth of billed work; settlement is the part of the billed fees that is no "
        "longer open today ÷ billed. Fixed fees and expenses are not in these figures."
        + ("" if what == "client" else f" Unassigned is what has no {what}, such as credit notes."),
        left_out(total),
    ]


def left_out(total: pd.DataFrame) -> str:
    """Say what time on matters that don’t count was left out."""
    names = ("left_out_hours", "left_out_amount", "left_out_billed_amount")
    hours, worth, billed = (float(total[name].sum()) for name in names)
    if not (hours or worth or billed):
        return "Time on contingency, pro bono and internal matters would be left out; these invoices have none."
    return (
        f"Left out is time on contingency, pro bono and internal matters: {show(hours, 'hours')} hours worth "
        f"{show(worth, 'money')}, billed at {show(billed, 'money')}."
    )


def receivables(month: Month) -> list[str]:
    """Say what receivables mean, and that they are not what was owed back then."""
    loaded = month.loaded_at
    if loaded is None or loaded.date() <= month.as_of:
        return [_RECEIVABLES]
    return [
        _RECEIVABLES,
        f"Balances are those of {long_date(loaded.date())}, when they were loaded: what was paid since "
        f"{long_date(month.as_of)} is already taken off, so this is not what was owed on that day.",
    ]


def headlines(month: Month) -> list[str]:
    """Say what the headline figures mean."""
    row = month.by_month.iloc[-1]
    hours, worth = row["left_out_hours_of_work"], row["left_out_amount_of_work"]
    left = (
        f"Fees worked leaves out {show(hours, 'hours')} billable hours worth {show(worth, 'money')} on contingency, "
        "pro bono and internal matters."
    )
    part = "The month is not over: changes compare a part of a month with whole ones."
    return [*_HEADLINES, *([left] if hours else []), *([] if month.is_over else [part])]


def as_of(month: Month) -> str:
    """Say what day the report stands for, and when its data were loaded."""
    loaded = month.loaded_at
    when = f"Data as of {long_date(loaded.date())}, {loaded:%H:%M} UTC. " if loaded else ""
    covers = "" if month.is_over else f" The month is not over: figures run to {long_date(month.last)}."
    return f"{when}Receivables are aged to {long_date(month.as_of)}.{covers}"
