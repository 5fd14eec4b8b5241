"""A month's items: the time entries of each person, and the expenses and fixed fees of each matter.

Each person has a few time entries on each working day, more of them on matters with more work that month. Seasons, days
off and weekends change the hours of a day. Most fixed-fee matters charge half on engagement and half when the documents
are signed; a retainer is charged every month. An expense paid by the firm has no user; if it is paid by check, it has
the check's number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, pairwise

from billframes.sandbox.schema import BILLING_TYPES, SCALE, value_at_rate
from billframes.sandbox.seed.basics import (
    END,
    LAST_INSTANT,
    LAST_MONTH,
    Expense,
    FixedFee,
    SeededRandom,
    TimeEntry,
    instant,
    iso,
    money,
    month_days,
    next_working_day,
    working_days,
)
from billframes.sandbox.seed.data_files import AREAS, load_toml
from billframes.sandbox.seed.matters import SeedMatter
from billframes.sandbox.seed.people import Person

_TENTH = SCALE // 10
# Seconds after midnight, in UTC.
_NEW_YORK_MORNING = 46_800

# Factors on the hours of a day by month: August and December are slow; March, October and November are busy.
_SEASON = (0.97, 1.0, 1.05, 1.0, 1.01, 1.0, 0.93, 0.86, 1.0, 1.05, 1.02, 0.84)
# The same by year: the firm gets a little busier.
_TREND = {2024: 0.95, 2025: 0.98, 2026: 1.02}

# A heading, which is not valid on entries.
_HEADING_CODE = "L100"

# Text, activity code, task code.
_Narrative = tuple[str, str, str]

_DATA = load_toml("work")
_CLAUSES: tuple[str, ...] = _DATA["clauses"]
_NARRATIVES: dict[str, tuple[_Narrative, ...]] = _DATA["narratives"]
# Support staff plan, review and organize; they do not appear in court.
_SUPPORT_NARRATIVES = {
    area.key: tuple(each for each in _NARRATIVES[area.key] if each[1] in {"A101", "A104", "A110"}) for area in AREAS
}

# Description, code, lowest and highest amount, whether a person paid it, weight.
_ExpenseKind = tuple[str, str, float, float, bool, int]

_DISPUTES: tuple[_ExpenseKind, ...] = _DATA["dispute_expenses"]
_DEALS: tuple[_ExpenseKind, ...] = _DATA["deal_expenses"]


def draw_intensities(matters: list[SeedMatter], month: int, rng: SeededRandom) -> list[SeedMatter]:
    """Draw how much work each matter has this month, and return the matters with work."""
    active = []
    for matter in matters:
        matter.intensity = 0.0
        if matter.first_month <= month <= matter.last_month and (matter.weight >= 1.5 or rng.chance() < 0.8):
            matter.intensity = matter.weight * matter.busier_months.get(month, 1.0) * (0.35 + 1.3 * rng.chance())
        if matter.intensity:
            active.append(matter)
    return active


class Workload:
    """A person's matters in a month."""

    __slots__ = ("cumulative_weights", "internal", "is_support", "matters", "person", "rate")

    def __init__(self, person: Person, month: int, matters: list[SeedMatter], internal: list[SeedMatter]) -> None:
        self.person = person
        self.rate = person.rate_in(month // 12)
        self.is_support = person.role in {"paralegal", "timekeeper"}
        self.matters = matters
        self.cumulative_weights = list(accumulate(matter.intensity for matter in matters))
        self.internal = internal

    @classmethod
    def by_person(
        cls, people: list[Person], month: int, active: list[SeedMatter], internal: list[SeedMatter], rng: SeededRandom
    ) -> Iterator[Workload]:
        """Yield each timekeeper's workload: the active matters of their teams, and others if those are few."""
        by_user: dict[str, list[SeedMatter]] = {person.user_id: [] for person in people}
        by_area: dict[str, list[SeedMatter]] = {}
        for matter in active:
            if matter.matter_type == "hourly":
                by_area.setdefault(matter.area.key, []).append(matter)
            for person in matter.team:
                by_user[person.user_id].append(matter)
        for person in people:
            if person.is_timekeeper:
                matters = by_user[person.user_id]
                if len(matters) < 6:
                    others = [each for key in person.areas for each in rng.sample(by_area.get(key, []), 3)]
                    matters = list(dict.fromkeys((*matters, *others)))
                yield cls(person, month, matters or active[:3], internal)

    def is_at_trial(self, month: int) -> bool:
        """Tell whether one of the matters takes most of the month, as a trial does."""
        return any(matter.busier_months.get(month, 1.0) > 3 for matter in self.matters)


def draw_month(load: Workload, month: int, rng: SeededRandom) -> Iterator[tuple[SeedMatter, TimeEntry]]:
    """Draw a person's entries of a month, and yield them with their matters, day by day."""
    person = load.person
    hours = person.client_hours * _SEASON[month % 12] * _TREND[month // 12]
    weekend_share = person.weekend_share
    if load.is_at_trial(month):
        hours, weekend_share = hours * 1.14, weekend_share + 0.25
    workdays = set(working_days(month))
    for ordinal in month_days(month):
        if ordinal < person.start or ordinal > person.end or ordinal in person.days_off:
            continue
        if ordinal in workdays and ordinal % 7 in person.weekdays:
            yield from _draw_day(load, ordinal, hours * (0.72 + 0.56 * rng.chance()), rng)
            yield from _draw_internal_work(load, ordinal, rng)
        elif ordinal % 7 in (6, 0) and rng.chance() < weekend_share:
            yield from _draw_day(load, ordinal, 0.6 + 3.6 * rng.chance(), rng)


def _draw_day(load: Workload, ordinal: int, hours: float, rng: SeededRandom) -> Iterator[tuple[SeedMatter, TimeEntry]]:
    tenths = max(1, round(hours * 10))
    count = min(tenths, max(1, round(tenths / (13 + 21 * rng.chance()))))
    chosen = rng.random.choices(load.matters, cum_weights=load.cumulative_weights, k=count)
    start = _NEW_YORK_MORNING + rng.below(5) * 900
    for matter, worked in zip(chosen, _split(tenths, count, rng), strict=True):
        entry = _draw_entry(load, matter, ordinal, worked * _TENTH, start, rng)
        start += worked * 360
        if entry.created_at <= LAST_INSTANT:
            yield matter, entry
            if rng.chance() < 0.0025:
                yield matter, _draw_correction(entry, rng)


def _split(tenths: int, count: int, rng: SeededRandom) -> list[int]:
    """Split a day's tenths of an hour among its entries, at least one each."""
    if count == 1:
        return [tenths]
    bounds = list(accumulate(0.15 + rng.chance() for _ in range(count)))
    scale = (tenths - count) / bounds[-1]
    marks = [0, *(int(bound * scale) + place for place, bound in enumerate(bounds[:-1], start=1)), tenths]
    return [after - before for before, after in pairwise(marks)]


def _draw_entry(
    load: Workload, matter: SeedMatter, ordinal: int, hours: int, start: int, rng: SeededRandom
) -> TimeEntry:
    person, chance = load.person, rng.chance
    text, activity, task = _draw_narrative(rng, matter, is_support=load.is_support)
    billing_type, rate, amount, fee = BILLING_TYPES[matter.matter_type], None, None, None
    if billing_type == "billable":
        if chance() < 0.022:
            billing_type, text = "nonBillable", rng.pick(_DATA["no_charge"])
        else:
            rate = round(load.rate * matter.client.rate_share)
            amount = value_at_rate(hours, rate)
    elif billing_type == "fixedFee" and matter.current_fee and chance() < 0.88:
        fee = matter.current_fee.id
    created, modified = _draw_instants(person, ordinal, rng)
    entry_id, time = rng.uuid(), _draw_time_of_day(person, start, rng)
    return TimeEntry(
        *(entry_id, matter.matter_id, person.user_id, iso(ordinal), text, amount, created, modified),
        *(time, hours, billing_type, rate, fee, *_draw_codes(matter, activity, task, rng)),
    )


def _draw_narrative(rng: SeededRandom, matter: SeedMatter, *, is_support: bool) -> _Narrative:
    """
    Draw a narrative for work by a lawyer or by support staff, with its codes.

    A narrative is a task ("Draft reply brief in support of motion to compel"), often with a second clause of the
    kind that people add ("confer with co-counsel re exhibits").
    """
    options = (_SUPPORT_NARRATIVES if is_support else _NARRATIVES)[matter.area.key]
    chance = rng.chance
    text, activity, task = options[int(chance() * len(options))]
    if chance() < 0.38:
        text = f"{text}; {_CLAUSES[int(chance() * len(_CLAUSES))]}"
    if "{" in text:
        text = text.replace("{other}", matter.other_party)
    return text, activity, task


def _draw_time_of_day(person: Person, start: int, rng: SeededRandom) -> str | None:
    """Return the time of day in New York, for most entries of people who record it."""
    if not person.records_time_of_day or rng.chance() < 0.25:
        return None
    minutes = (start - 4 * 3600) // 60 % 1440
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def _draw_codes(matter: SeedMatter, activity: str, task: str, rng: SeededRandom) -> tuple[str | None, str | None]:
    """Return an entry's codes on a matter that uses them: nearly always both, sometimes missing or wrong."""
    if not matter.uses_codes:
        return None, None
    chance = rng.chance()
    if chance < 0.012:
        return activity, None
    if chance < 0.018:
        return None, task
    if chance < 0.024:
        return activity, _HEADING_CODE
    return activity, "C300" if chance < 0.028 else task


def _draw_instants(person: Person, ordinal: int, rng: SeededRandom) -> tuple[str, str]:
    """Draw when an entry is created and last modified: on the day of the work, within some days, or much later."""
    chance = rng.chance
    when, lag = chance(), 0
    if when > person.same_day_share:
        is_soon = when < person.same_day_share + (1 - person.same_day_share) * 0.55
        lag = 1 + int(chance() * 3) if is_soon else 2 + int(rng.random.expovariate(0.16))
    seconds = 46_800 + int(chance() * 39_000) if lag else 61_200 + int(chance() * 18_000)
    microseconds = int(chance() * 1_000_000)
    created = instant(ordinal + lag, seconds, microseconds)
    if chance() < 0.85:
        return created, created
    edited = instant(ordinal + lag, min(seconds + 60 + int(chance() * 7_000), 86_399), microseconds)
    return created, min(edited, LAST_INSTANT) if created <= LAST_INSTANT else edited


def _draw_correction(entry: TimeEntry, rng: SeededRandom) -> TimeEntry:
    """Return the correction of a mistake: a negative entry for part of the hours, or an entry without hours."""
    is_negative = rng.chance() < 0.5
    hours = -min(entry.hours, rng.between(1, 8) * _TENTH) if is_negative else 0
    note = f"Correction of entry of {entry.date}: time recorded twice"
    text = note if is_negative else f"{entry.description} (no time)"
    amount = None if entry.rate is None else value_at_rate(hours, entry.rate)
    corrected = replace(entry, id=rng.uuid(), time=None, description=text, created_at=entry.modified_at)
    return replace(corrected, hours=hours, amount=amount)


def _draw_internal_work(load: Workload, ordinal: int, rng: SeededRandom) -> Iterator[tuple[SeedMatter, TimeEntry]]:
    """Yield a day's work for the firm itself, which most people record about once a week."""
    if rng.chance() > 0.22:
        return
    person = load.person
    matter = load.internal[rng.weighted((0, 1, 2, 3), (40, 25, 28 if person.role == "principal" else 8, 4))]
    tenths = min(40, max(3, round(person.office_hours * 44 * (0.4 + 1.2 * rng.chance()))))
    text = rng.pick(_DATA["internal_narratives"][matter.internal_topic])
    entry_id = rng.uuid()
    created, modified = _draw_instants(person, ordinal, rng)
    if created <= LAST_INSTANT:
        own = (entry_id, matter.matter_id, person.user_id, iso(ordinal), text, None, created, modified)
        yield matter, TimeEntry(*own, None, tenths * _TENTH, "nonBillable")


def draw_expenses(matter: SeedMatter, month: int, check_numbers: Iterator[int], rng: SeededRandom) -> None:
    """Add a month's expenses to a matter with work."""
    chance = matter.area.expense_chance * (0.55 + min(matter.intensity, 4) * 0.28)
    days = month_days(month)
    while rng.chance() < chance and matter.matter_type != "internal":
        chance *= 0.62
        expense = _draw_expense(matter, next_working_day(days[rng.below(len(days))]), check_numbers, rng)
        if expense.created_at <= LAST_INSTANT:
            matter.items.append(expense)


def _draw_expense(matter: SeedMatter, ordinal: int, check_numbers: Iterator[int], rng: SeededRandom) -> Expense:
    options = _DISPUTES if matter.area.code_set == "UTBMS-LIT" else _DEALS
    text, code, low, high, is_personal, _ = rng.weighted(options, [option[5] for option in options])
    ordinal = min(ordinal, END)
    user = rng.pick(matter.team).user_id if is_personal and rng.chance() < 0.9 else None
    check = str(next(check_numbers)) if user is None and rng.chance() < 0.45 else None
    created = instant(ordinal + int(rng.random.expovariate(0.12)), 50_400 + rng.below(30_000), rng.below(1_000_000))
    has_code = matter.uses_codes and rng.chance() < 0.97
    return Expense(
        *(rng.uuid(), matter.matter_id, user, iso(ordinal), text, money(low + (high - low) * rng.chance() ** 2)),
        *(created, created, code if has_code else None, check),
    )


def charge_fixed_fees(matter: SeedMatter, month: int, rng: SeededRandom) -> None:
    """Add a month's fixed fee to a matter, if one is due: the retainer, or the next stage."""
    if matter.matter_type != "fixedFee" or not matter.first_month <= month <= matter.last_month:
        return
    if matter.retainer:
        _charge(matter, month, f"Retainer for {_month_name(month)}", matter.retainer, rng)
        return
    stages = _DATA["fee_stages"].get(matter.area.key, _DATA["fee_stages"]["estate"])
    is_due = matter.fees_charged == 0 or (matter.fees_charged == 1 and month == min(matter.last_month, LAST_MONTH))
    if is_due or (matter.area.key == "ip" and matter.intensity and rng.chance() < 0.35):
        text, low, high = stages[min(matter.fees_charged, 1)]
        amount = rng.between(low // 50, high // 50) * 50
        _charge(matter, month, text.format(name=matter.name), amount, rng)


def _month_name(month: int) -> str:
    names = "January February March April May June July August September October November December"
    return f"{names.split()[month % 12]} {month // 12}"


def _charge(matter: SeedMatter, month: int, text: str, dollars: int, rng: SeededRandom) -> None:
    ordinal = next_working_day(month_days(month)[0])
    created = rng.office_instant(ordinal)
    user = matter.responsible.user_id if matter.responsible and rng.chance() < 0.7 else None
    activity = "A106" if matter.uses_codes else None
    task = "C300" if matter.uses_codes and matter.area.code_set == "UTBMS-COU" else None
    own = (rng.uuid(), matter.matter_id, user, iso(ordinal), text, money(dollars), created, created)
    fee = FixedFee(*own, activity, task)
    matter.items.append(fee)
    matter.current_fee = fee
    matter.fees_charged += 1
