"""Rules that judge each item alone: hours, codes, days and narratives."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from billframes.guidelines.declare import GuidelineRule, found
from billframes.guidelines.narratives import hours_in_brackets, lacking_parts, segments, tasks
from billframes.guidelines.words import Phrases, word_list
from billframes.guidelines.work import Work, look_for

# Hours and amounts that differ by less are equal.
_LEAST = 1e-6
# How much the hours in brackets may differ from the entry's.
_CLOSE = Decimal("0.05")
# A text without any of these has one task.
_JOINTS = r"[;|\n\r,&]|\s-\s|\.\s|\b(?:and|then)\b"
_BRACKETS = re.compile(r"[(\[][^()\[\]]*[)\]]")


def hours_text(hours: pd.Series[Any]) -> pd.Series[Any]:
    """Return hours as texts, such as "0.25 h"."""
    return hours.map(lambda value: f"{value:.4g} h")


def every_row(rows: pd.DataFrame) -> pd.DataFrame:
    """Find every row."""
    return found(rows, slice(None))


def increment(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find hours that are not a multiple of the increment, or below the minimum."""
    step, least, hours = rule.get("hours"), rule.get("minimum", 0.0), rows["hours"]
    rest = hours - np.floor(hours / step + _LEAST) * step if step else hours
    is_odd = (rest > _LEAST) if step else pd.Series(False, index=rows.index)
    excess = (rest * rows["rate"]).where(is_odd)
    return found(rows, is_odd | ((hours > 0) & (hours < least - _LEAST)), hours_text(hours), excess)


def entry_hours(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find entries of more hours than the limit."""
    over = rows["hours"] - rule.get("max")
    return found(rows, over > _LEAST, hours_text(rows["hours"]), over * rows["rate"])


def age(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find items that are too old on the invoice date; before a final invoice, on the day of the check."""
    billed_on = rows["invoice_date"].where(~rows["is_open"], pd.Timestamp(work.as_of))
    days = (billed_on - rows["date"]).dt.days
    limit, warn = rule.get("max_days", np.inf), rule.get("warn_days", np.inf)
    severity = pd.Series(rule.get("severity"), index=rows.index).where(days > limit, "review")
    words = days.map(lambda value: f"{value:.0f} days")
    return found(rows, days > min(limit, warn), words, severity=severity)


def recording(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find items that were recorded too many days after the work."""
    days = (rows["created"] - rows["date"]).dt.days
    return found(rows, days > rule.get("max_days"), days.map(lambda value: f"{value:.0f} days"))


def block(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find entries with several tasks, unless the text gives each its hours."""
    joined = rows["description"].str.contains(_JOINTS, case=False, regex=True).fillna(False).astype(bool)
    rows = rows[joined & (rows["hours"] >= rule.get("min_hours", 0.0) - _LEAST)]
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
    many: pd.DataFrame = hits[together > free + _LEAST]
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


def barred(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find work that the client does not pay for, by words and codes."""
    words = work.matches(rule, rows)
    return found(rows, words.notna(), words)


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


def matter(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find work before a matter was opened, after it was closed, or on an archived matter."""
    value = pd.Series("", index=rows.index, dtype=object)
    if rule.get("before_opened"):
        value = value.mask(rows["date"] < pd.to_datetime(rows["opened"]), "before the matter was opened")
    if field := rule.get("closed_field"):
        closed = pd.to_datetime(rows["matter_id"].map({id_: row[field] for id_, row in work.source.matters.items()}))
        late = rows["date"] > closed + pd.Timedelta(days=rule.get("days_after", 0))
        value = value.mask((value == "") & late, "after the matter was closed")
    if rule.get("archived"):
        value = value.mask((value == "") & rows["archived"].fillna(False).astype(bool), "the matter is archived")
    return found(rows, value != "", value)


def calendar(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find work on days off, by the firm's settings."""
    names = rows["date"].dt.strftime("%a")
    is_weekend = ~names.isin(work.settings.working_days) & bool(rule.get("weekends"))
    is_holiday = rows["date"].dt.date.isin(list(work.settings.holidays)) & bool(rule.get("holidays"))
    return found(rows, is_weekend | is_holiday, names.where(is_weekend, "holiday"))
