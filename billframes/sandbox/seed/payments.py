"""Payment: how an invoice's due date and balance come about by the last day the firm has seen.

Most clients pay within two months, slow ones later and some of it, and one has not paid since March 2025.
"""

from __future__ import annotations

from billframes.sandbox.seed.basics import END, Dice, day, iso, to_cents
from billframes.sandbox.seed.clients import Client
from billframes.sandbox.seed.items import Invoice

__all__ = ["settle"]

# Days from the invoice date to payment, and the share of invoices still open afterwards.
_HABITS = {
    "prompt": (7, 34, 0.003),
    "average": (22, 76, 0.012),
    "slow": (55, 130, 0.06),
    "dragging": (75, 200, 0.12),
}

_LAST_PAYMENT_OF_THE_BROKE = day("2025-03-01")


def settle(invoice: Invoice, client: Client, dated: int, dice: Dice) -> None:
    """Give a final invoice its due date, and the balance left after what the client has paid."""
    invoice.due_date = iso(dated + client.terms)
    issued = dice.office_hours(min(dated, END - 1))
    invoice.modified_at = max(invoice.created_at, issued)
    if client.pays == "never":
        _stop_paying(invoice, dated, dice)
        return
    quickest, slowest, disputed = _HABITS[client.pays]
    paid = dated + dice.between(quickest, slowest) + max(0, client.terms - 30) // 2
    partly = dice.chance() < disputed or (paid > END and client.pays == "dragging" and dice.chance() < 0.5)
    if paid <= END or (partly and dated < END - 20):
        invoice.balance = _rest(invoice.amount, dice) if partly else 0
        invoice.modified_at = max(invoice.modified_at, dice.office_hours(min(paid, END - 1)))


def _rest(amount: int, dice: Dice) -> int:
    """Return what a partial payment leaves."""
    return to_cents(round(amount * dice.pick((0.1, 0.25, 0.4, 0.5, 0.6))))


def _stop_paying(invoice: Invoice, dated: int, dice: Dice) -> None:
    paid = dated + dice.between(30, 70)
    if paid < _LAST_PAYMENT_OF_THE_BROKE:
        invoice.balance = 0
        invoice.modified_at = dice.office_hours(paid)
