"""Collations of databases in use, each as a function that returns the key by which texts are sorted.

Two texts are equal under a collation if their keys are equal. `DUCET` is computed by pyuca from Unicode's table. The
other collations are this table or a simple folding with their special rules, because no library with databases' own
collations can be installed everywhere. They need not be exact in every character, only in which texts are equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import pyuca

__all__ = ["COLLATIONS", "SCRIPTS"]

# Pairs and triples of names that some collation takes for equal and another does not.
SCRIPTS = [
    *("Søren", "Soren", "Sören", "Soeren", "Bjørk", "Björk", "Bjork", "Œuvre", "Oeuvre"),
    *("Ægir", "Aegir", "Ägir", "Agir", "Łukasz", "Lukasz", "Groß", "Gross", "GROSS", "Þór", "Thor", "Thór"),
    *("Åberg", "Aaberg", "Aberg", "A-berg", "Vinter", "Winter", "vinter", "Müller", "Myller", "Mueller", "Muller"),
    *("カナ", "かな", "ｶﾅ", "Kana", "東京", "東京都", "Иванов", "иванов", "Ёлкин", "Елкин", "Ωmega", "ωMEGA"),
    *("Jonas", "Ionas", "Yonas", "Accsa", "Acscsa", "Ljubo", "Ǉubo", "Dzenan", "Ǳenan", "Iulius", "Julivs"),
    *("Lot 2", "Lot 02", "Lot 002", "Lot-2", "Lot2", "Lot 20", "Lot ٢", "Lot ２", "2", "02", "10", "1-0"),
    *("Straße", "Strasse", "strasse ", "Ｚeta", "Zeta", "zeta", "u\u0308ber", "über", "yber", "uber"),
]


@cache
def _ducet() -> pyuca.Collator:
    return pyuca.Collator()


@lru_cache(maxsize=200_000)
def ducet(text: str) -> tuple[int, ...]:
    """Return the primary weights, which MySQL's utf8mb4_0900_ai_ci and ICU at primary strength compare."""
    elements = _ducet().collation_elements(unicodedata.normalize("NFD", text))
    return tuple(element[0] for element in elements if element and element[0])


@lru_cache(maxsize=200_000)
def shifted(text: str) -> tuple[int, ...]:
    """Return the primary weights without those of spaces and punctuation: ICU with alternate=shifted."""
    return ducet("".join(each for each in text if unicodedata.category(each)[0] in "LMN"))


@lru_cache(maxsize=200_000)
def numeric(text: str) -> tuple[Any, ...]:
    """Return the key of PostgreSQL's ICU at primary strength, with runs of digits compared by value."""
    key: list[tuple[int, int]] = []
    for part in re.split(r"(\d+)", text):
        key += [(1, int(part))] if part.isdecimal() else [(0, weight) for weight in ducet(part)]
    return tuple(key)


@lru_cache(maxsize=200_000)
def letters_and_digits(text: str) -> str:
    """Return text without case, spaces and punctuation."""
    return "".join(each for each in text.casefold() if each.isalnum())


def nocase(text: str) -> str:
    """Return the key of SQLite's NOCASE: ASCII letters without case, all other characters unchanged."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), text)


@lru_cache(maxsize=200_000)
def latin1_general_ci_ai(text: str) -> str:
    """Return the key of SQL Server's Latin1_General_CI_AI: without accents, case, width, kana, hyphens and "'"."""
    return _folded(text.translate(_SQL_SERVER)).replace("-", "").replace("'", "").rstrip()


def _folded(text: str) -> str:
    """Return the text without case, width and accents."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(_hiragana(each) for each in decomposed if not unicodedata.combining(each)).translate(_STROKES)


def _hiragana(letter: str) -> str:
    return chr(ord(letter) - 0x60) if "ァ" <= letter <= "ヶ" else letter


_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i"})
_SQL_SERVER = str.maketrans({"æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ß": "ss", "þ": "th", "Þ": "th"})


def _tailored(rules: dict[str, str]) -> Callable[[str], str]:
    """Return a function that replaces each text on the left by that on the right, the longest first."""
    words = {unicodedata.normalize("NFC", left): right for left, right in rules.items()}
    pattern = re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)))

    @lru_cache(maxsize=200_000)
    def key(text: str) -> str:
        lower = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", text).lower())
        parts, end = [], 0
        for found in pattern.finditer(lower):
            parts += [_folded(lower[end : found.start()]), words[found[0]]]
            end = found.end()
        return "".join([*parts, _folded(lower[end:])]).rstrip()

    return key


# Letters after z, in their order.
_A, _B, _C = "\U000e0001", "\U000e0002", "\U000e0003"
COLLATIONS: dict[str, Callable[[str], Any]] = {
    "letters and digits": letters_and_digits,
    "DUCET, utf8mb4_0900_ai_ci": ducet,
    "DUCET, shifted": shifted,
    "PostgreSQL ICU, numeric": numeric,
    "Latin1_General_CI_AI": latin1_general_ci_ai,
    "SQLite NOCASE": nocase,
    "Swedish": _tailored({"å": _A, "ä": _B, "æ": _B, "ö": _C, "ø": _C, "œ": _C, "w": "v", "ü": "y", "þ": "th"}),
    "Danish": _tailored(
        {"å": _C, "aa": _C, "ä": _A, "æ": _A, "ö": _B, "ø": _B, "œ": _B, "w": "v", "ü": "y", "þ": "th", "ß": "ss"}
    ),
    "German phone book": _tailored({"ä": "ae", "æ": "ae", "ö": "oe", "œ": "oe", "ü": "ue", "ß": "ss"}),
    "Lithuanian": _tailored({"y": "i", "į": "i", "ł": "l"}),
    "Roman": _tailored({"j": "i", "v": "u", "æ": "ae"}),
    "Hungarian": _tailored(
        {single[0] + single: single * 2 for single in ("cs", "dz", "gy", "ly", "ny", "sz", "ty", "zs", "dzs")}
    ),
}
