"""Clients: companies and people, their contacts, and how they pay.

The API has no field for how a client pays. It shows in due dates, balances and write-downs, so the client's habits are
kept here until the invoices are made.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from billframes.sandbox.seed.basics import SeededRandom, ascii_name, day
from billframes.sandbox.seed.data_files import load_toml
from billframes.sandbox.seed.people import FIRST_NAMES, LAST_NAMES

_DATA = load_toml("clients")
FIRM_NAME: str = _DATA["firm"]
COMPANY_HEADS: tuple[str, ...] = _DATA["company_heads"]


@dataclass(slots=True, eq=False)
class SeedClient:
    """A client's record, and how the client pays."""

    name: str
    reference: str | None = None
    notes: str | None = None
    is_person: bool = False
    payment_habit: str = "average"
    """prompt, average, slow, dragging or never."""
    payment_days: int = 30
    """Days from the invoice date to the due date."""
    rate_share: float = 1.0
    """Negotiated share of standard rates."""
    extra_write_down: float = 0.0
    """Share of worked fees written down, in addition to the practice area's."""
    shares_invoices: bool = False
    """Whether several of its matters are on one invoice."""
    client_id: str = ""
    contact: dict[str, str] = field(default_factory=dict)
    created: int = 0

    def create_before(self, ordinal: int) -> None:
        """Move the client's creation before the day on which one of its matters is opened."""
        self.created = min(self.created, ordinal - 1)


_PAYMENT_HABITS = ("prompt", "average", "slow", "dragging", "never")
_PAYMENT_WEIGHTS = (38, 38, 14, 9, 1)


def draw_clients(rng: SeededRandom, scale: int) -> list[SeedClient]:
    """Return the clients of a firm `scale` times the small one."""
    clients = [SeedClient(**each) for each in _DATA["named"]]
    taken = {client.name for client in clients}
    while len(clients) < 60 * scale:
        clients.append(_draw_client(rng, len(clients), taken))
    for client in clients:
        client.client_id = rng.uuid()
        client.created = day("2014-01-06") + rng.below(3_400)
        if rng.chance() < 0.2:
            client.created = day("2024-01-08") + rng.below(900)
        draw_contact = _draw_person_contact if client.is_person else _draw_company_contact
        client.contact = draw_contact(rng, client.name)
    return clients


def _draw_client(rng: SeededRandom, number: int, taken: set[str]) -> SeedClient:
    is_person = rng.chance() < 0.42
    name = _draw_name(rng, is_person=is_person)
    while name in taken:
        name = _draw_name(rng, is_person=is_person)
    taken.add(name)
    client = SeedClient(name, _draw_reference(rng, number), is_person=is_person)
    client.payment_habit = rng.weighted(_PAYMENT_HABITS, _PAYMENT_WEIGHTS)
    client.payment_days = rng.weighted((15, 30, 45, 60), (12, 70, 10, 8))
    client.rate_share = 1.0 if is_person else rng.pick((1.0, 1.0, 0.95, 0.9))
    client.extra_write_down = rng.pick((0.0, 0.0, 0.0, 0.02, -0.01))
    client.shares_invoices = not is_person and rng.chance() < 0.08
    return client


def _draw_name(rng: SeededRandom, *, is_person: bool) -> str:
    if is_person:
        middle = rng.pick(("", "", f" {rng.pick('ABCDEGHJLMNPRST')}."))
        return f"{rng.pick(LAST_NAMES)}, {rng.pick(FIRST_NAMES)}{middle}"
    return f"{rng.pick(COMPANY_HEADS)} {rng.pick(_DATA['company_tails'])} {rng.pick(_DATA['company_kinds'])}"


def _draw_reference(rng: SeededRandom, number: int) -> str | None:
    return None if rng.chance() < 0.12 else "" if rng.chance() < 0.05 else str(1060 + number)


def _draw_company_contact(rng: SeededRandom, name: str) -> dict[str, str]:
    first, last = rng.pick(FIRST_NAMES), rng.pick(LAST_NAMES)
    stem = ascii_name(name.replace(",", " ").split(" ", maxsplit=1)[0]).replace(".", "")
    domain = f"{stem or 'alnakhla'}.example.com"
    contact = {"companyName": name, "firstName": first, "lastName": last}
    contact["email"] = f"{ascii_name(first)}.{ascii_name(last)}@{domain}"
    if rng.chance() < 0.35:
        contact["emailCC"] = f"ap@{domain}"
    return contact | _draw_address(rng, is_office=True)


def _draw_person_contact(rng: SeededRandom, name: str) -> dict[str, str]:
    last, _, rest = name.partition(", ")
    given, _, suffix = rest.partition(", ")
    first, _, middle = (given or "Rosa").partition(" ")
    contact = {"firstName": first, "lastName": last.split(" ")[0]}
    if middle:
        contact["middleName"] = middle
    if suffix:
        contact["suffix"] = suffix
    contact["email"] = f"{ascii_name(first)}.{ascii_name(contact['lastName'])}@mail.test"
    return contact | _draw_address(rng, is_office=False)


def _draw_address(rng: SeededRandom, *, is_office: bool) -> dict[str, str]:
    city, state, code = rng.pick(_DATA["cities"])
    street = f"{rng.between(2, 980)} {rng.pick(_DATA['streets'])} Street"
    address = {"phone": f"(860) 555-01{rng.below(100):02d}"}
    if rng.chance() < 0.4:
        address["cellPhone"] = f"(203) 555-01{rng.below(100):02d}"
    if is_office and rng.chance() < 0.5:
        street += f"\nSuite {rng.between(1, 24) * 100}"
    return address | {"street": street, "city": city, "state": state, "zip": code, "country": "USA"}


def client_rows(clients: list[SeedClient], rng: SeededRandom) -> Iterator[tuple[str | None, ...]]:
    """Return the rows of the table `client`."""
    for client in clients:
        modified = client.created + rng.below(max(1, day("2026-10-20") - client.created))
        yield (
            *(client.client_id, client.name, client.reference),
            *(json.dumps(client.contact, ensure_ascii=False), client.notes),
            *(rng.office_instant(client.created), rng.office_instant(modified + 1)),
        )
