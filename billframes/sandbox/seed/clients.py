"""Clients: companies and people, their contacts, and how they pay.

The API has no field for how a client pays: it shows in due dates, balances and write-downs. It is kept beside the
record, for creating the invoices.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from billframes.sandbox.seed.basics import SeededRandom, day, plain
from billframes.sandbox.seed.data import read
from billframes.sandbox.seed.people import FIRST_NAMES, LAST_NAMES

__all__ = ["COMPANY_HEADS", "FIRM_NAME", "Client", "client_rows", "draw_clients"]

_WORDS = read("clients")
FIRM_NAME: str = _WORDS["firm"]
COMPANY_HEADS: tuple[str, ...] = _WORDS["company_heads"]


@dataclass(slots=True, eq=False)
class Client:
    """A client's record, and its habits of paying."""

    name: str
    reference: str | None = None
    notes: str | None = None
    person: bool = False
    pays: str = "average"
    """prompt, average, slow, dragging or never."""
    terms: int = 30
    discount: float = 1.0
    """Negotiated share of standard rates."""
    haircut: float = 0.0
    """Write-down beyond the practice area's."""
    consolidated: bool = False
    """Whether its matters share an invoice."""
    client_id: str = ""
    contact: dict[str, str] = field(default_factory=dict)
    since: int = 0

    def engaged_before(self, ordinal: int) -> None:
        """Move the client's creation before this day, on which one of its matters is opened."""
        self.since = min(self.since, ordinal - 1)


_HABITS = ("prompt", "average", "slow", "dragging", "never")
_HABIT_WEIGHTS = (38, 38, 14, 9, 1)


def draw_clients(rng: SeededRandom, scale: int) -> list[Client]:
    """Return the clients of a firm `scale` times the small one."""
    clients = [Client(**each) for each in _WORDS["named"]]
    taken = {client.name for client in clients}
    while len(clients) < 60 * scale:
        clients.append(_drawn(rng, len(clients), taken))
    for client in clients:
        client.client_id = rng.uuid()
        client.since = day("2014-01-06") + rng.below(3_400)
        if rng.chance() < 0.2:
            client.since = day("2024-01-08") + rng.below(900)
        client.contact = _person_contact(rng, client.name) if client.person else _company_contact(rng, client.name)
    return clients


def _drawn(rng: SeededRandom, number: int, taken: set[str]) -> Client:
    person = rng.chance() < 0.42
    name = _name(rng, person=person)
    while name in taken:
        name = _name(rng, person=person)
    taken.add(name)
    client = Client(name, _reference(rng, number), person=person)
    client.pays = rng.weighted(_HABITS, _HABIT_WEIGHTS)
    client.terms = rng.weighted((15, 30, 45, 60), (12, 70, 10, 8))
    client.discount = 1.0 if person else rng.pick((1.0, 1.0, 0.95, 0.9))
    client.haircut = rng.pick((0.0, 0.0, 0.0, 0.02, -0.01))
    client.consolidated = not person and rng.chance() < 0.08
    return client


def _name(rng: SeededRandom, *, person: bool) -> str:
    if person:
        middle = rng.pick(("", "", f" {rng.pick('ABCDEGHJLMNPRST')}."))
        return f"{rng.pick(LAST_NAMES)}, {rng.pick(FIRST_NAMES)}{middle}"
    return f"{rng.pick(COMPANY_HEADS)} {rng.pick(_WORDS['company_tails'])} {rng.pick(_WORDS['company_kinds'])}"


def _reference(rng: SeededRandom, number: int) -> str | None:
    return None if rng.chance() < 0.12 else "" if rng.chance() < 0.05 else str(1060 + number)


def _company_contact(rng: SeededRandom, name: str) -> dict[str, str]:
    first, last = rng.pick(FIRST_NAMES), rng.pick(LAST_NAMES)
    stem = plain(name.replace(",", " ").split(" ", maxsplit=1)[0]).replace(".", "")
    domain = f"{stem or 'alnakhla'}.example.com"
    contact = {"companyName": name, "firstName": first, "lastName": last}
    contact["email"] = f"{plain(first)}.{plain(last)}@{domain}"
    if rng.chance() < 0.35:
        contact["emailCC"] = f"ap@{domain}"
    return contact | _address(rng, office=True)


def _person_contact(rng: SeededRandom, name: str) -> dict[str, str]:
    last, _, rest = name.partition(", ")
    given, _, suffix = rest.partition(", ")
    first, _, middle = (given or "Rosa").partition(" ")
    contact = {"firstName": first, "lastName": last.split(" ")[0]}
    if middle:
        contact["middleName"] = middle
    if suffix:
        contact["suffix"] = suffix
    contact["email"] = f"{plain(first)}.{plain(contact['lastName'])}@mail.test"
    return contact | _address(rng, office=False)


def _address(rng: SeededRandom, *, office: bool) -> dict[str, str]:
    city, state, code = rng.pick(_WORDS["cities"])
    street = f"{rng.between(2, 980)} {rng.pick(_WORDS['streets'])} Street"
    address = {"phone": f"(860) 555-01{rng.below(100):02d}"}
    if rng.chance() < 0.4:
        address["cellPhone"] = f"(203) 555-01{rng.below(100):02d}"
    if office and rng.chance() < 0.5:
        street += f"\nSuite {rng.between(1, 24) * 100}"
    return address | {"street": street, "city": city, "state": state, "zip": code, "country": "USA"}


def client_rows(clients: list[Client], rng: SeededRandom) -> Iterator[tuple[str | None, ...]]:
    """Return the rows of the table `client`."""
    for client in clients:
        modified = client.since + rng.below(max(1, day("2026-10-20") - client.since))
        yield (
            *(client.client_id, client.name, client.reference),
            *(json.dumps(client.contact, ensure_ascii=False), client.notes),
            *(rng.office_hours(client.since), rng.office_hours(modified + 1)),
        )
