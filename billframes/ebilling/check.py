"""Find all reasons for which a portal would reject invoices, unbilled work or files.

Lines are made as for a file, and checked by the format's rules (`rules`). Codes are checked as by `code_check`. Other
findings need the firm's own data: drafts, hidden rates, missing records.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from billframes._shared.format import count_of
from billframes._shared.limits import LEDES_BYTES, LEDES_FINDINGS
from billframes._shared.names import first_few
from billframes.book import Book
from billframes.client import Client
from billframes.config.firm import FirmSettings
from billframes.ebilling.bill_lines import Bill, add_item_lines, line_without_amount
from billframes.ebilling.codes import CODE_FIELDS, code_findings, needs_code, read_codes
from billframes.ebilling.findings import INVOICE_COLUMNS, Finding, Problem, findings_frame, guideline_findings
from billframes.ebilling.invoice_amount import adjust_to_invoice
from billframes.ebilling.ledes_formats import FIELDS, NOTE, OFTEN
from billframes.ebilling.line_taxes import LineTaxes
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.reading import check_file
from billframes.ebilling.rules import problems
from billframes.ebilling.source import BillSource, Row
from billframes.ebilling.written_fields import Texts
from billframes.errors import ParameterError
from billframes.loading.progress import Progress
from billframes.periods import DateLike, Period, resolve

Frames = Mapping[str, Any]
# The fields with the invoice's total, and with a line's units, adjustment, total and unit cost.
_TOTALS, _AMOUNTS = frozenset({5, 28, 29}), frozenset({11, 12, 13, 21, 48, 49})

# Fields that are unknown for unbilled work: the bill's date, number, totals and period.
_OF_BILLS = (1, 2, 5, 6, 7, 28, 29)
_FIXES = {
    2: "Give the invoice a number of at most 20 characters, which no other invoice has.",
    3: "Give the client a reference of at most 20 characters, or client_id in the profile.",
    4: "Give the matter a reference of at most 20 characters, or matter_ids in the profile.",
    6: "Correct billing_start in the profile.",
    11: "Leave the entry off the bill if the client's portal takes no lines without units.",
    14: "Correct billing_start and billing_end in the profile.",
    15: "Choose a task code.",
    16: "Add an expense code.",
    17: "Choose an activity code.",
    18: "Give the person initials, or an id with timekeeper_ids in the profile.",
    19: "Shorten the description.",
    22: "Give the name as the client has it: timekeeper_names in the profile.",
    23: "Add the title of the person or role to classifications in the profile.",
    24: "Correct the client's number of the matter.",
    26: "Correct tax_id of client_address in the profile.",
    27: "Give the matter a name of at most 255 characters.",
    **dict.fromkeys(range(34, 41), "Add it to the table firm in the profile."),
    **dict.fromkeys(range(41, 48), "Add it to the table client_address in the profile."),
    49: "The invoice's tax was rounded in another way. Ask whether the client's portal accepts the difference.",
    50: "Give the type with the tax in the profile.",
}


@dataclass(slots=True)
class CheckedBills:
    """Bills, their lines as texts, and the findings."""

    bills: list[Bill]
    texts: Texts
    findings: list[Finding] = field(default_factory=list)

    def frame(self, source: BillSource) -> pd.DataFrame:
        """Return the findings with the names of matters and responsible lawyers."""
        for each in self.findings:
            place = each.place or {}
            matter = source.matters.get(place.get("matter_id") or "", {})
            names = {"matter_name": matter.get("name")}
            names |= {name: matter.get(name) for name in ("responsible_id", "responsible_name")}
            each.place = {**names, **place}
        return findings_frame(self.findings, INVOICE_COLUMNS)


def ledes_check(
    given: Book | Frames | str | bytes | os.PathLike[str],
    invoice: str | int | Iterable[str | int] | None = None,
    *,
    profile: LedesProfile | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    client: Client | None = None,
    progress: bool | Progress | None = None,
    settings: FirmSettings | None = None,
    guidelines: pd.DataFrame | None = None,
    notes: bool = False,
    max_bytes: int = LEDES_BYTES,
    max_findings: int = LEDES_FINDINGS,
) -> pd.DataFrame:
    """
    Find all reasons for which a client's portal would reject invoices.

    Without `invoice`, work that is not on a final invoice is checked as if it were billed today, so that codes can be
    corrected early. Only matters with LEDES billing are checked. The API's lists have no codes of expenses and fixed
    fees. Those on matters that require codes are read one by one, and remembered.

    Parameters
    ----------
    given : Book, mapping of str to frame, path, str or bytes
        A book; frames by name: `time_entries`, `expenses`, `fixed_fees`, `invoices`, `matters`, `users` and `codes`,
        with all items of the invoices; or a LEDES file of any software, as `read_ledes` takes it.
    invoice : str, int or list of str, optional
        Numbers or ids of invoices.
    profile : LedesProfile, optional
        The client's requirements. Without a profile they are not checked, and invoices are as by a profile of defaults:
        one below its items, or below 0, is rejected.
    start, end : str or date, optional
        First and last day of the unbilled work, inclusive, or a whole period as `start`. By default the book's period.
    client : Client, optional
        The client to read codes with, if frames without codes are given.
    progress : bool or callable, optional
        Progress of reading codes, as for the loaders.
    settings : FirmSettings, optional
        The firm's settings, whose `taxes` count if the profile has none; by default those of the book, or of `client`.
    guidelines : DataFrame, optional
        The result of `Guidelines.check` for the same work. Its findings on the items checked here are added as "often
        rejected", except those that only ask for a review.
    notes : bool, default False
        Whether to add what needs no correction: unusual codes, lines of tax, sums that can't be checked.
    max_bytes : int, default 100_000_000
        The most bytes that a file may have: about 500,000 lines.
    max_findings : int, default 100_000
        The number of findings after which the check of a file stops; the last finding then says so.

    Returns
    -------
    DataFrame
        One row per finding: `invoice_number` and `item_id` (missing if it concerns a whole invoice, matter or person),
        `field` (number and name), `severity` ("rejected", "often rejected" or "note"), `problem`, `value` and `fix`.
        For the firm's own data also `item`, `date`, `matter_id`, `matter_name`, `responsible_id` and
        `responsible_name`; for a file, `line`.

    Raises
    ------
    ParameterError
        An invoice is unknown, a frame is missing, a period or a file can't be read, or a file is larger than
        `max_bytes`.
    LedesFormatError
        A file is of an unknown format, damaged, or defines entities.
    MissingColumnError
        A frame lacks a column.

    Examples
    --------
    >>> findings = bf.ebilling.ledes_check(bf.book("2026-10"))
    >>> findings["field"].unique().tolist()
    ['15 LINE_ITEM_TASK_CODE', '23 TIMEKEEPER_CLASSIFICATION']
    """
    if isinstance(given, str | bytes | os.PathLike):
        if any(each is not None for each in (invoice, start, end, guidelines)):
            raise ParameterError("For a file, leave out invoice=, start=, end= and guidelines=.")
        return check_file(given, profile, notes=notes, max_bytes=max_bytes, max_findings=max_findings)
    source = BillSource(given, client, settings)
    if invoice is not None:
        checked = check_invoices(source, invoice, profile, progress=progress)
    else:
        period = source.period if start is None and end is None else resolve(start, end)
        checked = _check_unbilled(source, period, profile, progress)
    if guidelines is not None:
        items = {item.id for bill in checked.bills for item in bill.items}
        numbers = {bill.number for bill in checked.bills if bill.number is not None}
        coded = {each.item_id for each in checked.findings if each.field in CODE_FIELDS.values()}
        checked.findings += guideline_findings(guidelines, items, numbers, coded)
    checked.findings = [each for each in checked.findings if notes or each.severity != NOTE]
    return checked.frame(source)


def check_invoices(
    source: BillSource,
    invoice: str | int | Iterable[str | int],
    profile: LedesProfile | None,
    *,
    progress: bool | Progress | None = None,
) -> CheckedBills:
    """Make the lines of invoices and check them."""
    rows = {row["invoice_id"]: row for row in source.find_invoices(invoice)}
    if not rows:
        raise ParameterError("invoice= names no invoice; give numbers or ids.")
    bills = {id_: Bill(id_, row, []) for id_, row in rows.items()}
    for item in source.items_of(rows):
        bills[str(item.invoice_id)].items.append(item)
    items = [item for bill in bills.values() for item in bill.items]
    read_codes(items, source.client, progress=progress, store=source.code_store)
    numbers = Counter(row["invoice_number"] for row in source.invoices)
    findings: list[Finding] = []
    terms = profile or LedesProfile(law_firm_id="-")
    for bill in bills.values():
        taxes = LineTaxes(terms.tax, source.settings, rows[bill.key], source.matters)  # type: ignore[arg-type]
        findings += add_item_lines(bill, terms)
        findings += adjust_to_invoice(bill, terms, source.incomplete_loads(rows[bill.key]), taxes)
        findings += _invoice_findings(bill, rows[bill.key], source, terms, numbers)
    if source.is_narrow and any(bill.above_items for bill in bills.values()):
        # The missing items may be on matters of other clients.
        source.is_narrow = False
        return check_invoices(source, list(rows), profile, progress=progress)
    return _check_lines(list(bills.values()), findings, source, profile, terms)


def _check_unbilled(
    source: BillSource, period: Period, profile: LedesProfile | None, progress: bool | Progress | None
) -> CheckedBills:
    """Make the lines of each matter's work that is not on a final invoice, and check them."""
    terms = profile or LedesProfile(law_firm_id="-")
    enabled = {id_: row for id_, row in source.matters.items() if row["ledes_enabled"] is True}
    bills = {id_: Bill(id_, None, []) for id_, row in enabled.items() if _is_client(row, terms.client)}
    for item in source.unbilled_items(period, list(bills)):
        bills[str(item.matter_id)].items.append(item)
    items = [item for bill in bills.values() for item in bill.items]
    required = (item for item in items if needs_code(item, source, terms))
    read_codes(required, source.client, progress=progress, store=source.code_store)
    findings = [each for bill in bills.values() for each in add_item_lines(bill, terms)]
    return _check_lines(
        [bill for bill in bills.values() if bill.lines or bill.unpriced], findings, source, profile, terms
    )


