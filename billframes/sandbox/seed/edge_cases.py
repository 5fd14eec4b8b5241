"""Edge cases of bookkeeping that the API allows: credits, overpayments, invoices without work.

An accounts department would recognize each of them; none follows from the month's work.
"""

from __future__ import annotations

from collections.abc import Iterator

from billframes.sandbox.seed.basics import CENT, Invoice, SeededRandom, day, iso, money
from billframes.sandbox.seed.billing import Bill, Numbers
from billframes.sandbox.seed.clients import Client
from billframes.sandbox.seed.data import read
from billframes.sandbox.seed.matters import Matter
from billframes.sandbox.seed.showcase_matters import CARRIED_OVER

__all__ = ["courtesy", "paid_twice", "standalone"]


def standalone(matters: list[Matter], numbers: Numbers, rng: SeededRandom) -> Iterator[Bill]:
    """Yield the invoices without items: the balance carried over, and the credit notes."""
    carried = next(matter for matter in matters if matter.name == CARRIED_OVER)
    yield _without_items(carried, "2024-01-02", 4_820.0, 1_320.0, numbers, rng)
    for start, date, amount, balance in read("clients")["credits"]:
        matter = next(each for each in matters if each.client.name.startswith(start))
        yield _without_items(matter, date, amount, balance, numbers, rng)


def _without_items(
    matter: Matter, date: str, amount: float, balance: float, numbers: Numbers, rng: SeededRandom
) -> Bill:
    ordinal = day(date)
    at = rng.office_hours(ordinal)
    due = iso(ordinal + matter.client.terms)
    numbered = (rng.uuid(), matter.client.client_id, f"{'CN' if amount < 0 else 'OB'}-{numbers.next()}")
    return Bill(Invoice(*numbered, date, "final", due, money(amount), money(balance), at, at), [matter])


def courtesy(bills: list[Bill], seen: set[str]) -> None:
    """Write off one client's first hourly invoice completely: a final invoice of zero, with its work on it."""
    for bill in bills:
        client = bill.matters[0].client
        if _is_courtesy(client, bill) and client.client_id not in seen:
            seen.add(client.client_id)
            bill.invoice.amount = bill.invoice.balance = 0


def _is_courtesy(client: Client, bill: Bill) -> bool:
    final_time = bill.invoice.invoice_state == "final" and 0 < bill.invoice.amount < 1_000_000 * CENT
    return client.name.startswith("Fjellstr") and final_time and not bill.expenses and not bill.fees


def paid_twice(bills: list[Bill], seen: set[str]) -> None:
    """Let a client pay one invoice twice, which leaves a negative balance."""
    for bill in bills:
        invoice, client = bill.invoice, bill.matters[0].client
        theirs = client.name.startswith("Quillfeather Media") and invoice.invoice_date >= "2026-02"
        if theirs and client.client_id not in seen and invoice.balance == 0 and invoice.amount > 0:
            seen.add(client.client_id)
            invoice.balance = -invoice.amount
