"""A month of work: the time entries of each person, and when they were entered.

Each person has a few entries each working day, more of them on the busier matters of their teams. Seasons, leave and
weekends change the hours of a day; a matter's pulse changes its share of the month.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

from billframes.sandbox.schema import BILLING_TYPES, SCALE, value_at_rate
from billframes.sandbox.seed.basics import (
    LAST_INSTANT,
    SeededRandom,
    TimeEntry,
    instant,
    iso,
    month_days,
    working_days,
)
from billframes.sandbox.seed.data import AREAS, read
from billframes.sandbox.seed.matters import Matter
from billframes.sandbox.seed.people import Person

__all__ = ["Workload", "month_of_work", "set_pulses"]

TENTH = SCALE // 10
_NEW_YORK_MORNING = 46_800

# How busy each month is: August and December are slow; March, October and November are busy.
_SEASON = (0.97, 1.0, 1.05, 1.0, 1.01, 1.0, 0.93, 0.86, 1.0, 1.05, 1.02, 0.84)
# The firm gets busier: a little each year, and busiest in the autumn of 2026.
_TREND = {2024: 0.95, 2025: 0.98, 2026: 1.02}

# Rate, amount, invoice, fixed fee and codes of an internal entry.
_NO_WORTH = (None, None, None, None, None, None)

_NOT_A_CODE_FOR_ENTRIES = "L100"

# Text, activity code, task code.
_Narrative = tuple[str, str, str]

_WORDS = read("narratives")
_CLAUSES: tuple[str, ...] = _WORDS["clauses"]
_BY_AREA: dict[str, tuple[_Narrative, ...]] = _WORDS["areas"]
# The activities of paralegals: they review, organize and prepare; they do not appear in court.
_SUPPORT = {
    area.key: tuple(each for each in _BY_AREA[area.key] if each[1] in {"A101", "A104", "A110"}) for area in AREAS
}


def set_pulses(matters: list[Matter], month: int, rng: SeededRandom) -> list[Matter]:
    """Set how busy each matter is this month, and return those with work."""
    live = []
    for matter in matters:
        matter.pulse = 0.0
        if matter.first <= month <= matter.last and (matter.weight >= 1.5 or rng.chance() < 0.8):
            matter.pulse = matter.weight * matter.surges.get(month, 1.0) * (0.35 + 1.3 * rng.chance())
        if matter.pulse:
            live.append(matter)
    return live


class Workload:
    """A person's matters of a month, with their weights."""

    __slots__ = ("internal", "matters", "person", "rate", "support", "weights")

    def __init__(self, person: Person, month: int, matters: list[Matter], internal: list[Matter]) -> None:
        self.person = person
        self.rate = person.rate_in(month // 12)
        self.support = person.role in {"paralegal", "timekeeper"}
        self.matters = matters
        self.weights = list(accumulate(matter.pulse for matter in matters))
        self.internal = internal

    @classmethod
    def by_person(
        cls, people: list[Person], month: int, live: list[Matter], internal: list[Matter], rng: SeededRandom
    ) -> Iterator[Workload]:
        """Yield each timekeeper's workload: the live matters of their teams, with others' if those are few."""
        own: dict[str, list[Matter]] = {person.user_id: [] for person in people}
        by_area: dict[str, list[Matter]] = {}
        for matter in live:
            if matter.kind == "hourly":
                by_area.setdefault(matter.area.key, []).append(matter)
            for person in matter.team:
                own[person.user_id].append(matter)
        for person in people:
            if person.bills:
                mine = own[person.user_id]
                if len(mine) < 6:
                    lent = [each for key in person.areas for each in rng.sample(by_area.get(key, []), 3)]
                    mine = list(dict.fromkeys((*mine, *lent)))
                yield cls(person, month, mine or live[:3], internal)

    def at_trial(self, month: int) -> bool:
        """Whether one of the matters takes over the month."""
        return any(matter.surges.get(month, 1.0) > 3 for matter in self.matters)


def month_of_work(load: Workload, month: int, rng: SeededRandom) -> Iterator[tuple[Matter, TimeEntry]]:
    """Yield a person's entries of a month with their matters, day by day."""
    person = load.person
    busy = person.hours * _SEASON[month % 12] * _TREND[month // 12]
    weekend = person.weekend
    if load.at_trial(month):
        busy, weekend = busy * 1.14, weekend + 0.25
    workdays = set(working_days(month))
    for ordinal in month_days(month):
        if ordinal < person.start or ordinal > person.end or ordinal in person.leave:
            continue
        if ordinal in workdays and ordinal % 7 in person.days:
            yield from _day(load, ordinal, busy * (0.72 + 0.56 * rng.chance()), rng)
            yield from _office(load, ordinal, rng)
        elif ordinal % 7 in (6, 0) and rng.chance() < weekend:
            yield from _day(load, ordinal, 0.6 + 3.6 * rng.chance(), rng)


def _day(load: Workload, ordinal: int, hours: float, rng: SeededRandom) -> Iterator[tuple[Matter, TimeEntry]]:
    tenths = max(1, round(hours * 10))
    count = min(tenths, max(1, round(tenths / (13 + 21 * rng.chance()))))
    chosen = rng.random.choices(load.matters, cum_weights=load.weights, k=count)
    start = _NEW_YORK_MORNING + rng.below(5) * 900
    for matter, share in zip(chosen, _shares(tenths, count, rng), strict=True):
        entry = _entry(load, matter, ordinal, share * TENTH, start, rng)
        start += share * 360
        if entry.created_at <= LAST_INSTANT:
            yield matter, entry
            if rng.chance() < 0.0025:
                yield from _slip(matter, entry, rng)


def _shares(tenths: int, count: int, rng: SeededRandom) -> list[int]:
    """Split a day's tenths of an hour among its entries, at least one each."""
    if count == 1:
        return [tenths]
    bounds = list(accumulate(0.15 + rng.chance() for _ in range(count)))
    scale = (tenths - count) / bounds[-1]
    marks = [0, *(int(bound * scale) + place for place, bound in enumerate(bounds[:-1], start=1)), tenths]
    return [after - before for before, after in pairwise(marks)]


def _entry(load: Workload, matter: Matter, ordinal: int, hours: int, start: int, rng: SeededRandom) -> TimeEntry:
    person, chance = load.person, rng.chance
    text, activity, task = _narrative(rng, matter.area.key, support=load.support, other=matter.other)
    billing, rate, amount, fee = BILLING_TYPES[matter.kind], None, None, None
    if billing == "billable":
        if chance() < 0.022:
            billing, text = "nonBillable", rng.pick(_WORDS["no_charge"])
        else:
            rate = round(load.rate * matter.client.discount)
            amount = value_at_rate(hours, rate)
    elif billing == "fixedFee" and matter.fee and chance() < 0.88:
        fee = matter.fee.fixed_fee_id
    created, modified = _written_down(person, ordinal, rng)
    return TimeEntry(
        *(rng.uuid(), matter.matter_id, person.user_id, iso(ordinal), _clock(person, start, rng), text),
        *(hours, billing, rate, amount, None, fee),
        *_codes(matter, activity, task, rng),
        *(created, modified),
    )


def _narrative(rng: SeededRandom, area: str, *, support: bool, other: str) -> _Narrative:
    """
    Return a narrative for work in a practice area, by a lawyer or by support staff, with its codes.

    A narrative is a task ("Draft reply brief in support of motion to compel"), often with a second clause of the
    kind people add ("confer with co-counsel re exhibits").
    """
    pool = (_SUPPORT if support else _BY_AREA)[area]
    chance = rng.chance
    text, activity, task = pool[int(chance() * len(pool))]
    if chance() < 0.38:
        text = f"{text}; {_CLAUSES[int(chance() * len(_CLAUSES))]}"
    if "{" in text:
        text = text.replace("{other}", other)
    return text, activity, task


def _clock(person: Person, start: int, rng: SeededRandom) -> str | None:
    """Return the time of day, for those who run a timer."""
    if not person.records_time or rng.chance() < 0.25:
        return None
    minutes = (start - 4 * 3600) // 60 % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def _codes(matter: Matter, activity: str, task: str, rng: SeededRandom) -> tuple[str | None, str | None]:
    """Return an entry's codes: nearly always present on electronic bills, and sometimes wrong."""
    if not matter.coded:
        return None, None
    slip = rng.chance()
    if slip < 0.012:
        return activity, None
    if slip < 0.018:
        return None, task
    if slip < 0.024:
        return activity, _NOT_A_CODE_FOR_ENTRIES
    return activity, "C300" if slip < 0.028 else task


def _written_down(person: Person, ordinal: int, rng: SeededRandom) -> tuple[str, str]:
    """Return when an entry was created and last modified: that day, within the week, or at month-end."""
    chance = rng.chance
    when, lag = chance(), 0
    if when > person.prompt:
        soon = when < person.prompt + (1 - person.prompt) * 0.55
        lag = 1 + int(chance() * 3) if soon else 2 + int(rng.random.expovariate(0.16))
    seconds = 46_800 + int(chance() * 39_000) if lag else 61_200 + int(chance() * 18_000)
    microseconds = int(chance() * 1_000_000)
    created = instant(ordinal + lag, seconds, microseconds)
    if chance() < 0.85:
        return created, created
    edited = instant(ordinal + lag, min(seconds + 60 + int(chance() * 7_000), 86_399), microseconds)
    return created, min(edited, LAST_INSTANT) if created <= LAST_INSTANT else edited


def _slip(matter: Matter, entry: TimeEntry, rng: SeededRandom) -> Iterator[tuple[Matter, TimeEntry]]:
    """Yield the correction of a mistake: a negative entry for part of it, or one of zero hours."""
    negative = rng.chance() < 0.5
    hours = -min(entry.hours, rng.between(1, 8) * TENTH) if negative else 0
    text = f"Correction of entry of {entry.date}: time recorded twice" if negative else f"{entry.description} (no time)"
    yield (
        matter,
        TimeEntry(
            *(rng.uuid(), entry.matter_id, entry.user_id, entry.date, None, text, hours, entry.billing_type),
            *(entry.rate, None if entry.rate is None else value_at_rate(hours, entry.rate), None, entry.fixed_fee_id),
            *(entry.activity_code, entry.task_code, entry.modified_at, entry.modified_at),
        ),
    )


def _office(load: Workload, ordinal: int, rng: SeededRandom) -> Iterator[tuple[Matter, TimeEntry]]:
    """Yield a day's internal work, which most people record once or twice a week."""
    if rng.chance() > 0.22:
        return
    person = load.person
    matter = load.internal[rng.weighted((0, 1, 2, 3), (40, 25, 28 if person.role == "principal" else 8, 4))]
    tenths = min(40, max(3, round(person.office_hours * 44 * (0.4 + 1.2 * rng.chance()))))
    text = rng.pick(_WORDS["internal"][matter.internal])
    entry_id, date, hours = rng.uuid(), iso(ordinal), tenths * TENTH
    created, modified = _written_down(person, ordinal, rng)
    if created <= LAST_INSTANT:
        whose = (entry_id, matter.matter_id, person.user_id)
        entry = TimeEntry(*whose, date, None, text, hours, "nonBillable", *_NO_WORTH, created, modified)
        yield matter, entry
