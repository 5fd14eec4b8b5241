"""Rules of a ledger's report that is compared with the invoices, or has their payments."""

from __future__ import annotations

from billframes._shared.notes import Rule

NO_LEDGER_DAY = Rule(
    name="no_ledger_day",
    seen="{file} does not say as of which day it is; it is compared as if it were as of {day}.",
    remedy="Export the report with its date.",
    page="Export the report with its date.",
    unit="reports",
)
ABSENT_FROM_LEDGER = Rule(
    name="absent_from_ledger",
    seen="{n} of our open invoices are not in {file}.",
    causes="It may be filtered by customer, date or class, or be of another company.",
    remedy="Export the report without filters.",
    page="Export the report without filters.",
    unit="invoices",
)
OTHER_CURRENCY = Rule(
    name="other_currency",
    seen="{n} {n:row is|rows are} in {currencies}; compare them in that currency, because the report shows home "
    "currency.",
    unit="rows",
)
UNKNOWN_CUSTOMERS = Rule(
    name="unknown_customers",
    seen="{customers} {customers:customer matches|customers match} no client, {amount:,.2f} in all.",
    remedy="Name them in the settings, under ledger.customers.",
    page="Ask whoever keeps the firm's settings to name them there.",
    book="Name them in the settings, under ledger.customers.",
    unit="money",
)
PAID_ELSEWHERE = Rule(
    name="paid_elsewhere",
    seen="{payments} {payments:payment names|payments name} an invoice that was not {passed}, or is another client's, "
    "{amount:,.2f} in all; this money counts for the client only.",
    remedy="Pass all invoices, also those of earlier years.",
    page="Compare the invoices of the books with those of the billing system.",
    unit="money",
)
LOOSE_CREDITS = Rule(
    name="loose_credits",
    seen="{credits} {credits:credit or write-off is|credits or write-offs are} on no invoice, {amount:,.2f} in all; "
    "{credits:it counts|they count} in no figure.",
    remedy="Look at the rows whose kind is not cash and that have no invoice_id.",
    page="Ask the bookkeeper which invoices they are for.",
    unit="money",
)
PAID_IN_CURRENCY = Rule(
    name="paid_in_other_currency",
    seen="{payments} {payments:payment is|payments are} in {currencies}, {amount:,.2f} in all, and added up as if "
    "{payments:it were|they were} in {currency}.",
    remedy="Export the report in the firm's currency.",
    page="Export the report in the firm's currency.",
    unit="money",
)
ABOVE_ITEMS = Rule(
    name="above_items",
    seen="{n} invoices are {total:,.2f} above their items: that may be tax, and then fees collected include it.",
    remedy="Pass `tax`=, or name the taxes in the settings.",
    page="If it is tax, ask whoever keeps the firm's settings to state it there.",
    book="Pass `tax`=, or name the taxes in the settings.",
    unit="invoices",
)
RESTATED = Rule(
    name="restated",
    seen="The books restated {month}: {file} has {now:,.2f}, and {earlier}, which was read before, has {then:,.2f}.",
    remedy="Ask the bookkeeper what changed.",
    page="Ask the bookkeeper what changed.",
    unit="money",
)
