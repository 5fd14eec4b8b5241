"""Check lines by the rules of the format, for files of billframes and of other software.

Every rule checks every line, so that all problems are found at once. A problem of a whole invoice, matter or person is
reported once.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from billframes.ebilling.amounts import ZERO, money_text, product
from billframes.ebilling.findings import OFTEN, REJECTED, Severity
from billframes.ebilling.format import FIELDS, TYPES, LedesField, is_plain

__all__ = ["Problem", "problems"]

Columns = Mapping[str, Sequence[str]]

LONG_DESCRIPTION = 1_024
_NUMBER = re.compile(r"-?(\d+)(?:\.(\d{1,4}))?")
# Many numbers of the format's smallest width. Wider numbers are checked one by one.
_NUMBERS = re.compile(r"(?:-?\d{1,10}(?:\.\d{1,4})?(?:\||$))*+")
_MANY = 100
_WIDEST = max(field.width or 0 for field in FIELDS if field.kind in {"number", "money"})
_DAY = re.compile(r"\d{8}")
_CODE = re.compile(r"[A-Z]\d{3}")
_HALF_CENT = Decimal("0.005")
_DESCRIPTION = 19
_CODES = (15, 16, 17)


@dataclass(slots=True)
class Problem:
    """A problem with a field of a line; `at` is the index of the line, from 0."""

    at: int
    field: int
    severity: Severity
    problem: str
    value: str = ""


def problems(
    columns: Columns, *, skip: Collection[int] = (), max_description: int | None = None, groups: Sequence[str]
) -> Iterator[Problem]:
    """
    Yield all problems of the lines of invoices.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        The 24 columns, with one text per line; an empty field is "".
    skip : collection of int
        Numbers of fields that are not checked, such as those that are unknown before a bill exists.
    max_description : int, optional
        The largest number of characters of a description that the portal accepts.
    groups : sequence of str
        The invoice of each line.
    """
    seen: set[tuple[object, ...]] = set()
    for problem in _all_problems(columns, skip, max_description, groups):
        key = (*_subject(problem, columns, groups), problem.field, problem.problem)
        if key not in seen:
            seen.add(key)
            yield problem


def _subject(problem: Problem, columns: Columns, groups: Sequence[str]) -> tuple[object, ...]:
    """Return the line, matter, person or invoice that a problem concerns; equal problems of it are reported once."""
    at, subject = problem.at, FIELDS[problem.field - 1].subject
    if subject == "item":
        return (at,)
    if subject == "matter":
        return groups[at], columns["law_firm_matter_id"][at], columns["client_matter_id"][at]
    if subject == "timekeeper":
        return groups[at], columns["timekeeper_id"][at], columns["timekeeper_name"][at]
    return (groups[at],)


def _all_problems(
    columns: Columns, skip: Collection[int], max_description: int | None, groups: Sequence[str]
) -> Iterator[Problem]:
    for field in FIELDS:
        if field.number not in skip:
            yield from _field_problems(field, columns)
    yield from _description_problems(columns["line_item_description"], max_description)
    yield from _arithmetic_problems(columns)
    yield from _timekeeper_problems(columns, groups)
    if 16 not in skip:
        for at, (kind, code) in enumerate(zip(columns[_column(10)], columns[_column(16)], strict=True)):
            if kind == "E" and not code:
                yield Problem(at, 16, OFTEN, "an expense has no code")
    yield from _invoice_problems(columns, skip, groups)


def _column(number: int) -> str:
    return FIELDS[number - 1].column


def _field_problems(field: LedesField, columns: Columns) -> Iterator[Problem]:
    values = columns[field.column]
    distinct = {*values} - {""}
    invalid = {}
    if not _are_all_valid(field, distinct):
        invalid = {value: found for value in distinct if (found := _problem_of(field, value))}
    if invalid:
        for at, value in enumerate(values):
            if value in invalid:
                severity, problem = invalid[value]
                yield Problem(at, field.number, severity, problem, "" if field.number == _DESCRIPTION else value)
    if field.needed and "" in values:
        for at, (value, kind) in enumerate(zip(values, columns[_column(10)], strict=True)):
            if not value and field.is_needed(kind if kind in TYPES else "IF"):
                yield Problem(at, field.number, REJECTED, "is empty")


def _are_all_valid(field: LedesField, values: Collection[str]) -> bool:
    """Check many values at once, which is fast. If this returns False, check each value by `_problem_of`."""
    if len(values) < _MANY or field.kind not in {"text", "number", "money"} or field.number in (*_CODES, 22):
        return False
    # Valid values have no pipes.
    text = "|".join(values)
    if text.count("|") != len(values) - 1 or not is_plain(text.replace("|", " ")) or "NULL" in text.upper():
        return False
    if field.kind == "text":
        return field.width is None or max(map(len, values)) <= field.width
    return bool(_NUMBERS.fullmatch(text)) and not (field.number == 11 and "-" in text)


def _problem_of(field: LedesField, value: str) -> tuple[Severity, str] | None:
    """Return the problem of a single value; None if it is valid."""
    if not is_plain(value):
        return REJECTED, "has a character that is not plain ASCII"
    if value.strip().upper() == "NULL":
        return REJECTED, "is the text NULL; an empty field has nothing between the pipes"
    if field.kind == "date":
        return (REJECTED, "is not a date as YYYYMMDD") if _date(value) is None else None
    if field.kind == "type":
        return (REJECTED, "is not one of F, E, IF and IE") if value not in TYPES else None
    if field.kind in {"number", "money"}:
        return _problem_of_number(field, value)
    if field.width and len(value) > field.width:
        return REJECTED, f"has {len(value)} characters; the format takes {field.width}"
    if field.number in _CODES and not _CODE.fullmatch(value):
        return OFTEN, "is not a UTBMS code: a letter and three digits"
    if field.number == 22 and "," not in value:
        return OFTEN, "is not written 'Last, First'"
    return None


def _problem_of_number(field: LedesField, value: str) -> tuple[Severity, str] | None:
    found = _NUMBER.fullmatch(value)
    if not found:
        return REJECTED, "is not a number of digits with one point and at most four decimals"
    if field.width and len(found[1].lstrip("0")) > field.width:
        return REJECTED, f"has more than {field.width} digits before the point"
    if field.number == 11 and value.startswith("-") and _decimal(value):
        return REJECTED, "is negative; units can't be"
    return None


def _decimal(value: str) -> Decimal | None:
    """Return a number; None if it is not one, or too wide for any field, so that it can't be calculated with."""
    found = _NUMBER.fullmatch(value)
    return Decimal(value) if found and len(found[1].lstrip("0")) <= _WIDEST else None


