"""Custom fields of clients, matters and users, and their values.

There are fields of all five types, a field without values, and options without values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from billframes.sandbox.seed.basics import SeededRandom, iso
from billframes.sandbox.seed.clients import SeedClient
from billframes.sandbox.seed.data_files import load_toml
from billframes.sandbox.seed.matters import SeedMatter
from billframes.sandbox.seed.people import Person

_DATA = load_toml("custom_fields")

# Option ids by field and label, without the `-` of options that no record has.
OptionIds = dict[str, dict[str, str]]


def draw_options(rng: SeededRandom) -> OptionIds:
    """Draw an id for each option."""
    enums = (each for each in _DATA["fields"] if "options" in each)
    return {each["id"]: {label.lstrip("-"): rng.uuid() for label in each["options"]} for each in enums}


def field_rows() -> Iterator[tuple[str, str, str, str, int]]:
    """Return the rows of the table `custom_field`."""
    for position, each in enumerate(_DATA["fields"]):
        yield each["id"], each["entity"], each["name"], each["type"], position


def option_rows(options: OptionIds) -> Iterator[tuple[str, str, str, int]]:
    """Return the rows of the table `custom_field_option`."""
    for key, labels in options.items():
        for position, (label, option) in enumerate(labels.items()):
            yield option, key, label, position


ValueRow = tuple[str, str, str | None, str | None]


def draw_value_rows(
    clients: list[SeedClient], matters: list[SeedMatter], people: list[Person], options: OptionIds, rng: SeededRandom
) -> Iterator[ValueRow]:
    """Draw the rows of the table `custom_value`."""
    records: tuple[tuple[list[Any], str, Callable[[Any, SeededRandom], dict[str, Any]]], ...] = (
        (clients[1:], "client_id", _draw_client_values),
        ([matter for matter in matters if not matter.internal_topic], "matter_id", _draw_matter_values),
        (people, "user_id", _draw_user_values),
    )
    for kind, key, draw_values in records:
        for record in kind:
            for field, value in draw_values(record, rng).items():
                if value is not None:
                    yield getattr(record, key), field, *_value_columns(field, value, options)


def _value_columns(field: str, value: Any, options: OptionIds) -> tuple[str | None, str | None]:
    if field in options:
        return None, options[field][value]
    return json.dumps(value, ensure_ascii=False), None


def _perhaps(rng: SeededRandom, share: float, value: Any) -> Any:
    return value if rng.chance() < share else None


def _usable_options(field: str) -> list[str]:
    options = next(each["options"] for each in _DATA["fields"] if each["id"] == field)
    return [label for label in options if not label.startswith("-")]


def _draw_client_values(client: SeedClient, rng: SeededRandom) -> dict[str, Any]:
    industry = rng.pick(_usable_options("cf-client-industry"))
    return {
        "cf-client-industry": None if client.is_person else _perhaps(rng, 0.8, industry),
        "cf-client-since": _perhaps(rng, 0.7, iso(client.created)),
        "cf-client-guidelines": _perhaps(rng, 0.6, client.rate_share < 1),
        "cf-client-credit": _perhaps(rng, 0.3, rng.between(2, 30) * 5_000),
        "cf-client-vendor": None if client.is_person else _perhaps(rng, 0.25, f"V-{rng.between(10_000, 99_999)}"),
    }


def _draw_matter_values(matter: SeedMatter, rng: SeededRandom) -> dict[str, Any]:
    is_dispute = matter.area.code_set == "UTBMS-LIT"
    trial = iso(min(matter.created + rng.between(400, 900), matter.created + 720)) if is_dispute else None
    if matter.name.startswith("Castellane"):
        trial = "2026-10-13"
    return {
        "cf-matter-court": _perhaps(rng, 0.8, rng.pick(_DATA["courts"])) if is_dispute else None,
        "cf-matter-trial": trial if trial == "2026-10-13" else _perhaps(rng, 0.4, trial),
        "cf-matter-budget": _perhaps(rng, 0.35, round(matter.weight * 22 + 6) * 1_500.0),
        "cf-matter-insured": _perhaps(rng, 0.3, bool(matter.ledes[0])),
        "cf-matter-phase": "Closed" if matter.archived else _perhaps(rng, 0.7, rng.pick(_DATA["phases"])),
        # Drawing no random number here keeps the rest of the firm as it was before this field.
        "cf-matter-client-number": _client_number(matter),
    }


def _client_number(matter: SeedMatter) -> str | None:
    """Return the insurer's own number of a matter, which its electronic bills require."""
    is_insured = matter.client.name.startswith("Granite Mutual") and matter.ledes[0]
    return f"GM-{matter.reference}" if is_insured and matter.reference else None


def _draw_user_values(person: Person, rng: SeededRandom) -> dict[str, Any]:
    is_lawyer = person.role in {"principal", "attorney"}
    targets = {"principal": 1_300, "attorney": 1_600, "paralegal": 1_350}
    target = targets.get(person.role) if person.is_timekeeper else None
    return {
        "cf-user-office": _perhaps(rng, 0.9, rng.pick(_DATA["offices"])),
        "cf-user-bar": f"{rng.between(401_000, 449_999)}" if is_lawyer else None,
        "cf-user-start": iso(person.start),
        "cf-user-parttime": _perhaps(rng, 0.8, len(person.weekdays) < 5),
        "cf-user-target": target and round(target * len(person.weekdays) / 5, 1),
    }
