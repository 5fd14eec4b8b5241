"""The rows of a tie-out as a frame, and its sums by reason or client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes.analysis.model.invoice_matching import MATCHED_BY
from billframes.analysis.model.tie_out_rows import REASONS, TieOutRow

_DIFFERENCES = ("difference_amount", "billed_difference_amount", "settled_difference_amount")
_MONEY = ("amount", "ledger_amount", "balance", "ledger_balance", *_DIFFERENCES)
TOTALS = ("balance", "ledger_balance", "difference_amount")


def tie_out_frame(rows: Sequence[TieOutRow]) -> pd.DataFrame:
    """Return the frame of the rows, in dollars."""
    cells: dict[str, list[Any]] = {
        "invoice_number": [row.ours.get("invoice_number") or row.theirs.get("number") for row in rows],
        "invoice_id": [row.ours.get("invoice_id") for row in rows],
        "client_id": [row.ours.get("client_id") or (row.client or (None,))[0] for row in rows],
        "client_name": [row.ours.get("client_name") or (row.client or (None, None))[1] for row in rows],
        "customer": [row.theirs.get("customer") for row in rows],
        "invoice_date": [row.ours.get("invoice_date") for row in rows],
        "ledger_date": [row.theirs.get("date") for row in rows],
        "invoice_state": [row.ours.get("invoice_state") for row in rows],
        "reason": [row.reason for row in rows],
        "matched_by": [row.matched_by for row in rows],
    }
    frame = pd.DataFrame({name: pd.Series(values, dtype=_DTYPES.get(name, "str")) for name, values in cells.items()})
    amounts = ("amount", "ledger_amount", "balance", "ledger_balance", "difference", "billed", "settled")
    for name, attribute in zip(_MONEY, amounts, strict=True):
        values = [getattr(row, attribute) for row in rows]
        frame[name] = pd.Series([None if each is None else each / 100 for each in values], dtype=float)
    frame["also"] = pd.Series([", ".join(row.also) or None for row in rows], dtype="str")
    frame["group"] = pd.Series([row.group for row in rows], dtype="Int64")
    frame["ledger_rows"] = pd.Series([row.theirs.get("row") for row in rows], dtype="Int64")
    return frame


_DTYPES: dict[str, Any] = {
    "invoice_date": "datetime64[us]",
    "ledger_date": "datetime64[us]",
    "reason": pd.CategoricalDtype([*REASONS], ordered=True),
    "matched_by": pd.CategoricalDtype([*MATCHED_BY]),
}


def add_up_reasons(frame: pd.DataFrame, by: str = "reason") -> pd.DataFrame:
    """Add up the rows of a tie-out by reason or client."""
    money = list(TOTALS)
    keys = ["reason"]
    if by == "client":
        keys = ["client_id", "client_name"]
        # What belongs to no client is shown by its customer.
        frame = frame.assign(client_name=frame["client_name"].fillna(frame["customer"]))
    else:
        frame = _with_second_reasons(frame)
    frame = frame.assign(rows=1, **{name: (frame[name] * 100).round() for name in money})
    added = frame.groupby(keys, observed=True, dropna=False)[["rows", *money]].sum().reset_index()
    added = added.assign(**{name: added[name] / 100 for name in money})
    added.attrs = {"tie_out": frame.attrs.get("tie_out")}
    return added


def _with_second_reasons(frame: pd.DataFrame) -> pd.DataFrame:
    """Divide rows whose amount and payments both differ into a row for each reason."""
    second = frame["also"].str.extract(r"(amount_differs|paid_in_ledger|paid_here)", expand=False)
    both = second.notna()
    halves = frame[both].assign(reason=pd.Categorical(second[both], REASONS, ordered=True), balance=0.0)
    halves["ledger_balance"] = 0.0
    first = frame.assign(difference_amount=frame["difference_amount"].mask(both, _part_of(frame)))
    halves["difference_amount"] = _part_of(halves)
    return pd.concat([first, halves], ignore_index=True)


def _part_of(frame: pd.DataFrame) -> pd.Series[float]:
    is_amount = frame["reason"] == "amount_differs"
    return frame["billed_difference_amount"].where(is_amount, frame["settled_difference_amount"])
