"""A month's expenses and fixed fees.

Most fixed-fee matters charge half on engagement and half when the documents are signed; a retainer is charged every
month. An expense paid by the firm has no user; if it is paid by check, it has the check's number.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from billframes.sandbox.seed.data_files import load_toml
from billframes.sandbox.seed.matters import Matter

__all__ = ["charge_fixed_fees", "draw_expenses"]

# Description, code, lowest and highest amount, whether a person paid it, weight.
_ExpenseKind = tuple[str, str, float, float, bool, int]

_DATA = load_toml("costs")
_DISPUTES: tuple[_ExpenseKind, ...] = _DATA["disputes"]
_DEALS: tuple[_ExpenseKind, ...] = _DATA["deals"]


def draw_expenses(matter: Matter, month: int, check_numbers: Iterator[int], rng: SeededRandom) -> None:
    """Add a month's expenses to a matter with work."""
    chance = matter.area.expense_chance * (0.55 + min(matter.intensity, 4) * 0.28)
    days = month_days(month)
    while rng.chance() < chance and matter.matter_type != "internal":
        chance *= 0.62
        expense = _draw_expense(matter, next_working_day(days[rng.below(len(days))]), check_numbers, rng)
        if expense.created_at <= LAST_INSTANT:
            matter.expenses.append(expense)


def _draw_expense(matter: Matter, ordinal: int, check_numbers: Iterator[int], rng: SeededRandom) -> Expense:
    options = _DISPUTES if matter.area.code_set == "UTBMS-LIT" else _DEALS
    text, code, low, high, is_personal, _ = rng.weighted(options, [option[5] for option in options])
    ordinal = min(ordinal, END)
    user = rng.pick(matter.team).user_id if is_personal and rng.chance() < 0.9 else None
    check = str(next(check_numbers)) if user is None and rng.chance() < 0.45 else None
    created = instant(ordinal + int(rng.random.expovariate(0.12)), 50_400 + rng.below(30_000), rng.below(1_000_000))
    has_code = matter.uses_codes and rng.chance() < 0.97
    return Expense(
        *(rng.uuid(), matter.matter_id, user, iso(ordinal), text),
        money(low + (high - low) * rng.chance() ** 2),
        *(None, code if has_code else None, check, created, created),
    )


def charge_fixed_fees(matter: Matter, month: int, rng: SeededRandom) -> None:
    """Add a month's fixed fee to a matter, if one is due: the retainer, or the next stage."""
    if matter.matter_type != "fixedFee" or not matter.first_month <= month <= matter.last_month:
        return
    if matter.retainer:
        _charge(matter, month, f"Retainer for {_month_name(month)}", matter.retainer, rng)
        return
    stages = _DATA["stages"].get(matter.area.key, _DATA["stages"]["estate"])
    is_due = matter.fees_charged == 0 or (matter.fees_charged == 1 and month == min(matter.last_month, LAST_MONTH))
    if is_due or (matter.area.key == "ip" and matter.intensity and rng.chance() < 0.35):
        text, low, high = stages[min(matter.fees_charged, 1)]
        amount = rng.between(low // 50, high // 50) * 50
        _charge(matter, month, text.format(name=matter.name), amount, rng)


def _month_name(month: int) -> str:
    names = "January February March April May June July August September October November December"
    return f"{names.split()[month % 12]} {month // 12}"


def _charge(matter: Matter, month: int, text: str, dollars: int, rng: SeededRandom) -> None:
    ordinal = next_working_day(month_days(month)[0])
    created = rng.office_instant(ordinal)
    user = matter.responsible.user_id if matter.responsible and rng.chance() < 0.7 else None
    activity = "A106" if matter.uses_codes else None
    task = "C300" if matter.uses_codes and matter.area.code_set == "UTBMS-COU" else None
    fee = FixedFee(
        *(rng.uuid(), matter.matter_id, user, iso(ordinal), text, money(dollars), None),
        *(activity, task, created, created),
    )
    matter.fixed_fees.append(fee)
    matter.current_fee = fee
    matter.fees_charged += 1
