"""Compare a load with the sandbox's audit, which has every change of its records.

A version of a time entry is a tuple of its values as in the database: whole ten-thousandths, and dates and instants as
text. The position of the audit is read before the first request of a load and after its last response. All comparisons
are by position, and none by the clock.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Version = tuple[Any, ...]
Change = tuple[str, Version | None]

TEXTS = ("matter_id", "user_id", "description", "billing_type", "invoice_id")
UNITS = ("hours", "rate", "amount")
STORED = (*TEXTS, *UNITS, "date", "modified_at")


class Audit:
    """
    The sandbox's audit of time entries.

    Attributes
    ----------
    database : Path
    position : int
        The position of `state` in the audit.
    state : dict
        The version of each record that existed at this position, by id.
    """

    def __init__(self, database: Path) -> None:
        self.database = database
        self._connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, isolation_level=None)
        self._connection.execute("BEGIN")
        self.position = self.now()
        rows = self._connection.execute(f"SELECT time_entry_id, {', '.join(STORED)} FROM time_entry")
        self.state: dict[str, Version] = {row[0]: row[1:] for row in rows}
        self._connection.execute("ROLLBACK")

    def now(self) -> int:
        """Return the position of the last committed change."""
        return int(self._connection.execute("SELECT coalesce(max(position), 0) FROM audit").fetchone()[0])

    def changes(self, upto: int) -> list[Change]:
        """Return the changes of time entries from the state's position up to another; None is a deletion."""
        sql = (
            "SELECT id, record FROM audit WHERE position > ? AND position <= ? AND resource = 'time_entry'"
            " ORDER BY position"
        )
        rows = self._connection.execute(sql, (self.position, upto))
        return [(name, _version(json.loads(record)) if record else None) for name, record in rows]

    def advance(self, upto: int) -> None:
        """Move the state to a later position."""
        for name, version in self.changes(upto):
            if version is None:
                self.state.pop(name)
            else:
                self.state[name] = version
        self.position = upto

    def close(self) -> None:
        self._connection.close()


def _version(record: dict[str, Any]) -> Version:
    return tuple(record[name] for name in STORED)


def rows_of_frame(frame: pd.DataFrame) -> list[tuple[str, Version]]:
    """Return a frame's rows as ids and versions."""
    table = pa.Table.from_pandas(frame[["time_entry_id", *STORED]], preserve_index=False)
    columns = {name: table.column(name).cast(pa.string()) for name in ("time_entry_id", *TEXTS)}
    columns |= {name: pc.round(pc.multiply(table.column(name), 10_000)).cast(pa.int64()) for name in UNITS}
    columns["date"] = pc.strftime(table.column("date"), "%Y-%m-%d")
    columns["modified_at"] = pc.strftime(table.column("modified_at"), "%Y-%m-%dT%H:%M:%SZ")
    values = zip(*(columns[name].to_pylist() for name in STORED), strict=True)
    return list(zip(columns["time_entry_id"].to_pylist(), values, strict=True))


def rows_of_response(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[str, Version]]:
    """Return the rows of a response as ids and versions."""
    for row in rows:
        texts = (row["matterId"], row["userId"], row["description"], row["billingType"], row.get("invoiceId"))
        units = (None if row.get(name) is None else round(row[name] * 10_000) for name in UNITS)
        yield row["timeEntryId"], (*texts, *units, row["date"], row["meta"]["modifiedAt"])


@dataclass(slots=True)
class Differences:
    """
    The records of a load that are not as promised.

    - `lost`: unchanged records that are missing
    - `doubled`: records that are more than once in the result
    - `wrong`: unchanged records with other values, or records that did not exist
    - `stale`: changed records with values that they did not have during the load
    - `gone`: changed records that existed all the time and are missing
    - `never`: a snapshot that is not the state of any instant
    """

    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)

    @property
    def broken(self) -> str:
        """The number of records of each kind, as text; empty if all is as promised."""
        return ", ".join(f"{len(getattr(self, name))} {name}" for name in self.__slots__ if getattr(self, name))


def compare(
    before: dict[str, Version], changes: Sequence[Change], rows: Sequence[tuple[str, Version]], proof: str
) -> Differences:
    """
    Compare a load's rows with the records that existed.

    Parameters
    ----------
    before : dict
        The records that existed before the load's first request.
    changes : sequence of Change
        The changes committed from then until after the load's last response.
    rows : sequence of (id, version)
    proof : str
        The load's proof.
    """
    here = dict(rows)
    had: dict[str, list[Version | None]] = {name: [before.get(name)] for name, _ in changes}
    for name, version in changes:
        had[name].append(version)
    differences = Differences(
        lost=[name for name in before if name not in had and name not in here],
        doubled=[name for name, times in Counter(name for name, _ in rows).items() if times > 1],
        wrong=[name for name in here if name not in had and here[name] != before.get(name)],
        stale=[name for name in had if name in here and here[name] not in had[name]],
        gone=[name for name in had if name not in here and None not in had[name]],
    )
    if proof == "snapshot" and not _existed(before, changes, here):
        differences.never.append("the snapshot")
    return differences


def _existed(before: dict[str, Version], changes: Sequence[Change], here: dict[str, Version]) -> bool:
    """Return whether exactly these records existed at some instant."""
    differ = {name for name in before.keys() | here.keys() if before.get(name) != here.get(name)}
    for name, version in changes:
        if not differ:
            return True
        (differ.discard if here.get(name) == version else differ.add)(name)
    return not differ
