"""Rules that judge each item alone: hours, codes, days and narratives."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from billframes.guidelines import keys as read
from billframes.guidelines.declare import LEAST, GuidelineRule, RuleKind, found
from billframes.guidelines.narratives import hours_in_brackets, lacking_parts, segments, tasks
from billframes.guidelines.words import Phrases, word_list
from billframes.guidelines.work import Work, look_for

# How much the hours in brackets may differ from the entry's.
_CLOSE = Decimal("0.05")
# A text without any of these has one task.
_JOINTS = r"[;|\n\r,&]|\s-\s|\.\s|\b(?:and|then)\b"
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")


def hours_text(hours: pd.Series[Any]) -> pd.Series[Any]:
    """Return hours as texts, such as "0.25 h"."""
    return hours.map(lambda value: f"{value:.4g} h")


@RuleKind(
    title="billing increment",
    keys={"hours": read.number, "minimum": read.number},
    needs=("hours", "minimum"),
    problem="the hours don’t fit the client’s increment",
    fix="Round the hours down to a multiple of the increment.",
)
def increment(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find hours that are not a multiple of the increment, or below the minimum."""
    step, least, hours = rule.get("hours"), rule.get("minimum", 0.0), rows["hours"]
    rest = hours - np.floor(hours / step + LEAST) * step if step else hours
    is_odd = (rest > LEAST) if step else pd.Series(False, index=rows.index)
    excess = (rest * rows["rate"]).where(is_odd)
    return found(rows, is_odd | ((hours > 0) & (hours < least - LEAST)), hours_text(hours), excess)


