"""Month-end: due work is put on invoices, written down, and paid or not.

An invoice's amount is its net time fees, its expenses and its fixed fees. Net fees are the time at its rates
less the responsible attorney's write-down, which is rarely negative. The month's invoices are created in the first
days of the next month; those of October 2026, the last month, are drafts, in review or approved. Most
clients pay within two months, slow ones later and some of it, and one has not paid since March 2025.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from billframes.sandbox.seed.basics import (
    CENT,
    END,
    LAST_MONTH,
    Expense,
    FixedFee,
    Invoice,
    SeededRandom,
    TimeEntry,
    day,
    instant,
    iso,
    next_working_day,
    to_cents,
    working_days,
)
from billframes.sandbox.seed.clients import Client
from billframes.sandbox.seed.matters import Matter

__all__ = ["Bill", "Numbers", "month_end"]

# Shares of final, approved, review and draft, by the number of months between the work and the last month.
_STATES = ("final", "approved", "review", "draft")
_STATE_WEIGHTS = {0: (0, 10, 28, 62), 1: (83, 6, 7, 4), 2: (97, 0, 2, 1)}

# Days from the invoice date to payment, and the share of invoices still open afterwards.
_HABITS = {
    "prompt": (7, 34, 0.003),
    "average": (22, 76, 0.012),
    "slow": (55, 130, 0.06),
    "dragging": (75, 200, 0.12),
}

_LAST_PAYMENT_OF_THE_BROKE = day("2025-03-01")

_LEAST = 15_000 * CENT
"""Less than this waits for the next month."""


class Numbers:
    """Invoice numbers, in the order the invoices are created."""

    def __init__(self) -> None:
        self.last = 10_411

    def next(self) -> str:
        """Return the next invoice's number."""
        self.last += 1
        return str(self.last)


@dataclass(slots=True)
class Bill:
    """An invoice with all its items."""

    invoice: Invoice
    matters: list[Matter]
    times: list[TimeEntry] = field(default_factory=list)
    expenses: list[Expense] = field(default_factory=list)
    fees: list[FixedFee] = field(default_factory=list)


def month_end(
    by_client: list[tuple[Client, list[Matter]]], month: int, numbers: Numbers, rng: SeededRandom
) -> list[Bill]:
    """Bill a month's due matters and return the invoices, numbered in the order of their dates."""
    bills: list[Bill] = []
    for client, matters in by_client:
        for group in _groups(client, [matter for matter in matters if _due(matter, month, rng)]):
            bills += _draw_up(client, group, month, rng)
    bills.sort(key=lambda bill: (bill.invoice.created_at, bill.invoice.invoice_id))
    for bill in bills:
        bill.invoice.invoice_number = numbers.next()
    return bills


def _due(matter: Matter, month: int, rng: SeededRandom) -> bool:
    if not (matter.times or matter.expenses or matter.fees):
        return False
    if month == LAST_MONTH and rng.chance() < 0.4:
        return False
    if matter.habit == "quarterly":
        return month % 3 == 2 or month >= matter.last
    if matter.habit == "completion":
        return month >= matter.last or bool(matter.fees)
    if matter.habit == "neglected":
        return month % 12 == 5 and month < LAST_MONTH - 7
    if month in matter.haircuts:
        return True
    # In some months a responsible attorney does not release the prebill.
    return matter.habit == "monthly" and rng.chance() > 0.04


def _groups(client: Client, due: list[Matter]) -> Iterator[list[Matter]]:
    size = 3 if client.consolidated else 1
    for start in range(0, len(due), size):
        yield due[start : start + size]


def _draw_up(client: Client, group: list[Matter], month: int, rng: SeededRandom) -> Iterator[Bill]:
    created, dated = _dates(month, rng)
    worked = sum(entry.amount or 0 for matter in group for entry in matter.times if entry.created_at < created)
    costs = sum(item.amount for matter in group for item in matter.expenses if item.created_at < created)
    costs += sum(item.amount for matter in group for item in matter.fees if item.created_at < created)
    closing = all(month >= matter.last for matter in group)
    if worked < 0 or worked + costs <= 0 or (worked + costs < _LEAST and not closing):
        return
    invoice = Invoice(rng.uuid(), client.client_id, "", iso(dated), "draft", None, 0, 0, created, created)
    bill = Bill(invoice, group)
    for matter in group:
        _take(bill, matter)
    _total(bill, client, month, rng)
    _finish(bill, client, month, dated, rng)
    yield bill


