"""Payments: each amount that leaves an invoice, from a report of the books, and its part in fees, expenses and tax.

A payment is tied to an invoice only if the books state it, or if there is only one invoice that it can pay.
`matched_by` says how. Other money is counted for its client only.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals.stable.v2 as nw
import pandas as pd
import pyarrow as pa
from narwhals.stable.v2.typing import IntoFrame

from billframes._messages import warn
from billframes._names import type_in_words
from billframes.analysis.frames.engine import collect, to_dicts
from billframes.analysis.frames.frames import Frames
from billframes.analysis.frames.native import without_attrs
from billframes.analysis.model.allocation import allocation_rates, billable_time, time_on_invoices
from billframes.analysis.model.arguments import check_choice, read_date
from billframes.analysis.model.invoice_matching import ClientNames, exact_number, plain_number
from billframes.analysis.model.payment_split import InvoiceParts
from billframes.config.firm import FirmSettings, check_settings
from billframes.config.ledger import LedgerSettings
from billframes.config.taxes import PARTS, PaymentOrder, read_payment_order
from billframes.errors import IncompleteDataWarning, LedgerError, ParameterError
from billframes.periods import DateLike

__all__ = ["PAYMENT_KINDS", "check_payments", "payment_gaps", "payments"]

PAYMENT_KINDS = ("cash", "credit", "write_off", "discount", "journal")
_MATCHED_BY = ("link", "link, shared", "line", "number", "only", "amount", "oldest", "none", "unapplied")
_INVOICE = ("invoice_id", "invoice_number", "invoice_date", "client_id", "client_name")
_COLUMNS = (
    *("payment_date", "kind", *_INVOICE, "customer", "amount", "fee_amount", "expense_amount", "tax_amount"),
    *("matched_by", "reference", "account", "from_trust", "ledger_row"),
)
_LEAST_TAXED, _TAX_SHARE = 5, 0.005


@dataclass(slots=True)
class _Invoice:
    """A final invoice: its columns, its amount in cents, its parts, and what its items are worth."""

    columns: dict[str, Any]
    amount: int
    parts: InvoiceParts
    tax: int
    above_items: int


@dataclass(slots=True)
class _Event:
    """An amount that leaves an invoice, in cents. Without an invoice it is known for the customer only."""

    date: dt.datetime
    kind: str
    customer: str | None
    amount: int
    number: str | None
    matched_by: str
    row: Mapping[str, Any]
    invoice: _Invoice | None = None
    parts: dict[str, int] = field(default_factory=dict)


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
    settings: FirmSettings | None = None,
) -> pd.DataFrame:
    r"""
    List the amounts that left invoices, with their day and their parts in fees, expenses and tax.

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

    Raises
    ------
    LedgerError
        The report has no payments, or is not on cash basis.
    ParameterError
        An argument is wrong.

    Warns
    -----
    IncompleteDataWarning
        Payments name no invoice that was passed, or many invoices are above their items and no tax is known.

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
    >>> paid = payments(
    ...     read_ledger("\n".join(report).encode()), time_entries=entries, expenses=costs,
    ...     fixed_fees=costs.head(0), invoices=invoices,
    ... )
    >>> paid[["payment_date", "invoice_number", "amount", "fee_amount", "expense_amount", "matched_by"]]
      payment_date invoice_number  amount  fee_amount  expense_amount matched_by
    0   2026-10-25           1001   600.0       480.0           120.0       only
    """
    check_settings(settings)
    check_choice(allocate, "allocate", ("stated", "oldest"))
    firm = settings or FirmSettings()
    names = firm.books
    parts_order = read_payment_order(firm.payment_order if order is None else order, "order")
    frames = Frames.of(time_entries=time_entries, expenses=expenses, fixed_fees=fixed_fees, invoices=invoices)
    owed = _invoices(frames, firm, tax)
    clients = ClientNames(
        {(each.columns["client_id"], each.columns["client_name"], each.columns["client_reference"]) for each in owed},
        names.customers,
    )
    if tax is None and not firm.taxes:
        _warn_of_tax(owed)
    found = _Invoices(owed, clients)
    events = list(_events(ledger, names, found))
    if credits is not None:
        events += _credits(credits, names, found)
    events.sort(key=lambda each: each.date)
    for event in events:
        event.invoice = found.by_number(event.number, event.customer) if event.number else None
        if event.number and event.invoice is None:
            event.matched_by = "none"
    if names.tax_items == ():
        _add_sales_tax(events)
    rows = [row for event in events for row in _settle(event, parts_order, found, allocate)]
    _warn_of_unknown(rows, clients)
    frames.notes.finish()
    return _frame(rows, clients, ledger, names)


def _invoices(frames: Frames, settings: FirmSettings, tax: float | Mapping[str, float] | None) -> list[_Invoice]:
    """Return the final invoices by date, with their parts."""
    if tax is not None and not isinstance(tax, Mapping) and (isinstance(tax, bool) or not 0 <= tax < 1):
        raise ParameterError(f"tax={tax!r} is not a rate from 0 to 1, such as 0.13, or a mapping by invoice number.")
    entries = frames["time_entries"]
    on_invoices = collect(time_on_invoices(billable_time(frames, (), lazily=True)), entries)
    details = ("invoice_number", "client_id", "client_name")
    keep = (*details, "client_reference", "due_date")
    frames.select("invoices", details)
    rates = allocation_rates(on_invoices, frames, settings, keep)
    rows = to_dicts(collect(rates.filter(nw.col("_invoice_state") == "final")))
    rows.sort(key=lambda row: (row["_invoice_date"], row["invoice_id"]))
    return [_invoice(row, tax) for row in rows]


def _invoice(row: Mapping[str, Any], tax: float | Mapping[str, float] | None) -> _Invoice:
    amount, expenses = round(row["_total"] * 100), round(row["_expenses"] * 100)
    if isinstance(tax, Mapping):
        of_tax = round(tax.get(row["invoice_number"], 0.0) * 100)
    else:
        of_tax = round(row["_tax"] * 100) if tax is None else round(amount * tax / (1 + tax))
    fees = amount - of_tax - expenses
    # A credit, or an invoice below its expenses, has one part only.
    parts = (of_tax, expenses, fees) if min(of_tax, expenses, fees) >= 0 else (0, 0, amount)
    items = None if row["_hidden"] else round((row["_worth"] + row["_fixed_fees"]) * 100)
    columns = {"invoice_date": row["_invoice_date"], "client_reference": row.get("client_reference")}
    columns |= {name: row[name] for name in _INVOICE if name != "invoice_date"}
    return _Invoice(columns, amount, InvoiceParts(*parts), of_tax, 0 if items is None else fees - items)


def _warn_of_tax(invoices: Sequence[_Invoice]) -> None:
    above = [each.above_items for each in invoices if each.above_items > _TAX_SHARE * abs(each.amount)]
    # Firms write up some invoices; tax is on most.
    if len(above) >= _LEAST_TAXED and len(above) * 2 > len(invoices):
        warn(
            f"{len(above):,} invoices are {sum(above) / 100:,.2f} above their items: that may be tax; pass tax=, or "
            "name the taxes in the settings.",
            IncompleteDataWarning,
        )


class _Invoices:
    """Our final invoices, by number and by client."""

    def __init__(self, invoices: Iterable[_Invoice], clients: ClientNames) -> None:
        self.clients = clients
        self._numbers: dict[str, list[_Invoice]] = defaultdict(list)
        self._of_client: dict[str | None, list[_Invoice]] = defaultdict(list)
        for each in invoices:
            number = each.columns["invoice_number"]
            for key in {f"={exact_number(number)}", plain_number(number)}:
                self._numbers[key].append(each)
            self._of_client[clients.key(each.columns["client_name"])].append(each)

    def by_number(self, number: str | None, customer: str | None) -> _Invoice | None:
        """Return the only invoice with a number; of several, the customer's."""
        for key in (f"={exact_number(number)}", plain_number(number)):
            listed = self._numbers.get(key, [])
            own = [
                each for each in listed if self.clients.key(each.columns["client_name"]) == self.clients.key(customer)
            ]
            for candidates in (listed, own):
                if len(candidates) == 1:
                    return candidates[0]
        return None

    def of_customer(self, customer: str | None, until: dt.datetime) -> list[_Invoice]:
        """Return the invoices of a customer up to a day, the oldest first."""
        listed = self._of_client.get(self.clients.key(customer), [])
        return [each for each in listed if each.columns["invoice_date"] <= until and each.amount > 0]


