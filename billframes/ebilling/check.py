"""Find what a portal would reject: in invoices, in work that is not billed yet, and in files.

Every finding there is, at once. The lines are made as they would be written, the format's rules look at them (`rules`),
the codes are checked as `code_check` does, and what only the firm's own data can tell comes beside it: drafts, hidden
rates, records that are not at hand.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from billframes.analysis.code_check import code_check
from billframes.client import Client
from billframes.ebilling.codes import read_codes
from billframes.ebilling.findings import INVOICE_COLUMNS, OFTEN, REJECTED, Finding, findings_frame
from billframes.ebilling.format import FIELDS
from billframes.ebilling.lines import ABOVE_ITEMS, Bill, Line, fill, fit_to_invoice
from billframes.ebilling.profile import LedesProfile
from billframes.ebilling.reading import check_file
from billframes.ebilling.rules import Problem, problems
from billframes.ebilling.source import KINDS, OPEN_STATES, Item, Row, Source
from billframes.ebilling.texts import Texts
from billframes.errors import ParameterError
from billframes.loading.progress import Progress
from billframes.periods import DateLike, resolve

if TYPE_CHECKING:
    from billframes.book import Book

__all__ = ["Examined", "examine_invoices", "ledes_check"]

Frames = Mapping[str, Any]

# What is not known before a bill exists: its date, number, total and period.
_OF_BILLS = (1, 2, 5, 6, 7)
_CODE_FIELDS = {"task_code": 15, "expense_code": 16, "activity_code": 17}
_REQUIRED = {
    "task": "ledes_task_code_required",
    "activity": "ledes_activity_code_required",
    "expense": "ledes_expense_code_required",
}
_NEEDS = {"time_entry": ("task", "activity"), "fixed_fee": ("task", "activity"), "expense": ("expense",)}
_FIXES = {
    2: "Give the invoice a number of at most 20 characters, which no other invoice has.",
    3: "Give the client a reference of at most 20 characters, or client_id in the profile.",
    4: "Give the matter a reference of at most 20 characters, or matter_ids in the profile.",
    6: "Correct billing_start in the profile.",
    11: "Leave the entry off the bill if the client's portal takes no lines without units.",
    14: "Correct billing_start and billing_end in the profile.",
    16: "Add an expense code.",
    18: "Give the person initials, or an id with timekeeper_ids in the profile.",
    19: "Shorten the description.",
    22: "Give the name as the client has it: timekeeper_names in the profile.",
    23: "Give the person or the role a title: classifications in the profile.",
    24: "Correct the client's number of the matter.",
}
_BILLED = " It is on an invoice that is not final: take it off first, because billed items can't be changed."


@dataclass(slots=True)
class Examined:
    """The lines of bills as texts, and what was found."""

    bills: list[Bill]
    texts: Texts
    findings: list[Finding] = field(default_factory=list)

    def frame(self, source: Source) -> pd.DataFrame:
        """Return the findings with the names of matters and responsible lawyers."""
        for each in self.findings:
            where = each.where or {}
            matter = source.matters.get(where.get("matter_id") or "", {})
            names = {"matter_name": matter.get("name")}
            names |= {name: matter.get(name) for name in ("responsible_id", "responsible_name")}
            each.where = {**names, **where}
        return findings_frame(self.findings, INVOICE_COLUMNS)


def ledes_check(
    given: Book | Frames | str | os.PathLike[str],
    invoice: str | Iterable[str] | None = None,
    *,
    profile: LedesProfile | None = None,
    start: DateLike | None = None,
    end: DateLike | None = None,
    client: Client | None = None,
    progress: bool | Progress | None = None,
) -> pd.DataFrame:
    """
    Find what a client's portal would reject, before it does: everything at once.

    Without `invoice`, work that is not on a final invoice is checked as if it were billed today, so that codes are
    mended while the work is fresh; only matters with LEDES billing are looked at. The API's lists have no codes of
    expenses and fixed fees: those on matters that require them are read one by one, and remembered.

    Parameters
    ----------
    given : Book, mapping of str to frame, or path
        A book; frames by name: `time_entries`, `expenses`, `fixed_fees`, `invoices`, `matters`, `users` and `codes`,
        with all items of the invoices; or the path of a LEDES 1998B file of any software.
    invoice : str or list of str, optional
        Numbers or ids of invoices.
    profile : LedesProfile, optional
        How the client takes its bills. Without one, what only a profile can say is not checked.
    start, end : str or date, optional
        First and last day of the unbilled work, inclusive, or a whole period as `start`; a book's own if not given.
    client : Client, optional
        What to read codes with, if frames are given that have none.
    progress : bool or callable, optional
        As for the loaders, of the codes that are read.

    Returns
    -------
    DataFrame
        A row a finding: `invoice_number` and `item_id` (missing if it concerns a whole invoice, matter or person),
        `field` (number and name), `severity` ("rejected" or "often rejected"), `problem`, `value` and `fix`. Of the
        firm's own data also `item`, `date`, `matter_id`, `matter_name`, `responsible_id` and `responsible_name`; of a
        file, `line`.

    Raises
    ------
    ParameterError
        An invoice is unknown, a frame is missing, a period or a file can't be read.
    MissingColumnError
        A frame lacks a column.

    Examples
    --------
    >>> findings = bf.ledes_check(bf.book("2026-10"))
    >>> findings["field"].unique().tolist()
    ['15 LINE_ITEM_TASK_CODE', '23 TIMEKEEPER_CLASSIFICATION']
    """
    if isinstance(given, str | os.PathLike):
        if invoice is not None or profile is not None or start is not None or end is not None:
            raise ParameterError("A file is checked as it is: leave invoice=, profile=, start= and end= out.")
        return check_file(given)
    source = Source(given, client)
    if invoice is not None:
        return examine_invoices(source, invoice, profile, progress=progress).frame(source)
    period = source.period if start is None and end is None else resolve(start, end)
    return _unbilled(source, period, profile, progress).frame(source)


def examine_invoices(
    source: Source,
    invoice: str | Iterable[str],
    profile: LedesProfile | None,
    *,
    progress: bool | Progress | None = None,
) -> Examined:
    """Make the lines of invoices, and find what is wrong with them."""
    wanted = [invoice] if isinstance(invoice, str) else list(invoice)
    rows = {row["invoice_id"]: row for row in (source.find(str(each)) for each in wanted)}
    if not rows:
        raise ParameterError("invoice= names no invoice; give numbers or ids.")
    bills = {id_: Bill(id_, row, []) for id_, row in rows.items()}
    for item in source.items_of(rows):
        bills[str(item.invoice_id)].items.append(item)
    items = [item for bill in bills.values() for item in bill.items]
    read_codes(items, source.client, progress=progress, known=source.remembered)
    numbers = Counter(row["invoice_number"] for row in source.invoices)
    findings: list[Finding] = []
    terms = profile or LedesProfile(law_firm_id="-", adjustments="invoice")
    for bill in bills.values():
        findings += fill(bill, terms)
        findings += fit_to_invoice(bill, terms, source.cut_loads(rows[bill.key]))
        findings += _of_invoice(bill, rows[bill.key], source, terms, numbers)
    if source.is_narrow and any(each.problem == ABOVE_ITEMS for each in findings):
        # The missing items may be on matters of other clients.
        source.is_narrow = False
        return examine_invoices(source, wanted, profile, progress=progress)
    return _examined(list(bills.values()), findings, source, profile, terms)


def _unbilled(source: Source, period: Any, profile: LedesProfile | None, progress: bool | Progress | None) -> Examined:
    """Make the lines of what is not on a final invoice, by matter, and find what is wrong with them."""
    terms = profile or LedesProfile(law_firm_id="-")
    matters = {
        id_: row
        for id_, row in source.matters.items()
        if row["ledes_enabled"] is True and _is_client(row, terms.client)
    }
    bills = {id_: Bill(id_, None, []) for id_ in matters}
    for item in source.unbilled_items(period, list(matters)):
        bills[str(item.matter_id)].items.append(item)
    items = [item for bill in bills.values() for item in bill.items]
    required = (item for item in items if _required(item, source, terms))
    read_codes(required, source.client, progress=progress, known=source.remembered)
    findings = [each for bill in bills.values() for each in fill(bill, terms)]
    return _examined([bill for bill in bills.values() if bill.lines], findings, source, profile, terms)


def _examined(
    bills: list[Bill], findings: list[Finding], source: Source, profile: LedesProfile | None, terms: LedesProfile
) -> Examined:
    texts = Texts(source, terms)
    for bill in bills:
        texts.add(bill)
    of_bills = any(bill.invoice is not None for bill in bills)
    skip = {*(() if of_bills else (*_OF_BILLS, 16)), *(() if profile else (20,))}
    groups = [bill.key for bill, _ in texts.lines]
    found = problems(texts.columns, skip=skip, max_description=terms.max_description, groups=groups)
    told = {(each.item_id, each.field) for each in findings}
    ruled = [_placed(each, texts, source) for each in found]
    coded = list(_of_codes(texts.lines, source, terms, of_bills=of_bills))
    told |= {(each.item_id, each.field) for each in coded}
    findings = [*findings, *texts.findings, *coded]
    findings += [each for each in ruled if each.item_id is None or (each.item_id, each.field) not in told]
    return Examined(bills, texts, findings)


def _placed(problem: Problem, texts: Texts, source: Source) -> Finding:
    """Turn a rule's finding of a line into one of the item, matter or person behind it."""
    bill, line = texts.lines[problem.at]
    about, item = FIELDS[problem.field - 1].about, line.item
    where: dict[str, Any] = {"matter_id": line.matter_id} if about != "invoice" or bill.invoice is None else {}
    value, item_id = problem.value, None
    if about == "item" and item is not None:
        item_id = item.id
        where |= {"item": item.kind, "date": item.date}
    if about == "timekeeper" and item is not None:
        user = source.users.get(item.user_id or "")
        person = "of nobody" if item.user_id is None else "who is not among the users"
        value = value or (f"{user['first_name']} {user['last_name']}" if user else person)
        if item.kind == "fixed_fee":
            item_id = item.id
    number = bill.number or (item.invoice_number if item_id and item else None)
    fix = _FIXES.get(problem.field, "Correct it in the billing system.")
    return Finding(problem.field, problem.severity, problem.problem, value, fix, number, item_id, where=where)


