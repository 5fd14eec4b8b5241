"""Custom fields: what this firm added to clients, matters and users, and how thoroughly it filled them in.

All five types are here, a field nobody has filled in, and options nobody has chosen.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from billframes.sandbox.seed.basics import Dice, iso
from billframes.sandbox.seed.clients import Client
from billframes.sandbox.seed.matters import Matter
from billframes.sandbox.seed.people import Person

__all__ = ["FIELDS", "Options", "field_rows", "make_options", "option_rows", "value_rows"]

# id, entity, name, type, options; an option that starts with "-" is one nobody chooses.
FIELDS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (
        *("cf-client-industry", "client", "Industry", "enum"),
        ("Manufacturing", "Real estate", "Technology", "Health care", "Financial services", "-Public sector"),
    ),
    ("cf-client-since", "client", "Client since", "date", ()),
    ("cf-client-guidelines", "client", "Outside counsel guidelines", "boolean", ()),
    ("cf-client-credit", "client", "Credit limit", "number", ()),
    ("cf-client-vendor", "client", "Vendor number", "text", ()),
    ("cf-client-language", "client", "Preferred language", "text", ()),
    ("cf-matter-court", "matter", "Court", "text", ()),
    ("cf-matter-trial", "matter", "Trial date", "date", ()),
    ("cf-matter-budget", "matter", "Budget", "number", ()),
    ("cf-matter-insured", "matter", "Insured", "boolean", ()),
    (
        *("cf-matter-phase", "matter", "Phase", "enum"),
        ("Intake", "Active", "Closing", "Closed", "-Appeal"),
    ),
    ("cf-user-office", "user", "Office", "enum", ("Hartford", "Stamford", "-Boston")),
    ("cf-user-bar", "user", "Bar number", "text", ()),
    ("cf-user-start", "user", "Start date", "date", ()),
    ("cf-user-parttime", "user", "Part time", "boolean", ()),
    ("cf-user-target", "user", "Annual target hours", "number", ()),
)

# Option ids by field and label, without the mark of the unchosen.
Options = dict[str, dict[str, str]]

_COURTS = (
    "Superior Court, Hartford",
    "D. Conn.",
    "Superior Court, Stamford",
    "Commercial Division, New York County",
)
_PHASES = ("Intake", "Active", "Active", "Active", "Closing")


def make_options(dice: Dice) -> Options:
    """Return an id for each option."""
    return {key: {label.lstrip("-"): dice.uuid() for label in labels} for key, *_, labels in FIELDS if labels}


def field_rows() -> Iterator[tuple[str, str, str, str, int]]:
    """Return the rows of the table `custom_field`."""
    for position, (key, entity, name, kind, _) in enumerate(FIELDS):
        yield key, entity, name, kind, position


def option_rows(options: Options) -> Iterator[tuple[str, str, str, int]]:
    """Return the rows of the table `custom_field_option`."""
    for key, labels in options.items():
        for position, (label, option) in enumerate(labels.items()):
            yield option, key, label, position


ValueRow = tuple[str, str, str | None, str | None]


def value_rows(
    clients: list[Client], matters: list[Matter], people: list[Person], options: Options, dice: Dice
) -> Iterator[ValueRow]:
    """Return the rows of the table `custom_value`: what was filled in."""
    records: tuple[tuple[list[Any], str, Callable[[Any, Dice], dict[str, Any]]], ...] = (
        (clients[1:], "client_id", _of_client),
        ([matter for matter in matters if not matter.internal], "matter_id", _of_matter),
        (people, "user_id", _of_user),
    )
    for those, key, values_of in records:
        for record in those:
            for field, value in values_of(record, dice).items():
                if value is not None:
                    yield getattr(record, key), field, *_stored(field, value, options)


def _stored(field: str, value: Any, options: Options) -> tuple[str | None, str | None]:
    if field in options:
        return None, options[field][value]
    return json.dumps(value, ensure_ascii=False), None


def _perhaps(dice: Dice, share: float, value: Any) -> Any:
    return value if dice.chance() < share else None


def _of_client(client: Client, dice: Dice) -> dict[str, Any]:
    industry = dice.pick(("Manufacturing", "Real estate", "Technology", "Health care", "Financial services"))
    return {
        "cf-client-industry": None if client.person else _perhaps(dice, 0.8, industry),
        "cf-client-since": _perhaps(dice, 0.7, iso(client.since)),
        "cf-client-guidelines": _perhaps(dice, 0.6, client.discount < 1),
        "cf-client-credit": _perhaps(dice, 0.3, dice.between(2, 30) * 5_000),
        "cf-client-vendor": None if client.person else _perhaps(dice, 0.25, f"V-{dice.between(10_000, 99_999)}"),
    }


def _of_matter(matter: Matter, dice: Dice) -> dict[str, Any]:
    dispute = matter.area.code_set == "UTBMS-LIT"
    trial = iso(min(matter.created + dice.between(400, 900), matter.created + 720)) if dispute else None
    if matter.name.startswith("Castellane"):
        trial = "2026-10-13"
    return {
        "cf-matter-court": _perhaps(dice, 0.8, dice.pick(_COURTS)) if dispute else None,
        "cf-matter-trial": trial if trial == "2026-10-13" else _perhaps(dice, 0.4, trial),
        "cf-matter-budget": _perhaps(dice, 0.35, round(matter.weight * 22 + 6) * 1_500.0),
        "cf-matter-insured": _perhaps(dice, 0.3, bool(matter.ledes[0])),
        "cf-matter-phase": "Closed" if matter.archived else _perhaps(dice, 0.7, dice.pick(_PHASES)),
    }


def _of_user(person: Person, dice: Dice) -> dict[str, Any]:
    lawyer = person.role in {"principal", "attorney"}
    target = {"principal": 1_300, "attorney": 1_600, "paralegal": 1_350}.get(person.role) if person.bills else None
    return {
        "cf-user-office": _perhaps(dice, 0.9, dice.pick(("Hartford", "Hartford", "Stamford"))),
        "cf-user-bar": f"{dice.between(401_000, 449_999)}" if lawyer else None,
        "cf-user-start": iso(person.start),
        "cf-user-parttime": _perhaps(dice, 0.8, len(person.days) < 5),
        "cf-user-target": target and round(target * len(person.days) / 5, 1),
    }
