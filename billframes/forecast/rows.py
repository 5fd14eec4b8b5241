"""The rows of a forecast: of the firm, of its clients, and of open invoices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from billframes.analysis.data.expressions import midnight
from billframes.forecast.curves import AGES, Floats, Ints, add_by
from billframes.forecast.forecasts import ALWAYS, Forecast, by_simple_rule, limits, normal
from billframes.forecast.preparing import Prepared

WORK_TO_COME = "Work not done yet"
"""The client's name in the last row by client or invoice: no client is known for it."""
_UNBILLED_WORK = "Work not billed yet"

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
    of_firm = {} if by else dict.fromkeys(("contingent_amount", "naive_amount"), pa.float64())
    money = dict.fromkeys((*MONEY, *_BALANCES), pa.float64())
    return dict([horizon]) | keys | dict(days) | money | speed | of_firm


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
            "naive_amount": by_simple_rule(history, history.last) * prepared.horizons[nth].weeks,
        }


def of_clients(prepared: Prepared, found: Forecast) -> Iterator[dict[str, Any]]:
    """Yield a row for each horizon and client, the largest first, and one for work not done yet."""
    history, number = prepared.history, len(prepared.history.credits)
    client, of = prepared.invoices["client"].to_numpy(), history.client[found.place]
    ids = {name: [None] * number for name in _OF_CLIENT}
    for name, values in ids.items():
        for at, value in zip(client.tolist(), prepared.invoices[name].to_pylist(), strict=True):
            values[at] = value
    balance, never = (add_by(client, each, number) for each in _balances(prepared, found))
    weight = add_by(of, found.balance, number)
    speed = add_by(of, found.balance * found.speed, number) / np.where(weight > 0, weight, np.nan)
    worth = history.work.by_client if history.work else np.zeros((number, len(found.by_age)))
    ties = [*map(str, zip(*ids.values(), strict=True))]
    yield from _listed(prepared, found, ids, ties, of, (balance, never, speed), worth)


def of_invoices(prepared: Prepared, found: Forecast) -> Iterator[dict[str, Any]]:
    """Yield a row for each horizon and open invoice or credit, the largest first, and for work on no invoice."""
    invoices = prepared.invoices
    balance, never = _balances(prepared, found)
    ids = {name: invoices[name].to_pylist() for name in _OF_INVOICE if name in invoices.column_names}
    speed = np.full(len(balance), np.nan)
    speed[found.place] = found.speed
    yield from _listed(prepared, found, ids, ids["invoice_id"], found.place, (balance, never, speed), None)


def _listed(
    prepared: Prepared,
    found: Forecast,
    ids: dict[str, list[Any]],
    ties: list[Any],
    of: Ints,
    known: tuple[Floats, Floats, Floats],
    worth: Floats | None,
) -> Iterator[dict[str, Any]]:
    """
    Yield rows for each horizon of what is open, the largest first, and those of work.

    `of` is the row of each open invoice, and `known` are balances, what is never expected of them, and speeds. `worth`
    is the unbilled work of clients by age; None for invoices, which have none.
    """
    balance, number = known[0], len(known[0])
    for nth in range(len(prepared.horizons)):
        share, days = found.share[:, nth], _days(prepared, nth)
        owed = add_by(of, found.by_invoice[:, nth], number)
        unbilled = np.zeros(number) if worth is None else worth @ found.by_age[:, nth]
        variance = add_by(of, found.balance**2 * share * (1 - share), number) + np.abs(unbilled) * found.lump
        variance = variance + (unbilled * found.errors[nth]) ** 2
        most = np.maximum(balance, 0.0) + (0.0 if worth is None else np.maximum(worth.sum(1), 0.0))
        cash = owed + unbilled
        shown = np.flatnonzero((np.abs(balance) > _CENT) | (np.abs(cash) > _CENT))
        for at in sorted(shown.tolist(), key=lambda at: (-cash[at], ties[at])):
            parts = (cash[at], *_ends(prepared, cash[at], variance[at], most[at]), owed[at], unbilled[at], 0.0)
            yield {
                **days,
                **{name: values[at] for name, values in ids.items()},
                **(dict(zip(MONEY, parts, strict=True)) if worth is None else _parts(prepared, parts)),
                "receivable_amount": balance[at],
                "never_amount": known[1][at],
                "speed": None if math.isnan(known[2][at]) else known[2][at],
            }
        if prepared.history.work:
            if worth is None:
                yield _of_work(prepared, found, nth, _UNBILLED_WORK, unbilled=found.unbilled[nth])
            yield _of_work(prepared, found, nth, WORK_TO_COME, future=found.future[nth])


def _of_work(
    prepared: Prepared, found: Forecast, nth: int, name: str, unbilled: float = 0.0, future: float = 0.0
) -> dict[str, Any]:
    cash = unbilled + future
    variance = abs(cash) * found.lump + (cash * found.errors[nth]) ** 2
    parts = (cash, *_ends(prepared, cash, variance, math.inf), 0.0, unbilled, future)
    no_balances = {"client_name": name, **dict.fromkeys(_BALANCES, 0.0)}
    return {**_days(prepared, nth), **dict(zip(MONEY, parts, strict=True)), **no_balances}


def _parts(prepared: Prepared, parts: tuple[Any, ...]) -> dict[str, Any]:
    """Return the amounts by column; without the work, only those of open invoices."""
    known = parts if prepared.history.work else (None, None, None, parts[3], None, None)
    return dict(zip(MONEY, known, strict=True))


def _ends(prepared: Prepared, cash: float, variance: float, most: float) -> tuple[float, float]:
    spread = normal(prepared.level) * math.sqrt(2 * (variance + (ALWAYS * cash) ** 2))
    return max(cash - spread, 0.0), min(cash + spread, max(most, cash))
