"""Phrases and word lists: find words in narratives without regular expressions in the users' files."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.messages import cut
from billframes._shared.names import closest
from billframes.errors import ParameterError

# The most words of a phrase.
_LONGEST = 50
# Words that "~" skips: up to three, without a comma, point or semicolon.
_SKIPPED = re.compile(r"[^\s,.;]+\s+")
_MOST_SKIPPED = 3
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W_][^\s*|~^$!]*\*?")


@functools.cache
def shipped() -> dict[str, dict[str, Any]]:
    """Return the tables of the word lists that come with billframes."""
    return tomllib.loads(resources.files("billframes.guidelines").joinpath("words_en.toml").read_text("utf-8"))


def word_list(name: str | None = None) -> list[str]:
    """Return the phrases of a word list, or the names of all lists; see `Guidelines.words`."""
    lists: dict[str, list[str]] = shipped()["lists"]
    if name is None:
        return list(lists)
    if name not in lists:
        raise ParameterError(f"There is no word list {name!r}.{closest(name, lists)} It takes {', '.join(lists)}.")
    return list(lists[name])


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class _Phrase:
    """
    A phrase: the pattern of each word, and whether a "~" precedes it. One of `stems` is in every text that has it.

    A pattern matches at one place in one way, so all hits are found in time proportional to the text.
    """

    words: Sequence[tuple[re.Pattern[str], bool]]
    stems: tuple[str, ...]
    takes_back: bool

    def hits(self, text: str) -> list[_Hit]:
        """Return the places of the phrase in a text, which don't overlap."""
        found = self._by_start(text)
        hits: list[_Hit] = []
        for start in sorted(found):
            if not hits or start >= hits[-1].end:
                hits.append(found[start])
        return hits

    def _by_start(self, text: str) -> dict[int, _Hit]:
        """Find the last word first; then, for each word before it, from which places the rest can be reached."""
        rest: dict[int, _Hit] = {}
        has_gap = False
        for place, (pattern, gap_before) in enumerate(reversed(self.words)):
            found = {}
            for word in pattern.finditer(text):
                if not place:
                    found[word.start()] = _Hit(*word.span(), word[1])
                elif following := next(
                    (rest[at] for at in _next_starts(text, word.end(), has_gap) if at in rest), None
                ):
                    gap = " … " if has_gap else " "
                    found[word.start()] = _Hit(word.start(), following.end, f"{word[1]}{gap}{following.words}")
            rest, has_gap = found, gap_before
            if not rest:
                break
        return rest


def _next_starts(text: str, end: int, has_gap: bool) -> Iterator[int]:
    """Yield where the next word can start after one that ends here."""
    space = _SPACE.match(text, end)
    for _ in range(1 + _MOST_SKIPPED * has_gap):
        if space is None:
            return
        yield space.end()
        space = _SKIPPED.match(text, space.end())


@dataclass(frozen=True, slots=True)
class Phrases:
    """
    Phrases to find in narratives; one that can't be read is a `ValueError` that says why.

    They are words in order; "x*" is any ending, "a|b" one of them, "~" up to three words between, "^" the start of the
    text and "$" its end. A phrase that begins with "!" takes back a hit at the same place. With `whole`, a phrase must
    be the whole text.
    """

    phrases: Sequence[_Phrase]

    def __init__(self, phrases: Iterable[str], *, whole: bool = False) -> None:
        object.__setattr__(self, "phrases", tuple(_read(each, whole) for each in dict.fromkeys(phrases)))

    def may_be_in(self, texts: pa.Array) -> Any:
        """Tell which texts have the beginning of a phrase, as an array of bool: most texts need no closer look."""
        stems = "|".join(re.escape(stem) for each in self.phrases if not each.takes_back for stem in each.stems)
        found = pc.match_substring_regex(texts, stems or r"\z.", ignore_case=True)
        return found.fill_null(False).to_numpy(zero_copy_only=False)

    def found_in(self, text: str) -> list[str]:
        """Return the words that match, without the words between them, each once."""
        lowered = text.casefold()
        likely = [each for each in self.phrases if any(stem in lowered for stem in each.stems)]
        if not likely or all(each.takes_back for each in likely):
            return []
        back = bytearray(len(text))
        for hit in (hit for each in likely if each.takes_back for hit in each.hits(text)):
            back[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
        found: dict[str, str] = {}
        for hit in (hit for each in likely if not each.takes_back for hit in each.hits(text)):
            if not any(back[hit.start : hit.end]):
                found.setdefault(hit.words.casefold(), hit.words)
        return list(found.values())


def _read(phrase: str, whole: bool) -> _Phrase:
    takes_back = phrase.startswith("!")
    tokens = phrase.removeprefix("!").split()
    start, end = tokens[:1] == ["^"] or whole, tokens[-1:] == ["$"] or whole
    tokens = [token for token in tokens if token not in {"^", "$"}]
    if not tokens or "~" in (tokens[0], tokens[-1]) or "~ ~" in " ".join(tokens):
        raise ValueError(f"{cut(phrase, 100)!r} has no words, or a '~' that is not between two words")
    if len(tokens) - tokens.count("~") > _LONGEST:
        raise ValueError(f"the phrase {cut(phrase, 100)!r} has more than {_LONGEST} words")
    words: list[tuple[re.Pattern[str], bool]] = []
    for place, token in enumerate(tokens):
        if token == "~":  # noqa: S105
            continue
        alternatives = token.split("|")
        wrong = [word for word in alternatives if not _WORD.fullmatch(word)]
        if wrong:
            raise ValueError(
                f"{cut(phrase, 100)!r} has {cut(wrong[0], 100)!r}, which is not a word; only '*', '|', '~', '^', '$' "
                "and '!' have a meaning"
            )
        before = r"(?<=\s)" if place else r"^\W*" if start else r"(?<!\w)"
        after = r"(?=\s)" if place < len(tokens) - 1 else r"\W*$" if end else ""
        pattern = re.compile(f"{before}({'|'.join(map(_pattern, alternatives))}){after}", re.IGNORECASE)
        words.append((pattern, tokens[place - 1] == "~"))
    stems = tuple(word.rstrip("*").casefold() for word in tokens[0].split("|"))
    return _Phrase(words, stems, takes_back)


def _pattern(word: str) -> str:
    stem = re.escape(word.rstrip("*"))
    return rf"{stem}\w*(?!\w)" if word.endswith("*") else rf"{stem}(?!\w)"
