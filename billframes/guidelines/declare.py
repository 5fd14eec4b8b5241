"""The declaration of a rule: the items it selects, their limit, the part at risk beyond it, and the words for it.

Each rule is declared above the function that finds its items, and `check` runs all in the same way.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from billframes.guidelines.keys import DATES, Reader, choice, share, text, texts

SEVERITIES = ("refused", "cut", "review")
ITEM_KINDS = ("time_entry", "expense", "fixed_fee")
# Hours and amounts that differ by less are equal.
LEAST = 1e-6
# The keys that every rule can have.
COMMON: dict[str, Reader] = {
    "severity": choice(*SEVERITIES),
    "share": share,
    **DATES,
    **dict.fromkeys(("clause", "name", "advice"), text),
    **dict.fromkeys(("matters", "practice_areas", "matter_types", "users", "roles"), texts),
}
# What is at risk if an item is refused: all of it, or only the part beyond the limit.
WHOLE, BEYOND = "whole", "beyond"


@dataclass(frozen=True, slots=True)
class GuidelineRule:
    """One table of a guideline file: the kind's name, and the values by key."""

    kind: str
    values: Mapping[str, Any]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value; the default if the file does not have it."""
        return self.values.get(key, default)

    def covers(self, days: pd.Series[Any]) -> pd.Series[bool]:
        """Tell which days are within the rule's own dates."""
        return within(days, self.get("from"), self.get("until"))


Judge = Callable[[GuidelineRule, pd.DataFrame, Any], pd.DataFrame]
"""Takes a rule, the rows that it looks at and their `Work`; returns the rows beyond the limit, as `found` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleKind:
    """
    The declaration of a rule, which decorates the function that finds the rows: its title, and its keys in the file.

    The file must have the `required` keys, and one of those in `needs`. `on` are the kinds of items if the file does
    not say, and `{key}` in `problem` and `fix` is a value of the rule. `reads_text` rules judge narratives, so that
    fixed-fee time can be included; `english` ones use word lists of the language in any case. `sums` rules look at all
    work for the client, not only at the items to report, and `history` ones also at work before the first day of the
    guidelines. With `by_invoice`, the day of a billed item is that of its invoice. `refuses` is what is at risk if the
    severity is "refused", which `review_only` rules can't have, because the data only give a hint.
    """

    title: str
    keys: Mapping[str, Reader]
    required: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    on: tuple[str, ...] = ("time_entry",)
    judge: Judge = lambda _rule, rows, _work: found(rows, slice(None))
    problem: str = ""
    fix: str
    reads_text: bool = False
    english: bool = False
    sums: bool = False
    history: bool = False
    by_invoice: bool = False
    refuses: str = WHOLE
    review_only: bool = False

    def __call__(self, judge: Judge) -> RuleKind:
        """Return the rule of a function."""
        return replace(self, judge=judge)


def found(rows: pd.DataFrame, where: Any, value: Any = "", excess: Any = float("nan"), **more: Any) -> pd.DataFrame:
    """
    Return the rows beyond a limit, with the `value` that was found and the amount beyond it; NaN is the whole item.

    `more` is `severity` or `problem`, if they differ from the rule's.
    """
    hits: pd.DataFrame = pd.DataFrame({"value": value, "excess": excess, **more}, index=rows.index)[where]
    return hits


def within(days: pd.Series[Any], first: dt.date | None, last: dt.date | None) -> pd.Series[bool]:
    """Tell which days are in a span, both ends included; None is open."""
    inside = pd.Series(True, index=days.index)
    if first is not None:
        inside &= days >= pd.Timestamp(first)
    if last is not None:
        inside &= days <= pd.Timestamp(last)
    return inside
