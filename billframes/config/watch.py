"""Rules of what stands out: a figure below or above a number, or one that rose or fell by it.

The monthly report's own rules (`billframes.report.rules`) and those that a firm adds for `billframes watch` are of one
class, so that both mean the same. Which figures and keys there are is known to the analyses only: `billframes.watch`
refuses unknown names as soon as the settings are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from billframes._shared.names import join_names
from billframes._shared.suggestions import check_choice, check_keys
from billframes.config.firm_values import Reader, choice_of, list_of, mapping_of, read_number, read_text
from billframes.errors import ParameterError

CHANGES = ("rose_by", "fell_by", "moved_by")
HOW = ("below", "above", "reaches", *CHANGES)
"""How a figure is compared with the number of a rule."""
HABIT, LAST_RUN = "twelve months", "last run"
NAMED = {
    "budget_used": ("share", "reaches", 1.0),
    "old_drafts": ("days", "above", None),
    "no_time": ("days", "reaches", None),
    "fixed_fee_hours": ("share", "reaches", 1.0),
    "old_data": ("days", "above", None),
}
"""The rules that are not a figure by a key: the name of their number, how it is compared, and its default."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """
    A rule of what stands out.

    Parameters
    ----------
    rule : str
        The name of a rule in `NAMED`; empty for a figure.
    figure : str
        A figure, as in `billframes.figures`.
    by : str
        The key to group by; empty for the whole firm.
    below, above, reaches, rose_by, fell_by, moved_by : float, optional
        One of them. Ratios and days rise and fall by a difference (0.02 is 2 points), amounts by a share.
    against : {"twelve months", "last run"}
        What a figure rose or fell against: what is usual in twelve months, or the last run.
    least : mapping of str to float
        Smaller groups don't count: other figures, and the least that they are.
    days : int
        The days up to that of the data that a figure counts.
    matter : str
        The only matter of "budget_used"; empty for all that have a budget.
    """

    rule: str = ""
    figure: str = ""
    by: str = ""
    below: float | None = None
    above: float | None = None
    reaches: float | None = None
    rose_by: float | None = None
    fell_by: float | None = None
    moved_by: float | None = None
    against: str = HABIT
    least: Mapping[str, float] = field(default_factory=dict, hash=False)
    days: int = 90
    matter: str = ""

    @property
    def how(self) -> str:
        """The one of `HOW` that it has."""
        return next(name for name in HOW if getattr(self, name) is not None)

    @property
    def limit(self) -> float:
        """Its number."""
        return float(getattr(self, self.how))

    def size(self, amount: float) -> float:
        """Return a figure, or its change, ÷ the number of the rule."""
        signed = {"fell_by": -amount, "moved_by": abs(amount)}
        return signed.get(self.how, amount) / self.limit

    def holds(self, amount: float) -> bool:
        """Tell whether a figure, or its change, stands out; a missing one does not."""
        if self.how == "below":
            return amount < self.limit
        return amount > self.limit if self.how == "above" else self.size(amount) >= 1


def read_rules(value: Any, key: str) -> tuple[Rule, ...]:
    """Return the rules in a list; refuse a rule that is there twice."""
    rules: tuple[Rule, ...] = list_of(_rule)(value, key)
    if twice := [nth for nth, rule in enumerate(rules) if rule in rules[:nth]]:
        raise ParameterError(f"{key}[{twice[0]}] is there twice; remove one of them.")
    return rules


def _rule(value: Any, key: str) -> Rule:
    if isinstance(value, Rule):
        return value
    if not isinstance(value, Mapping):
        raise ParameterError(f"{key}={value!r} is not a rule; it takes {{'figure': 'wip', 'above': 50000}}.")
    if "rule" in value:
        return _named(value, key)
    check_keys(key, value, (*_READERS, "rule"))
    if "figure" not in value:
        raise ParameterError(f"{key} has no figure; write a figure, or a rule: {', '.join(NAMED)}.")
    how = [name for name in HOW if name in value]
    if not how:
        raise ParameterError(f"{key} has no threshold; give it one of {', '.join(HOW)}.")
    if len(how) > 1:
        raise ParameterError(f"{key} has {join_names(how)}; a rule has one of them. Write a second [[{key[:-3]}]].")
    if "against" in value and how[0] not in CHANGES:
        raise ParameterError(f"{key} has against, but {how[0]} compares with a number; it is for {', '.join(CHANGES)}.")
    return Rule(**{name: _READERS[name](each, f"{key}.{name}") for name, each in value.items()})


def _named(value: Mapping[str, Any], key: str) -> Rule:
    name = check_choice(value["rule"], f"{key}.rule", NAMED)
    word, how, default = NAMED[name]
    check_keys(f"{key} ({name})", value, ("rule", word, *(["matter"] if name == "budget_used" else [])))
    if word not in value and default is None:
        raise ParameterError(f"{key} ({name}) has no {word}; write a number such as {word} = 30.")
    limit = _positive(value.get(word, default), f"{key}.{word}")
    given: dict[str, Any] = {how: limit, "matter": read_text(value.get("matter", ""), f"{key}.matter")}
    return Rule(rule=name, **given)


def _positive(value: Any, key: str) -> float:
    if not read_number(value, key) > 0:
        raise ParameterError(f"{key}={value!r} takes a number above 0.")
    return float(value)


def _days(value: Any, key: str) -> int:
    if not _positive(value, key).is_integer() or value > 366:
        raise ParameterError(f"{key}={value!r} takes a whole number of days, at most 366.")
    return int(value)


_READERS: dict[str, Reader] = {
    **dict.fromkeys(("figure", "by"), read_text),
    **dict.fromkeys(("below", "above"), read_number),
    **dict.fromkeys(("reaches", *CHANGES), _positive),
    "against": choice_of(HABIT, LAST_RUN),
    "least": mapping_of(_positive, "a table such as {worked_amount = 10000}"),
    "days": _days,
}
