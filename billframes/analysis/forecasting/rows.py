"""The rows of a forecast: of the firm, of its clients, and of open invoices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from billframes.analysis.forecasting.curves import AGES, Floats, add_by
from billframes.analysis.forecasting.forecasts import ALWAYS, Forecast
from billframes.analysis.forecasting.preparing import Prepared
from billframes.analysis.forecasting.ranges import limits, normal
from billframes.analysis.frames.expressions import midnight

WORK_TO_COME = "Work not done yet"
"""The client's name in the last row by client: no client is known for it."""

MONEY = ("cash_amount", "low_amount", "high_amount", "open_cash_amount", "unbilled_cash_amount", "future_cash_amount")
_BALANCES = ("receivable_amount", "never_amount")
_KEYS = {"horizon": pa.string(), "start": pa.timestamp("us"), "end": pa.timestamp("us")}
_OF_CLIENT = {"client_id": pa.string(), "client_name": pa.string()}
_OF_INVOICE = {
    "invoice_id": pa.string(),
    "invoice_number": pa.string(),
    **_OF_CLIENT,
    "invoice_date": pa.timestamp("us"),
}
_CENT = 0.005


def schema(by: str | None) -> dict[str, Any]:
    """Return the types of the columns of a result."""
    keys = {None: {}, "client": _OF_CLIENT, "invoice": _OF_INVOICE}[by]
    horizon, *days = _KEYS.items()
    speed = {"speed": pa.float64()} if by else {}
    left_out = {} if by else {"contingent_amount": pa.float64()}
    money = dict.fromkeys((*MONEY, *_BALANCES), pa.float64())
    return dict([horizon]) | keys | dict(days) | money | speed | left_out


def _days(prepared: Prepared, nth: int) -> dict[str, Any]:
    horizon = prepared.horizons[nth]
    return {"horizon": horizon.name, "start": midnight(horizon.start), "end": midnight(horizon.end)}


def _balances(prepared: Prepared, found: Forecast) -> tuple[Floats, Floats]:
    """Return each invoice's balance on the day, and the part that is not expected within two years."""
    history, number = prepared.history, len(prepared.history.week)
    later = history.falls.fall * (history.falls.week > history.last)
    balance = prepared.invoices["balance"].to_numpy().copy()
    balance[:number] += add_by(history.falls.invoice, later, number)
    never = np.maximum(balance, 0.0)
    # Credits have settled the other recent invoices.
    never[:number][history.week > history.last - AGES] = 0.0
    never[found.place] = found.never
    return balance, never


def of_firm(prepared: Prepared, found: Forecast) -> Iterator[dict[str, Any]]:
    """Yield a row for each horizon."""
    history = prepared.history
    balance, never = _balances(prepared, found)
    for nth in range(len(prepared.horizons)):
        factor = prepared.widening(nth, history.last)
        low, high = limits(float(found.cash[nth]), float(found.variance[nth]), factor, prepared.level)
        parts = (found.cash[nth], low, high, found.open[nth], found.unbilled[nth], found.future[nth])
        left_out = history.work.left_out if history.work else None
        yield {
            **_days(prepared, nth),
            **_parts(prepared, parts),
            "receivable_amount": balance.sum(),
            "never_amount": never.sum(),
            "contingent_amount": left_out,
        }


