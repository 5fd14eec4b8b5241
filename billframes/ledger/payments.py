"""Payments: each amount that leaves an invoice, from a report of the books, and its part in fees, expenses and tax.

A payment is tied to an invoice only if the books state it, or if there is only one invoice that it can pay.
`matched_by` says how. Other money is counted for its client only. By invoice, they stand beside the
settled part of its amount. `METHODS` has the method of a book.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Literal, cast

import pandas as pd
from narwhals.stable.v2.typing import IntoFrame

from billframes._shared.notes import Notes
from billframes._shared.suggestions import check_choice
from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import collect, to_dicts
from billframes.analysis.rules.payments import INVOICE, PAYMENT_TYPES, note_payments
from billframes.config.firm import FirmSettings
from billframes.config.ledger import LedgerSettings
from billframes.config.taxes import PaymentOrder, read_payment_order
from billframes.ledger.invoice_matching import ClientNames
from billframes.ledger.owed_invoices import OwedInvoice, OwedInvoices, owed_invoices
from billframes.ledger.payment_events import PaymentEvent, credit_events, payment_events
from billframes.ledger.rules import ABOVE_ITEMS, LOOSE_CREDITS, PAID_ELSEWHERE, PAID_IN_CURRENCY, UNKNOWN_CUSTOMERS
from billframes.loading.load_info import attach_notes
from billframes.periods import DateLike, Period

_LEAST_TAXED, _TAX_SHARE = 5, 0.005
_GAP_TYPES = {"invoice_id": "str", "invoice_number": "str", "invoice_date": "datetime64[us]", "client_name": "str"}
_GAP_TYPES |= dict.fromkeys(("settled_amount", "expected_amount", "gap_amount"), "float64")


def payments(
    ledger: pd.DataFrame,
    *,
    time_entries: IntoFrame,
    expenses: IntoFrame | None = None,
    fixed_fees: IntoFrame | None = None,
    invoices: IntoFrame,
    credits: pd.DataFrame | None = None,  # noqa: A002 - the field's word
    tax: float | Mapping[str, float] | None = None,
    order: PaymentOrder | Sequence[str] | None = None,
    allocate: Literal["stated", "oldest"] = "stated",
    by: Literal["payment", "invoice"] = "payment",
    as_of: DateLike | None = None,
    settings: FirmSettings | None = None,
) -> pd.DataFrame:
    r"""
    List the payments in the firm's books: what left each invoice, on which day, and its fees, expenses and tax.

    Parameters
    ----------
    ledger : DataFrame
        From `read_ledger` or `ledger_from_quickbooks`: Sales by Customer Detail on cash basis, Invoices and Received
        Payments, Transaction List, or Account Transactions of Xero.
    time_entries : frame
        All of them, with `billing_type`, `hours`, `amount` and `invoice_id`.
    expenses, fixed_fees : frame, optional
        All of them, with `invoice_id` and `amount`.
    invoices : frame
        All invoices, with `invoice_id`, `invoice_number`, `invoice_date`, `invoice_state`, `client_id`, `client_name`,
        `amount` and `balance`.
    credits : DataFrame, optional
        From `read_ledger`: another report with credit memos and journal entries, such as Transaction Detail by Account.
    tax : float or mapping of str to float, optional
        The rate of the tax in the invoices' amounts, such as 0.13, or the tax of each invoice by its number. By default
        the tax of the settings' `taxes`.
    order : "proportional" or sequence of str, optional
        The parts that a payment settles, as `payment_order` of the settings, which is the default.
    allocate : {"stated", "oldest"}
        "oldest" gives money on no stated invoice to the client's oldest open invoices, and says so in `matched_by`.
    by : {"payment", "invoice"}
        "invoice" shows which invoices lack payments, or have too many: it compares the payments and credits of each
        with the settled part of its amount. Pass the report of all payments since the first invoice.
    as_of : str or date, optional
        The last day of payments, and of invoices if `by="invoice"`; balances are as loaded. By default the last day of
        the report.
    settings : FirmSettings, optional
        `taxes`, `payment_order` and `ledger`.

    Returns
    -------
    DataFrame
        One row per amount, by date: `payment_date`, `kind` (cash, credit, write_off, discount, journal), `invoice_id`,
        `invoice_number`, `invoice_date`, `client_id`, `client_name`, `customer` and, as float64, `amount` (reversals
        are negative), `fee_amount`, `expense_amount` and `tax_amount`, which add up to it. Then `matched_by`,
        `reference`, `account`, `from_trust` (bool) and `ledger_row`. Money on no invoice has no parts: they are
        missing. `matched_by` is

        - link: the books link the payment; "link, shared" if cash and a credit on several invoices were divided
        - line: the books list the paid part of each line; number: they name the invoice
        - only, amount: the customer's only invoice so far, if the payment fits; else the only one of this amount
        - oldest: given to the oldest invoice
        - none, unapplied: not stated; more than is open

        With `by="invoice"`, one row per final invoice, the largest gap first: `invoice_id`, `invoice_number`,
        `invoice_date`, `client_name`, `settled_amount` (of the payments), `expected_amount` (amount - balance) and
        `gap_amount` (expected - settled).

    Raises
    ------
    LedgerError
        The report has no payments, or is not on cash basis.
    ParameterError
        An argument is wrong.

    Warns
    -----
    IncompleteDataWarning
        Payments name no invoice that was passed, or many invoices are above their items and no tax is known. With
        `by="invoice"`, the payments begin after the first invoice, or end before `as_of`.

    Examples
    --------
    >>> from billframes import read_ledger
    >>> report = [
    ...     "Larkspur LLP,,,,,", "Invoices and Received Payments,,,,,", '"October, 2026",,,,,', "",
    ...     ",Date,Transaction type,Memo/Description,Transaction number,Amount", "Acme,,,,,",
    ...     ",10/25/2026,Payment,,,600.00", ",10/05/2026,Invoice,,1001,1000.00", "",
    ...     '" Monday, November 02, 2026",,,,,',
    ... ]
    >>> entries = pd.DataFrame({
    ...     "billing_type": ["billable"], "hours": [2.0], "amount": [800.0], "invoice_id": ["i1"],
    ... })
    >>> costs = pd.DataFrame({"invoice_id": ["i1"], "amount": [200.0]})
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_number": ["1001"], "invoice_date": pd.to_datetime(["2026-10-05"]),
    ...     "invoice_state": ["final"], "client_id": ["c1"], "client_name": ["Acme"], "amount": [1000.0],
    ...     "balance": [400.0],
    ... })
    >>> ledger = read_ledger("\n".join(report).encode())
    >>> frames = {"time_entries": entries, "expenses": costs, "fixed_fees": costs.head(0), "invoices": invoices}
    >>> paid = payments(ledger, **frames)
    >>> paid[["payment_date", "invoice_number", "amount", "fee_amount", "expense_amount", "matched_by"]]
      payment_date invoice_number  amount  fee_amount  expense_amount matched_by
    0   2026-10-25           1001   600.0       480.0           120.0       only
    >>> payments(ledger, **frames, by="invoice")[["invoice_number", "settled_amount", "expected_amount", "gap_amount"]]
      invoice_number  settled_amount  expected_amount  gap_amount
    0           1001           600.0            600.0         0.0
    """
    check_choice(allocate, "allocate", ("stated", "oldest"))
    check_choice(by, "by", ("payment", "invoice"))
    day = None if as_of is None else read_date(as_of, "as_of")
    firm = settings or FirmSettings()
    names = firm.books
    parts_order = read_payment_order(firm.payment_order if order is None else order, "order")
    frames = {"time_entries": time_entries, "expenses": expenses, "fixed_fees": fixed_fees, "invoices": invoices}
    call = Call(Data(settings, **frames), "payments")
    owed = owed_invoices(call, tax)
    clients = ClientNames(
        {(each.columns["client_id"], each.columns["client_name"], each.columns["client_reference"]) for each in owed},
        names.customers,
    )
    if tax is None and not firm.taxes:
        _note_tax(owed, call.notes)
    found = OwedInvoices(owed, clients)
    events = list(payment_events(ledger, names, found))
    if credits is not None:
        events += credit_events(credits, ledger, names, found)
    events.sort(key=lambda each: each.date)
    for event in events:
        event.invoice = found.by_number(event.number, event.customer) if event.number else None
        if event.number and event.invoice is None:
            event.matched_by = "none"
    if names.tax_items == ():
        _add_sales_tax(events)
    rows = [row for event in events for row in _settle(event, parts_order, found, allocate)]
    _note_unknown(rows, clients, firm.currency, call.notes)
    frame = _frame(rows, clients, ledger, names)
    if day is not None:
        frame = frame[frame["payment_date"] <= pd.Timestamp(day)].reset_index(drop=True)
    if by == "invoice":
        frame = _by_invoice(call, frame, day, firm)
    call.notes.finish()
    return cast("pd.DataFrame", attach_notes(frame, call.notes))


def _note_tax(invoices: Sequence[OwedInvoice], notes: Notes) -> None:
    above = [each.above_items for each in invoices if each.above_items > _TAX_SHARE * abs(each.amount)]
    # Firms write up some invoices; tax is on most.
    if len(above) >= _LEAST_TAXED and len(above) * 2 > len(invoices):
        notes.add(ABOVE_ITEMS, len(above), total=sum(above) / 100)


def _add_sales_tax(events: Sequence[PaymentEvent]) -> None:
    """Add the tax to what is paid of an invoice's lines, because the report lists lines without tax."""
    for event in events:
        invoice = event.invoice
        if event.matched_by == "line" and invoice is not None and 0 < invoice.tax < invoice.amount:
            event.amount = round(event.amount * invoice.amount / (invoice.amount - invoice.tax))