@RuleKind(
    title="hours of one entry",
    keys={"max": read.number},
    required=("max",),
    problem="the entry is longer than {max:g} h",
    fix="Check the hours, and split the entry if it covers several days or tasks.",
)
def entry_hours(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find entries of more hours than the limit."""
    over = rows["hours"] - rule.get("max")
    return found(rows, over > LEAST, hours_text(rows["hours"]), over * rows["rate"])


@RuleKind(
    title="old work",
    keys={"max_days": read.whole, "warn_days": read.whole, **read.ON},
    needs=("max_days", "warn_days"),
    on=("time_entry", "expense"),
    problem="the work is too old, or soon will be",
    fix="Bill it now, or ask the client to accept it.",
)
def age(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find items that are too old on the invoice date; before a final invoice, on the day of the check."""
    billed_on = rows["invoice_date"].where(~rows["is_open"], pd.Timestamp(work.as_of))
    days = (billed_on - rows["date"]).dt.days
    limit, warn = rule.get("max_days", np.inf), rule.get("warn_days", np.inf)
    severity = pd.Series(rule.get("severity"), index=rows.index).where(days > limit, "review")
    words = days.map(lambda value: f"{value:.0f} days")
    return found(rows, days > min(limit, warn), words, severity=severity)


@RuleKind(
    title="late entries",
    keys={"max_days": read.whole},
    required=("max_days",),
    problem="the entry was made more than {max_days} days after the work",
    fix="Check the date of the work.",
    review_only=True,
)
def recording(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find items that were recorded too many days after the work."""
    days = (rows["created"] - rows["date"]).dt.days
    return found(rows, days > rule.get("max_days"), days.map(lambda value: f"{value:.0f} days"))


@RuleKind(
    title="block billing",
    keys={
        "find": read.choice("verbs", "separators"),
        "tasks": read.whole,
        "min_hours": read.number,
        "free_hours": read.number,
        "allocated": read.choice("accept", "refuse"),
    },
    required=("find", "tasks"),
    problem="the entry has several tasks",
    fix="Split the entry, or write the hours of each task in brackets.",
    reads_text=True,
    english=True,
)
def block(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find entries with several tasks, unless the text gives each its hours."""
    joined = rows["description"].str.contains(_JOINTS, case=False, regex=True).fillna(False).astype(bool)
    rows = rows[joined & (rows["hours"] >= rule.get("min_hours", 0.0) - LEAST)]
    rows = rows[work.is_judged(rows, also_unclear=False)]
    verbs, most, accepts = rule.get("find") == "verbs", rule.get("tasks"), rule.get("allocated", "accept") == "accept"
    opened = {text: tasks(text, verbs=verbs) for text in rows["description"].unique()}
    rows = rows[rows["description"].map(lambda text: len(opened[text]) >= most).astype(bool)]
    values = [
        _value_of_block(text, hours, opened[text], accepts)
        for text, hours in zip(rows["description"], rows["hours"], strict=True)
    ]
    hits = found(rows, np.array([value is not None for value in values], dtype=bool), values)
    free = rule.get("free_hours")
    if free is None or hits.empty:
        return hits
    together = rows.loc[hits.index].groupby(["user_id", "matter_id", "date"])["hours"].transform("sum")
    many: pd.DataFrame = hits[together > free + LEAST]
    return many


def _value_of_block(text: str, hours: float, opened: list[str], accepts: bool) -> str | None:
    """Return the words for several tasks; None if hours in brackets explain the entry."""
    parts = hours_in_brackets(text) if accepts else []
    if parts and len(parts) in {len(opened), len(segments(text))}:
        if abs(sum(parts) - Decimal(f"{hours:.4f}")) <= _CLOSE:
            return None
        return f"parts {sum(parts)} h, entry {hours:.4g} h"
    return ", ".join(opened)


# The key that the phrases of a shipped list belong to.
_LISTS = {"vague_only": "only", "vague_endings": "endings"}


@RuleKind(
    title="vague narrative",
    keys={
        **dict.fromkeys(("only", "phrases", "endings"), read.phrases),
        "words": read.lists,
        "min_words": read.whole,
        "communication": read.each_of("party", "subject"),
    },
    needs=("only", "phrases", "endings", "words", "min_words", "communication"),
    problem="the narrative may say too little",
    fix="Write what was done, with whom, and about what.",
    reads_text=True,
    english=True,
)
def vague(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find narratives that say too little."""
    rows = rows[work.is_judged(rows, also_unclear=False)]
    phrases: dict[str, list[str]] = {key: list(rule.get(key, ())) for key in ("only", "phrases", "endings")}
    for name in rule.get("words", ()):
        phrases[_LISTS.get(name, "phrases")] += word_list(name)
    endings = [each if each.endswith("$") else f"{each} $" for each in phrases["endings"]]
    searches = (Phrases(phrases["only"], whole=True), Phrases(phrases["phrases"]), Phrases(endings))
    texts = rows["description"].fillna("").str.replace(_BRACKETS, "", regex=True)
    value = pd.Series("", index=rows.index, dtype=object)
    for each in searches:
        value = value.mask(value == "", look_for(each, texts))
    least, parts = rule.get("min_words", 0), rule.get("communication", ())
    if least:
        words = texts.str.count(r"\b\w[\w'’.-]*")
        value = value.mask((value == "") & (words < least), words.map(lambda count: f"{count} words"))
    if parts:
        lacking = texts.map({text: _lacking(text, parts) for text in texts.unique()})
        value = value.mask(value == "", lacking)
    return found(rows, value != "", value)


def _lacking(text: str, parts: list[str]) -> str:
    opening, lacks = lacking_parts(text, parts)
    return f"{opening.lower()}: no {' and no '.join(lacks)}" if lacks else ""


@RuleKind(
    title="work that is not paid",
    keys=read.SELECT,
    needs=("words", "own_words", "codes"),
    problem="the client may not pay for this kind of work",
    fix="Make the entry non-billable, or correct the text if it describes other work.",
    reads_text=True,
)
def barred(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find work that the client does not pay for, by words and codes."""
    words = work.matches(rule, rows)
    return found(rows, words.notna(), words)


@RuleKind(
    title="wording",
    keys={
        "if_words": read.lists,
        "if_own_words": read.phrases,
        "if_codes": read.texts,
        "must": read.phrases,
        "min_chars": read.whole,
        "max_chars": read.whole,
    },
    needs=("must", "min_chars", "max_chars"),
    problem="the narrative lacks required words, or is too short or too long",
    fix="Complete or shorten the narrative.",
    reads_text=True,
)
def wording(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find narratives of some work that lack required words, or are too short or too long."""
    rows = rows[work.matches(rule, rows, prefix="if_").notna()]
    texts = rows["description"].fillna("")
    length = texts.str.len()
    value = pd.Series("", index=rows.index, dtype=object)
    if rule.get("must"):
        value = value.mask(look_for(Phrases(rule.get("must")), texts) == "", "required words missing")
    wrong = (length < rule.get("min_chars", 0)) | (length > rule.get("max_chars", np.inf))
    value = value.mask((value == "") & wrong, length.map(lambda count: f"{count} characters"))
    return found(rows, value != "", value)


@RuleKind(
    title="codes",
    keys={"task": read.flag, "activity": read.flag, "allowed": read.texts},
    needs=("task", "activity", "allowed"),
    problem="a code is missing, or the client does not accept it",
    fix="Choose a code that the client accepts.",
)
def codes(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find missing codes, and codes that the client does not accept."""
    value = pd.Series("", index=rows.index, dtype=object)
    allowed = tuple(rule.get("allowed", ()))
    for key in ("task", "activity"):
        code = rows[f"{key}_code"].fillna("")
        if rule.get(key):
            value = value.mask((value == "") & (code == ""), f"no {key} code")
        if allowed:
            value = value.mask((value == "") & (code != "") & ~code.str.startswith(allowed), code)
    return found(rows, value != "", value)


@RuleKind(
    title="work on days off",
    keys={"weekends": read.flag, "holidays": read.flag},
    needs=("weekends", "holidays"),
    problem="the work was done on a day off",
    fix="Check the date.",
    review_only=True,
)
def calendar(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find work on days off, by the firm's settings."""
    names = rows["date"].dt.strftime("%a")
    is_weekend = ~names.isin(work.settings.working_days) & bool(rule.get("weekends"))
    is_holiday = rows["date"].dt.date.isin(list(work.settings.holidays)) & bool(rule.get("holidays"))
    return found(rows, is_weekend | is_holiday, names.where(is_weekend, "holiday"))
