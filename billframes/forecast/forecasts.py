"""The forecast at the end of a week, how far it can be off, and the record of those made before.

Cash comes from three parts: open invoices, work done but not billed, and work not done yet. Past forecasts use what was
known in their week only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from billframes.forecast.billing import YEAR, billing
from billframes.forecast.curves import AGES, Floats, Ints, cash_shares, hazards_of_falls, hazards_of_today, speeds
from billframes.forecast.history import WORK_AGES, History, Known

Span = tuple[float, float]
"""The weeks from which and to which cash counts, from the end of the week of the forecast on."""

FEWEST_INVOICES, FEWEST_WEEKS = 50, 26
_TWOYEARS = 104
ALWAYS = 0.05
"""The part of all cash that can always be off: weeks, holidays, whatever hits all clients."""
# How much wider a range is, as a factor of its variance, before any forecast could be checked.
_FIRST_WIDENING = 2.0
_WEIGHT, _MOST = 4.0, 12.0


@dataclass(frozen=True)
class Forecast:
    """
    Cash by span; arrays with one value per span, unless they say otherwise.

    `place`, `balance` (after credits), `speed`, `never` (not expected), `by_invoice` (cash) and `share` of the balance
    have a row per open invoice, and `by_age` has the cash of a unit of unbilled worth by its age. `lump` is the amount
    of an invoice that a dollar is on, and `errors` how far bills of such weeks were from what was to be expected.
    """

    place: Ints
    balance: Floats
    speed: Floats
    never: Floats
    by_invoice: Floats
    share: Floats
    by_age: Floats
    unbilled: Floats
    future: Floats
    lump: float
    errors: Floats
    variance: Floats

    @property
    def open(self) -> Floats:
        """Cash of open invoices."""
        amounts: Floats = self.by_invoice.sum(0)
        return amounts

    @property
    def cash(self) -> Floats:
        """All cash."""
        return self.open + self.unbilled + self.future


@dataclass(frozen=True)
class Past:
    """A forecast made at the end of a week: its cash and variance by span, what came, and the simple rule's cash."""

    week: int
    cash: Floats
    variance: Floats
    received: Floats
    naive: Floats


def forecast(history: History, week: int, spans: Sequence[Span]) -> Forecast:
    """Forecast the cash of spans from what was known at the end of a week."""
    known = history.at(week)
    weeks = _weeks(spans)
    hazards, cash = _curves(history, known, week)
    open_share, far = np.exp(-np.cumsum(hazards)), np.full(_TWOYEARS + weeks, hazards[-1])
    recent = known.age < AGES
    rows = {name: getattr(known, name)[recent] for name in ("place", "age", "amount", "balance")}
    seen_open = rows["balance"] / np.maximum(rows["amount"], 0.01)
    pace = speeds(history.client[rows["place"]], open_share[rows["age"]], seen_open)
    balance = rows["balance"] if week < history.last else _less_credits(history, known)[recent]
    still = (balance > 0) & (rows["age"] < AGES - 1)
    place, age, balance, pace = (each[still] for each in (rows["place"], rows["age"], balance, pace))
    ahead = age[:, None] + 1 + np.arange(weeks)
    left = np.exp(-np.cumsum(np.r_[hazards, far][ahead] * pace[:, None], axis=1))
    fallen = -np.diff(np.c_[np.ones(len(age)), left], axis=1)
    shares = _in_spans(fallen * np.r_[cash, np.full(weeks + 1, cash[-1])][ahead], spans)
    by_invoice = balance[:, None] * shares
    total = np.cumsum(np.r_[hazards, far])
    never = balance * np.exp(-pace * (total[np.minimum(age + _TWOYEARS, len(total) - 1)] - total[age]))
    by_age, unbilled, future, errors = _new_cash(history, week, spans, hazards, cash)
    amounts = known.amount[known.age < YEAR]
    lump = float((amounts**2).sum() / amounts.sum()) if amounts.sum() > 0 else 0.0
    amount = by_invoice.sum(0) + unbilled + future
    variance = (balance[:, None] ** 2 * shares * (1 - shares)).sum(0) + np.abs(unbilled + future) * lump
    variance = variance + ((unbilled + future) * errors) ** 2 + (ALWAYS * amount) ** 2
    return Forecast(place, balance, pace, never, by_invoice, shares, by_age, unbilled, future, lump, errors, variance)


def _curves(history: History, known: Known, week: int) -> tuple[Floats, Floats]:
    """Return the hazards of settlement and the share of cash, by age."""
    used = (known.age < AGES) & (history.week[known.place] >= history.complete) & (known.amount > 0)
    hazards = hazards_of_today(known.age[used], known.amount[used], known.balance[used])
    if week <= history.since:
        return hazards, np.ones(AGES)
    fallen, at_risk, cash = (
        each[week] - each[history.since] for each in (history.fallen, history.at_risk, history.cash)
    )
    hazards = hazards_of_falls(fallen, at_risk, hazards, float(known.amount.mean()))
    return hazards, cash_shares(cash, fallen)


