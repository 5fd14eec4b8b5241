"""The frame of `payments`: its columns, the payments of a period, and whether they are all there, and once."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd

from billframes._shared.format import long_span
from billframes._shared.names import type_in_words
from billframes._shared.notes import Rule
from billframes.analysis.data.call import Call
from billframes.analysis.data.data_span import covers
from billframes.analysis.data.engine import collect, to_dicts
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import attached, load_day
from billframes.periods import Period

INVOICE = ("invoice_id", "invoice_number", "invoice_date", "client_id", "client_name")
PAYMENT_KINDS = ("cash", "credit", "write_off", "discount", "journal")
_MATCHED_BY = ("link", "link, shared", "line", "number", "only", "amount", "oldest", "none", "unapplied")
_DAY = "datetime64[us]"
PAYMENT_TYPES: dict[str, Any] = {
    "payment_date": _DAY,
    "kind": pd.CategoricalDtype([*PAYMENT_KINDS]),
    **dict.fromkeys((*INVOICE, "customer"), "str"),
    **dict.fromkeys(("amount", "fee_amount", "expense_amount", "tax_amount"), float),
    "matched_by": pd.CategoricalDtype([*_MATCHED_BY]),
    "reference": "str",
    "account": "str",
    "from_trust": bool,
    "ledger_row": "int64",
}
PAYMENT_TYPES["invoice_date"] = _DAY
PAYMENT_COLUMNS = tuple(PAYMENT_TYPES)
SHORT_PAYMENTS = Rule(
    name="short_payments",
    seen="The payments are those of {span}, not of the whole period: cash of other days is not counted.",
    remedy="Export the report for the whole period, or choose a period within.",
    page="Export the payments of the whole period.",
    unit="frames",
)
DOUBLED_PAYMENTS = Rule(
    name="doubled_payments",
    seen="{payments} {payments:payment is|payments are} there twice, {amount:,.2f} in all, and {invoices} "
    "{invoices:invoice is|invoices are} paid with more than {invoices:its amount|their amounts}.",
    causes="If two reports with days in common were put together, their cash counts twice.",
    remedy="Pass the payments of one report, or of reports without a day in common.",
    page="Ask the bookkeeper whether the payments were recorded twice.",
    unit="money",
)
_CENT, _OF_INVOICES = 0.01, ("invoice_id", "amount")


def check_payments(payments: Any) -> pd.DataFrame:
    """Return the frame of `payments`; refuse other arguments."""
    if not isinstance(payments, pd.DataFrame) or not {*PAYMENT_COLUMNS} <= {*payments.columns}:
        given = "missing" if payments is None else type_in_words(payments)
        raise ParameterError(f"payments is {given}; pass the frame that payments() or book.payments() returns.")
    return payments


def payments_in(payments: pd.DataFrame, period: Period, basis: str, day: dt.date | None) -> pd.DataFrame:
    """Return the payments of a period by one of their dates, up to a day."""
    counted = pd.Series(True, index=payments.index)
    for name, first, last in ((basis, period.start, period.end), ("payment_date", None, day)):
        if first is not None:
            counted &= payments[name] >= pd.Timestamp(first)
        if last is not None:
            counted &= payments[name] <= pd.Timestamp(last)
    return payments[counted]


def short_payments(payments: pd.DataFrame | None, start: dt.date | None, end: dt.date | None) -> str:
    """Return the days of payments that don't cover a period; empty if they do, or if their days are not known."""
    days = Period.stated(attached(payments, "payments") or {})
    begun = start is None or covers(days.start, start)
    late = days.end is not None and end is not None and end > days.end
    return long_span(days) if late or not begun else ""


def note_payments(
    call: Call, payments: pd.DataFrame, period: Period, day: dt.date | None, settings: FirmSettings
) -> None:
    """Note payments of a part of the period only, as far as it has passed, and payments that are there twice."""
    loaded = load_day(call.natives["invoices"], settings.time_zone)
    end = min((each for each in (period.end, day, loaded) if each is not None), default=None)
    span = short_payments(payments, period.start, end)
    call.notes.add(SHORT_PAYMENTS, float(bool(span)), span=span)
    _note_doubled_payments(call, payments)


def _note_doubled_payments(call: Call, payments: pd.DataFrame) -> None:
    """Note equal payments of invoices that, with them, are paid with more than their amount."""
    paid = payments[payments["invoice_id"].notna()]
    doubled = paid[paid.duplicated(["payment_date", "kind", "invoice_id", "amount", "reference"])]
    doubled = doubled[doubled["amount"] > 0]
    if doubled.empty:
        return
    amounts = {row["invoice_id"]: row["amount"] for row in to_dicts(collect(call.select("invoices", _OF_INVOICES)))}
    settled = paid.groupby("invoice_id")["amount"].sum()
    above = [each for each, total in settled.items() if total > (amounts.get(each) or total) + _CENT]
    doubled = doubled[doubled["invoice_id"].isin(above)]
    invoices = doubled["invoice_id"].nunique()
    call.notes.add(DOUBLED_PAYMENTS, float(doubled["amount"].sum()), payments=len(doubled), invoices=invoices)
