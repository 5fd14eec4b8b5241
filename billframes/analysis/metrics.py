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
    ratios : tuple of (str, str)
        The columns that it is the ratio of, in any row and in the total; of several pairs, the first that is there.
    weight : str, optional
        The column by which rows are averaged to a total, where the numerator is no column of its own.
    """

    name: str
    title: str
    unit: Unit
    meaning: str
    adds_up: bool = False
    missing_is_none: bool = False
    ratios: tuple[tuple[str, str], ...] = ()
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


def _ratios(unit: Unit, **columns: tuple[str, str, str]) -> Iterable[Measure]:
    """Declare ratios by "part / whole", and several such with "or" between them."""
    return (
        Measure(name, title, unit, meaning, ratios=tuple(_pair(pair) for pair in pairs.split(" or ")))
        for name, (title, pairs, meaning) in columns.items()
    )


def _pair(text: str) -> tuple[str, str]:
    part, _, whole = text.partition(" / ")
    return part, whole


_HOURS = _sums(
    "hours",
    hours=("Hours", "Hours worked; in work in progress, those of billable time."),
    billable_hours=("Billable hours", "Hours of billable time."),
    fixed_fee_hours=("Fixed-fee hours", "Hours of time under fixed fees."),
    unknown_hours=("Hours of unknown type", "Hours of entries whose billing type is missing or unknown."),
    non_billable_hours=("Non-billable hours", "Hours of non-billable time, internal matters included."),
    total_hours=("All hours", "Hours of every kind."),
    client_hours=("Client hours", "Billable and fixed-fee hours, except on internal matters."),
    capacity_hours=("Available hours", "Working days × hours a day, less leave and days not employed."),
    idle_capacity_hours=("Idle hours", "The available hours of people on the roster without any entry."),
    left_out_hours=("Hours left out", "Hours on matters whose type does not count."),
    principal_hours=("Principals’ hours", "Client hours of principals."),
    non_principal_hours=("Others’ hours", "Client hours of everyone whose role is known and not principal."),
    unknown_role_hours=("Hours of unknown role", "Client hours of people whose role nothing tells."),
    linked_hours=("Linked hours", "Hours of the time that names these fees, whenever worked."),
    unrated_hours=("Hours without rate", "Linked hours of people without a standard rate."),
    unlinked_hours=("Unlinked hours", "Fixed-fee time of the period that names no fee."),
    uncosted_hours=("Hours without cost", "Hours of people without a cost rate."),
    available_hours=("Hours a day", "The person's hours of that day."),
    unpriced_hours=("Hours without amount", "Billable hours whose worth no amount shows; no money has them."),
    missing_hours=("Missing hours", "Hours a day less those entered."),
)
_UTILIZATION = (
    *_ratios(
        "ratio",
        utilization=("Utilization", "client_hours / capacity_hours", "Client hours ÷ available hours."),
    ),
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
_MONEY = _sums(
    "money",
    worked_amount=("Worth of billed work", "Worth, at its rates, of the billable time on the invoices counted."),
    billed_amount=("Billed", "Net billed time fees: invoices less their expenses and fixed fees."),
    write_down_amount=("Written down", "Worth of billed work − billed; negative is a write-up."),
    mixed_amount=("Worth beside fixed fees", "Worth of the work on invoices that also bill fixed fees."),
    due_amount=("Billed and due", "The part of billed on invoices due on or before the day asked for."),
    due_settled_amount=("Settled of due", "The part of billed and due that is no longer open."),
    settled_amount=("Settled", "The part of billed that is no longer open, whatever settled it."),
    unbilled_amount=("Unbilled", "Worth of what is on no invoice."),
    prebill_amount=("On prebills", "Worth of what is on a draft, review or approved invoice."),
    unknown_amount=(
        "On unknown invoices",
        "The invoice was not passed, or its state, or the time’s type, is unknown.",
    ),
    cohort_amount=("Fees worked", "Worth of all billable time dated in the period, invoiced or not."),
    standard_amount=("At standard rates", "Hours × standard rates; missing where someone has none."),
    left_out_amount=("Worth left out", "Worth of time on matters whose type does not count."),
    left_out_billed_amount=("Billed left out", "What time on matters whose type does not count was billed at."),
    current=("Current", "The part not past due."),
    total=("Total", "All buckets together."),
    overdue=("Overdue", "The part at least one day past due."),
    contingent_amount=("On contingency", "The part of the total on contingency matters."),
    time_amount=("Time", "The part that is time."),
    expense_amount=("Expenses", "The part that is expenses."),
    fixed_fee_amount=("Fixed fees", "The part that is fixed fees."),
    fee_amount=("Fees with hours", "Fixed fees that have linked time, invoiced or not."),
    unlinked_fee_amount=("Fees without hours", "Fixed fees without linked time."),
    fees_amount=("Fees", "Net billed time fees and fixed fees on final invoices."),
    cost_amount=("Cost", "Hours × cost rates; missing where someone with hours has none."),
    profit_amount=("Profit", "Fees − cost."),
    items_amount=("Items", "Time, expenses and fixed fees together."),
    amount=("Amount", "Amount of the invoice."),
    unexplained_amount=("Unexplained", "Amount − items; negative where time was written down."),
    balance=("Balance", "What is open of the amount."),
    budget_amount=("Budget", "The matter’s budget in the firm’s settings."),
    used_amount=("Used", "Billed fees, prebills and unbilled time together."),
    remaining_amount=("Remaining", "Budget − used."),
    unbilled_fixed_fee_amount=("Unbilled fixed fees", "Fixed fees on no invoice; they do not count as used."),
    wip_amount=("Work in progress", "Worth of the work in progress on the day, contingency matters left out."),
    left_out_wip_amount=("Work in progress left out", "Worth of the work in progress on contingency matters."),
    receivable_amount=("Receivables", "Open balances on the day."),
)
_REALIZATION = _ratios(
    "ratio",
    billing_realization=("Billing realization", "billed_amount / worked_amount", "Billed ÷ worth of billed work."),
    settlement_ratio=("Settlement", "settled_amount / billed_amount", "Settled ÷ billed."),
    due_settlement_ratio=("Settlement of due", "due_settled_amount / due_amount", "Settled of due ÷ billed and due."),
    overall_realization=(
        "Overall realization",
        "settled_amount / worked_amount",
        "Billing realization × settlement.",
    ),
    billed_to_worked=("Billed to worked", "billed_amount / cohort_amount", "Billed ÷ fees worked."),
    worked_to_standard=(
        "Worth to standard",
        "worked_amount / standard_amount",
        "Worth of billed work ÷ at standard rates.",
    ),
    billed_to_standard=("Billed to standard", "billed_amount / standard_amount", "Billed ÷ at standard rates."),
    fixed_fee_realization=(
        "Fixed-fee realization",
        "fee_amount / standard_amount",
        "Fees with hours ÷ these hours at standard rates.",
    ),
    budget_burn=("Budget used", "used_amount / budget_amount", "Used ÷ budget."),
    margin_ratio=("Margin", "profit_amount / fees_amount", "Profit ÷ fees."),
)
_SHARES = (
    Measure("share", "Share", "ratio", "Fees ÷ the fees of all rows.", adds_up=True),
    Measure("running_share", "Running share", "ratio", "Share of this row and of those above it."),
)
_RATES = _ratios(
    "rate",
    effective_rate=(
        "Effective rate",
        "billed_amount / billable_hours or fee_amount / linked_hours",
        "Fees ÷ hours: what an hour brought.",
    ),
    worked_rate=(
        "Rate of the work",
        "worked_amount / billable_hours",
        "Worth of billed work ÷ hours: what an hour is worth.",
    ),
    standard_rate=("Standard rate", "standard_amount / billable_hours", "Standard ÷ hours, of who did the work."),
)
_PEOPLE = (
    *_ratios(
        "multiple",
        hours_leverage=(
            "Leverage in hours",
            "non_principal_hours / principal_hours",
            "Others’ hours ÷ principals’ hours.",
        ),
    ),
    Measure("heads_leverage", "Leverage in heads", "multiple", "Others ÷ principals, by heads."),
    Measure("principals", "Principals", "count", "Principals with work or available hours in the row."),
    Measure("non_principals", "Others", "count", "People of another known role with work or available hours."),
    Measure("unknown_role_people", "People of unknown role", "count", "People whose role nothing tells."),
)
_LAGS = (
    *_sums(
        "count",
        entries=("Entries", "Entries counted; parts of them by originator."),
        postdated_entries=("After the invoice", "Entries dated after their invoice; their days are negative."),
    ),
    *_sums(
        "count",
        same_day_entries=("Same day", "Entered on the day of the work or before it."),
        next_day_entries=("By the next day", "Entered at most a day after the work."),
        late_entries=("Late", "Entered more than 7 days after the work."),
        future_dated_entries=("Future-dated", "Entered before the day of the work."),
        unknown_entries=("Of unknown time", "Entries whose time of entry is not known."),
    ),
    *_ratios(
        "ratio",
        same_day_ratio=("Same day share", "same_day_entries / entries", "Same day ÷ entries."),
        next_day_ratio=("Next day share", "next_day_entries / entries", "By the next day ÷ entries."),
        late_ratio=("Late share", "late_entries / entries", "Late ÷ entries."),
    ),
    Measure("median_lag_days", "Median lag", "days", "Half of the entries came at most so many days after the work."),
    Measure("p90_lag_days", "90th percentile", "days", "Nine in ten entries came at most so many days after the work."),
    *_sums(
        "days",
        total_lag_days=("Days in all", "Days from work to invoice, of all entries."),
        amount_days=("Days × worth", "Days from work to invoice × worth."),
        hour_days=("Days × hours", "Days from work to invoice × hours."),
    ),
    *_ratios(
        "days",
        mean_lag_days=("Mean lag", "total_lag_days / entries", "Days from work to invoice of a mean entry."),
        amount_weighted_lag_days=(
            "Lag by worth",
            "amount_days / worked_amount",
            "Days from work to invoice, weighted by worth.",
        ),
        hours_weighted_lag_days=(
            "Lag by hours",
            "hour_days / billable_hours",
            "Days from work to invoice, weighted by hours.",
        ),
    ),
)
_AGES = (
    Measure("weighted_days_overdue", "Days overdue", "days", "Days past due of overdue debts, weighted by balance."),
    Measure("days", "Days of fees", "days", "How many days the fees are of."),
    Measure("wip_days", "Days of work", "days", "Work in progress ÷ fees × days."),
    Measure("receivable_days", "Days of receivables", "days", "Receivables ÷ fees × days."),
    Measure("lockup_days", "Lock-up", "days", "Days of work and of receivables together."),
    Measure("as_of", "As of", "date", "The day that amounts are of."),
    Measure("fees_start", "Fees from", "date", "First day of the fees."),
    Measure("fees_end", "Fees to", "date", "Last day of the fees."),
    Measure("oldest_date", "Oldest", "date", "Date of the oldest item."),
)
_FINDINGS = (
    Measure("matter_count", "Matters", "count", "How many matters the items are on."),
    Measure("unbudgeted_matters", "Matters without budget", "count", "How many matters have fees and no budget."),
    Measure(
        "unbudgeted_amount", "Fees without budget", "money", "Fees used on matters without budget; same in every row."
    ),
    Measure("threshold_hours", "Threshold", "hours", "Less than this is a finding."),
    Measure("duplicate_group", "Group", "count", "Rows of one group are like each other; numbered from 1."),
    Measure("item", "Item", "text", "Time entry, expense or fixed fee."),
    Measure("item_id", "Item’s id", "text", "The id of the item."),
    Measure("field", "Field", "text", "The field that the finding is about."),
    Measure("code", "Code", "text", "The code found; missing where there is none."),
    Measure("problem", "Problem", "text", "What is wrong with it."),
)

MEASURES: dict[str, Measure] = {
    each.name: each
    for each in (
        *_HOURS,
        *_UTILIZATION,
        *_MONEY,
        *_REALIZATION,
        *_SHARES,
        *_RATES,
        *_PEOPLE,
        *_LAGS,
        *_AGES,
        *_FINDINGS,
    )
}
"""Every measure by its column."""
