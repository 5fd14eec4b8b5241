"""The format's rules, over the lines of a file: the same for files of billframes and of other software.

Every rule looks at every line; nothing stops at the first thing wrong. What concerns a whole invoice, matter or
person is reported once.
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
# The format's narrowest number; wider ones are looked at one by one.
_NUMBERS = re.compile(r"(?:-?\d{1,10}(?:\.\d{1,4})?(?:\||$))*+")
_MANY = 100
_DAY = re.compile(r"\d{8}")
_CODE = re.compile(r"[A-Z]\d{3}")
_HALF_CENT = Decimal("0.005")
_DESCRIPTION = 19
_CODES = (15, 16, 17)


@dataclass(slots=True)
class Problem:
    """What is wrong with a field of a line; `at` is the line's place, from 0."""

    at: int
    field: int
    severity: Severity
    problem: str
    value: str = ""


def problems(
    columns: Columns, *, skip: Collection[int] = (), max_description: int | None = None, groups: Sequence[str]
) -> Iterator[Problem]:
    """
    Yield everything that is wrong with the lines of invoices.

    Parameters
    ----------
    columns : mapping of str to sequence of str
        The 24 columns, with one text a line; what is empty is "".
    skip : collection of int
        Numbers of fields that are not known yet, as before a bill exists.
    max_description : int, optional
        Most characters of a description that the portal takes.
    groups : sequence of str
        What the lines belong to: each line's invoice.
    """
    seen: set[tuple[object, ...]] = set()
    for problem in _all(columns, skip, max_description, groups):
        key = (*_about(problem, columns, groups), problem.field, problem.problem)
        if key not in seen:
            seen.add(key)
            yield problem


def _about(problem: Problem, columns: Columns, groups: Sequence[str]) -> tuple[object, ...]:
    """Return what a problem concerns: problems of the same are one."""
    at, about = problem.at, FIELDS[problem.field - 1].about
    if about == "item":
        return (at,)
    if about == "matter":
        return groups[at], columns["law_firm_matter_id"][at], columns["client_matter_id"][at]
    if about == "timekeeper":
        return groups[at], columns["timekeeper_id"][at], columns["timekeeper_name"][at]
    return (groups[at],)


def _all(
    columns: Columns, skip: Collection[int], max_description: int | None, groups: Sequence[str]
) -> Iterator[Problem]:
    for field in FIELDS:
        if field.number not in skip:
            yield from _of_field(field, columns)
    yield from _of_descriptions(columns["line_item_description"], max_description)
    yield from _of_arithmetic(columns)
    yield from _of_timekeepers(columns, groups)
    if 16 not in skip:
        for at, (kind, code) in enumerate(zip(columns[_column(10)], columns[_column(16)], strict=True)):
            if kind == "E" and not code:
                yield Problem(at, 16, OFTEN, "an expense has no code")
    yield from _of_invoices(columns, skip, groups)


def _column(number: int) -> str:
    return FIELDS[number - 1].column


def _of_field(field: LedesField, columns: Columns) -> Iterator[Problem]:
    values = columns[field.column]
    different = {*values} - {""}
    wrong = {}
    if not _surely_right(field, different):
        wrong = {value: found for value in different if (found := _wrong(field, value))}
    if wrong:
        for at, value in enumerate(values):
            if value in wrong:
                severity, problem = wrong[value]
                yield Problem(at, field.number, severity, problem, "" if field.number == _DESCRIPTION else value)
    if field.needed and "" in values:
        for at, (value, kind) in enumerate(zip(values, columns[_column(10)], strict=True)):
            if not value and field.is_needed(kind if kind in TYPES else "IF"):
                yield Problem(at, field.number, REJECTED, "is empty")


def _surely_right(field: LedesField, values: Collection[str]) -> bool:
    """Tell of many values at once that nothing is wrong with any; False leaves each of them to `_wrong`."""
    if len(values) < _MANY or field.kind not in {"text", "number", "money"} or field.number in (*_CODES, 22):
        return False
    # Plain values have no pipes.
    text = "|".join(values)
    if text.count("|") != len(values) - 1 or not is_plain(text.replace("|", " ")) or "NULL" in text.upper():
        return False
    if field.kind == "text":
        return field.width is None or max(map(len, values)) <= field.width
    return bool(_NUMBERS.fullmatch(text)) and not (field.number == 11 and "-" in text)


def _wrong(field: LedesField, value: str) -> tuple[Severity, str] | None:
    """Say what is wrong with a value by itself."""
    if not is_plain(value):
        return REJECTED, "has a character that is not plain ASCII"
    if value.strip().upper() == "NULL":
        return REJECTED, "is the text NULL; what is empty has nothing between the pipes"
    if field.kind == "date":
        return (REJECTED, "is not a date as YYYYMMDD") if _date(value) is None else None
    if field.kind == "type":
        return (REJECTED, "is not one of F, E, IF and IE") if value not in TYPES else None
    if field.kind in {"number", "money"}:
        return _wrong_number(field, value)
    if field.width and len(value) > field.width:
        return REJECTED, f"has {len(value)} characters; the format takes {field.width}"
    if field.number in _CODES and not _CODE.fullmatch(value):
        return OFTEN, "is not a UTBMS code: a letter and three digits"
    if field.number == 22 and "," not in value:
        return OFTEN, "is not written 'Last, First'"
    return None