def _of_invoice(
    bill: Bill, row: Row, source: Source, profile: LedesProfile, numbers: Mapping[str, int]
) -> Iterator[Finding]:
    """Find what only the firm's own data tell of an invoice."""
    number = bill.number
    state = str(row["invoice_state"]).casefold()
    if state not in {"final", "approved"}:
        yield Finding(2, REJECTED, f"the invoice's state is {state}", str(number), "Make it final first.", number)
    if numbers[row["invoice_number"]] > 1:
        yield Finding(2, REJECTED, "several invoices have this number", str(number), _FIXES[2], number)
    client = {"client_id": row["client_id"], **{name: row.get(name) for name in ("client_name", "client_reference")}}
    if not _is_client(client, profile.client):
        yield Finding(3, REJECTED, "the profile is for another client", str(profile.client), "Pass its own.", number)
    others = [item for item in bill.items if item.client_id is not None and item.client_id != row["client_id"]]
    if others:
        fix = "Correct the invoice: its items are on matters of other clients."
        yield Finding(3, REJECTED, "items are of another client", f"{len(others)} items", fix, number)
    for matter_id in dict.fromkeys(line.matter_id for line in bill.lines):
        if source.matters.get(matter_id or "", {"ledes_enabled": True})["ledes_enabled"] is not True:
            fix, where = "Turn LEDES billing on for the matter.", {"matter_id": matter_id}
            yield Finding(4, OFTEN, "LEDES billing is not on for the matter", "", fix, number, where=where)


