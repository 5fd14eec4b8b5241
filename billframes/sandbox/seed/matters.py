"""Matters: their client, team, originators and billing.

The showcase matters (the trial, the contingency case, the retainer) are in `showcase`; the others are drawn
from their practice area's templates.
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
    Expense,
    FixedFee,
    SeededRandom,
    TimeEntry,
    day,
    iso,
    month_days,
    month_of,
)
from billframes.sandbox.seed.clients import COMPANY_HEADS, Client
from billframes.sandbox.seed.data import AREAS, Area, read
from billframes.sandbox.seed.people import LAST_NAMES, Person

__all__ = ["Matter", "Staffing", "draw_matter", "matter_rows", "originator_rows"]

_WORDS = read("matters")

_HABITS = ("monthly", "quarterly", "completion", "neglected", "never")
_HABIT_WEIGHTS = (83, 9, 4, 2, 2)


@dataclass(slots=True, eq=False)
class Matter:
    """A matter's record, its course, and its unbilled items."""

    matter_id: str
    name: str
    client: Client
    area: Area
    first: int
    """First month with work."""
    last: int
    """Last month with work."""
    kind: str = "hourly"
    weight: float = 1.0
    habit: str = "monthly"
    responsible: Person | None = None
    team: list[Person] = field(default_factory=list)
    originators: list[Person] = field(default_factory=list)
    reference: str | None = None
    listed_area: bool = True
    """Whether the practice area is recorded."""
    other: str = ""
    opened: int | None = None
    archived: bool = False
    ledes: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Enabled, and activity, task and expense codes required."""
    coded: bool = False
    """Whether people put codes on their time."""
    retainer: int = 0
    """Dollars a month."""
    internal: str = ""
    surges: dict[int, float] = field(default_factory=dict)
    haircuts: dict[int, float] = field(default_factory=dict)
    """Further write-downs by month of work."""
    instructions: str | None = None
    notes: str | None = None
    created: int = 0
    fee: FixedFee | None = None
    """The fixed fee that time is now recorded under."""
    stages: int = 0
    """Fixed fees charged so far."""
    pulse: float = 0.0
    """How busy this month is."""
    times: list[TimeEntry] = field(default_factory=list)
    expenses: list[Expense] = field(default_factory=list)
    fees: list[FixedFee] = field(default_factory=list)


class Staffing:
    """The people who can work on a matter of a practice area."""

    def __init__(self, people: list[Person]) -> None:
        self.principals = [person for person in people if person.role == "principal" and person.bills]
        self.leads: dict[str, list[Person]] = {}
        self.likely: dict[str, list[float]] = {}
        self.lawyers: dict[str, list[Person]] = {}
        self.support: dict[str, list[Person]] = {}
        for area in AREAS:
            those = [person for person in people if area.key in person.areas]
            lawyers = [person for person in those if person.role in {"principal", "attorney"}]
            self.lawyers[area.key] = [person for person in lawyers if person.role == "attorney"] or lawyers
            self.support[area.key] = [person for person in those if person not in lawyers]
            leads = [each for each in lawyers if each.end == END and each.start < day("2024-01-01")]
            self.leads[area.key] = leads or self.principals
            self.likely[area.key] = list(accumulate(_calling(lead, area) for lead in self.leads[area.key]))

    def staff(self, matter: Matter, rng: SeededRandom, *, big: bool = False) -> None:
        """Choose a matter's responsible attorney, team and originators."""
        key = matter.area.key
        matter.responsible = rng.random.choices(self.leads[key], cum_weights=self.likely[key])[0]
        lawyers = rng.sample(self.lawyers[key], 4 if big else rng.pick((1, 1, 2, 2, 3)))
        support = rng.sample(self.support[key], 2 if big else rng.pick((0, 1, 1, 1)))
        matter.team = list(dict.fromkeys((matter.responsible, *lawyers, *support)))
        count = rng.weighted((0, 1, 2, 3), (15, 62, 18, 5))
        likely = list(dict.fromkeys((matter.responsible, *rng.sample(self.principals, 3))))
        matter.originators = rng.sample(likely, count)


def _calling(lead: Person, area: Area) -> float:
    """Return the weight of a lead as the responsible attorney: highest for principals, and for those of the area."""
    return (3.0 if lead.role == "principal" else 1.0) * (2.0 if lead.areas[0] == area.key else 1.0)


def draw_matter(rng: SeededRandom, client: Client, staffing: Staffing, number: int) -> Matter:
    """Return a matter drawn at random: its area, name, dates, team and billing."""
    area = _area_for(rng, client)
    first, last = _life(rng, area)
    other = rng.pick(LAST_NAMES) if area.key in {"family", "employment"} else rng.pick(COMPANY_HEADS)
    matter = Matter(rng.uuid(), _name(rng, area, client, other, number), client, area, first, last, other=other)
    matter.weight = min(6.0, rng.random.lognormvariate(0.0, 0.75))
    matter.habit = rng.weighted(_HABITS, _HABIT_WEIGHTS)
    matter.kind = _kind(rng, matter)
    if matter.kind == "fixedFee":
        # Fixed-fee matters are short.
        matter.weight = 0.2 + 0.25 * rng.chance()
    if client.person and matter.kind == "hourly":
        matter.weight *= 0.6
    if matter.habit == "never":
        matter.weight *= 0.15
    if matter.kind == "contingency":
        matter.habit = "never"
    matter.coded = rng.chance() < 0.15
    staffing.staff(matter, rng, big=matter.weight > 3)
    _paper(rng, matter, number)
    return matter


