"""The credits of a book's period by a rule, and beside those by another rule; what `book.credits` returns."""

from __future__ import annotations

import datetime as dt
import functools
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

import pandas as pd

from billframes._shared.cents import whole_parts
from billframes._shared.notes import Notes, collect_notes
from billframes._shared.suggestions import check_choice
from billframes.config.credits import BASES, CreditRule, exact
from billframes.config.firm_calendar import FirmCalendar
from billframes.credits.fees import billed_fees, collected_fees
from billframes.credits.rules import MatterRules, read_rule
from billframes.days import FiscalYear
from billframes.errors import ParameterError
from billframes.loading.load_info import attach_notes
from billframes.periods import Period

ROLES = ("originating", "responsible", "working", "firm")
CREDIT = ["matter_id", "user_id", "role"]
_Key = tuple[str, str | None]
NO_ONE, FIRM, NO_MATTER = "No one", "The firm", "No matter"
_KEYS = {"user": ["user_id", "role"], "role": ["role"], "matter": [*CREDIT]}
_AMOUNTS = {
    "base": "base_amount",
    "credit": "credit_amount",
    "payout": "payout_amount",
    "compared": "compared_amount",
    "compared_payout": "compared_payout_amount",
}
_RATE_DIGITS, _DAY = 6, dt.timedelta(1)
_Fees = Callable[[Period], pd.DataFrame]


def credits_of_book(
    book: Any,
    rule: Any,
    compare: Any,
    base: str | None,
    by: str,
    period: Period,
    payments: pd.DataFrame | None,
) -> pd.DataFrame:
    """Return the credits of a book's period; see `Book.credits`."""
    check_choice(by, "by", tuple(_KEYS))
    given = book.settings.credits if rule is None and book.settings else rule
    rules = [read_rule(given, "rule"), *([] if compare is None else [read_rule(compare, "compare")])]
    which = _base(rules, base)
    notes = Notes("book")
    try:
        with collect_notes(notes):
            rows, about = _calculate(book, rules, which, period, payments)
    finally:
        notes.finish()
    result = _table(rows, by, book)
    result.attrs["credits"] = about
    found: pd.DataFrame = attach_notes(result, notes)
    return found


def _base(rules: list[CreditRule], base: str | None) -> str:
    if base is not None:
        check_choice(base, "base", BASES)
        return base
    if len({each.base for each in rules}) > 1:
        raise ParameterError(
            f"The rule is of fees {rules[0].base} and the other of fees {rules[1].base}; pass base= to compare both on "
            "one of them."
        )
    return rules[0].base


