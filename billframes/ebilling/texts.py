"""Write the 24 fields of each line as ASCII texts, and report texts whose spelling is not certain."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from billframes.ebilling.amounts import ZERO, money_text, number_text
from billframes.ebilling.findings import OFTEN, REJECTED, Finding
from billframes.ebilling.format import COLUMNS, PlainText, plain_text
from billframes.ebilling.lines import Bill, Line
from billframes.ebilling.profile import LedesProfile, look_up
from billframes.ebilling.source import Item, Row, Source
from billframes.errors import MissingColumnError

__all__ = ["Texts"]

_WIDTH = 20
_NO_PERSON = ("", "", "")


class Texts:
    """
    The lines of bills as texts, with one column per field.

    Parameters
    ----------
    source : Source
    profile : LedesProfile

    Raises
    ------
    MissingColumnError
        The profile names a custom field that does not exist.
    """

    def __init__(self, source: Source, profile: LedesProfile) -> None:
        self._source = source
        self._profile = profile
        # One flat list: a tuple a line costs the garbage collector seconds on large bills.
        self._texts: list[str] = []
        self.lines: list[tuple[Bill, Line]] = []
        self.findings: list[Finding] = []
        self.changed: list[tuple[Bill, Item, str]] = []
        for name, column in (("matters", profile.client_matter_id), ("users", profile.timekeeper_ids)):
            if isinstance(column, str) and column not in source.names(name):
                customs = [each for each in source.names(name) if each.startswith("cf_")]
                raise MissingColumnError(
                    f"The profile names the field {column!r} of {name}, which has {', '.join(customs) or 'no'}."
                )

    def add(self, bill: Bill) -> None:
        """Add the lines of a bill."""
        head = self._head(bill)
        for number, line in enumerate(bill.lines, start=1):
            client_id, matter_id, client_matter_id = self._matter(line.matter_id or "")
            self._texts += (*head[:2], client_id, matter_id, *head[2:], str(number), line.type)
            self._texts += (number_text(line.units), money_text(line.adjustment), money_text(line.total), line.day)
            self._texts += (*self._details(bill, line), client_matter_id)
            self.lines.append((bill, line))
        self._report_names(bill)

    @property
    def columns(self) -> dict[str, list[str]]:
        """The texts by column."""
        return {name: self._texts[place :: len(COLUMNS)] for place, name in enumerate(COLUMNS)}

    def _head(self, bill: Bill) -> tuple[str, ...]:
        """Return the fields of the invoice: 1, 2 and 5 to 8."""
        invoice, profile = bill.invoice, self._profile
        if invoice is None:
            return ("", "", "", "", "", profile.invoice_description)
        days = [line.day for line in bill.lines if line.day] or [invoice["day"]]
        start, end = (f"{day:%Y%m%d}" if day else "" for day in (profile.billing_start, profile.billing_end))
        total = sum((line.total for line in bill.lines), ZERO)
        dates = (start or min(days), end or max(days))
        invoice_number = str(invoice["invoice_number"] or "")
        return (invoice["day"], invoice_number, money_text(total), *dates, profile.invoice_description)

    def _details(self, bill: Bill, line: Line) -> tuple[str, ...]:
        """Return codes, timekeeper, description, firm and unit cost: the fields 15 to 23."""
        item = line.item
        cost = number_text(line.unit_cost)
        if item is None:
            description = "Adjustment of the invoice"
            return ("", "", "", "", description, self._profile.law_firm_id, cost, "", "")
        codes = (item.task_code or "", item.expense_code or "", item.activity_code or "")
        id_, name, title = self._person(item.user_id) if line.type == "F" else _NO_PERSON
        text = plain_text(item.description)
        if text.foreign or text.replaced:
            self._report_description(bill, item, text)
        return (*codes, id_, text.text, self._profile.law_firm_id, cost, name, title)

    @functools.cache  # noqa: B019 - lives as long as one check
    def _person(self, user_id: str | None) -> tuple[str, str, str]:
        """Return a timekeeper's id, name and classification, or empty texts."""
        user = self._source.users.get(user_id or "")
        if user is None:
            return _NO_PERSON
        profile, email = self._profile, user.get("email")
        ids = profile.timekeeper_ids
        if isinstance(ids, str):
            id_ = _text(user.get(ids))
        else:
            id_ = _text(user["initials"]) if ids is None else look_up(ids, user["user_id"], email)
        name = look_up(profile.timekeeper_names, user["user_id"], email)
        name = name or plain_text(_last_first(user)).text
        return plain_text(id_).text, name, profile.classification(user["user_id"], email, user["role"])

    @functools.cache  # noqa: B019 - lives as long as one check
    def _matter(self, matter_id: str) -> tuple[str, str, str]:
        """Return the firm's codes of the client and of the matter, and the client's own number of the matter."""
        matter, profile = self._source.matters.get(matter_id, {}), self._profile
        reference = _text(matter.get("reference"))
        client = _usable(_text(matter.get("client_reference")), profile.client_id or "")
        code = _usable(reference, look_up(profile.matter_ids, matter_id, reference))
        column = profile.client_matter_id
        client_number = _text(matter.get(column)) if column else ""
        return client, code, client_number or look_up(profile.client_matter_ids, matter_id, reference)

    def _report_description(self, bill: Bill, item: Item, text: PlainText) -> None:
        if text.replaced:
            self.changed.append((bill, item, text.replaced))
        if text.foreign:
            problem, fix = "has letters without a certain ASCII spelling", "Write the description in Latin letters."
            self.findings.append(bill.rejection(19, problem, text.foreign, fix, item))

    def _report_names(self, bill: Bill) -> None:
        """Report the names and matter numbers of a bill that are missing or have no certain spelling, each once."""
        fees = (line.item.user_id for line in bill.lines if line.type == "F" and line.item)
        for user_id in dict.fromkeys(fees):
            self.findings.extend(self._name_findings(bill, self._source.users.get(user_id or "")))
        for matter_id in dict.fromkeys(line.matter_id for line in bill.lines):
            self.findings.extend(self._matter_findings(bill, matter_id))

    def _name_findings(self, bill: Bill, user: Row | None) -> Iterator[Finding]:
        if user is None or look_up(self._profile.timekeeper_names, user["user_id"], user.get("email")):
            return
        name, fix = _last_first(user), "Give the name as the client has it: timekeeper_names in the profile."
        text = plain_text(name)
        if text.foreign:
            yield bill.rejection(22, "has letters without a certain ASCII spelling", name, fix)
        elif text.unsure:
            value = f"{name}: written {text.text}"
            yield Finding(22, OFTEN, f"{text.unsure} can be spelled in two ways", value, fix, bill.number)

    def _matter_findings(self, bill: Bill, matter_id: str | None) -> Iterator[Finding]:
        if matter_id is None or matter_id not in self._source.matters:
            problem = "the matter is not among the matters"
            yield bill.rejection(4, problem, str(matter_id), "Load all matters.")
        elif self._lacks_client_number(matter_id):
            problem = "the client's number of the matter is missing"
            fix = f"Fill in {self._profile.client_matter_id or 'the number'}, or client_matter_ids in the profile."
            yield Finding(24, REJECTED, problem, "", fix, bill.number, place={"matter_id": matter_id})

    def _lacks_client_number(self, matter_id: str) -> bool:
        needed = self._profile.client_matter_id or self._profile.client_matter_ids
        return bool(needed) and not self._matter(matter_id)[2]


def _usable(reference: str, code: str) -> str:
    """Return the reference if it fits the field, else the profile's code; without a code, the reference."""
    return reference if reference and (len(reference) <= _WIDTH or not code) else code


def _last_first(user: Row) -> str:
    names: Sequence[str] = [_text(user["last_name"]), _text(user["first_name"])]
    return ", ".join(filter(None, names))


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()
