"""Judge narratives: their language, the tasks in them, times in brackets, and the party and subject of calls.

A text that is not clearly English has no tasks here, so that rules stay silent about it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from billframes.guidelines.words import shipped

ENGLISH, FOREIGN, UNCLEAR, EMPTY = "English", "other language", "unclear language", "empty"

_TITLES = r"Mr Mrs Ms Dr No Nos Inc Co Corp Ltd Jr Sr St v vs e\.g i\.e etc [A-Z]"
_BREAKS = re.compile(r"[;|\n\r]|\s-\s")
_NOT_AFTER = "".join(rf"(?<!\b{each}\.)" for each in _TITLES.split())
_POINTS = re.compile(rf"\.{_NOT_AFTER}\s+(?=[A-Z])")
_TOKENS = re.compile(r"[^\W\d_][\w'’-]*|[,&]")
_HOURS = re.compile(r"[(\[]\s*+(\d++(?:\.\d++)?|\.\d++)\s*+(?:h|hrs?|hours?)?\.?\s*+[)\]]", re.IGNORECASE)
_JOINTS = frozenset({",", "&", "and", "then"})
# Between a verb and its object, or between two verbs that share one.
_SMALL = frozenset({"for", "with", "to", "on", "in", "of", "at", "from", "the", "a", "an", "re"})
_AFTER_NOUN = frozenset({"with", "to", "from", "re", "regarding"})
_CALL = re.compile(
    r"^\W*(?:\w+ly\s+|(?:brief|lengthy|multiple|several)\s+)*"
    r"((?:tele|video |phone |telephone |conference )*(?:call|conference|meeting)s?"
    r"|(?:e-?mail|call|meet|met|confer|correspond|telephon)\w*)\b",
    re.IGNORECASE,
)
_PARTY = re.compile(r"\b(?:with|to|from)\s+\w", re.IGNORECASE)
_SUBJECT = re.compile(
    r"\b(?:re|regarding|about|concerning|on):?\s+(?:(?:the|this|our)\s+)?(?!(?:same|matter|case|file|status)\b)\w",
    re.IGNORECASE,
)


@functools.cache
def _forms(name: str) -> dict[str, str]:
    """Return the forms of a list of verbs, each with its ending: "", "s", "ed" or "ing"."""
    table = shipped()["tasks"]
    found: dict[str, str] = {}
    for verb in table[name]:
        stem = verb.removesuffix("e")
        past, third = f"{stem}ed", f"{verb}es" if re.search("(s|x|ch|sh)$", verb) else f"{verb}s"
        if re.search("[^aeiou]y$", verb):
            past, third = f"{verb[:-1]}ied", f"{verb[:-1]}ies"
        found |= {verb: "", third: "s", past: "ed", f"{stem}ing": "ing"}
        found |= {f"{verb}{verb[-1]}ed": "ed", f"{verb}{verb[-1]}ing": "ing"}
    return found | {form: "ed" for form, verb in table["irregular"].items() if verb in table[name]}


@functools.cache
def _nouns() -> tuple[list[str], ...]:
    return tuple(noun.split() for noun in shipped()["tasks"]["nouns"])


def languages(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return the language of each text: English, another one, unclear or empty."""
    words = shipped()["language"]
    column = pa.array(texts.fillna(""), pa.string())
    english = _count(column, words["english"], ignore_case=True)
    foreign = _count(column, words["foreign"], ignore_case=False)
    latin = pc.match_substring_regex(column, r"\p{Latin}").to_numpy(zero_copy_only=False)
    empty = ~pc.match_substring_regex(column, r"[\p{L}\p{N}]").to_numpy(zero_copy_only=False)
    is_foreign = ((foreign >= 2) & (foreign > english)) | ~latin
    verbs = _forms("verbs")
    opens = texts.fillna("").map(lambda text: any(word in verbs for word in _opening(text)))
    found = pd.Series(UNCLEAR, index=texts.index)
    found[(english > 0) | opens.to_numpy(dtype=bool)] = ENGLISH
    found[is_foreign] = FOREIGN
    found[empty] = EMPTY
    return found


def _count(column: pa.Array, words: Iterable[str], *, ignore_case: bool) -> Any:
    """Count words. Letters such as "é" are not part of a word for this engine, so they are replaced by "_"."""
    plain = pc.replace_substring_regex(column, r"[^\x00-\x7F]", "_")
    ascii_words = "|".join(re.sub(r"[^\x00-\x7f]", "_", word) for word in words)
    return pc.count_substring_regex(plain, rf"\b(?:{ascii_words})\b", ignore_case=ignore_case).to_numpy(
        zero_copy_only=False
    )


def _opening(text: str) -> Iterator[str]:
    """Yield the first word of a text that is not an adverb, in small letters."""
    before = shipped()["tasks"]["before"]
    for each in _TOKENS.finditer(text):
        word = each[0].casefold()
        if not (word in before or word.endswith("ly")):
            yield word
            return


def segments(text: str) -> list[str]:
    """Split a text at semicolons, bars, line ends, dashes, and points before a capital."""
    parts = [part for each in _BREAKS.split(text) for part in (_POINTS.split(each) if ". " in each else [each])]
    return [part.strip() for part in parts if any(map(str.isalnum, part))]


def tasks(text: str, *, verbs: bool) -> list[str]:
    """
    Return the words with which the tasks of an English text open; "…" for a first task without such a word.

    With `verbs`, a verb after a comma, "and" or "then" can open a task, too.
    """
    found: list[str] = []
    before = shipped()["tasks"]["before"]
    for segment in segments(text):
        words = [word.casefold() for word in _TOKENS.findall(segment)]
        words = [word for word in words if not (word in before or word.endswith("ly"))]
        opening = _task_at(words)
        if opening or not found:
            found.append(opening or "…")
        if verbs:
            found += _later_verbs(words)
    return found


def _task_at(words: Sequence[str]) -> str:
    """Return the verb or noun with which words open a task; empty if they open none."""
    for noun in _nouns():
        if words[: len(noun)] == noun and words[len(noun) : len(noun) + 1] and words[len(noun)] in _AFTER_NOUN:
            return " ".join(noun)
    return words[0] if words and words[0] in _forms("verbs") else ""


def _later_verbs(words: Sequence[str]) -> Iterator[str]:
    """Yield the verbs after a joint that open another task. Verbs before the first object share it: they are one."""
    verbs, after_joint = _forms("verbs"), _forms("after_and")
    past = bool(words) and verbs.get(words[0]) == "ed"
    joined = has_object = False
    for place, word in enumerate(words[1:], start=1):
        if word in _JOINTS:
            joined = True
            continue
        # In "review draft and revised schedule", the verb in the past is an adjective.
        opens = joined and place + 1 < len(words) and word in after_joint and (past or after_joint[word] != "ed")
        if opens and has_object:
            yield word
            has_object = False
        elif not (joined and word in verbs and not has_object) and word not in _SMALL:
            has_object = True
        joined = False


def hours_in_brackets(text: str) -> list[Decimal]:
    """Return the hours that a text gives to its parts, such as "(.5)" or "[0.3 h]"."""
    return [Decimal(each) for each in _HOURS.findall(text)]


def lacking_parts(text: str, parts: Iterable[str]) -> tuple[str, list[str]]:
    """Return the words with which a text opens a call, message or meeting, and which parts it lacks."""
    opening = _CALL.match(text)
    if opening is None:
        return "", []
    patterns: Mapping[str, re.Pattern[str]] = {"party": _PARTY, "subject": _SUBJECT}
    return opening[1], [part for part in parts if not patterns[part].search(text)]
