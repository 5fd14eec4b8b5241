"""Make a ledger frame from objects of QuickBooks Online's API, which state the invoices that each payment pays."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pandas as pd

from billframes._shared.limits import checked_number
from billframes._shared.names import type_in_words
from billframes.errors import LedgerError
from billframes.ledger.frame import frame_of
from billframes.ledger.owed_invoices import spread

_KINDS = {"CreditMemo": "credit", "JournalEntry": "journal"}


def ledger_from_quickbooks(
    payments: Iterable[Any],
    invoices: Iterable[Any],
    credit_memos: Iterable[Any] = (),
    journal_entries: Iterable[Any] = (),
) -> pd.DataFrame:
    """
    Make a ledger frame of payments and the credits that they apply, with the invoices that these pay.

    Parameters
    ----------
    payments, invoices, credit_memos, journal_entries : iterable of dict
        Objects of QuickBooks Online's API, as dicts or as objects with `to_dict()`; or the whole answers of queries,
        such as `{"QueryResponse": {"Payment": […]}}`.

    Returns
    -------
    DataFrame
        One row per amount on an invoice, with the columns of `read_ledger`. `amount` is negative, and
        `invoice_number` is the number of the invoice; it is missing for money on no invoice. If a payment applies a
        credit to several invoices, cash and credit are divided in proportion, and `attrs["ledger"]["shared"]` has the
        rows.

    Raises
    ------
    LedgerError
        The lines of a payment don't add up to its amount and credits, an invoice is missing, or an object lacks a part.

    Examples
    --------
    >>> invoice = {"Id": "145", "DocNumber": "1001"}
    >>> line = {"Amount": 600.0, "LinkedTxn": [{"TxnId": "145", "TxnType": "Invoice"}]}
    >>> payment = {
    ...     "Id": "163", "TxnDate": "2026-09-21", "TotalAmt": 650.0, "UnappliedAmt": 50.0,
    ...     "CustomerRef": {"name": "Juniper Hall"}, "Line": [line],
    ... }
    >>> ledger_from_quickbooks([payment], [invoice])[["kind", "invoice_number", "amount"]]
          kind invoice_number  amount
    0  payment           1001  -600.0
    1  payment            NaN   -50.0
    """
    numbers = {each.get("Id"): each.get("DocNumber") for each in _objects(invoices, "Invoice")}
    credits_given = (*_objects(credit_memos, "CreditMemo"), *_objects(journal_entries, "JournalEntry"))
    memos = {each.get("Id"): each for each in credits_given}
    rows: list[dict[str, Any]] = []
    shared: list[int] = []
    for payment in _objects(payments, "Payment"):
        try:
            found = list(_rows(payment, numbers, memos))
        except LedgerError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise LedgerError(f"Payment {payment.get('Id')} can't be read: {type(error).__name__}: {error}.") from error
        for row, is_shared in found:
            rows.append({"row": len(rows) + 1, "voided": False, **row})
            shared += [len(rows)] if is_shared else []
    days = [row["date"] for row in rows]
    about = {
        "report": "quickbooks",
        "file": "QuickBooks",
        "company": None,
        "as_of": None,
        "start": min(days, default=None),
        "end": max(days, default=None),
        "basis": None,
        "open_items": False,
        "history": False,
        "by_account": False,
        "payments": "link",
        "shared": shared,
    }
    return frame_of(rows, about)


def _objects(given: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of one kind in a list, in the answer of a query, or in a list of answers."""
    if given is None or isinstance(given, str | bytes):
        raise LedgerError(f"The {kind} objects are {type_in_words(given)}; pass a list of dicts, as json.load returns.")
    for each in _as_list(given):
        thing = _as_dict(each, kind)
        answer = thing.get("QueryResponse", thing)
        if not isinstance(answer, Mapping) or isinstance(answer.get("Id"), str | int):
            yield _with_id(thing, kind)
        elif kind in answer:
            yield from (_with_id(_as_dict(one, kind), kind) for one in _as_list(answer[kind]))
        elif answer is thing or any(isinstance(value, list) for value in answer.values()):
            # The answer of a query without results has no lists.
            _with_id(dict(answer), kind)


def _as_list(given: Any) -> Iterable[Any]:
    return [given] if isinstance(given, Mapping) or hasattr(given, "to_dict") else given


