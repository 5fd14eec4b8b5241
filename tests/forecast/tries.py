"""What else could make a cash forecast better, tried on made-up firms: prebills by state, voided invoices, months.

Each try yields rows of one forecast made in one way: `way`, `horizon`, `forecast`, `cash`. Habits that the
firms lack are added here: prebills are drafted one to three weeks before their invoice, and most are approved in the
last two; one of 25 invoices is voided, and half of those are billed again.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from billframes.analysis.data.call import Call
from billframes.analysis.data.data import Data
from billframes.forecast.forecasts import (
    Forecast,
    Span,
    _curves,
    _in_spans,
    _new_cash,
    by_simple_rule,
    forecast,
)
from billframes.forecast.history import History
from billframes.forecast.horizons import read_horizons
from billframes.forecast.preparing import prepare
from billframes.forecast.reading import Given
from tests.forecast.firms import FIRST_DAY, WEEKS, Array, Firm, make_firm

__all__ = ["TRIES", "table"]

_HORIZONS = (4, 8, 13)
_LAST, _LONGEST, _EVERY = WEEKS - 1, 18, 4
_LEAD, _VOIDED, _AGAIN = 5, 0.04, 0.5

Rows = Iterator[dict[str, Any]]


def _history(frames: dict[str, Any]) -> History:
    """Read frames, without the record of earlier forecasts."""
    named = {name: frames[name] for name in ("invoices", "time_entries")}
    given = Given(frames["receipts"], None, None, frames["since"], None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = Call(Data(**named), "cash_forecast")
        # The longest horizon, because firms with few invoices are refused short ones; spans are passed later.
        prepared = prepare(whole, given, frames["as_of"], (13,), 0.8, every=10**6)
    return prepared.history


def _since(seed: int) -> int:
    return WEEKS - 1 - 168 + 12 * (seed % 4)


def _came(firm: Firm, week: int, spans: Sequence[Span]) -> Array:
    """Return the cash of spans after the end of a week; part of a week counts evenly."""
    total = np.r_[0.0, np.cumsum(firm.cash)]
    ends = np.interp(week + 1 + np.array(spans), np.arange(len(total)), total)
    return np.asarray(ends[:, 1] - ends[:, 0])


def _rows(way: str, names: Sequence[Any], amounts: Array, came: Array) -> Rows:
    for name, amount, cash in zip(names, amounts, came, strict=True):
        yield {"way": way, "horizon": name, "forecast": float(amount), "cash": float(cash)}


def months(firm: Firm, seed: int) -> Rows:
    """Forecast the next three calendar months, each by itself, at the last end of a week in each month."""
    history = _history(firm.frames(_LAST, _since(seed)))
    for week in range(_since(seed) + 12, _LAST - _LONGEST):
        day = (FIRST_DAY + pd.Timedelta(days=7 * week + 6)).date()
        if (day + dt.timedelta(days=7)).month == day.month:
            continue
        at = week - _LAST + history.last
        spans = [each.span for each in read_horizons("months", day)[:3]]
        came, lengths = _came(firm, week, spans), np.array([end - start for start, end in spans])
        yield from _rows("as it is", (1, 2, 3), forecast(history, at, spans).cash, came)
        yield from _rows("naive rule", (1, 2, 3), by_simple_rule(history, at) * lengths, came)


def prebills(firm: Firm, seed: int) -> Rows:
    """Forecast unbilled work by whether it is on a draft, on an approved prebill, or on none."""
    stages = _stages(firm, np.random.default_rng(seed))
    history = _history(firm.frames(_LAST, _since(seed)))
    drafted = _by_draft(firm, stages, history)
    spans: list[Span] = [(0.0, float(weeks)) for weeks in _HORIZONS]
    for week in range(_since(seed) + 12, _LAST - _HORIZONS[-1], _EVERY):
        found, came = forecast(history, week - _LAST + history.last, spans), _came(firm, week, spans)
        yield from _rows("as it is", _HORIZONS, found.cash, came)
        for way in ("by state", "day of invoice known"):
            amounts = _by_state(history, drafted, stages, week, spans, found, known=way != "by state")
            yield from _rows(way, _HORIZONS, amounts, came)


def _stages(firm: Firm, random: np.random.Generator) -> pd.DataFrame:
    """Return the weeks in which each invoice with work was drafted, approved and made final, and its amount."""
    worked = firm.work[firm.work["invoice"].isin(firm.invoices.index)].groupby("invoice")["week"].max()
    final = firm.invoices.loc[worked.index, "week"]
    # A draft is made after the last of its work.
    lead = np.minimum(random.choice([1, 2, 3], len(final), p=[0.4, 0.4, 0.2]), np.maximum(final - worked - 1, 0))
    approved = np.minimum(random.choice([0, 1, 2], len(final), p=[0.2, 0.5, 0.3]), lead)
    columns = {"final": final, "lead": lead, "approved": approved, "amount": firm.invoices["amount"]}
    return pd.DataFrame(columns).loc[worked.index]


def _by_draft(firm: Firm, stages: pd.DataFrame, history: History) -> History:
    """Return the history with the week of the draft in place of that of the invoice."""
    assert history.work is not None
    move, columns = history.last - _LAST, history.last + 2
    draft = (stages["final"] - stages["lead"]).reindex(firm.work["invoice"]).to_numpy() + move
    draft = np.where(np.isnan(draft), columns - 1, draft).astype(int)
    week = np.minimum(np.maximum(firm.work["week"].to_numpy() + move, 0), draft)
    shown = (draft >= 0) & (week < columns - 1)
    worth = np.bincount((week * columns + draft)[shown], firm.work["worth"][shown], (columns - 1) * columns)
    return replace(history, work=replace(history.work, worth=worth.reshape(columns - 1, columns)))


def _by_state(
    history: History,
    drafted: History,
    stages: pd.DataFrame,
    week: int,
    spans: Sequence[Span],
    found: Forecast,
    *,
    known: bool,
) -> Array:
    """Return all cash if work on prebills is billed as prebills of that state were in the last year, or on its day."""
    at, weeks = week - _LAST + history.last, int(spans[-1][1])
    hazards, cash = _curves(history, history.at(at), at)
    settled = -np.diff(np.r_[1.0, np.exp(-np.cumsum(hazards))])
    year = stages[(stages["final"] > week - 52) & (stages["final"] <= week)]
    now = stages[(stages["final"] > week) & (stages["final"] - stages["lead"] <= week)]
    ahead, is_approved = now["final"] - week, now["final"] - now["approved"] <= week
    billed = np.zeros(weeks)
    if known:
        billed += np.bincount(ahead - 1, now["amount"], weeks)[:weeks]
    else:
        steps = np.arange(1, _LEAD)
        there = steps <= year["lead"].to_numpy()[:, None]
        done = steps <= year["approved"].to_numpy()[:, None]
        for state in (True, False):
            seen = (year["amount"].to_numpy()[:, None] * (there & (done == state))).sum(0)
            billed[: _LEAD - 1] += now["amount"][is_approved == state].sum() * seen / max(seen.sum(), 1e-9)
    on_prebills = np.convolve(billed, (settled * cash)[:weeks])[:weeks]
    # Work on no prebill is drafted first, and billed as long after it as prebills of the last year.
    lag = np.bincount(year["lead"], year["amount"], _LEAD) / year["amount"].sum()
    left = np.maximum(1 - np.cumsum(np.convolve(lag, settled)[: len(settled)]), 1e-9)
    rest = _new_cash(drafted, at, spans, -np.diff(np.log(np.r_[1.0, left])), cash)[1]
    return np.asarray(found.open + found.future + rest + _in_spans(on_prebills, spans))


def voided(firm: Firm, seed: int) -> Rows:
    """
    Forecast with invoices voided before the day left out, or counted as falls without cash.

    The record reads today's invoices, so it also leaves out those that were voided after the day of its forecasts.
    """
    firm, void = _with_voids(firm, np.random.default_rng(seed))
    since, spans = _since(seed), [(0.0, float(weeks)) for weeks in _HORIZONS]
    today = _history(_frames(firm, void, _LAST, since, counted=False))
    for week in range(since + 26, _LAST - _HORIZONS[-1], 3 * _EVERY):
        came = _came(firm, week, spans)
        for way in ("as it is: left out", "counted as falls"):
            history = _history(_frames(firm, void, week, since, counted=way == "counted as falls"))
            yield from _rows(way, _HORIZONS, forecast(history, history.last, spans).cash, came)
        yield from _rows("as in the record", _HORIZONS, forecast(today, week - _LAST + today.last, spans).cash, came)


def _with_voids(firm: Firm, random: np.random.Generator) -> tuple[Firm, pd.Series]:
    """Void some invoices before any payment; half of them are billed and paid again, from the week after on."""
    invoices, events, work = firm.invoices, firm.events, firm.work.copy()
    first = events.groupby("invoice")["week"].min().reindex(invoices.index).fillna(WEEKS)
    void = invoices["week"] + random.integers(1, 13, len(invoices))
    void = void[(random.random(len(invoices)) < _VOIDED) & (void < first)]
    again = void[random.random(len(void)) < _AGAIN]
    number = pd.Series(np.arange(len(again)) + invoices.index.max() + 1, again.index)
    new = invoices.loc[again.index].assign(week=again + 1).set_axis(number.to_numpy())
    moved = events[events["invoice"].isin(again.index)]
    shift = moved["invoice"].map(again + 1 - invoices["week"])
    moved = moved.assign(week=moved["week"] + shift, invoice=moved["invoice"].map(number)).astype(
        {"week": int, "invoice": int}
    )
    events = pd.concat([events[~events["invoice"].isin(void.index)], moved], ignore_index=True)
    # An invoice made again shows the worth of its work, as before.
    work["invoice"] = work["invoice"].map(number).fillna(work["invoice"]).astype(int)
    return Firm(pd.concat([invoices, new[new["week"] < WEEKS]]), events, work, firm.habits), void


def _frames(firm: Firm, void: pd.Series, week: int, since: int, *, counted: bool) -> dict[str, Any]:
    """Return what a mirror showed at the end of a week, with the invoices voided since its first day or without."""
    gone = void[void <= week]
    if not counted:
        kept = firm.invoices.drop(gone.index)
        return Firm(kept, firm.events, firm.work, firm.habits).frames(week, since)
    falls = pd.DataFrame({"invoice": gone.index, "week": gone, "amount": firm.invoices.loc[gone.index, "amount"]})
    seen = gone.index[gone <= since]
    events = pd.concat([firm.events, falls[~falls["invoice"].isin(seen)].assign(kind="void")], ignore_index=True)
    frames = Firm(firm.invoices.drop(seen), events, firm.work, firm.habits).frames(week, since)
    is_void = frames["receipts"]["invoice_id"].isin([f"i{each}" for each in gone.index])
    frames["receipts"].loc[is_void, "implied_receipt_amount"] = 0.0
    return frames


TRIES = {"prebills": prebills, "voided": voided, "months": months}


def table(name: str, firms: Sequence[tuple[str, Any, int]]) -> str:
    """Return errors and bias of each way by horizon: means over firms, in %."""
    found = [pd.DataFrame(TRIES[name](make_firm(habits, seed), seed)).assign(firm=firm) for firm, habits, seed in firms]
    rows = pd.concat(found).assign(off=lambda frame: (frame["forecast"] - frame["cash"]).abs())
    sums = rows.groupby(["firm", "way", "horizon"])[["forecast", "cash", "off"]].sum()
    shares = pd.DataFrame({"error": sums["off"] / sums["cash"], "bias": sums["forecast"] / sums["cash"] - 1})
    means = shares.pivot_table(["error", "bias"], index="way", columns="horizon")[["error", "bias"]] * 100
    return str(means.round(1).to_string())
