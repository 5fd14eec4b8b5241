"""Mistakes in the frames of a cash forecast, and the sentences by which they are told: cases of `test_rules`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from billframes.analysis import cash_forecast
from tests.analysis.calls import Frames, many_invoices

__all__ = ["FORECAST_MISTAKES", "forecast"]

_WEEK = pd.Timedelta(weeks=1)


def forecast(change: Callable[[Frames], Frames] = dict, **options: Any) -> Callable[[Any], Any]:
    """Return a forecast of a made-up firm with a mirror of 60 weeks, whose frames are changed."""
    return lambda _firm: cash_forecast(**{"horizons": (8, 13), **change(dict(many_invoices())), **options})


def _end(frames: Frames) -> pd.Timestamp:
    return pd.Timestamp(frames["as_of"])


def _unpaid_for_long(frames: Frames) -> Frames:
    invoices = frames["invoices"]
    old = invoices["invoice_date"] < _end(frames) - 30 * _WEEK
    kept = invoices["balance"].where(~old | (invoices.index % 4 > 0), invoices["amount"])
    return frames | {"invoices": invoices.assign(balance=kept)}


def _one_large(frames: Frames) -> Frames:
    invoices = frames["invoices"].copy()
    place = invoices.index[invoices["balance"] > 0][-1]
    invoices.loc[place, ["amount", "balance"]] = 900_000.0
    return frames | {"invoices": invoices}


def _unpaid_lately(frames: Frames) -> Frames:
    """Return the frames of a firm whose clients have not paid for half a year."""
    late = frames["receipts"]["until"] > _end(frames) - 26 * _WEEK
    still = frames["receipts"][late].groupby("invoice_id")["fall_amount"].sum()
    invoices = frames["invoices"]
    owed = invoices["balance"] + invoices["invoice_id"].map(still).fillna(0.0)
    return frames | {"receipts": frames["receipts"][~late], "invoices": invoices.assign(balance=owed)}


def _gap(frames: Frames) -> Frames:
    receipts = frames["receipts"].copy()
    first = receipts["after"].min()
    early = receipts["until"] < first + 10 * _WEEK
    receipts.loc[early, "after"], receipts.loc[early, "until"] = first, first + 10 * _WEEK
    return frames | {"receipts": receipts}


def _overpaid(frames: Frames) -> Frames:
    receipts = frames["receipts"].copy()
    amounts = receipts["implied_receipt_amount"] > 0
    receipts.loc[amounts.idxmax(), ["fall_amount", "implied_receipt_amount"]] *= 3
    return frames | {"receipts": receipts}


def _written_off(frames: Frames) -> Frames:
    """Return the frames of a firm in which eight old invoices fell to 0 in one night."""
    receipts, day = frames["receipts"].assign(balance_after=1.0), _end(frames) - _WEEK
    old = frames["invoices"].sort_values("invoice_date")["invoice_id"].head(8)
    falls = {"fall_amount": 500.0, "adjusted_amount": 0.0, "implied_receipt_amount": 500.0, "balance_after": 0.0}
    row: Mapping[str, Any] = {"after": day - pd.Timedelta(days=1), "until": day, **falls}
    more = pd.DataFrame({"invoice_id": old}).assign(**row)
    rest = receipts[~receipts["invoice_id"].isin(old)]
    return frames | {"receipts": pd.concat([rest, more], ignore_index=True)}


FORECAST_MISTAKES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "unchecked_range": (
        forecast(lambda frames: frames | {"receipts": None, "since": None}),
        "The range has never been compared with what came in",
    ),
    "old_balances": (
        forecast(_unpaid_for_long),
        "of what was billed over half a year ago is still open. It may never be paid, or the data may begin with",
    ),
    "wide_range": (forecast(level=0.999), "is over three times its lower end"),
    "large_invoice": (forecast(_one_large), "are on one invoice, i"),
    "missed_forecasts": (
        forecast(_unpaid_lately),
        "The last forecasts of 8 weeks were too high, so the range is too narrow now. Clients may pay more slowly than",
    ),
    "rule_is_nearer": (
        forecast(_unpaid_lately),
        "For 8 weeks, 12 months’ billing was nearer to what came than the forecasts: off by",
    ),
    "no_work": (
        forecast(lambda frames: frames | {"time_entries": None}),
        "No time entries are passed, so only the cash of open invoices is forecast: cash_amount and its range are",
    ),
    "no_season": (forecast(horizons="months"), "Dec 2025, Jan 2026 were not yet seen twice"),
    "gaps_of_mirror": (forecast(_gap), "10 weeks are in gaps of more than 35 days between two refreshes"),
    "paid_above_amount": (forecast(_overpaid), "What was paid on 1 invoice is more than its amount"),
    "looks_like_write_off": (forecast(_written_off), "8 invoices of over half a year ago fell to 0 on 2025-10-05"),
}
"""By the name of the rule: the call, and a part of its sentence."""
