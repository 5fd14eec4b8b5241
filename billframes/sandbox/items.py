"""Time entries, fixed fees and expenses: the SQL that reads them, and the operations that write them.

An item's client is its matter's client. An item is billed if it is on an invoice in any state; a billed item can't be
updated or deleted. The reference to the invoice is part of every billed item, also in lists.

The user of a time entry is the body's `userId`, else the header's user, else the credential's user. Only billable
entries have a rate and an amount: the rate is the user's unless a rate is sent, and the amount is hours times rate,
rounded to the cent.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from billframes.sandbox.collection import (
    CLIENT,
    FIXED_FEE,
    INVOICE,
    MATTER,
    META,
    USER,
    Collection,
    EmbeddedReference,
    Row,
    View,
    columns,
    flag,
    scaled,
)
from billframes.sandbox.operations import Edit, create, delete, refusal, update
from billframes.sandbox.problems import quoted
from billframes.sandbox.query_parameters import read_id
from billframes.sandbox.schema import BILLING_TYPES, value_at_rate
from billframes.schema.resources import ALL_ZERO_ID, EXPENSES, FIXED_FEES, TIME_ENTRIES

_REFERENCES = MappingProxyType({"client": CLIENT, "matter": MATTER, "user": USER, "invoice": INVOICE})
_WHERE: Mapping[str, str | Mapping[bool, str]] = MappingProxyType(
    {
        "clientId": "{}matter_id IN (SELECT matter_id FROM matter WHERE client_id = :clientId)",
        "billed": {True: "invoice_id IS NOT NULL", False: "invoice_id IS NULL"},
    }
)
_ALWAYS = frozenset({"invoice"})


def _columns(
    table: str, own: str, references: Mapping[str, EmbeddedReference] = _REFERENCES, **others: str
) -> dict[str, str | EmbeddedReference]:
    """Return the columns of every item, and those of this kind of item."""
    client = f"(SELECT client_id FROM matter WHERE matter.matter_id = {table}.matter_id)"  # noqa: S608
    shared = columns(f"{own} matterId userId date description invoiceId", clientId=client, amount=scaled("amount"))
    return {**shared, **others, **references, "billed": flag("invoice_id IS NOT NULL"), "meta": META}


def _hide_rates(_connection: sqlite3.Connection, records: list[Row], view: View) -> None:
    for record in records:
        if not view.rates or record["billingType"] != "billable":
            del record["rate"], record["amount"]


TIME_ENTRY_COLLECTION = Collection(
    resource=TIME_ENTRIES,
    columns=_columns(
        "time_entry",
        "timeEntryId time billingType fixedFeeId activityCode taskCode",
        {**_REFERENCES, "fixedFee": FIXED_FEE},
        hours=scaled("hours"),
        rate=scaled("rate"),
    ),
    order=("date",),
    details={"meta": "meta"},
    always=_ALWAYS,
    render=_hide_rates,
    where={**_WHERE, "billed": {True: "billed = 1", False: "billed = 0"}},
)

FIXED_FEE_COLLECTION = Collection(
    resource=FIXED_FEES,
    columns=_columns("fixed_fee", "fixedFeeId activityCode taskCode"),
    order=("date",),
    details={"meta": "meta", "activityCode": "", "taskCode": ""},
    always=_ALWAYS,
    where=_WHERE,
)

EXPENSE_COLLECTION = Collection(
    resource=EXPENSES,
    columns=_columns("expense", "expenseId expenseCode checkNumber"),
    order=("date",),
    details={"meta": "meta", "expenseCode": ""},
    always=_ALWAYS,
    where=_WHERE,
)


ACTING_USER = "x-service-userid"


def _refuse_if_billed(edit: Edit) -> None:
    """Refuse to change an item that is on an invoice in any state."""
    invoice_id = edit.stored()["invoice_id"]
    invoice = edit.first_row("SELECT invoice_number, invoice_state FROM invoice WHERE invoice_id = ?", invoice_id)
    if invoice:
        noun = edit.operation.collection.resource.noun
        number, state = invoice["invoice_number"], invoice["invoice_state"]
        raise refusal(
            f"The {noun} is billed (on invoice {number}, which is {state}), so it can't be {edit.operation.verb}d."
        )


def _check_new_time(edit: Edit) -> None:
    if "userId" not in edit.sent and not edit.faults.has("#/userId"):
        user_id = _read_acting_user(edit) if edit.acting_user else edit.caller.user_id
        edit.sent = {**edit.sent, "userId": user_id}
        if user_id is None and not edit.acting_user:
            missing = f"is missing, the header {ACTING_USER} names nobody, and the credential has no user"
            edit.faults.add_body("#/userId", missing)
    _check_fixed_fee(edit, {})


def _read_acting_user(edit: Edit) -> str | None:
    """Return the header's user; add a fault if there is no such user."""
    user_id = read_id((edit.acting_user or "").strip())
    if user_id is None or not edit.exists("SELECT 1 FROM user WHERE user_id = ?", user_id):
        edit.faults.add_parameter(ACTING_USER, f"is {quoted(edit.acting_user)}; expected the UUID of a user")
        return None
    return user_id


