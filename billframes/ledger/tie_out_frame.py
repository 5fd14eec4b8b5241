"""The rows of a tie-out as a frame, and its sums by reason or client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from billframes.ledger.invoice_matching import MATCHED_BY
from billframes.ledger.tie_out_rows import REASONS, TieOutRow

_DIFFERENCES = ("difference_amount", "billed_difference_amount", "settled_difference_amount")
_MONEY = ("amount", "ledger_amount", "balance", "ledger_balance", *_DIFFERENCES)
TOTALS = ("balance", "ledger_balance", "difference_amount")


def tie_out_frame(rows: Sequence[TieOutRow]) -> pd.DataFrame:
    """Return the frame of the rows, in dollars."""
    return pd.DataFrame([_cells(row) for row in rows], columns=[*_TYPES], dtype=object).astype(_TYPES)


def _cells(row: TieOutRow) -> tuple[Any, ...]:
    """Return the values of a row's columns."""
    ours, theirs = row.ours.get, row.theirs.get
    client_id, client_name = row.client or (None, None)
    money = (row.amount, row.ledger_amount, row.balance, row.ledger_balance, row.difference, row.billed, row.settled)
    return (
        *(ours("invoice_number") or theirs("number"), ours("invoice_id"), ours("client_id") or client_id),
        *(ours("client_name") or client_name, theirs("customer"), ours("invoice_date"), theirs("date")),
        *(ours("invoice_state"), row.reason, row.matched_by),
        *(None if each is None else each / 100 for each in money),
        *(", ".join(row.also) or None, row.group, theirs("row")),
    )


_DAY = "datetime64[us]"
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("invoice_number", "invoice_id", "client_id", "client_name", "customer"), "str"),
    "invoice_date": _DAY,
    "ledger_date": _DAY,
    "invoice_state": "str",
    "reason": pd.CategoricalDtype([*REASONS], ordered=True),
    "matched_by": pd.CategoricalDtype([*MATCHED_BY]),
    **dict.fromkeys(_MONEY, float),
    "also": "str",
    "group": "Int64",
    "ledger_rows": "Int64",
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
    halves = frame[both].assign(reason=pd.Categorical(second[both], [*REASONS], ordered=True), balance=0.0)
    halves["ledger_balance"] = 0.0
    first = frame.assign(difference_amount=frame["difference_amount"].mask(both, _part_of(frame)))
    halves["difference_amount"] = _part_of(halves)
    return pd.concat([first, halves], ignore_index=True)


def _part_of(frame: pd.DataFrame) -> pd.Series[float]:
    is_amount = frame["reason"] == "amount_differs"
    return frame["billed_difference_amount"].where(is_amount, frame["settled_difference_amount"])
