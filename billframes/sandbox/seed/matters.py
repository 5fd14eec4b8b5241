"""Matters: their client, team, originators and billing.

The showcase matters (the trial, the contingency case, the retainer) are in `showcase`. The others are drawn at random,
with names from the templates of their practice area.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from billframes.sandbox.seed.basics import (
    END,
    FIRST_MONTH,
    LAST_MONTH,
    FixedFee,
    Item,
    SeededRandom,
    day,
    iso,
    month_days,
    month_of,
)
from billframes.sandbox.seed.clients import COMPANY_HEADS, SeedClient
from billframes.sandbox.seed.data_files import AREAS, Area, load_toml
from billframes.sandbox.seed.people import LAST_NAMES, Person

_DATA = load_toml("matters")

_BILLING_HABITS = ("monthly", "quarterly", "completion", "neglected", "never")
_BILLING_WEIGHTS = (83, 9, 4, 2, 2)


@dataclass(slots=True, eq=False)
class SeedMatter:
    """A matter's record, how it develops, and its items."""

    matter_id: str
    name: str
    client: SeedClient
    area: Area
    first_month: int
    """First month with work."""
    last_month: int
    """Last month with work."""
    matter_type: str = "hourly"
    weight: float = 1.0
    """How much work it has, compared with other matters."""
    billing_habit: str = "monthly"
    """monthly, quarterly, completion, neglected or never."""
    responsible: Person | None = None
    team: list[Person] = field(default_factory=list)
    originators: list[Person] = field(default_factory=list)
    reference: str | None = None
    area_is_recorded: bool = True
    """Whether the record has the practice area."""
    other_party: str = ""
    opened: int | None = None
    archived: bool = False
    ledes: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Whether LEDES is enabled, and whether activity, task and expense codes are required."""
    uses_codes: bool = False
    """Whether time entries and costs have codes."""
    retainer: int = 0
    """Dollars per month."""
    internal_topic: str = ""
    """The topic of the firm's own work; empty for clients' matters."""
    busier_months: dict[int, float] = field(default_factory=dict)
    """Factor on the work of a month."""
    extra_write_downs: dict[int, float] = field(default_factory=dict)
    """Share of worked fees written down by month of work, in addition to the usual write-down."""
    billing_instructions: str | None = None
    notes: str | None = None
    created: int = 0
    current_fee: FixedFee | None = None
    """The fixed fee that new time entries are assigned to."""
    fees_charged: int = 0
    """Number of fixed fees so far."""
    intensity: float = 0.0
    """How much work it has this month."""
    items: list[Item] = field(default_factory=list)
    """Those that are not billed yet."""


class Staffing:
    """The people who can work on a matter of a practice area."""

    def __init__(self, people: list[Person]) -> None:
        self.principals = [person for person in people if person.role == "principal" and person.is_timekeeper]
        self.leads: dict[str, list[Person]] = {}
        self.lead_weights: dict[str, list[float]] = {}
        self.lawyers: dict[str, list[Person]] = {}
        self.support: dict[str, list[Person]] = {}
        for area in AREAS:
            members = [person for person in people if area.key in person.areas]
            lawyers = [person for person in members if person.role in {"principal", "attorney"}]
            self.lawyers[area.key] = [person for person in lawyers if person.role == "attorney"] or lawyers
            self.support[area.key] = [person for person in members if person not in lawyers]
            leads = [each for each in lawyers if each.end == END and each.start < day("2024-01-01")]
            self.leads[area.key] = leads or self.principals
            self.lead_weights[area.key] = list(accumulate(_lead_weight(lead, area) for lead in self.leads[area.key]))

    def staff(self, matter: SeedMatter, rng: SeededRandom, *, is_large: bool = False) -> None:
        """Choose a matter's responsible attorney, team and originators."""
        key = matter.area.key
        matter.responsible = rng.random.choices(self.leads[key], cum_weights=self.lead_weights[key])[0]
        lawyers = rng.sample(self.lawyers[key], 4 if is_large else rng.pick((1, 1, 2, 2, 3)))
        support = rng.sample(self.support[key], 2 if is_large else rng.pick((0, 1, 1, 1)))
        matter.team = list(dict.fromkeys((matter.responsible, *lawyers, *support)))
        count = rng.weighted((0, 1, 2, 3), (15, 62, 18, 5))
        candidates = list(dict.fromkeys((matter.responsible, *rng.sample(self.principals, 3))))
        matter.originators = rng.sample(candidates, count)


def _lead_weight(lead: Person, area: Area) -> float:
    """Return how often a lead is chosen: more often if a principal, and if the area is the lead's main one."""
    return (3.0 if lead.role == "principal" else 1.0) * (2.0 if lead.areas[0] == area.key else 1.0)


def draw_matter(rng: SeededRandom, client: SeedClient, staffing: Staffing, number: int) -> SeedMatter:
    """Draw a matter: its area, name, dates, team and billing."""
    area = _draw_area(rng, client)
    first, last = _draw_months(rng, area)
    other = rng.pick(LAST_NAMES) if area.key in {"family", "employment"} else rng.pick(COMPANY_HEADS)
    matter_id = rng.uuid()
    name = _draw_name(rng, area, client, other, number)
    matter = SeedMatter(matter_id, name, client, area, first, last, other_party=other)
    matter.weight = min(6.0, rng.random.lognormvariate(0.0, 0.75))
    matter.billing_habit = rng.weighted(_BILLING_HABITS, _BILLING_WEIGHTS)
    matter.matter_type = _draw_type(rng, matter)
    if matter.matter_type == "fixedFee":
        # Fixed-fee matters are short.
        matter.weight = 0.2 + 0.25 * rng.chance()
    if client.is_person and matter.matter_type == "hourly":
        matter.weight *= 0.6
    if matter.billing_habit == "never":
        matter.weight *= 0.15
    if matter.matter_type == "contingency":
        matter.billing_habit = "never"
    matter.uses_codes = rng.chance() < 0.15
    staffing.staff(matter, rng, is_large=matter.weight > 3)
    _draw_intake(rng, matter, number)
    return matter


