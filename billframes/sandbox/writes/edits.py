"""Perform one change: its caller, instant and record, and the SQL statements it uses.

An operation declares its body and rules. `perform` first collects all faults of the body, then lets the operation
refuse or write. It runs in a transaction that is rolled back if anything is raised, so a refused call changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from billframes._names import with_article
from billframes.sandbox.credentials import Caller
from billframes.sandbox.problems import Faults, Problem
from billframes.sandbox.reading import Collection, Row, View, read_one
from billframes.sandbox.writes.bodies import REMOVABLE, check_references
from billframes.sandbox.writes.custom import read_changes, write_changes
from billframes.schema import records as r
from billframes.schema.resources import ALL_ZERO_ID

__all__ = ["Edit", "Operation", "perform", "refuse"]


@dataclass(slots=True, kw_only=True)
class Edit:
    """
    A change in progress.

    Parameters
    ----------
    connection : sqlite3.Connection
        Inside the change's own write transaction.
    caller : Caller
        Who is calling.
    at : str
        The change's instant, later than any before it.
    id : str
        The record the path names; a new id for a create.
    sent : mapping
        The body's checked values, without nulls that change nothing.
    acting_user : str, optional
        The header `x-service-userid`.
    faults : Faults
        Takes what is wrong.
    moves_date : bool
        Whether the change sets the record's modified date.
    replaces : bool
        Whether a nested object that is sent replaces the stored one. Otherwise fields of it that are not sent stay.
    """

    connection: sqlite3.Connection
    caller: Caller
    at: str
    id: str
    sent: Mapping[str, Any]
    faults: Faults
    acting_user: str | None = None
    moves_date: bool = True
    replaces: bool = False

    def one(self, sql: str, *values: Any) -> Row | None:
        """Return the query's first row by column name."""
        cursor = self.connection.execute(sql, values)
        row = cursor.fetchone()
        return None if row is None else {column[0]: each for column, each in zip(cursor.description, row, strict=True)}

    def exists(self, sql: str, *values: Any) -> bool:
        """Tell whether the query has a result."""
        return self.connection.execute(sql, values).fetchone() is not None

    def insert(self, table: str, row: Row) -> None:
        """Insert a row; column names come from this source, values are bound."""
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])  # noqa: S608

    def create(self, table: str, row: Row) -> None:
        """Insert a record under the edit's id, created and modified now."""
        self.insert(table, {f"{table}_id": self.id, **row, "created_at": self.at, "modified_at": self.at})
        self._write_custom_fields()

    def set(self, table: str, row: Row) -> None:
        """Set columns of the edit's record."""
        if row:
            settings = ", ".join(f"{name} = ?" for name in row)
            sql = f"UPDATE {table} SET {settings} WHERE {table}_id = ?"  # noqa: S608
            self.connection.execute(sql, [*row.values(), self.id])

    def update(self, table: str, row: Row) -> None:
        """Set columns of the edit's record, and its modified date."""
        self.set(table, {**row, **({"modified_at": self.at} if self.moves_date else {})})
        self._write_custom_fields()

    def delete(self, table: str) -> None:
        """Delete the edit's record and its custom field values."""
        self.connection.execute("DELETE FROM custom_value WHERE record_id = ?", [self.id])
        self.connection.execute(f"DELETE FROM {table} WHERE {table}_id = ?", [self.id])  # noqa: S608

    def _write_custom_fields(self) -> None:
        write_changes(self.connection, self.id, self.sent.get("customFields"))

    def columns(self, names: Mapping[str, str]) -> Row:
        """Return the sent properties by column name."""
        return {column: self.sent[name] for name, column in names.items() if name in self.sent}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """
    A create, update or delete of the API. Its path, body and texts follow from the resource.

    Parameters
    ----------
    method : {"POST", "PUT", "DELETE"}
    collection : Collection
        The records that it writes.
    run : callable
        Writes, or refuses by raising a `Problem`.
    answers : bool
        Whether the response has the record. Otherwise it has no body.
    keeps : frozenset of str
        Properties whose null keeps the current value.
    check : callable, optional
        Notes what is wrong beyond types and references.
    refused : str
        The condition under which the response is 409.
    remark : str
        Added to the summary.
    """

    method: str
    collection: Collection
    run: Callable[[Edit], None]
    answers: bool = False
    keeps: frozenset[str] = frozenset()
    check: Callable[[Edit], None] | None = None
    refused: str = ""
    remark: str = ""

    @property
    def targets(self) -> bool:
        """Whether the path names a record."""
        return self.method != "POST"

    @property
    def path(self) -> str:
        """The path; `{id}` is the record's."""
        return self.collection.resource.path + ("/{id}" if self.targets else "")

    @property
    def body(self) -> type[r.WriteBody] | None:
        """The properties that the body may have; None if the operation takes no body."""
        resource = self.collection.resource
        return {"POST": resource.creates, "PUT": resource.updates}.get(self.method)

    @property
    def name(self) -> str:
        """The operation's name: "create_time_entry"."""
        return f"{self._verb}_{self.collection.table}"

    @property
    def summary(self) -> str:
        """The operation in a few words."""
        ending = "; what is not sent stays" if self._verb == "update" else ""
        return f"{self._verb.capitalize()} {with_article(self.collection.resource.noun)}{ending}{self.remark}"

    @property
    def _verb(self) -> str:
        return {"POST": "create", "PUT": "update", "DELETE": "delete"}[self.method]


def perform(operation: Operation, edit: Edit) -> Row | None:
    """
    Check and make a change; return the response's record, if it has one.

    Raises
    ------
    Problem
        400 with everything that is wrong, or 409 if a rule of the API forbids the change.
    """
    edit.sent = _without_kept(operation, edit.sent)
    check_references(edit.connection, edit.sent, edit.faults)
    entity = operation.collection.resource.entity
    if entity and edit.sent.get("customFields"):
        changes = read_changes(edit.connection, entity, edit.sent["customFields"], edit.faults)
        edit.sent = {**edit.sent, "customFields": changes}
    if operation.check:
        operation.check(edit)
    edit.faults.check()
    edit.sent = {name: _removed(name, value) for name, value in edit.sent.items()}
    operation.run(edit)
    if not operation.answers:
        return None
    view = View(detail=True, rates=edit.caller.sees_rates)
    return read_one(edit.connection, operation.collection, edit.id, view)


def refuse(sentence: str) -> Problem:
    """Return the problem for a violated rule of the API."""
    return Problem(409, sentence)


def _without_kept(operation: Operation, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Remove nulls that change nothing: those of a create, and those that keep the current value."""
    keeps = operation.keeps if operation.targets else sent.keys()
    return {name: value for name, value in sent.items() if value is not None or name not in keeps}


def _removed(name: str, value: Any) -> Any:
    return None if value == ALL_ZERO_ID and name in REMOVABLE else value
