"""A month of work: who worked on what, for how long, and when they got around to writing it down.

Each person fills each working day with a handful of entries on the matters they are on, the busier matters
more often. Seasons, leave and weekends shape the days; the pulse of a matter shapes the month.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from billframes.sandbox.seed.basics import (
    LAST_INSTANT,
    SCALE,
    Dice,
    instant,
    iso,
    month_days,
    working_days,
    worth,
)
from billframes.sandbox.seed.items import TimeEntry
from billframes.sandbox.seed.matters import Matter
from billframes.sandbox.seed.narratives import INTERNAL, narrative, no_charge
from billframes.sandbox.seed.people import Person

__all__ = ["Workload", "month_of_work", "set_pulses"]

TENTH = SCALE // 10
_NEW_YORK_MORNING = 46_800

# How full a month's days are: August and December are slow, March, October and November are not.
_SEASON = (0.97, 1.0, 1.05, 1.0, 1.01, 1.0, 0.93, 0.86, 1.0, 1.05, 1.02, 0.84)
# The firm gets busier: a little each year, and busiest in the autumn of 2026.
_TREND = {2024: 0.95, 2025: 0.98, 2026: 1.02}

# Rate, amount, invoice, fixed fee and codes of an entry for the firm itself.
_NO_WORTH = (None, None, None, None, None, None)

_NOT_A_CODE_FOR_ENTRIES = "L100"


def set_pulses(matters: list[Matter], month: int, dice: Dice) -> list[Matter]:
    """Decide how busy each matter is this month and return those with work."""
    live = []
    for matter in matters:
        matter.pulse = 0.0
        if matter.first <= month <= matter.last and (matter.weight >= 1.5 or dice.chance() < 0.8):
            matter.pulse = matter.weight * matter.surges.get(month, 1.0) * (0.35 + 1.3 * dice.chance())
        if matter.pulse:
            live.append(matter)
    return live


class Workload:
    """What one person has to choose from in a month: matters and how often each comes up."""

    __slots__ = ("internal", "matters", "weights")

    def __init__(self, matters: list[Matter], internal: list[Matter]) -> None:
        self.matters = matters
        self.weights = list(accumulate(matter.pulse for matter in matters))
        self.internal = internal

    @classmethod
    def by_person(
        cls, people: list[Person], live: list[Matter], internal: list[Matter], dice: Dice
    ) -> Iterator[tuple[Person, Workload]]:
        """Give every person who bills the live matters they are on, and others' when those are few."""
        own: dict[str, list[Matter]] = {person.user_id: [] for person in people}
        by_area: dict[str, list[Matter]] = {}
        for matter in live:
            by_area.setdefault(matter.area.key, []).append(matter)
            for person in matter.team:
                own[person.user_id].append(matter)
        for person in people:
            if person.bills:
                mine = own[person.user_id]
                if len(mine) < 4:
                    lent = dice.sample(by_area.get(person.areas[0], []), 5)
                    mine = list(dict.fromkeys((*mine, *lent)))
                yield person, cls(mine or live[:3], internal)


