"""The to-do list of the report: at most ten rows of who should do what about which client, bill or matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, format_number, short_date
from billframes._shared.names import first_few, join_names
from billframes.analysis.facts.capacity import working_days
from billframes.report import lists
from billframes.report.client_guidelines import ClientGuidelines
from billframes.report.html import anchor
from billframes.report.month import A_UNIT, Month
from billframes.report.open_amounts import called, draft_bills, in_scope, unchecked

MOST = 10
# Work in progress older than this number of days should be billed, or written down.
_OLD_DAYS = 90
_MOST_NAMES = 2


@dataclass(frozen=True)
class ToDo:
    """
    Something to do: who, "Call Acme", "3 invoices, the oldest 97 days overdue", and money or missing hours.

    `section` is the name of the section with the figures, `row` the name of its row, and `names` are the clients.
    """

    person: str
    what: str
    detail: str
    amount: float
    section: str
    row: str = ""
    unit: str = "money"
    names: tuple[str, ...] = ()

    @property
    def shown_amount(self) -> str:
        """The amount as text."""
        text = format_number(self.amount, self.unit)
        return f"{text} h" if self.unit == "hours" else text

    @property
    def link(self) -> str:
        """The id of its row on the page."""
        return f"{self.section.replace('_', '-')}/{anchor(self.row)}"


def to_do(month: Month, *, most: int = MOST) -> list[ToDo]:
    """Return the largest of each kind, sorted by what they are worth; `most` 0 is all."""
    if month.is_empty:
        return []
    found = [sorted(kind(month), key=lambda each: -each.amount) for kind in _KINDS]
    # The largest of each kind come first, then the second of each, and so on.
    chosen = [each for rank in zip_longest(*found) for each in rank if each is not None][: most or None]
    return sorted(chosen, key=lambda each: (each.unit != "money", -each.amount, each.person))


def _overdue(month: Month) -> Iterator[ToDo]:
    for row in called(month).to_dict("records"):
        oldest = f"{'the oldest ' if row['invoices'] > 1 else ''}{format_number(row['oldest'], 'count')} days overdue"
        detail = f"{count_of(row['invoices'], 'invoice')}, {oldest}"
        if row["credit"] >= A_UNIT:
            detail += f"; {format_number(row['credit'], 'money')} of credits unused"
        name = _names([row["client_name"]])
        yield ToDo(_person(row["responsible_name"]), f"Call {name}", detail, row["overdue"], "receivables", name)


def _drafts(month: Month) -> Iterator[ToDo]:
    for person, mine in _by_person(draft_bills(month)):
        since = f"{'the oldest ' if len(mine) > 1 else ''}of {short_date(mine['invoice_date'].min())}"
        largest = mine.groupby("client_name", dropna=False)["invoice_amount"].sum().sort_values(ascending=False)
        what, detail = f"Send {count_of(len(mine), 'draft bill')}", f"{_names(largest.index)}, {since}"
        yield ToDo(person, what, detail, float(mine["invoice_amount"].sum()), "work_in_progress", person)


def _old_work(month: Month) -> Iterator[ToDo]:
    keys = dict.fromkeys(["responsible", "matter", *([month.scope.key] if month.scope else [])])
    options = {"as_of": month.as_of, "include_prebill": False, "buckets": (_OLD_DAYS,)}
    rows, old = in_scope(month, month.only("").result("wip", by=[*keys], **options)), f"{_OLD_DAYS + 1}+"
    for person, mine in _by_person(rows[rows[old] > 0].sort_values(old, ascending=False, kind="stable")):
        what = f"Bill work older than {_OLD_DAYS} days"
        yield ToDo(person, what, _names(mine["matter_name"]), float(mine[old].sum()), "work_in_progress", person)


def _codes(month: Month) -> Iterator[ToDo]:
    if not month.e_billing.rejected:
        return
    items = month.e_billing.findings.dropna(subset=["item_id"]).drop_duplicates("item_id")
    amounts = _amounts(month)
    for person, mine in _by_person(items):
        what, amount = f"Add codes to {count_of(len(mine), 'item')}", float(mine["item_id"].map(amounts).sum())
        yield ToDo(person, what, _names(mine["matter_name"]), amount, "work_in_progress", person)


def _guidelines(month: Month) -> Iterator[ToDo]:
    """Unbilled items that clients may refuse or cut by their guidelines."""
    found = month.guidelines.findings
    if found is None:
        return
    for person, mine in _by_person(found[found["severity"] != "review"]):
        at_risk, items = ClientGuidelines(mine).at_risk, mine["item_id"].nunique()
        names = tuple(dict.fromkeys(mine["client_name"].dropna().astype("str")))
        detail = f"{_names(mine['client_name'])} may refuse or cut {'it' if items == 1 else 'them'}"
        if at_risk:
            what = f"Correct {count_of(items, 'item')} before billing"
            yield ToDo(person, what, detail, at_risk, "realization", names[0], names=names)


def _guideline_files(month: Month) -> Iterator[ToDo]:
    for row in unchecked(month).to_dict("records") if month.guidelines.without_file else ():
        name = _names([row["client_name"]])
        what, detail = f"Add the guideline file of {name}", "its work is not checked"
        yield ToDo(_person(row["responsible_name"]), what, detail, float(row["total"]), "work_in_progress", name)


def _budgets(month: Month) -> Iterator[ToDo]:
    """Matters that are over their budgets."""
    firm = month.only("")
    table = lists.budgets(firm)
    if table is None:
        return
    matters = firm.firm_book.matters[["matter_id", "client_id", "responsible_id", "practice_area_id"]]
    rows = table.rows[table.rows["remaining_amount"] <= -A_UNIT]
    rows = rows[["matter_id", "matter_name", "responsible_name", "remaining_amount"]].merge(matters, on="matter_id")
    for row in in_scope(month, rows).to_dict("records"):
        name, over = str(row["matter_name"]), -float(row["remaining_amount"])
        yield ToDo(_person(row["responsible_name"]), "Agree a new budget", name, over, "budgets", name)


def _missing_time(month: Month) -> Iterator[ToDo]:
    """People whose working days have less time than expected, perhaps because they were away or work part time."""
    days = len(working_days(month.settings, month.counted_from, month.last))
    for row in [] if month.scope else lists.missing_time(month).rows.to_dict("records"):
        what = f"Enter missing time{', leave or part time' if 2 * row['short_days'] > days else ' or leave'}"
        person, short = _person(row["user_name"]), count_of(row["short_days"], "working day")
        yield ToDo(person, what, short, float(row["missing_hours"]), "utilization", person, "hours")


_KINDS: tuple[Callable[[Month], Iterator[ToDo]], ...] = (
    _overdue,
    _drafts,
    _old_work,
    _budgets,
    _codes,
    _guidelines,
    _guideline_files,
    _missing_time,
)


def _amounts(month: Month) -> dict[str, float]:
    book = month.firm_book
    frames = ((book.time_entries, "time_entry_id"), (book.expenses, "expense_id"), (book.fixed_fees, "fixed_fee_id"))
    return {str(id_): amount for frame, key in frames for id_, amount in frame[[key, "amount"]].to_numpy()}


def _by_person(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for person, mine in rows.groupby(rows["responsible_name"].map(_person), sort=False):
        yield str(person), mine


def _person(name: Any) -> str:
    return str(name) if pd.notna(name) else "Unassigned"


def _names(values: Iterable[Any]) -> str:
    """List two names, and count the others."""
    names = [str(each) if pd.notna(each) else "a client without a name" for each in dict.fromkeys(values)]
    return join_names(names) if len(names) <= _MOST_NAMES else first_few(names, _MOST_NAMES)
