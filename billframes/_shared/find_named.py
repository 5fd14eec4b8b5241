"""Find a client, matter or person by the text that a user types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from billframes._shared.names import closest, first_few
from billframes.errors import ParameterError

# The most names that a message suggests.
_MOST_SUGGESTIONS = 5
# How similar two words must be, as measured by `difflib`.
_SIMILARITY = 0.8


def find_named(
    text: str, known: Sequence[tuple[str, str, str]], noun: str, hint: str = "", *, where: str = ""
) -> tuple[str, str]:
    """
    Find someone or something by id, reference or name, ignoring case; a part of a name is enough if it is unique.

    `known` has the id, name and reference of each; a missing reference is empty. `noun`, `hint` and
    `where`, the key of a filter, are for the `ParameterError` if nothing matches, or several do. Return the id and the
    name.
    """
    words = re.compile(rf"(?<!\w){re.escape(text.strip().casefold())}(?!\w)")
    wanted, place = text.strip().casefold(), f"where={{{where!r}: {text!r}}}: " if where else ""
    tests: tuple[Callable[[tuple[str, str, str]], bool], ...] = (
        lambda each: each[0].casefold() == wanted,
        lambda each: each[2].casefold() == wanted,
        lambda each: each[1].casefold() == wanted,
        lambda each: bool(words.search(each[1].casefold())),
    )
    for test in tests:
        found = [each for each in known if test(each)]
        if len(found) == 1:
            return found[0][0], found[0][1]
        if found:
            others = first_few([f"{reference or id_} ({name})" for id_, name, reference in found])
            raise ParameterError(f"{place}{len(found)} {noun}s fit {text!r}; give one of {others}.")
    similar = similar_names(text, list(dict.fromkeys(name for _, name, _ in known)))
    raise ParameterError(f"{place}No {noun} has the name, reference or id {text!r}.{similar or hint}")


def similar_names(text: str, known: Sequence[str]) -> str:
    """Return a hint at the names that contain a text or similar words, or else at the most similar name."""
    similar = [name for name in known if text.strip().casefold() in name.casefold()]
    similar = similar or [name for name in known if _has_similar_words(name, text)]
    few = " or ".join(map(repr, similar[:_MOST_SUGGESTIONS]))
    others = len(similar) - _MOST_SUGGESTIONS
    more = f" There are {others} more." if others > 0 else ""
    return f" Did you mean {few}?{more}" if similar else closest(text, known)


def _has_similar_words(name: str, text: str) -> bool:
    words = name.casefold().split()
    return all(get_close_matches(each, words, 1, _SIMILARITY) for each in text.casefold().split())
