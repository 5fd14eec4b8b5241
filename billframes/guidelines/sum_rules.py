"""Rules that compare items with each other, or with lists of the file."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from billframes.analysis.sheets.duplicates import duplicates as equal_entries
from billframes.guidelines import keys as read
from billframes.guidelines.declare import BEYOND, LEAST, GuidelineRule, RuleKind, found
from billframes.guidelines.item_rules import hours_text
from billframes.guidelines.narratives import tasks
from billframes.guidelines.work import Work

_NAMED = re.compile(r"\bapproved by\s+\w|\b[Pp]er\s+(?:(?:Mr|Ms|Mrs|Dr)\.?\s+)?[A-Z]")
_YEAR = pd.Timedelta(days=365)
_RARE_WORD = re.compile(r"[^\W\d_]{5,}")
_RARE_SHARE = 0.02


@RuleKind(
    title="hours of one day",
    keys={"max": read.number, "across": read.choice("matter", "client", "firm")},
    required=("max", "across"),
    problem="the person has more than {max:g} h on that day",
    fix="Check the hours and the dates of that day.",
    sums=True,
)
def day_hours(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find days on which a person has more billable hours than the limit. Each entry carries its share."""
    if rule.get("across") == "firm":
        keys = ["user_id", "date"]
        together = rows[keys].merge(work.firm_hours, on=keys, how="left").set_index(rows.index)["hours"]
    else:
        keys = ["user_id", "date", *(["matter_id"] if rule.get("across") == "matter" else [])]
        together = rows.groupby(keys)["hours"].transform("sum")
    over = (together - rule.get("max")) / together
    return found(rows, together > rule.get("max") + LEAST, hours_text(together), over * rows["amount"])