def _wrong_number(field: LedesField, value: str) -> tuple[Severity, str] | None:
    found = _NUMBER.fullmatch(value)
    if not found:
        return REJECTED, "is not a number of digits with one point and at most four decimals"
    if field.width and len(found[1].lstrip("0")) > field.width:
        return REJECTED, f"has more than {field.width} digits before the point"
    if field.number == 11 and value.startswith("-") and _decimal(value):
        return REJECTED, "is negative; units can't be"
    return None


def _decimal(value: str) -> Decimal | None:
    return Decimal(value) if _NUMBER.fullmatch(value) else None


def _decimals(values: Sequence[str]) -> list[Decimal | None]:
    """Return each number; what is empty is 0, what is not a number None."""
    known = {value: _decimal(value) if value else ZERO for value in set(values)}
    return [known[value] for value in values]


@lru_cache(maxsize=65_536)
def _date(value: str) -> dt.date | None:
    if not _DAY.fullmatch(value):
        return None
    try:
        return dt.date(int(value[:4]), int(value[4:6]), int(value[6:]))
    except ValueError:
        return None


def _of_descriptions(descriptions: Sequence[str], longest: int | None) -> Iterator[Problem]:
    limit, severity = (longest, REJECTED) if longest else (LONG_DESCRIPTION, OFTEN)
    whose = "the client's portal takes" if longest else "some portals take"
    for at, text in enumerate(descriptions):
        if len(text) > limit:
            yield Problem(at, _DESCRIPTION, severity, f"has {len(text):,} characters; {whose} {limit:,}")


def _of_arithmetic(columns: Columns) -> Iterator[Problem]:
    kinds, unit_texts, totals = (columns[_column(each)] for each in (10, 11, 13))
    numbers = zip(*(_decimals(columns[_column(each)]) for each in (11, 21, 12, 13)), strict=True)
    for at, (units, cost, adjustment, total) in enumerate(numbers):
        if units is None or adjustment is None or total is None or cost is None or not totals[at]:
            continue
        if abs(units * cost + adjustment - total) > _HALF_CENT:
            right = money_text(product(units, cost) + adjustment)
            yield Problem(at, 13, REJECTED, "is not units × unit cost + adjustment", f"{totals[at]}, not {right}")
        if not units and kinds[at] == "F":
            yield Problem(at, 11, OFTEN, "is 0", unit_texts[at])


def _of_timekeepers(columns: Columns, groups: Sequence[str]) -> Iterator[Problem]:
    """Find ids with two names or two classifications, in one invoice."""
    names: dict[tuple[str, str], tuple[str, str]] = {}
    people = zip(groups, *(columns[_column(each)] for each in (18, 22, 23)), strict=True)
    for at, (group, id_, name, title) in enumerate(people):
        known = names.setdefault((group, id_), (name, title)) if id_ else (name, title)
        if known[0] != name:
            yield Problem(at, 18, REJECTED, "is the id of two people", f"{id_}: {known[0]}; {name}")
        elif known[1] != title:
            yield Problem(at, 23, OFTEN, "one person has two classifications", f"{id_}: {known[1]}; {title}")


def _of_invoices(columns: Columns, skip: Collection[int], groups: Sequence[str]) -> Iterator[Problem]:
    lines: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        lines.setdefault(group, []).append(at)
    for places in lines.values():
        yield from _of_same_fields(columns, places, skip)
        yield from _of_numbering(columns, places)
        if 5 not in skip:
            yield from _of_total(columns, places)
        if 6 not in skip and 7 not in skip:
            yield from _of_dates(columns, places)


def _of_same_fields(columns: Columns, places: Sequence[int], skip: Collection[int]) -> Iterator[Problem]:
    for field in FIELDS:
        if field.about == "invoice" and field.number not in skip:
            values = columns[field.column]
            first = values[places[0]]
            other = next((at for at in places if values[at] != first), None)
            if other is not None:
                said = f"{first}; {values[other]}"
                yield Problem(other, field.number, REJECTED, "differs between lines of one invoice", said)


def _of_numbering(columns: Columns, places: Sequence[int]) -> Iterator[Problem]:
    numbers, seen = columns["line_item_number"], set()
    for at in places:
        if numbers[at] and numbers[at] in seen:
            yield Problem(at, 9, REJECTED, "is used twice in the invoice", numbers[at])
        seen.add(numbers[at])


def _of_total(columns: Columns, places: Sequence[int]) -> Iterator[Problem]:
    totals = [columns["line_item_total"][at] for at in places]
    stated, numbers = _decimal(columns["invoice_total"][places[0]]), _decimals(totals)
    if stated is None or None in numbers or "" in totals:
        return
    added = sum(filter(None, numbers), ZERO)
    if added != stated:
        said = f"{columns['invoice_total'][places[0]]}, but the lines add up to {added}"
        yield Problem(places[0], 5, REJECTED, "is not the sum of the lines", said)


def _of_dates(columns: Columns, places: Sequence[int]) -> Iterator[Problem]:
    first, last = (_date(columns[name][places[0]]) for name in ("billing_start_date", "billing_end_date"))
    if first is None or last is None:
        return
    if first > last:
        yield Problem(places[0], 7, REJECTED, "is before the billing period's start", f"{last:%Y%m%d}")
    for at in places:
        day = _date(columns["line_item_date"][at])
        if day is not None and not first <= day <= last:
            yield Problem(at, 14, REJECTED, "is outside the billing period", columns["line_item_date"][at])
