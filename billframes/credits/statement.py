"""Divide the fees of a period by a rule: credits by matter, role and person, in cents that add up to the fees."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pandas as pd

from billframes._shared.cents import whole_parts
from billframes.config.credits import exact
from billframes.credits.rules import MatterRules

ROLES = ("originating", "responsible", "working", "firm")
CREDIT = ["matter_id", "user_id", "role"]
_Key = tuple[str, str | None]


def statement(rules: MatterRules, fees: pd.DataFrame) -> pd.DataFrame:
    """
    Return the credits of fees (see `fees`): one row per matter, person and role.

    `base` and `credit` are cents, and `quota` the credit before rounding. `user_id` is missing for what is nobody's and
    in the role "firm".
    """
    spans = fees.assign(day=rules.span_of(fees["day"])) if len(fees) else fees
    keys = ["matter_id", "user_id", "day"]
    sums = spans.groupby(keys, dropna=False, sort=True)["cents"].sum().reset_index()
    of_matters: dict[str | None, list[tuple[str | None, Any, int]]] = defaultdict(list)
    for matter, user, day, cents in sums.itertuples(index=False, name=None):
        of_matters[_id(matter)].append((_id(user), day, cents))
    rows = [
        (matter, user, role, base, float(quota), credit)
        for matter, work in of_matters.items()
        for (role, user), base, quota, credit in _credits(rules, matter, work)
    ]
    frame = pd.DataFrame(rows, columns=[*CREDIT, "base", "quota", "credit"])
    return frame.astype(dict.fromkeys(("matter_id", "user_id"), "str") | dict.fromkeys(("base", "credit"), "int64"))


def _credits(
    rules: MatterRules, matter: str | None, work: list[tuple[str | None, Any, int]]
) -> list[tuple[_Key, int, Fraction, int]]:
    """Return the credits of a matter's fees by role and person: base, exact credit, and credit in cents."""
    bases: dict[_Key, int] = defaultdict(int)
    quotas: dict[_Key, Fraction] = defaultdict(Fraction)

    def add(role: str, user: str | None, share: Fraction, cents: int) -> None:
        if share:
            bases[role, user] += cents
            quotas[role, user] += share * cents

    for user, day, cents in work:
        shares = rules.shares(matter, day.date())
        for originator, share in shares.originators.items():
            add("originating", originator, share, cents)
        add("responsible", *shares.responsible, cents)
        add("working", user, shares.working, cents)
        add("firm", None, shares.firm, cents)
    keys = sorted(quotas, key=lambda key: (ROLES.index(key[0]), key[1] or ""))
    rounded = _round([quotas[key] for key in keys])
    return [(key, bases[key], quotas[key], credit) for key, credit in zip(keys, rounded, strict=True)]


def _round(quotas: list[Fraction]) -> list[int]:
    """Round quotas to whole cents that add up to their total, by the largest remainder."""
    common = math.lcm(*(each.denominator for each in quotas))
    return whole_parts([each.numerator * (common // each.denominator) for each in quotas], common)


def shared_payouts(rows: pd.DataFrame, before: pd.DataFrame | None, brackets: Mapping[float, float]) -> pd.DataFrame:
    """
    Return credits with the `payout` of each row in cents: a person's payout is shared by the credit of their rows.

    `before` are the credits of the same fiscal year before them, which fill the first brackets.
    """
    earlier = {} if before is None else before.groupby("user_id")["credit"].sum().to_dict()
    payout = dict.fromkeys(rows.index, 0)
    for user, own in rows.groupby("user_id")["credit"]:
        start, credit = int(earlier.get(user, 0)), int(own.sum())
        paid = round(_paid(start + credit, brackets)) - round(_paid(start, brackets))
        quotas = [Fraction(paid * int(each), credit or 1) for each in own]
        payout |= dict(zip(own.index, _round(quotas), strict=True))
    return rows.assign(payout=pd.Series(payout))


def _paid(credit: int, brackets: Mapping[float, float]) -> Fraction:
    """Return the payout of a credit in cents: each bracket's rate for the part in it; below 0, the first rate."""
    bounds, rates = [*(int(100 * each) for each in brackets)], [*map(exact, brackets.values())]
    if credit < 0:
        return credit * rates[0]
    lasts = [*bounds[1:], credit]
    parts = zip(rates, bounds, lasts, strict=True)
    return sum((rate * (min(credit, last) - first) for rate, first, last in parts if credit > first), Fraction(0))


def _id(value: Any) -> str | None:
    return value if isinstance(value, str) else None
