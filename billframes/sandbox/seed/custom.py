"""Custom fields of clients, matters and users, and their values.

There are all five types, a field without values, and options that nobody chose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from billframes.sandbox.seed.basics import SeededRandom, iso
from billframes.sandbox.seed.clients import Client
from billframes.sandbox.seed.data import read
from billframes.sandbox.seed.matters import Matter
from billframes.sandbox.seed.people import Person

__all__ = ["Options", "field_rows", "make_options", "option_rows", "value_rows"]

_WORDS = read("custom_fields")

# Option ids by field and label, without the mark of options nobody chooses.
Options = dict[str, dict[str, str]]


def make_options(rng: SeededRandom) -> Options:
    """Return an id for each option."""
    enums = (each for each in _WORDS["fields"] if "options" in each)
    return {each["id"]: {label.lstrip("-"): rng.uuid() for label in each["options"]} for each in enums}


def field_rows() -> Iterator[tuple[str, str, str, str, int]]:
    """Return the rows of the table `custom_field`."""
    for position, each in enumerate(_WORDS["fields"]):
        yield each["id"], each["entity"], each["name"], each["type"], position


def option_rows(options: Options) -> Iterator[tuple[str, str, str, int]]:
    """Return the rows of the table `custom_field_option`."""
    for key, labels in options.items():
        for position, (label, option) in enumerate(labels.items()):
            yield option, key, label, position


ValueRow = tuple[str, str, str | None, str | None]


def value_rows(
    clients: list[Client], matters: list[Matter], people: list[Person], options: Options, rng: SeededRandom
) -> Iterator[ValueRow]:
    """Return the rows of the table `custom_value`."""
    records: tuple[tuple[list[Any], str, Callable[[Any, SeededRandom], dict[str, Any]]], ...] = (
        (clients[1:], "client_id", _of_client),
        ([matter for matter in matters if not matter.internal], "matter_id", _of_matter),
        (people, "user_id", _of_user),
    )
    for those, key, values_of in records:
        for record in those:
            for field, value in values_of(record, rng).items():
                if value is not None:
                    yield getattr(record, key), field, *_stored(field, value, options)


def _stored(field: str, value: Any, options: Options) -> tuple[str | None, str | None]:
    if field in options:
        return None, options[field][value]
    return json.dumps(value, ensure_ascii=False), None


def _perhaps(rng: SeededRandom, share: float, value: Any) -> Any:
    return value if rng.chance() < share else None


def _chosen(field: str) -> list[str]:
    """Return the options of a field that records may have."""
    options = next(each["options"] for each in _WORDS["fields"] if each["id"] == field)
    return [label for label in options if not label.startswith("-")]


def _of_client(client: Client, rng: SeededRandom) -> dict[str, Any]:
    industry = rng.pick(_chosen("cf-client-industry"))
    return {
        "cf-client-industry": None if client.person else _perhaps(rng, 0.8, industry),
        "cf-client-since": _perhaps(rng, 0.7, iso(client.since)),
        "cf-client-guidelines": _perhaps(rng, 0.6, client.discount < 1),
        "cf-client-credit": _perhaps(rng, 0.3, rng.between(2, 30) * 5_000),
        "cf-client-vendor": None if client.person else _perhaps(rng, 0.25, f"V-{rng.between(10_000, 99_999)}"),
    }


def _of_matter(matter: Matter, rng: SeededRandom) -> dict[str, Any]:
    dispute = matter.area.code_set == "UTBMS-LIT"
    trial = iso(min(matter.created + rng.between(400, 900), matter.created + 720)) if dispute else None
    if matter.name.startswith("Castellane"):
        trial = "2026-10-13"
    return {
        "cf-matter-court": _perhaps(rng, 0.8, rng.pick(_WORDS["courts"])) if dispute else None,
        "cf-matter-trial": trial if trial == "2026-10-13" else _perhaps(rng, 0.4, trial),
        "cf-matter-budget": _perhaps(rng, 0.35, round(matter.weight * 22 + 6) * 1_500.0),
        "cf-matter-insured": _perhaps(rng, 0.3, bool(matter.ledes[0])),
        "cf-matter-phase": "Closed" if matter.archived else _perhaps(rng, 0.7, rng.pick(_WORDS["phases"])),
        # Without chance, so that everything else about the firm stays as it was.
        "cf-matter-client-number": _client_number(matter),
    }


def _client_number(matter: Matter) -> str | None:
    """Return an insurer's own number of a matter, as its electronic bills must carry it."""
    insured = matter.client.name.startswith("Granite Mutual") and matter.ledes[0]
    return f"GM-{matter.reference}" if insured and matter.reference else None


def _of_user(person: Person, rng: SeededRandom) -> dict[str, Any]:
    lawyer = person.role in {"principal", "attorney"}
    target = {"principal": 1_300, "attorney": 1_600, "paralegal": 1_350}.get(person.role) if person.bills else None
    return {
        "cf-user-office": _perhaps(rng, 0.9, rng.pick(_WORDS["offices"])),
        "cf-user-bar": f"{rng.between(401_000, 449_999)}" if lawyer else None,
        "cf-user-start": iso(person.start),
        "cf-user-parttime": _perhaps(rng, 0.8, len(person.days) < 5),
        "cf-user-target": target and round(target * len(person.days) / 5, 1),
    }