def of_clients(prepared: Prepared, found: Forecast) -> Iterator[dict[str, Any]]:
    """Yield a row for each horizon and client, the largest first, and one for work not done yet."""
    history = prepared.history
    client = prepared.invoices["client"].to_numpy()
    number = len(history.credits)
    of = history.client[found.place]
    names = _names(prepared, client)
    balance, never = (add_by(client, each, number) for each in _balances(prepared, found))
    weight = add_by(of, found.balance, number)
    speed = add_by(of, found.balance * found.speed, number) / np.where(weight > 0, weight, np.nan)
    worth = history.work.by_client if history.work else np.zeros((number, len(found.by_age)))
    for nth in range(len(prepared.horizons)):
        days, share = _days(prepared, nth), found.share[:, nth]
        owed = add_by(of, found.by_invoice[:, nth], number)
        unbilled = worth @ found.by_age[:, nth]
        variance = add_by(of, found.balance**2 * share * (1 - share), number) + unbilled * found.lump
        most = np.maximum(balance, 0.0) + np.maximum(worth.sum(1), 0.0)
        shown = np.flatnonzero((np.abs(balance) > _CENT) | (owed + unbilled > _CENT))
        for each in sorted(shown, key=lambda at: (-(owed + unbilled)[at], str(names[at]))):
            cash = owed[each] + unbilled[each]
            ends = _ends(prepared, cash, variance[each], most[each])
            parts = (cash, *ends, owed[each], unbilled[each], 0.0)
            yield {
                **days,
                **dict(zip(_OF_CLIENT, names[each], strict=True)),
                **_parts(prepared, parts),
                "receivable_amount": balance[each],
                "never_amount": never[each],
                "speed": None if math.isnan(speed[each]) else speed[each],
            }
        if history.work:
            cash = found.future[nth]
            variance_of_future = cash * found.lump + (cash * found.errors[nth]) ** 2
            parts = (cash, *_ends(prepared, cash, variance_of_future, math.inf), 0.0, 0.0, cash)
            work = {"client_name": WORK_TO_COME, "receivable_amount": 0.0, "never_amount": 0.0}
            yield {**days, **dict(zip(MONEY, parts, strict=True)), **work}


def _names(prepared: Prepared, client: Any) -> list[tuple[str | None, str | None]]:
    """Return the id and the name of each client by its number."""
    names: list[tuple[str | None, str | None]] = [(None, None)] * len(prepared.history.credits)
    ids = (prepared.invoices[name].to_pylist() for name in _OF_CLIENT)
    for number, *name in zip(client.tolist(), *ids, strict=True):
        names[number] = (name[0], name[1])
    return names


def _parts(prepared: Prepared, parts: tuple[Any, ...]) -> dict[str, Any]:
    """Return the amounts by column; without the work, only those of open invoices."""
    known = parts if prepared.history.work else (None, None, None, parts[3], None, None)
    return dict(zip(MONEY, known, strict=True))


def _ends(prepared: Prepared, cash: float, variance: float, most: float) -> tuple[float, float]:
    """Return the ends of the range of a client or an invoice."""
    spread = normal(prepared.level) * math.sqrt(2 * (variance + (ALWAYS * cash) ** 2))
    return max(cash - spread, 0.0), min(cash + spread, max(most, cash))


def of_invoices(prepared: Prepared, found: Forecast) -> Iterator[dict[str, Any]]:
    """Yield a row for each horizon and open invoice, the largest first."""
    invoices = prepared.invoices
    balance, never = _balances(prepared, found)
    details = {name: invoices[name].to_pylist() for name in _OF_INVOICE if name in invoices.column_names}
    at = {int(place): nth for nth, place in enumerate(found.place)}
    shown = np.flatnonzero(balance > _CENT).tolist()
    for nth in range(len(prepared.horizons)):
        days, rows = _days(prepared, nth), []
        for each in shown:
            row = at.get(each)
            cash = 0.0 if row is None else float(found.by_invoice[row, nth])
            share = 0.0 if row is None else float(found.share[row, nth])
            open_now = 0.0 if row is None else float(found.balance[row])
            ends = _ends(prepared, cash, open_now**2 * share * (1 - share), balance[each])
            rows.append(
                {
                    **days,
                    **{name: details[name][each] if name in details else None for name in _OF_INVOICE},
                    **dict(zip(MONEY, (cash, *ends, cash, 0.0, 0.0), strict=True)),
                    "receivable_amount": balance[each],
                    "never_amount": never[each],
                    "speed": None if row is None else float(found.speed[row]),
                }
            )
        yield from sorted(rows, key=lambda row: (-row["cash_amount"], row["invoice_id"]))
