"""List the versions of a mirror, and compare them: which rows and cells changed, and when.

Two versions of a table share the files that no change touched, so only the other files are compared. The history has
what each refresh saw. It shows the sum of several changes between two refreshes, and nothing of a record that was
created and deleted in between.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd
import pyarrow as pa

from billframes.mirror.catalogue import Version
from billframes.mirror.storage import Storage
from billframes.mirror.tables import POSITION, TABLES, Table

__all__ = ["changed_rows", "changes", "history", "summary"]

_CHANGES = {
    "resource": "str",
    "id": "str",
    "change": "str",
    "column": "str",
    "before": "str",
    "after": "str",
    "when": "datetime64[us, UTC]",
    "version": "int64",
}
_HISTORY = {
    "version": "int64",
    "time": "datetime64[us, UTC]",
    "tags": "str",
    "added": "int64",
    "updated": "int64",
    "removed": "int64",
    "requests": "int64",
    "seconds": "float64",
}


def history(versions: Sequence[Version]) -> pd.DataFrame:
    """Return a row a version, oldest first."""
    rows = [
        {
            "version": each.number,
            "time": each.time,
            "tags": ", ".join(each.tags),
            **{name: sum(row[name] for row in each.summary) for name in list(_HISTORY)[3:]},
        }
        for each in versions
    ]
    return _frame(rows, _HISTORY)


def summary(version: Version) -> pd.DataFrame:
    """Return what the refresh that made a version did, a row a resource."""
    columns = ["resource", "added", "updated", "removed", "requests", "seconds"]
    return pd.DataFrame(list(version.summary), columns=columns)


def changes(storage: Storage, versions: Sequence[Version], resources: Sequence[str]) -> pd.DataFrame:
    """Return a row a changed cell, and one for each row that was added or removed, over all these versions."""
    rows = [
        {"resource": name, **row, "when": after.time, "version": after.number}
        for before, after in pairwise(versions)
        for name in resources
        for row in _cells(storage, TABLES[name], before, after)
    ]
    return _frame(rows, _CHANGES)


def changed_rows(storage: Storage, table: Table, before: Version, after: Version) -> tuple[pa.Table, pa.Table]:
    """Return the rows that differ between two versions, as they were and as they are."""
    at = before.tables[table.name], after.tables[table.name]
    if at[0] == at[1]:
        nothing = storage.schema(table.name, at[1]).empty_table()
        return nothing, nothing
    parts = [{part.uri: part for part in storage.parts(table.name, each)} for each in at]
    one, other = (
        storage.dataset(table.name, version, parts=[part for uri, part in own.items() if uri not in others]).to_table()
        for version, own, others in ((at[0], parts[0], parts[1]), (at[1], parts[1], parts[0]))
    )
    return one, other


def _cells(storage: Storage, table: Table, before: Version, after: Version) -> Iterator[dict[str, Any]]:
    old, new = changed_rows(storage, table, before, after)
    was, now = ({_id(row, table): row for row in rows.to_pylist()} for rows in (old, new))
    for id_ in was.keys() - now.keys():
        yield {"id": id_, "change": "removed", "column": None, "before": None, "after": None}
    for id_, row in now.items():
        if id_ not in was:
            yield {"id": id_, "change": "added", "column": None, "before": None, "after": None}
            continue
        for name in dict.fromkeys([*was[id_], *row]):
            one, other = was[id_].get(name), row.get(name)
            if one != other and name != POSITION:
                yield {"id": id_, "change": "changed", "column": name, "before": _text(one), "after": _text(other)}


def _id(row: dict[str, Any], table: Table) -> str:
    return " ".join(str(row[name]) for name in table.key)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, dt.date | dt.datetime) else str(value)


def _frame(rows: list[dict[str, Any]], dtypes: dict[str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)
    order = [name for name in ("version", "resource", "id", "column") if name in dtypes]
    return frame.sort_values(order, ignore_index=True, kind="stable")
