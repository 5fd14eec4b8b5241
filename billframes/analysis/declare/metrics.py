"""The columns of results: title, unit, meaning, and how each column adds up to a total.

A measure of one analysis is declared beside that analysis, and a measure of several here, in `SHARED`. Buckets of days
are recognized by their names (`1-30`, `91+`), because the user chooses their bounds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

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
"""The name of each unit, for readers. Money is in the firm's currency, which the API does not name."""

PRICED = frozenset({"money", "rate"})
"""The units that need a currency."""

FIGURES: dict[Unit, str] = {"money": "amount", "rate": "rate", "hours": "hours", "ratio": "ratio"}
"""The word for a figure of each unit in names of columns, such as `amount_2026-10` or `now_amount`."""

BUCKET = re.compile(r"\d+-\d+|\d+\+")
PERIOD = re.compile(rf"({'|'.join(FIGURES.values())})_((?:FY)?\d{{4}}(?:-(?:\d{{2}}|Q[1-4]))?)")

KEY_TITLES: dict[str, str] = {
    "user": "timekeeper",
    "client": "client",
    "matter": "matter",
    "practice_area": "practice area",
    "responsible": "responsible lawyer",
    "originator": "originator",
    "matter_type": "matter type",
    "horizon": "period",
}
"""Titles of keys that differ from the name of the column."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of a result."""

    # The column, and its heading for people.
    name: str
    title: str
    # One of `UNITS`.
    unit: Unit
    # One line.
    meaning: str
    # Whether the total is the sum of the rows.
    adds_up: bool = False
    # Whether the sum skips missing values. By default, one missing value makes the sum missing.
    missing_is_none: bool = False
    # Numerator and denominator of a ratio, in each row and in the total. The first pair that the result has is used.
    ratios: tuple[tuple[str, str], ...] = ()
    # Numerator and denominator of a ratio of which results don't have the numerator. If the denominator adds up, a
    # row's numerator is the ratio times the denominator, which weighs the rows of a total.
    parts: tuple[str, str] | None = None
    # Why a ratio can be below 0% or above 100%.
    below: str = ""
    above: str = ""
    # How a row follows from other columns, such as "worked_amount - billed_amount". `buckets` stands for the sum of all
    # buckets of days, and `sum(column)` for the sum of all rows. Of several, separated by " or ", the first that holds
    # is used. A ratio follows from its `ratios`.
    formula: str = ""


def bucket_measure(name: str) -> Measure | None:
    """Return the measure of a bucket of days, by its name; None if the name is not a bucket."""
    if not BUCKET.fullmatch(name):
        return None
    span = f"{name[:-1]} days or more" if name.endswith("+") else f"{name.replace('-', ' to ')} days"
    return sum_measure(name, f"{name.replace('-', '–')} days", "money", f"The part aged {span}.")


