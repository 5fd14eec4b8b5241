"""Create, update and delete time entries, expenses and fixed fees; a billed item can't be updated or deleted.

The timekeeper of a time entry is the body's userId, else the header's, else the credential's user. Only billable
entries have a rate and an amount: the rate is the user's unless one is sent; the amount is hours times rate, rounded to
the cent.
"""

from __future__ import annotations

from typing import Any

from billframes.sandbox.items import EXPENSE_COLLECTION, FIXED_FEE_COLLECTION, TIME_ENTRY_COLLECTION
from billframes.sandbox.parameters import read_id
from billframes.sandbox.problems import shown
from billframes.sandbox.reading import Row
from billframes.sandbox.schema import BILLING_TYPES, worth
from billframes.sandbox.writes.edits import Edit, Operation, refuse
from billframes.schema.resources import ALL_ZERO_ID

__all__ = ["ACTING_USER", "ITEM_WRITES", "TIME_ENTRY_WRITES"]

ACTING_USER = "x-service-userid"

_COLUMNS = {
    "matterId": "matter_id",
    "userId": "user_id",
    "date": "date",
    "time": "time",
    "description": "description",
    "hours": "hours",
    "billingType": "billing_type",
    "amount": "amount",
    "fixedFeeId": "fixed_fee_id",
    "activityCode": "activity_code",
    "taskCode": "task_code",
    "expenseCode": "expense_code",
}
_TIME_KEEPS = frozenset({"userId", "matterId", "date", "description", "hours", "billingType", "fixedFeeId"})
_COST_KEEPS = frozenset({"matterId", "date", "description", "amount"})
_BILLED = "The item is billed (on an invoice)."


def _refuse_billed(edit: Edit, table: str, deed: str) -> None:
    """Refuse a change that is not allowed for an item on an invoice in any state."""
    sql = f"""
        SELECT invoice_number, invoice_state FROM {table} JOIN invoice USING (invoice_id) WHERE {table}_id = ?
    """  # noqa: S608
    if invoice := edit.one(sql, edit.id):
        kind = table.replace("_", " ")
        number, state = invoice["invoice_number"], invoice["invoice_state"]
        raise refuse(f"The {kind} is billed (on invoice {number}, which is {state}), so it can't be {deed}.")


def _check_new_time(edit: Edit) -> None:
    if "userId" not in edit.sent and not edit.faults.about("#/userId"):
        user_id = _acting_user(edit) if edit.acting_user else edit.caller.user_id
        edit.sent = {**edit.sent, "userId": user_id}
        if user_id is None and not edit.acting_user:
            missing = f"is missing, the header {ACTING_USER} names nobody, and the credential has no user"
            edit.faults.body("#/userId", missing)
    _check_fixed_fee(edit, {})


def _acting_user(edit: Edit) -> str | None:
    """Return the header's user; note a fault if there is no such user."""
    user_id = read_id((edit.acting_user or "").strip())
    if user_id is None or not edit.exists("SELECT 1 FROM user WHERE user_id = ?", user_id):
        edit.faults.parameter(ACTING_USER, f"is {shown(edit.acting_user)}; expected the UUID of a user")
        return None
    return user_id


def _check_changed_time(edit: Edit) -> None:
    _check_fixed_fee(edit, _stored_time(edit))


def _check_fixed_fee(edit: Edit, before: Row) -> None:
    """Note a fixed fee that does not belong to the entry's matter, whichever of the two changes."""
    fee_id = edit.sent.get("fixedFeeId") or before.get("fixed_fee_id")
    matter_id = edit.sent.get("matterId") or before.get("matter_id")
    if fee_id is None or matter_id is None or fee_id == ALL_ZERO_ID:
        return
    fee = edit.one("SELECT matter_id FROM fixed_fee WHERE fixed_fee_id = ?", fee_id)
    if fee and fee["matter_id"] != matter_id:
        edit.faults.body("#/fixedFeeId", "is of another matter than the time entry")


def _create_time(edit: Edit) -> None:
    row = edit.columns(_COLUMNS)
    row.setdefault("billing_type", "fixedFee" if row.get("fixed_fee_id") else _default_type(edit))
    edit.create("time_entry", row | _worth(edit, row, edit.sent.get("rate")))


