"""Reports of the books of the sandbox's firm, made from its invoices, with each kind of disagreement once."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._shared.export import check_output
from billframes.ledger.writing import write_report

_COMPANY = "The sandbox's firm"
_DAY = dt.date(2026, 10, 31)
_AGING = ("Date", "Transaction type", "Num", "Customer full name", "Due date", "Amount", "Open balance")
_LIST = ("Date", "Transaction type", "Num", "Name", "Memo", "Due date", "Amount", "Open balance")
_SALES = (
    *("Transaction date", "Transaction type", "Num", "Product/Service full name", "Description", "Quantity"),
    *("Sales price", "Amount", "Balance"),
)
_AGES = ((91, "91 or more days past due"), (61, "61 - 90 days past due"), (31, "31 - 60 days past due"))


def sandbox_reports(folder: str | os.PathLike[str], *, corrected: bool = False) -> dict[str, Path]:
    """
    Write reports of the made-up books of the sandbox's firm, as QuickBooks Online exports them.

    The books agree with the billing system, except that each reason of `tie_out` occurs once, without "currency" and
    "not_in_any_customer". Every run writes the same.

    The dates of payments are made up. They are not the days on which the sandbox's invoices were last changed, which a
    mirror made by `bf.sandbox.replay` shows as receipts. So the cash of all months is the same, and that of one is not.

    Parameters
    ----------
    folder : path
        An existing folder. Files of the same names are replaced.
    corrected : bool
        Whether the bookkeeper has corrected the books, so that they agree with the billing system.

    Returns
    -------
    dict of str to Path
        The files: "aging" (A/R Aging Detail as of 31 October 2026), "invoices" (Invoice List by Date) and "payments"
        (Sales by Customer Detail, on cash basis).

    Examples
    --------
    >>> import tempfile
    >>> from billframes.ledger import read_ledger
    >>> files = sandbox_reports(tempfile.mkdtemp())
    >>> files["aging"].name, read_ledger(files["aging"]).attrs["ledger"]["as_of"]
    ('A_R Aging Detail.csv', '2026-10-31')
    """
    from billframes.client import Client
    from billframes.sandbox import Sandbox

    check_output(Path(folder) / "A_R Aging Detail.csv", "")
    with Sandbox() as sandbox, Client(sandbox.base_url, sandbox.tokens["full"], profile="", progress=False) as client:
        invoices = client.invoices()
        expenses = client.expenses()
    books = _Books(invoices.sort_values(["invoice_date", "invoice_id"]), corrected=corrected)
    listed = "January 1, 2024-October 31, 2026"
    reports = {
        "aging": ("A/R Aging Detail Report", "As of Oct 31, 2026", _AGING, books.ages()),
        "invoices": ("Invoice List by Date", listed, _LIST, {"": books.listed}),
        "payments": ("Sales by Customer Detail", listed, _SALES, _sales(invoices, expenses)),
    }
    files = {}
    for name, (title, period, headings, groups) in reports.items():
        files[name] = Path(folder) / f"{title.replace('/', '_').removesuffix(' Report')}.csv"
        basis = "Cash Basis" if name == "payments" else ""
        files[name].write_bytes(write_report(title, period, headings, groups, company=_COMPANY, basis=basis))
    return files


class _Books:
    """The firm's books: the open transactions, and the list of all invoices."""

    def __init__(self, invoices: pd.DataFrame, *, corrected: bool) -> None:
        self.listed: list[list[Any]] = []
        self._open: list[list[Any]] = []
        final = invoices[(invoices["invoice_state"] == "final") & (invoices["amount"] > 0)]
        owed = final[final["balance"] > 1_000].iloc[:5]
        paid = final[final["balance"] == 0].iloc[-1:]
        approved = invoices[invoices["invoice_state"] == "approved"].iloc[:1]
        kinds = ("paid_in_ledger", "paid_here", "amount_differs", "voided_in_ledger", "missing_in_ledger")
        kind_of = dict(zip(owed["invoice_id"], kinds, strict=True))
        kind_of |= dict.fromkeys(paid["invoice_id"], "unapplied_in_ledger")
        everything = invoices[invoices["invoice_state"] == "final"]
        rows = everything if corrected else pd.concat([everything, approved])
        for each in rows.to_dict("records"):
            self._add_invoice(each, "" if corrected else kind_of.get(each["invoice_id"], ""))
        if corrected:
            return
        one, other = owed["client_name"].iloc[0], owed["client_name"].iloc[1]
        day = dt.date(2026, 9, 30)
        self._add("Invoice", "OB-1", one, day, 200_000, 200_000)
        self._add("Invoice", paid["invoice_number"].iloc[0], other, day, 12_000, 12_000)
        self._add("Credit Memo", "CM-3", other, day, -8_000, -8_000)
        self._add("Journal Entry", "JE-12", one, day, -4_500, -4_500)
        self._add("Deposit", "D-7", one, day, -2_500, -2_500)

    def _add_invoice(self, invoice: Mapping[Any, Any], kind: str) -> None:
        amount, balance, memo = round(invoice["amount"] * 100), round(invoice["balance"] * 100), ""
        date, client = invoice["invoice_date"].date(), invoice["client_name"]
        if kind == "missing_in_ledger":
            return
        if kind == "paid_in_ledger":
            balance //= 2
        elif kind == "paid_here":
            balance = min(amount, balance + 40_000)
        elif kind == "amount_differs":
            amount, balance = amount - 1, balance - 1
        elif kind == "voided_in_ledger":
            amount, balance, memo = 0, 0, "Voided - billed twice"
        elif kind == "unapplied_in_ledger":
            balance = amount
            self._add("Payment", "4471", client, min(date + dt.timedelta(days=10), _DAY), -amount, -amount)
        self._add("Invoice", invoice["invoice_number"], client, date, amount, balance, memo)

    def _add(
        self, kind: str, number: str, client: str, date: dt.date, amount: int, balance: int, memo: str = ""
    ) -> None:
        due = date + dt.timedelta(days=30)
        if amount < 0 and kind == "Invoice":
            kind = "Credit Memo"
        if balance:
            self._open.append([date, kind, number, client, due, amount, balance])
        if kind in ("Invoice", "Credit Memo"):
            self.listed.append([date, kind, number, client, memo, due, amount, balance])

    def ages(self) -> dict[str, list[list[Any]]]:
        """Return the open transactions by age, the oldest first."""
        groups: dict[str, list[list[Any]]] = {label: [] for _, label in _AGES}
        groups |= {"1 - 30 days past due": [], "CURRENT": []}
        for row in self._open:
            days = (_DAY - row[4]).days
            recent = "1 - 30 days past due" if days > 0 else "CURRENT"
            groups[next((label for least, label in _AGES if days >= least), recent)].append(row)
        return {label: rows for label, rows in groups.items() if rows}


def _sales(invoices: pd.DataFrame, expenses: pd.DataFrame) -> dict[str, list[list[Any]]]:
    """Return the paid parts of the invoices' lines by client, dated by the payment."""
    spent = expenses.groupby("invoice_id")["amount"].sum()
    groups: dict[str, list[list[Any]]] = {}
    final = invoices[invoices["invoice_state"] == "final"]
    for place, each in enumerate(final.to_dict("records")):
        amount, settled = round(each["amount"] * 100), round(each["amount"] * 100) - round(each["balance"] * 100)
        if settled and amount > 0:
            of_expenses = round(min(spent.get(each["invoice_id"], 0.0) * 100, amount) * settled / amount)
            date = min(each["invoice_date"].date() + dt.timedelta(days=10 + place * 7 % 60), _DAY)
            for item, paid in (("Legal services", settled - of_expenses), ("Billable expenses", of_expenses)):
                if paid:
                    cells = [date, "Invoice", each["invoice_number"], item, None, None, None, paid, None]
                    groups.setdefault(each["client_name"], []).append(cells)
    return groups
