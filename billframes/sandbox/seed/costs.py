"""Expenses that the firm or its people pay, and fixed fees.

Fixed-fee matters charge half on engagement and half when the documents are signed; a retainer charges every month.
Expenses paid by the firm have no user, and those paid by check have its number.
"""

from __future__ import annotations

from billframes.sandbox.seed.basics import (
    END,
    LAST_INSTANT,
    LAST_MONTH,
    Expense,
    FixedFee,
    SeededRandom,
    instant,
    iso,
    money,
    month_days,
    next_working_day,
)
from billframes.sandbox.seed.data import Area, read
from billframes.sandbox.seed.matters import Matter

__all__ = ["Checkbook", "charge_fees", "draw_expenses"]

# description, code, lowest, highest amount, whether a person paid it, weight
_Spend = tuple[str, str, float, float, bool, int]

_WORDS = read("costs")
_DISPUTES: tuple[_Spend, ...] = _WORDS["disputes"]
_DEALS: tuple[_Spend, ...] = _WORDS["deals"]


class Checkbook:
    """The numbers of the firm's checks, in order."""

    def __init__(self) -> None:
        self.number = 20_410

    def next(self) -> str:
        """Return the next check's number."""
        self.number += 1
        return str(self.number)


def draw_expenses(matter: Matter, month: int, checks: Checkbook, rng: SeededRandom) -> None:
    """Add the month's expenses to a matter with work."""
    chance = matter.area.spend * (0.55 + min(matter.pulse, 4) * 0.28)
    days = month_days(month)
    while rng.chance() < chance and matter.kind != "internal":
        chance *= 0.62
        expense = _expense(matter, next_working_day(days[rng.below(len(days))]), checks, rng)
        if expense.created_at <= LAST_INSTANT:
            matter.expenses.append(expense)


def _expense(matter: Matter, ordinal: int, checks: Checkbook, rng: SeededRandom) -> Expense:
    options = _menu(matter.area)
    text, code, low, high, personal, _ = rng.weighted(options, [option[5] for option in options])
    ordinal = min(ordinal, END)
    user = rng.pick(matter.team).user_id if personal and rng.chance() < 0.9 else None
    check = checks.next() if user is None and rng.chance() < 0.45 else None
    created = instant(ordinal + int(rng.random.expovariate(0.12)), 50_400 + rng.below(30_000), rng.below(1_000_000))
    coded = matter.coded and rng.chance() < 0.97
    return Expense(
        *(
            rng.uuid(),
            matter.matter_id,
            user,
            iso(ordinal),
            text,
            money(low + (high - low) * rng.chance() ** 2),
        ),
        *(None, code if coded else None, check, created, created),
    )


def _menu(area: Area) -> tuple[_Spend, ...]:
    return _DISPUTES if area.code_set == "UTBMS-LIT" else _DEALS


def charge_fees(matter: Matter, month: int, rng: SeededRandom) -> None:
    """Add the month's fixed fee to a matter that has one: the retainer, or the next stage."""
    if matter.kind != "fixedFee" or not matter.first <= month <= matter.last:
        return
    if matter.retainer:
        _charge(matter, month, f"Retainer for {_label(month)}", matter.retainer, rng)
        return
    stages = _WORDS["stages"].get(matter.area.key, _WORDS["stages"]["estate"])
    due = matter.stages == 0 or (matter.stages == 1 and month == min(matter.last, LAST_MONTH))
    if due or (matter.area.key == "ip" and matter.pulse and rng.chance() < 0.35):
        text, low, high = stages[min(matter.stages, 1)]
        amount = rng.between(low // 50, high // 50) * 50
        _charge(matter, month, text.format(name=matter.name), amount, rng)


def _label(month: int) -> str:
    names = "January February March April May June July August September October November December"
    return f"{names.split()[month % 12]} {month // 12}"


def _charge(matter: Matter, month: int, text: str, dollars: int, rng: SeededRandom) -> None:
    ordinal = next_working_day(month_days(month)[0])
    created = rng.office_hours(ordinal)
    user = matter.responsible.user_id if matter.responsible and rng.chance() < 0.7 else None
    codes = ("A106", matter.area.code_set == "UTBMS-COU" and "C300") if matter.coded else (None, None)
    fee = FixedFee(
        *(rng.uuid(), matter.matter_id, user, iso(ordinal), text, money(dollars), None),
        *(codes[0], codes[1] or None, created, created),
    )
    matter.fees.append(fee)
    matter.fee = fee
    matter.stages += 1
