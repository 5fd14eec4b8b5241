"""Convert text to the ASCII of LEDES files.

Latin letters with accents, punctuation and symbols have one ASCII spelling (by anyascii), and are converted. Letters of
other scripts can be spelled in several ways, and so can ä, ø and similar letters. Only the firm knows the spelling that
the client has on file. Letters of other scripts are therefore refused, and ä and the like in names are reported.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from anyascii import anyascii

_REPLACED = {"[]": "()", "|": "/"}
# anyascii would convert these signs to single letters.
_STATUTES = {"§": "Sec.", "¶": "Para."}
_SPACES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_UNUSUAL = re.compile(r"[^\x20-\x7e]")
_LATIN = ("LATIN", "FEMININE ORDINAL", "MASCULINE ORDINAL", "MICRO SIGN")
# Some languages spell them ae, oe, ue, aa, th, others a, o, u, a, t.
_SPELLED_TWO_WAYS = frozenset("äöüåøæœþðđ")


class PlainText(NamedTuple):
    """
    A text converted to ASCII, which is valid if `foreign` is empty: characters without a certain ASCII spelling.

    `unsure` are characters that some languages spell with two letters, such as ä, and `replaced` those that a file
    can't have: `|`, `[]`, line breaks, control characters.
    """

    text: str
    foreign: str = ""
    unsure: str = ""
    replaced: str = ""


def is_plain(text: str) -> bool:
    """Tell whether a text can be written to a file without a change."""
    return text.isascii() and text.isprintable() and "|" not in text and "[]" not in text


def plain_text(text: str | None) -> PlainText:
    """Convert a text to ASCII on one line; None becomes an empty text."""
    if not text or (is_plain(text) and text[0] != " " and text[-1] != " "):
        return PlainText(text or "")
    return _to_ascii(text)


class _Spelling(dict[int, str]):
    """A cache of the ASCII spelling of each character. anyascii also converts single characters."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        spelled = " " if _SPACES.fullmatch(character) else _STATUTES.get(character) or anyascii(character)
        self[code] = spelled
        return spelled


_spelling = _Spelling()


def _to_ascii(text: str) -> PlainText:
    ascii_text = text.replace("§§", "Secs.").translate(_spelling)
    foreign, unsure, replaced = _classify("".join(sorted(set(_UNUSUAL.findall(text)))))
    for mark, other in _REPLACED.items():
        if mark in ascii_text:
            replaced = f"{replaced} {mark}".lstrip()
            ascii_text = ascii_text.replace(mark, other)
    return PlainText(" ".join(ascii_text.split()), foreign, unsure, replaced)


@lru_cache(maxsize=4_096)
def _classify(unusual: str) -> tuple[str, str, str]:
    """Return those of the characters that are foreign, unsure and replaced. Many texts have the same characters."""
    return (
        "".join(filter(_is_foreign, unusual)),
        "".join(each for each in unusual if each.lower() in _SPELLED_TWO_WAYS),
        " ".join(dict.fromkeys(_describe(each) for each in unusual if each.isascii())),
    )


def _is_foreign(character: str) -> bool:
    """Tell whether a character is a letter of another script, or has no ASCII spelling."""
    if character.isascii() or unicodedata.category(character) in {"Cf", "Mn", "Zs", "Zl", "Zp", "Cc"}:
        return False
    if character.isalpha():
        return not unicodedata.name(character, "").startswith(_LATIN)
    return not anyascii(character)


def _describe(character: str) -> str:
    return "line break" if character in "\r\n" else "control character"
