"""The matters with a story, which make the firm's figures worth asking about.

The insurer's trial fills October 2026; the contingency case piles up time nobody has billed; the hotel group
stopped paying; the biotech wants three matters on one invoice. Some are here because the API allows them and
software trips over them: a matter with nothing but an invoice, and one with nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from billframes.sandbox.seed.basics import FIRST_MONTH, LAST_MONTH, Dice, month_days
from billframes.sandbox.seed.clients import FIRM_NAME, Client
from billframes.sandbox.seed.matters import AREA_BY_KEY, Matter, Staffing
from billframes.sandbox.seed.people import Person

__all__ = ["CARRIED_OVER", "EMPTY", "audit", "story_matters"]

CARRIED_OVER = "Balance carried over from former system"
EMPTY = "Packaging supply agreement (on hold)"


def _month(year: int, month: int) -> int:
    return year * 12 + month - 1


_FULL_LEDES = (1, 1, 1, 1)
_TRIAL = {
    _month(2026, 7): 1.3,
    _month(2026, 8): 1.6,
    _month(2026, 9): 2.4,
    _month(2026, 10): 5.0,
}
# The insurer's auditor went through the summer's bills: what September's work was cut by shows in October.
_AUDIT = {_month(2026, 8): 0.05, _month(2026, 9): 0.16}


@dataclass(frozen=True)
class _Story:
    """A matter's client by the start of its name, its own name, area, and first and last month of work."""

    client: str
    name: str
    area: str
    first: str
    last: str
    which: int
    rest: dict[str, Any]


def _story(client: str, name: str, area: str, first: str, last: str, which: int = 0, **rest: Any) -> _Story:
    return _Story(client, name, area, first, last, which, rest)


_STORIES = (
    _story(
        "Granite Mutual",
        "Castellane Holdings v. Granite Mutual",
        "litigation",
        "2024-05",
        "2026-12",
        weight=5.0,
        other="Castellane",
        ledes=_FULL_LEDES,
        coded=True,
        surges=_TRIAL,
        instructions="LEDES 1998B. No block billing. Codes on every line. Travel at half rate.",
    ),
    _story(
        "Granite Mutual",
        "Delacroix premises claim (insured: Bluestem Foods)",
        "litigation",
        "2024-01",
        "2026-02",
        weight=2.5,
        other="Delacroix",
        ledes=(1, 1, 1, 0),
        coded=True,
    ),
    _story(
        "Granite Mutual",
        "Coverage opinion program",
        "litigation",
        "2025-03",
        "2026-12",
        weight=1.5,
        other="policyholder",
        ledes=(1, 0, 1, 0),
        coded=True,
    ),
    _story("Kestrel", "Trademark and patent portfolio", "ip", "2023-06", "2026-12", weight=2.5, other="Juniper"),
    _story(
        "Kestrel",
        "Series C financing",
        "corporate",
        "2025-01",
        "2026-12",
        weight=3.0,
        other="Lakehurst Ventures",
        surges={_month(2025, 10): 3.0},
    ),
    _story(
        "Kestrel",
        "Laboratory lease, Harbor Point",
        "realestate",
        "2024-08",
        "2026-12",
        weight=1.6,
        other="Harbor Point Realty",
    ),
    _story(
        "Ironbridge",
        "Supply agreement claim against Copperline",
        "litigation",
        "2024-01",
        "2026-06",
        weight=3.0,
        other="Copperline",
    ),
    _story(
        "Ironbridge",
        "Labor relations and handbook",
        "employment",
        "2024-04",
        "2026-12",
        weight=1.5,
        other="local union",
    ),
    _story(
        "Redfern", "Warehouse acquisition program", "realestate", "2024-01", "2026-12", weight=2.5, other="Sandhill"
    ),
    _story(
        "Redfern",
        "Driver classification audit",
        "employment",
        "2025-02",
        "2026-12",
        weight=2.0,
        other="state labor department",
    ),
    _story(
        "شركة",
        "Distribution agreement — اتفاقية توزيع",
        "corporate",
        "2024-09",
        "2026-12",
        weight=1.2,
        other="Silverbirch",
    ),
    _story(
        "O\u2019Malley",
        "Lease renewal & liquor permit",
        "realestate",
        "2024-03",
        "2026-12",
        weight=0.8,
        other="landlord",
    ),
    _story("Northfork", "Fund II formation", "corporate", "2024-01", "2026-10", weight=2.0, other="limited partners"),
    _story(
        "Northfork",
        "Management company agreements",
        "corporate",
        "2024-06",
        "2026-12",
        which=1,
        weight=1.2,
        other="placement agent",
    ),
    _story(
        "Stonebridge",
        "Mill River mixed-use development",
        "realestate",
        "2024-02",
        "2026-12",
        weight=3.0,
        other="Palisade Bank",
    ),
    _story(
        "Stonebridge", "Mechanics' lien foreclosure", "litigation", "2025-04", "2026-12", weight=1.6, other="Timberlane"
    ),
    _story(
        "Halcyon",
        "Management agreement dispute",
        "litigation",
        "2024-01",
        "2025-04",
        weight=2.0,
        other="Seabright",
        archived=True,
    ),
    _story(
        "Willowbank",
        "Physician employment agreements",
        "employment",
        "2024-01",
        "2026-12",
        weight=1.6,
        other="medical staff",
    ),
    _story(
        "Tamarack",
        "General counsel retainer",
        "corporate",
        "2024-01",
        "2026-12",
        kind="fixedFee",
        retainer=7500,
        weight=1.4,
        other="vendor",
    ),
    _story("Tamarack", "Customer data incident", "litigation", "2026-04", "2026-12", weight=2.0, other="Whitecap"),
    _story("Wakefield", "Estate plan", "estate", "2024-02", "2024-07", kind="fixedFee", weight=0.3, archived=True),
    _story("Wakefield", "Trust amendment", "estate", "2026-05", "2026-12", kind="fixedFee", weight=0.3),
    _story("D\u2019Angelo", "Trust administration", "estate", "2024-01", "2026-12", weight=0.8, habit="quarterly"),
    _story("Rosales", "Dissolution of marriage", "family", "2025-01", "2026-03", weight=1.6, other="C. Rosales"),
    _story(
        "Zielinski",
        "Zielinski v. Arcadia Transit",
        "litigation",
        "2024-10",
        "2026-12",
        kind="contingency",
        habit="never",
        weight=2.2,
        other="Arcadia Transit",
    ),
    _story(
        "Community",
        "Maple Street habitability",
        "litigation",
        "2024-03",
        "2026-12",
        kind="probono",
        weight=0.9,
        other="landlord",
    ),
    _story(
        "Community",
        "Security deposit clinic",
        "family",
        "2024-01",
        "2026-12",
        kind="probono",
        weight=0.5,
        other="landlords",
    ),
    _story("Saltmarsh", CARRIED_OVER, "corporate", "2023-11", "2023-12", weight=0.0, habit="never"),
    _story("Saltmarsh", "Charter party arbitration", "litigation", "2025-06", "2026-12", weight=1.4, other="Windward"),
    _story("Quillfeather", "Rights licensing", "ip", "2024-05", "2026-12", weight=1.0, other="Moonstone"),
    _story("Fjellstr", "US subsidiary formation", "corporate", "2025-09", "2026-12", weight=1.2, other="seller"),
    _story(
        "Whitecap",
        "Taproom lease review",
        "realestate",
        "2025-08",
        "2025-11",
        weight=0.25,
        habit="never",
        other="landlord",
    ),
    _story(
        "Whitecap", "Trade dress dispute", "ip", "2025-11", "2026-08", weight=1.0, habit="neglected", other="Tamarack"
    ),
    _story("Yarrow", EMPTY, "corporate", "2027-01", "2027-02", weight=0.0),
)

