"""The frame of `payments`: its columns, the payments of a period, and whether they are all there, and once."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd

from billframes._shared.format import long_span
from billframes._shared.names import type_in_words
from billframes._shared.notes import Count, Rule
from billframes.analysis.data.between import UNLIKE_INVOICE
from billframes.analysis.data.call import Call
from billframes.analysis.data.data_span import covers
from billframes.analysis.data.engine import to_arrow
from billframes.analysis.rules.loads import has_removed_rows
from billframes.config.firm import FirmSettings
from billframes.errors import ParameterError
from billframes.loading.load_info import attached, load_day, load_info
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
    seen="{payments} {payments:payment is|payments are} there twice, {amount:,.2f} in all{above}.",
    causes="If two reports with days in common were put together, their cash counts twice.",
    remedy="Pass the payments of one report, or of reports without a day in common.",
    page="Ask the bookkeeper whether the payments were recorded twice.",
    unit="money",
)
_ABOVE = ", and {invoices} {invoices:invoice is|invoices are} paid with more than {invoices:its amount|their amounts}"
UNKNOWN_PAID = Rule(
    name="unknown_paid",
    seen="{payments} {payments:payment names an invoice that is|payments name invoices that are} not among those "
    "{passed}, {amount:,.2f} in all.",
    causes="They may be another firm's, or the invoices may have been deleted.",
    remedy="Pass the payments and all invoices of one firm.",
    page="Look for these invoices in the billing system: they may have been deleted.",
    unit="money",
)
_CENT = 0.01


def check_payments(payments: Any) -> pd.DataFrame:
    """Return the frame of `payments`; refuse other arguments."""
    if not isinstance(payments, pd.DataFrame) or not {*PAYMENT_COLUMNS} <= {*payments.columns}:
        given = "missing" if payments is None else type_in_words(payments)
        raise ParameterError(f"payments is {given}; pass the frame that payments() or book.payments() returns.")
    return payments


def payments_in(payments: pd.DataFrame, period: Period, basis: str, day: dt.date | None) -> pd.DataFrame:
    """Return the payments of a period by one of their dates, up to a day."""
    return payments[is_in(payments[basis], period.start, period.end) & is_in(payments["payment_date"], None, day)]


def is_in(dates: pd.Series[Any], first: dt.date | None, last: dt.date | None) -> pd.Series[Any]:
    """Return whether each date is between two days; None is open."""
    counted = pd.Series(True, index=dates.index)
    if first is not None:
        counted &= dates >= pd.Timestamp(first)
    return counted if last is None else counted & (dates <= pd.Timestamp(last))


def short_payments(payments: pd.DataFrame | None, start: dt.date | None, end: dt.date | None) -> str:
    """Return the days of payments that don't cover a period; empty if they do, or if their days are not known."""
    days = Period.stated(attached(payments, "payments") or {})
    begun = start is None or covers(days.start, start)
    late = days.end is not None and end is not None and end > days.end
    return long_span(days) if late or not begun else ""


def note_payments(
    call: Call, payments: pd.DataFrame, period: Period, day: dt.date | None, settings: FirmSettings
) -> None:
    """Note payments of a part of the period so far only, payments that are there twice, and those of other invoices."""
    loaded = load_day(call.natives["invoices"], settings.time_zone)
    end = min((each for each in (period.end, day, loaded) if each is not None), default=None)
    span = short_payments(payments, period.start, end)
    call.notes.add(SHORT_PAYMENTS, float(bool(span)), span=span)
    # These columns are compared, and no figure is made of them.
    rows, _ = call.data.table("invoices").select(("invoice_id",), ("client_id", "invoice_date", "amount"))
    invoices = to_arrow(rows).to_pandas().drop_duplicates("invoice_id").set_index("invoice_id")
    _note_doubled(call, payments, invoices)
    _note_other_invoices(call, payments[payments["invoice_id"].notna()], invoices)


def _note_doubled(call: Call, payments: pd.DataFrame, invoices: pd.DataFrame) -> None:
    """Note equal rows, and equal payments of invoices that, with them, are paid with more than their amount."""
    payments = payments.reset_index(drop=True)
    paid = payments.groupby("invoice_id")["amount"].sum()
    amounts = invoices["amount"].reindex(paid.index) if "amount" in invoices else paid
    above = paid.index[paid > amounts + _CENT]
    twice = payments.duplicated(["payment_date", "kind", "invoice_id", "amount", "reference"])
    is_above = twice & payments["invoice_id"].isin(above)
    doubled = payments[(is_above | payments.duplicated([*PAYMENT_COLUMNS])) & (payments["amount"] > 0)]
    number = Count(doubled["invoice_id"][is_above].nunique())
    words = {"payments": len(doubled), "above": _ABOVE.format(invoices=number) if number else ""}
    call.notes.add(DOUBLED_PAYMENTS, float(doubled["amount"].sum()), **words)


def _note_other_invoices(call: Call, paid: pd.DataFrame, invoices: pd.DataFrame) -> None:
    """Note payments whose invoice is not among a whole load, or has another client or date than they say."""
    info = load_info(call.natives["invoices"])
    is_whole = info is not None and not info.arguments and not has_removed_rows(call.natives["invoices"])
    is_there = paid["invoice_id"].isin(invoices.index)
    if is_whole or (info is None and len(invoices) and not is_there.any()):
        dates = invoices.get("invoice_date", pd.Series(dtype=_DAY))
        first, last = (info.start, info.end) if info else (dates.min(), dates.max())
        absent = paid[~is_there & is_in(paid["invoice_date"], first, last)]
        call.notes.add(UNKNOWN_PAID, float(absent["amount"].abs().sum()), payments=len(absent))
    known = paid[is_there]
    for column in ("client_id", "invoice_date"):
        if column in invoices:
            value = invoices[column].reindex(known["invoice_id"]).set_axis(known.index)
            asked = value.notna() & known[column].notna()
            wrong = int((asked & (value.astype(known[column].dtype) != known[column])).sum())
            words = {"column": f"`{column}`", "all": int(asked.sum()), "few": ""}
            call.notes.add(UNLIKE_INVOICE, wrong, "payments", about=f"payments {column}", **words)