def _check_lines(
    bills: list[Bill], findings: list[Finding], source: BillSource, profile: LedesProfile | None, terms: LedesProfile
) -> CheckedBills:
    """Write the lines of bills as texts, and add the findings about them. An item has one finding for each field."""
    texts = Texts(source, terms)
    for bill in bills:
        bill.lines += [line_without_amount(item) for item in bill.unpriced]
        texts.add(bill)
    of_bills = any(bill.invoice is not None for bill in bills)
    skip = {*(() if of_bills else (*_OF_BILLS, 16)), *(() if profile else (20,))}
    groups = [bill.key for bill, _ in texts.lines]
    found = problems(
        texts.columns,
        terms.form,
        skip=skip,
        max_description=terms.max_description,
        groups=groups,
        known_codes={code for code in source.codes["code"] if code is not None},
        tax_codes=[*terms.tax_codes, *([terms.tax_lines] if terms.tax_lines else [])],
    )
    of_rules = [_finding_of(each, texts, source) for each in found if not _needs_amounts(each, texts)]
    of_codes = list(code_findings(bills, texts.lines, source, terms, of_bills=of_bills))
    reported = {(each.item_id, each.field) for each in (*findings, *of_codes)}
    findings = [*findings, *texts.findings, *of_codes, *_rate_notes(bills)]
    findings += [each for each in of_rules if each.item_id is None or (each.item_id, each.field) not in reported]
    return CheckedBills(bills, texts, findings)