@RuleKind(
    title="work that needs approval",
    keys={
        **read.SELECT,
        "over_hours": read.number,
        "over_amount": read.number,
        "per": read.choice("entry", "matter", "matter and month"),
        "given": read.rows(
            {
                "matter": read.text,
                **read.DATES,
                "hours": read.number,
                "amount": read.number,
                "by": read.text,
                "date": read.day,
            },
            (),
        ),
        "named": read.flag,
    },
    problem="the work goes beyond the approvals in the guideline file",
    fix="Ask the client for approval, and add it to the guideline file.",
    sums=True,
    refuses=BEYOND,
)
def approval(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find the work beyond what needs no approval or is approved, in the order of dates."""
    words = work.matches(rule, rows)
    rows = rows[words.notna()].sort_values(["date", "item_id"])
    if rule.get("named"):
        rows = rows[~rows["description"].fillna("").str.contains(_NAMED)]
    group = {
        "entry": ["item_id"],
        "matter": ["matter_id"],
        "matter and month": ["matter_id", rows["date"].dt.to_period("M")],
    }
    keys = group[rule.get("per", "entry")]
    excess, past = pd.Series(np.nan, index=rows.index), pd.Series(False, index=rows.index)
    for column in ("hours", "amount"):
        over = rows.groupby(keys)[column].cumsum() - _limits(rule, rows, column)
        amount = over.clip(upper=rows[column]) * (rows["rate"] if column == "hours" else 1.0)
        excess = excess.where(~(over > LEAST), pd.concat([excess, amount], axis=1).max(axis=1))
        past |= over > LEAST
    return found(rows, past, words.loc[rows.index], excess)


def _limits(rule: GuidelineRule, rows: pd.DataFrame, column: str) -> pd.Series[Any]:
    """Return the limit for each row: that of the rule, or of the approval that covers it. None is no limit."""
    limits = {each: rule.get(f"over_{each}") for each in ("hours", "amount")}
    if limits == {"hours": None, "amount": None}:
        limits = {"hours": 0.0, "amount": 0.0}
    found_limits = pd.Series(np.inf if limits[column] is None else limits[column], index=rows.index)
    for given in rule.get("given", ()):
        covered = GuidelineRule("", given).covers(rows["date"])
        if given.get("matter"):
            covered &= rows["matter_id"] == given["matter"]
        found_limits[covered] = given.get(column, np.inf)
    return found_limits


def agreed_rates(rule: GuidelineRule, rows: pd.DataFrame) -> pd.Series[Any]:
    """Return the agreed rate of each row on its day; missing without one. A person's row precedes that of the role."""
    agreed = pd.Series(np.nan, index=rows.index)
    for column, key in (("role", "role"), ("user_id", "user")):
        for row in rule.get("approved", ()):
            if key in row:
                agreed[(rows[column] == row[key]) & GuidelineRule("", row).covers(rows["date"])] = row["rate"]
    return agreed


@RuleKind(
    title="agreed rates",
    keys={
        "approved": read.rows(
            {"user": read.text, "role": read.text, "rate": read.number, **read.DATES},
            ("rate",),
            one_of=("user", "role"),
        ),
        "unlisted": read.choice("refused", "cut", "review"),
        "frozen_since": read.day,
    },
    needs=("approved", "frozen_since"),
    problem="the rate is above the agreed rate",
    fix="Use the agreed rate, or ask the client to agree to this one.",
    sums=True,
    history=True,
)
def rates(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find rates above those agreed or frozen, and people without an agreed rate."""
    agreed = agreed_rates(rule, rows)
    since = rule.get("frozen_since")
    if since is not None:
        before = rows[(rows["date"] < pd.Timestamp(since)) & rows["rate"].notna()].sort_values(["date", "item_id"])
        last = rows["user_id"].map(before.groupby("user_id")["rate"].last())
        agreed = agreed.fillna(last.where(rows["date"] >= pd.Timestamp(since)))
    over = rows["rate"] - agreed
    hits = found(rows, over > LEAST, _rate_text(rows["rate"], agreed), over * rows["hours"])
    if rule.get("unlisted") is None:
        return hits
    unlisted = found(
        rows,
        agreed.isna(),
        rows["user_name"].fillna("no person"),
        severity=rule.get("unlisted"),
        problem="no agreed rate is listed for this person",
    )
    return pd.concat([hits, unlisted])


def _rate_text(rate: pd.Series[Any], agreed: pd.Series[Any]) -> pd.Series[Any]:
    texts = [f"{is_:,.2f}, agreed {may:,.2f}" for is_, may in zip(rate, agreed, strict=True)]
    return pd.Series(texts, index=rate.index, dtype=object)


@RuleKind(
    title="travel",
    keys={**read.WORDS, "pay": read.share, "alone": read.flag},
    needs=("words", "own_words"),
    problem="the travel is billed at more than the agreed share of the rate",
    fix="Lower the rate of the travel, and give other work an entry of its own.",
    sums=True,
)
def travel(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find travel above the share of the agreed rate, and travel together with other work."""
    words = work.matches(rule, rows)
    travels = rows[words.notna()]
    agreed = pd.Series(np.nan, index=travels.index)
    for each in work.file.rules:
        if each.kind == "rates":
            agreed = agreed.fillna(agreed_rates(each, travels).where(each.covers(travels["date"])))
    others = rows[words.isna() & rows["rate"].notna()]
    usual = {key: _usual_rate(others, *key) for key in zip(travels["user_id"], travels["date"], strict=True)}
    usual_rates = [usual[key] for key in zip(travels["user_id"], travels["date"], strict=True)]
    agreed = agreed.fillna(pd.Series(usual_rates, index=travels.index, dtype="float64"))
    over = travels["rate"] - rule.get("pay", 1.0) * agreed
    hits = found(travels, over > LEAST, words.loc[travels.index], over * travels["hours"])
    if not rule.get("alone"):
        return hits
    mixed = travels[travels["chosen"] & work.is_judged(travels, also_unclear=False)]
    mixed = mixed[mixed["description"].map(lambda text: len(tasks(text, verbs=True)) > 1).astype(bool)]
    alone = found(
        mixed,
        slice(None),
        words.loc[mixed.index],
        over.loc[mixed.index].clip(lower=0.0) * mixed["hours"],
        problem="travel and other work are in one entry",
    )
    return pd.concat([hits.drop(index=alone.index, errors="ignore"), alone])


def _usual_rate(rows: pd.DataFrame, user_id: str, day: pd.Timestamp) -> float:
    """Return the median rate of a person's entries in the year before a day; missing without any."""
    own = rows[(rows["user_id"] == user_id) & (rows["date"] <= day) & (rows["date"] >= day - _YEAR)]
    return float(own["rate"].median())


@RuleKind(
    title="expenses",
    keys={**read.WORDS, "codes": read.texts, "barred": read.flag, "max_each": read.number, "max_day": read.number},
    needs=("barred", "max_each", "max_day"),
    on=("expense",),
    problem="the client may not pay this expense, or only up to a limit",
    fix="Take the expense, or the part above the limit, off the bill.",
    sums=True,
)
def expense(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find expenses that are barred, or above the limit for one or for a day."""
    words = work.matches(rule, rows)
    rows = rows[words.notna()]
    value = words.loc[rows.index]
    if rule.get("barred"):
        return found(rows, rows["amount"] > 0, value)
    day = rows.groupby(["matter_id", rows["user_id"].fillna(""), "date"])["amount"].transform("sum")
    most, of_day = rule.get("max_each", np.inf), rule.get("max_day", np.inf)
    excess = np.fmax(rows["amount"] - most, ((day - of_day) / day * rows["amount"]).where(day > of_day, -np.inf))
    return found(rows, excess > LEAST, value, excess)


@RuleKind(
    title="people on the matter",
    keys={
        "max_people": read.whole,
        "max_by_role": read.role_numbers,
        "users_allowed": read.texts,
        "start_field": read.text,
        "min_years": read.number,
    },
    needs=("max_people", "max_by_role", "users_allowed", "start_field"),
    problem="the client may not pay for this person",
    fix="Ask the client to approve the person, or make the entry non-billable.",
    sums=True,
)
def staff(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find people beyond the number for a matter, in the order of their first work, and people who are not allowed."""
    value = pd.Series("", index=rows.index, dtype=object)
    first = rows.sort_values(["date", "item_id"]).drop_duplicates(["matter_id", "user_id"])
    limits: list[tuple[list[str], pd.Series[Any]]] = []
    if rule.get("max_people") is not None:
        limits.append((["matter_id"], pd.Series(float(rule.get("max_people")), index=first.index)))
    if rule.get("max_by_role"):
        limits.append((["matter_id", "role"], first["role"].map(rule.get("max_by_role"))))
    for keys, limit in limits:
        number = first.groupby(keys).cumcount() + 1
        beyond = first[number > limit]
        texts = beyond["user_name"].fillna("") + " is person " + number.loc[beyond.index].astype(str)
        by_person = dict(zip(zip(beyond["matter_id"], beyond["user_id"], strict=True), texts, strict=True))
        named = [by_person.get(key, "") for key in zip(rows["matter_id"], rows["user_id"], strict=True)]
        value = value.mask(value == "", pd.Series(named, index=rows.index, dtype=object))
    if rule.get("users_allowed"):
        value = value.mask((value == "") & ~rows["user_id"].isin(rule.get("users_allowed")), rows["user_name"])
    if field := rule.get("start_field"):
        start = pd.to_datetime(rows["user_id"].map({id_: row[field] for id_, row in work.source.users.items()}))
        years = (rows["date"] - start) / _YEAR
        new = (years < rule.get("min_years", 1.0)).fillna(False)
        value = value.mask((value == "") & new, years.map(lambda count: f"{count:.1f} years in the firm"))
    return found(rows, value != "", value)


@RuleKind(
    title="several people at one event",
    keys={**read.WORDS, "max_people": read.whole},
    required=("max_people",),
    problem="several people may have attended one event",
    fix="Check who was needed, and make the others’ time non-billable.",
    reads_text=True,
    english=True,
    sums=True,
    review_only=True,
)
def meetings(rule: GuidelineRule, rows: pd.DataFrame, work: Work) -> pd.DataFrame:
    """Find several people with the same rare word about a meeting on one matter and day."""
    rows = rows[work.matches(rule, rows, default=("meeting",)).notna()]
    texts = {
        text: {word.casefold() for word in _RARE_WORD.findall(text)} for text in work.items["description"].dropna()
    }
    counts = pd.Series([word for words in texts.values() for word in words], dtype=object).value_counts()
    rare = set(counts[counts < max(_RARE_SHARE * len(texts), 2)].index)
    words = rows["description"].map(lambda text: sorted(texts[text] & rare))
    listed = rows.assign(word=words)[["matter_id", "date", "user_id", "word"]].explode("word").dropna(subset="word")
    people = listed.groupby(["matter_id", "date", "word"])["user_id"].transform("nunique")
    many = people[people > rule.get("max_people")].groupby(level=0).max()
    value = rows.index.to_series().map(many).map(lambda count: f"{count:.0f} people")
    return found(rows, rows.index.isin(many.index), value)


@RuleKind(
    title="equal entries",
    keys={"days": read.whole, "across": read.choice("user", "matter")},
    required=("days", "across"),
    problem="an earlier entry has the same text and hours",
    fix="Delete the entry if the work was entered twice; otherwise write what was different.",
    sums=True,
    history=True,
)
def duplicates(rule: GuidelineRule, rows: pd.DataFrame, _work: Work) -> pd.DataFrame:
    """Find entries with the text and hours of an earlier one, within some days."""
    rows = rows[rows["description"].notna() & rows["date"].notna()]
    entries = rows[["date", "user_id", "matter_id", "hours", "description"]].assign(
        time_entry_id=rows.index.astype("str")
    )
    equal = equal_entries(entries, by=[rule.get("across", "user"), "hours", "description"])
    if equal.empty:
        return found(rows.iloc[:0], slice(None))
    equal.index = equal["time_entry_id"].astype("int64")
    days = equal.groupby("duplicate_group")["date"].diff().dt.days
    later = days[days <= rule.get("days")].sort_index()
    value = later.map(lambda count: f"{count:.0f} days after an equal entry" if count else "an equal entry on that day")
    return found(rows.loc[later.index], slice(None), value)
