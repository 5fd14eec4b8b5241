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
import pyarrow as pa

from billframes._names import type_in_words
from billframes.analysis.frames.native import without_attrs
from billframes.analysis.model.owed_invoices import InvoiceIndex, OwedInvoice, OwedInvoices
from billframes.config.ledger import LedgerSettings
from billframes.errors import LedgerError, ParameterError


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


def _records(ledger: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.Table.from_pandas(without_attrs(ledger), preserve_index=False).to_pylist()
    for row in rows:
        row["cents"] = round((row["amount"] or 0.0) * 100)
    return rows


def payment_events(ledger: pd.DataFrame, names: LedgerSettings, found: OwedInvoices) -> Iterator[PaymentEvent]:
    """Yield the payments and credits of a report."""
    if not isinstance(ledger, pd.DataFrame) or "ledger" not in ledger.attrs:
        raise ParameterError(f"ledger is {type_in_words(ledger)}; pass the frame that bf.read_ledger returns.")
    about = ledger.attrs["ledger"]
    how = about["payments"]
    if not how:
        raise LedgerError(
            f"{about['file']} is {about['report']}, which has no payments; export Sales by Customer Detail."
        )
    rows = _records(ledger)
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
        if row["kind"] not in ("payment", "refund") and (row["kind"] == "invoice" or how == "group"):
            continue
        kind = "cash" if row["kind"] in ("payment", "refund") else _kind_of_credit(row, names)
        event = PaymentEvent(row["date"], kind, row["customer"], -row["cents"], row["invoice_number"], how, row)
        if how == "link" and row["row"] in shared:
            event.matched_by = "link, shared"
        if event.number is None:
            event.matched_by = "unapplied" if how == "link" else "none"
        if how == "group":
            event.number, event.matched_by = (listed or found).only(event.customer, event.date, event.amount)
        yield event


def _lines(rows: Sequence[Mapping[str, Any]], names: LedgerSettings) -> Iterator[PaymentEvent]:
    """Yield the paid lines of a cash-basis report, added up by invoice and day."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["date"], row["kind"], row["customer"], row["number"]].append(row)
    events = []
    memos: dict[tuple[Any, ...], list[PaymentEvent]] = defaultdict(list)
    for (date, kind, customer, number), lines in groups.items():
        amount = sum(line["cents"] for line in lines)
        if kind == "invoice" or kind == "sales_receipt":
            events.append(PaymentEvent(date, "cash", customer, amount, number, "line", lines[0]))
        else:
            credit = PaymentEvent(date, _kind_of_credit(lines[0], names), customer, -amount, None, "none", lines[0])
            memos[date, customer, -amount].append(credit)
    # A credit memo that pays an invoice is a negative row beside the invoice's row of that day.
    for event in events:
        if matching := memos.get((event.date, event.customer, event.amount)):
            event.kind = matching.pop().kind
    yield from events
    yield from (each for left in memos.values() for each in left)


def _kind_of_credit(row: Mapping[str, Any], names: LedgerSettings) -> str:
    """Return the kind of what is not cash, by the item or account that it is posted to."""
    posted = {row["item"], row["split"]} - {None}
    if posted & {*names.write_off_items, *names.write_off_accounts}:
        return "write_off"
    if posted & {*names.discount_items, *names.discount_accounts}:
        return "discount"
    return "journal" if row["kind"] == "journal" else "credit"


def credit_events(report: pd.DataFrame, names: LedgerSettings, found: OwedInvoices) -> Iterator[PaymentEvent]:
    """Yield the credit memos and journal entries of a second report."""
    for row in _records(report):
        if row["kind"] in ("credit", "journal") and row["cents"]:
            event = PaymentEvent(
                row["date"], _kind_of_credit(row, names), row["customer"], -row["cents"], None, "none", row
            )
            event.number, event.matched_by = found.only(event.customer, event.date, event.amount)
            yield event


def _listed_invoices(rows: Iterable[Mapping[str, Any]]) -> InvoiceIndex | None:
    """Return the invoices that the report itself lists; None if it lists none."""
    listed = [
        (row["customer"], row["date"], row["cents"], row["number"])
        for row in rows
        if row["kind"] == "invoice" and not row["voided"] and row["number"]
    ]
    return InvoiceIndex(listed) if listed else None
