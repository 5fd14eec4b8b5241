"""People: timekeepers with their rates and hours, and the staff who record no time.

The small firm's people are in `people.toml`. Larger firms also have people drawn at random. A timekeeper's hours are
those of a full, ordinary day; seasons, days off, part time and chance change them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from billframes.sandbox.schema import SCALE
from billframes.sandbox.seed.basics import END, SeededRandom, ascii_name, day
from billframes.sandbox.seed.data_files import AREAS, load_toml

_DATA = load_toml("people")
FIRST_NAMES: tuple[str, ...] = _DATA["first_names"]
LAST_NAMES: tuple[str, ...] = _DATA["last_names"]


@dataclass(slots=True, eq=False)
class Person:
    """A user of the firm. Those with `client_hours` are timekeepers."""

    first_name: str
    last_name: str
    role: str
    areas: tuple[str, ...]
    """Keys of practice areas, the main one first."""
    rate: int
    """Dollars per hour in 2024."""
    client_hours: float
    office_hours: float
    start: int
    end: int = END
    yearly_raise: float = 0.045
    weekdays: tuple[int, ...] = (1, 2, 3, 4, 5)
    """Working days of the week; 1 is Monday."""
    weekend_share: float = 0.06
    """Share of Saturdays and Sundays worked."""
    records_time_of_day: bool = False
    same_day_share: float = 0.7
    """Share of time entries that are created on the day of the work."""
    user_id: str = ""
    email: str = ""
    initials: str | None = None
    days_off: set[int] = field(default_factory=set)

    def rate_in(self, year: int) -> int:
        """Return the standard rate of a year in ten-thousandths, with a raise each January, rounded to $5."""
        return round(self.rate * (1 + self.yearly_raise) ** (year - 2024) / 5) * 5 * SCALE

    @property
    def is_timekeeper(self) -> bool:
        """Whether this person records time."""
        return self.client_hours > 0


_AREA_KEYS = tuple(area.key for area in AREAS)
_AREA_WEIGHTS = tuple(area.people_weight for area in AREAS)


def _person(listed: dict[str, Any]) -> Person:
    return Person(**listed | {name: listed[name].toordinal() for name in ("start", "end") if name in listed})


def draw_people(rng: SeededRandom, scale: int) -> list[Person]:
    """Return the people of a firm `scale` times the small one."""
    people = [_person(each) for each in _DATA["staff"]]
    people += [_draw_person(rng) for _ in range((scale - 1) * len(people))]
    taken: set[str] = set()
    for person in people:
        person.user_id = rng.uuid()
        person.email = _email(person, taken)
        person.initials = _initials(person.first_name, person.last_name)
        person.days_off = _draw_days_off(person, rng)
    # The API allows users without initials, so one has none.
    people[-1].initials = None
    return people


def _draw_person(rng: SeededRandom) -> Person:
    role = rng.weighted(
        ("principal", "attorney", "paralegal", "timekeeper", "operator", "accountant"), (20, 42, 21, 4, 8, 5)
    )
    first, last = rng.pick(FIRST_NAMES), rng.pick(LAST_NAMES)
    low, high, hours, office = {
        "principal": (470, 640, 4.7, 1.3),
        "attorney": (260, 430, 6.3, 0.5),
        "paralegal": (135, 180, 5.4, 0.6),
        "timekeeper": (110, 135, 4.6, 0.8),
    }.get(role, (0, 0, 0.0, 0.0))
    areas = tuple(dict.fromkeys((_area(rng), _area(rng)))) if hours else ()
    start = day("2012-01-02") + rng.below(4_200)
    rate = rng.between(low // 5, high // 5) * 5
    hours *= 0.85 + 0.3 * rng.chance()
    person = Person(
        *(first, last, role, areas, rate, hours, office, start),
        yearly_raise=rng.pick((0.03, 0.045, 0.06)),
        weekdays=(1, 2, 3, 4) if rng.chance() < 0.06 else (1, 2, 3, 4, 5),
        weekend_share=rng.pick((0.0, 0.03, 0.06, 0.15)),
        records_time_of_day=rng.chance() < 0.25,
        same_day_share=0.4 + 0.5 * rng.chance(),
    )
    if rng.chance() < 0.12:
        person.end = day("2024-06-30") + rng.below(800)
    elif rng.chance() < 0.14:
        person.start = day("2024-02-01") + rng.below(850)
    return person


def _area(rng: SeededRandom) -> str:
    return rng.weighted(_AREA_KEYS, _AREA_WEIGHTS)


def _initials(first: str, last: str) -> str:
    return first[0] + "".join(part[0].upper() for part in last.replace("-", " ").split())


def _email(person: Person, taken: set[str]) -> str:
    stem = ascii_name(f"{person.first_name}.{person.last_name}")
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}{count}"
    taken.add(name)
    return f"{name}@{_DATA['domain']}"


def _draw_days_off(person: Person, rng: SeededRandom) -> set[int]:
    """Return days off: two weeks in summer, a week around Christmas, and single days through the year."""
    days_off: set[int] = set()
    for year in (2024, 2025, 2026):
        summer = day(f"{year}-07-20") + rng.below(32)
        days_off.update(range(summer, summer + rng.pick((7, 9, 12, 14))))
        christmas = day(f"{year}-12-22") + rng.below(4)
        days_off.update(range(christmas, christmas + rng.between(4, 10)))
        spring = day(f"{year}-02-10") + rng.below(80)
        days_off.update(range(spring, spring + rng.pick((2, 3, 5, 7))))
        days_off.update(day(f"{year}-01-02") + rng.below(360) for _ in range(6))
    if person.last_name == "Marchetti":
        # A parental leave, so that October 2026 can be compared with an absence a year before.
        days_off.update(range(day("2025-09-22"), day("2026-01-05")))
    return days_off


def person_rows(people: list[Person], rng: SeededRandom) -> Iterator[tuple[str | int | None, ...]]:
    """Return the rows of the table `user`."""
    for person in people:
        created = max(person.start - 3, day("2016-01-04"))
        left = min(person.end, day("2026-01-05")) if person.end < END else day("2026-01-05")
        modified = max(created, left)
        yield (
            *(person.user_id, person.first_name, person.last_name, person.role, person.email, person.initials),
            *(person.rate_in(2026), rng.office_instant(created), rng.office_instant(modified + 1)),
        )
