"""Month-end: work is put on invoices, written down, and paid or not.

An invoice's amount is its net time fees, its expenses and its fixed fees. Net time fees are hours at their rates less
the responsible attorney's write-down, which is rarely negative. The month's invoices are created in the first days of
the next month; those of October 2026, the last month, are drafts, in review or approved. Most clients pay within two
months, slow ones pay later or only a part, and one has not paid since March 2025.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from billframes.sandbox.schema import CENT
from billframes.sandbox.seed.basics import (
    END,
    LAST_MONTH,
    FixedFee,
    Item,
    SeededRandom,
    TimeEntry,
    day,
    instant,
    iso,
    next_working_day,
    to_cents,
    working_days,
)
from billframes.sandbox.seed.clients import SeedClient
from billframes.sandbox.seed.matters import SeedMatter

# The weight of each state, by the number of months between the work and the last month.
_STATES = ("final", "approved", "review", "draft")
_STATE_WEIGHTS = {0: (0, 10, 28, 62), 1: (83, 6, 7, 4), 2: (97, 0, 2, 1)}

# Fewest and most days from the invoice date to payment, and the share of invoices that are paid only in part.
_PAYMENTS = {"prompt": (7, 34, 0.003), "average": (22, 76, 0.012), "slow": (55, 130, 0.06), "dragging": (75, 200, 0.12)}
# From this day on, clients with the habit "never" do not pay.
_NEVER_FROM = day("2025-03-01")

# Smaller invoices wait for the next month.
_MINIMUM = 15_000 * CENT


@dataclass(slots=True, eq=False)
class Invoice:
    """An invoice, with its matters and items. The other attributes are columns of the table `invoice`."""

    id: str
    matters: list[SeedMatter]
    items: list[Item]
    invoice_date: str
    created_at: str
    modified_at: str
    amount: int
    balance: int
    invoice_number: str = ""
    invoice_state: str = "draft"
    due_date: str | None = None

    @property
    def client(self) -> SeedClient:
        """The client of its matters."""
        return self.matters[0].client

    @property
    def client_id(self) -> str:
        """The client's id."""
        return self.client.client_id

    @property
    def has_only_time(self) -> bool:
        """Whether all its items are time entries."""
        return all(isinstance(item, TimeEntry) for item in self.items)


def bill_month(
    by_client: list[tuple[SeedClient, list[SeedMatter]]], month: int, numbers: Iterator[int], rng: SeededRandom
) -> list[Invoice]:
    """Bill the matters that are due this month, and return the invoices in the order in which they are created."""
    invoices = [
        invoice
        for client, matters in by_client
        for group in _groups(client, [matter for matter in matters if _is_due(matter, month, rng)])
        if (invoice := _draw_invoice(group, month, rng))
    ]
    invoices.sort(key=lambda invoice: (invoice.created_at, invoice.id))
    for invoice in invoices:
        invoice.invoice_number = str(next(numbers))
    return invoices


def _is_due(matter: SeedMatter, month: int, rng: SeededRandom) -> bool:
    if not matter.items:
        return False
    if month == LAST_MONTH and rng.chance() < 0.4:
        return False
    if matter.billing_habit == "quarterly":
        return month % 3 == 2 or month >= matter.last_month
    if matter.billing_habit == "completion":
        return month >= matter.last_month or any(isinstance(item, FixedFee) for item in matter.items)
    if matter.billing_habit == "neglected":
        return month % 12 == 5 and month < LAST_MONTH - 7
    if month in matter.extra_write_downs:
        return True
    # In some months the responsible attorney does not release the draft.
    return matter.billing_habit == "monthly" and rng.chance() > 0.04


def _groups(client: SeedClient, due: list[SeedMatter]) -> Iterator[list[SeedMatter]]:
    size = 3 if client.shares_invoices else 1
    for start in range(0, len(due), size):
        yield due[start : start + size]


