"""Find a client, matter or person by the text that a user types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from billframes._shared.names import closest
from billframes.errors import ParameterError

# The most names that a message suggests.
_MOST_SUGGESTIONS = 5
# How similar two words must be, as measured by `difflib`.
_SIMILARITY = 0.8


def find_named(text: str, known: Sequence[tuple[str, str, str]], noun: str, hint: str = "") -> tuple[str, str]:
    """
    Find someone or something by id, reference or name, ignoring case; a part of a name is enough if it is unique.

    `known` has the id, name and reference of each; a missing reference is empty. `noun` and `hint` are for the
    `ParameterError` if nothing matches, or several do. Return the id and the name.
    """
    wanted = text.strip().casefold()
    tests: tuple[Callable[[tuple[str, str, str]], bool], ...] = (
        lambda each: each[0].casefold() == wanted,
        lambda each: each[2].casefold() == wanted,
        lambda each: each[1].casefold() == wanted,
        lambda each: f" {wanted} " in f" {each[1].casefold()} ",
    )
    for test in tests:
        found = [each for each in known if test(each)]
        if len(found) == 1:
            return found[0][0], found[0][1]
        if found:
            others = ", ".join(reference or id_ for id_, _, reference in found)
            raise ParameterError(f"{len(found)} {noun}s are called {text!r}; give one of {others}.")
    similar = _similar(text, list(dict.fromkeys(name for _, name, _ in known)))
    raise ParameterError(f"No {noun} has the name, reference or id {text!r}.{similar or hint}")


def _similar(text: str, known: Sequence[str]) -> str:
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