def _is_client(row: Row, wanted: str | None) -> bool:
    """Tell whether a record is of the client that a profile names by reference, id or name."""
    names = (row.get("client_id"), row.get("client_reference"), row.get("client_name"))
    return wanted is None or wanted.casefold() in {str(each).casefold() for each in names if each is not None}


def _required(item: Item, source: Source, profile: LedesProfile) -> list[str]:
    """Return the kinds of code that an item must have."""
    matter = source.matters.get(item.matter_id or "", {})
    on = matter.get("ledes_enabled") is True
    return [
        kind for kind in _NEEDS[item.kind] if kind in set(profile.require) or (on and matter[_REQUIRED[kind]] is True)
    ]


def _of_codes(
    lines: Sequence[tuple[Bill, Line]], source: Source, profile: LedesProfile, *, of_bills: bool
) -> Iterator[Finding]:
    """Check codes as `code_check` does, and report those that could not be read."""
    items = {line.item.id: (bill, line.item) for bill, line in lines if line.item is not None}
    for bill, item in items.values():
        if not item.coded and (of_bills or _required(item, source, profile)):
            number = 16 if item.kind == "expense" else 15
            fix = "Pass client=, or a book: codes of expenses and fixed fees are read one by one."
            yield _of_item(bill, item, number, "its code is not known: the API's lists have none", "", fix)
    checked = [item for _, item in items.values() if item.coded and item.matter_id in source.matters]
    if not checked:
        return
    tables = {kind: _table(kind, [item for item in checked if item.kind == kind]) for kind in KINDS}
    found = code_check(
        tables["time_entry"],
        _rules_of({item.matter_id for item in checked}, source, profile),
        _codes(source),
        expenses=tables["expense"],
        fixed_fees=tables["fixed_fee"],
    )
    for row in found.to_pylist():
        bill, item = items[row["item_id"]]
        fix = "Add the code." if row["problem"] == "missing" else "Choose a code from the matter's code sets."
        yield _of_item(bill, item, _CODE_FIELDS[row["field"]], row["problem"], row["code"] or "", fix)