def _area_for(rng: SeededRandom, client: Client) -> Area:
    suits = [area for area in AREAS if (area.key in {"estate", "family"}) == client.person]
    return rng.weighted(suits, [area.share for area in suits])


def _kind(rng: SeededRandom, matter: Matter) -> str:
    chance, area = rng.chance(), matter.area
    if area.key == "estate":
        # Plans have a fixed fee; administering an estate or a trust does not.
        lasting = matter.name.startswith(("Estate of", "Administration"))
        matter.last += 10 if lasting else 0
        return "hourly" if lasting else "fixedFee"
    if area.key == "litigation" and chance < 0.015:
        return "contingency"
    if area.key in {"family", "employment"} and chance < 0.05:
        return "probono"
    return "fixedFee" if area.key == "ip" and chance < 0.15 else "hourly"


def _life(rng: SeededRandom, area: Area) -> tuple[int, int]:
    months = rng.between(*area.months)
    first = FIRST_MONTH - months + 1 + rng.below(LAST_MONTH - FIRST_MONTH + months)
    return first, first + months - 1


def _name(rng: SeededRandom, area: Area, client: Client, other: str, number: int) -> str:
    short = client.name.split(",")[0] if client.person else client.name.split(" ")[0]
    return rng.pick(area.matters).format(
        client=short,
        other=other,
        place=rng.pick(_WORDS["places"]),
        relative=rng.pick(_WORDS["relatives"]),
        number=3100 + number,
    )


def _paper(rng: SeededRandom, matter: Matter, number: int) -> None:
    """Fill in the fields that intake records, leaving some empty."""
    # Intake is before the work.
    opened = month_days(matter.first)[0] - 1 - rng.below(20)
    matter.created = opened
    matter.client.engaged_before(opened)
    matter.opened = None if rng.chance() < 0.03 else opened
    matter.listed_area = rng.chance() > 0.04
    client_reference = matter.client.reference or "9999"
    matter.reference = None if rng.chance() < 0.08 else f"{client_reference}-{number % 1000:03d}"
    matter.archived = matter.last < month_of(day("2026-07-01")) and rng.chance() < 0.75
    if matter.area.key in {"litigation", "employment"} and rng.chance() < 0.12:
        matter.ledes = (1, 1, 1, int(rng.chance() < 0.5))
        matter.coded = True
    if rng.chance() < 0.22:
        matter.instructions = rng.pick(_WORDS["instructions"])
    if rng.chance() < 0.12:
        matter.notes = rng.pick(_WORDS["notes"])


Row = tuple[str | int | None, ...]


def matter_rows(matters: list[Matter], areas: dict[str, str], rng: SeededRandom) -> Iterator[Row]:
    """Return the rows of the table `matter`; `areas` gives practice area ids by key."""
    for matter in matters:
        assert matter.responsible is not None  # noqa: S101 - every matter is staffed when it is made
        modified = min(END - 1, matter.created + rng.below(60))
        if matter.archived:
            modified = min(END - 3, month_days(matter.last)[-1] + rng.between(20, 75))
        area = areas[matter.area.key] if matter.listed_area else None
        opened = None if matter.opened is None else iso(matter.opened)
        yield (
            *(
                matter.matter_id,
                matter.name,
                matter.client.client_id,
                matter.kind,
                matter.responsible.user_id,
            ),
            *(int(matter.archived), matter.reference, area, opened, _conflict(matter), matter.instructions),
            *(matter.notes, _referral(matter, rng), None, *matter.ledes, json.dumps(_code_sets(matter))),
            *(rng.office_hours(matter.created), rng.office_hours(max(modified, matter.created + 1))),
        )


def _code_sets(matter: Matter) -> list[str]:
    return ["UTBMS-ACT", matter.area.code_set, "UTBMS-EXP"] if matter.ledes[0] else []


def _conflict(matter: Matter) -> str | None:
    """Return the conflict check: adverse parties in disputes, counterparties elsewhere; none within the firm."""
    if matter.internal or not matter.other:
        return None
    dispute = matter.area.code_set == "UTBMS-LIT"
    known = {
        "adverse": matter.other if dispute else None,
        "relatedAdverse": f"{matter.other} affiliates and insurers" if dispute and matter.weight > 1.5 else None,
        "relatedClient": f"Officers of {matter.client.name}" if not matter.client.person else None,
        "opposing": f"Counsel for {matter.other}" if dispute else None,
    }
    found = {name: text for name, text in known.items() if text}
    return json.dumps(found, ensure_ascii=False) if found else None


def _referral(matter: Matter, rng: SeededRandom) -> str | None:
    return None if matter.internal or rng.chance() < 0.45 else rng.pick(_WORDS["referrals"])


def originator_rows(matters: list[Matter]) -> Iterator[Row]:
    """Return the rows of the table `matter_originator`."""
    for matter in matters:
        for position, person in enumerate(matter.originators):
            yield matter.matter_id, person.user_id, position
