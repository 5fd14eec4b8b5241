"""Create, move, pay and void invoices, as the firm's bookkeeper does; the public API only lists them.

An invoice goes from draft to review to approved to final. A new draft takes all unbilled items, which are billed from
then on; voiding the invoice makes them unbilled again. Only final invoices have a due date, count towards balances
and can be paid.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from billframes.errors import ParameterError
from billframes.sandbox.clients import INVOICE_COLLECTION
from billframes.sandbox.reading import Row, View, read_one
from billframes.sandbox.schema import SCALE
from billframes.sandbox.store import Store

__all__ = ["Admin"]

_STATES = ("draft", "review", "approved", "final")
_ITEMS = ("time_entry", "expense", "fixed_fee")


class Admin:
    """
    The bookkeeper of a sandbox.

    Every method makes its change in one transaction, while others call the API.

    Parameters
    ----------
    store : Store
        The firm.

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
        Create a draft invoice of everything unbilled.

        Parameters
        ----------
        client_id : str
            The client to bill.
        matter_ids : iterable of str, optional
            Which of the client's matters; all of them if omitted. The API shows the first.
        through : date or str, optional
            Bill items dated up to this day, inclusive; all of them if omitted.
        invoice_date : date or str, optional
            If omitted, today in sandbox time.
        write_down : float
            Amount to take off the total.

        Returns
        -------
        dict
            The invoice as the API lists it.

        Raises
        ------
        ParameterError
            There is nothing to bill, or a matter is not the client's.
        """
        with self._store.writing() as (connection, at):
            matters = _matters(connection, client_id, matter_ids)
            last = _day("through", through) or "9999-12-31"
            covered = [each for each in matters if _anything(connection, each, last)]
            if not covered:
                raise ParameterError(f"There is nothing unbilled for client {client_id} through {last}.")
            total = sum(_total(connection, each, last) for each in covered) - _units(write_down)
            date = _day("invoice_date", invoice_date) or str(self._store.clock.today())
            id_ = str(uuid.uuid4())
            row = (id_, client_id, _next_number(connection), date, "draft", None, total, total, at, at)
            connection.execute("INSERT INTO invoice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            for position, matter_id in enumerate(covered):
                connection.execute("INSERT INTO invoice_matter VALUES (?, ?, ?)", (id_, matter_id, position))
                _take(connection, id_, matter_id, last, at)
            return _shown(connection, id_)

    def move(self, invoice_id: str, state: str, *, due_date: dt.date | str | None = None) -> Row:
        """
        Move an invoice to another state; one that is not final yet may go back as well.

        Parameters
        ----------
        invoice_id : str
            Which invoice.
        state : {"draft", "review", "approved", "final"}
            The new state.
        due_date : date or str, optional
            For "final": when payment is due; if omitted, 30 days after the invoice's date.

        Raises
        ------
        ParameterError
            The invoice is final already (only `void` undoes that), or there is no such invoice or state.
        """
        if state not in _STATES:
            raise ParameterError(f"state is {state!r}; expected one of {', '.join(_STATES)}.")
        with self._store.writing() as (connection, at):
            invoice = _shown(connection, invoice_id)
            if invoice["invoiceState"] == "final":
                raise ParameterError(f"Invoice {invoice['invoiceNumber']} is final; it can be paid or voided.")
            due = (_day("due_date", due_date) or _days_later(invoice["invoiceDate"], 30)) if state == "final" else None
            sql = "UPDATE invoice SET invoice_state = ?, due_date = ?, modified_at = ? WHERE invoice_id = ?"
            connection.execute(sql, (state, due, at, invoice_id))
            return _shown(connection, invoice_id)

    def pay(self, invoice_id: str, amount: float | None = None) -> Row:
        """
        Record a payment on a final invoice; if `amount` is omitted, of the whole balance.

        Paying more than the balance leaves a credit. A negative amount reverses a payment.
        """
        with self._store.writing() as (connection, at):
            invoice = _shown(connection, invoice_id)
            if invoice["invoiceState"] != "final":
                raise ParameterError(f"Invoice {invoice['invoiceNumber']} is not final, so it can't be paid yet.")
            paid = _units(invoice["balance"] if amount is None else amount)
            sql = "UPDATE invoice SET balance = balance - ?, modified_at = ? WHERE invoice_id = ?"
            connection.execute(sql, (paid, at, invoice_id))
            return _shown(connection, invoice_id)

    def write_off(self, invoice_id: str, amount: float | None = None) -> Row:
        """Reduce a final invoice's amount and balance alike; if `amount` is omitted, by the whole balance."""
        with self._store.writing() as (connection, at):
            invoice = _shown(connection, invoice_id)
            if invoice["invoiceState"] != "final":
                raise ParameterError(
                    f"Invoice {invoice['invoiceNumber']} is not final; void it, or write its items down."
                )
            less = _units(invoice["balance"] if amount is None else amount)
            sql = "UPDATE invoice SET amount = amount - ?, balance = balance - ?, modified_at = ? WHERE invoice_id = ?"
            connection.execute(sql, (less, less, at, invoice_id))
            return _shown(connection, invoice_id)

    def void(self, invoice_id: str) -> None:
        """Delete an invoice in any state, and make its items unbilled again."""
        with self._store.writing() as (connection, at):
            _shown(connection, invoice_id)
            for table in _ITEMS:
                sql = f"UPDATE {table} SET invoice_id = NULL, modified_at = ? WHERE invoice_id = ?"  # noqa: S608
                connection.execute(sql, (at, invoice_id))
            connection.execute("DELETE FROM invoice WHERE invoice_id = ?", (invoice_id,))


