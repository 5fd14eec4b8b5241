"""Write the fields of each line as ASCII texts, and report texts whose spelling is not certain."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from billframes.ebilling.amounts import money_text, number_text, rate_text
from billframes.ebilling.bill_lines import Bill, Line
from billframes.ebilling.findings import Finding
from billframes.ebilling.ledes_formats import OFTEN, REJECTED
from billframes.ebilling.plain_text import plain_text
from billframes.ebilling.profile import LedesProfile, look_up
from billframes.ebilling.source import BillItem, BillSource, Row
from billframes.errors import MissingColumnError

_Texts = dict[str, str]
_WIDTH = 20
_COLUMNS = {"region": "stateorregion"}
_COUNTRY = re.compile("[A-Z]{2,3}")


class Texts:
    """
    The lines of bills as texts, with one column per field of the profile's format.

    Raise `MissingColumnError` if the profile names a custom field that does not exist.
    """

    def __init__(self, source: BillSource, profile: LedesProfile) -> None:
        self._source = source
        self._profile = profile
        self._has_taxes = profile.form.has_taxes
        self.columns: dict[str, list[str]] = {name: [] for name in profile.form.columns}
        self.lines: list[tuple[Bill, Line]] = []
        self.findings: list[Finding] = []
        self.changed: list[tuple[Bill, BillItem, str]] = []
        for name, column in (("matters", profile.client_matter_id), ("users", profile.timekeeper_ids)):
            if isinstance(column, str) and column not in source.names(name):
                customs = [each for each in source.names(name) if each.startswith("cf_")]
                raise MissingColumnError(
                    f"The profile names the field {column!r} of {name}, which has {', '.join(customs) or 'no'}."
                )

    def add(self, bill: Bill) -> None:
        """Add the lines of a bill."""
        lines = bill.lines
        head, of_lines = self._head(bill), self._line_texts(bill)
        matters = [self._matter(line.matter_id or "") for line in lines]
        people = [self._person(line.item.user_id) if line.type == "F" and line.item else {} for line in lines]
        # Whole columns at once, because a dict for each line would take seconds on large bills.
        for field in self._profile.form.fields:
            texts, name = self.columns[field.column], field.column
            if field.subject == "item":
                texts += of_lines[name]
            elif field.subject == "timekeeper":
                texts += [each.get(name, "") for each in people]
            elif field.subject == "matter" or name.startswith("client_"):
                texts += [each.get(name, "") for each in matters]
            else:
                texts += [head.get(name, "")] * len(lines)
        self.lines += [(bill, line) for line in lines]
        self._report_names(bill)

    def _head(self, bill: Bill) -> _Texts:
        invoice, profile = bill.invoice, self._profile
        head = {"invoice_description": profile.invoice_description, "law_firm_id": profile.law_firm_id}
        head["invoice_currency"] = profile.currency or ""
        head |= {f"law_firm_{_COLUMNS.get(key, key)}": text for key, text in profile.firm.items()}
        if invoice is None:
            return head
        days = [line.day for line in bill.lines if line.day] or [invoice["day"]]
        start, end = (f"{day:%Y%m%d}" if day else "" for day in (profile.billing_start, profile.billing_end))
        return head | {
            "invoice_date": invoice["day"],
            "invoice_number": str(invoice["invoice_number"] or ""),
            "invoice_total": money_text(bill.net + bill.tax),
            "billing_start_date": start or min(days),
            "billing_end_date": end or max(days),
            "invoice_tax_total": money_text(bill.tax),
            "invoice_net_total": money_text(bill.net),
        }

    def _line_texts(self, bill: Bill) -> dict[str, list[str]]:
        lines = bill.lines
        items = [line.item for line in lines]
        texts = {
            "line_item_number": [str(nth) for nth in range(1, len(lines) + 1)],
            "exp_fee_inv_adj_type": [line.type for line in lines],
            "line_item_number_of_units": [number_text(line.units) for line in lines],
            "line_item_adjustment_amount": [money_text(line.adjustment) for line in lines],
            "line_item_total": [money_text(line.total + line.tax) for line in lines],
            "line_item_date": [line.day for line in lines],
            "line_item_unit_cost": [number_text(line.unit_cost) for line in lines],
            "line_item_description": [self._description(bill, line) for line in lines],
            "line_item_tax_rate": [rate_text(line.tax_rate) for line in lines],
            "line_item_tax_total": [money_text(line.tax) for line in lines],
            "line_item_tax_type": [line.tax_type for line in lines],
        }
        for name in ("task_code", "activity_code"):
            texts[f"line_item_{name}"] = [getattr(item, name) or "" if item else "" for item in items]
        codes = [line.item.expense_code if line.item else line.code for line in lines]
        return texts | {"line_item_expense_code": [code or "" for code in codes]}

    def _description(self, bill: Bill, line: Line) -> str:
        if line.item is None:
            return line.text
        text = plain_text(line.item.description)
        if text.replaced:
            self.changed.append((bill, line.item, text.replaced))
        if text.foreign:
            problem, fix = "has letters without a certain ASCII spelling", "Write the description in Latin letters."
            self.findings.append(bill.rejection(19, problem, text.foreign, fix, line.item))
        return text.text

    @functools.cache  # noqa: B019 - lives as long as one check
    def _person(self, user_id: str | None) -> _Texts:
        user = self._source.users.get(user_id or "")
        if user is None:
            return {}
        profile, email = self._profile, user.get("email")
        ids = profile.timekeeper_ids
        if isinstance(ids, str):
            id_ = _text(user.get(ids))
        else:
            id_ = _text(user["initials"]) if ids is None else look_up(ids, user["user_id"], email)
        given = look_up(profile.timekeeper_names, user["user_id"], email)
        last, _, first = given.partition(",") if given else (_text(user["last_name"]), "", _text(user["first_name"]))
        return {
            "timekeeper_id": plain_text(id_).text,
            "timekeeper_name": given or plain_text(_last_first(user)).text,
            "timekeeper_last_name": plain_text(last.strip()).text,
            "timekeeper_first_name": plain_text(first.strip()).text,
            "timekeeper_classification": profile.classification(user["user_id"], email, user["role"]),
        }

    @functools.cache  # noqa: B019 - lives as long as one check
    def _matter(self, matter_id: str) -> _Texts:
        """Return the firm's codes of the client and of the matter, the client's numbers, and the client's address."""
        matter, profile = self._source.matters.get(matter_id, {}), self._profile
        reference = _text(matter.get("reference"))
        column = profile.client_matter_id
        client_number = _text(matter.get(column)) if column else ""
        texts = {
            "client_id": _usable(_text(matter.get("client_reference")), profile.client_id or ""),
            "law_firm_matter_id": _usable(reference, look_up(profile.matter_ids, matter_id, reference)),
            "client_matter_id": client_number or look_up(profile.client_matter_ids, matter_id, reference),
        }
        if self._has_taxes:
            texts["matter_name"] = plain_text(_text(matter.get("name"))).text
            texts |= {"po_number": look_up(profile.po_numbers, matter_id, reference)}
            texts |= {"account_type": profile.account_type or "", **self._client(matter)}
        return texts

    def _client(self, matter: Row) -> _Texts:
        """Return the client's name and address, from the profile, else from the clients frame."""
        client = self._source.clients.get(matter.get("client_id") or "", {})
        street = [*_text(client.get("contact_street")).splitlines(), "", ""]
        country = _text(client.get("contact_country")).upper()
        address = {
            "name": _text(client.get("name")) or _text(matter.get("client_name")),
            "address_1": street[0],
            "address_2": " ".join(street[1:]).strip(),
            "city": _text(client.get("contact_city")),
            "region": _text(client.get("contact_state")),
            "postcode": _text(client.get("contact_zip")),
            # Some write the country's name, which the field can't hold.
            "country": country if _COUNTRY.fullmatch(country) else "",
            **self._profile.client_address,
        }
        return {f"client_{_COLUMNS.get(key, key)}": plain_text(text).text for key, text in address.items()}

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
        yield from self._foreign_name_findings(bill, matter_id)

    def _foreign_name_findings(self, bill: Bill, matter_id: str | None) -> Iterator[Finding]:
        if not self._has_taxes:
            return
        matter, fix = self._source.matters.get(matter_id or "", {}), "Write the name in Latin letters."
        client = "" if self._profile.client_address.get("name") else _text(matter.get("client_name"))
        for number, name in ((27, _text(matter.get("name"))), (41, client)):
            if plain_text(name).foreign:
                problem, place = "has letters without a certain ASCII spelling", {"matter_id": matter_id}
                yield Finding(number, OFTEN, problem, name, fix, bill.number, place=place)

    def _lacks_client_number(self, matter_id: str) -> bool:
        needed = self._profile.client_matter_id or self._profile.client_matter_ids
        return bool(needed) and not self._matter(matter_id)["client_matter_id"]


def _usable(reference: str, code: str) -> str:
    """Return the reference if it fits the field, else the profile's code; without a code, the reference."""
    return reference if reference and (len(reference) <= _WIDTH or not code) else code


def _last_first(user: Row) -> str:
    names: Sequence[str] = [_text(user["last_name"]), _text(user["first_name"])]
    return ", ".join(filter(None, names))


def _text(value: Any) -> str:
    return "" if value is None or value != value else str(value).strip()