def _less_credits(history: History, known: Known) -> Floats:
    """Return balances after each client's credits, which settle its oldest invoices first and are never cash."""
    client = history.client[known.place]
    order = np.lexsort((known.place, -known.age, client))
    sorted_client, running = client[order], np.cumsum(known.balance[order])
    first = np.r_[True, sorted_client[1:] != sorted_client[:-1]]
    before = np.maximum.accumulate(np.where(first, running - known.balance[order], 0.0))
    rest = np.clip(running - before - history.credits[sorted_client], 0.0, known.balance[order])
    left = np.empty(len(order))
    left[order] = rest
    return left


def _in_spans(by_week: Floats, spans: Sequence[Span]) -> Floats:
    """Add up columns of weeks in spans; part of a week counts evenly."""
    total = np.cumsum(np.pad(by_week, [(0, 0)] * (by_week.ndim - 1) + [(1, 1)]), axis=-1)

    def until(weeks: float) -> Floats:
        whole = int(weeks)
        found: Floats = total[..., whole] + (weeks - whole) * (total[..., whole + 1] - total[..., whole])
        return found

    return np.stack([until(end) - until(start) for start, end in spans], axis=-1)


def _new_cash(
    history: History, week: int, spans: Sequence[Span], hazards: Floats, cash: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """
    Return the cash of a unit of unbilled worth by age, and the cash of unbilled work and of work to come.

    Also return how far billing was off in earlier weeks.
    """
    weeks = _weeks(spans)
    billed = billing(history, week, weeks)
    if billed is None:
        nothing = np.zeros(len(spans))
        return np.zeros((WORK_AGES, len(spans))), nothing, nothing, nothing
    year = slice(max(week - YEAR + 1, 0), week + 1)
    worth = billed.work.billed_worth[year].sum()
    realized = billed.work.billed_amount[year].sum() / worth if worth > 0 else 0.0
    paid = -np.diff(np.r_[1.0, np.exp(-np.cumsum(hazards))])[:weeks] * cash[:weeks]
    by_work = _in_spans(_convolve(billed.expected(week, weeks), paid), spans) * realized
    by_age, to_come = by_work[:WORK_AGES], by_work[WORK_AGES:]
    errors = billed.errors([max(int(np.ceil(end)), 1) for _, end in spans])
    return by_age, billed.work.left(week) @ by_age, billed.pace(week, weeks) @ to_come, errors


def _weeks(spans: Sequence[Span]) -> int:
    return max(int(np.ceil(max(end for _, end in spans))), 1)


def _convolve(billed: Floats, paid: Floats) -> Floats:
    """Return the cash by week of what is billed by week, paid as ages go."""
    weeks = len(paid)
    place = np.arange(weeks)[None, :] - np.arange(weeks)[:, None]
    cash: Floats = billed @ np.where(place >= 0, paid[np.maximum(place, 0)], 0.0)
    return cash


def past_forecasts(history: History, spans: Sequence[Span], every: int = 4) -> Iterator[Past]:
    """Yield the forecasts that could have been made since the record began, without that of the day itself."""
    for week in range(history.last - (history.last - history.since) // every * every, history.last, every):
        age = history.at(week).age
        if (age < YEAR).sum() < FEWEST_INVOICES or age[age <= week - history.complete].max(initial=0) < FEWEST_WEEKS:
            continue
        found = forecast(history, week, spans)
        received = [_received(history, week, span) if week + span[1] <= history.last else np.nan for span in spans]
        naive = by_simple_rule(history, week) * np.array([end - start for start, end in spans])
        yield Past(week, found.cash, found.variance, np.array(received), naive)


def _received(history: History, week: int, span: Span) -> float:
    start, end = (np.interp(week + 1 + each, np.arange(len(history.received)), history.received) for each in span)
    return float(end - start)


def by_simple_rule(history: History, week: int) -> float:
    """Return a week's cash by a simple rule: 12 months' billing × the share paid of invoices half a year old."""
    known = history.at(week)
    old = (known.age >= 26) & (known.age < 78)
    paid = 1 - known.balance[old].sum() / max(known.amount[old].sum(), 1e-9) if old.any() else 1.0
    return float(known.amount[known.age < YEAR].sum() / YEAR * paid)


def normal(level: float) -> float:
    """Return how many standard deviations from the middle a range of a level begins."""
    return round(NormalDist().inv_cdf((1 + level) / 2), 4)


def limits(cash: float, variance: float, factor: float, level: float) -> tuple[float, float]:
    """Return the ends of the range of a sum, log-normal around it."""
    if not cash > 0:
        return cash, cash
    sigma = math.sqrt(math.log1p(factor * variance / cash**2))
    spread = normal(level) * sigma
    return cash * math.exp(-(sigma**2) / 2 - spread), cash * math.exp(-(sigma**2) / 2 + spread)


def widening(squares: Floats, independent: float) -> float:
    """
    Return the factor of the variance that past forecasts ask for, of which some don't overlap.

    `squares` are (received − forecast)² ÷ variance of those whose weeks have passed.
    """
    number = min(max(independent, 0.0), _MOST) if len(squares) else 0.0
    mean = float(squares.mean()) if number else 0.0
    return max((_WEIGHT * _FIRST_WIDENING + number * mean) / (_WEIGHT + number), 1.0)
