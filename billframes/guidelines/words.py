"""Phrases and word lists: find words in narratives without regular expressions in the users' files."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes._names import closest
from billframes.errors import ParameterError

# Up to three words between two others, without a comma, point or semicolon.
_BETWEEN = r"(?:\s+[^\s,.;]+){0,3}?\s+"
_WORD = re.compile(r"[^\W_][^\s*|~^$!]*\*?")


@functools.cache
def shipped() -> dict[str, dict[str, Any]]:
    """Return the tables of the word lists that come with billframes."""
    return tomllib.loads(resources.files("billframes.guidelines").joinpath("words_en.toml").read_text("utf-8"))


def guideline_words(name: str | None = None) -> list[str]:
    """
    Return a word list that client guidelines can name, or the names of all lists.

    Parameters
    ----------
    name : str, optional
        Such as "clerical".

    Returns
    -------
    list of str
        The phrases of the list, in the syntax of `own_words`; without a name, the names of the lists.

    Raises
    ------
    ParameterError
        There is no such list.

    Examples
    --------
    >>> guideline_words("experts")
    ['expert|experts', 'consultant|consultants']
    """
    lists: dict[str, list[str]] = shipped()["lists"]
    if name is None:
        return list(lists)
    if name not in lists:
        raise ParameterError(f"There is no word list {name!r}.{closest(name, lists)} It takes {', '.join(lists)}.")
    return list(lists[name])


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase; one of `stems` is in every text that has it."""

    pattern: re.Pattern[str]
    stems: tuple[str, ...]
    takes_back: bool


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
        back = [hit.span() for each in likely if each.takes_back for hit in each.pattern.finditer(text)]
        found: dict[str, str] = {}
        for each in likely:
            for hit in () if each.takes_back else each.pattern.finditer(text):
                if not any(start < hit.end() and hit.start() < end for start, end in back):
                    words = "".join(f" {part}" if part else " …" for part in hit.groups()).strip()
                    found.setdefault(words.casefold(), words)
        return list(found.values())


def _read(phrase: str, whole: bool) -> _Phrase:
    takes_back = phrase.startswith("!")
    tokens = phrase.removeprefix("!").split()
    start, end = tokens[:1] == ["^"] or whole, tokens[-1:] == ["$"] or whole
    tokens = [token for token in tokens if token not in {"^", "$"}]
    if not tokens or "~" in (tokens[0], tokens[-1]):
        raise ValueError(f"{phrase!r} has no words, or begins or ends with '~'")
    pattern = r"^\W*" if start else r"(?<!\w)"
    for place, token in enumerate(tokens):
        if token == "~":  # noqa: S105
            pattern += f"{_BETWEEN}()"
            continue
        words = token.split("|")
        wrong = [word for word in words if not _WORD.fullmatch(word)]
        if wrong:
            raise ValueError(
                f"{phrase!r} has {wrong[0]!r}, which is not a word; only '*', '|', '~', '^', '$' and '!' have a meaning"
            )
        joint = r"\s+" if place and tokens[place - 1] != "~" else ""
        pattern += f"{joint}({'|'.join(map(_pattern, words))})"
    pattern += r"\W*$" if end else ""
    stems = tuple(word.rstrip("*").casefold() for word in tokens[0].split("|"))
    return _Phrase(re.compile(pattern, re.IGNORECASE), stems, takes_back)


def _pattern(word: str) -> str:
    stem = re.escape(word.rstrip("*"))
    return rf"{stem}\w*(?!\w)" if word.endswith("*") else rf"{stem}(?!\w)"
