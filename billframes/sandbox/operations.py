"""Perform one create, update or delete.

An operation declares its body and rules. `perform` first collects all faults of the body, then lets the operation
refuse or write. It runs in a transaction that is rolled back if anything is raised, so a refused call changes nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from billframes._shared.names import snake_case, with_article
from billframes.sandbox.collection import Collection, Row, View, read_record
from billframes.sandbox.credentials import Caller
from billframes.sandbox.custom_fields import read_changes, write_changes
from billframes.sandbox.problems import Faults, HttpProblem
from billframes.sandbox.request_bodies import REMOVABLE, check_references
from billframes.sandbox.schema import table_columns
from billframes.schema import records as r
from billframes.schema.resources import ALL_ZERO_ID

# The columns whose names are not those of the properties.
_OTHER_COLUMNS = {"default": "is_default", "conflictInformation": "conflict"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """
    A create, update or delete of the API. Its path, body and texts follow from the resource.

    The response has the record if `returns_record`, otherwise no body. `check` adds faults beyond those of types and
    references. `refuse` raises a `refusal` under the condition `refused_if`. `run` writes, if that is more than writing
    the sent values. `remark` is added to the summary.
    """

    method: str
    collection: Collection
    returns_record: bool = False
    check: Callable[[Edit], None] | None = None
    refused_if: str = ""
    refuse: Callable[[Edit], None] | None = None
    run: Callable[[Edit], None] | None = None
    remark: str = ""

    @property
    def has_id(self) -> bool:
        """Whether the path has the id of a record."""
        return self.method != "POST"

    @property
    def path(self) -> str:
        """The path; `{id}` is the record's."""
        return self.collection.resource.path + ("/{id}" if self.has_id else "")

    @property
    def body(self) -> type[r.WriteBody] | None:
        """The record that declares the properties of the body; None if the operation takes no body."""
        resource = self.collection.resource
        return {"POST": resource.creates, "PUT": resource.updates}.get(self.method)

    @property
    def name(self) -> str:
        """The operation's name, such as "create_time_entry"."""
        return f"{self.verb}_{self.collection.table}"

    @property
    def summary(self) -> str:
        """The operation in a few words."""
        ending = "; what is not sent stays" if self.verb == "update" else ""
        return f"{self.verb.capitalize()} {with_article(self.collection.resource.noun)}{ending}{self.remark}"

    @property
    def verb(self) -> str:
        """What the operation does: "create", "update" or "delete"."""
        return {"POST": "create", "PUT": "update", "DELETE": "delete"}[self.method]


create, update, delete = (partial(Operation, method=each) for each in ("POST", "PUT", "DELETE"))