def _rate_notes(bills: Iterable[Bill]) -> Iterator[Finding]:
    """Note fees that are written below their rate, because their hours have more than four decimals."""
    for bill in bills:
        for line in bill.lines:
            if line.below_rate and line.item is not None:
                item, problem = line.item, "is below the rate, because the hours have more than four decimals"
                number = bill.number or item.invoice_number
                fix = "Nothing needs to be corrected: units × unit cost is the amount."
                yield Finding(21, NOTE, problem, line.below_rate, fix, number, item.id, place=item.place)


def _needs_amounts(problem: Problem, texts: Texts) -> bool:
    """Tell whether a rule compares amounts that are unknown: of an item, or of the whole bill."""
    bill, line = texts.lines[problem.at]
    return bool(bill.unpriced) and (
        problem.field in _TOTALS or (line.item in bill.unpriced and problem.field in _AMOUNTS)
    )


def _finding_of(problem: Problem, texts: Texts, source: BillSource) -> Finding:
    """Turn a rule's finding of a line into one of the item, matter or person behind it."""
    bill, line = texts.lines[problem.at]
    subject, item = FIELDS[problem.field - 1].subject, line.item
    place: Row = {"matter_id": line.matter_id} if subject != "invoice" or bill.invoice is None else {}
    value, item_id = problem.value, None
    if subject == "item" and item is not None:
        item_id, place = item.id, item.place
    if subject == "timekeeper" and item is not None:
        user = source.users.get(item.user_id or "")
        person = "no user" if item.user_id is None else "not among the users"
        value = value or (f"{user['first_name']} {user['last_name']}" if user else person)
        if item.kind == "fixed_fee":
            item_id = item.id
    number = bill.number or (item.invoice_number if item_id and item else None)
    fix = _FIXES.get(problem.field, "Correct it in the billing system.")
    fix = "Nothing needs to be corrected." if problem.severity == NOTE else fix
    return Finding(problem.field, problem.severity, problem.problem, value, fix, number, item_id, place=place)


