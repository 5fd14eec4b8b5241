"""The columns of results in people's words: title, unit, meaning, and how each adds up to a total.

What one analysis has is declared beside it, and what several have is declared here (`SHARED`). Buckets of days are
known by their form (`1-30`, `91+`), because their bounds are the user's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

__all__ = [
    "BUCKET",
    "KEY_TITLES",
    "PERIOD",
    "PRICED",
    "SHARED",
    "UNITS",
    "Measure",
    "Unit",
    "bucket_measure",
    "bucket_measures",
    "period_measure",
    "ratio_measure",
    "retitled",
    "shared_measures",
    "sum_measure",
    "title_of_key",
]

Unit = Literal["money", "rate", "hours", "ratio", "points", "multiple", "days", "count", "date", "text"]

UNITS: dict[str, str] = {
    "money": "money",
    "rate": "money an hour",
    "hours": "hours",
    "ratio": "ratio, 1 is 100%",
    "points": "change of a ratio, 0.01 is 1 point",
    "multiple": "ratio, 2 is twice",
    "days": "days",
    "count": "number",
    "date": "day",
    "text": "text",
}
"""What each unit is called; money is in the firm's currency, which the API does not name."""

PRICED = frozenset({"money", "rate"})
"""The units that a currency belongs to."""

BUCKET = re.compile(r"\d+-\d+|\d+\+")
_UNITS_OF_PERIODS: dict[str, Unit] = {"amount": "money", "rate": "rate", "hours": "hours", "ratio": "ratio"}
PERIOD = re.compile(r"(amount|rate|hours|ratio)_(\d{4}(?:-(?:\d{2}|Q[1-4]))?)")