def period_measure(name: str) -> Measure | None:
    """
    Return the measure of one period, by its column such as "amount_2026-10"; None for other columns.

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
    unit = next(unit for unit, figure in FIGURES.items() if figure == found[1])
    return Measure(name, found[2], unit, f"The figure of {found[2]}.")


def bucket_measures(*names: str, of: str) -> tuple[Measure, ...]:
    """Return the measures of several buckets of days, in which something such as receivables is aged."""
    found = [measure for name in names if (measure := bucket_measure(name))]
    return tuple(replace(each, meaning=each.meaning.replace("part", f"part of {of}")) for each in found)


def sum_measure(name: str, title: str, unit: Unit, meaning: str, *, formula: str = "") -> Measure:
    """Return a measure whose total is the sum of the rows."""
    return Measure(name, title, unit, meaning, adds_up=True, formula=formula)


def ratio_measure(
    name: str, title: str, ratios: str, meaning: str = "", *, unit: Unit = "ratio", below: str = "", above: str = ""
) -> Measure:
    """
    Return a measure that is the ratio of two columns, written "part / whole".

    Several pairs are separated by " or ". Without a meaning, an analysis adds it from the columns' titles.

    Examples
    --------
    >>> ratio_measure("rate", "Rate", "fees / hours or fees / days", "Fees ÷ time.", unit="rate").ratios
    (('fees', 'hours'), ('fees', 'days'))
    """
    pairs = (pair.partition(" / ") for pair in ratios.split(" or "))
    return Measure(
        name, title, unit, meaning, ratios=tuple((part, whole) for part, _, whole in pairs), below=below, above=above
    )


def money(name: str, title: str, meaning: str, *, formula: str = "") -> Measure:
    """Return a measure that is a sum of money."""
    return sum_measure(name, title, "money", meaning, formula=formula)


def title_of_key(column: str) -> str:
    """
    Return the title of a key column.

    Examples
    --------
    >>> title_of_key("user_name"), title_of_key("practice_area_label"), title_of_key("cf_billing_office")
    ('timekeeper', 'practice area', 'billing office')
    >>> title_of_key("client_cf_industry")
    'client industry'
    """
    stem = column.removesuffix("_name").removesuffix("_label")
    return KEY_TITLES.get(stem, f"_{stem}".replace("_cf_", "_", 1).strip("_").replace("_", " "))


SHARED: dict[str, Measure] = {
    each.name: each
    for each in (
        sum_measure("hours", "Hours", "hours", "Hours worked."),
        money("collected_amount", "Fees collected", "Fees for time and fixed fees, paid in cash."),
        money("credited_amount", "Fees credited", "Fees settled by a credit, a discount or a journal."),
        money("written_off_amount", "Fees written off", "Fees written off in the books."),
        sum_measure("billable_hours", "Hours of billable time", "hours", "Hours of billable time."),
        sum_measure("fixed_fee_hours", "Fixed-fee hours", "hours", "Hours of time under fixed fees."),
        sum_measure("total_hours", "All hours", "hours", "Hours of every kind."),
        sum_measure("left_out_hours", "Hours not counted", "hours", "Hours on matters whose type does not count."),
        money(
            "worked_amount",
            "Value of time billed",
            "Value, at its rates, of the billable time on the invoices counted.",
        ),
        money("billed_amount", "Fees billed", "Net billed time fees: invoices less their expenses and fixed fees."),
        money(
            "write_down_amount",
            "Written down",
            "Value of time billed − fees billed; negative is a write-up.",
            formula="worked_amount - billed_amount",
        ),
        money("settled_amount", "Settled", "The part of fees billed that is no longer open, whatever settled it."),
        money("unbilled_amount", "Unbilled", "Value of items on no invoice."),
        money("prebill_amount", "On draft bills", "Value of items on a draft, review or approved invoice."),
        money(
            "unknown_amount",
            "On unknown invoices",
            "Amounts whose invoice was not passed, or whose invoice state or billing type is unknown.",
        ),
        money("standard_amount", "Value at standard rates", "Hours × standard rates; missing if someone has none."),
        ratio_measure(
            "standard_rate",
            "Standard rate",
            "standard_amount / billable_hours",
            "Value at standard rates ÷ hours. Rates with dates are those on the day of the work.",
            unit="rate",
        ),
        money("left_out_amount", "Value not counted", "Value of time on matters whose type does not count."),
        money(
            "left_out_billed_amount",
            "Fees billed, not counted",
            "Fees billed for time on matters whose type does not count.",
        ),
        money(
            "wip_amount", "Work in progress", "Value of the work in progress on the day, without contingency matters."
        ),
        money(
            "contingent_amount",
            "On contingency",
            "Value of work, expenses and fees on contingency matters, on no final invoice; not in work in progress.",
        ),
        money(
            "credit_amount",
            "Unused credits",
            "Open balances below 0, such as of credit notes; no bucket includes them, and receivables are net of them.",
        ),
        money("receivable_amount", "Receivables", "Open balances on the day, less unused credits."),
        money("current", "Current", "The part of receivables not past due."),
        money(
            "total",
            "Total",
            "All buckets together; of receivables, less unused credits.",
            formula="buckets + credit_amount or buckets",
        ),
        money("overdue", "Overdue", "The part of receivables at least one day past due."),
        money("time_amount", "Time", "The part that is time."),
        money("expense_amount", "Expenses", "The part that is expenses."),
        money("fixed_fee_amount", "Fixed fees", "The part that is fixed fees."),
        money(
            "fees_amount",
            "All fees",
            "Net billed time fees and fixed fees on final invoices.",
            formula="billed_amount + fixed_fee_amount",
        ),
        ratio_measure(
            "effective_rate",
            "Effective rate",
            "billed_amount / billable_hours or fee_amount / linked_hours",
            "Fees ÷ hours: the fees that an hour earned.",
            unit="rate",
        ),
        ratio_measure(
            "worked_rate",
            "Worked rate",
            "worked_amount / billable_hours",
            "Value of time billed ÷ hours: the value of an hour.",
            unit="rate",
        ),
        sum_measure("share", "Share", "ratio", "The row’s part of the sum of all rows."),
        Measure("running_share", "Running share", "ratio", "Share of this row and of those above it."),
        Measure("last_work_date", "Last work", "date", "Date of the last time entry, of any kind."),
        Measure("last_invoice_date", "Last invoice", "date", "Date of the last final invoice of more than 0."),
        Measure("item", "Item", "text", "Time entry, expense or fixed fee."),
        Measure("item_id", "Item’s id", "text", "The id of the item."),
        money(
            "items_amount",
            "Items",
            "Time, expenses and fixed fees together.",
            formula="time_amount + expense_amount + fixed_fee_amount",
        ),
        money(
            "unexplained_amount",
            "Unexplained",
            "Amount − tax − items; negative if time was written down. Tax is known from the firm’s settings.",
            formula="amount - tax_amount - items_amount",
        ),
        money("balance", "Balance", "The part of the amount that is open."),
        Measure("invoices", "Invoices", "count", "Number of invoices with items of the row."),
        sum_measure("entries", "Entries", "count", "Number of entries; fractions if rows are by originator."),
        Measure(
            "weighted_days_overdue",
            "Average days past due",
            "days",
            "Average days past due of what is overdue, weighted by balance. Credits do not count.",
            parts=("_overdue_days", "overdue"),
        ),
    )
}
"""The measures that several analyses have, by column."""


def shared_measures(*names: str) -> tuple[Measure, ...]:
    """Return measures of `SHARED` by their names."""
    return tuple(SHARED[name] for name in names)


BILLED_HOURS = replace(
    SHARED["billable_hours"],
    title="Hours of billed work",
    meaning="Hours of the billable time on the invoices counted.",
)
"""The measure `billable_hours` of analyses of invoices."""


def of_all_types(*names: str) -> tuple[Measure, ...]:
    """Return measures of `SHARED` for analyses that count matters of every type, also contingency and pro bono."""
    every = shared_measures(*names)
    return tuple(
        retitled(each.name, f"{each.title}, all types", f"{each.meaning} Matters of every type count.")
        for each in every
    )


def retitled(name: str, title: str, meaning: str, *, formula: str = "") -> Measure:
    """Return a measure of `SHARED` with another title and meaning, for an analysis that counts something else."""
    shared = SHARED[name]
    return replace(shared, title=title, meaning=meaning, formula=formula or shared.formula)
