"""The payments and credits in a report of the books, each with the invoice that it can only be for.

A report links a payment to its invoice, lists the paid part of each line, names the invoice, or has only the customer.
In the last case a payment is tied to the customer's only invoice, or to the only one of its amount, or to none.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from billframes.config.ledger import LedgerSettings
from billframes.errors import LedgerError
from billframes.ledger.frame import ledger_rows, same_company, stated_about
from billframes.ledger.owed_invoices import InvoiceIndex, OwedInvoice, OwedInvoices

_CASH = ("payment", "refund", "sales_receipt")


@dataclass(slots=True)
class PaymentEvent:
    """An amount that leaves an invoice, in cents. Without an invoice it is known for the customer only."""

    date: dt.datetime
    kind: str
    customer: str | None
    amount: int
    number: str | None
    matched_by: str
    row: Mapping[str, Any]
    invoice: OwedInvoice | None = None
    parts: dict[str, int] = field(default_factory=dict)

    def of(self, amount: int, matched_by: str, invoice: OwedInvoice | None, parts: dict[str, int]) -> PaymentEvent:
        """Return the part of it that is on an invoice, or on none."""
        known = (self.date, self.kind, self.customer, amount, self.number, matched_by, self.row)
        return PaymentEvent(*known, invoice, parts)


def _rows(ledger: pd.DataFrame) -> list[dict[str, Any]]:
    return [{**row, "cents": round((row["amount"] or 0.0) * 100)} for row in ledger_rows(ledger)]


def payment_events(ledger: pd.DataFrame, names: LedgerSettings, found: OwedInvoices) -> Iterator[PaymentEvent]:
    """Yield the payments and credits of a report."""
    about = stated_about(ledger, "ledger")
    how = about["payments"]
    if not how:
        raise LedgerError(
            f"{about['file']} is {about['report']}, which has no payments; export Sales by Customer Detail."
        )
    rows = _rows(ledger)
    if how == "line":
        if about["basis"] != "cash":
            basis = f"of the {about['basis']} basis" if about["basis"] else "of an unknown basis"
            raise LedgerError(
                f"{about['file']} is {basis}, so it lists what was billed; set the accounting method to Cash."
            )
        yield from _lines(rows, names)
        return
    shared = {*about.get("shared", ())}
    listed = _listed_invoices(rows)
    for row in rows:
        if row["kind"] not in _CASH and (row["kind"] == "invoice" or how == "group"):
            continue
        kind = "cash" if row["kind"] in _CASH else _kind_of_credit(row, names)
        # What was sold for cash never was a receivable.
        amount = abs(row["cents"]) if row["kind"] == "sales_receipt" else -row["cents"]
        event = PaymentEvent(row["date"], kind, row["customer"], amount, row["invoice_number"], how, row)
        if how == "link" and row["row"] in shared:
            event.matched_by = "link, shared"
        if event.number is None:
            event.matched_by = "unapplied" if how == "link" else "none"
        if how == "group" and row["kind"] != "sales_receipt":
            event.number, event.matched_by = (listed or found).only(event.customer, event.date, event.amount)
        yield event


def _lines(rows: Sequence[Mapping[str, Any]], names: LedgerSettings) -> Iterator[PaymentEvent]:
    """Yield the paid lines of a cash-basis report, added up by invoice and day."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["date"], row["kind"], row["customer"], row["number"]].append(row)
    paid: dict[tuple[Any, ...], list[PaymentEvent]] = defaultdict(list)
    credited = []
    for (date, kind, customer, number), lines in groups.items():
        amount = sum(line["cents"] for line in lines)
        if kind == "invoice":
            event = PaymentEvent(date, "cash", customer, amount, number, "line", lines[0])
            paid[date, customer].append(event)
            yield event
        elif kind == "sales_receipt":
            yield PaymentEvent(date, "cash", customer, amount, None, "none", lines[0])
        else:
            how = _kind_of_credit(lines[0], names)
            credited.append(PaymentEvent(date, how, customer, -amount, None, "none", lines[0]))
    for credit in credited:
        # A credit that pays an invoice is a negative row beside the invoice's row, which has the day's payment, too.
        beside = [each for each in paid[credit.date, credit.customer] if each.kind == "cash"]
        equal = [each for each in beside if each.amount == credit.amount]
        larger = [each for each in beside if each.amount > credit.amount > 0]
        if equal:
            equal[-1].kind = credit.kind
            continue
        if len(larger) == 1:
            larger[0].amount -= credit.amount
            credit.number, credit.matched_by = larger[0].number, "line"
        yield credit


def _kind_of_credit(row: Mapping[str, Any], names: LedgerSettings) -> str:
    """Return the kind of what is not cash, by the item or account that it is posted to."""
    posted = {row["item"], row["split"]} - {None}
    if posted & {*names.write_off_items, *names.write_off_accounts}:
        return "write_off"
    if posted & {*names.discount_items, *names.discount_accounts}:
        return "discount"
    return "journal" if row["kind"] == "journal" else "credit"


def credit_events(
    report: pd.DataFrame, ledger: pd.DataFrame, names: LedgerSettings, found: OwedInvoices
) -> Iterator[PaymentEvent]:
    """Yield the credit memos and journal entries of a second report of the ledger's company."""
    about = stated_about(report, "credits")
    if about["open_items"]:
        raise LedgerError(
            f"{about['file']} is {about['report']}, which lists what is open; export Transaction Detail by Account."
        )
    same_company(stated_about(ledger, "ledger"), about)
    for row in _rows(report):
        if row["kind"] in ("credit", "journal") and row["cents"]:
            event = PaymentEvent(
                row["date"], _kind_of_credit(row, names), row["customer"], -row["cents"], None, "none", row
            )
            event.number, event.matched_by = found.only(event.customer, event.date, event.amount)
            yield event


def _listed_invoices(rows: Iterable[Mapping[str, Any]]) -> InvoiceIndex | None:
    listed = [
        (row["customer"], row["date"], row["cents"], row["number"])
        for row in rows
        if row["kind"] == "invoice" and not row["voided"] and row["number"]
    ]
    return InvoiceIndex(listed) if listed else None
