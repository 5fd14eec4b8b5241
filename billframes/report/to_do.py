"""The to-do list of the report: at most ten rows of who should do what about which client, bill or matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import pandas as pd

from billframes._format import format_number, short_date
from billframes._names import join_names
from billframes.report.client_guidelines import ClientGuidelines
from billframes.report.lists import missing_time
from billframes.report.month import Month
from billframes.report.open_amounts import of_scope, overdue_by_client

__all__ = ["MOST", "ToDo", "to_do"]

MOST = 10
# Work in progress older than this number of days should be billed, or written down.
_OLD_DAYS = 90


@dataclass(frozen=True)
class ToDo:
    """Something to do: who, "Call Acme", "3 invoices, the oldest 97 days overdue", and money or missing hours."""

    person: str
    what: str
    detail: str
    amount: float
    unit: str = "money"

    @property
    def shown_amount(self) -> str:
        """The amount as text."""
        text = format_number(self.amount, self.unit)
        return f"{text} h" if self.unit == "hours" else text


def to_do(month: Month) -> list[ToDo]:
    """Return the largest of each kind, by person: those with the largest amounts first."""
    if month.is_empty:
        return []
    found = [sorted(kind(month), key=lambda each: -each.amount) for kind in _KINDS]
    # The largest of each kind come first, then the second of each, and so on.
    chosen = [each for rank in zip_longest(*found) for each in rank if each is not None][:MOST]
    people = pd.Series([-_size(each) for each in chosen]).groupby([each.person for each in chosen]).sum()
    return sorted(chosen, key=lambda each: (-people[each.person], each.person, _size(each)))


def _size(row: ToDo) -> float:
    return -row.amount if row.unit == "money" else 0.0


def _overdue(month: Month) -> Iterator[ToDo]:
    """Clients to call about their overdue invoices."""
    for row in overdue_by_client(month).to_dict("records"):
        days = format_number(row["oldest"], "count")
        one = f"1 invoice, {days} days overdue"
        detail = one if row["invoices"] == 1 else f"{row['invoices']} invoices, the oldest {days} days overdue"
        yield ToDo(_person(row["responsible_name"]), f"Call {_plain(row['client_name'])}", detail, row["balance"])


def _drafts(month: Month) -> Iterator[ToDo]:
    """Draft bills to send."""
    rows = of_scope(month, "prebill_review", codes=None, code_sets=None)
    bills = rows.sort_values("item_amount", ascending=False, kind="stable").drop_duplicates("invoice_id")
    names = bills["responsible_name"].map(_person)
    for person, mine in bills.groupby(names, sort=False):
        count = f"{len(mine)} draft bills" if len(mine) > 1 else "1 draft bill"
        since = (
            f"the oldest of {short_date(mine['invoice_date'].min())}"
            if len(mine) > 1
            else (f"of {short_date(mine['invoice_date'].min())}")
        )
        yield ToDo(str(person), f"Send {count}", since, float(mine["invoice_amount"].sum()))


def _old_work(month: Month) -> Iterator[ToDo]:
    """Work in progress that is old and on no bill."""
    keys = ["responsible", "matter"]
    rows = month.result("wip", by=keys, as_of=month.as_of, include_prebill=False, buckets=(_OLD_DAYS,))
    rows = month.with_distinct_names(rows)
    old = f"{_OLD_DAYS + 1}+"
    rows = rows[rows[old] > 0].sort_values(old, ascending=False, kind="stable")
    for person, mine in rows.groupby(rows["responsible_name"].map(_person), sort=False):
        matters = [_plain(each) for each in mine["matter_name"].head(2)]
        more = f" and {len(mine) - 2} more" if len(mine) > 2 else ""
        names = f"{', '.join(matters)}{more}" if more else join_names(matters)
        yield ToDo(str(person), f"Bill work older than {_OLD_DAYS} days", names, float(mine[old].sum()))


def _codes(month: Month) -> Iterator[ToDo]:
    """Codes that clients' portals need."""
    if not month.e_billing.rejected:
        return
    items = month.e_billing.findings.dropna(subset=["item_id"]).drop_duplicates("item_id")
    amounts = _amounts(month)
    for person, mine in items.groupby(items["responsible_name"].map(_person), sort=False):
        count = f"{len(mine)} items" if len(mine) > 1 else "1 item"
        matters = [_plain(each) for each in mine["matter_name"].drop_duplicates().head(2)]
        yield ToDo(str(person), f"Add codes to {count}", join_names(matters), float(mine["item_id"].map(amounts).sum()))


def _guidelines(month: Month) -> Iterator[ToDo]:
    """Unbilled items that clients may refuse or cut by their guidelines."""
    found = month.guidelines.findings
    if found is None:
        return
    found = found[found["severity"] != "review"]
    for person, mine in found.groupby(found["responsible_name"].map(_person), sort=False):
        own = ClientGuidelines(mine)
        items = mine["item_id"].nunique()
        count = f"{items} items" if items != 1 else "1 item"
        clients = [_plain(each) for each in mine["client_name"].drop_duplicates().head(2)]
        detail = f"{join_names(clients)} may refuse or cut them" if items != 1 else f"{clients[0]} may refuse or cut it"
        if own.at_risk:
            yield ToDo(str(person), f"Correct {count} before billing", detail, own.at_risk)


def _missing_time(month: Month) -> Iterator[ToDo]:
    """People whose working days have less time than expected."""
    if month.scope:
        return
    for row in missing_time(month).rows.to_dict("records"):
        days = f"{row['short_days']} working days" if row["short_days"] > 1 else "1 working day"
        yield ToDo(_person(row["user_name"]), "Enter missing time", days, float(row["missing_hours"]), "hours")


_KINDS: tuple[Callable[[Month], Iterator[ToDo]], ...] = (
    _overdue,
    _drafts,
    _old_work,
    _codes,
    _guidelines,
    _missing_time,
)


def _amounts(month: Month) -> dict[str, float]:
    book = month.firm_book
    frames = ((book.time_entries, "time_entry_id"), (book.expenses, "expense_id"), (book.fixed_fees, "fixed_fee_id"))
    return {str(id_): amount for frame, key in frames for id_, amount in frame[[key, "amount"]].to_numpy()}


def _person(name: Any) -> str:
    return str(name) if pd.notna(name) else "Unassigned"


def _plain(name: Any) -> str:
    return str(name) if pd.notna(name) else "a client without a name"