def _records(ledger: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pa.Table.from_pandas(without_attrs(ledger), preserve_index=False).to_pylist()
    for row in rows:
        row["cents"] = round((row["amount"] or 0.0) * 100)
    return rows


def _events(ledger: pd.DataFrame, names: LedgerSettings, found: _Invoices) -> Iterator[_Event]:
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
        event = _Event(row["date"], kind, row["customer"], -row["cents"], row["invoice_number"], how, row)
        if how == "link" and row["row"] in shared:
            event.matched_by = "link, shared"
        if event.number is None:
            event.matched_by = "unapplied" if how == "link" else "none"
        if how == "group":
            event.number, event.matched_by = _only_invoice(event, listed, found)
        yield event


def _lines(rows: Sequence[Mapping[str, Any]], names: LedgerSettings) -> Iterator[_Event]:
    """Yield the paid lines of a cash-basis report, added up by invoice and day."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["date"], row["kind"], row["customer"], row["number"]].append(row)
    events = []
    memos: dict[tuple[Any, ...], list[_Event]] = defaultdict(list)
    for (date, kind, customer, number), lines in groups.items():
        amount = sum(line["cents"] for line in lines)
        if kind == "invoice" or kind == "sales_receipt":
            events.append(_Event(date, "cash", customer, amount, number, "line", lines[0]))
        else:
            credit = _Event(date, _kind_of_credit(lines[0], names), customer, -amount, None, "none", lines[0])
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


def _credits(report: pd.DataFrame, names: LedgerSettings, found: _Invoices) -> Iterator[_Event]:
    """Yield the credit memos and journal entries of a second report."""
    for row in _records(report):
        if row["kind"] in ("credit", "journal") and row["cents"]:
            event = _Event(row["date"], _kind_of_credit(row, names), row["customer"], -row["cents"], None, "none", row)
            event.number, event.matched_by = _only_invoice(event, {}, found)
            yield event


def _listed_invoices(rows: Iterable[Mapping[str, Any]]) -> dict[str | None, list[tuple[dt.datetime, int, str]]]:
    """Return the invoices that the report itself lists, by customer."""
    listed: dict[str | None, list[tuple[dt.datetime, int, str]]] = defaultdict(list)
    for row in rows:
        if row["kind"] == "invoice" and not row["voided"] and row["number"]:
            listed[row["customer"]].append((row["date"], row["cents"], row["number"]))
    return listed


def _only_invoice(
    event: _Event, listed: Mapping[str | None, list[tuple[dt.datetime, int, str]]], found: _Invoices
) -> tuple[str | None, str]:
    """Return the number of the only invoice that a payment can pay, and how it was found."""
    before = [each for each in listed.get(event.customer, ()) if each[0] <= event.date]
    if not listed:
        ours = found.of_customer(event.customer, event.date)
        before = [(each.columns["invoice_date"], each.amount, each.columns["invoice_number"]) for each in ours]
    if len(before) == 1 and 0 < event.amount <= before[0][1]:
        return before[0][2], "only"
    equal = [each for each in before if each[1] == event.amount]
    return (equal[0][2], "amount") if len(equal) == 1 else (None, "none")


def _add_sales_tax(events: Sequence[_Event]) -> None:
    """Add the tax to what is paid of an invoice's lines, because the report lists lines without tax."""
    for event in events:
        invoice = event.invoice
        if event.matched_by == "line" and invoice is not None and 0 < invoice.tax < invoice.amount:
            event.amount = round(event.amount * invoice.amount / (invoice.amount - invoice.tax))


def _settle(event: _Event, order: PaymentOrder, found: _Invoices, allocate: str) -> Iterator[_Event]:
    """Divide an event among the parts of its invoice, and yield it and what stays on no invoice."""
    rest = event.amount
    targets = [event.invoice] if event.invoice is not None else []
    if allocate == "oldest" and event.invoice is None and rest > 0:
        targets = found.of_customer(event.customer, event.date)
    for invoice in targets:
        if rest == 0:
            break
        parts, left = invoice.parts.take(rest, order if event.kind == "cash" else "proportional")
        if rest != left:
            how = event.matched_by if event.invoice is not None else "oldest"
            yield replace(event, amount=rest - left, invoice=invoice, parts=parts, matched_by=how)
        rest = left
    if rest:
        how = event.matched_by if event.matched_by in ("none", "unapplied") else "unapplied"
        yield replace(event, amount=rest, invoice=None, parts={}, matched_by=how)


def _warn_of_unknown(rows: Sequence[_Event], clients: ClientNames) -> None:
    strangers = [each for each in rows if each.invoice is None and clients.key(each.customer) not in clients]
    if customers := {each.customer for each in strangers}:
        match = "customer matches" if len(customers) == 1 else "customers match"
        amount = sum(each.amount for each in strangers) / 100
        warn(
            f"{len(customers):,} {match} no client, {amount:,.2f} in all; name them in the settings.",
            IncompleteDataWarning,
        )
    lost = [each for each in rows if each.matched_by == "none" and each.number]
    if lost:
        amount = sum(each.amount for each in lost) / 100
        name = "payment names" if len(lost) == 1 else "payments name"
        warn(
            f"{len(lost):,} {name} an invoice that was not passed, {amount:,.2f} in all; this money counts for the "
            "client only.",
            IncompleteDataWarning,
        )


def _frame(rows: Sequence[_Event], clients: ClientNames, ledger: pd.DataFrame, names: LedgerSettings) -> pd.DataFrame:
    table = [_row(each, clients, names) for each in rows]
    frame = pd.DataFrame(table, columns=list(_COLUMNS), dtype=object)
    for name in (*_INVOICE, "customer", "reference", "account"):
        frame[name] = frame[name].astype("datetime64[us]" if name == "invoice_date" else "str")
    for name in ("amount", "fee_amount", "expense_amount", "tax_amount"):
        frame[name] = frame[name].astype(float)
    frame["payment_date"] = frame["payment_date"].astype("datetime64[us]")
    frame["kind"] = pd.Categorical(frame["kind"], PAYMENT_KINDS)
    frame["matched_by"] = pd.Categorical(frame["matched_by"], _MATCHED_BY)
    frame = frame.astype({"from_trust": bool, "ledger_row": "int64"})
    about = ledger.attrs["ledger"]
    frame.attrs["payments"] = {name: about[name] for name in ("file", "start", "end")}
    return frame


def _row(event: _Event, clients: ClientNames, names: LedgerSettings) -> dict[str, Any]:
    invoice = event.invoice.columns if event.invoice is not None else {}
    client = clients.client(clients.key(event.customer)) or (None, None)
    account = event.row["split"] if event.row["account"] is None else event.row["account"]
    return {
        "payment_date": event.date,
        "kind": event.kind,
        **{name: invoice.get(name) for name in _INVOICE},
        **({} if invoice else {"client_id": client[0], "client_name": client[1]}),
        "customer": event.customer,
        "amount": event.amount / 100,
        **{f"{_NAMES[part]}_amount": event.parts[part] / 100 for part in PARTS if event.parts},
        "matched_by": event.matched_by,
        "reference": None if event.matched_by == "line" else event.row["number"],
        "account": account,
        "from_trust": bool({event.row["account"], event.row["split"]} & {*names.trust_accounts}),
        "ledger_row": event.row["row"],
    }


_NAMES = {"tax": "tax", "expenses": "expense", "fees": "fee"}


def check_payments(payments: Any) -> pd.DataFrame:
    """Return the frame of `payments`; refuse other arguments."""
    if not isinstance(payments, pd.DataFrame) or not {*_COLUMNS} <= {*payments.columns}:
        given = "missing" if payments is None else type_in_words(payments)
        raise ParameterError(f"payments is {given}; pass the frame that payments() or book.payments() returns.")
    return payments


def payment_gaps(payments: pd.DataFrame, invoices: IntoFrame, *, as_of: DateLike) -> pd.DataFrame:
    """
    List final invoices whose payments and credits are not the settled part of their amount.

    Parameters
    ----------
    payments : DataFrame
        From `payments`, since the first invoice.
    invoices : frame
        With `invoice_id`, `invoice_state`, `invoice_date`, `client_name`, `amount` and `balance`; optionally with
        `invoice_number`.
    as_of : str or date
        The last day of invoices and payments that count, inclusive; balances are as loaded.

    Returns
    -------
    DataFrame
        One row per invoice with a gap, the largest first: `invoice_id`, `invoice_number`, `invoice_date`,
        `client_name`, `settled_amount` (of the payments), `expected_amount` (amount - balance) and `gap_amount`
        (expected - settled), as float64.

    Examples
    --------
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_number": ["1001"], "invoice_date": pd.to_datetime(["2026-10-05"]),
    ...     "invoice_state": ["final"], "client_name": ["Acme"], "amount": [1000.0], "balance": [400.0],
    ... })
    >>> none = pd.DataFrame(columns=list(_COLUMNS))
    >>> payment_gaps(none, invoices, as_of="2026-10-31")[["invoice_number", "expected_amount", "gap_amount"]]
      invoice_number  expected_amount  gap_amount
    0           1001            600.0       600.0
    """
    check_payments(payments)
    day = pd.Timestamp(read_date(as_of, "as_of"))
    frames = Frames.of(invoices=invoices)
    needed = ("invoice_id", "invoice_state", "invoice_date", "client_name", "amount", "balance")
    rows = to_dicts(collect(frames.select("invoices", needed, ("invoice_number",))))
    counted = payments[(payments["payment_date"] <= day) & payments["invoice_id"].notna()]
    settled = (counted["amount"].astype(float) * 100).round().groupby(counted["invoice_id"]).sum().to_dict()
    gaps = []
    for row in rows:
        if row["invoice_state"] != "final" or row["invoice_date"] is None or row["invoice_date"] > day:
            continue
        expected, paid = round((row["amount"] - row["balance"]) * 100), round(settled.get(row["invoice_id"], 0.0))
        if expected != paid:
            columns = {name: row.get(name) for name in ("invoice_id", "invoice_number", "invoice_date", "client_name")}
            money = {"settled_amount": paid, "expected_amount": expected, "gap_amount": expected - paid}
            gaps.append(columns | {name: each / 100 for name, each in money.items()})
    gaps.sort(key=lambda row: (-abs(row["gap_amount"] or 0.0), row["invoice_date"], row["invoice_id"]))
    names = [*("invoice_id", "invoice_number", "invoice_date", "client_name"), "settled_amount", "expected_amount"]
    frame = pd.DataFrame(gaps, columns=[*names, "gap_amount"])
    types = dict.fromkeys(("invoice_id", "invoice_number", "client_name"), "str") | {"invoice_date": "datetime64[us]"}
    return frame.astype(types | dict.fromkeys(("settled_amount", "expected_amount", "gap_amount"), "float64"))