def _with_id(thing: dict[str, Any], kind: str) -> dict[str, Any]:
    if not isinstance(thing.get("Id"), str | int):
        has = ", ".join(map(str, thing)) or "nothing"
        raise LedgerError(f"A {kind} object has no Id, but {has:.200}; pass the list of {kind} objects.")
    return thing


def _as_dict(thing: Any, kind: str) -> dict[str, Any]:
    if isinstance(thing, Mapping):
        return dict(thing)
    if not hasattr(thing, "to_dict"):
        raise LedgerError(f"The {kind} objects have {type_in_words(thing)}; pass dicts, or objects with to_dict().")
    return dict(thing.to_dict())


def _cents(value: Any) -> int:
    return round(checked_number(float(value) if isinstance(value, str | Decimal) else value or 0) * 100)


def _rows(
    payment: Mapping[str, Any], numbers: Mapping[Any, str | None], memos: Mapping[Any, Mapping[str, Any]]
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the rows of a payment, and whether cash and credits on several invoices were divided in proportion."""
    owed, applied = _links(payment)
    cash = _cents(payment["TotalAmt"]) - _cents(payment.get("UnappliedAmt"))
    if sum(owed.values()) != cash + sum(applied.values()):
        raise LedgerError(
            f"Payment {payment['Id']} applies {sum(owed.values()) / 100:,.2f} to invoices, but has "
            f"{cash / 100:,.2f} in cash and {sum(applied.values()) / 100:,.2f} in credits."
        )
    if unknown := [key for key in owed if key not in numbers]:
        raise LedgerError(f"Payment {payment['Id']} pays the invoice {unknown[0]}, which was not passed.")
    is_shared = len(owed) > 1 and bool(applied)
    for invoice, amount in spread(cash, owed).items():
        if amount:
            yield _row(payment, "payment", "Payment", -amount, numbers[invoice]), is_shared
    for (kind, key), whole in applied.items():
        for invoice, amount in spread(whole, owed).items():
            item = {"item": _item(memos.get(key, {})), "number": memos.get(key, {}).get("DocNumber")}
            if amount:
                row = _row(payment, _KINDS.get(kind, "other"), kind, -amount, numbers[invoice])
                yield row | {name: each for name, each in item.items() if each}, is_shared
    if rest := _cents(payment.get("UnappliedAmt")):
        yield _row(payment, "payment", "Payment", -rest, None), False


def _links(payment: Mapping[str, Any]) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """Return the amounts by invoice, and the amounts by kind and id of credit, in cents."""
    links: Counter[tuple[str, str]] = Counter()
    for line in payment.get("Line") or ():
        # A line has a link to an invoice, to a credit, or to both.
        for link in line.get("LinkedTxn") or ():
            links[link["TxnType"], link["TxnId"]] += _cents(line["Amount"])
    owed = {key: amount for (kind, key), amount in links.items() if kind == "Invoice"}
    return owed, {link: amount for link, amount in links.items() if link[0] != "Invoice"}


def _row(payment: Mapping[str, Any], kind: str, name: str, cents: int, invoice: str | None) -> dict[str, Any]:
    return {
        "kind": kind,
        "type": name,
        "date": dt.date.fromisoformat(payment["TxnDate"]),
        "number": payment.get("PaymentRefNum"),
        "customer": _name(payment.get("CustomerRef")),
        "amount": cents / 100,
        "invoice_number": invoice,
        "account": _name(payment.get("DepositToAccountRef")),
        "currency": (payment.get("CurrencyRef") or {}).get("value"),
        "transaction_id": payment["Id"],
    }


def _name(reference: Mapping[str, Any] | None) -> str | None:
    """Return the name that a reference has, or else the id; the API leaves out some names."""
    return (reference or {}).get("name") or (reference or {}).get("value")


def _item(credit: Mapping[str, Any]) -> str | None:
    """Return the product or service of a credit memo, or the account of a journal entry that is not receivables."""
    for line in credit.get("Line") or ():
        for detail in ("SalesItemLineDetail", "JournalEntryLineDetail"):
            found = line.get(detail) or {}
            reference = found.get("ItemRef") or found.get("AccountRef") or {}
            if reference.get("name") and "receivable" not in reference["name"].casefold():
                return str(reference["name"])
    return None
