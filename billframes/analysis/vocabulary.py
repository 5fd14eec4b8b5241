"""The columns of results in people's words: title, unit, meaning, and how each adds up to a total.

Declared once for tables, charts, the report, exports and the docs. Buckets of days are known by their form
(`1-30`, `91+`), because their bounds are the user's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["BUCKET", "KEYS", "MEASURES", "UNITS", "Measure", "Unit", "measure", "title_of_key"]

Unit = Literal["money", "rate", "hours", "ratio", "multiple", "days", "count", "date", "text"]

UNITS: dict[str, str] = {
    "money": "money",
    "rate": "money an hour",
    "hours": "hours",
    "ratio": "ratio, 1 is 100%",
    "multiple": "ratio, 2 is twice",
    "days": "days",
    "count": "number",
    "date": "day",
    "text": "text",
}
"""What each unit is called; money is in the firm's currency, which the API does not name."""

BUCKET = re.compile(r"\d+-\d+|\d+\+")

KEYS: dict[str, str] = {
    "user": "timekeeper",
    "client": "client",
    "matter": "matter",
    "practice_area": "practice area",
    "responsible": "responsible lawyer",
    "originator": "originator",
    "matter_type": "matter type",
}
"""What rows are by, where it is not the column's own name."""


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
    ratio : (str, str), optional
        The columns that it is the ratio of, in any row and in the total.
    weight : str, optional
        The column by which rows are averaged to a total, where the numerator is no column of its own.
    """

    name: str
    title: str
    unit: Unit
    meaning: str
    adds_up: bool = False
    missing_is_none: bool = False
    ratio: tuple[str, str] | None = None
    weight: str | None = None


def measure(name: str) -> Measure | None:
    """
    Look a result's column up; None where it is no measure but a key.

    Examples
    --------
    >>> measure("31-60").title, measure("91+").meaning
    ('31–60 days', 'The part aged 91 days or more.')
    >>> measure("client_name")
    """
    if BUCKET.fullmatch(name):
        span = f"{name[:-1]} days or more" if name.endswith("+") else f"{name.replace('-', ' to ')} days"
        return Measure(name, f"{name.replace('-', '–')} days", "money", f"The part aged {span}.", adds_up=True)
    return MEASURES.get(name)


def title_of_key(column: str) -> str:
    """
    Name a column that rows are told apart by.

    Examples
    --------
    >>> title_of_key("user_name"), title_of_key("practice_area_label"), title_of_key("cf_billing_office")
    ('timekeeper', 'practice area', 'billing office')
    """
    stem = column.removesuffix("_name").removesuffix("_label")
    return KEYS.get(stem, stem.removeprefix("cf_").replace("_", " "))


def _sums(unit: Unit, **columns: tuple[str, str]) -> Iterable[Measure]:
    return (Measure(name, title, unit, meaning, adds_up=True) for name, (title, meaning) in columns.items())


def _ratio(name: str, title: str, part: str, whole: str, meaning: str, unit: Unit = "ratio") -> Measure:
    return Measure(name, title, unit, meaning, ratio=(part, whole))


_HOURS = _sums(
    "hours",
    billable_hours=("Billable hours", "Hours of billable time."),
    fixed_fee_hours=("Fixed-fee hours", "Hours of time under fixed fees."),
    non_billable_hours=("Non-billable hours", "Hours of non-billable time, internal matters included."),
    total_hours=("All hours", "Hours of every kind."),
    client_hours=("Client hours", "Billable and fixed-fee hours, except on internal matters."),
    capacity_hours=("Available hours", "Working days × hours a day, less leave and days not employed."),
    left_out_hours=("Hours left out", "Hours on matters whose type does not count."),
    hours=("Hours", "Hours worked."),
)
_TARGETS = (
    _ratio("utilization", "Utilization", "client_hours", "capacity_hours", "Client hours ÷ available hours."),
    Measure(
        "target_hours",
        "Target hours",
        "hours",
        "The target, prorated by working days.",
        adds_up=True,
        missing_is_none=True,
    ),
    Measure("pace", "Pace", "ratio", "Client hours of those who have a target ÷ target.", weight="target_hours"),
)
_FEES = _sums(
    "money",
    worked_amount=("Worked", "Worth of the billable time on the invoices counted, at its rates."),
    billed_amount=("Billed", "Net billed time fees: invoices less their expenses and fixed fees."),
    write_down_amount=("Written down", "Worked − billed; negative is a write-up."),
    settled_amount=("Settled", "The part of billed that is no longer open, whatever settled it."),
    unbilled_amount=("Unbilled", "Worth of what is on no invoice."),
    prebill_amount=("On prebills", "Worth of what is on a draft, review or approved invoice."),
    unknown_amount=("On unknown invoices", "Worth of what is on invoices that were not passed."),
    cohort_amount=("All worked", "Worth of all billable time of the period, invoiced or not."),
    standard_amount=("At standard rates", "Hours × standard rates."),
    left_out_amount=("Worth left out", "Worth of time on matters whose type does not count."),
    left_out_billed_amount=("Billed left out", "What time on matters whose type does not count was billed at."),
)
_REALIZATION = (
    _ratio("billing_realization", "Billing realization", "billed_amount", "worked_amount", "Billed ÷ worked."),
    _ratio("settlement_ratio", "Settlement", "settled_amount", "billed_amount", "Settled ÷ billed."),
    _ratio(
        "overall_realization",
        "Overall realization",
        "settled_amount",
        "worked_amount",
        "Billing realization × settlement.",
    ),
    _ratio("effective_rate", "Effective rate", "billed_amount", "billable_hours", "Billed ÷ hours.", "rate"),
    _ratio("billed_to_worked", "Billed to worked", "billed_amount", "cohort_amount", "Billed ÷ all worked."),
    _ratio(
        "worked_to_standard", "Worked to standard", "worked_amount", "standard_amount", "Worked ÷ at standard rates."
    ),
    _ratio(
        "billed_to_standard", "Billed to standard", "billed_amount", "standard_amount", "Billed ÷ at standard rates."
    ),
)
_AGES = (
    *_sums(
        "money",
        current=("Current", "The part not past due."),
        total=("Total", "All buckets together."),
        overdue=("Overdue", "The part at least one day past due."),
    ),
    Measure("weighted_days_overdue", "Days overdue", "days", "Days past due of what is overdue, weighted by balance."),
)

MEASURES: dict[str, Measure] = {each.name: each for each in (*_HOURS, *_TARGETS, *_FEES, *_REALIZATION, *_AGES)}
"""Every measure by its column."""
