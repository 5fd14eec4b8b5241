"""Rules for credits with the firm's own matters and people: whose the fees of a matter are on a day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd

from billframes._shared.find_named import find_named
from billframes._shared.format import count_of
from billframes._shared.limits import read_toml
from billframes._shared.names import join_names
from billframes._shared.suggestions import check_keys
from billframes.config.credits import CreditRule, CreditShares, check_sums, exact, read_credits, refuse_overlap
from billframes.errors import AccessDeniedError, ConfigError, ParameterError

RULE = "credits"


def read_rule(given: Any, name: str) -> CreditRule:
    """Return a rule from a mapping with the keys of `[credits]`, or from a TOML file with this table."""
    if isinstance(given, str | Path):
        try:
            values = read_toml(given)
        except (OSError, ValueError) as error:
            raise ConfigError(f"{given} can't be read as a rule for credits: {error}.") from error
        if RULE not in values:
            raise ConfigError(f"{given} has no table [{RULE}]; write the rule below a line [{RULE}].")
        try:
            return read_rule(values[RULE], RULE)
        except ParameterError as error:
            raise ConfigError(f"{given}: {error}") from error
    rule = read_credits(given, name)
    if rule is None:
        raise ParameterError(
            f"{name} is missing, and the firm's settings have no [{RULE}]; pass a rule such as "
            "{'firm': 0.1, 'originating': 0.2}."
        )
    return rule


def with_shares(rule: CreditRule, shares: Mapping[str, float]) -> CreditRule:
    """Return a rule with other shares of the firm, the originators and the responsible lawyers."""
    check_keys("compare", shares, ("firm", "originating", "responsible"))
    read = read_credits(shares, "compare")
    changed = replace(rule, **{name: getattr(read, name) for name in shares})
    check_sums(changed, "compare")
    return changed


def describe_rule(rule: CreditRule) -> str:
    """Describe a rule in words."""
    shares = {"the firm": rule.firm, "originators": rule.originating, "responsible lawyers": rule.responsible}
    parts = [f"{percent(share)} for {name}" for name, share in shares.items() if share]
    own = [(rule.users, "person", "people"), (rule.matters, "matter", "matters")]
    others = [count_of(len(rules), one, several) for rules, one, several in own if rules]
    return (
        f"{join_names([*parts, 'the rest for the work'])}"
        f"{f'; other shares for {join_names(others)}' if others else ''}{'; with brackets' if rule.brackets else ''}"
    )


def percent(share: float) -> str:
    """Format a share, such as "12.5%"."""
    return f"{share * 100:.4g}%"


@dataclass(frozen=True, slots=True)
class Shares:
    """Whose the fees of a matter are on a day; None is nobody. What is left is for the work."""

    firm: Fraction
    responsible: tuple[str | None, Fraction]
    originators: Mapping[str | None, Fraction]

    @property
    def working(self) -> Fraction:
        """The share of the work."""
        return 1 - self.firm - self.responsible[1] - sum(self.originators.values())


class MatterRules:
    """A rule whose names are those of a firm's matters and people, by id."""

    def __init__(self, rule: CreditRule, book: Any) -> None:
        self.rule = rule
        for name in ("matters", "users"):
            if getattr(book, name).empty:
                raise AccessDeniedError(f"Credits need {name}, and the book has none; ask for access.", status=403)
        columns = ["matter_id", "responsible_id", "originator_ids"]
        rows = book.matters[columns].itertuples(index=False, name=None)
        self._of_matters = {id_: (_text(responsible), originators) for id_, responsible, originators in rows}
        self._people = _listed(book.users, "user_id", "email")
        self._users = self._by_id(rule.users, self._people, "user")
        matters = {name: [self._with_people(each) for each in rules] for name, rules in rule.matters.items()}
        self._matters = self._by_id(matters, _listed(book.matters, "matter_id", "reference"), "matter")
        weights = book.settings.originator_weights if book.settings else {}
        self._weights = {matter: self._named(each) for matter, each in weights.items()}
        days = [each for rules in (*self._matters.values(), *self._users.values()) for each in rules]
        self._changes = sorted(
            {each.start for each in days if each.start}
            | {each.until + dt.timedelta(1) for each in days if each.until and each.until < dt.date.max}
        )

    def span_of(self, days: pd.Series[Any]) -> pd.Series[Any]:
        """Return the first day of the span in which the rules of all matters stay as they are on a day."""
        first = days.min()
        edges = pd.Series([first, *(each for each in map(pd.Timestamp, self._changes) if each > first)])
        return edges.iloc[edges.searchsorted(days, side="right") - 1].set_axis(days.index)

    def shares(self, matter: str | None, day: dt.date) -> Shares:
        """Return whose the fees of a matter are on a day; without a matter, the firm's shares are nobody's."""
        own = _held(self._matters.get(matter or "", ()), day)
        responsible, originators = self._of_matters.get(matter or "", (None, None))
        firm = self.rule.firm if own.firm is None else own.firm
        return Shares(
            exact(firm),
            (responsible, exact(self._share("responsible", own, responsible, day))),
            self._originators(own, matter, originators, day),
        )

    def _originators(
        self, own: CreditShares, matter: str | None, listed: Any, day: dt.date
    ) -> dict[str | None, Fraction]:
        if isinstance(own.originating, Mapping):
            return {user: exact(each) for user, each in own.originating.items()}
        parts: Mapping[str | None, Fraction]
        if (weights := self._weights.get(matter or "")) is not None:
            whole = sum(map(exact, weights.values()))
            parts = {user: exact(each) / whole for user, each in weights.items()}
        else:
            people = list(dict.fromkeys(listed)) if hasattr(listed, "__len__") else []
            parts = {user: Fraction(1, len(people)) for user in people} or {None: Fraction(1)}
        return {user: part * exact(self._share("originating", own, user, day)) for user, part in parts.items()}

    def _share(self, role: str, own: CreditShares, user: str | None, day: dt.date) -> float:
        """Return the share of a role: that of the matter, else of the person, else of the firm."""
        of_user = _held(self._users.get(user or "", ()), day)
        given = [getattr(each, role) for each in (own, of_user, self.rule)]
        share: float = next(each for each in given if each is not None)
        return share

    def _with_people(self, shares: CreditShares) -> CreditShares:
        own = shares.originating
        return replace(shares, originating=self._named(own)) if isinstance(own, Mapping) else shares

    def _named(self, shares: Mapping[str, float]) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, share in shares.items():
            id_ = self._find(name, self._people, "user")
            if id_ in found:
                raise ParameterError(f"{name!r} is named twice among the originators of a matter; keep one share.")
            found[id_] = share
        return found

    def _by_id(
        self, rules: Mapping[str, Sequence[CreditShares]], known: Sequence[tuple[str, str, str]], noun: str
    ) -> dict[str, list[CreditShares]]:
        found: dict[str, list[CreditShares]] = {}
        for name, each in rules.items():
            id_ = self._find(name, known, noun)
            found.setdefault(id_, []).extend(each)
            refuse_overlap(found[id_], f"The {noun} {name!r}")
        return found

    def _find(self, name: str, known: Sequence[tuple[str, str, str]], noun: str) -> str:
        try:
            return find_named(name, known, noun)[0]
        except ParameterError as error:
            raise ParameterError(f"{RULE}: {error}") from None


def _held(rules: Sequence[CreditShares], day: dt.date) -> CreditShares:
    return next((each for each in rules if each.holds(day)), CreditShares())


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _listed(frame: pd.DataFrame, id_: str, reference: str) -> list[tuple[str, str, str]]:
    rows = frame[[id_, "name", reference]].astype("object")
    return list(rows.where(rows.notna(), "").itertuples(index=False, name=None))