KEY_TITLES: dict[str, str] = {
    "user": "timekeeper",
    "client": "client",
    "matter": "matter",
    "practice_area": "practice area",
    "responsible": "responsible lawyer",
    "originator": "originator",
    "matter_type": "matter type",
}
"""What rows are by, if it is not the column's own name."""


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A column of a result.

    Parameters
    ----------
    name, title : str
        The column, and its heading for people.
    unit : str
        One of `UNITS`.
    meaning : str
        One line.
    adds_up : bool
        Whether the total is the sum of the rows.
    missing_is_none : bool
        Whether a missing value means that there is none, so that the sum is that of the others. Else one missing
        value makes the sum missing, too.
    ratios : tuple of (str, str)
        The columns that it is the ratio of, in any row and in the total; of several pairs, the first that is there.
    weight : str, optional
        The column by which rows are averaged to a total, if the numerator is not a column.
    below, above : str
        What it means that a ratio is below 0% or above 100%.
    """

    name: str
    title: str
    unit: Unit
    meaning: str
    adds_up: bool = False
    missing_is_none: bool = False
    ratios: tuple[tuple[str, str], ...] = ()
    weight: str | None = None
    below: str = ""
    above: str = ""


def bucket_measure(name: str) -> Measure | None:
    """
    Describe a bucket of days by its name; None if it is not one.

    Examples
    --------
    >>> bucket_measure("91+").meaning
    'The part aged 91 days or more.'
    >>> bucket_measure("total")
    """
    if not BUCKET.fullmatch(name):
        return None
    span = f"{name[:-1]} days or more" if name.endswith("+") else f"{name.replace('-', ' to ')} days"
    return sum_measure(name, f"{name.replace('-', '–')} days", "money", f"The part aged {span}.")


def period_measure(name: str) -> Measure | None:
    """
    Describe a figure of one period by its column, such as "amount_2026-10"; None if it is not one.

    Examples
    --------
    >>> found = period_measure("amount_2026-10")
    >>> found.title, found.unit
    ('2026-10', 'money')
    >>> period_measure("worked_amount")
    """
    found = PERIOD.fullmatch(name)
    if not found:
        return None
    return Measure(name, found[2], _UNITS_OF_PERIODS[found[1]], f"The figure of {found[2]}.")


def bucket_measures(*names: str) -> tuple[Measure, ...]:
    """Describe several buckets of days."""
    return tuple(found for name in names if (found := bucket_measure(name)))


def sum_measure(name: str, title: str, unit: Unit, meaning: str) -> Measure:
    """Declare a measure whose total is the sum of the rows."""
    return Measure(name, title, unit, meaning, adds_up=True)


def ratio_measure(
    name: str, title: str, ratios: str, meaning: str, *, unit: Unit = "ratio", below: str = "", above: str = ""
) -> Measure:
    """
    Declare a ratio of two columns by "part / whole"; several are separated by " or ".

    Examples
    --------
    >>> ratio_measure("rate", "Rate", "fees / hours or fees / days", "Fees ÷ time.", unit="rate").ratios
    (('fees', 'hours'), ('fees', 'days'))
    """
    pairs = (pair.partition(" / ") for pair in ratios.split(" or "))
    return Measure(
        name, title, unit, meaning, ratios=tuple((part, whole) for part, _, whole in pairs), below=below, above=above
    )


def title_of_key(column: str) -> str:
    """
    Name a column that identifies rows.

    Examples
    --------
    >>> title_of_key("user_name"), title_of_key("practice_area_label"), title_of_key("cf_billing_office")
    ('timekeeper', 'practice area', 'billing office')
    """
    stem = column.removesuffix("_name").removesuffix("_label")
    return KEY_TITLES.get(stem, stem.removeprefix("cf_").replace("_", " "))


SHARED: dict[str, Measure] = {
    each.name: each
    for each in (
        sum_measure("hours", "Hours", "hours", "Hours worked; in work in progress, those of billable time."),
        sum_measure("billable_hours", "Billable hours", "hours", "Hours of billable time."),
        sum_measure("fixed_fee_hours", "Fixed-fee hours", "hours", "Hours of time under fixed fees."),
        sum_measure("total_hours", "All hours", "hours", "Hours of every kind."),
        sum_measure("left_out_hours", "Hours left out", "hours", "Hours on matters whose type does not count."),
        sum_measure(
            "worked_amount",
            "Worth of billed work",
            "money",
            "Worth, at its rates, of the billable time on the invoices counted.",
        ),
        sum_measure(
            "billed_amount",
            "Fees billed",
            "money",
            "Net billed time fees: invoices less their expenses and fixed fees.",
        ),
        sum_measure(
            "write_down_amount",
            "Written down",
            "money",
            "Worth of billed work − fees billed; negative is a write-up.",
        ),
        sum_measure(
            "settled_amount",
            "Settled",
            "money",
            "The part of fees billed that is no longer open, whatever settled it.",
        ),
        sum_measure("unbilled_amount", "Unbilled", "money", "Worth of what is on no invoice."),
        sum_measure(
            "prebill_amount", "On prebills", "money", "Worth of what is on a draft, review or approved invoice."
        ),
        sum_measure(
            "unknown_amount",
            "On unknown invoices",
            "money",
            "The invoice was not passed, or its state, or the time’s type, is unknown.",
        ),
        sum_measure(
            "standard_amount", "At standard rates", "money", "Hours × standard rates; missing where someone has none."
        ),
        ratio_measure(
            "standard_rate",
            "Standard rate",
            "standard_amount / billable_hours",
            "Standard ÷ hours, of who did the work; rates with dates are those of the day of the work.",
            unit="rate",
        ),
        sum_measure(
            "left_out_amount", "Worth left out", "money", "Worth of time on matters whose type does not count."
        ),
        sum_measure(
            "left_out_billed_amount",
            "Fees billed left out",
            "money",
            "What time on matters whose type does not count was billed at.",
        ),
        sum_measure(
            "wip_amount",
            "Work in progress",
            "money",
            "Worth of the work in progress on the day.",
        ),
        sum_measure(
            "contingent_amount", "On contingency", "money", "The part of work in progress on contingency matters."
        ),
        sum_measure("receivable_amount", "Receivables", "money", "Open balances on the day."),
        sum_measure("current", "Current", "money", "The part not past due."),
        sum_measure("total", "Total", "money", "All buckets together."),
        sum_measure("overdue", "Overdue", "money", "The part at least one day past due."),
        sum_measure("time_amount", "Time", "money", "The part that is time."),
        sum_measure("expense_amount", "Expenses", "money", "The part that is expenses."),
        sum_measure("fixed_fee_amount", "Fixed fees", "money", "The part that is fixed fees."),
        sum_measure("fees_amount", "All fees", "money", "Net billed time fees and fixed fees on final invoices."),
        ratio_measure(
            "effective_rate",
            "Effective rate",
            "billed_amount / billable_hours or fee_amount / linked_hours",
            "Fees ÷ hours: what an hour brought.",
            unit="rate",
        ),
        ratio_measure(
            "worked_rate",
            "Rate of the work",
            "worked_amount / billable_hours",
            "Worth of billed work ÷ hours: what an hour is worth.",
            unit="rate",
        ),
        sum_measure("share", "Share", "ratio", "The row’s part of the sum of all rows."),
        Measure("running_share", "Running share", "ratio", "Share of this row and of those above it."),
        Measure("last_work_date", "Last work", "date", "Date of the last time entry, of any kind."),
        Measure("last_invoice_date", "Last invoice", "date", "Date of the last final invoice of more than 0."),
        Measure("item", "Item", "text", "Time entry, expense or fixed fee."),
        Measure("item_id", "Item’s id", "text", "The id of the item."),
        sum_measure("items_amount", "Items", "money", "Time, expenses and fixed fees together."),
        sum_measure(
            "unexplained_amount", "Unexplained", "money", "Amount − items; negative where time was written down."
        ),
        sum_measure("balance", "Balance", "money", "What is open of the amount."),
        Measure("invoices", "Invoices", "count", "How many invoices the row has something on."),
        sum_measure("entries", "Entries", "count", "Entries counted; parts of them by originator."),
        Measure(
            "weighted_days_overdue", "Days overdue", "days", "Days past due of overdue debts, weighted by balance."
        ),
    )
}
"""The measures that several analyses have, by their column."""


def shared_measures(*names: str) -> tuple[Measure, ...]:
    """Pick measures that several analyses have."""
    return tuple(SHARED[name] for name in names)


def retitled(name: str, title: str, meaning: str) -> Measure:
    """Give a measure that several analyses have another title, where it counts something else."""
    return replace(SHARED[name], title=title, meaning=meaning)