def _settle(event: PaymentEvent, order: PaymentOrder, found: OwedInvoices, allocate: str) -> Iterator[PaymentEvent]:
    """Divide an event among the parts of its invoice, and yield it and what stays on no invoice."""
    rest = event.amount
    targets: Iterable[OwedInvoice] = [event.invoice] if event.invoice is not None else []
    if allocate == "oldest" and event.invoice is None and rest > 0:
        targets = found.open_invoices(event.customer, event.date)
    if event.invoice is not None and rest < 0:
        found.open_again(event.invoice)
    for invoice in targets:
        if rest == 0:
            break
        parts, left = invoice.parts.take(rest, order if event.kind == "cash" else "proportional")
        if rest != left:
            how = event.matched_by if event.invoice is not None else "oldest"
            yield event.of(rest - left, how, invoice, parts)
        rest = left
    if rest:
        how = event.matched_by if event.matched_by in ("none", "unapplied") else "unapplied"
        yield event.of(rest, how, None, {})


def _note_unknown(rows: Sequence[PaymentEvent], clients: ClientNames, currency: str, notes: Notes) -> None:
    strangers = [each for each in rows if each.invoice is None and clients.key(each.customer) not in clients]
    customers = {each.customer for each in strangers}
    amount = sum(each.amount for each in strangers) / 100
    notes.add(UNKNOWN_CUSTOMERS, amount, customers=len(customers))
    lost = [each for each in rows if each.matched_by == "none" and each.number]
    amount = sum(each.amount for each in lost) / 100
    notes.add(PAID_ELSEWHERE, amount, payments=len(lost))
    loose = [each for each in rows if each.invoice is None and each.kind != "cash" and not each.number]
    notes.add(LOOSE_CREDITS, sum(each.amount for each in loose) / 100, credits=len(loose))
    foreign = [each for each in rows if currency and each.row["currency"] not in (None, currency)]
    amount = sum(each.amount for each in foreign) / 100
    currencies = ", ".join(sorted({each.row["currency"] for each in foreign}))
    notes.add(PAID_IN_CURRENCY, amount, payments=len(foreign), currencies=currencies, currency=currency)


