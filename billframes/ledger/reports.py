"""The reports of QuickBooks Online and Xero that are read, each as a declaration.

To add a report, declare it here. The reader has no code for single reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["BY_TITLE", "HEADINGS", "KINDS", "MONEY", "NOT_READ", "REPORTS", "ROW_KINDS", "TYPES", "Report"]

MONEY = ("amount", "open_balance", "debit", "credit")
"""The columns that totals add up."""

ROW_KINDS = ("invoice", "payment", "credit", "journal", "deposit", "refund", "sales_receipt", "other")

_QUICKBOOKS_ONLY = "A/R Aging Detail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """
    One report, and how it is laid out.

    Parameters
    ----------
    kind : str
        Its name in `read_ledger(kind=…)`.
    titles : tuple of str
        Its titles, without " Report".
    needs : tuple of str
        The columns by which its row of headings is known.
    groups : {"age", "customer", "account", ""}
        What its rows are grouped by; empty for a list.
    totals : bool
        Whether groups and the report have totals.
    headings : mapping of str to str
        Headings that mean another column than in other reports.
    open_items : bool
        Whether it lists everything that is open on a day, as `tie_out` needs.
    history : bool
        Whether it lists every invoice, also paid and voided ones.
    payments_positive : bool
        Whether payments are listed with the sign of invoices.
    payments : str
        How `payments` finds the invoice of a payment: "line", "group", "number" or, if it can't be found, "".
    """

    kind: str
    titles: tuple[str, ...]
    needs: tuple[str, ...]
    groups: Literal["age", "customer", "account", ""] = ""
    totals: bool = True
    headings: Mapping[str, str] = field(default_factory=dict)
    open_items: bool = False
    history: bool = False
    payments_positive: bool = False
    payments: str = ""


REPORTS = (
    Report(
        kind="ar_aging_detail",
        titles=("A/R Aging Detail", "A/R Ageing Detail"),
        needs=("date", "type", "customer", "open_balance"),
        groups="age",
        open_items=True,
    ),
    Report(
        kind="open_invoices",
        titles=("Open Invoices",),
        needs=("date", "type", "open_balance"),
        groups="customer",
        open_items=True,
    ),
    Report(
        kind="collections",
        titles=("Collections",),
        needs=("date", "type", "open_balance"),
        groups="customer",
    ),
    Report(
        kind="customer_balance_detail",
        titles=("Customer Balance Detail",),
        needs=("date", "type", "open_balance"),
        groups="customer",
        open_items=True,
    ),
    Report(
        kind="invoice_list",
        titles=("Invoice List by Date", "Invoice List"),
        needs=("date", "number", "amount", "open_balance"),
        history=True,
    ),
    Report(
        kind="transaction_list",
        titles=("Transaction List by Date",),
        needs=("date", "type", "amount"),
        payments_positive=True,
        payments="group",
    ),
    Report(
        kind="transaction_list",
        titles=("Transaction List by Customer",),
        needs=("date", "type", "amount"),
        groups="customer",
        payments_positive=True,
        payments="group",
    ),
    Report(
        kind="invoices_and_payments",
        titles=("Invoices and Received Payments",),
        needs=("date", "type", "amount"),
        groups="customer",
        totals=False,
        payments_positive=True,
        payments="group",
    ),
    Report(
        kind="sales_detail",
        titles=("Sales by Customer Detail",),
        needs=("date", "type", "amount"),
        groups="customer",
        payments="line",
    ),
    Report(
        kind="account_detail",
        titles=("Transaction Detail by Account",),
        needs=("date", "type", "amount"),
        groups="account",
    ),
    Report(
        kind="xero_aged_receivables",
        titles=("Aged Receivables Detail",),
        needs=("date", "number", "open_balance"),
        groups="customer",
        headings={"total": "open_balance"},
        open_items=True,
    ),
    Report(
        kind="xero_account_transactions",
        titles=("Account Transactions",),
        needs=("date", "type", "debit", "credit"),
        groups="account",
        headings={"source": "type", "reference": "number", "description": "customer"},
        payments="number",
    ),
    Report(
        kind="xero_invoices",
        titles=("Receivable Invoice Detail", "Receivable Invoice Summary"),
        needs=("date", "number", "amount"),
        headings={"contact": "customer", "gross": "amount", "invoice total": "amount", "balance": "open_balance"},
        history=True,
    ),
)
BY_TITLE = {title.casefold(): report for report in REPORTS for title in report.titles}
KINDS = tuple(dict.fromkeys(report.kind for report in REPORTS))

NOT_READ = {
    "a/r aging summary": _QUICKBOOKS_ONLY,
    "a/r ageing summary": _QUICKBOOKS_ONLY,
    "a/p aging detail": _QUICKBOOKS_ONLY,
    "a/p ageing detail": _QUICKBOOKS_ONLY,
    "a/p aging summary": _QUICKBOOKS_ONLY,
    "customer balance summary": "Customer Balance Detail",
    "sales by customer summary": "Sales by Customer Detail",
    "aged receivables summary": "Aged Receivables Detail",
    "aged receivables": "Aged Receivables Detail",
    "aged payables detail": "Aged Receivables Detail",
}
"""Reports that are refused, and the report to export instead."""

HEADINGS = {
    "date": "date",
    "transaction date": "date",
    "invoice date": "date",
    "transaction type": "type",
    "type": "type",
    "num": "number",
    "no.": "number",
    "number": "number",
    "transaction number": "number",
    "invoice number": "number",
    "customer full name": "customer",
    "client full name": "customer",
    "customer": "customer",
    "client": "customer",
    "name": "customer",
    "due date": "due_date",
    "amount": "amount",
    "open balance": "open_balance",
    "debit": "debit",
    "credit": "credit",
    "memo": "memo",
    "memo/description": "memo",
    "description": "description",
    "account name": "account",
    "account full name": "account",
    "split": "split",
    "item split account": "split",
    "product/service full name": "item",
    "product/service": "item",
    "class": "class",
    "location": "location",
    "currency": "currency",
    "status": "status",
}
"""The column of each heading in lower case. Other columns of a report are ignored."""

TYPES = {
    "invoice": "invoice",
    "receivable invoice": "invoice",
    "payment": "payment",
    "receivable payment": "payment",
    "credit memo": "credit",
    "credit note": "credit",
    "receivable credit note": "credit",
    "journal entry": "journal",
    "manual journal": "journal",
    "deposit": "deposit",
    "refund": "refund",
    "sales receipt": "sales_receipt",
}
"""The kind of each transaction type in lower case; others are "other"."""
