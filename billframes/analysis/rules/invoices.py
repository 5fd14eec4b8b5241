"""Rules of invoices and the items on them: work that is missing, invoices that are, and fees that can't be shared."""

from __future__ import annotations

from billframes._shared.notes import Rule
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

_COUNT = "They count for the client, without matter and timekeeper."
CANCELLED_WORK = Rule(
    name="cancelled_work",
    seen="{subject}: {n} {n:invoice has|invoices have} entries below 0 that nearly cancel {n:its|their} other time, so "
    "{n:its|their} fees of {fees:,.2f} can't be shared out.",
    remedy=_COUNT,
    page=_COUNT,
    unit="invoices",
)
