"""Read time entries, fixed fees and expenses from the tables.

An item's client is its matter's, and it is billed when it is on an invoice in any state. The invoice
reference always comes with a billed item; the other references come when selected, and with a single record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType

from billframes.sandbox.reading import (
    CLIENT,
    FIXED_FEE,
    INVOICE,
    MATTER,
    USER,
    Collection,
    Render,
    Row,
    View,
    attach,
    put_meta,
)
from billframes.sandbox.schema import SCALE
from billframes.schema.resources import EXPENSES, FIXED_FEES, TIME_ENTRIES

__all__ = ["EXPENSE_COLLECTION", "FIXED_FEE_COLLECTION", "TIME_ENTRY_COLLECTION"]

_BILLED = MappingProxyType({True: "invoice_id IS NOT NULL", False: "invoice_id IS NULL"})
_WHERE: Mapping[str, str | Mapping[bool, str]] = MappingProxyType(
    {
        "startDate": "date >= :startDate",
        "endDate": "date <= :endDate",
        "userId": "user_id = :userId",
        "matterId": "matter_id = :matterId",
        "clientId": "{}matter_id IN (SELECT matter_id FROM matter WHERE client_id = :clientId)",
        # Servers with other `select` names have it; the API's description does not.
        "invoiceId": "invoice_id = :invoiceId",
        "billed": _BILLED,
        "modifiedSince": "{}modified_at > :modifiedSince",
    }
)
_ALWAYS = frozenset({"invoice"})
_SORT = MappingProxyType({"date": "date", "amount": "amount", "description": "description"})


def _columns(table: str, **own: str) -> dict[str, str]:
    """Return the columns every item has, then its own."""
    client = f"(SELECT client_id FROM matter WHERE matter.matter_id = {table}.matter_id)"  # noqa: S608
    return {
        "matterId": "matter_id",
        "clientId": client,
        "userId": "user_id",
        "date": "date",
        "description": "description",
        **own,
        "invoiceId": "invoice_id",
        "createdAt": "created_at",
        "modifiedAt": "modified_at",
    }


def _render_item(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    for record in records:
        record["billed"] = record["invoiceId"] is not None
    for name, shape in (("client", CLIENT), ("matter", MATTER), ("user", USER)):
        if view.shows(name):
            attach(connection, records, name, shape, name + "Id")
    if view.shows("invoice"):
        attach(connection, records, "invoice", INVOICE, "invoiceId")
    put_meta(records, shown=view.shows("meta"))


def _render_time_entry(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    _render_item(connection, records, view)
    if view.shows("fixedFee"):
        attach(connection, records, "fixedFee", FIXED_FEE, "fixedFeeId")
    for record in records:
        if not view.rates or record["billingType"] != "billable":
            del record["rate"], record["amount"]


def _render_with_codes(*names: str) -> Render:
    """Return a renderer for items whose codes are only part of the single record."""

    def render(connection: sqlite3.Connection, records: list[Row], view: View) -> None:
        _render_item(connection, records, view)
        if not view.detail:
            for record in records:
                for name in names:
                    del record[name]

    return render


TIME_ENTRY_COLLECTION = Collection(
    resource=TIME_ENTRIES,
    table="time_entry",
    key="time_entry_id",
    columns={
        "timeEntryId": "time_entry_id",
        **_columns(
            "time_entry",
            time="time",
            hours=f"hours / {SCALE}.0",
            billingType="billing_type",
            rate=f"rate / {SCALE}.0",
            amount=f"amount / {SCALE}.0",
            fixedFeeId="fixed_fee_id",
            activityCode="activity_code",
            taskCode="task_code",
        ),
    },
    order=("date",),
    always=_ALWAYS,
    render=_render_time_entry,
    where={
        **_WHERE,
        "fixedFeeId": "fixed_fee_id = :fixedFeeId",
        "billingType": "billing_type = :billingType",
        "billed": {True: "billed = 1", False: "billed = 0"},
    },
    sort={"date": "date", "hours": "hours", "description": "description", "created": "created_at"},
)

FIXED_FEE_COLLECTION = Collection(
    resource=FIXED_FEES,
    table="fixed_fee",
    key="fixed_fee_id",
    columns={
        "fixedFeeId": "fixed_fee_id",
        **_columns("fixed_fee", amount=f"amount / {SCALE}.0", activityCode="activity_code", taskCode="task_code"),
    },
    order=("date",),
    always=_ALWAYS,
    render=_render_with_codes("activityCode", "taskCode"),
    where=_WHERE,
    sort=_SORT,
)

EXPENSE_COLLECTION = Collection(
    resource=EXPENSES,
    table="expense",
    key="expense_id",
    columns={
        "expenseId": "expense_id",
        **_columns(
            "expense",
            amount=f"amount / {SCALE}.0",
            expenseCode="expense_code",
            checkNumber="check_number",
        ),
    },
    order=("date",),
    always=_ALWAYS,
    render=_render_with_codes("expenseCode"),
    where=_WHERE,
    sort=_SORT,
)