def _check_changed_time(edit: Edit) -> None:
    _check_fixed_fee(edit, edit.stored())


def _check_fixed_fee(edit: Edit, stored: Row) -> None:
    """Add a fault if the fixed fee is of another matter than the entry, whichever of the two the edit changes."""
    fee_id = edit.sent.get("fixedFeeId") or stored.get("fixed_fee_id")
    matter_id = edit.sent.get("matterId") or stored.get("matter_id")
    if fee_id is None or matter_id is None or fee_id == ALL_ZERO_ID:
        return
    fee = edit.first_row("SELECT matter_id FROM fixed_fee WHERE fixed_fee_id = ?", fee_id)
    if fee and fee["matter_id"] != matter_id:
        edit.faults.add_body("#/fixedFeeId", "is of another matter than the time entry")


def _create_time(edit: Edit) -> None:
    row = edit.columns()
    row.setdefault("billing_type", "fixedFee" if row.get("fixed_fee_id") else _default_type(edit))
    edit.create(row | _rate_and_amount(edit, row, edit.sent.get("rate")))


def _update_time(edit: Edit) -> None:
    stored = edit.stored()
    row = edit.columns()
    rate = edit.sent.get("rate", stored["rate"])
    edit.update(row | _rate_and_amount(edit, stored | row, rate))


def _default_type(edit: Edit) -> str:
    matter = edit.first_row("SELECT matter_type FROM matter WHERE matter_id = ?", edit.sent["matterId"])
    assert matter is not None  # noqa: S101
    return BILLING_TYPES[matter["matter_type"]]


def _rate_and_amount(edit: Edit, row: Row, rate: Any) -> Row:
    """Return rate and amount, which only billable entries have; without a rate, the user's rate."""
    if row["billing_type"] != "billable":
        return {"rate": None, "amount": None}
    if rate is None:
        user = edit.first_row("SELECT rate FROM user WHERE user_id = ?", row["user_id"])
        assert user is not None  # noqa: S101
        rate = user["rate"]
    return {"rate": rate, "amount": value_at_rate(row["hours"], rate)}


def _refuse_fee_update(edit: Edit) -> None:
    _refuse_if_billed(edit)
    elsewhere = "SELECT 1 FROM time_entry WHERE fixed_fee_id = ? AND matter_id <> ?"
    if "matterId" in edit.sent and edit.exists(elsewhere, edit.id, edit.sent["matterId"]):
        raise refusal("The fixed fee is assigned to time entries of its matter, so it can't move to another matter.")


def _refuse_fee_deletion(edit: Edit) -> None:
    _refuse_if_billed(edit)
    if edit.exists("SELECT 1 FROM time_entry WHERE fixed_fee_id = ?", edit.id):
        raise refusal("The fixed fee is assigned to time entries, so it can't be deleted. Remove it from them first.")


_IF_BILLED: dict[str, Any] = {"refused_if": "The item is billed (on an invoice).", "refuse": _refuse_if_billed}

TIME_ENTRY_WRITES = (
    create(collection=TIME_ENTRY_COLLECTION, run=_create_time, returns_record=True, check=_check_new_time),
    update(collection=TIME_ENTRY_COLLECTION, run=_update_time, check=_check_changed_time, **_IF_BILLED),
    delete(collection=TIME_ENTRY_COLLECTION, **_IF_BILLED),
)

ITEM_WRITES = (
    *TIME_ENTRY_WRITES,
    create(collection=EXPENSE_COLLECTION),
    update(collection=EXPENSE_COLLECTION, **_IF_BILLED),
    delete(collection=EXPENSE_COLLECTION, **_IF_BILLED),
    create(collection=FIXED_FEE_COLLECTION),
    update(collection=FIXED_FEE_COLLECTION, **_IF_BILLED | {"refuse": _refuse_fee_update}),
    delete(
        collection=FIXED_FEE_COLLECTION,
        refused_if="The fixed fee is billed, or is assigned to time entries.",
        refuse=_refuse_fee_deletion,
    ),
)
