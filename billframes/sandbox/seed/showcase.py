"""Showcase matters, and invoices that no month's work explains.

The insurer's trial fills October 2026. The contingency case accumulates unbilled time. The hotel group stopped paying.
The biotech company wants three matters on one invoice. Other matters are edge cases for software: one has only an
invoice, and one has nothing. The invoices are edge cases of bookkeeping that the API allows: credits, overpayments, and
invoices without work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from billframes.sandbox.schema import CENT
from billframes.sandbox.seed.basics import FIRST_MONTH, LAST_MONTH, SeededRandom, day, iso, money, month_days
from billframes.sandbox.seed.billing import Invoice
from billframes.sandbox.seed.clients import FIRM_NAME, SeedClient
from billframes.sandbox.seed.data_files import AREA_BY_KEY, load_toml
from billframes.sandbox.seed.matters import SeedMatter, Staffing
from billframes.sandbox.seed.people import Person

_DATA = load_toml("matters")


def draw_showcase_matters(
    rng: SeededRandom, clients: list[SeedClient], people: list[Person], staffing: Staffing
) -> Iterator[SeedMatter]:
    """Yield the internal matters, then the showcase matters of clients."""
    yield from _draw_internal_matters(rng, clients[0], people)
    for number, listed in enumerate(_DATA["showcase"], start=1):
        named = [each for each in clients[1:40] if each.name.startswith(listed["client"])]
        client = named[listed.get("client_index", 0)]
        matter = SeedMatter(rng.uuid(), client=client, **_matter_arguments(listed))
        matter.reference = f"{client.reference or '9999'}-{number:03d}"
        matter.created = matter.opened = month_days(min(matter.first_month, LAST_MONTH))[0] - 3
        client.create_before(matter.created)
        staffing.staff(matter, rng, is_large=matter.weight >= 3)
        yield matter


def _matter_arguments(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `SeedMatter` for a showcase matter, with its area, and with months as integers."""
    arguments = {name: value for name, value in listed.items() if name not in {"client", "client_index"}}
    arguments |= {name: _month(listed[name]) for name in ("first_month", "last_month")}
    busier_months = _by_month(listed.get("busier_months", {}))
    return arguments | {"area": AREA_BY_KEY[listed["area"]], "busier_months": busier_months}


def _by_month(values: Mapping[str, float]) -> dict[int, float]:
    return {_month(text): value for text, value in values.items()}


def _month(text: str) -> int:
    year, month = text.split("-")
    return int(year) * 12 + int(month) - 1


def set_auditor_write_downs(matters: list[SeedMatter]) -> None:
    """Set the extra write-downs of an insurer's auditor on all of the insurer's matters."""
    write_downs = _by_month(_DATA["auditor"]["write_downs"])
    for matter in matters:
        if matter.client.name.startswith(_DATA["auditor"]["client"]):
            matter.extra_write_downs = write_downs


def _draw_internal_matters(rng: SeededRandom, firm: SeedClient, people: list[Person]) -> Iterator[SeedMatter]:
    assert firm.name == FIRM_NAME  # noqa: S101 - the firm is its own first client
    for name, topic in _DATA["internal"]:
        matter = SeedMatter(rng.uuid(), name, firm, AREA_BY_KEY["corporate"], FIRST_MONTH, LAST_MONTH)
        matter.matter_type, matter.billing_habit, matter.internal_topic = "internal", "never", topic
        matter.area_is_recorded, matter.responsible = False, people[0]
        matter.created = matter.opened = month_days(FIRST_MONTH - 96)[0] + 4
        firm.create_before(matter.created)
        yield matter


def invoices_without_items(matters: list[SeedMatter], numbers: Iterator[int], rng: SeededRandom) -> Iterator[Invoice]:
    """Yield the invoices without items: an opening balance from a former system, and the credit notes."""
    matter = next(each for each in matters if each.name == _DATA["opening_balance"])
    yield _without_items(matter, "2024-01-02", 4_820.0, 1_320.0, numbers, rng)
    for start, date, amount, balance in load_toml("clients")["credits"]:
        matter = next(each for each in matters if each.client.name.startswith(start))
        yield _without_items(matter, date, amount, balance, numbers, rng)


def _without_items(
    matter: SeedMatter, date: str, amount: float, balance: float, numbers: Iterator[int], rng: SeededRandom
) -> Invoice:
    at = rng.office_instant(day(date))
    due = iso(day(date) + matter.client.payment_days)
    invoice = Invoice(rng.uuid(), [matter], [], date, at, at, money(amount), money(balance), "", "final", due)
    invoice.invoice_number = f"{'CN' if amount < 0 else 'OB'}-{next(numbers)}"
    return invoice


def adjust_invoices(invoices: list[Invoice], adjusted: set[str]) -> None:
    """
    Write off one client's first hourly invoice completely, and let another client pay one invoice twice.

    `adjusted` are the ids of clients whose invoice was adjusted in an earlier month; this month's are added.
    """
    for invoice in invoices:
        if invoice.client_id in adjusted:
            continue
        if _is_to_write_off(invoice):
            invoice.amount = invoice.balance = 0
            adjusted.add(invoice.client_id)
        elif _is_to_overpay(invoice):
            invoice.balance = -invoice.amount
            adjusted.add(invoice.client_id)


def _is_to_write_off(invoice: Invoice) -> bool:
    is_fitting = invoice.invoice_state == "final" and 0 < invoice.amount < 1_000_000 * CENT
    return invoice.client.name.startswith("Fjellstr") and is_fitting and invoice.has_only_time


def _is_to_overpay(invoice: Invoice) -> bool:
    is_paid = invoice.balance == 0 and invoice.amount > 0
    return invoice.client.name.startswith("Quillfeather Media") and invoice.invoice_date >= "2026-02" and is_paid
