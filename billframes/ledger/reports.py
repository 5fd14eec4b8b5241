"""The reports of QuickBooks Online and Xero that are read, each as a declaration.

To add a report, declare it here. The reader has no code for single reports.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

MONEY = ("amount", "open_balance", "debit", "credit")
"""The columns that totals add up."""


@dataclass(frozen=True, slots=True)
class Report:
    """
    One report: its titles without " Report", and the columns by which its row of headings is known.

    Its rows are in groups, or in a list (""). `headings` are those of columns that have no usual heading. `open_items`
    lists everything open on a day, `history` every invoice, also paid ones. `payments_positive` are listed with the
    sign of invoices, and `payments` is how `payments()` finds their invoice.
    """

    kind: str
    titles: tuple[str, ...]
    needs: tuple[str, ...]
    groups: Literal["age", "customer", "account", ""] = ""
    _: KW_ONLY
    totals: bool = True
    headings: Mapping[str, str] = field(default_factory=dict)
    open_items: bool = False
    history: bool = False
    payments_positive: bool = False
    payments: str = ""


# The columns of what is open, and of what was booked.
_OPEN, _BOOKED = ("date", "type", "open_balance"), ("date", "type", "amount")
# Payments of these reports are listed with the sign of invoices, and their invoice is not named.
_PAID: dict[str, Any] = {"payments_positive": True, "payments": "group"}

REPORTS = (
    Report(
        "ar_aging_detail", ("A/R Aging Detail",), ("date", "type", "customer", "open_balance"), "age", open_items=True
    ),
    Report("open_invoices", ("Open Invoices",), _OPEN, "customer", open_items=True),
    Report("collections", ("Collections",), _OPEN, "customer"),
    Report("customer_balance_detail", ("Customer Balance Detail",), _OPEN, "customer", open_items=True),
    Report(
        "invoice_list",
        ("Invoice List by Date", "Invoice List"),
        ("date", "number", "amount", "open_balance"),
        history=True,
    ),
    Report("transaction_list", ("Transaction List by Date",), _BOOKED, **_PAID),
    Report("transaction_list", ("Transaction List by Customer",), _BOOKED, "customer", **_PAID),
    Report("invoices_and_payments", ("Invoices and Received Payments",), _BOOKED, "customer", totals=False, **_PAID),
    Report("sales_detail", ("Sales by Customer Detail",), _BOOKED, "customer", payments="line"),
    Report("account_detail", ("Transaction Detail by Account",), _BOOKED, "account"),
    Report(
        "xero_aged_receivables",
        ("Aged Receivables Detail",),
        ("date", "number", "open_balance"),
        "customer",
        headings={"total": "open_balance"},
        open_items=True,
    ),
    Report(
        "xero_account_transactions",
        ("Account Transactions",),
        ("date", "type", "debit", "credit"),
        "account",
        headings={"source": "type", "reference": "number", "description": "customer"},
        payments="number",
    ),
    Report(
        "xero_invoices",
        ("Receivable Invoice Detail", "Receivable Invoice Summary"),
        ("date", "number", "amount"),
        headings={"gross": "amount", "invoice total": "amount", "balance": "open_balance"},
        history=True,
    ),
)
# A company can call its customers by one of these words, and its reports do, too.
_CUSTOMERS = re.compile(r"\b(?:client|patient|member|donor|tenant|guest)(s?)\b")
_RECEIVABLES = re.compile(r"\baccounts (receivable|payable)\b|\ba([rp])\b")


def plain_title(text: str) -> str:
    """Return a title or heading as the declarations have it, in lower case."""
    words = " ".join(text.casefold().split()).removesuffix(" report").replace("ageing", "aging")
    return _CUSTOMERS.sub(r"customer\1", _RECEIVABLES.sub(lambda found: f"a/{(found[1] or found[2])[0]}", words))


BY_TITLE = {plain_title(title): report for report in REPORTS for title in report.titles}
KINDS = tuple(dict.fromkeys(report.kind for report in REPORTS))

_KNOWN_AS: dict[str, tuple[str, ...]] = {
    "date": ("date", "transaction date", "invoice date", "txn date"),
    "type": ("transaction type", "type"),
    "number": ("num", "no.", "number", "transaction number", "invoice number"),
    "customer": ("customer full name", "customer", "customer name", "name", "contact", "contact name"),
    "due_date": ("due date",),
    "amount": ("amount",),
    "open_balance": ("open balance",),
    "debit": ("debit",),
    "credit": ("credit",),
    "memo": ("memo", "memo/description"),
    "description": ("description",),
    "account": ("account name", "account full name", "account"),
    "split": ("split", "item split account"),
    "item": ("product/service full name", "product/service"),
    "class": ("class",),
    "location": ("location",),
    "currency": ("currency",),
    "status": ("status",),
}
HEADINGS = {heading: column for column, headings in _KNOWN_AS.items() for heading in headings}
"""The column of each heading in lower case. Other columns of a report are ignored."""

_CALLED = {
    "invoice": ("invoice", "receivable invoice"),
    "payment": ("payment", "receivable payment"),
    "credit": ("credit memo", "credit note", "receivable credit note"),
    "journal": ("journal entry", "manual journal"),
    "deposit": ("deposit",),
    "refund": ("refund",),
    "sales_receipt": ("sales receipt",),
}
TYPES = {name: kind for kind, names in _CALLED.items() for name in names}
"""The kind of each transaction type in lower case; others are "other"."""
ROW_KINDS = (*_CALLED, "other")

_IN_PLACE_OF = {
    "A/R Aging Detail": ("a/r aging summary", "a/p aging detail", "a/p aging summary"),
    "Customer Balance Detail": ("customer balance summary",),
    "Sales by Customer Detail": ("sales by customer summary",),
    "Aged Receivables Detail": ("aged receivables summary", "aged receivables", "aged payables detail"),
}
NOT_READ = {title: right for right, titles in _IN_PLACE_OF.items() for title in titles}
"""Reports that are refused, and the report to export instead."""