def _update_time(edit: Edit) -> None:
    _refuse_billed(edit, "time_entry", "updated")
    before = _stored_time(edit)
    row = edit.columns(_COLUMNS)
    rate = edit.sent.get("rate", before["rate"])
    edit.update("time_entry", row | _worth(edit, before | row, rate))


def _delete_time(edit: Edit) -> None:
    _refuse_billed(edit, "time_entry", "deleted")
    edit.delete("time_entry")


def _stored_time(edit: Edit) -> Row:
    row = edit.one("SELECT * FROM time_entry WHERE time_entry_id = ?", edit.id)
    assert row is not None  # noqa: S101
    return row


def _default_type(edit: Edit) -> str:
    matter = edit.one("SELECT matter_type FROM matter WHERE matter_id = ?", edit.sent["matterId"])
    assert matter is not None  # noqa: S101
    return BILLING_TYPES[matter["matter_type"]]


def _worth(edit: Edit, row: Row, rate: Any) -> Row:
    """Return rate and amount, which only billable entries have; the rate defaults to the user's."""
    if row["billing_type"] != "billable":
        return {"rate": None, "amount": None}
    if rate is None:
        user = edit.one("SELECT rate FROM user WHERE user_id = ?", row["user_id"])
        assert user is not None  # noqa: S101
        rate = user["rate"]
    return {"rate": rate, "amount": worth(row["hours"], rate)}


def _create_expense(edit: Edit) -> None:
    edit.create("expense", edit.columns(_COLUMNS))


def _update_expense(edit: Edit) -> None:
    _refuse_billed(edit, "expense", "updated")
    edit.update("expense", edit.columns(_COLUMNS))


def _delete_expense(edit: Edit) -> None:
    _refuse_billed(edit, "expense", "deleted")
    edit.delete("expense")


def _create_fee(edit: Edit) -> None:
    edit.create("fixed_fee", edit.columns(_COLUMNS))


def _update_fee(edit: Edit) -> None:
    _refuse_billed(edit, "fixed_fee", "updated")
    elsewhere = "SELECT 1 FROM time_entry WHERE fixed_fee_id = ? AND matter_id <> ?"
    if "matterId" in edit.sent and edit.exists(elsewhere, edit.id, edit.sent["matterId"]):
        raise refuse("The fixed fee is assigned to time entries of its matter, so it can't move to another matter.")
    edit.update("fixed_fee", edit.columns(_COLUMNS))


def _delete_fee(edit: Edit) -> None:
    _refuse_billed(edit, "fixed_fee", "deleted")
    if edit.exists("SELECT 1 FROM time_entry WHERE fixed_fee_id = ?", edit.id):
        raise refuse("The fixed fee is assigned to time entries, so it can't be deleted. Remove it from them first.")
    edit.delete("fixed_fee")


TIME_ENTRY_WRITES = (
    Operation(method="POST", collection=TIME_ENTRY_COLLECTION, run=_create_time, answers=True, check=_check_new_time),
    Operation(
        method="PUT",
        collection=TIME_ENTRY_COLLECTION,
        run=_update_time,
        keeps=_TIME_KEEPS,
        check=_check_changed_time,
        refused=_BILLED,
    ),
    Operation(method="DELETE", collection=TIME_ENTRY_COLLECTION, run=_delete_time, refused=_BILLED),
)

ITEM_WRITES = (
    *TIME_ENTRY_WRITES,
    Operation(method="POST", collection=EXPENSE_COLLECTION, run=_create_expense),
    Operation(method="PUT", collection=EXPENSE_COLLECTION, run=_update_expense, keeps=_COST_KEEPS, refused=_BILLED),
    Operation(method="DELETE", collection=EXPENSE_COLLECTION, run=_delete_expense, refused=_BILLED),
    Operation(method="POST", collection=FIXED_FEE_COLLECTION, run=_create_fee),
    Operation(method="PUT", collection=FIXED_FEE_COLLECTION, run=_update_fee, keeps=_COST_KEEPS, refused=_BILLED),
    Operation(
        method="DELETE",
        collection=FIXED_FEE_COLLECTION,
        run=_delete_fee,
        refused="The fixed fee is billed, or is assigned to time entries.",
    ),
)
