"""Invoices: the SQL that lists them, and the bookkeeper's changes, which the public API does not offer.

An invoice goes from draft to review to approved to final. A new draft has all unbilled items, which are billed from
then on; voiding the invoice makes them unbilled again. Only final invoices have a due date, count towards balances and
can be paid.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from billframes.errors import ParameterError
from billframes.sandbox.collection import CLIENT, MATTER, META, Collection, Row, View, columns, read_record, scaled
from billframes.sandbox.schema import SCALE
from billframes.sandbox.store import Store
from billframes.schema.resources import INVOICES

INVOICE_COLLECTION = Collection(
    resource=INVOICES,
    columns={
        **columns("invoiceId clientId invoiceNumber invoiceDate invoiceState"),
        # The API shows the first of an invoice's matters.
        "matterId": "(SELECT matter_id FROM invoice_matter m WHERE m.invoice_id = invoice.invoice_id"
        " ORDER BY position LIMIT 1)",
        "dueDate": "CASE invoice_state WHEN 'final' THEN due_date END",
        "amount": scaled("amount"),
        "balance": scaled("balance"),
        "client": CLIENT,
        "matter": MATTER,
        "meta": META,
    },
    order=("invoice_date",),
    details={"meta": "meta"},
    where={"matterId": "invoice_id IN (SELECT invoice_id FROM invoice_matter WHERE matter_id = :matterId)"},
)

_STATES = ("draft", "review", "approved", "final")
_ITEM_TABLES = ("time_entry", "expense", "fixed_fee")
_UNBILLED = "WHERE matter_id = ? AND date <= ? AND invoice_id IS NULL"


class Admin:
    """
    The bookkeeper of a sandbox.

    Every method makes its change in one transaction, also while the API is in use.

    Parameters
    ----------
    store : Store
        The firm's database.

    Examples
    --------
    >>> from billframes.sandbox import Sandbox
    >>> with Sandbox() as sandbox:  # doctest: +SKIP
    ...     invoice = sandbox.admin.create_invoice(client_id, through="2026-10-31")
    ...     sandbox.admin.move(invoice["invoiceId"], "final")
    ...     sandbox.admin.pay(invoice["invoiceId"], 500.0)
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def create_invoice(
        self,
        client_id: str,
        matter_ids: Iterable[str] | None = None,
        *,
        through: dt.date | str | None = None,
        invoice_date: dt.date | str | None = None,
        write_down: float = 0.0,
    ) -> Row:
        """
        Create a draft invoice of the client's unbilled items.

        Parameters
        ----------
        client_id : str
            The client to bill.
        matter_ids : iterable of str, optional
            The client's matters to bill; if omitted, all of them. The API shows the first.
        through : date or str, optional
            The last day of the items to bill, inclusive; if omitted, all items are billed.
        invoice_date : date or str, optional
            If omitted, today in sandbox time.
        write_down : float
            The amount by which the invoice is less than its items.

        Returns
        -------
        dict
            The invoice as the API lists it.

        Raises
        ------
        ParameterError
            There are no unbilled items, a matter is not the client's, or a date is not a date.
        """
        with self._store.write_transaction() as (connection, at):
            matters = _matter_ids(connection, client_id, matter_ids)
            last = _check_date("through", through) or "9999-12-31"
            amounts = {each: _unbilled_amounts(connection, each, last) for each in matters}
            billed = [each for each, found in amounts.items() if found]
            if not billed:
                raise ParameterError(f"There is nothing unbilled for client {client_id} through {last}.")
            total = sum(map(sum, amounts.values())) - _to_units(write_down)
            date = _check_date("invoice_date", invoice_date) or str(self._store.clock.today())
            id_ = str(uuid.uuid4())
            row = (id_, client_id, _next_number(connection), date, "draft", None, total, total, at, at)
            connection.execute("INSERT INTO invoice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            for position, matter_id in enumerate(billed):
                connection.execute("INSERT INTO invoice_matter VALUES (?, ?, ?)", (id_, matter_id, position))
                _bill_items(connection, id_, matter_id, last, at)
            return _read_invoice(connection, id_)

    def move(self, invoice_id: str, state: str, *, due_date: dt.date | str | None = None) -> Row:
        """
        Move an invoice to another state. An invoice that is not final can also go back to an earlier state.

        Parameters
        ----------
        invoice_id : str
            The invoice's id.
        state : {"draft", "review", "approved", "final"}
            The new state.
        due_date : date or str, optional
            The day when payment of a final invoice is due; if omitted, 30 days after the invoice's date.

        Raises
        ------
        ParameterError
            The invoice is final already (only `void` undoes that), or the invoice or the state does not exist.
        """
        if state not in _STATES:
            raise ParameterError(f"state is {state!r}; expected one of {', '.join(_STATES)}.")
        with self._store.write_transaction() as (connection, at):
            invoice = _read_invoice(connection, invoice_id)
            if invoice["invoiceState"] == "final":
                raise ParameterError(f"Invoice {invoice['invoiceNumber']} is final; it can be paid or voided.")
            due = None
            if state == "final":
                due = _check_date("due_date", due_date) or _days_later(invoice["invoiceDate"], 30)
            sql = "UPDATE invoice SET invoice_state = ?, due_date = ?, modified_at = ? WHERE invoice_id = ?"
            connection.execute(sql, (state, due, at, invoice_id))
            return _read_invoice(connection, invoice_id)

    def pay(self, invoice_id: str, amount: float | None = None) -> Row:
        """
        Record a payment of a final invoice; if `amount` is omitted, a payment of the whole balance.

        Paying more than the balance leaves a credit. A negative amount reverses a payment.
        """
        return self._reduce(invoice_id, ("balance",), amount, ", so it can't be paid yet")

    def write_off(self, invoice_id: str, amount: float | None = None) -> Row:
        """Reduce the amount and the balance of a final invoice; if `amount` is omitted, by the whole balance."""
        return self._reduce(invoice_id, ("amount", "balance"), amount, "; void it, and create it with a write_down")

    def _reduce(self, invoice_id: str, columns: Sequence[str], amount: float | None, advice: str) -> Row:
        """Reduce columns of a final invoice by an amount, or by the balance."""
        with self._store.write_transaction() as (connection, at):
            invoice = _read_invoice(connection, invoice_id)
            if invoice["invoiceState"] != "final":
                raise ParameterError(f"Invoice {invoice['invoiceNumber']} is not final{advice}.")
            less = _to_units(invoice["balance"] if amount is None else amount)
            settings = ", ".join(f"{name} = {name} - :less" for name in columns)
            sql = f"UPDATE invoice SET {settings}, modified_at = :at WHERE invoice_id = :id"  # noqa: S608
            connection.execute(sql, {"less": less, "at": at, "id": invoice_id})
            return _read_invoice(connection, invoice_id)

    def void(self, invoice_id: str) -> None:
        """Delete an invoice in any state, and make its items unbilled again."""
        with self._store.write_transaction() as (connection, at):
            _read_invoice(connection, invoice_id)
            for table in _ITEM_TABLES:
                sql = f"UPDATE {table} SET invoice_id = NULL, modified_at = ? WHERE invoice_id = ?"  # noqa: S608
                connection.execute(sql, (at, invoice_id))
            connection.execute("DELETE FROM invoice WHERE invoice_id = ?", (invoice_id,))


def _read_invoice(connection: sqlite3.Connection, invoice_id: str) -> Row:
    record = read_record(connection, INVOICE_COLLECTION, invoice_id, View())
    if record is None:
        raise ParameterError(f"There is no invoice with the id {invoice_id!r}.")
    return record


def _matter_ids(connection: sqlite3.Connection, client_id: str, requested: Iterable[str] | None) -> Sequence[str]:
    sql = "SELECT matter_id FROM matter WHERE client_id = ? ORDER BY name, matter_id"
    known = [row[0] for row in connection.execute(sql, (client_id,))]
    chosen = known if requested is None else list(dict.fromkeys(requested))
    if unknown := set(chosen) - set(known):
        raise ParameterError(f"Client {client_id} has no matter {', '.join(sorted(unknown))}.")
    return chosen


def _unbilled_amounts(connection: sqlite3.Connection, matter_id: str, last: str) -> list[int]:
    """Return the amount of each of a matter's unbilled items: 0 for time that is not billable."""
    items = " UNION ALL ".join(f"SELECT coalesce(amount, 0) FROM {table} {_UNBILLED}" for table in _ITEM_TABLES)  # noqa: S608
    return [row[0] for row in connection.execute(items, (matter_id, last) * len(_ITEM_TABLES))]


def _bill_items(connection: sqlite3.Connection, invoice_id: str, matter_id: str, last: str, at: str) -> None:
    for table in _ITEM_TABLES:
        sql = f"UPDATE {table} SET invoice_id = ?, modified_at = ? {_UNBILLED}"  # noqa: S608
        connection.execute(sql, (invoice_id, at, matter_id, last))


def _next_number(connection: sqlite3.Connection) -> str:
    """Return the highest number plus one, ignoring prefixes such as CN-."""
    numbers = (row[0].rpartition("-")[2] for row in connection.execute("SELECT invoice_number FROM invoice"))
    return str(max((int(each) for each in numbers if each.isdecimal()), default=1000) + 1)


def _to_units(amount: Any) -> int:
    return int((Decimal(repr(float(amount))) * SCALE).to_integral_value())


def _check_date(name: str, value: dt.date | str | None) -> str | None:
    try:
        return None if value is None else dt.date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ParameterError(f"{name} is {value!r}; expected a date as yyyy-MM-dd.") from None


def _days_later(date: str, days: int) -> str:
    return (dt.date.fromisoformat(date) + dt.timedelta(days=days)).isoformat()
