"""The rules that a guideline file can have, each declared once."""

from __future__ import annotations

import billframes.guidelines.item_rules as item_rules
import billframes.guidelines.sum_rules as sum_rules
from billframes.guidelines.declare import BEYOND, RuleKind
from billframes.guidelines.keys import (
    choice,
    day,
    each_of,
    flag,
    lists,
    number,
    phrases,
    role_numbers,
    rows,
    share,
    shares,
    text,
    texts,
    whole,
)

_ON = {"on": choice("time", "expenses", "both")}
_WORDS = {"words": lists, "own_words": phrases}
_SELECT = {**_WORDS, "except": phrases, "codes": texts, **_ON}
_DATES = {"from": day, "until": day}
_EXPENSES = ("expense",)
_BOTH = ("time_entry", "expense")
_FEES = ("time_entry", "fixed_fee")
_ALL = ("time_entry", "expense", "fixed_fee")

RULES: dict[str, RuleKind] = {
    "block": RuleKind(
        title="block billing",
        keys={
            "find": choice("verbs", "separators"),
            "tasks": whole,
            "min_hours": number,
            "free_hours": number,
            "allocated": choice("accept", "refuse"),
        },
        required=("find", "tasks"),
        judge=item_rules.block,
        problem="the entry has several tasks",
        fix="Split the entry, or write the hours of each task in brackets.",
        reads_text=True,
        english=True,
    ),
    "barred": RuleKind(
        title="work that is not paid",
        keys=_SELECT,
        needs=("words", "own_words", "codes"),
        judge=item_rules.barred,
        problem="the client may not pay for this kind of work",
        fix="Make the entry non-billable, or correct the text if it describes other work.",
        reads_text=True,
    ),
    "vague": RuleKind(
        title="vague narrative",
        keys={
            **dict.fromkeys(("only", "phrases", "endings"), phrases),
            "words": lists,
            "min_words": whole,
            "communication": each_of("party", "subject"),
        },
        needs=("only", "phrases", "endings", "words", "min_words", "communication"),
        judge=item_rules.vague,
        problem="the narrative may say too little",
        fix="Write what was done, with whom, and about what.",
        reads_text=True,
        english=True,
    ),
    "rates": RuleKind(
        title="agreed rates",
        keys={
            "approved": rows(
                {"user": text, "role": text, "rate": number, **_DATES}, ("rate",), one_of=("user", "role")
            ),
            "unlisted": choice("refused", "cut", "review"),
            "frozen_since": day,
        },
        needs=("approved", "frozen_since"),
        judge=sum_rules.rates,
        problem="the rate is above the agreed rate",
        fix="Use the agreed rate, or ask the client to agree to this one.",
        sums=True,
        history=True,
    ),
    "staff": RuleKind(
        title="people on the matter",
        keys={
            "max_people": whole,
            "max_by_role": role_numbers,
            "users_allowed": texts,
            "start_field": text,
            "min_years": number,
        },
        needs=("max_people", "max_by_role", "users_allowed", "start_field"),
        judge=sum_rules.staff,
        problem="the client may not pay for this person",
        fix="Ask the client to approve the person, or make the entry non-billable.",
        sums=True,
    ),
    "expense": RuleKind(
        title="expenses",
        keys={**_WORDS, "codes": texts, "barred": flag, "max_each": number, "max_day": number},
        needs=("barred", "max_each", "max_day"),
        on=_EXPENSES,
        judge=sum_rules.expense,
        problem="the client may not pay this expense, or only up to a limit",
        fix="Take the expense, or the part above the limit, off the bill.",
        sums=True,
    ),
    "travel": RuleKind(
        title="travel",
        keys={**_WORDS, "pay": share, "alone": flag},
        needs=("words", "own_words"),
        judge=sum_rules.travel,
        problem="the travel is billed at more than the agreed share of the rate",
        fix="Lower the rate of the travel, and give other work an entry of its own.",
        sums=True,
    ),
    "increment": RuleKind(
        title="billing increment",
        keys={"hours": number, "minimum": number},
        needs=("hours", "minimum"),
        judge=item_rules.increment,
        problem="the hours don’t fit the client’s increment",
        fix="Round the hours down to a multiple of the increment.",
    ),
    "entry_hours": RuleKind(
        title="hours of one entry",
        keys={"max": number},
        required=("max",),
        judge=item_rules.entry_hours,
        problem="the entry is longer than {max:g} h",
        fix="Check the hours, and split the entry if it covers several days or tasks.",
    ),
    "day_hours": RuleKind(
        title="hours of one day",
        keys={"max": number, "across": choice("matter", "client", "firm")},
        required=("max", "across"),
        judge=sum_rules.day_hours,
        problem="the person has more than {max:g} h on that day",
        fix="Check the hours and the dates of that day.",
        sums=True,
    ),
    "age": RuleKind(
        title="old work",
        keys={"max_days": whole, "warn_days": whole, **_ON},
        needs=("max_days", "warn_days"),
        on=_BOTH,
        judge=item_rules.age,
        problem="the work is too old, or soon will be",
        fix="Bill it now, or ask the client to accept it.",
    ),
    "approval": RuleKind(
        title="work that needs approval",
        keys={
            **_SELECT,
            "over_hours": number,
            "over_amount": number,
            "per": choice("entry", "matter", "matter and month"),
            "given": rows({"matter": text, **_DATES, "hours": number, "amount": number, "by": text, "date": day}, ()),
            "named": flag,
        },
        judge=sum_rules.approval,
        problem="the work goes beyond the approvals in the guideline file",
        fix="Ask the client for approval, and add it to the guideline file.",
        sums=True,
        refuses=BEYOND,
    ),
    "budget": RuleKind(
        title="budget of the matter",
        keys={"amount": number, "field": text, "tasks": texts, "warn_at": shares},
        needs=("amount", "field"),
        on=_FEES,
        judge=sum_rules.budget,
        problem="the fees of the matter are near or above its budget",
        fix="Tell the client, and ask for a larger budget before more work is done.",
        sums=True,
        history=True,
        refuses=BEYOND,
    ),
    "invoice": RuleKind(
        title="invoices",
        keys={
            "one_matter": flag,
            "one_month": flag,
            "max_days_after_month": whole,
            "every": choice("month", "quarter"),
        },
        needs=("one_matter", "one_month", "max_days_after_month"),
        on=_ALL,
        judge=sum_rules.invoice,
        fix="Bill each matter by itself, and each month on time.",
        sums=True,
        history=True,
        by_invoice=True,
    ),
    "codes": RuleKind(
        title="codes",
        keys={"task": flag, "activity": flag, "allowed": texts},
        needs=("task", "activity", "allowed"),
        judge=item_rules.codes,
        problem="a code is missing, or the client does not accept it",
        fix="Choose a code that the client accepts.",
    ),
    "duplicates": RuleKind(
        title="equal entries",
        keys={"days": whole, "across": choice("user", "matter")},
        required=("days", "across"),
        judge=sum_rules.duplicates,
        problem="an earlier entry has the same text and hours",
        fix="Delete the entry if the work was entered twice; otherwise write what was different.",
        sums=True,
        history=True,
    ),
    "meetings": RuleKind(
        title="several people at one event",
        keys={**_WORDS, "max_people": whole},
        required=("max_people",),
        judge=sum_rules.meetings,
        problem="several people may have attended one event",
        fix="Check who was needed, and make the others’ time non-billable.",
        reads_text=True,
        english=True,
        sums=True,
        review_only=True,
    ),
    "matter": RuleKind(
        title="dates of the matter",
        keys={"archived": flag, "before_opened": flag, "closed_field": text, "days_after": whole},
        needs=("archived", "before_opened", "closed_field"),
        on=_BOTH,
        judge=item_rules.matter,
        problem="the work does not fit the dates of the matter",
        fix="Check the date and the matter.",
    ),
    "recording": RuleKind(
        title="late entries",
        keys={"max_days": whole},
        required=("max_days",),
        judge=item_rules.recording,
        problem="the entry was made more than {max_days} days after the work",
        fix="Check the date of the work.",
        review_only=True,
    ),
    "wording": RuleKind(
        title="wording",
        keys={
            "if_words": lists,
            "if_own_words": phrases,
            "if_codes": texts,
            "must": phrases,
            "min_chars": whole,
            "max_chars": whole,
        },
        needs=("must", "min_chars", "max_chars"),
        judge=item_rules.wording,
        problem="the narrative lacks required words, or is too short or too long",
        fix="Complete or shorten the narrative.",
        reads_text=True,
    ),
    "calendar": RuleKind(
        title="work on days off",
        keys={"weekends": flag, "holidays": flag},
        needs=("weekends", "holidays"),
        judge=item_rules.calendar,
        problem="the work was done on a day off",
        fix="Check the date.",
        review_only=True,
    ),
}

CURRENCY = RuleKind(
    title="currency",
    keys={},
    on=_ALL,
    judge=lambda _rule, rows, _work: item_rules.every_row(rows),
    problem="the client’s guidelines are for {currency}, and the firm bills in another currency",
    fix="Correct the currency in the guideline file or in the firm’s settings.",
)


def rule_title(name: str) -> str:
    """Return a rule's title for readers; other words are returned unchanged."""
    return RULES[name].title if name in RULES else name
