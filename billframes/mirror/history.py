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
from billframes.periods import local_day

INSTANT = "datetime64[us, UTC]"
_CHANGES = dict.fromkeys(("resource", "id", "change", "column", "before", "after"), "str")
_CHANGES |= {"when": INSTANT, "version": "int64"}
# A refresh up to this many days after a day is used for it. Payments of these days are already deducted.
_DAYS_AFTER = 7
_SUMS = dict.fromkeys(("added", "updated", "removed", "requests"), "int64") | {"seconds": "float64"}
_HISTORY = {"version": "int64", "time": INSTANT, "tags": "str", **_SUMS}


def history(versions: Sequence[Version]) -> pd.DataFrame:
    """Return one row per version, oldest first."""
    rows = [
        {
            "version": each.number,
            "time": each.time,
            "tags": ", ".join(each.tags),
            **{name: sum(row[name] for row in each.summary) for name in _SUMS},
        }
        for each in versions
    ]
    return sorted_frame(rows, _HISTORY, ["version"])


def summary(version: Version) -> pd.DataFrame:
    """Return the result of the refresh that made a version, one row per resource."""
    return pd.DataFrame(list(version.summary), columns=["resource", *_SUMS])


def changes(storage: Storage, versions: Sequence[Version], resources: Sequence[str]) -> pd.DataFrame:
    """Return one row per changed cell, and one per added or removed row, for each version after the first."""
    rows = [
        {"resource": name, **row, "when": after.time, "version": after.number}
        for before, after in pairwise(versions)
        for name in resources
        for row in _cells(storage, TABLES[name], before, after)
    ]
    return sorted_frame(rows, _CHANGES, ["version", "resource", "id", "column"])


def rows_of_changed_files(storage: Storage, table: Table, before: Version, after: Version) -> tuple[pa.Table, pa.Table]:
    """Return the rows of both versions in files that the other version lacks; all rows that differ are among them."""
    first, last = before.tables[table.name], after.tables[table.name]
    if first == last:
        no_rows = storage.schema(table.name, last).empty_table()
        return no_rows, no_rows
    old_files, new_files = (storage.data_files(table.name, version) for version in (first, last))
    shared = {file.uri for file in old_files} & {file.uri for file in new_files}
    old, new = (
        storage.dataset(table.name, version, data_files=[file for file in files if file.uri not in shared]).to_table()
        for version, files in ((first, old_files), (last, new_files))
    )
    return old, new


def _cells(storage: Storage, table: Table, before: Version, after: Version) -> Iterator[dict[str, Any]]:
    tables = rows_of_changed_files(storage, table, before, after)
    old_rows, new_rows = ({_id(row, table): row for row in rows.to_pylist()} for rows in tables)
    for id_ in old_rows.keys() - new_rows.keys():
        yield {"id": id_, "change": "removed", "column": None, "before": None, "after": None}
    for id_, row in new_rows.items():
        if id_ not in old_rows:
            yield {"id": id_, "change": "added", "column": None, "before": None, "after": None}
            continue
        for name in dict.fromkeys([*old_rows[id_], *row]):
            old, new = old_rows[id_].get(name), row.get(name)
            if old != new and name != POSITION and name not in table.shown:
                yield {"id": id_, "change": "changed", "column": name, "before": _text(old), "after": _text(new)}


def _id(row: dict[str, Any], table: Table) -> str:
    return " ".join(str(row[name]) for name in table.key)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def sorted_frame(rows: list[dict[str, Any]], dtypes: dict[str, str], order: list[str]) -> pd.DataFrame:
    """Return a frame with these columns, also without rows."""
    return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes).sort_values(order, ignore_index=True, kind="stable")


def version_of_day(versions: pd.DataFrame, last: dt.date, time_zone: str) -> tuple[int, dt.date] | None:
    """
    Return the number and the day of the version with the balances of a day; None if there is none.

    It is one whose tag contains the day's month ("2026-09 close"), else the last refresh on the day, else the first one
    in the week after it. An older version would lack the last invoices.
    """
    rows = [
        (int(row["version"]), local_day(row["time"].to_pydatetime(), time_zone), str(row["tags"]))
        for row in versions.to_dict("records")
    ]
    tagged = [(number, day) for number, day, tags in rows if f"{last:%Y-%m}" in tags and day >= last]
    on_the_day = [(number, day) for number, day, _ in rows if day == last]
    after = [(number, day) for number, day, _ in rows if last < day <= last + dt.timedelta(days=_DAYS_AFTER)]
    return next(iter([*tagged[-1:], *on_the_day[-1:], *after[:1]]), None)
