"""The 24 texts of each line, made plain ASCII, with a finding if that is not certain."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from billframes.ebilling.amounts import ZERO, money_text, number_text
from billframes.ebilling.findings import OFTEN, REJECTED, Finding
from billframes.ebilling.format import COLUMNS, PlainText, plain_text
from billframes.ebilling.lines import Bill, Line
from billframes.ebilling.profile import LedesProfile, named
from billframes.ebilling.source import Item, Row, Source
from billframes.errors import MissingColumnError

__all__ = ["Texts"]

_WIDTH = 20
_NOBODY = ("", "", "")


class Texts:
    """
    Writes lines as texts, one column a field.

    Parameters
    ----------
    source : Source
    profile : LedesProfile

    Raises
    ------
    MissingColumnError
        The profile names a custom field that there is not.
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
        """Write a bill's lines."""
        head = self._head(bill)
        for at, line in enumerate(bill.lines, start=1):
            client_id, matter_id, client_matter_id = self._matter(line.matter_id or "")
            self._texts += (*head[:2], client_id, matter_id, *head[2:], str(at), line.type)
            self._texts += (number_text(line.units), money_text(line.adjustment), money_text(line.total), line.day)
            self._texts += (*self._rest(bill, line), client_matter_id)
            self.lines.append((bill, line))
        self._report_texts(bill)

    @property
    def columns(self) -> dict[str, list[str]]:
        """The texts by column."""
        return {name: self._texts[at :: len(COLUMNS)] for at, name in enumerate(COLUMNS)}

    def _head(self, bill: Bill) -> tuple[str, ...]:
        """Return the invoice's own fields up to 8, without those of client and matter."""
        invoice, profile = bill.invoice, self._profile
        if invoice is None:
            return ("", "", "", "", "", profile.invoice_description)
        days = [line.day for line in bill.lines if line.day] or [invoice["day"]]
        start, end = (f"{day:%Y%m%d}" if day else "" for day in (profile.billing_start, profile.billing_end))
        total = sum((line.total for line in bill.lines), ZERO)
        dates = (start or min(days), end or max(days))
        invoice_number = str(invoice["invoice_number"] or "")
        return (invoice["day"], invoice_number, money_text(total), *dates, profile.invoice_description)

    def _rest(self, bill: Bill, line: Line) -> tuple[str, ...]:
        """Return codes, timekeeper, description, firm and unit cost: the fields from 15 to 23."""
        item = line.item
        cost = number_text(line.unit_cost)
        if item is None:
            words = "Adjustment of the invoice"
            return ("", "", "", "", words, self._profile.law_firm_id, cost, "", "")
        codes = (item.task_code or "", item.expense_code or "", item.activity_code or "")
        id_, name, title = self._person(item.user_id) if line.type == "F" else _NOBODY
        description = plain_text(item.description)
        if description.foreign or description.replaced:
            self._report_description(bill, item, description)
        return (*codes, id_, description.text, self._profile.law_firm_id, cost, name, title)

    @functools.cache  # noqa: B019 - lives as long as one check
    def _person(self, user_id: str | None) -> tuple[str, str, str]:
        """Return a timekeeper's id, name and classification; empty what is not known."""
        user = self._source.users.get(user_id or "")
        if user is None:
            return _NOBODY
        profile, email = self._profile, user.get("email")
        ids = profile.timekeeper_ids
        if isinstance(ids, str):
            id_ = _text(user.get(ids))
        else:
            id_ = _text(user["initials"]) if ids is None else named(ids, user["user_id"], email)
        name = named(profile.timekeeper_names, user["user_id"], email)
        name = name or plain_text(_last_first(user)).text
        return plain_text(id_).text, name, profile.classification(user["user_id"], email, user["role"])

    @functools.cache  # noqa: B019 - lives as long as one check
    def _matter(self, matter_id: str) -> tuple[str, str, str]:
        """Return the firm's codes of the client and the matter, and the client's of the matter."""
        matter, profile = self._source.matters.get(matter_id, {}), self._profile
        reference = _text(matter.get("reference"))
        client = _usable(_text(matter.get("client_reference")), profile.client_id or "")
        own = _usable(reference, named(profile.matter_ids, matter_id, reference))
        column = profile.client_matter_id
        theirs = _text(matter.get(column)) if column else ""
        return client, own, theirs or named(profile.client_matter_ids, matter_id, reference)

    def _report_description(self, bill: Bill, item: Item, text: PlainText) -> None:
        if text.replaced:
            self.changed.append((bill, item, text.replaced))
        if text.foreign:
            self.findings.append(
                Finding(
                    19,
                    REJECTED,
                    "has letters without a certain ASCII spelling",
                    text.foreign,
                    "Write the description in Latin letters.",
                    bill.number or item.invoice_number,
                    item.id,
                    where={"item": item.kind, "date": item.date, "matter_id": item.matter_id},
                )
            )

    def _report_texts(self, bill: Bill) -> None:
        """Report names and references that are not plain ASCII by themselves, once a bill."""
        fees = (line.item.user_id for line in bill.lines if line.type == "F" and line.item)
        for user_id in dict.fromkeys(fees):
            self.findings.extend(self._of_name(bill, self._source.users.get(user_id or "")))
        for matter_id in dict.fromkeys(line.matter_id for line in bill.lines):
            self._of_matter(bill, matter_id)

    def _of_name(self, bill: Bill, user: Row | None) -> Iterator[Finding]:
        if user is None or named(self._profile.timekeeper_names, user["user_id"], user.get("email")):
            return
        name, fix = _last_first(user), "Give the name as the client has it: timekeeper_names in the profile."
        text = plain_text(name)
        if text.foreign:
            yield Finding(22, REJECTED, "has letters without a certain ASCII spelling", name, fix, bill.number)
        elif text.unsure:
            said = f"{name}: written {text.text}"
            yield Finding(22, OFTEN, f"{text.unsure} can be spelled in two ways", said, fix, bill.number)

    def _of_matter(self, bill: Bill, matter_id: str | None) -> None:
        matter = self._source.matters.get(matter_id or "")
        where = {"matter_id": matter_id}
        if matter is None:
            fix = "Load all matters."
            found = Finding(4, REJECTED, "the matter is not among the matters", str(matter_id), fix, bill.number)
            self.findings.append(found)
        elif self._lacks_client_number(matter_id or ""):
            fix = f"Fill in {self._profile.client_matter_id or 'the number'}, or client_matter_ids in the profile."
            found = Finding(24, REJECTED, "the client's number of the matter is missing", "", fix, bill.number)
            found.where = where
            self.findings.append(found)

    def _lacks_client_number(self, matter_id: str) -> bool:
        wanted = self._profile.client_matter_id or self._profile.client_matter_ids
        return bool(wanted) and not self._matter(matter_id)[2]


def _usable(reference: str, other: str) -> str:
    """Return a reference that fits the field, else what the profile says; the reference if that says nothing."""
    return reference if reference and (len(reference) <= _WIDTH or not other) else other


def _last_first(user: Row) -> str:
    names: Sequence[str] = [_text(user["last_name"]), _text(user["first_name"])]
    return ", ".join(filter(None, names))


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()
