"""Check lines by the rules of their format, for files of billframes and of other software.

Every rule checks every line, so that all problems are found at once. A problem of a whole invoice, matter or person is
reported once. What is not certain to be refused by every portal is "often rejected". The lengths and the order of XML
are not judged, because no public description states them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from billframes.ebilling.amounts import ZERO, exact_sum, money_text, product, read_number, to_cents
from billframes.ebilling.code_rules import code_problems
from billframes.ebilling.findings import Problem
from billframes.ebilling.ledes_formats import FIELDS, OFTEN, REJECTED, TYPES, LedesField, LedesFormat, Severity
from billframes.ebilling.plain_text import is_plain

Columns = Mapping[str, Sequence[str]]

LONG_DESCRIPTION = 1_024
_NUMBER = re.compile(r"-?(?:(\d+)(?:\.(\d*))?|\.(\d+))")
_DAY = re.compile(r"\d{8}")
_HALF_CENT = Decimal("0.005")
_DESCRIPTION, _NAME, _UNITS = 19, 22, 11
_LAST_OF_1998B = 24
_SHAPES = {
    30: (re.compile("[A-Z]{3}"), "is not a currency code of ISO 4217, such as GBP"),
    33: (re.compile("[OT]"), "is neither O (own account) nor T (third party)"),
    40: (re.compile("[A-Za-z]{2,3}"), "is not a country code of two or three letters"),
    47: (re.compile("[A-Za-z]{2,3}"), "is not a country code of two or three letters"),
}


def problems(
    columns: Columns,
    form: LedesFormat,
    *,
    skip: Collection[int] = (),
    max_description: int | None = None,
    groups: Sequence[str],
    known_codes: Collection[str] = (),
    tax_codes: Collection[str] = (),
) -> Iterator[Problem]:
    """
    Yield all problems of the lines of invoices, whose `columns` have one text per line; an empty field is "".

    `skip` are numbers of fields that are not checked, `groups` the invoice of each line, `known_codes` the account's
    codes, whose shape is not judged, and `tax_codes` the client's own codes of taxes.
    """
    seen: set[tuple[object, ...]] = set()
    checks = _Checks(columns, form, skip, groups)
    found = (checks.all(max_description), code_problems(columns, skip, known_codes, tax_codes))
    for problem in (each for part in found for each in part):
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


class _Checks:
    def __init__(self, columns: Columns, form: LedesFormat, skip: Collection[int], groups: Sequence[str]) -> None:
        self._columns = columns
        self._form = form
        self._skip = skip
        self._groups = groups
        self._kinds = self._values(10)
        # XML has the rates of taxes, and their amounts are calculated.
        self._states_taxes = form.has_taxes and not form.is_xml
        self._numbers: dict[int, list[Decimal | None]] = {}
        self._taxes = self._decimals(49) if form.has_taxes else [ZERO] * len(groups)

    def _values(self, number: int) -> Sequence[str]:
        return self._columns[FIELDS[number - 1].column]

    def _decimals(self, number: int) -> list[Decimal | None]:
        """Return a field's numbers; an empty text is 0, and a text that is not a number is None."""
        if number not in self._numbers:
            texts = self._values(number)
            decimals = {text: read_number(text) if text else ZERO for text in {*texts}}
            self._numbers[number] = [decimals[text] for text in texts]
        return self._numbers[number]

    def all(self, max_description: int | None) -> Iterator[Problem]:
        for field in self._form.fields:
            if field.number not in self._skip:
                yield from self._field_problems(field)
        yield from _description_problems(self._values(_DESCRIPTION), max_description)
        yield from self._arithmetic_problems()
        if self._states_taxes:
            yield from self._tax_problems()
        yield from self._timekeeper_problems()
        yield from self._invoice_problems()

    def _field_problems(self, field: LedesField) -> Iterator[Problem]:
        values = self._values(field.number)
        distinct = {*values} - {""}
        invalid = {value: found for value in distinct if (found := _problem_of(field, value, self._form))}
        if invalid:
            for at, value in enumerate(values):
                if value in invalid:
                    severity, problem = invalid[value]
                    yield Problem(at, field.number, severity, problem, "" if field.number == _DESCRIPTION else value)
        lacking = self._severity_if_empty(field)
        if lacking and "" in values:
            for at in (at for at, value in enumerate(values) if not value):
                if self._is_needed(field, at):
                    yield Problem(at, field.number, lacking, "is empty")

    def _severity_if_empty(self, field: LedesField) -> Severity | None:
        if self._form.is_xml:
            # The total is calculated, and missing if the file does not say how.
            return OFTEN if field.needed and field.number <= _LAST_OF_1998B and field.number != 13 else None
        return field.lacking if field.needed or field.number == 52 else None

    def _is_needed(self, field: LedesField, at: int) -> bool:
        if field.number == 52:
            return bool(self._values(51)[at])
        if field.needed == "with tax":
            return bool(self._taxes[at])
        kind = self._kinds[at]
        if self._form.is_xml and field.number == 14:
            # Adjustments in XML have no date.
            return kind in {"F", "E"}
        return field.is_needed(kind if kind in TYPES else "IF")

    def _arithmetic_problems(self) -> Iterator[Problem]:
        unit_texts, totals = self._values(_UNITS), self._values(13)
        numbers = zip(*map(self._decimals, (_UNITS, 21, 12, 13)), self._taxes, strict=True)
        rule = "units × unit cost + adjustment" + (" + tax" if self._form.has_taxes else "")
        for at, (units, cost, adjustment, total, tax) in enumerate(numbers):
            if units is None or adjustment is None or total is None or cost is None or tax is None or not totals[at]:
                continue
            if abs(units * cost + adjustment + tax - total) > _HALF_CENT:
                expected = money_text(product(units, cost) + adjustment + tax)
                yield Problem(at, 13, REJECTED, f"is not {rule}", f"{totals[at]}, not {expected}")
            if not units and self._kinds[at] == "F":
                yield Problem(at, _UNITS, OFTEN, "is 0", unit_texts[at])

    def _tax_problems(self) -> Iterator[Problem]:
        texts = self._values(49)
        numbers = zip(*map(self._decimals, (_UNITS, 21, 12, 48)), self._taxes, strict=True)
        for at, (units, cost, adjustment, rate, tax) in enumerate(numbers):
            if units is None or cost is None or adjustment is None or tax is None or rate is None or not 0 <= rate <= 1:
                continue
            expected = (units * cost + adjustment) * rate
            if texts[at] and abs(expected - tax) > _HALF_CENT:
                value = f"{texts[at]}, not {money_text(to_cents(expected))}"
                yield Problem(at, 49, OFTEN, "is not (units × unit cost + adjustment) × tax rate", value)

    def _timekeeper_problems(self) -> Iterator[Problem]:
        """Yield a problem for each id with two names or two classifications in an invoice."""
        names: dict[tuple[str, str], tuple[str, str]] = {}
        people = zip(self._groups, *(self._values(each) for each in (18, _NAME, 23)), strict=True)
        for at, (group, id_, name, title) in enumerate(people):
            known = names.setdefault((group, id_), (name, title)) if id_ else (name, title)
            if known[0] != name:
                yield Problem(at, 18, REJECTED, "is the id of two people", f"{id_}: {known[0]}; {name}")
            elif known[1] != title:
                yield Problem(at, 23, OFTEN, "one person has two classifications", f"{id_}: {known[1]}; {title}")

    def _invoice_problems(self) -> Iterator[Problem]:
        for places in _places(self._groups).values():
            if not self._form.is_xml:
                yield from self._shared_field_problems(places)
                yield from self._numbering_problems(places)
            if 5 not in self._skip:
                yield from self._total_problems(places)
            if 6 not in self._skip and 7 not in self._skip:
                yield from self._date_problems(places)

    def _shared_field_problems(self, places: Sequence[int]) -> Iterator[Problem]:
        matters = self._values(4)
        of_matters = [[places[at] for at in each] for each in _places([matters[at] for at in places]).values()]
        for field in self._form.fields:
            if field.same_on and field.number not in self._skip:
                values = self._values(field.number)
                if values.count(values[0]) == len(values):
                    continue
                for same in [places] if field.same_on == "invoice" else of_matters:
                    first = values[same[0]]
                    other = next((at for at in same if values[at] != first), None)
                    if other is not None:
                        counts = "; the first value counts" if field.differs == OFTEN else ""
                        problem = f"differs between lines of one {field.same_on}{counts}"
                        different = f"{first}; {values[other]}"
                        yield Problem(other, field.number, field.differs, problem, different)

    def _numbering_problems(self, places: Sequence[int]) -> Iterator[Problem]:
        numbers, seen = self._values(9), set()
        for at in places:
            if numbers[at] and numbers[at] in seen:
                yield Problem(at, 9, REJECTED, "is used twice in the invoice", numbers[at])
            seen.add(numbers[at])

    def _total_problems(self, places: Sequence[int]) -> Iterator[Problem]:
        first = places[0]
        text, totals = self._values(5)[first], self._values(13)
        stated = read_number(text)
        if stated is None:
            return
        if stated < 0:
            yield Problem(first, 5, OFTEN, "is negative; some portals take credits only on their website", text)
        numbers = self._decimals(13)
        added = exact_sum(numbers[at] if totals[at] else None for at in places)
        if added is not None and not self._form.is_xml and to_cents(added) != to_cents(stated):
            yield Problem(first, 5, REJECTED, "is not the sum of the lines", f"{text}, but the lines add up to {added}")
        if self._states_taxes:
            yield from self._tax_total_problems(places, stated)

    def _tax_total_problems(self, places: Sequence[int], total: Decimal) -> Iterator[Problem]:
        tax_text, net_text = (self._values(each)[places[0]] for each in (28, 29))
        tax, net = read_number(tax_text), read_number(net_text)
        added = exact_sum(self._taxes[at] for at in places)
        if tax is not None and added is not None and to_cents(added) != to_cents(tax):
            value = f"{tax_text}, but the lines have {added}"
            yield Problem(places[0], 28, OFTEN, "is not the sum of the lines' tax", value)
        if tax is not None and net is not None and to_cents(total - tax) != to_cents(net):
            yield Problem(places[0], 29, OFTEN, "is not the total less tax", f"{net_text}, not {total - tax}")

    def _date_problems(self, places: Sequence[int]) -> Iterator[Problem]:
        first, last = (_date(self._values(number)[places[0]]) for number in (6, 7))
        if first is None or last is None:
            return
        if first > last:
            yield Problem(places[0], 7, REJECTED, "is before the billing period's start", f"{last:%Y%m%d}")
        days = self._values(14)
        for at in places:
            day = _date(days[at])
            if day is not None and not first <= day <= last:
                yield Problem(at, 14, REJECTED, "is outside the billing period", days[at])


