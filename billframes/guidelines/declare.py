"""The declaration of a rule: the items it selects, their limit, the part at risk beyond it, and the words for it.

All rules are declarations of this one kind. `rules` lists them, and `check` runs each in the same way.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from billframes.guidelines.keys import Reader, choice, day, share, text, texts

__all__ = ["BEYOND", "COMMON", "SEVERITIES", "WHOLE", "GuidelineRule", "Judge", "RuleKind", "found", "within"]

SEVERITIES = ("refused", "cut", "review")
# The keys that every rule can have.
COMMON: dict[str, Reader] = {
    "severity": choice(*SEVERITIES),
    "share": share,
    "from": day,
    "until": day,
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
    The declaration of a rule.

    Parameters
    ----------
    title : str
        The rule's name if the file gives none.
    keys : mapping of str to Reader
        The keys beside those of every rule.
    required : tuple of str
        Keys that the file must have.
    needs : tuple of str
        Keys of which the file must have at least one.
    on : tuple of str
        Kinds of items that the rule looks at if the file does not have `on`.
    judge : callable
        Finds the rows beyond the limit.
    problem, fix : str
        The words, in which `{key}` is a value of the rule.
    reads_text : bool
        Whether narratives are judged, so that fixed-fee time can be included.
    english : bool
        Whether it uses word lists of the language in any case.
    sums : bool
        Whether it looks at all work for the client, not only at the items to report.
    history : bool
        Whether work before the first day of the guidelines counts, too; it is not reported.
    by_invoice : bool
        Whether the day of a billed item is that of its invoice.
    refuses : {"whole", "beyond"}
        What is at risk if the severity is "refused".
    review_only : bool
        Whether the severity must be "review", because the data can only give a hint.
    """

    title: str
    keys: Mapping[str, Reader]
    required: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    on: tuple[str, ...] = ("time_entry",)
    judge: Judge
    problem: str = ""
    fix: str
    reads_text: bool = False
    english: bool = False
    sums: bool = False
    history: bool = False
    by_invoice: bool = False
    refuses: str = WHOLE
    review_only: bool = False


def found(rows: pd.DataFrame, where: Any, value: Any = "", excess: Any = float("nan"), **more: Any) -> pd.DataFrame:
    """
    Return the rows beyond a limit.

    Parameters
    ----------
    rows : DataFrame
    where : array of bool
    value : str or Series
        What was found, without the narrative.
    excess : float or Series
        The amount beyond the limit; missing if it is the whole item.
    **more
        `severity` or `problem`, if they differ from the rule's.
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
