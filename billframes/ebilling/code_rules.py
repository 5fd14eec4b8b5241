"""Check codes by their shape and field, and recognize lines of tax.

Task, activity and expense codes have different shapes, so a code in the wrong field is recognized without a list of
codes. Lists differ by client and change, so whether a code exists in its family is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from billframes.ebilling.findings import Problem
from billframes.ebilling.ledes_formats import NOTE, OFTEN, REJECTED

# Litigation, project, bankruptcy and counselling; patent, trade mark and government relations; Jackson's codes (JA to
# JM); and the numbers of 2023 for patents.
_SHAPES = {
    "task": re.compile(r"[LCBP]\d{3}|(?:PA|TR|GR)\d{3}|J[A-M]\d\d|\d{3}(?:\.\d{1,2})?"),
    "activity": re.compile(r"A1\d\d"),
    "expense": re.compile(r"E1\d\d|X\d{3}"),
}
_OF_FIELD = {15: "task", 16: "expense", 17: "activity"}
# Shapes that are certainly of another field. Numbers could be codes of a client.
_WRONG = {
    15: {"activity": re.compile(r"A1\d\d"), "expense": re.compile(r"E1\d\d")},
    16: {"activity": re.compile(r"A1\d\d"), "task": re.compile(r"[LCBP]\d{3}")},
    17: {"task": re.compile(r"[LCBP]\d{3}|(?:PA|TR)\d{3}"), "expense": re.compile(r"E1\d\d")},
}
_TAX_CODE = "E124"
_TAX_WORDS = re.compile(r"\b(?:VAT|GST|HST|PST|QST|Value Added Tax)\b", re.IGNORECASE)
_ARTICLES = {"task": "a task code", "activity": "an activity code", "expense": "an expense code"}


def tax_lines(columns: Mapping[str, Sequence[str]], tax_codes: Collection[str] = ()) -> list[int]:
    """Return the lines of tax: those with the expense code E124 or a code of `tax_codes`, whose text names a tax."""
    tasks, expenses = (columns[f"line_item_{name}_code"] for name in ("task", "expense"))
    own = {*tax_codes}
    if (own | {_TAX_CODE}).isdisjoint((*tasks, *expenses)):
        return []
    lines = zip(columns["exp_fee_inv_adj_type"], tasks, expenses, columns["line_item_description"], strict=True)
    return [at for at, (kind, *codes, text) in enumerate(lines) if _is_tax(kind, codes, text, own)]


def _is_tax(kind: str, codes: Sequence[str], text: str, own: set[str]) -> bool:
    is_coded = (kind == "E" and codes[1] == _TAX_CODE) or (kind in {"F", "E"} and not own.isdisjoint(codes))
    return is_coded and _TAX_WORDS.search(text) is not None


def code_problems(
    columns: Mapping[str, Sequence[str]],
    skip: Collection[int],
    known: Collection[str],
    tax_codes: Collection[str],
) -> Iterator[Problem]:
    """
    Yield the problems of codes. Codes that are `known`, and those of taxes, have none.

    A code of no known shape is a note, because clients use codes of their own.
    """
    kinds, totals = columns["exp_fee_inv_adj_type"], columns["line_item_total"]
    taxes = {*tax_lines(columns, tax_codes)}
    for at in taxes:
        yield Problem(at, 16 if kinds[at] == "E" else 15, NOTE, "the line is tax, not work or an expense", totals[at])
    for number, family in _OF_FIELD.items():
        codes = columns[f"line_item_{family}_code"]
        exempt = {*known, *tax_codes}
        for at, (kind, code) in enumerate(zip(kinds, codes, strict=True)):
            if code and code not in exempt and kind in {"F", "E"} and at not in taxes:
                yield from _problems_of(at, number, kind, code)
            elif not code and number == 16 and kind == "E" and 16 not in skip:
                yield Problem(at, 16, OFTEN, "an expense has no code")


def _problems_of(at: int, number: int, kind: str, code: str) -> Iterator[Problem]:
    if kind == ("F" if number == 16 else "E") and number != 15:
        item = "a fee" if kind == "F" else "an expense"
        yield Problem(at, number, OFTEN, f"{item} has {_ARTICLES[_OF_FIELD[number]]}", code)
        return
    own = _OF_FIELD[number]
    for other, shape in _WRONG[number].items():
        if shape.fullmatch(code):
            yield Problem(at, number, REJECTED, f"is {_ARTICLES[other]}, not {_ARTICLES[own]}", code)
            return
    if not _SHAPES[own].fullmatch(code):
        problem = f"does not have the form of {_ARTICLES[own]} of UTBMS; the client may have codes of its own"
        yield Problem(at, number, NOTE, problem, code)
