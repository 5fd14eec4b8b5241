"""Ids and codes in a body must be of something there is."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from billframes.sandbox.problems import Faults, shown
from billframes.schema.resources import ALL_ZERO_ID

__all__ = ["REMOVABLE", "check_references"]

# Property to table and key, and what a sentence calls it.
_TABLES = MappingProxyType(
    {
        "clientId": ("client", "client"),
        "fixedFeeId": ("fixed_fee", "fixed fee"),
        "matterId": ("matter", "matter"),
        "originatorId": ("user", "user"),
        "practiceAreaId": ("practice_area", "practice area"),
        "responsibleId": ("user", "user"),
        "userId": ("user", "user"),
    }
)
_CODES = MappingProxyType({"activityCode": "activity", "taskCode": "task", "expenseCode": "expense"})

# What the all-zero UUID takes away.
REMOVABLE = frozenset({"fixedFeeId", "practiceAreaId"})


def check_references(connection: sqlite3.Connection, sent: Mapping[str, Any], faults: Faults) -> None:
    """Note every id of no record, and every code that is unknown or may not be assigned."""
    for name, value in sent.items():
        if value is None:
            continue
        if name in _TABLES and not (value == ALL_ZERO_ID and name in REMOVABLE):
            _check_id(connection, name, value, faults)
        elif name in _CODES:
            _check_code(connection, name, value, faults)


def _check_id(connection: sqlite3.Connection, name: str, value: str, faults: Faults) -> None:
    table, kind = _TABLES[name]
    sql = f"SELECT 1 FROM {table} WHERE {table}_id = ?"  # noqa: S608
    if connection.execute(sql, [value]).fetchone() is None:
        faults.body(f"#/{name}", f"is {shown(value)}, and there is no {kind} with this id")


def _check_code(connection: sqlite3.Connection, name: str, value: str, faults: Faults) -> None:
    kind = _CODES[name]
    sql = "SELECT max(selectable) FROM code WHERE kind = ? AND code = ?"
    selectable = connection.execute(sql, [kind, value]).fetchone()[0]
    if selectable is None:
        faults.body(f"#/{name}", f"is {shown(value)}, and there is no such {kind} code")
    elif not selectable:
        faults.body(f"#/{name}", f"is {shown(value)}, a heading, which is not valid for assigning")