def _frame(
    rows: Sequence[PaymentEvent], clients: ClientNames, ledger: pd.DataFrame, names: LedgerSettings
) -> pd.DataFrame:
    table = [_row(each, clients, names) for each in rows]
    frame = pd.DataFrame(table, columns=[*PAYMENT_TYPES], dtype=object).astype(PAYMENT_TYPES)
    about = ledger.attrs["ledger"]
    frame.attrs["payments"] = {name: about[name] for name in ("file", "start", "end")}
    return frame


def _by_invoice(call: Call, paid: pd.DataFrame, day: dt.date | None, firm: FirmSettings) -> pd.DataFrame:
    days = Period.stated(paid.attrs["payments"])
    last = day or days.end or dt.date.max
    needed = ("invoice_id", "invoice_state", "invoice_date", "client_name", "amount", "balance")
    rows = to_dicts(collect(call.select("invoices", needed, ("invoice_number",))))
    rows = [row for row in rows if row["invoice_state"] == "final" and row["invoice_date"] is not None]
    first = min((row["invoice_date"].date() for row in rows), default=None)
    note_payments(call, paid, Period(first, last), None, firm)
    settled = (paid["amount"] * 100).round().groupby(paid["invoice_id"]).sum().to_dict()
    found = []
    for row in rows:
        if row["invoice_date"].date() <= last:
            cents = round(settled.get(row["invoice_id"], 0.0)), round((row["amount"] - row["balance"]) * 100)
            names = [row.get(name) for name in [*_GAP_TYPES][:4]]
            found.append([*names, *(each / 100 for each in (*cents, cents[1] - cents[0]))])
    found.sort(key=lambda row: (-abs(row[-1]), row[2], row[0]))
    return pd.DataFrame(found, columns=[*_GAP_TYPES]).astype(_GAP_TYPES)