def _decimals(values: Sequence[str]) -> list[Decimal | None]:
    """Return the numbers; an empty text is 0, and a text that is not a number is None."""
    decimals = {value: _decimal(value) if value else ZERO for value in set(values)}
    return [decimals[value] for value in values]


@lru_cache(maxsize=65_536)
def _date(value: str) -> dt.date | None:
    if not _DAY.fullmatch(value):
        return None
    try:
        return dt.date(int(value[:4]), int(value[4:6]), int(value[6:]))
    except ValueError:
        return None


def _description_problems(descriptions: Sequence[str], longest: int | None) -> Iterator[Problem]:
    limit, severity = (longest, REJECTED) if longest else (LONG_DESCRIPTION, OFTEN)
    portals = "the client's portal takes" if longest else "some portals take"
    for at, text in enumerate(descriptions):
        if len(text) > limit:
            yield Problem(at, _DESCRIPTION, severity, f"has {len(text):,} characters; {portals} {limit:,}")


def _arithmetic_problems(columns: Columns) -> Iterator[Problem]:
    kinds, unit_texts, totals = (columns[_column(each)] for each in (10, 11, 13))
    numbers = zip(*(_decimals(columns[_column(each)]) for each in (11, 21, 12, 13)), strict=True)
    for at, (units, cost, adjustment, total) in enumerate(numbers):
        if units is None or adjustment is None or total is None or cost is None or not totals[at]:
            continue
        if abs(units * cost + adjustment - total) > _HALF_CENT:
            expected = money_text(product(units, cost) + adjustment)
            yield Problem(at, 13, REJECTED, "is not units × unit cost + adjustment", f"{totals[at]}, not {expected}")
        if not units and kinds[at] == "F":
            yield Problem(at, 11, OFTEN, "is 0", unit_texts[at])


def _timekeeper_problems(columns: Columns, groups: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for each id with two names or two classifications in an invoice."""
    names: dict[tuple[str, str], tuple[str, str]] = {}
    people = zip(groups, *(columns[_column(each)] for each in (18, 22, 23)), strict=True)
    for at, (group, id_, name, title) in enumerate(people):
        known = names.setdefault((group, id_), (name, title)) if id_ else (name, title)
        if known[0] != name:
            yield Problem(at, 18, REJECTED, "is the id of two people", f"{id_}: {known[0]}; {name}")
        elif known[1] != title:
            yield Problem(at, 23, OFTEN, "one person has two classifications", f"{id_}: {known[1]}; {title}")


def _invoice_problems(columns: Columns, skip: Collection[int], groups: Sequence[str]) -> Iterator[Problem]:
    lines: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        lines.setdefault(group, []).append(at)
    for places in lines.values():
        yield from _shared_field_problems(columns, places, skip)
        yield from _numbering_problems(columns, places)
        if 5 not in skip:
            yield from _total_problems(columns, places)
        if 6 not in skip and 7 not in skip:
            yield from _date_problems(columns, places)


def _shared_field_problems(columns: Columns, places: Sequence[int], skip: Collection[int]) -> Iterator[Problem]:
    for field in FIELDS:
        if field.subject == "invoice" and field.number not in skip:
            values = columns[field.column]
            first = values[places[0]]
            other = next((at for at in places if values[at] != first), None)
            if other is not None:
                different = f"{first}; {values[other]}"
                yield Problem(other, field.number, REJECTED, "differs between lines of one invoice", different)


def _numbering_problems(columns: Columns, places: Sequence[int]) -> Iterator[Problem]:
    numbers, seen = columns["line_item_number"], set()
    for at in places:
        if numbers[at] and numbers[at] in seen:
            yield Problem(at, 9, REJECTED, "is used twice in the invoice", numbers[at])
        seen.add(numbers[at])


def _total_problems(columns: Columns, places: Sequence[int]) -> Iterator[Problem]:
    totals = [columns["line_item_total"][at] for at in places]
    stated, numbers = _decimal(columns["invoice_total"][places[0]]), _decimals(totals)
    if stated is None or None in numbers or "" in totals:
        return
    added = sum(filter(None, numbers), ZERO)
    if added != stated:
        value = f"{columns['invoice_total'][places[0]]}, but the lines add up to {added}"
        yield Problem(places[0], 5, REJECTED, "is not the sum of the lines", value)


def _date_problems(columns: Columns, places: Sequence[int]) -> Iterator[Problem]:
    first, last = (_date(columns[name][places[0]]) for name in ("billing_start_date", "billing_end_date"))
    if first is None or last is None:
        return
    if first > last:
        yield Problem(places[0], 7, REJECTED, "is before the billing period's start", f"{last:%Y%m%d}")
    for at in places:
        day = _date(columns["line_item_date"][at])
        if day is not None and not first <= day <= last:
            yield Problem(at, 14, REJECTED, "is outside the billing period", columns["line_item_date"][at])
