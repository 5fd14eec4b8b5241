"""The people: who bills, at what rate, how hard they work, and who only runs the office.

The small firm is written out by hand; bigger ones add people drawn from the same moulds. A person's hours a
day are client hours on a full ordinary day; seasons, leave, part time and chance do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from billframes.sandbox.seed.basics import END, SCALE, Dice, day
from billframes.sandbox.seed.names import FIRST_NAMES, LAST_NAMES, plain

__all__ = ["DOMAIN", "Person", "hire", "person_rows"]

DOMAIN = "harrowlindqvist.example.com"


@dataclass(slots=True, eq=False)
class Person:
    """Someone who can log in; those with `hours` record time."""

    first: str
    last: str
    role: str
    areas: tuple[str, ...]
    rate: int
    """Dollars an hour in 2024."""
    hours: float
    office_hours: float
    start: int
    end: int = END
    raise_: float = 0.045
    days: tuple[int, ...] = (1, 2, 3, 4, 5)
    weekend: float = 0.06
    """Share of Saturdays and Sundays worked."""
    records_time: bool = False
    """Whether entries have a time of day."""
    prompt: float = 0.7
    """Share of entries written down on the day itself."""
    user_id: str = ""
    email: str = ""
    initials: str | None = None
    leave: set[int] = field(default_factory=set)

    def rate_in(self, year: int) -> int:
        """Return the standard rate of a year in ten-thousandths: a raise each January, to the next $5."""
        return round(self.rate * (1 + self.raise_) ** (year - 2024) / 5) * 5 * SCALE

    @property
    def bills(self) -> bool:
        """Whether this person records time."""
        return self.hours > 0


def _hired(
    name: str, role: str, areas: str, rate: int, hours: float, office_hours: float, start: str, **traits: Any
) -> Callable[[], Person]:
    first, last = name.split("|")
    return partial(Person, first, last, role, tuple(areas.split()), rate, hours, office_hours, day(start), **traits)


# Name, role, practice areas, rate in 2024, client hours and office hours a day, start. The last three have no
# time: a founder who no longer bills, the office, the books.
_STAFF = (
    _hired("Miriam|Harrow", "principal", "litigation employment", 595, 4.7, 1.5, "2009-04-01", prompt=0.45),
    _hired("Erik|Lindqvist", "principal", "corporate ip", 575, 4.5, 1.6, "2009-04-01", prompt=0.35),
    _hired("Dolores|Abernathy-Cruz", "principal", "realestate corporate", 525, 4.9, 1.1, "2013-09-02", prompt=0.8),
    _hired(
        "Samuel|Okonkwo",
        "principal",
        "estate family corporate",
        495,
        4.8,
        1.0,
        "2015-01-05",
        prompt=0.75,
        records_time=True,
    ),
    _hired(
        "Thomas|Whitfield",
        "attorney",
        "litigation",
        410,
        7.7,
        0.4,
        "2017-08-21",
        weekend=0.42,
        prompt=0.9,
        records_time=True,
    ),
    _hired("Priya|Raman", "attorney", "ip corporate", 425, 6.3, 0.5, "2016-02-15", prompt=0.85),
    _hired("Grace|Nakamura", "attorney", "employment litigation", 385, 6.5, 0.5, "2018-10-01"),
    _hired(
        "Daniel|O\u2019Rourke",
        "attorney",
        "litigation employment",
        345,
        5.9,
        0.5,
        "2020-09-08",
        end=day("2025-06-30"),
        prompt=0.5,
    ),
    _hired("Chloé|Marchetti", "attorney", "corporate realestate", 350, 6.4, 0.5, "2019-09-03", raise_=0.06),
    _hired(
        "Beatriz|Fontaine",
        "attorney",
        "realestate estate",
        365,
        5.9,
        0.3,
        "2014-05-19",
        days=(1, 2, 4),
        weekend=0.02,
        prompt=0.85,
    ),
    _hired(
        "Hannah|Levy",
        "attorney",
        "family estate employment",
        315,
        6.1,
        0.5,
        "2021-09-07",
        records_time=True,
        raise_=0.06,
    ),
    _hired("Julian|Szabó", "attorney", "litigation employment", 265, 6.3, 0.8, "2026-03-02", raise_=0.06, prompt=0.6),
    _hired("Marcus|Bell", "paralegal", "litigation employment", 165, 5.7, 0.6, "2016-06-13", records_time=True),
    _hired("Yolanda|Pruitt", "paralegal", "corporate ip realestate", 160, 5.4, 0.6, "2018-03-26"),
    _hired("Owen|Castellanos", "paralegal", "family estate realestate", 145, 5.2, 0.7, "2022-01-10", raise_=0.03),
    _hired(
        "Anneke|de Vries",
        "timekeeper",
        "litigation ip",
        125,
        4.6,
        0.8,
        "2023-09-05",
        days=(1, 2, 3, 4),
        raise_=0.03,
        weekend=0.0,
    ),
    _hired("Conrad|Lindqvist", "principal", "", 650, 0.0, 0.0, "2009-04-01", raise_=0.0),
    _hired("Nadia|Hussein", "operator", "", 0, 0.0, 0.0, "2019-11-04"),
    _hired("Walter|Kemp", "accountant", "", 0, 0.0, 0.0, "2012-02-06"),
)

_AREAS = ("litigation", "corporate", "realestate", "employment", "ip", "estate", "family")
_AREA_WEIGHTS = (30, 20, 14, 13, 10, 7, 6)


def hire(dice: Dice, scale: int) -> list[Person]:
    """Return everyone who works at a firm `scale` times the small one."""
    people = [hired() for hired in _STAFF]
    people += [_drawn(dice) for _ in range((scale - 1) * len(_STAFF))]
    taken: set[str] = set()
    for person in people:
        person.user_id = dice.uuid()
        person.email = _email(person, taken)
        person.initials = _initials(person.first, person.last)
        person.leave = _leave(person, dice)
    # One user has no initials, as the API allows.
    people[-1].initials = None
    return people


def _drawn(dice: Dice) -> Person:
    role = dice.weighted(
        ("principal", "attorney", "paralegal", "timekeeper", "operator", "accountant"), (20, 42, 21, 4, 8, 5)
    )
    first, last = dice.pick(FIRST_NAMES), dice.pick(LAST_NAMES)
    low, high, hours, office = {
        "principal": (470, 640, 4.7, 1.3),
        "attorney": (260, 430, 6.3, 0.5),
        "paralegal": (135, 180, 5.4, 0.6),
        "timekeeper": (110, 135, 4.6, 0.8),
    }.get(role, (0, 0, 0.0, 0.0))
    areas = tuple(dict.fromkeys((_area(dice), _area(dice)))) if hours else ()
    start = day("2012-01-02") + dice.below(4_200)
    rate = dice.between(low // 5, high // 5) * 5
    hours *= 0.85 + 0.3 * dice.chance()
    person = Person(
        *(first, last, role, areas, rate, hours, office, start),
        raise_=dice.pick((0.03, 0.045, 0.06)),
        days=(1, 2, 3, 4) if dice.chance() < 0.06 else (1, 2, 3, 4, 5),
        weekend=dice.pick((0.0, 0.03, 0.06, 0.15)),
        records_time=dice.chance() < 0.25,
        prompt=0.4 + 0.5 * dice.chance(),
    )
    if dice.chance() < 0.12:
        person.end = day("2024-06-30") + dice.below(800)
    elif dice.chance() < 0.14:
        person.start = day("2024-02-01") + dice.below(850)
    return person


def _area(dice: Dice) -> str:
    return dice.weighted(_AREAS, _AREA_WEIGHTS)


def _initials(first: str, last: str) -> str:
    return first[0] + "".join(part[0].upper() for part in last.replace("-", " ").split())


def _email(person: Person, taken: set[str]) -> str:
    stem = plain(f"{person.first}.{person.last}")
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}{count}"
    taken.add(name)
    return f"{name}@{DOMAIN}"


def _leave(person: Person, dice: Dice) -> set[int]:
    """Return days off: a fortnight in summer, a week around Christmas, odd days through the year."""
    away: set[int] = set()
    for year in (2024, 2025, 2026):
        summer = day(f"{year}-07-20") + dice.below(32)
        away.update(range(summer, summer + dice.pick((7, 9, 12, 14))))
        christmas = day(f"{year}-12-22") + dice.below(4)
        away.update(range(christmas, christmas + dice.between(4, 10)))
        spring = day(f"{year}-02-10") + dice.below(80)
        away.update(range(spring, spring + dice.pick((2, 3, 5, 7))))
        away.update(day(f"{year}-01-02") + dice.below(360) for _ in range(6))
    if person.last == "Marchetti":
        # A parental leave that October 2026 is compared without.
        away.update(range(day("2025-09-22"), day("2026-01-05")))
    return away


def person_rows(people: list[Person], dice: Dice) -> Iterator[tuple[str | int | None, ...]]:
    """Return the rows of the table `user`."""
    for person in people:
        created = max(person.start - 3, day("2016-01-04"))
        left = min(person.end, day("2026-01-05")) if person.end < END else day("2026-01-05")
        modified = max(created, left)
        yield (
            *(person.user_id, person.first, person.last, person.role, person.email, person.initials),
            *(person.rate_in(2026), dice.office_hours(created), dice.office_hours(modified + 1)),
        )
