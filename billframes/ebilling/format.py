"""The format LEDES 1998B: its 24 fields, and the conversion of text to its ASCII.

The format no longer changes: text between pipes, no quoting, ASCII, `[]` at the end of each line. A line is a fee (F),
an expense (E), or an adjustment of the invoice's fees (IF) or expenses (IE).

Latin letters with accents, punctuation and symbols have one ASCII spelling (by anyascii), and are converted. Letters of
other scripts can be spelled in several ways, and so can ä, ø and similar letters. Only the firm knows the spelling that
the client has on file. Letters of other scripts are therefore refused, and ä and the like in names are reported.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from anyascii import anyascii

__all__ = [
    "COLUMNS",
    "END",
    "FIELDS",
    "FIRST_LINE",
    "HEADING",
    "TYPES",
    "LedesField",
    "PlainText",
    "is_plain",
    "plain_text",
]

FIRST_LINE = "LEDES1998B[]"
END = "[]"
TYPES = ("F", "E", "IF", "IE")
_ALL, _ITEMS, _FEES = "F E IF IE", "F E", "F"

Kind = Literal["date", "text", "number", "money", "type"]
Subject = Literal["invoice", "matter", "item", "timekeeper"]


@dataclass(frozen=True, slots=True)
class LedesField:
    """
    A field of the format.

    Parameters
    ----------
    number : int
        Its place in a line, from 1.
    label : str
        Its name in the file's second line.
    kind : {"date", "text", "number", "money", "type"}
        Numbers and money have up to four decimals.
    width : int, optional
        The largest number of characters of a text, or of digits before the point of a number; None is any.
    needed : str
        The types of lines that must have it.
    subject : {"invoice", "matter", "item", "timekeeper"}
        What the field describes. An invoice's fields are the same on all of its lines.
    """

    number: int
    label: str
    kind: Kind
    width: int | None
    needed: str
    subject: Subject

    @property
    def column(self) -> str:
        """The column's name in frames."""
        return self.label.lower().replace("/", "_")

    @property
    def name(self) -> str:
        """Number and label, as in findings."""
        return f"{self.number} {self.label}"

    def is_needed(self, line_type: str) -> bool:
        """Tell whether lines of a type must have the field."""
        return line_type in self.needed.split()


FIELDS = (
    LedesField(1, "INVOICE_DATE", "date", 8, _ALL, "invoice"),
    LedesField(2, "INVOICE_NUMBER", "text", 20, _ALL, "invoice"),
    LedesField(3, "CLIENT_ID", "text", 20, _ALL, "invoice"),
    LedesField(4, "LAW_FIRM_MATTER_ID", "text", 20, _ALL, "matter"),
    LedesField(5, "INVOICE_TOTAL", "money", 12, _ALL, "invoice"),
    LedesField(6, "BILLING_START_DATE", "date", 8, _ALL, "invoice"),
    LedesField(7, "BILLING_END_DATE", "date", 8, _ALL, "invoice"),
    LedesField(8, "INVOICE_DESCRIPTION", "text", None, "", "invoice"),
    LedesField(9, "LINE_ITEM_NUMBER", "text", 20, _ALL, "item"),
    LedesField(10, "EXP/FEE/INV_ADJ_TYPE", "type", 2, _ALL, "item"),
    LedesField(11, "LINE_ITEM_NUMBER_OF_UNITS", "number", 10, _ITEMS, "item"),
    LedesField(12, "LINE_ITEM_ADJUSTMENT_AMOUNT", "money", 10, "", "item"),
    LedesField(13, "LINE_ITEM_TOTAL", "money", 10, _ALL, "item"),
    LedesField(14, "LINE_ITEM_DATE", "date", 8, _ALL, "item"),
    LedesField(15, "LINE_ITEM_TASK_CODE", "text", 20, "", "item"),
    LedesField(16, "LINE_ITEM_EXPENSE_CODE", "text", 20, "", "item"),
    LedesField(17, "LINE_ITEM_ACTIVITY_CODE", "text", 20, "", "item"),
    LedesField(18, "TIMEKEEPER_ID", "text", 20, _FEES, "timekeeper"),
    LedesField(19, "LINE_ITEM_DESCRIPTION", "text", None, _FEES, "item"),
    LedesField(20, "LAW_FIRM_ID", "text", 20, _ALL, "invoice"),
    LedesField(21, "LINE_ITEM_UNIT_COST", "number", 10, _ITEMS, "item"),
    LedesField(22, "TIMEKEEPER_NAME", "text", 30, _FEES, "timekeeper"),
    LedesField(23, "TIMEKEEPER_CLASSIFICATION", "text", 10, _FEES, "timekeeper"),
    LedesField(24, "CLIENT_MATTER_ID", "text", 20, "", "matter"),
)
COLUMNS = tuple(field.column for field in FIELDS)
HEADING = "|".join(field.label for field in FIELDS) + END


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
    A text converted to ASCII.

    Parameters
    ----------
    text : str
        The text for the file, valid if `foreign` is empty.
    foreign : str
        Characters without a certain ASCII spelling.
    unsure : str
        Characters that some languages spell with two letters, such as ä.
    replaced : str
        Characters that a file can't have and that were replaced: `|`, `[]`, line breaks, control characters.
    """

    text: str
    foreign: str = ""
    unsure: str = ""
    replaced: str = ""


def is_plain(text: str) -> bool:
    """Tell whether a text can be written to a file without a change."""
    return text.isascii() and text.isprintable() and "|" not in text and "[]" not in text


def plain_text(text: str | None) -> PlainText:
    r"""
    Convert a text to ASCII on one line; None becomes an empty text.

    Examples
    --------
    >>> plain_text("Café – “Zürich”\nbrief").text
    'Cafe - "Zurich" brief'
    >>> plain_text("Review [] of 法").foreign, plain_text("A|B").text
    ('法', 'A/B')
    """
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
