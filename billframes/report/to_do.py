"""The to-do list of the report: at most ten rows of who should do what about which client, bill or matter.

Open amounts are listed for the whole firm, and a part of the firm has its rows of that list. So the lists of all parts
add up to the firm's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import pandas as pd

from billframes._shared.format import count_of, format_number, money, short_date
from billframes._shared.names import first_few, join_names
from billframes.analysis.declare.columns import UNASSIGNED
from billframes.analysis.facts.capacity import working_days
from billframes.book.records import bills_of
from billframes.book.slices import keep_rows
from billframes.report import report_tables
from billframes.report.html import anchor
from billframes.report.month import A_UNIT, Month, once
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
    `of` says in a sentence what the amount is of, if it is not a figure of the section.
    """

    person: str
    what: str
    detail: str
    amount: float
    section: str
    row: str = ""
    unit: str = "money"
    names: tuple[str, ...] = ()
    of: str = ""

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
            detail += f"; {money(row['credit'])} of credits unused"
        name = names([row["client_name"]])
        yield ToDo(person_of(row), f"Call {name}", detail, row["overdue"], "receivables", name)


def _drafts(month: Month) -> Iterator[ToDo]:
    for person, mine in by_person(draft_bills(month)):
        since = f"{'the oldest ' if len(mine) > 1 else ''}of {short_date(mine['invoice_date'].min())}"
        largest = mine.groupby("client_name", dropna=False)["invoice_amount"].sum().sort_values(ascending=False)
        what, detail = f"Send {count_of(len(mine), 'draft bill')}", f"{names(largest.index)}, {since}"
        amount = float(mine["invoice_amount"].sum())
        yield ToDo(person, what, detail, amount, "work_in_progress", person, of=of_bills(len(mine)))


def of_bills(number: int) -> str:
    """Return the words before the amount of bills, which is not the value of the work on them."""
    return "a bill of " if number == 1 else "bills of "


def _old_work(month: Month) -> Iterator[ToDo]:
    keys = dict.fromkeys(["responsible", "matter", *([month.scope.key] if month.scope else [])])
    options = {"as_of": month.as_of, "include_prebill": False, "buckets": (_OLD_DAYS,)}
    rows, old = in_scope(month, month.only("").result("wip", by=[*keys], **options)), f"{_OLD_DAYS + 1}+"
    for person, mine in by_person(rows[rows[old] > 0].sort_values(old, ascending=False, kind="stable")):
        what = f"Bill work older than {_OLD_DAYS} days"
        yield ToDo(person, what, names(mine["matter_name"]), float(mine[old].sum()), "work_in_progress", person)


def _budgets(month: Month) -> Iterator[ToDo]:
    rows = report_tables.over_budget(month.only(""))
    if rows.empty:
        return
    matters = month.firm_book.matters[["matter_id", "client_id", "responsible_id", "practice_area_id"]]
    rows = rows[["matter_id", "matter_name", "responsible_name", "remaining_amount"]].merge(matters, on="matter_id")
    for row in in_scope(month, rows).to_dict("records"):
        name, over = str(row["matter_name"]), -float(row["remaining_amount"])
        yield ToDo(person_of(row), "Agree a new budget", name, over, "budgets", name)


def _missing_time(month: Month) -> Iterator[ToDo]:
    """People whose working days have less time than expected, perhaps because they were away or work part time."""
    days = len(working_days(month.settings, month.counted_from, month.last))
    for row in [] if month.scope else report_tables.missing_time(month).rows.to_dict("records"):
        what = f"Enter missing time{', leave or part time' if 2 * row['short_days'] > days else ' or leave'}"
        person, short = _person(row["user_name"]), count_of(row["short_days"], "working day")
        yield ToDo(person, what, short, float(row["missing_hours"]), "utilization", person, "hours")


_KINDS = (_overdue, _drafts, _old_work, _budgets)


@once
def called(month: Month) -> pd.DataFrame:
    """
    Return the overdue balances by client, largest first, with the lawyer who is responsible for most of each.

    This lawyer calls the client about all of it, so a client is in one report by lawyer. Beside the balance are its
    part `91+`, the number of invoices, the days of the oldest one, and the client's unused credits.
    """
    firm = month.only("")
    shares = firm.of("aging", ["client", "responsible", "invoice_id", *_area(month)])
    shares = shares[shares["overdue"] >= A_UNIT]
    days = firm.result("overdue_invoices", as_of=month.as_of).set_index("invoice_id")["days_overdue"]
    sums = {"91+": ("91+", "sum"), "invoices": ("invoice_id", "nunique"), "oldest": ("days", "max")}
    rows = _by_client(month, shares.assign(days=shares["invoice_id"].map(days)), "overdue", sums)
    credit = firm.of("aging", "client").set_index("client_id")["credit_amount"].reindex(rows["client_id"])
    return rows.assign(credit=-credit.astype("float64").fillna(0.0).to_numpy())


def open_work_by_client(month: Month) -> pd.DataFrame:
    """Return work in progress by client, with the lawyer who is responsible for most of each."""
    rows = month.only("").of("wip", ["client", "responsible", *_area(month)])
    return _by_client(month, rows, "total")


def _by_client(
    month: Month, rows: pd.DataFrame, amount: str, sums: Mapping[str, tuple[str, str]] | None = None
) -> pd.DataFrame:
    """Add up rows by client, with the lawyer who has most of the amount; largest first."""
    scope = month.scope
    rows = in_scope(month, rows) if _area(month) else month.only("").with_distinct_names(rows)
    client, lawyer = ["client_id", "client_name"], ["responsible_id", "responsible_name"]
    parts = rows.groupby([*client, *lawyer], sort=False, dropna=False)[amount].sum().reset_index()
    parts = parts.sort_values(amount, ascending=False, kind="stable").drop_duplicates("client_id")
    whole = rows.groupby(client, sort=False, dropna=False).agg(**{amount: (amount, "sum")}, **(sums or {}))
    found = whole.reset_index().merge(parts[["client_id", *lawyer]], on="client_id")
    found = found.sort_values(amount, ascending=False, kind="stable", ignore_index=True)
    own = scope is not None and not _area(month)
    return keep_rows(found, {f"{scope.key}_id": scope.id}).reset_index(drop=True) if own and scope else found


def _area(month: Month) -> list[str]:
    return ["practice_area"] if month.scope and month.scope.key == "practice_area" else []


def draft_bills(month: Month) -> pd.DataFrame:
    """Return the bills that are not final, each with its largest item, whose lawyer sends the bill."""
    bills = bills_of(month.only("").draft_items)
    matters = month.firm_book.matters.set_index("matter_id")["practice_area_id"]
    return in_scope(month, bills.assign(practice_area_id=bills["matter_id"].map(matters)))


def in_scope(month: Month, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that belong to the report's client, practice area or responsible lawyer."""
    if month.scope:
        rows = keep_rows(rows, {f"{month.scope.key}_id": month.scope.id})
    return month.with_distinct_names(rows)


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