def _draw_area(rng: SeededRandom, client: SeedClient) -> Area:
    suitable = [area for area in AREAS if (area.key in {"estate", "family"}) == client.is_person]
    return rng.weighted(suitable, [area.share for area in suitable])


def _draw_type(rng: SeededRandom, matter: SeedMatter) -> str:
    chance, area = rng.chance(), matter.area
    if area.key == "estate":
        # Plans have a fixed fee. The administration of an estate or a trust is billed by the hour, and takes longer.
        is_administration = matter.name.startswith(("Estate of", "Administration"))
        matter.last_month += 10 if is_administration else 0
        return "hourly" if is_administration else "fixedFee"
    if area.key == "litigation" and chance < 0.015:
        return "contingency"
    if area.key in {"family", "employment"} and chance < 0.05:
        return "probono"
    return "fixedFee" if area.key == "ip" and chance < 0.15 else "hourly"


def _draw_months(rng: SeededRandom, area: Area) -> tuple[int, int]:
    months = rng.between(*area.months)
    first = FIRST_MONTH - months + 1 + rng.below(LAST_MONTH - FIRST_MONTH + months)
    return first, first + months - 1


def _draw_name(rng: SeededRandom, area: Area, client: SeedClient, other: str, number: int) -> str:
    short = client.name.split(",")[0] if client.is_person else client.name.split(" ")[0]
    return rng.pick(area.matter_names).format(
        client=short,
        other=other,
        place=rng.pick(_DATA["places"]),
        relative=rng.pick(_DATA["relatives"]),
        number=3100 + number,
    )


def _draw_intake(rng: SeededRandom, matter: SeedMatter, number: int) -> None:
    """Draw the fields that are recorded when a matter is opened; some stay empty."""
    # Matters are opened before their first work.
    opened = month_days(matter.first_month)[0] - 1 - rng.below(20)
    matter.created = opened
    matter.client.create_before(opened)
    matter.opened = None if rng.chance() < 0.03 else opened
    matter.area_is_recorded = rng.chance() > 0.04
    client_reference = matter.client.reference or "9999"
    matter.reference = None if rng.chance() < 0.08 else f"{client_reference}-{number % 1000:03d}"
    matter.archived = matter.last_month < month_of(day("2026-07-01")) and rng.chance() < 0.75
    if matter.area.key in {"litigation", "employment"} and rng.chance() < 0.12:
        matter.ledes = (1, 1, 1, int(rng.chance() < 0.5))
        matter.uses_codes = True
    if rng.chance() < 0.22:
        matter.billing_instructions = rng.pick(_DATA["instructions"])
    if rng.chance() < 0.12:
        matter.notes = rng.pick(_DATA["notes"])


MatterRow = tuple[str | int | None, ...]


def matter_rows(matters: list[SeedMatter], areas: dict[str, str], rng: SeededRandom) -> Iterator[MatterRow]:
    """Return the rows of the table `matter`; `areas` gives practice area ids by key."""
    for matter in matters:
        assert matter.responsible is not None  # noqa: S101 - every matter has been staffed
        modified = min(END - 1, matter.created + rng.below(60))
        if matter.archived:
            modified = min(END - 3, month_days(matter.last_month)[-1] + rng.between(20, 75))
        area = areas[matter.area.key] if matter.area_is_recorded else None
        opened = None if matter.opened is None else iso(matter.opened)
        yield (
            *(matter.matter_id, matter.name, matter.client.client_id),
            *(matter.matter_type, matter.responsible.user_id),
            *(int(matter.archived), matter.reference, area, opened, _conflict(matter), matter.billing_instructions),
            *(matter.notes, _referral(matter, rng), None, *matter.ledes, json.dumps(_code_sets(matter))),
            *(rng.office_instant(matter.created), rng.office_instant(max(modified, matter.created + 1))),
        )


def _code_sets(matter: SeedMatter) -> list[str]:
    return ["UTBMS-ACT", matter.area.code_set, "UTBMS-EXP"] if matter.ledes[0] else []


def _conflict(matter: SeedMatter) -> str | None:
    """Return the conflict information as JSON: parties and counsel of disputes, and a company's officers."""
    if matter.internal_topic or not matter.other_party:
        return None
    dispute = matter.area.code_set == "UTBMS-LIT"
    known = {
        "adverse": matter.other_party if dispute else None,
        "relatedAdverse": f"{matter.other_party} affiliates and insurers" if dispute and matter.weight > 1.5 else None,
        "relatedClient": f"Officers of {matter.client.name}" if not matter.client.is_person else None,
        "opposing": f"Counsel for {matter.other_party}" if dispute else None,
    }
    found = {name: text for name, text in known.items() if text}
    return json.dumps(found, ensure_ascii=False) if found else None


def _referral(matter: SeedMatter, rng: SeededRandom) -> str | None:
    return None if matter.internal_topic or rng.chance() < 0.45 else rng.pick(_DATA["referrals"])


def originator_rows(matters: list[SeedMatter]) -> Iterator[MatterRow]:
    """Return the rows of the table `matter_originator`."""
    for matter in matters:
        for position, person in enumerate(matter.originators):
            yield matter.matter_id, person.user_id, position
