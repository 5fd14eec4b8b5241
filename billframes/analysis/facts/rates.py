"""The value of hours at the rates of the firm's settings, which can have days from which they hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

from billframes.analysis.data.expressions import C, map_values, midnight

Rates = Mapping[str, float | Mapping[Any, float]]


def at_rates(rates: Rates) -> nw.Expr:
    """Return the hours of each row at the rate of its person; NaN if the hours or the rate are unknown."""
    return C("hours") * rate_of(rates)


def rate_of(rates: Rates) -> nw.Expr:
    """Return the rate of each row's person on its `date`; NaN if the person has no rate then."""
    person = C("user_id").cast(nw.String)
    rate = map_values(person, _begun(rates, None), None, nw.Float64)
    for day in sorted({day for rate in rates.values() if isinstance(rate, Mapping) for day in rate}):
        later = map_values(person, _begun(rates, day), None, nw.Float64)
        rate = nw.when(C("date") >= midnight(day)).then(later).otherwise(rate)
    return rate.fill_null(float("nan"))


def _begun(rates: Rates, day: dt.date | None) -> dict[str, float]:
    """Return the rates that hold on a day, by person; without one, those before the first day."""
    found = {}
    for user, rate in rates.items():
        if not isinstance(rate, Mapping):
            found[user] = rate
        elif days := [each for each in rate if day is not None and each <= day]:
            found[user] = rate[max(days)]
    return found