_INTERNAL = (
    ("Firm administration", "admin"),
    ("Professional development and CLE", "training"),
    ("Business development", "development"),
    ("Pro bono committee", "committee"),
)


def story_matters(dice: Dice, clients: list[Client], people: list[Person], staffing: Staffing) -> Iterator[Matter]:
    """Yield the internal matters, then the ones with a story."""
    yield from _internal(dice, clients[0], people)
    for number, story in enumerate(_STORIES, start=1):
        client = [each for each in clients[1:40] if each.name.startswith(story.client)][story.which]
        months = (_month_from(story.first), _month_from(story.last))
        matter = Matter(dice.uuid(), story.name, client, AREA_BY_KEY[story.area], *months, **story.rest)
        matter.reference = f"{client.reference or '9999'}-{number:03d}"
        matter.created = matter.opened = month_days(min(matter.first, LAST_MONTH))[0] - 3
        client.engaged_before(matter.created)
        staffing.staff(matter, dice, big=matter.weight >= 3)
        yield matter


def _month_from(text: str) -> int:
    year, month = text.split("-")
    return _month(int(year), int(month))


def audit(matters: list[Matter]) -> None:
    """Let the insurer's auditor at all of its matters."""
    for matter in matters:
        if matter.client.name.startswith("Granite Mutual"):
            matter.haircuts = _AUDIT


def _internal(dice: Dice, firm: Client, people: list[Person]) -> Iterator[Matter]:
    assert firm.name == FIRM_NAME  # noqa: S101 - the firm is its own first client
    for name, internal in _INTERNAL:
        matter = Matter(dice.uuid(), name, firm, AREA_BY_KEY["corporate"], FIRST_MONTH, LAST_MONTH)
        matter.kind, matter.habit, matter.internal = "internal", "never", internal
        matter.listed_area, matter.responsible = False, people[0]
        matter.created = matter.opened = month_days(FIRST_MONTH - 96)[0] + 4
        firm.engaged_before(matter.created)
        yield matter
