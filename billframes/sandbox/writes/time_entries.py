"""Create, update and delete time entries: their timekeeper, default billing type, rate and amount.

The timekeeper is the body's userId, else the header's, else the credential's user. Only billable entries have a
rate and an amount: the rate is the user's unless one is sent; the amount is hours times rate, rounded to the cent.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from billframes.sandbox.items import TIME_ENTRY_ITEMS
from billframes.sandbox.parameters import read_id
from billframes.sandbox.problems import shown
from billframes.sandbox.reading import Row
from billframes.sandbox.seed.basics import worth
from billframes.sandbox.writes.costs import refuse_billed
from billframes.sandbox.writes.edits import Edit, Operation
from billframes.schema import records as r
from billframes.schema.resources import ALL_ZERO_ID

__all__ = ["TIME_ENTRY_WRITES"]

ACTING_USER = "x-service-userid"

_COLUMNS = {
    "matterId": "matter_id",
    "userId": "user_id",
    "date": "date",
    "time": "time",
    "description": "description",
    "hours": "hours",
    "billingType": "billing_type",
    "fixedFeeId": "fixed_fee_id",
    "activityCode": "activity_code",
    "taskCode": "task_code",
}
_KEEPS = frozenset({"userId", "matterId", "date", "description", "hours", "billingType", "fixedFeeId"})
# The matter type determines defaults for time entries.
_BILLING_TYPES = MappingProxyType(
    {
        "hourly": "billable",
        "fixedFee": "fixedFee",
        "contingency": "billable",
        "probono": "nonBillable",
        "internal": "nonBillable",
    }
)


def _check_create(edit: Edit) -> None:
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


def _check_update(edit: Edit) -> None:
    _check_fixed_fee(edit, _stored(edit))


def _check_fixed_fee(edit: Edit, before: Row) -> None:
    """Note a fixed fee that does not belong to the entry's matter, whichever of the two changes."""
    fee_id = edit.sent.get("fixedFeeId") or before.get("fixed_fee_id")
    matter_id = edit.sent.get("matterId") or before.get("matter_id")
    if fee_id is None or matter_id is None or fee_id == ALL_ZERO_ID:
        return
    fee = edit.one("SELECT matter_id FROM fixed_fee WHERE fixed_fee_id = ?", fee_id)
    if fee and fee["matter_id"] != matter_id:
        edit.faults.body("#/fixedFeeId", "is of another matter than the time entry")


def _create(edit: Edit) -> None:
    row = edit.columns(_COLUMNS)
    row.setdefault("billing_type", "fixedFee" if row.get("fixed_fee_id") else _default_type(edit))
    edit.create("time_entry", "time_entry_id", row | _worth(edit, row, edit.sent.get("rate")))


def _update(edit: Edit) -> None:
    refuse_billed(edit, "time_entry", "updated")
    before = _stored(edit)
    row = edit.columns(_COLUMNS)
    rate = edit.sent.get("rate", before["rate"])
    edit.update("time_entry", "time_entry_id", row | _worth(edit, before | row, rate))


def _delete(edit: Edit) -> None:
    refuse_billed(edit, "time_entry", "deleted")
    edit.connection.execute("DELETE FROM time_entry WHERE time_entry_id = ?", [edit.id])


def _stored(edit: Edit) -> Row:
    row = edit.one("SELECT * FROM time_entry WHERE time_entry_id = ?", edit.id)
    assert row is not None  # noqa: S101
    return row


def _default_type(edit: Edit) -> str:
    matter = edit.one("SELECT matter_type FROM matter WHERE matter_id = ?", edit.sent["matterId"])
    assert matter is not None  # noqa: S101
    return _BILLING_TYPES[matter["matter_type"]]


def _worth(edit: Edit, row: Row, rate: Any) -> Row:
    """Return rate and amount, which only billable entries have; the rate defaults to the user's."""
    if row["billing_type"] != "billable":
        return {"rate": None, "amount": None}
    if rate is None:
        user = edit.one("SELECT rate FROM user WHERE user_id = ?", row["user_id"])
        assert user is not None  # noqa: S101
        rate = user["rate"]
    return {"rate": rate, "amount": worth(row["hours"], rate)}


TIME_ENTRY_WRITES = (
    Operation(
        method="POST",
        path="/v2/time-entries",
        name="create_time_entry",
        summary="Create a time entry",
        body=r.CreateTimeEntry,
        answer=TIME_ENTRY_ITEMS,
        check=_check_create,
        run=_create,
    ),
    Operation(
        method="PUT",
        path="/v2/time-entries/{id}",
        name="update_time_entry",
        summary="Change a time entry; what is not sent stays",
        body=r.UpdateTimeEntry,
        target=TIME_ENTRY_ITEMS,
        keeps=_KEEPS,
        check=_check_update,
        run=_update,
        refused="The item is billed (on an invoice).",
    ),
    Operation(
        method="DELETE",
        path="/v2/time-entries/{id}",
        name="delete_time_entry",
        summary="Delete a time entry",
        target=TIME_ENTRY_ITEMS,
        run=_delete,
        refused="The item is billed (on an invoice).",
    ),
)