@dataclass(slots=True, kw_only=True)
class Edit:
    """
    One call of an operation, with the statements that write its record, in a write transaction of its own.

    `at` is the edit's instant, later than that of any edit before it. `id` is the id in the path; a new id for a
    create. `sent` are the body's checked values by property name, without nulls that change nothing. `faults` are those
    of the body and the header `x-service-userid`, which `acting_user` is. A server may leave the modified date of an
    update unchanged (`sets_modified_date`), and replace a nested object, so that fields of it that are not sent are
    lost (`replaces_objects`).
    """

    operation: Operation
    connection: sqlite3.Connection
    caller: Caller
    at: str
    id: str
    sent: Mapping[str, Any]
    faults: Faults
    acting_user: str | None = None
    sets_modified_date: bool = True
    replaces_objects: bool = False

    @property
    def _table(self) -> str:
        return self.operation.collection.table

    @property
    def _key(self) -> str:
        return self.operation.collection.key

    def first_row(self, sql: str, *values: Any) -> Row | None:
        """Return the query's first row by column name."""
        cursor = self.connection.execute(sql, values)
        names = [column[0] for column in cursor.description]
        return next((dict(zip(names, row, strict=True)) for row in cursor), None)

    def stored(self) -> Row:
        """Return the record's row as it is before the edit."""
        row = self.first_row(f"SELECT * FROM {self._table} WHERE {self._key} = ?", self.id)  # noqa: S608
        assert row is not None  # noqa: S101
        return row

    def exists(self, sql: str, *values: Any) -> bool:
        """Tell whether the query has a result."""
        return self.connection.execute(sql, values).fetchone() is not None

    def columns(self) -> Row:
        """Return the sent values that the record's table stores, by column name."""
        row = {column: self.sent[name] for name, column in self._sent_columns().items()}
        return row | {column: self._merged(column, sent) for column, sent in row.items() if isinstance(sent, dict)}

    def _merged(self, column: str, sent: Row) -> str:
        """Return a nested object as JSON: the stored one with the sent properties, without nulls."""
        keeps = self.operation.has_id and not self.replaces_objects
        stored = msgspec.json.decode((keeps and self.stored()[column]) or "{}")
        merged = {name: value for name, value in {**stored, **sent}.items() if value is not None}
        return msgspec.json.encode(merged).decode()

    def drop_ignored_nulls(self) -> None:
        """Remove nulls that change nothing: all of a create, and those that would empty a column that needs a value."""
        ignored = {*self.sent}
        if self.operation.has_id:
            needed = table_columns(self.connection, self._table)
            ignored = {name for name, column in self._sent_columns().items() if needed[column]}
            ignored |= REMOVABLE | {"customFields"}
        self.sent = {name: value for name, value in self.sent.items() if value is not None or name not in ignored}

    def _sent_columns(self) -> dict[str, str]:
        """Return the column of each sent property that the record's table stores."""
        stored = table_columns(self.connection, self._table)
        names = {name: _OTHER_COLUMNS.get(name) or snake_case(name) for name in self.sent}
        return {name: column for name, column in names.items() if column in stored}

    def insert(self, table: str, row: Row) -> None:
        """Insert a row."""
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", [*row.values()])  # noqa: S608

    def create(self, row: Row) -> None:
        """Insert the record, created and modified now, and its custom field values."""
        self.insert(self._table, {self._key: self.id, **row, **self._dates("created_at", "modified_at")})
        self._write_custom_fields()

    def update(self, row: Row) -> None:
        """Set columns of the record, its modified date and its custom field values."""
        row = {**row, **(self._dates("modified_at") if self.sets_modified_date else {})}
        if row:
            settings = ", ".join(f"{name} = ?" for name in row)
            sql = f"UPDATE {self._table} SET {settings} WHERE {self._key} = ?"  # noqa: S608
            self.connection.execute(sql, [*row.values(), self.id])
        self._write_custom_fields()

    def _dates(self, *names: str) -> Row:
        """Return the edit's instant for the columns that the table has: practice areas have no metadata."""
        stored = table_columns(self.connection, self._table)
        return {name: self.at for name in names if name in stored}

    def delete(self) -> None:
        """Delete the record and its custom field values."""
        self.connection.execute("DELETE FROM custom_value WHERE record_id = ?", [self.id])
        self.connection.execute(f"DELETE FROM {self._table} WHERE {self._key} = ?", [self.id])  # noqa: S608

    def _write_custom_fields(self) -> None:
        write_changes(self.connection, self.id, self.sent.get("customFields") or {})


def perform(edit: Edit) -> Row | None:
    """Check and make an edit; return the response's record, if it has one. Raises 400 with all faults, or 409."""
    operation = edit.operation
    edit.drop_ignored_nulls()
    check_references(edit.connection, edit.sent, edit.faults)
    entity = operation.collection.resource.entity
    if entity and edit.sent.get("customFields"):
        changes = read_changes(edit.connection, entity, edit.sent["customFields"], edit.faults)
        edit.sent = {**edit.sent, "customFields": changes}
    if operation.check:
        operation.check(edit)
    edit.faults.raise_if_any()
    removed = {name for name, value in edit.sent.items() if value == ALL_ZERO_ID and name in REMOVABLE}
    edit.sent = {**edit.sent, **dict.fromkeys(removed)}
    if operation.refuse:
        operation.refuse(edit)
    (operation.run or write)(edit)
    if not operation.returns_record:
        return None
    view = View(detail=True, rates=edit.caller.sees_rates)
    return read_record(edit.connection, operation.collection, edit.id, view)


def refusal(rule: str) -> HttpProblem:
    """Return the problem to raise if an edit violates a rule of the API."""
    return HttpProblem(409, rule)


def write(edit: Edit) -> None:
    """Write the sent values, or delete the record."""
    if edit.operation.verb == "delete":
        edit.delete()
    else:
        {"create": edit.create, "update": edit.update}[edit.operation.verb](edit.columns())
