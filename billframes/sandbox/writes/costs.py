"""Create, update and delete expenses and fixed fees. The responses have no body."""

from __future__ import annotations

from billframes.sandbox.items import EXPENSE_ITEMS, FIXED_FEE_ITEMS
from billframes.sandbox.writes.edits import Edit, Operation, refuse
from billframes.schema import records as r

__all__ = ["COST_WRITES", "refuse_billed"]

_COLUMNS = {
    "matterId": "matter_id",
    "userId": "user_id",
    "date": "date",
    "description": "description",
    "amount": "amount",
    "activityCode": "activity_code",
    "taskCode": "task_code",
    "expenseCode": "expense_code",
}
_KEEPS = frozenset({"matterId", "date", "description", "amount"})
_BILLED = "The item is billed (on an invoice)."


def refuse_billed(edit: Edit, table: str, deed: str) -> None:
    """Refuse a change that is not allowed for an item on an invoice in any state."""
    sql = f"""
        SELECT invoice_number, invoice_state FROM {table} JOIN invoice USING (invoice_id) WHERE {table}_id = ?
    """  # noqa: S608
    if invoice := edit.one(sql, edit.id):
        kind = table.replace("_", " ")
        number, state = invoice["invoice_number"], invoice["invoice_state"]
        raise refuse(f"The {kind} is billed (on invoice {number}, which is {state}), so it can't be {deed}.")


def _create_expense(edit: Edit) -> None:
    edit.create("expense", "expense_id", edit.columns(_COLUMNS))


def _update_expense(edit: Edit) -> None:
    refuse_billed(edit, "expense", "updated")
    edit.update("expense", "expense_id", edit.columns(_COLUMNS))


def _delete_expense(edit: Edit) -> None:
    refuse_billed(edit, "expense", "deleted")
    edit.connection.execute("DELETE FROM expense WHERE expense_id = ?", [edit.id])


def _create_fee(edit: Edit) -> None:
    edit.create("fixed_fee", "fixed_fee_id", edit.columns(_COLUMNS))


def _update_fee(edit: Edit) -> None:
    refuse_billed(edit, "fixed_fee", "updated")
    elsewhere = "SELECT 1 FROM time_entry WHERE fixed_fee_id = ? AND matter_id <> ?"
    if "matterId" in edit.sent and edit.exists(elsewhere, edit.id, edit.sent["matterId"]):
        raise refuse("The fixed fee is assigned to time entries of its matter, so it can't move to another matter.")
    edit.update("fixed_fee", "fixed_fee_id", edit.columns(_COLUMNS))


def _delete_fee(edit: Edit) -> None:
    refuse_billed(edit, "fixed_fee", "deleted")
    if edit.exists("SELECT 1 FROM time_entry WHERE fixed_fee_id = ?", edit.id):
        raise refuse("The fixed fee is assigned to time entries, so it can't be deleted. Remove it from them first.")
    edit.connection.execute("DELETE FROM fixed_fee WHERE fixed_fee_id = ?", [edit.id])


COST_WRITES = (
    Operation(
        method="POST",
        path="/v2/expenses",
        name="create_expense",
        summary="Create an expense",
        body=r.CreateExpense,
        run=_create_expense,
    ),
    Operation(
        method="PUT",
        path="/v2/expenses/{id}",
        name="update_expense",
        summary="Change an expense; what is not sent stays",
        body=r.UpdateExpense,
        target=EXPENSE_ITEMS,
        keeps=_KEEPS,
        run=_update_expense,
        refused=_BILLED,
    ),
    Operation(
        method="DELETE",
        path="/v2/expenses/{id}",
        name="delete_expense",
        summary="Delete an expense",
        target=EXPENSE_ITEMS,
        run=_delete_expense,
        refused=_BILLED,
    ),
    Operation(
        method="POST",
        path="/v2/fixed-fees",
        name="create_fixed_fee",
        summary="Create a fixed fee",
        body=r.CreateFixedFee,
        run=_create_fee,
    ),
    Operation(
        method="PUT",
        path="/v2/fixed-fees/{id}",
        name="update_fixed_fee",
        summary="Change a fixed fee; what is not sent stays",
        body=r.UpdateFixedFee,
        target=FIXED_FEE_ITEMS,
        keeps=_KEEPS,
        run=_update_fee,
        refused=_BILLED,
    ),
    Operation(
        method="DELETE",
        path="/v2/fixed-fees/{id}",
        name="delete_fixed_fee",
        summary="Delete a fixed fee",
        target=FIXED_FEE_ITEMS,
        run=_delete_fee,
        refused="The fixed fee is billed, or is assigned to time entries.",
    ),
)