def _draw_invoice(group: list[SeedMatter], month: int, rng: SeededRandom) -> Invoice | None:
    """
    Return the invoice of a group of matters; None if its amount is too small.

    Items created after the invoice stay unbilled.
    """
    created, dated = _draw_dates(month, rng)
    items = [item for matter in group for item in matter.items if item.created_at < created]
    worked = sum(item.amount or 0 for item in items if isinstance(item, TimeEntry))
    total = sum(item.amount or 0 for item in items)
    is_last = all(month >= matter.last_month for matter in group)
    if worked < 0 or total <= 0 or (total < _MINIMUM and not is_last):
        return None
    invoice = Invoice(rng.uuid(), group, items, iso(dated), created, created, total, total)
    for item in items:
        item.invoice_id, item.modified_at = invoice.id, created
    for matter in group:
        matter.items = [item for item in matter.items if item.invoice_id is None]
    invoice.amount -= _draw_write_down(invoice, worked, month, rng)
    invoice.balance = invoice.amount
    _set_state(invoice, month, dated, rng)
    return invoice


def _draw_dates(month: int, rng: SeededRandom) -> tuple[str, int]:
    if month == LAST_MONTH:
        ordinal = END - rng.between(1, 2)
        return instant(ordinal, 64_800 + rng.below(18_000), rng.below(1_000_000)), END
    first = working_days(month + 1)[rng.weighted((0, 1, 2, 3, 4, 6), (8, 22, 26, 20, 14, 10))]
    dated = next_working_day(first + rng.weighted((0, 1, 2, 4, 7, 10), (20, 22, 22, 18, 12, 6)))
    return instant(first, 50_400 + rng.below(28_000), rng.below(1_000_000)), dated


def _draw_write_down(invoice: Invoice, worked: int, month: int, rng: SeededRandom) -> int:
    """Draw the write-down of time fees: mostly positive, often zero, rarely negative."""
    extra = max(matter.extra_write_downs.get(month, 0.0) for matter in invoice.matters)
    mean = max(0.01, invoice.matters[0].area.write_down + invoice.client.extra_write_down)
    chance = rng.chance()
    if chance < 0.025 and not extra:
        share = -0.005 - 0.025 * rng.chance()
    elif chance < 0.36 and not extra:
        share = 0.0
    else:
        share = min(0.38, rng.random.gammavariate(2.2, mean / 1.4)) + extra
    write_down = to_cents(round(worked * share))
    # Large write-downs are rounded to $5.
    return round(write_down / (500 * CENT)) * 500 * CENT if write_down > 20_000 * CENT else write_down


def _set_state(invoice: Invoice, month: int, dated: int, rng: SeededRandom) -> None:
    """Set the state that the invoice has on the last day."""
    months_ago = LAST_MONTH - month
    if any(month in matter.extra_write_downs for matter in invoice.matters):
        # An invoice that an auditor wrote down is final.
        months_ago = LAST_MONTH
    state = rng.weighted(_STATES, _STATE_WEIGHTS[months_ago]) if months_ago in _STATE_WEIGHTS else "final"
    invoice.invoice_state = state
    if state == "final":
        _finalize(invoice, dated, rng)
    elif state != "draft" and month < LAST_MONTH:
        reviewed = min(dated + rng.below(6), END - 1)
        invoice.modified_at = max(invoice.created_at, rng.office_instant(reviewed))


def _finalize(invoice: Invoice, dated: int, rng: SeededRandom) -> None:
    """Set a final invoice's due date, and its balance after the client's payments."""
    client = invoice.client
    invoice.due_date = iso(dated + client.payment_days)
    issued = rng.office_instant(min(dated, END - 1))
    invoice.modified_at = max(invoice.created_at, issued)
    if client.payment_habit == "never":
        paid = dated + rng.between(30, 70)
        if paid < _NEVER_FROM:
            invoice.balance = 0
            invoice.modified_at = rng.office_instant(paid)
        return
    earliest, latest, part_share = _PAYMENTS[client.payment_habit]
    paid = dated + rng.between(earliest, latest) + max(0, client.payment_days - 30) // 2
    in_part = rng.chance() < part_share or (paid > END and client.payment_habit == "dragging" and rng.chance() < 0.5)
    if paid <= END or (in_part and dated < END - 20):
        invoice.balance = to_cents(round(invoice.amount * rng.pick((0.1, 0.25, 0.4, 0.5, 0.6)))) if in_part else 0
        invoice.modified_at = max(invoice.modified_at, rng.office_instant(min(paid, END - 1)))