def _shown(connection: sqlite3.Connection, invoice_id: str) -> Row:
    record = read_one(connection, INVOICE_COLLECTION, invoice_id, View())
    if record is None:
        raise ParameterError(f"There is no invoice with the id {invoice_id!r}.")
    return record


def _matters(connection: sqlite3.Connection, client_id: str, asked: Iterable[str] | None) -> Sequence[str]:
    sql = "SELECT matter_id FROM matter WHERE client_id = ? ORDER BY name, matter_id"
    theirs = [row[0] for row in connection.execute(sql, (client_id,))]
    wanted = theirs if asked is None else list(dict.fromkeys(asked))
    if strangers := set(wanted) - set(theirs):
        raise ParameterError(f"Client {client_id} has no matter {', '.join(sorted(strangers))}.")
    return wanted


def _anything(connection: sqlite3.Connection, matter_id: str, last: str) -> bool:
    return any(
        connection.execute(f"SELECT 1 FROM {table} {_UNBILLED}", (matter_id, last)).fetchone()  # noqa: S608
        for table in _ITEMS
    )


_UNBILLED = "WHERE matter_id = ? AND date <= ? AND invoice_id IS NULL"


def _total(connection: sqlite3.Connection, matter_id: str, last: str) -> int:
    """Return the total of a matter's unbilled items; time that is not billable has no amount."""
    total = 0
    for table in _ITEMS:
        sql = f"SELECT coalesce(sum(amount), 0) FROM {table} {_UNBILLED}"  # noqa: S608
        total += connection.execute(sql, (matter_id, last)).fetchone()[0]
    return total


def _take(connection: sqlite3.Connection, invoice_id: str, matter_id: str, last: str, at: str) -> None:
    for table in _ITEMS:
        sql = f"UPDATE {table} SET invoice_id = ?, modified_at = ? {_UNBILLED}"  # noqa: S608
        connection.execute(sql, (invoice_id, at, matter_id, last))


def _next_number(connection: sqlite3.Connection) -> str:
    """Return the highest number plus one, ignoring prefixes such as CN-."""
    numbers = (row[0].rpartition("-")[2] for row in connection.execute("SELECT invoice_number FROM invoice"))
    return str(max((int(each) for each in numbers if each.isdecimal()), default=1000) + 1)


def _units(amount: Any) -> int:
    return int((Decimal(repr(float(amount))) * SCALE).to_integral_value())


def _day(name: str, value: dt.date | str | None) -> str | None:
    try:
        return None if value is None else dt.date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ParameterError(f"{name} is {value!r}; expected a date as yyyy-MM-dd.") from None


def _days_later(date: str, days: int) -> str:
    return (dt.date.fromisoformat(date) + dt.timedelta(days=days)).isoformat()
