"""Exact amounts: convert floats to decimals, and round, multiply, divide and write these.

A float is converted by its shortest text (its `repr`), which is the number that the server sent. Halves are rounded
away from zero, as on invoices.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from billframes._shared.cents import whole_parts

_CENT = Decimal("0.01")
_FOURTH = Decimal("0.0001")
ZERO = Decimal("0.00")
_TOO_LARGE = 10**12
# At most as many digits before the point as the widest field has, and as many decimals as a tax rate has.
_NUMBER = re.compile(r"-?0*(?:\d{1,12}(?:\.\d{0,10})?|\.\d{1,10})")


def money(value: float | Decimal | None) -> Decimal | None:
    """Return an amount to the cent; None if it is missing or too large for the format."""
    return _exact(value, _CENT)


def number(value: float | Decimal | None) -> Decimal | None:
    """Return hours or a rate with four decimals; None if it is missing or too large for the format."""
    return _exact(value, _FOURTH)


@lru_cache(maxsize=65_536)
def _exact(value: float | Decimal | None, unit: Decimal) -> Decimal | None:
    if value is None or not math.isfinite(value):
        return None
    exact: Decimal = value if isinstance(value, Decimal) else Decimal(repr(value))
    if abs(exact) >= _TOO_LARGE:
        return None
    # Adding 0 turns -0 into 0.
    return exact.quantize(unit, ROUND_HALF_UP) + 0


def product(units: Decimal, unit_cost: Decimal) -> Decimal:
    """Return units × unit cost to the cent."""
    return to_cents(units * unit_cost)


def to_cents(amount: Decimal) -> Decimal:
    """Round an amount to the cent."""
    return amount.quantize(_CENT, ROUND_HALF_UP)


def read_number(text: str) -> Decimal | None:
    """Read a number of a file; None if it is not a number, or too wide for any field to be calculated with."""
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def exact_sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Add up amounts; None if one of them is."""
    total = ZERO
    for each in amounts:
        if each is None:
            return None
        total += each
    return total


def money_text(amount: Decimal | None) -> str:
    """Write an amount with two decimals; None is empty."""
    return "" if amount is None else f"{amount:.2f}"


@lru_cache(maxsize=65_536)
def number_text(value: Decimal | None) -> str:
    """Write hours or a rate with two to four decimals; None is empty."""
    if value is None:
        return ""
    whole, _, decimals = f"{value:.4f}".partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"


@lru_cache(maxsize=1024)
def rate_text(rate: Decimal) -> str:
    """Write a tax rate without trailing zeros."""
    return f"{rate.normalize():f}"


def spread(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """
    Divide an amount in proportion to weights, in whole cents. The parts add up to the amount exactly.

    The remaining cents go to the parts with the largest remainders; if these are equal, to the first parts.
    """
    cents, sign = abs(int(amount * 100)), -1 if amount < 0 else 1
    parts = [int(each * 100) for each in weights]
    return [Decimal(sign * each).scaleb(-2) for each in whole_parts([cents * each for each in parts], sum(parts))]