def _of_item(bill: Bill, item: Item, number: int, problem: str, value: str, fix: str) -> Finding:
    open_bill = bill.invoice is None or bill.invoice["invoice_state"] in OPEN_STATES
    fix += _BILLED if item.invoice_id is not None and open_bill else ""
    where = {"item": item.kind, "date": item.date, "matter_id": item.matter_id}
    return Finding(number, REJECTED, problem, value, fix, bill.number or item.invoice_number, item.id, where=where)


def _table(kind: str, items: Sequence[Item]) -> pa.Table:
    codes = ("expense_code",) if kind == "expense" else ("activity_code", "task_code")
    columns = {f"{kind}_id": [item.id for item in items], "matter_id": [item.matter_id for item in items]}
    columns |= {name: [getattr(item, name) for item in items] for name in codes}
    arrays = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    return pa.table({**arrays, "date": pa.array([item.date for item in items], pa.timestamp("us"))})


def _rules_of(matter_ids: Iterable[str | None], source: Source, profile: LedesProfile) -> pa.Table:
    """Return the settings that codes are checked by, with what the profile requires beside what the matters do."""
    rows = [source.matters[each] for each in matter_ids if each is not None]
    required = {_REQUIRED[kind] for kind in profile.require}
    table = {"matter_id": pa.array([row["matter_id"] for row in rows], pa.string())}
    on = [row["ledes_enabled"] is True or bool(required) for row in rows]
    table["ledes_enabled"] = pa.array(on, pa.bool_())
    for name in _REQUIRED.values():
        table[name] = pa.array([name in required or row[name] is True for row in rows], pa.bool_())
    # A matter without LEDES billing has no code sets of its own: any is accepted.
    sets = [row["ledes_code_set_ids"] if row["ledes_enabled"] is True else None for row in rows]
    table["ledes_code_set_ids"] = pa.array(sets, pa.list_(pa.string()))
    return pa.table(table)


def _codes(source: Source) -> pa.Table:
    columns = source.codes
    types = {"selectable": pa.bool_()}
    return pa.table({name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()})
