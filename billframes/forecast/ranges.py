"""Ranges: how far a forecast can be off, and how much wider its record makes it."""

from __future__ import annotations

import math
from statistics import NormalDist

from billframes.forecast.curves import Floats

FIRST_WIDENING = 2.0
"""How much wider a range is, as a factor of its variance, before any forecast could be checked."""
_WEIGHT, _MOST = 4.0, 12.0


def normal(level: float) -> float:
    """Return how many standard deviations from the middle a range of a level begins."""
    return round(NormalDist().inv_cdf((1 + level) / 2), 4)


def limits(cash: float, variance: float, factor: float, level: float) -> tuple[float, float]:
    """
    Return the ends of the range of a sum, log-normal around it.

    Examples
    --------
    >>> [round(end) for end in limits(100_000.0, 20_000.0**2, 2.0, 0.8)]
    [67434, 137308]
    """
    if not cash > 0:
        return cash, cash
    sigma = math.sqrt(math.log1p(factor * variance / cash**2))
    spread = normal(level) * sigma
    return cash * math.exp(-(sigma**2) / 2 - spread), cash * math.exp(-(sigma**2) / 2 + spread)


def widening(squares: Floats, independent: float) -> float:
    """
    Return the factor of the variance that past forecasts ask for, of which some don't overlap.

    `squares` are (received − forecast)² ÷ variance of those whose weeks have passed.

    Examples
    --------
    >>> import numpy as np
    >>> widening(np.full(4, 5.0), 4), widening(np.zeros(0), 0), widening(np.zeros(12), 12)
    (3.5, 2.0, 1.0)
    """
    number = min(max(independent, 0.0), _MOST) if len(squares) else 0.0
    mean = float(squares.mean()) if number else 0.0
    return max((_WEIGHT * FIRST_WIDENING + number * mean) / (_WEIGHT + number), 1.0)