def _invoice_findings(
    bill: Bill, row: Row, source: BillSource, profile: LedesProfile, numbers: Mapping[str, int]
) -> Iterator[Finding]:
    """Yield the findings about an invoice that need the firm's own data."""
    number = bill.number
    state = str(row["invoice_state"]).casefold()
    if state not in {"final", "approved"}:
        yield bill.rejection(2, f"the invoice's state is {state}", "", "Make the invoice final first.")
    if numbers[row["invoice_number"]] > 1:
        yield bill.rejection(2, "several invoices have this number", str(number), _FIXES[2])
    yield from _international_findings(bill, source, profile)
    client = {"client_id": row["client_id"], **{name: row.get(name) for name in ("client_name", "client_reference")}}
    name = _name_of_client(client)
    if not _is_client(client, profile.client):
        problem = f"the invoice is for {name}, and the profile is for {profile.client}"
        yield bill.rejection(3, problem, str(profile.client), "Pass the profile of the invoice's client.")
    others = [item for item in bill.items if item.client_id is not None and item.client_id != row["client_id"]]
    if others:
        names = {matter["client_id"]: matter.get("client_name") for matter in source.matters.values()}
        rows = ({"client_id": item.client_id, "client_name": names.get(item.client_id)} for item in others)
        problem = f"the invoice is for {name}, and has items for {first_few(sorted({*map(_name_of_client, rows)}))}"
        fix = "Correct the invoice: its items are on matters of other clients."
        yield bill.rejection(3, problem, count_of(len(others), "item"), fix)
    for matter_id in dict.fromkeys(line.matter_id for line in bill.lines):
        if source.matters.get(matter_id or "", {"ledes_enabled": True})["ledes_enabled"] is not True:
            fix, place = "Turn LEDES billing on for the matter.", {"matter_id": matter_id}
            yield Finding(4, OFTEN, "LEDES billing is not on for the matter", "", fix, number, place=place)


def _international_findings(bill: Bill, source: BillSource, profile: LedesProfile) -> Iterator[Finding]:
    if not profile.form.has_taxes:
        return
    currency = source.settings.currency if source.settings is not None else ""
    if currency and currency != profile.currency:
        problem = f"the profile's currency is {profile.currency}, and that of the firm's settings is {currency}"
        fix = "Correct currency in the profile. Amounts are never converted."
        yield bill.rejection(30, problem, str(profile.currency), fix)
    if any(line.item is not None and line.item.kind == "fixed_fee" for line in bill.lines):
        problem, fix = "98BI is meant for time and expenses, and the invoice has fixed fees", "Ask the client first."
        yield Finding(10, NOTE, problem, "", fix, bill.number)


def _name_of_client(row: Row) -> str:
    return str(next(row[each] for each in ("client_name", "client_reference", "client_id") if row.get(each)))


def _is_client(row: Row, wanted: str | None) -> bool:
    """Tell whether a record belongs to the profile's client, which is a reference, an id or a name."""
    names = (row.get("client_id"), row.get("client_reference"), row.get("client_name"))
    return wanted is None or wanted.casefold() in {str(each).casefold() for each in names if each is not None}