def _dates(month: int, rng: SeededRandom) -> tuple[str, int]:
    """Return the instant of the invoice's creation, and its date."""
    if month == LAST_MONTH:
        run = END - rng.between(1, 2)
        return instant(run, 64_800 + rng.below(18_000), rng.below(1_000_000)), END
    first = working_days(month + 1)[rng.weighted((0, 1, 2, 3, 4, 6), (8, 22, 26, 20, 14, 10))]
    dated = next_working_day(first + rng.weighted((0, 1, 2, 4, 7, 10), (20, 22, 22, 18, 12, 6)))
    return instant(first, 50_400 + rng.below(28_000), rng.below(1_000_000)), dated


def _take(bill: Bill, matter: Matter) -> None:
    """Move the items entered in time from the matter to the bill; the others stay unbilled."""
    created, number = bill.invoice.created_at, bill.invoice.invoice_id
    late = [entry for entry in matter.times if entry.created_at >= created]
    for pending, taken in (
        (matter.times, bill.times),
        (matter.expenses, bill.expenses),
        (matter.fees, bill.fees),
    ):
        for item in pending:
            if item.created_at < created:
                item.invoice_id, item.modified_at = number, created
                taken.append(item)  # type: ignore[arg-type]
    matter.times = late
    matter.expenses = [item for item in matter.expenses if item.invoice_id is None]
    matter.fees = [item for item in matter.fees if item.invoice_id is None]


def _total(bill: Bill, client: Client, month: int, rng: SeededRandom) -> None:
    worked = sum(entry.amount or 0 for entry in bill.times)
    net = worked - _written_down(bill, client, worked, month, rng)
    bill.invoice.amount = net + sum(item.amount for item in bill.expenses) + sum(item.amount for item in bill.fees)
    bill.invoice.balance = bill.invoice.amount


def _written_down(bill: Bill, client: Client, worked: int, month: int, rng: SeededRandom) -> int:
    """Return the write-down of time: mostly positive, often zero, rarely negative."""
    event = max(matter.haircuts.get(month, 0.0) for matter in bill.matters)
    mean = max(0.01, bill.matters[0].area.write_down + client.haircut)
    chance = rng.chance()
    if chance < 0.025 and not event:
        share = -0.005 - 0.025 * rng.chance()
    elif chance < 0.36 and not event:
        share = 0.0
    else:
        share = min(0.38, rng.random.gammavariate(2.2, mean / 1.4)) + event
    cut = to_cents(round(worked * share))
    # Write-downs are rounded; small bills have none.
    return round(cut / (500 * CENT)) * 500 * CENT if cut > 20_000 * CENT else cut


def _finish(bill: Bill, client: Client, month: int, dated: int, rng: SeededRandom) -> None:
    """Set the invoice to the state it has on the last day."""
    invoice, ago = bill.invoice, LAST_MONTH - month
    if any(month in matter.haircuts for matter in bill.matters):
        # An invoice an auditor cut has passed every review.
        ago = LAST_MONTH
    state = rng.weighted(_STATES, _STATE_WEIGHTS[ago]) if ago in _STATE_WEIGHTS else "final"
    invoice.invoice_state = state
    if state == "final":
        _settle(invoice, client, dated, rng)
    elif state != "draft" and month < LAST_MONTH:
        reviewed = min(dated + rng.below(6), END - 1)
        invoice.modified_at = max(invoice.created_at, rng.office_hours(reviewed))


def _settle(invoice: Invoice, client: Client, dated: int, rng: SeededRandom) -> None:
    """Set a final invoice's due date, and its balance after the client's payments."""
    invoice.due_date = iso(dated + client.terms)
    issued = rng.office_hours(min(dated, END - 1))
    invoice.modified_at = max(invoice.created_at, issued)
    if client.pays == "never":
        _stop_paying(invoice, dated, rng)
        return
    quickest, slowest, disputed = _HABITS[client.pays]
    paid = dated + rng.between(quickest, slowest) + max(0, client.terms - 30) // 2
    partly = rng.chance() < disputed or (paid > END and client.pays == "dragging" and rng.chance() < 0.5)
    if paid <= END or (partly and dated < END - 20):
        invoice.balance = _rest(invoice.amount, rng) if partly else 0
        invoice.modified_at = max(invoice.modified_at, rng.office_hours(min(paid, END - 1)))


def _rest(amount: int, rng: SeededRandom) -> int:
    """Return the balance after a partial payment."""
    return to_cents(round(amount * rng.pick((0.1, 0.25, 0.4, 0.5, 0.6))))


def _stop_paying(invoice: Invoice, dated: int, rng: SeededRandom) -> None:
    paid = dated + rng.between(30, 70)
    if paid < _LAST_PAYMENT_OF_THE_BROKE:
        invoice.balance = 0
        invoice.modified_at = rng.office_hours(paid)
