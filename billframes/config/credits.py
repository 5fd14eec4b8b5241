"""The firm's rule for credits: which shares of the fees go to the firm, the originators, the responsible and the work.

A rule of a matter takes precedence over that of a person, and this over the firm's. Matters and people are named as
users write them; whose names these are, is known only with the firm's data (`billframes.credits.rules`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

from billframes.config.firm_values import Reader, choice_of, mapping_of, read_date, read_number, table_of
from billframes.errors import ParameterError

BASES = ("billed", "collected")


@dataclass(frozen=True, kw_only=True)
class CreditShares:
    """
    What a matter or a person has instead of the firm's shares; None is the firm's.

    Parameters
    ----------
    firm, responsible : float, optional
    originating : float or mapping of str to float, optional
        The share of all originators together, or of a matter, the share of each by name.
    start, until : date, optional
        First and last day of the fees that it holds for, inclusive.
    """

    firm: float | None = None
    originating: float | Mapping[str, float] | None = None
    responsible: float | None = None
    start: dt.date | None = None
    until: dt.date | None = None

    def holds(self, day: dt.date) -> bool:
        """Tell whether it holds for fees of a day."""
        return (self.start or dt.date.min) <= day <= (self.until or dt.date.max)


@dataclass(frozen=True, kw_only=True)
class CreditRule:
    """
    A rule for credits, as `credits` of the firm's settings.

    Parameters
    ----------
    base : {"billed", "collected"}
    firm, originating, responsible : float
        Shares of the fees, from 0 to 1; the rest is for the work.
    matters, users : mapping of str to sequence of CreditShares
        Other shares, by the matter's or the person's name.
    brackets : mapping of float to float
        The payout of each 1.00 of a person's credit of the fiscal year, by the credit from which on it holds.
    """

    base: Literal["billed", "collected"] = "billed"
    firm: float = 0.0
    originating: float = 0.0
    responsible: float = 0.0
    matters: Mapping[str, Sequence[CreditShares]] = field(default_factory=dict)
    users: Mapping[str, Sequence[CreditShares]] = field(default_factory=dict)
    brackets: Mapping[float, float] = field(default_factory=dict)


def exact(share: float) -> Fraction:
    """Return a share as it was written: 0.1 is a tenth."""
    return Fraction(str(share))


def read_credits(value: Any, key: str) -> CreditRule | None:
    """Return a rule for credits; refuse what is not one."""
    if value is None or isinstance(value, CreditRule):
        return value
    rule = CreditRule(**_RULE(value, key))
    check_sums(rule, key)
    return rule


def _share(value: Any, key: str) -> float:
    share = read_number(value, key)
    if not 0 <= share <= 1:
        hint = f" Write {share:g}% as {share / 100:g}." if 1 < share <= 100 else ""
        raise ParameterError(f"{key}={value!r} is not a share from 0 to 1.{hint}")
    return share


def _shares_by_name(value: Any, key: str) -> float | dict[str, float]:
    if not isinstance(value, Mapping):
        return _share(value, key)
    if not value:
        raise ParameterError(f"{key} names nobody; give each originator a share, such as {{'Harrow': 0.15}}.")
    shares: dict[str, float] = mapping_of(_share)(value, key)
    return shares


def _share_of_a_person(value: Any, key: str) -> float:
    if isinstance(value, Mapping):
        raise ParameterError(f"{key} has several shares; a person has one, such as 0.15.")
    return _share(value, key)


def _rules_by_name(readers: Mapping[str, Reader], example: str) -> Reader:
    """Return a reader of the rules of matters or people: one of each name, or a list."""
    days = dict.fromkeys(("start", "until"), read_date)
    table = table_of({**readers, **days}, f"a rule of its own; write it below its name, such as {example}")

    def read(value: Any, key: str) -> tuple[CreditShares, ...]:
        rules = tuple(CreditShares(**table(each, key)) for each in (value if isinstance(value, list) else [value]))
        for each in rules:
            if each.start and each.until and each.start > each.until:
                raise ParameterError(f"{key} starts on {each.start}, after its last day ({each.until}).")
        return rules

    return mapping_of(read, f"a table of rules by name, such as {example}")


def refuse_overlap(rules: Iterable[CreditShares], whose: str) -> None:
    """Refuse two rules for one day."""
    ordered = sorted(rules, key=lambda each: each.start or dt.date.min)
    for one, other in pairwise(ordered):
        if one.until is None or one.until >= (other.start or dt.date.min):
            raise ParameterError(
                f"{whose} has two rules for {other.start or 'all days'}; end one (until) before the other starts."
            )


def _brackets(value: Any, key: str) -> dict[float, float]:
    if not isinstance(value, Mapping) or not value:
        raise ParameterError(f"{key}={value!r} is not a table such as {{'0': 0.3, '250000': 0.4}}.")
    brackets: dict[float, float] = {}
    for name, each in value.items():
        try:
            least = float(str(name).replace(",", "").replace("_", ""))
        except ValueError:
            least = -1.0
        if not 0 <= least < float("inf") or least in brackets:
            raise ParameterError(f"{key} has {name!r}, which is not a credit from 0 up, or is there twice.")
        brackets[least] = _share(each, f"{key}[{str(name)!r}]")
    if 0 not in brackets:
        raise ParameterError(f"{key} begins at {min(brackets):g}; add '0', the payout of the credit below it.")
    return dict(sorted(brackets.items()))


def check_sums(rule: CreditRule, key: str) -> None:
    """Refuse shares that can add up to more than 1, and two rules of one name for one day."""
    people = [each for rules in rule.users.values() for each in rules]
    most = {
        name: max([getattr(rule, name), *(getattr(each, name) or 0.0 for each in people)])
        for name in ("originating", "responsible")
    }
    _check_sum(key, rule.firm, most["originating"], most["responsible"])
    for name, rules in rule.users.items():
        refuse_overlap(rules, f"{key}.users[{name!r}]")
    for name, rules in rule.matters.items():
        refuse_overlap(rules, f"{key}.matters[{name!r}]")
        for each in rules:
            own = each.originating
            originating = own.values() if isinstance(own, Mapping) else [most["originating"] if own is None else own]
            firm = rule.firm if each.firm is None else each.firm
            responsible = most["responsible"] if each.responsible is None else each.responsible
            _check_sum(f"{key}.matters[{name!r}]", firm, *originating, responsible)


def _check_sum(key: str, *shares: float) -> None:
    total = sum(map(exact, shares))
    if total > 1:
        raise ParameterError(
            f"{key}: firm, originating and responsible add up to {float(total):g}; they can be 1 at most, and the rest "
            "is for the work."
        )


_PARTS: dict[str, Reader] = dict.fromkeys(("firm", "originating", "responsible"), _share)
_OF_MATTERS: dict[str, Reader] = {**_PARTS, "originating": _shares_by_name}
_OF_USERS: dict[str, Reader] = {"originating": _share_of_a_person, "responsible": _share}
_RULE = table_of(
    {
        "base": choice_of(*BASES),
        **_PARTS,
        "matters": _rules_by_name(_OF_MATTERS, "[credits.matters.'1001-100']"),
        "users": _rules_by_name(_OF_USERS, "[credits.users.'Ada Stone']"),
        "brackets": _brackets,
    },
    "a rule such as {'firm': 0.1, 'originating': 0.2}",
)