def _places(groups: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for at, group in enumerate(groups):
        places.setdefault(group, []).append(at)
    return places


def _problem_of(field: LedesField, value: str, form: LedesFormat) -> tuple[Severity, str] | None:
    if not is_plain(value) and form.not_ascii:
        severity = REJECTED if value.isascii() else form.not_ascii
        return severity, "has a character that is not plain ASCII"
    if value.strip().upper() == "NULL":
        return REJECTED, "is the text NULL; an empty field has nothing between the pipes"
    if field.kind == "date":
        return (REJECTED, "is not a date as YYYYMMDD") if _date(value) is None else None
    if field.kind == "type":
        return (REJECTED, "is not one of F, E, IF and IE") if value not in TYPES else None
    if field.kind != "text":
        return _problem_of_number(field, value, form)
    return None if form.is_xml else _problem_of_text(field, value, form)


def _problem_of_text(field: LedesField, value: str, form: LedesFormat) -> tuple[Severity, str] | None:
    shape, problem = _SHAPES.get(field.number, (None, ""))
    if shape is not None and not shape.fullmatch(value):
        return OFTEN, problem
    if field.width and len(value) > field.width:
        return field.wide, f"has {len(value)} characters; the format takes {field.width}"
    if field.number == _NAME and "," not in value and not form.has_taxes:
        return OFTEN, "is not written 'Last, First'"
    return None


def _problem_of_number(field: LedesField, value: str, form: LedesFormat) -> tuple[Severity, str] | None:
    found, (most, words) = _NUMBER.fullmatch(value), (10, "ten") if field.kind == "rate" else (4, "four")
    if not found or len(found[2] or found[3] or "") > most:
        return REJECTED, f"is not a number of digits with one point and at most {words} decimals"
    if field.kind == "rate":
        return _problem_of_rate(value)
    if field.width and len((found[1] or "").lstrip("0")) > field.width and not form.is_xml:
        return field.wide, f"has more than {field.width} digits before the point"
    if field.number == _UNITS and value.startswith("-") and read_number(value):
        return OFTEN, "is negative; some portals refuse negative units"
    return None


def _problem_of_rate(value: str) -> tuple[Severity, str] | None:
    rate = read_number(value)
    if rate is None or rate > 1:
        example = f": {value}% is written {(rate / 100).normalize():f}" if rate is not None and rate <= 100 else ""
        return REJECTED, f"is a percentage, not a rate from 0 to 1{example}"
    return (OFTEN, "is below 0") if rate < 0 else None


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
