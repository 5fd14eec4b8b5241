"""The ledger frame: the columns that every report of the books gives, and what analyses read of it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from billframes._shared.names import type_in_words
from billframes.analysis.data.native import without_attrs
from billframes.errors import LedgerError, ParameterError
from billframes.ledger.reports import ROW_KINDS, TYPES, Report
from billframes.ledger.transactions_and_totals import Transaction

_DAY = "datetime64[us]"
_TYPES: dict[str, Any] = {
    "row": np.int64,
    "kind": pd.CategoricalDtype([*ROW_KINDS]),
    "type": "str",
    "date": _DAY,
    "due_date": _DAY,
    "number": "str",
    "customer": "str",
    "amount": float,
    "open_balance": float,
    "invoice_number": "str",
    "item": "str",
    "account": "str",
    "split": "str",
    "class": "str",
    "location": "str",
    "currency": "str",
    "voided": bool,
    "transaction_id": "str",
}
COLUMNS = tuple(_TYPES)
"""The columns of a ledger frame."""

_VOIDED = {"memo": re.compile("void", re.IGNORECASE), "status": re.compile("void|deleted", re.IGNORECASE)}
_PAY = ("payment", "refund")
# Xero writes "Payment: " before the contact.
_CONTACT = re.compile(r"^(Payment|Refund|Credit note): ")


def ledger_frame(
    report: Report, transactions: Iterable[Transaction], about: Mapping[str, Any], *, texts: bool
) -> pd.DataFrame:
    """Make the frame of a report's transactions."""
    rows = [_row(report, each, about) for each in transactions]
    frame = frame_of(rows, about, ("memo", "description") if texts else ())
    if not frame["open_balance"].isna().all():
        # The report leaves out the open balance of what is paid.
        frame["open_balance"] = frame["open_balance"].fillna(0.0)
    return frame


def frame_of(rows: list[dict[str, Any]], about: Mapping[str, Any], texts: tuple[str, ...] = ()) -> pd.DataFrame:
    """Make a ledger frame of rows, with the columns that they lack as missing."""
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *texts], dtype=object)
    frame = frame.astype(_TYPES | dict.fromkeys(texts, "str"))
    # As text, because pandas writes attrs into Parquet files as JSON.
    frame.attrs["ledger"] = {
        name: each.isoformat() if isinstance(each, dt.date) else each for name, each in about.items()
    }
    return frame


def _row(report: Report, transaction: Transaction, about: Mapping[str, Any]) -> dict[str, Any]:
    cells = transaction.cells
    money = {name: None if value is None else value / 100 for name, value in transaction.money.items()}
    amount, opened = _amount(money), money.get("open_balance")
    kind = _kind(cells, amount if amount is not None else opened)
    if report.payments_positive and amount:
        amount = -amount if kind == "payment" else -abs(amount) if kind == "credit" else amount
    number = _text(cells.get("number"))
    # A credit note has its own number.
    states_invoice = kind == "invoice" and about["basis"] == "cash" if report.payments == "line" else kind in _PAY
    return {
        "row": transaction.row,
        "kind": kind,
        "date": transaction.date,
        "due_date": transaction.due_date if kind == "invoice" else None,
        "number": number,
        "customer": _customer(report, transaction),
        "amount": amount,
        "open_balance": opened,
        "invoice_number": number if report.payments in ("line", "number") and states_invoice else None,
        "account": (report.groups == "account" and ":".join(transaction.groups)) or cells.get("account"),
        "voided": any(pattern.match(str(cells.get(name) or "")) for name, pattern in _VOIDED.items()),
        **{name: _text(cells.get(name)) for name in ("type", "item", "split", "class", "location", "currency")},
        **{name: _text(cells.get(name)) for name in ("memo", "description")},
    }


def _amount(money: Mapping[str, float | None]) -> float | None:
    if "debit" in money:
        return round((money["debit"] or 0) - (money["credit"] or 0), 2)
    return money.get("amount")


def _kind(cells: Mapping[str, Any], amount: float | None) -> str:
    """Return the kind of a transaction; by the sign of its amount in reports without types."""
    if "type" in cells:
        return TYPES.get(str(cells["type"] or "").casefold(), "other")
    return "credit" if (amount or 0) < 0 else "invoice"


def _customer(report: Report, transaction: Transaction) -> str | None:
    named = _text(transaction.cells.get("customer"))
    if named is not None:
        return _CONTACT.sub("", named)
    return ":".join(transaction.groups) if report.groups == "customer" and transaction.groups else None


def _text(value: Any) -> str | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else str(value)


def stated_about(ledger: Any, name: str) -> dict[str, Any]:
    """Return what is known about the report of a ledger frame; refuse other arguments."""
    if not isinstance(ledger, pd.DataFrame) or "ledger" not in ledger.attrs:
        given = "missing" if ledger is None else type_in_words(ledger)
        raise ParameterError(f"{name} is {given}; pass the frame that bf.read_ledger returns.")
    return dict(ledger.attrs["ledger"])


def same_company(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse reports of two companies."""
    if None not in (one["company"], other["company"]) and one["company"] != other["company"]:
        raise LedgerError(f"{one['file']} and {other['file']} are of two companies; pass those of one.")


def ledger_rows(ledger: pd.DataFrame, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """
    Return the rows of a ledger frame as dicts of some columns, by default all; None is missing.

    Of a report of several accounts, only those of receivables count: the others repeat the same entries.
    """
    about = ledger.attrs["ledger"]
    plain = without_attrs(ledger)[[*(columns or ledger.columns)]]
    rows: list[dict[str, Any]] = pa.Table.from_pandas(plain, preserve_index=False).to_pylist()
    accounts = {row["account"] for row in rows} if about["by_account"] else set()
    if len(accounts) > 1:
        owed = {each for each in accounts if each and "receivable" in each.casefold()}
        if not owed:
            raise LedgerError(
                f"{about['file']} lists {len(accounts)} accounts, and none is called receivable; export "
                "Accounts Receivable only."
            )
        rows = [row for row in rows if row["account"] in owed]
    return rows