def month_of_work(person: Person, load: Workload, month: int, dice: Dice) -> Iterator[tuple[Matter, TimeEntry]]:
    """Yield a person's entries of a month with their matters, a day at a time."""
    busy = person.hours * _SEASON[month % 12] * _TREND[month // 12]
    workdays = set(working_days(month))
    for ordinal in month_days(month):
        if ordinal < person.start or ordinal > person.end or ordinal in person.leave:
            continue
        if ordinal in workdays and ordinal % 7 in person.days:
            yield from _day(person, load, ordinal, busy * (0.72 + 0.56 * dice.chance()), dice)
            yield from _office(person, load, ordinal, dice)
        elif ordinal % 7 in (6, 0) and dice.chance() < person.weekend:
            yield from _day(person, load, ordinal, 0.6 + 3.6 * dice.chance(), dice)


def _day(person: Person, load: Workload, ordinal: int, hours: float, dice: Dice) -> Iterator[tuple[Matter, TimeEntry]]:
    tenths = max(1, round(hours * 10))
    count = min(tenths, max(1, round(tenths / (11 + 19 * dice.chance()))))
    chosen = dice.random.choices(load.matters, cum_weights=load.weights, k=count)
    start = _NEW_YORK_MORNING + dice.below(5) * 900
    for matter, share in zip(chosen, _shares(tenths, count, dice), strict=True):
        entry = _entry(person, matter, ordinal, share * TENTH, start, dice)
        start += share * 360
        if entry.created_at <= LAST_INSTANT:
            yield matter, entry
            if dice.chance() < 0.0025:
                yield from _slip(matter, entry, dice)


def _shares(tenths: int, count: int, dice: Dice) -> list[int]:
    """Return how many tenths of an hour each of a day's entries gets, at least one."""
    if count == 1:
        return [tenths]
    cuts = sorted(dice.random.sample(range(1, tenths), count - 1))
    return [after - before for before, after in zip([0, *cuts], [*cuts, tenths], strict=True)]


def _entry(person: Person, matter: Matter, ordinal: int, hours: int, start: int, dice: Dice) -> TimeEntry:
    chance = dice.chance
    support = person.role in {"paralegal", "timekeeper"}
    text, activity, task = narrative(dice, matter.area.key, support=support, other=matter.other)
    billing = "billable" if matter.pays_by_hour else "fixedFee" if matter.kind == "fixedFee" else "nonBillable"
    if billing == "billable" and chance() < 0.022:
        billing, text = "nonBillable", no_charge(dice)
    rate = None
    if billing == "billable":
        rate = round(person.rate_in(int(iso(ordinal)[:4])) * matter.client.discount)
    created, modified = _written_down(person, ordinal, dice)
    return TimeEntry(
        *(
            dice.uuid(),
            matter.matter_id,
            person.user_id,
            iso(ordinal),
            _clock(person, start, dice),
            text,
            hours,
        ),
        *(billing, rate, None if rate is None else worth(hours, rate), None),
        matter.fee.fixed_fee_id if billing == "fixedFee" and matter.fee and chance() < 0.88 else None,
        *_codes(matter, activity, task, dice),
        *(created, modified),
    )


def _clock(person: Person, start: int, dice: Dice) -> str | None:
    """Return the time of day in the office, for those who run a timer."""
    if not person.records_time or dice.chance() < 0.25:
        return None
    minutes = (start - 4 * 3600) // 60 % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def _codes(matter: Matter, activity: str, task: str, dice: Dice) -> tuple[str | None, str | None]:
    """Return the codes put on an entry: on electronic bills nearly always, and now and then wrong."""
    if not matter.coded:
        return None, None
    slip = dice.chance()
    if slip < 0.012:
        return activity, None
    if slip < 0.018:
        return None, task
    if slip < 0.024:
        return activity, _NOT_A_CODE_FOR_ENTRIES
    return activity, "C300" if slip < 0.028 else task


def _written_down(person: Person, ordinal: int, dice: Dice) -> tuple[str, str]:
    """Return when an entry was made and last edited: that day, within the week, or at month-end."""
    chance = dice.chance()
    if chance < person.prompt:
        lag = 0
    elif chance < person.prompt + (1 - person.prompt) * 0.55:
        lag = 1 + dice.below(3)
    else:
        lag = 2 + int(dice.random.expovariate(0.16))
    seconds = 61_200 + dice.below(18_000) if lag == 0 else 46_800 + dice.below(39_000)
    microseconds = dice.below(1_000_000)
    created = instant(ordinal + lag, seconds, microseconds)
    if dice.chance() < 0.85:
        return created, created
    edited = instant(ordinal + lag, min(seconds + 60 + dice.below(7_000), 86_399), microseconds)
    return created, min(edited, LAST_INSTANT) if created <= LAST_INSTANT else edited


def _slip(matter: Matter, entry: TimeEntry, dice: Dice) -> Iterator[tuple[Matter, TimeEntry]]:
    """Yield what follows a mistake: a negative entry that takes part of it back, or one of no hours."""
    negative = dice.chance() < 0.5
    hours = -min(entry.hours, dice.between(1, 8) * TENTH) if negative else 0
    text = f"Correction of entry of {entry.date}: time recorded twice" if negative else f"{entry.description} (no time)"
    yield (
        matter,
        TimeEntry(
            *(dice.uuid(), entry.matter_id, entry.user_id, entry.date, None, text, hours, entry.billing_type),
            *(entry.rate, None if entry.rate is None else worth(hours, entry.rate), None, entry.fixed_fee_id),
            *(entry.activity_code, entry.task_code, entry.modified_at, entry.modified_at),
        ),
    )


def _office(person: Person, load: Workload, ordinal: int, dice: Dice) -> Iterator[tuple[Matter, TimeEntry]]:
    """Yield a day's work for the firm itself, which most people write down once or twice a week."""
    if dice.chance() > 0.22:
        return
    matter = load.internal[dice.weighted((0, 1, 2, 3), (40, 25, 28 if person.role == "principal" else 8, 4))]
    tenths = min(40, max(3, round(person.office_hours * 36 * (0.4 + 1.2 * dice.chance()))))
    text = dice.pick(INTERNAL[matter.internal])
    entry_id, date, hours = dice.uuid(), iso(ordinal), tenths * TENTH
    created, modified = _written_down(person, ordinal, dice)
    if created <= LAST_INSTANT:
        whose = (entry_id, matter.matter_id, person.user_id)
        entry = TimeEntry(*whose, date, None, text, hours, "nonBillable", *_NO_WORTH, created, modified)
        yield matter, entry
