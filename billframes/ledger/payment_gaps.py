"""Payment gaps: invoices whose payments and credits are not the settled part of their amount."""

from __future__ import annotations

import pandas as pd
from narwhals.stable.v2.typing import IntoFrame

from billframes.analysis.data.arguments import read_date
from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.analysis.data.engine import collect, to_dicts
from billframes.analysis.rules.payments import check_payments, note_payments
from billframes.config.firm import FirmSettings
from billframes.periods import DateLike, Period

_TYPES = {"invoice_id": "str", "invoice_number": "str", "invoice_date": "datetime64[us]", "client_name": "str"}
_TYPES |= dict.fromkeys(("settled_amount", "expected_amount", "gap_amount"), "float64")


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

    Warns
    -----
    IncompleteDataWarning
        The payments begin after the first invoice, or end before `as_of`.

    Examples
    --------
    >>> invoices = pd.DataFrame({
    ...     "invoice_id": ["i1"], "invoice_number": ["1001"], "invoice_date": pd.to_datetime(["2026-10-05"]),
    ...     "invoice_state": ["final"], "client_name": ["Acme"], "amount": [1000.0], "balance": [400.0],
    ... })
    >>> from billframes.analysis.rules.payments import PAYMENT_COLUMNS
    >>> none = pd.DataFrame(columns=list(PAYMENT_COLUMNS))
    >>> payment_gaps(none, invoices, as_of="2026-10-31")[["invoice_number", "expected_amount", "gap_amount"]]
      invoice_number  expected_amount  gap_amount
    0           1001            600.0       600.0
    """
    check_payments(payments)
    day = pd.Timestamp(read_date(as_of, "as_of"))
    call = Call(Data(invoices=invoices), "payment_gaps")
    needed = ("invoice_id", "invoice_state", "invoice_date", "client_name", "amount", "balance")
    rows = to_dicts(collect(call.select("invoices", needed, ("invoice_number",))))
    counted = payments[(payments["payment_date"] <= day) & payments["invoice_id"].notna()]
    settled = (counted["amount"].astype(float) * 100).round().groupby(counted["invoice_id"]).sum().to_dict()
    dates = [row["invoice_date"] for row in rows if row["invoice_state"] == "final" and row["invoice_date"] is not None]
    first = min(dates, default=None)
    note_payments(call, payments, Period(first and first.date(), day.date()), None, FirmSettings())
    gaps = []
    for row in rows:
        if row["invoice_state"] != "final" or row["invoice_date"] is None or row["invoice_date"] > day:
            continue
        expected, paid = round((row["amount"] - row["balance"]) * 100), round(settled.get(row["invoice_id"], 0.0))
        if expected != paid:
            columns = {name: row.get(name) for name in [*_TYPES][:4]}
            money = {"settled_amount": paid, "expected_amount": expected, "gap_amount": expected - paid}
            gaps.append(columns | {name: each / 100 for name, each in money.items()})
    gaps.sort(key=lambda row: (-abs(row["gap_amount"] or 0.0), row["invoice_date"], row["invoice_id"]))
    call.notes.finish()
    return pd.DataFrame(gaps, columns=[*_TYPES]).astype(_TYPES)