def _calculate(
    book: Any, rules: list[CreditRule], base: str, period: Period, payments: pd.DataFrame | None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the credits by matter, person and role in cents, those of the second rule beside them, and the fees."""
    if base == "collected" and payments is None:
        raise ParameterError("base='collected' needs payments=, from book.payments(ledger).")
    period = book._days.until_load(period, ("time_entries", "invoices"), "credits")

    @functools.cache
    def fees(days: Period) -> pd.DataFrame:
        return (
            collected_fees(book, days, payments)
            if payments is not None and base == "collected"
            else billed_fees(book, days)
        )

    rows, *others = (_of_rule(each, fees, book, period) for each in [MatterRules(each, book) for each in rules])
    for other in others:
        named = {"credit": "compared", "payout": "compared_payout", "base": "other_base"}
        rows = rows.merge(other.rename(columns=named).drop(columns="quota"), on=CREDIT, how="outer")
        # A role that only the other rule credits has its base, too.
        rows["base"] = rows["base"].fillna(rows.pop("other_base"))
    rows = rows.fillna({name: 0 for name in rows if name not in CREDIT})
    of_period = fees(period)
    about = {
        "base": base,
        "start": period.start and period.start.isoformat(),
        "end": period.end and period.end.isoformat(),
        "fees_amount": int(of_period["cents"].sum()) / 100,
        "fixed_fees": {
            how: int(of_period.loc[of_period["shared_by"] == how, "cents"].sum()) / 100
            for how in ("value", "hours", "responsible")
        },
    }
    return rows, about


def _of_rule(rules: MatterRules, fees: _Fees, book: Any, period: Period) -> pd.DataFrame:
    if not rules.rule.brackets:
        return statement(rules, fees(period))
    parts = []
    for earlier, days in _fiscal_years(book, period):
        before = statement(rules, fees(earlier)) if earlier else None
        parts.append(shared_payouts(statement(rules, fees(days)), before, rules.rule.brackets))
    return pd.concat(parts).groupby(CREDIT, dropna=False, sort=True).sum().reset_index()


def _fiscal_years(book: Any, period: Period) -> Iterator[tuple[Period | None, Period]]:
    """Yield the part of a period in each fiscal year, after the days of the year before it; None if there are none."""
    first, last = period.start or book.first_day, period.end or book.loaded_on("invoices")
    if first is None or last is None:
        raise ParameterError("Brackets count the credits of fiscal years; give the period a first and a last day.")
    calendar = FirmCalendar(lambda: book.client, book.settings).fiscal or FiscalYear()
    while first <= last:
        year = calendar.year_of(first)
        begun, ended = cast("dt.date", year.start), cast("dt.date", year.end)
        yield Period(begun, first - _DAY) if first > begun else None, Period(first, min(last, ended))
        first = ended + _DAY


def _table(rows: pd.DataFrame, by: str, book: Any) -> pd.DataFrame:
    """Return the credits by some keys, in money and with names."""
    keys = _KEYS[by]
    sums = rows.groupby(keys, dropna=False, sort=True)[[each for each in rows if each not in CREDIT]].sum()
    sums = _in_order(sums.reset_index(), by)
    table = pd.DataFrame({"role": pd.Categorical(sums["role"], [*ROLES])})
    if "user_id" in keys:
        names = _names(book.time_entries, "user") | _names(book.matters, "responsible") | _names(book.users, "user")
        nobody = (sums["role"] == "firm").map({True: FIRM, False: NO_ONE})
        table.insert(0, "user_id", sums["user_id"])
        table.insert(1, "user_name", sums["user_id"].map(names).fillna(nobody).astype("str"))
    if "matter_id" in keys:
        table.insert(0, "matter_id", sums["matter_id"])
        matters = sums["matter_id"].map(_names(book.matters, "matter"))
        table.insert(1, "matter_name", matters.fillna(NO_MATTER).astype("str"))
    rate = (sums["quota"] / sums["base"].where(sums["base"] != 0)).round(_RATE_DIGITS)
    for name, column in _AMOUNTS.items():
        if name in sums:
            table[column] = sums[name] / 100
        if name == "base":
            table["rate"] = rate
    if "compared" in sums:
        table["difference_amount"] = (sums["compared"] - sums["credit"]) / 100
    return table


def _in_order(sums: pd.DataFrame, by: str) -> pd.DataFrame:
    """Sort rows: nobody's, the firm's, then people by their credit; matters by their fees."""
    order = {"role": sums["role"].map(ROLES.index)}
    if by != "role":
        of_user = [each for each in ("matter_id", "user_id") if each in sums]
        order["user"] = sums["user_id"].fillna("")
        order["credit"] = -sums.groupby(of_user, dropna=False)["credit"].transform("sum")
        is_firm = sums["role"] == "firm"
        order["kind"] = sums["user_id"].notna().astype(int) * 2 + is_firm
        order["credit"] = order["credit"].where(order["kind"] == 2, 0)
    if by == "matter":
        order["matter"] = sums["matter_id"].fillna("")
        order["fees"] = -sums.groupby("matter_id", dropna=False)["credit"].transform("sum")
    places = pd.DataFrame(order)
    columns = [each for each in ("fees", "matter", "kind", "credit", "user", "role") if each in places]
    return sums.loc[places.sort_values(columns).index].reset_index(drop=True)


def _names(frame: pd.DataFrame, kind: str) -> dict[str, str]:
    name = f"{kind}_name" if f"{kind}_name" in frame else "name"
    known = frame[[f"{kind}_id", name]].dropna().drop_duplicates(f"{kind}_id")
    return dict(known.itertuples(index=False, name=None))


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