def _row(event: PaymentEvent, clients: ClientNames, names: LedgerSettings) -> tuple[Any, ...]:
    """Return the values of `PAYMENT_TYPES`."""
    invoice = _OF_INVOICE(event.invoice.columns) if event.invoice is not None else None
    parts = event.parts
    account = event.row["split"] if event.row["account"] is None else event.row["account"]
    return (
        *(event.date, event.kind),
        *(invoice or (None, None, None, *(clients.client(clients.key(event.customer)) or (None, None)))),
        *(event.customer, event.amount / 100),
        *([parts[name] / 100 for name in ("fees", "expenses", "tax")] if parts else (None, None, None)),
        *(event.matched_by, None if event.matched_by == "line" else event.row["number"], account),
        any(event.row[name] in names.trust_accounts for name in ("account", "split")),
        event.row["row"],
    )


_OF_INVOICE = itemgetter(*INVOICE)


class BookPayments:
    """The payments of a book's invoices, as a method of the book."""

    def payments(
        self: Any,
        ledger: pd.DataFrame,
        *,
        credits: pd.DataFrame | None = None,  # noqa: A002 - the field's word
        tax: float | Mapping[str, float] | None = None,
        order: PaymentOrder | Sequence[str] | None = None,
        allocate: Literal["stated", "oldest"] = "stated",
        by: Literal["payment", "invoice"] = "payment",
        as_of: DateLike | None = None,
    ) -> pd.DataFrame:
        """
        List the payments in the firm's books, by fees, expenses and tax; see `billframes.analysis.payments`.

        Parameters
        ----------
        ledger : DataFrame
            From `read_ledger` or `ledger_from_quickbooks`.
        credits, tax, order, allocate
            See `billframes.analysis.payments`.
        by : {"payment", "invoice"}
            "invoice" compares the payments of each invoice with the settled part of its amount, the largest gap first.
        as_of : date-like, optional
            The last day of payments. By invoice, it is by default the last day of the book's period, or the day of the
            load if that is earlier.
        """
        if by == "invoice":
            as_of = self._days.as_of(as_of, ("invoices",), "payments")
        return payments(
            ledger,
            time_entries=self.time_entries,
            expenses=self.expenses,
            fixed_fees=self.fixed_fees,
            invoices=self.invoices,
            credits=credits,
            tax=tax,
            order=order,
            allocate=allocate,
            by=by,
            as_of=as_of,
            settings=self.settings,
        )


METHODS = BookPayments
