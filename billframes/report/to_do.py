"""The to-do list of the report: at most ten rows of who should do what about which client, bill or matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, format_number, short_date
from billframes._shared.names import first_few, join_names
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.facts.capacity import working_days
from billframes.report import lists
from billframes.report.html import anchor
from billframes.report.month import A_UNIT, Month, once
from billframes.report.open_amounts import called, draft_bills, in_scope
from billframes.wings import in_report

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
    """Return the largest of each kind by person, sorted by what they are worth; `most` 0 is all."""
    # The largest of each kind come first, then the second of each, and so on.
    chosen = [each for rank in zip_longest(*_of_each_kind(month)) for each in rank if each is not None][: most or None]
    chosen.sort(key=lambda each: (each.unit != "money", -each.amount, each.person))
    # A person comes where the largest of their tasks would.
    people = list(dict.fromkeys(each.person for each in chosen))
    return sorted(chosen, key=lambda each: people.index(each.person))


@once
def _of_each_kind(month: Month) -> list[list[ToDo]]:
    kinds = () if month.is_empty else (*_KINDS, *chain(*in_report("TO_DO")), _missing_time)
    return [sorted(kind(month), key=lambda each: -each.amount) for kind in kinds]


def _overdue(month: Month) -> Iterator[ToDo]:
    for row in called(month).to_dict("records"):
        oldest = f"{'the oldest ' if row['invoices'] > 1 else ''}{format_number(row['oldest'], 'count')} days overdue"
        detail = f"{count_of(row['invoices'], 'invoice')}, {oldest}"
        if row["credit"] >= A_UNIT:
            detail += f"; {format_number(row['credit'], 'money')} of credits unused"
        name = names([row["client_name"]])
        yield ToDo(person_of(row), f"Call {name}", detail, row["overdue"], "receivables", name)


def _drafts(month: Month) -> Iterator[ToDo]:
    for person, mine in by_person(draft_bills(month)):
        since = f"{'the oldest ' if len(mine) > 1 else ''}of {short_date(mine['invoice_date'].min())}"
        largest = mine.groupby("client_name", dropna=False)["invoice_amount"].sum().sort_values(ascending=False)
        what, detail = f"Send {count_of(len(mine), 'draft bill')}", f"{names(largest.index)}, {since}"
        yield ToDo(person, what, detail, float(mine["invoice_amount"].sum()), "work_in_progress", person)


def _old_work(month: Month) -> Iterator[ToDo]:
    keys = dict.fromkeys(["responsible", "matter", *([month.scope.key] if month.scope else [])])
    options = {"as_of": month.as_of, "include_prebill": False, "buckets": (_OLD_DAYS,)}
    rows, old = in_scope(month, month.only("").result("wip", by=[*keys], **options)), f"{_OLD_DAYS + 1}+"
    for person, mine in by_person(rows[rows[old] > 0].sort_values(old, ascending=False, kind="stable")):
        what = f"Bill work older than {_OLD_DAYS} days"
        yield ToDo(person, what, names(mine["matter_name"]), float(mine[old].sum()), "work_in_progress", person)


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
        yield ToDo(person_of(row), "Agree a new budget", name, over, "budgets", name)


def _missing_time(month: Month) -> Iterator[ToDo]:
    """People whose working days have less time than expected, perhaps because they were away or work part time."""
    days = len(working_days(month.settings, month.counted_from, month.last))
    for row in [] if month.scope else lists.missing_time(month).rows.to_dict("records"):
        what = f"Enter missing time{', leave or part time' if 2 * row['short_days'] > days else ' or leave'}"
        person, short = _person(row["user_name"]), count_of(row["short_days"], "working day")
        yield ToDo(person, what, short, float(row["missing_hours"]), "utilization", person, "hours")


_KINDS = (_overdue, _drafts, _old_work, _budgets)


def by_person(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each responsible lawyer's name and rows."""
    for person, mine in rows.groupby(rows["responsible_name"].map(_person), sort=False):
        yield str(person), mine


def person_of(row: Mapping[Any, Any]) -> str:
    """Return the responsible lawyer's name, or "Unassigned"."""
    return _person(row["responsible_name"])


def _person(name: Any) -> str:
    return str(name) if pd.notna(name) else UNASSIGNED


def names(values: Iterable[Any]) -> str:
    """List two names, and count the others."""
    names = [str(each) if pd.notna(each) else "a client without a name" for each in dict.fromkeys(values)]
    return join_names(names) if len(names) <= _MOST_NAMES else first_few(names, _MOST_NAMES)
