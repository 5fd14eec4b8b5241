"""Final invoices as payments meet them: their parts, what is open of each, and where they are found.

There is one rule: each event, in the order of dates, takes from what is still open. In an order of parts, it takes the
first part until that is empty, then the next; otherwise all open parts in proportion. Credits and write-offs take in
proportion, whatever the order of payments. A reversal puts back in the opposite order. All sums are in cents.
"""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from billframes._shared.cents import whole_parts
from billframes._shared.names import as_given
from billframes.analysis.data.call import Call
from billframes.analysis.data.engine import to_dicts
from billframes.analysis.data.expressions import C
from billframes.analysis.facts.invoices import invoices
from billframes.analysis.rules.payments import INVOICE
from billframes.config.firm_values import read_number
from billframes.config.taxes import PARTS, PaymentOrder
from billframes.errors import ParameterError
from billframes.ledger.invoice_matching import ClientNames, exact_number, plain_number


def spread(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Divide cents in proportion to weights: whole cents, the largest remainders first, ties to the earlier key."""
    whole = sum(weights.values())
    if not whole:
        return dict.fromkeys(weights, 0)
    sign = -1 if total < 0 else 1
    parts = whole_parts([abs(total) * weight for weight in weights.values()], whole)
    return {name: sign * part for name, part in zip(weights, parts, strict=True)}


class InvoiceParts:
    """The parts of one invoice in cents, and what of them is still open. A credit has all of its amount as fees."""

    def __init__(self, tax: int, expenses: int, fees: int) -> None:
        self._whole = dict(zip(PARTS, (tax, expenses, fees), strict=True))
        self.open = dict(self._whole)
        self.left = tax + expenses + fees

    def take(self, amount: int, order: PaymentOrder) -> tuple[dict[str, int], int]:
        """Take an amount from what is open, or put a negative one back; return its parts, and what was too much."""
        room = self.open if amount > 0 else {name: self._whole[name] - self.open[name] for name in PARTS}
        whole = sum(room.values())
        applied = min(abs(amount), whole)
        if applied == whole:
            parts = dict(room)
        elif order == "proportional":
            parts = spread(applied, room)
        else:
            parts = _in_order(applied, room, order if amount > 0 else tuple(reversed(order)))
        sign = 1 if amount > 0 else -1
        parts = {name: sign * part for name, part in parts.items()}
        self.open = {name: self.open[name] - parts[name] for name in PARTS}
        self.left -= sign * applied
        return parts, amount - sign * applied


def _in_order(amount: int, room: Mapping[str, int], order: Sequence[str]) -> dict[str, int]:
    parts = dict.fromkeys(PARTS, 0)
    for name in order:
        parts[name] = min(amount, room[name])
        amount -= parts[name]
    return parts


@dataclass(slots=True)
class OwedInvoice:
    """A final invoice: its columns, its amount in cents, its parts, and what its items are worth."""

    columns: dict[str, Any]
    amount: int
    parts: InvoiceParts
    tax: int
    above_items: int


def owed_invoices(call: Call, tax: float | Mapping[str, float] | None) -> list[OwedInvoice]:
    """Return the final invoices by date, with their parts."""
    tax = _read_tax(tax)
    call.require("time_entries", "billing_type", "hours", "amount", "invoice_id")
    call.require("invoices", "invoice_state", "amount", "balance", *INVOICE)
    optional = ["client_reference"] if "client_reference" in call.columns("invoices") else []
    rows = call.fact(invoices, ("invoice_number", "client_name", *optional))
    final = to_dicts(rows.filter(C("invoice_state") == "final"))
    for row in final:
        _refuse_missing(row)
    final.sort(key=lambda row: (row["invoice_date"], row["invoice_id"]))
    return [_invoice(row, tax) for row in final]


def _read_tax(tax: Any) -> float | dict[str, float] | None:
    """Return a rate, or the tax of each invoice by its number as text; refuse other values."""
    if isinstance(tax, Mapping):
        return {str(number): read_number(amount, f"tax[{number!r}]") for number, amount in tax.items()}
    if tax is None:
        return None
    if isinstance(tax, int | float | Decimal) and not isinstance(tax, bool) and 0 <= tax < 1:
        return float(tax)
    raise ParameterError(
        f"{as_given('tax', tax)} is not a rate from 0 to 1, such as 0.13, or a mapping by invoice number."
    )


def _refuse_missing(row: Mapping[str, Any]) -> None:
    """Refuse an invoice without a date, or with an amount that is not known: it can't be divided into its parts."""
    parts = {"amount": "amount", "expenses": "the amount of an expense", "tax": "the amount of an item"}
    missing = [word for name, word in parts.items() if not math.isfinite(row[name])]
    missing += [] if row["invoice_date"] is not None else ["invoice_date"]
    if missing:
        raise ParameterError(
            f"invoices: {missing[0]} of the final invoice {row['invoice_id']!r} is missing, so its payments can't be "
            "divided into fees, expenses and tax. Fill it in, or remove the invoice."
        )


def _invoice(row: Mapping[str, Any], tax: float | dict[str, float] | None) -> OwedInvoice:
    amount, expenses = round(row["amount"] * 100), round(row["expenses"] * 100)
    if isinstance(tax, dict):
        of_tax = round(tax.get(row["invoice_number"], 0.0) * 100)
    else:
        of_tax = round(row["tax"] * 100) if tax is None else round(amount * tax / (1 + tax))
    fees = amount - of_tax - expenses
    # A credit, or an invoice below its expenses, has one part only.
    parts = (of_tax, expenses, fees) if min(of_tax, expenses, fees) >= 0 else (0, 0, amount)
    items = row["value"] + row["fixed_fees"]
    above_items = 0 if row["hidden"] or not math.isfinite(items) else fees - round(items * 100)
    columns = {name: row.get(name) for name in (*INVOICE, "client_reference")}
    return OwedInvoice(columns, amount, InvoiceParts(*parts), of_tax, above_items)


class InvoiceIndex:
    """The invoices of each customer in the order of their dates, to find the only one that a payment can pay."""

    def __init__(self, invoices: Iterable[tuple[str | None, dt.datetime, int, str]]) -> None:
        self._dates: dict[str | None, list[dt.datetime]] = defaultdict(list)
        self._first: dict[str | None, tuple[int, str]] = {}
        self._equal: dict[tuple[str | None, int], tuple[list[dt.datetime], str]] = {}
        for customer, date, amount, number in sorted(invoices, key=lambda each: each[1]):
            self._dates[customer].append(date)
            self._first.setdefault(customer, (amount, number))
            self._equal.setdefault((customer, amount), ([], number))[0].append(date)

    def only(self, customer: str | None, date: dt.datetime, amount: int) -> tuple[str | None, str]:
        """Return the number of the only invoice so far, or the only one of this amount, and how it was found."""
        whole, number = self._first.get(customer, (0, ""))
        if bisect_right(self._dates.get(customer, []), date) == 1 and 0 < amount <= whole:
            return number, "only"
        dates, equal = self._equal.get((customer, amount), ([], ""))
        return (equal, "amount") if bisect_right(dates, date) == 1 else (None, "none")


class OwedInvoices:
    """Our final invoices, by number and by client."""

    def __init__(self, invoices: Iterable[OwedInvoice], clients: ClientNames) -> None:
        self.clients = clients
        self._numbers: dict[str, list[OwedInvoice]] = defaultdict(list)
        self._of_client: dict[str | None, list[OwedInvoice]] = defaultdict(list)
        for each in invoices:
            number = each.columns["invoice_number"]
            for key in {f"={exact_number(number)}", plain_number(number)}:
                self._numbers[key].append(each)
            if each.amount > 0:
                self._of_client[clients.key(each.columns["client_name"])].append(each)
        # How many of a client's oldest invoices are settled.
        self._settled: dict[str | None, int] = defaultdict(int)
        self._index = InvoiceIndex(
            (client, each.columns["invoice_date"], each.amount, each.columns["invoice_number"])
            for client, listed in self._of_client.items()
            for each in listed
        )

    def only(self, customer: str | None, date: dt.datetime, amount: int) -> tuple[str | None, str]:
        """Return the number of the only invoice of a customer that a payment can pay, and how it was found."""
        return self._index.only(self.clients.key(customer), date, amount)

    def by_number(self, number: str | None, customer: str | None) -> OwedInvoice | None:
        """Return the only invoice of a customer with a number; that of another client only if the customer is none."""
        client = self.clients.key(customer)
        for key in (f"={exact_number(number)}", plain_number(number)):
            listed = self._numbers.get(key, [])
            own = [each for each in listed if self.clients.key(each.columns["client_name"]) == client]
            candidates = own if own or client in self.clients else listed
            if len(candidates) == 1:
                return candidates[0]
        return None

    def open_invoices(self, customer: str | None, until: dt.datetime) -> Iterator[OwedInvoice]:
        """Yield the open invoices of a customer up to a day, the oldest first."""
        key = self.clients.key(customer)
        listed = self._of_client.get(key, [])
        while self._settled[key] < len(listed) and not listed[self._settled[key]].parts.left:
            self._settled[key] += 1
        for each in islice(listed, self._settled[key], None):
            if each.columns["invoice_date"] > until:
                return
            if each.parts.left:
                yield each

    def open_again(self, invoice: OwedInvoice) -> None:
        """Look at a client's invoices from the oldest on again, because a payment of one was put back."""
        self._settled[self.clients.key(invoice.columns["client_name"])] = 0
