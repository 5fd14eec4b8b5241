"""Curves by age in whole weeks: how fast invoices are settled, and how much of it is cash."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

AGES = 105
"""Invoices are followed for two years: ages 0 to 104."""

_EDGES = np.array([*range(7), 8, 10, 12, 14, 17, 20, 26, 35, 52, 78, AGES])
_BINS = len(_EDGES) - 1
_BIN = np.searchsorted(_EDGES, np.arange(AGES), "right") - 1

# Amounts above this quantile count as it, so that one large invoice does not bend the curve.
_LARGE = 0.75
_LEAST_OPEN = 0.004
# The weight of today's curve beside the falls seen, in invoices at risk for a week; and of the firm's share of cash.
_PRIOR, _PRIOR_CASH = 20.0, 0.02
_PRIOR_SPEED, _SLOWEST, _FASTEST = 5.0, 0.2, 5.0
_NOTHING = 1e-9


def add_by(place: Ints, amounts: Floats, number: int = 0) -> Floats:
    """Add up amounts by their places, of a number of places."""
    return np.bincount(place, amounts, number).astype(np.float64)


def non_decreasing(values: Floats, weights: Floats) -> Floats:
    """Return the nearest values that never fall: neighbours in the wrong order become their weighted mean."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] > pool[0]:
            earlier = pools.pop()
            both = earlier[1] + pool[1]
            pool = ((earlier[0] * earlier[1] + pool[0] * pool[1]) / both, both, earlier[2] + pool[2])
        pools.append(pool)
    return np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])


def hazards_of_today(age: Ints, amount: Floats, balance: Floats) -> Floats:
    """Return the hazard of each week of age that the balances of one day show: each age is another set of invoices."""
    weight = np.minimum(amount, np.quantile(amount, _LARGE)) / amount
    bins = _BIN[age]
    # An age without invoices says nothing: the curve goes straight from the age before it to the one after it.
    seen = np.bincount(bins, minlength=_BINS) > 0
    amounts, balances, ages = (
        add_by(bins, each, _BINS)[seen] for each in (weight * amount, weight * balance, weight * amount * age)
    )
    settled = non_decreasing(1 - balances / amounts, amounts)
    open_share = np.log(np.clip(1 - settled, _LEAST_OPEN, 1.0))
    by_week = np.interp(np.arange(AGES), np.r_[-1.0, ages / amounts], np.r_[0.0, open_share])
    hazards: Floats = np.clip(-np.diff(np.r_[0.0, by_week]), 0.0, 3.0)
    return hazards


def hazards_of_falls(fallen: Floats, at_risk: Floats, prior: Floats, mean_amount: float) -> Floats:
    """
    Return the hazard of each week of age: falls ÷ balances at risk, by bins of ages, drawn towards a prior.

    The prior counts as much as 20 invoices of the mean amount that are at risk for a week.
    """
    falls, risks = add_by(_BIN, fallen, _BINS), add_by(_BIN, at_risk, _BINS)
    expected = add_by(_BIN, -np.expm1(-prior) * (at_risk + _NOTHING), _BINS)
    shares = expected / add_by(_BIN, at_risk + _NOTHING, _BINS)
    strength = _PRIOR * mean_amount
    hazards: Floats = -np.log1p(-np.clip((falls + strength * shares) / (risks + strength), 0.0, 0.95))
    return hazards[_BIN]


def cash_shares(cash: Floats, fallen: Floats) -> Floats:
    """Return the part of falls that is cash, by age, drawn towards the firm's share."""
    total = fallen.sum()
    if total <= 0:
        return np.ones(AGES)
    strength = _PRIOR_CASH * total
    of_bins = add_by(_BIN, cash, _BINS) + strength * cash.sum() / total
    shares: Floats = np.clip(of_bins / (add_by(_BIN, fallen, _BINS) + strength), 0.0, 1.0)
    return shares[_BIN]


def speeds(client: Ints, expected_open: Floats, seen_open: Floats) -> Floats:
    """
    Return the speed of each invoice: how its client pays the *other* invoices, from 0.2 to 5 times the firm's rate.

    The invoice itself does not count, because the curve already holds that it is still open.
    """
    expected = add_by(client, expected_open)[client] - expected_open
    seen = add_by(client, seen_open)[client] - seen_open
    found: Floats = np.clip((_PRIOR_SPEED + expected) / (_PRIOR_SPEED + seen), _SLOWEST, _FASTEST)
    return found
