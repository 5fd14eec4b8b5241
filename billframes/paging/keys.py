"""Decide whether two sort keys differ under every collation.

The server's collation is unknown. Besides case and accents, collations ignore differences such as ø and o, æ and ae, ł
and l, ß and ss, þ and th, hiragana and katakana, "2" and "02", v and w (Swedish), i, j and y (Lithuanian, Roman), "aa"
and å (Danish), "ccs" and "cscs" (Hungarian). Two texts surely differ only if

- reading from the left, without case, spaces and punctuation, there is a position at which one has an ASCII letter or
  digit and the other has a different one, or has ended,
- neither text has a character outside ASCII before that position, nor a combining mark on the letter there,
- no language treats the letters there as equal, or sorts one of them together with its neighbour as one letter,
- and all of this is true whether runs of digits are compared digit by digit or by value.

In all other cases it is unsure. Numbers, dates and instants differ if they are not equal.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any, TypeAlias

# Servers may compare only the beginning of a long text: MySQL's max_sort_length is 1,024 bytes.
COMPARED = 200
_SAME = str.maketrans("jywv", "iiuu")
# Pairs that some language writes or sorts as one letter: å, æ, ö, ü, ß, þ, and those of Czech, Spanish, Dutch, Croatian
# and Hungarian.
_PAIRS = re.compile("aa|ae|oe|ue|ss|th|ch|ll|ij|lj|nj|dz|cs|gy|ly|ny|sz|ty|zs")
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})
_ASCII = re.compile(r"[\x00-\x7f]*")
_PARTS = re.compile(r"[a-z]|[0-9]+")

# The value of a letter or number, and whether it may be equal to another one.
_Token: TypeAlias = tuple[str | int, bool]
# The rest of a text that is outside ASCII, or too far from the beginning.
_UNKNOWN: _Token = ("", True)


def surely_differ(one: Any, other: Any) -> bool:
    """Return whether two sort keys differ under every collation; None counts as empty text."""
    if isinstance(one, str | None) and isinstance(other, str | None):
        pairs = zip(_readings(one or ""), _readings(other or ""), strict=True)
        return all(_readings_differ(first, second) for first, second in pairs)
    return one is not None and other is not None and bool(one != other)


def _readings_differ(one: tuple[_Token, ...], other: tuple[_Token, ...]) -> bool:
    """Return whether two readings differ, and at the first difference surely."""
    for (value, unsure), (value_too, unsure_too) in zip(one, other, strict=False):
        if value != value_too:
            return not unsure and not unsure_too
    if len(one) == len(other):
        return False
    _, unsure = max(one, other, key=len)[min(len(one), len(other))]
    return not unsure


@lru_cache(maxsize=16384)
def _readings(text: str) -> tuple[tuple[_Token, ...], tuple[_Token, ...]]:
    """Return a text's two readings: digit by digit, and with runs of digits as numbers."""
    known = str(_ASCII.match(text, 0, COMPARED)[0])  # type: ignore[index]
    parts = _PARTS.findall(known.lower())
    plain = "".join(parts)
    single: list[_Token] = [(each.translate(_SAME), _is_in_pair(plain, place)) for place, each in enumerate(plain)]
    valued: list[_Token] = []
    place = 0
    for part in parts:
        valued.append((int(part), False) if part.isdigit() else single[place])
        place += len(part)
    rest = text[len(known) :]
    return _with_rest(single, rest), _with_rest(valued, rest)


def _is_in_pair(letters: str, place: int) -> bool:
    return any(_PAIRS.match(letters, begin) for begin in (place - 1, place) if begin >= 0)


def _with_rest(tokens: list[_Token], rest: str) -> tuple[_Token, ...]:
    """Add an unknown token for the rest of a text; its first character may also modify the last letter."""
    if not rest:
        return tuple(tokens)
    if tokens and unicodedata.category(rest[0]) not in _LETTERS:
        tokens[-1] = (tokens[-1][0], True)
    return (*tokens, _UNKNOWN)
