"""Rules of invoices and the items on them: work that is missing, invoices that are, and fees that can't be shared."""

from __future__ import annotations

from billframes._notes import Rule
from billframes.errors import RatesHiddenWarning

UNKNOWN_INVOICE = Rule(
    name="unknown_invoice",
    seen="{items} {n:names|name} an invoice that is not among those {passed}{reasons}; {n:it is|they are} "
    "{consequence}.",
    remedy="Load invoices over a wider window, by the ids that the work refers to.",
    page="The invoices may have been deleted: look for them in the billing system.",
    unit="items",
)
UNKNOWN_FEE = Rule(
    name="unknown_fixed_fee",
    seen="{n} time {n:entry names|entries name} a fixed fee that is not among those {passed}; {n:it is|they are} in "
    "`unlinked_hours`.",
    remedy="Load fixed fees over a wider window.",
    page="The fixed fees may have been deleted: look for them in the billing system.",
    unit="entries",
)
ABSENT_FROM_INVOICES = Rule(
    name="items_not_passed",
    seen="No {absent} were passed, so the amounts that invoices bill for them count as fees for time.",
    remedy="Pass {arguments}, empty if there are none.",
    unit="frames",
)
ABSENT_WORK = Rule(
    name="work_not_passed",
    seen="No {absent} were passed, so none are counted.",
    remedy="If there are none, pass an empty frame.",
    unit="frames",
)
INNER_MERGE = Rule(
    name="inner_merge",
    seen=(
        "The time entries have columns of the invoices, and none of them is unbilled, so `unbilled_amount` has no time."
    ),
    causes="An inner merge may have dropped the unbilled ones.",
    remedy="If so, merge with how='left'.",
    unit="entries",
)
NO_PREBILLS = Rule(
    name="no_prebills",
    seen="None of the time entries passed is on an invoice, so `prebill_amount` has no time, although {n} of the "
    "invoices passed {n:was|were} not final on {day}.",
    causes="The entries on invoices may have been left out, or these invoices may have none.",
    remedy="Also pass the entries on invoices: they are work in progress until their invoice is final.",
    page="Look at these invoices in the billing system.",
    unit="invoices",
)
EARLIER_WORK = Rule(
    name="earlier_work",
    seen="{subject}: the earliest of the time entries passed is of {begin}, so {consequence}.",
    remedy="Pass all time entries, whenever the work was done.",
    unit="older records",
)
MAY_BE_TAX = "Work on them may be missing, tax or a surcharge may have been added, or they may have been written up"
"""The end of a message about frames that don't say how they were loaded."""
_TAXES = " State taxes in the firm's settings."
WORK_NOT_PASSED = Rule(
    name="work_on_invoices",
    seen="{subject}: {invoices} {invoices:invoice bills|invoices bill} {amount:,.2f} more than the time entries, "
    "expenses and fixed fees passed can explain.",
    causes=f"{MAY_BE_TAX}, so the figures may be too high.",
    remedy=(
        "Pass all work on these invoices, whenever and by whomever it was done (bf.book loads it), and state taxes in "
        "the firm's settings."
    ),
    book="Compare the invoices with their items (reconcile), and state taxes in the firm's settings.",
    page=f"Compare these invoices with their items.{_TAXES}",
    unit="money",
)
MISSING_WORK = Rule(
    name="work_on_invoices",
    seen=(
        "{subject}: the invoices bill {billed:,.2f}, but the time entries, expenses and fixed fees on invoices have a "
        "total of {worth:,.2f} only."
    ),
    causes=f"{MAY_BE_TAX}. If work is missing, {{consequence}}.",
    remedy="Pass all work (bf.book loads it), and state taxes in the firm's settings.",
    book=WORK_NOT_PASSED.book,
    page=WORK_NOT_PASSED.page,
    unit="money",
)
HIDDEN_BESIDE_FEES = Rule(
    name="hidden_rates_beside_fixed_fees",
    seen="{n} billable time {n:entry is|entries are} on final invoices that also bill fixed fees and have time "
    "without an amount, so their fees billed are missing.",
    causes="The credential may lack read.rates.",
    remedy='Load them with a credential that has it, or use discounts="time".',
    page="Ask whoever manages the billing system for the right to read rates.",
    unit="entries",
    category=RatesHiddenWarning,
)
_DUE = "Enter due dates in the billing system if the invoices are due later."
NO_DUE_DATE = Rule(
    name="no_due_date",
    seen="{n} open final {n:invoice has|invoices have} no due date; the invoice date is used instead.",
    remedy=_DUE,
    page=_DUE,
    unit="invoices",
)
NO_DUE_DATE_OF_WORK = Rule(
    name="no_due_date",
    seen="{n} billable time {n:entry is|entries are} on final invoices without a due date; their invoice date is used "
    "instead.",
    remedy=_DUE,
    page=_DUE,
    unit="entries",
)
JOINED_MATTERS = Rule(
    name="joined_matters",
    seen="{column} is a column of invoices, so each balance ({amount:,.2f} in all) counts for one value, though an "
    "invoice can be for several matters.",
    remedy="Pass `time_entries`=, `expenses`=, `fixed_fees`= and `matters`=, so that balances are divided among the "
    "matters.",
    page="Ask whoever prepares these figures to divide the balances among the matters.",
    unit="money",
)
DETAILS_NOT_IN_ALL = Rule(
    name="details_not_in_all",
    seen="{subject}: {column} is not a column of {frames}, so {parts} are in the row without a value.",
    remedy="Pass `{supplier}`= (the loader {supplier}()), from which all rows get the value.",
    unit="money",
)
