"""What gets billed: time, expenses and fixed fees, and the invoices they end up on, as tables hold them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

__all__ = ["Expense", "FixedFee", "Invoice", "TimeEntry", "insert_statement", "row_of"]


@dataclass(slots=True, eq=False)
class TimeEntry:
    """A row of the table `time_entry`."""

    time_entry_id: str
    matter_id: str
    user_id: str
    date: str
    time: str | None
    description: str
    hours: int
    billing_type: str
    rate: int | None
    amount: int | None
    invoice_id: str | None
    fixed_fee_id: str | None
    activity_code: str | None
    task_code: str | None
    created_at: str
    modified_at: str


@dataclass(slots=True, eq=False)
class Expense:
    """A row of the table `expense`."""

    expense_id: str
    matter_id: str
    user_id: str | None
    date: str
    description: str
    amount: int
    invoice_id: str | None
    expense_code: str | None
    check_number: str | None
    created_at: str
    modified_at: str


@dataclass(slots=True, eq=False)
class FixedFee:
    """A row of the table `fixed_fee`."""

    fixed_fee_id: str
    matter_id: str
    user_id: str | None
    date: str
    description: str
    amount: int
    invoice_id: str | None
    activity_code: str | None
    task_code: str | None
    created_at: str
    modified_at: str


@dataclass(slots=True, eq=False)
class Invoice:
    """A row of the table `invoice`."""

    invoice_id: str
    client_id: str
    invoice_number: str
    invoice_date: str
    invoice_state: str
    due_date: str | None
    amount: int
    balance: int
    created_at: str
    modified_at: str


def row_of(kind: type[Any]) -> Callable[[Any], tuple[str | int | None, ...]]:
    """Return the function that makes a record of this kind a row."""
    getter: Callable[[Any], tuple[str | int | None, ...]] = attrgetter(*(each.name for each in fields(kind)))
    return getter


def insert_statement(table: str, columns: int) -> str:
    """Return the SQL that inserts whole rows."""
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - the table is ours
