"""Matters with a story, and invoices that no month's work explains.

The insurer's trial fills October 2026; the contingency case accumulates unbilled time; the hotel group stopped paying;
the biotech wants three matters on one invoice. Some are edge cases for software: a matter with an invoice only, and one
with nothing. The invoices are edge cases of bookkeeping that the API allows: credits, overpayments, invoices without
work. An accounts department would recognize each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from billframes.sandbox.seed.basics import (
    CENT,
    FIRST_MONTH,
    LAST_MONTH,
    Invoice,
    SeededRandom,
    day,
    iso,
    money,
    month_days,
)
from billframes.sandbox.seed.billing import Bill, Numbers
from billframes.sandbox.seed.clients import FIRM_NAME, Client
from billframes.sandbox.seed.data import AREA_BY_KEY, read
from billframes.sandbox.seed.matters import Matter, Staffing
from billframes.sandbox.seed.people import Person

__all__ = ["audit", "courtesy", "paid_twice", "showcase_matters", "standalone"]

_WORDS = read("matters")


def showcase_matters(
    rng: SeededRandom, clients: list[Client], people: list[Person], staffing: Staffing
) -> Iterator[Matter]:
    """Yield the internal matters, then the ones with a story."""
    yield from _internal(rng, clients[0], people)
    for number, story in enumerate(_WORDS["stories"], start=1):
        named = [each for each in clients[1:40] if each.name.startswith(story["client"])]
        client = named[story.get("which", 0)]
        matter = Matter(rng.uuid(), client=client, **_told(story))
        matter.reference = f"{client.reference or '9999'}-{number:03d}"
        matter.created = matter.opened = month_days(min(matter.first, LAST_MONTH))[0] - 3
        client.engaged_before(matter.created)
        staffing.staff(matter, rng, big=matter.weight >= 3)
        yield matter


def _told(story: Mapping[str, Any]) -> dict[str, Any]:
    """Return a story's arguments of `Matter`, with its area, and its months as ordinals."""
    told = {name: value for name, value in story.items() if name not in {"client", "which"}}
    months = {name: _month(story[name]) for name in ("first", "last")}
    return told | months | {"area": AREA_BY_KEY[story["area"]], "surges": _by_month(story.get("surges", {}))}


def _by_month(figures: Mapping[str, float]) -> dict[int, float]:
    return {_month(text): figure for text, figure in figures.items()}


def _month(text: str) -> int:
    year, month = text.split("-")
    return int(year) * 12 + int(month) - 1


def audit(matters: list[Matter]) -> None:
    """Apply the auditor's write-downs to all of the insurer's matters."""
    write_downs = _by_month(_WORDS["audit"]["write_downs"])
    for matter in matters:
        if matter.client.name.startswith(_WORDS["audit"]["client"]):
            matter.haircuts = write_downs


def _internal(rng: SeededRandom, firm: Client, people: list[Person]) -> Iterator[Matter]:
    assert firm.name == FIRM_NAME  # noqa: S101 - the firm is its own first client
    for name, internal in _WORDS["internal"]:
        matter = Matter(rng.uuid(), name, firm, AREA_BY_KEY["corporate"], FIRST_MONTH, LAST_MONTH)
        matter.kind, matter.habit, matter.internal = "internal", "never", internal
        matter.listed_area, matter.responsible = False, people[0]
        matter.created = matter.opened = month_days(FIRST_MONTH - 96)[0] + 4
        firm.engaged_before(matter.created)
        yield matter


def standalone(matters: list[Matter], numbers: Numbers, rng: SeededRandom) -> Iterator[Bill]:
    """Yield the invoices without items: the balance carried over, and the credit notes."""
    carried = next(matter for matter in matters if matter.name == _WORDS["carried_over"])
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
