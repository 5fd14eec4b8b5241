"""Divide each payment of an invoice into tax, expenses and fees, in cents.

There is one rule: each event, in the order of dates, takes from what is still open. In an order of parts, it takes the
first part until that is empty, then the next; otherwise all open parts in proportion. Credits and write-offs take in
proportion, whatever the order of payments. A reversal puts back in the opposite order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from billframes.config.taxes import PARTS, PaymentOrder


def spread(total: int, weights: Mapping[str, int]) -> dict[str, int]:
    """
    Divide cents in proportion to weights: whole cents, the largest remainders first, ties to the earlier key.

    Examples
    --------
    >>> spread(60_000, {"tax": 13_000, "expenses": 20_000, "fees": 80_000})
    {'tax': 6903, 'expenses': 10619, 'fees': 42478}
    """
    whole = sum(weights.values())
    if not whole:
        return dict.fromkeys(weights, 0)
    sign = -1 if total < 0 else 1
    parts = {name: abs(total) * weight // whole for name, weight in weights.items()}
    rests = sorted(weights, key=lambda name: -(abs(total) * weights[name] % whole))
    for name in rests[: abs(total) - sum(parts.values())]:
        parts[name] += 1
    return {name: sign * part for name, part in parts.items()}


class InvoiceParts:
    """
    The parts of one invoice in cents, and what of them is still open. A credit has all of its amount as fees.

    Examples
    --------
    >>> invoice = InvoiceParts(13_000, 20_000, 80_000)
    >>> invoice.take(60_000, ("tax", "expenses", "fees"))
    ({'tax': 13000, 'expenses': 20000, 'fees': 27000}, 0)
    >>> invoice.take(60_000, ("tax", "expenses", "fees"))
    ({'tax': 0, 'expenses': 0, 'fees': 53000}, 7000)
    """

    def __init__(self, tax: int, expenses: int, fees: int) -> None:
        self._whole = dict(zip(PARTS, (tax, expenses, fees), strict=True))
        self.open = dict(self._whole)
        self.left = tax + expenses + fees

    def take(self, amount: int, order: PaymentOrder) -> tuple[dict[str, int], int]:
        """Take an amount from what is open, or put a negative one back; return its parts, and what was too much."""
        room = self.open if amount > 0 else {name: self._whole[name] - self.open[name] for name in PARTS}
        whole = sum(room.values())
        applied = min(abs(amount), whole)
        if applied == whole:
            parts = dict(room)
        elif order == "proportional":
            parts = spread(applied, room)
        else:
            parts = _in_order(applied, room, order if amount > 0 else tuple(reversed(order)))
        sign = 1 if amount > 0 else -1
        parts = {name: sign * part for name, part in parts.items()}
        self.open = {name: self.open[name] - parts[name] for name in PARTS}
        self.left -= sign * applied
        return parts, amount - sign * applied


def _in_order(amount: int, room: Mapping[str, int], order: Sequence[str]) -> dict[str, int]:
    parts = dict.fromkeys(PARTS, 0)
    for name in order:
        parts[name] = min(amount, room[name])
        amount -= parts[name]
    return parts
