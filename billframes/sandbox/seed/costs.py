"""Money besides time: expenses the firm or its people lay out, and fees agreed in advance.

Fixed-fee matters charge in stages, half on engagement and half when the documents are signed; a retainer
charges every month. Expenses paid by the firm name no user, and those paid by check carry its number.
"""

from __future__ import annotations

from billframes.sandbox.seed.areas import Area
from billframes.sandbox.seed.basics import (
    END,
    LAST_INSTANT,
    LAST_MONTH,
    Dice,
    instant,
    iso,
    money,
    month_days,
    next_working_day,
)
from billframes.sandbox.seed.items import Expense, FixedFee
from billframes.sandbox.seed.matters import Matter

__all__ = ["Checkbook", "charge_fees", "lay_out"]

# description, code, lowest, highest amount, whether a person paid it, weight
_Spend = tuple[str, str, float, float, bool, int]

_DISPUTE: tuple[_Spend, ...] = (
    ("Filing fee, superior court", "E112", 60, 402, False, 8),
    ("Deposition transcript, certified copy", "E115", 380, 1_950, False, 9),
    ("Process server", "E113", 65, 180, False, 7),
    ("Expert witness retainer", "E119", 2_500, 9_500, False, 2),
    ("Document review platform hosting", "E118", 250, 1_600, False, 5),
    ("Mediator's fee, client share", "E121", 1_200, 4_500, False, 1),
    ("Online legal research", "E106", 18, 340, False, 9),
    ("Mileage and parking, court appearance", "E109", 14, 96, True, 8),
    ("Train to deposition, New York", "E110", 58, 310, True, 4),
    ("Working lunch during deposition", "E111", 24, 118, True, 3),
    ("Trial exhibit boards", "E117", 180, 1_450, False, 1),
    ("Courier to court", "E107", 18, 74, False, 6),
)

_DEAL: tuple[_Spend, ...] = (
    ("Secretary of the State filing fee", "E112", 60, 455, False, 8),
    ("UCC and lien search", "E123", 45, 320, False, 8),
    ("Title search and municipal lien certificate", "E123", 150, 680, False, 6),
    ("Recording fees", "E112", 60, 290, False, 7),
    ("Overnight delivery of signature pages", "E107", 24, 88, False, 8),
    ("Official filing fee, application", "E112", 250, 1_050, False, 5),
    ("Foreign associate's invoice", "E122", 600, 3_200, False, 2),
    ("Color copies of closing binder", "E101", 22, 210, False, 4),
    ("Taxi to closing", "E109", 12, 64, True, 5),
    ("Conference call charges", "E105", 6, 48, False, 3),
    ("Notary and witness fees", "E124", 10, 60, True, 4),
)

_STAGES = {
    "estate": (
        ("{name}: half on engagement", 2_000, 5_500),
        ("{name}: half on execution of documents", 2_000, 5_500),
    ),
    "ip": (
        ("Flat fee, application and search", 1_200, 2_600),
        ("Flat fee, response to office action", 900, 2_400),
    ),
}


class Checkbook:
    """The firm's checks, numbered as they are written."""

    def __init__(self) -> None:
        self.number = 20_410

    def next(self) -> str:
        """Return the next check's number."""
        self.number += 1
        return str(self.number)


def lay_out(matter: Matter, month: int, checks: Checkbook, dice: Dice) -> None:
    """Add the month's expenses to a matter with work."""
    chance = matter.area.spend * (0.55 + min(matter.pulse, 4) * 0.28)
    days = month_days(month)
    while dice.chance() < chance and matter.kind != "internal":
        chance *= 0.62
        expense = _expense(matter, next_working_day(days[dice.below(len(days))]), checks, dice)
        if expense.created_at <= LAST_INSTANT:
            matter.expenses.append(expense)


def _expense(matter: Matter, ordinal: int, checks: Checkbook, dice: Dice) -> Expense:
    options = _menu(matter.area)
    text, code, low, high, personal, _ = dice.weighted(options, [option[5] for option in options])
    ordinal = min(ordinal, END)
    user = dice.pick(matter.team).user_id if personal and dice.chance() < 0.9 else None
    check = checks.next() if user is None and dice.chance() < 0.45 else None
    created = instant(ordinal + int(dice.random.expovariate(0.12)), 50_400 + dice.below(30_000), dice.below(1_000_000))
    coded = matter.coded and dice.chance() < 0.97
    return Expense(
        *(
            dice.uuid(),
            matter.matter_id,
            user,
            iso(ordinal),
            text,
            money(low + (high - low) * dice.chance() ** 2),
        ),
        *(None, code if coded else None, check, created, created),
    )


def _menu(area: Area) -> tuple[_Spend, ...]:
    return _DISPUTE if area.code_set == "UTBMS-LIT" else _DEAL


def charge_fees(matter: Matter, month: int, dice: Dice) -> None:
    """Add the month's fixed fee to a matter that has one: the retainer, or the next stage."""
    if matter.kind != "fixedFee" or not matter.first <= month <= matter.last:
        return
    if matter.retainer:
        _charge(matter, month, f"Retainer for {_label(month)}", matter.retainer, dice)
        return
    stages = _STAGES.get(matter.area.key, _STAGES["estate"])
    due = matter.stages == 0 or (matter.stages == 1 and month == min(matter.last, LAST_MONTH))
    if due or (matter.area.key == "ip" and matter.pulse and dice.chance() < 0.35):
        text, low, high = stages[min(matter.stages, 1)]
        amount = dice.between(low // 50, high // 50) * 50
        _charge(matter, month, text.format(name=matter.name), amount, dice)


def _label(month: int) -> str:
    names = "January February March April May June July August September October November December"
    return f"{names.split()[month % 12]} {month // 12}"


def _charge(matter: Matter, month: int, text: str, dollars: int, dice: Dice) -> None:
    ordinal = next_working_day(month_days(month)[0])
    created = dice.office_hours(ordinal)
    user = matter.responsible.user_id if matter.responsible and dice.chance() < 0.7 else None
    codes = ("A106", matter.area.code_set == "UTBMS-COU" and "C300") if matter.coded else (None, None)
    fee = FixedFee(
        *(dice.uuid(), matter.matter_id, user, iso(ordinal), text, money(dollars), None),
        *(codes[0], codes[1] or None, created, created),
    )
    matter.fees.append(fee)
    matter.fee = fee
    matter.stages += 1
