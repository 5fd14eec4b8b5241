"""Store data that is in no list: names of records that are gone, and codes of expenses and fixed fees.

Every row shows the name of its client, matter and user, and some columns of its invoice. The table `references` has
these values only for records that are not in the list of clients, matters, users or invoices, such as a user who left
the firm. The values of all other records are joined from these lists, so they are never out of date.

Only single records show the codes of expenses and fixed fees. The table `item_codes` has the codes that were read. It
does not belong to a version. A code is found by its record's id and the instant of the record's last change, so it is
right for every version in which the record has that instant. Rows are only added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes._shared.messages import warn
from billframes.errors import BillframesWarning, MirrorError
from billframes.mirror.storage import Storage
from billframes.mirror.stored_table import StoredTable
from billframes.mirror.tables import (
    REFERENCE_SCHEMA,
    REFERENCES,
    TABLES,
    Table,
    TableReference,
    as_stored,
    shown_columns,
    without,
)

if TYPE_CHECKING:
    from billframes.ebilling.codes import ItemCodes, ItemKey


class ReferenceCollector:
    """Collects the shown values of other records during a refresh, and stores those of records in no list."""

    def __init__(self, storage: Storage, version: int | None) -> None:
        self._storage = storage
        self._version = version
        self._values: dict[tuple[str, str], dict[str, Any]] = {}
        # Values in columns of loaded rows, by the other record's table and the names of its columns.
        self._tables: dict[tuple[str, ...], pa.Table] = {}

    def collect(self, frame: pa.Table, table: Table) -> None:
        """Collect the values that loaded rows show of other records."""
        for reference in table.references:
            keys = frame.column(reference.key)
            if pa.types.is_list(keys.type):
                self._collect_lists(frame, reference)
                continue
            if not set(reference.columns) <= set(frame.column_names):
                continue
            names = {reference.key: "id", **reference.columns}
            rows = _first_of_each(frame.select(list(names)).rename_columns(list(names.values())))
            key = reference.table, *reference.columns.values()
            self._tables[key] = (
                _first_of_each(pa.concat_tables([rows, self._tables[key]])) if key in self._tables else rows
            )

    def collect_removed(self, stored: StoredTable) -> None:
        """Collect the values of rows that a refresh removes from a list, because other records may still show them."""
        shown = shown_columns(stored.table.name)
        for rows in stored.removed_rows if shown else ():
            for row in rows.to_pylist():
                self._note(stored.table.name, row[stored.table.id], {name: row[name] for name in shown})

    def commit(self, versions: dict[str, int]) -> int:
        """Store the values of records in no list, if they changed; return the table's Delta version."""
        before = REFERENCE_SCHEMA.empty_table()
        if self._version is not None:
            before = self._storage.read(REFERENCES.name, self._version)
        rows: dict[tuple[str, str], dict[str, Any]] = {(row["table"], row["id"]): row for row in before.to_pylist()}
        for name in {table for table, *_ in (*self._tables, *self._values)}:
            listed = self._storage.read(name, versions[name], [TABLES[name].id]).column(0)
            for id_, values in self._unlisted(name, listed).items():
                rows[name, id_] = {**values, "table": name, "id": id_}
        kept = pa.Table.from_pylist([rows[key] for key in sorted(rows)], REFERENCE_SCHEMA)
        stored = StoredTable(self._storage, REFERENCES, self._version)
        stored.replace_all(kept)
        return stored.current_version

    def _unlisted(self, name: str, listed: pa.ChunkedArray) -> dict[str, dict[str, Any]]:
        """Return the collected values of a table's records that are not in its list, by id."""
        found: dict[str, dict[str, Any]] = {}
        for (table, *columns), shown in self._tables.items():
            if table == name:
                for row in without(shown, "id", listed).to_pylist():
                    if any(row[each] is not None for each in columns):
                        found.setdefault(row["id"], {}).update(row)
        ids = set(listed.to_pylist())
        for (table, id_), values in self._values.items():
            if table == name and id_ not in ids:
                found.setdefault(id_, {}).update(values)
        return found

    def _collect_lists(self, frame: pa.Table, reference: TableReference) -> None:
        """Collect the values of a reference whose columns have lists of ids and of values."""
        for name, column in reference.columns.items():
            if name not in frame.column_names:
                continue
            for ids, values in zip(frame[reference.key].to_pylist(), frame[name].to_pylist(), strict=True):
                if ids and values and len(ids) == len(values):
                    for id_, value in zip(ids, values, strict=True):
                        self._note(reference.table, id_, {column: value})

    def _note(self, table: str, id_: str | None, values: dict[str, Any]) -> None:
        if id_ is not None and any(value is not None for value in values.values()):
            self._values.setdefault((table, id_), {}).update(values)


def _first_of_each(rows: pa.Table) -> pa.Table:
    """Return the first row of each id, without dictionaries and wide types."""
    ids = as_stored(rows.column("id"))
    each = rows.take(pc.index_in(pc.drop_null(pc.unique(ids)), value_set=ids))
    return pa.table({name: as_stored(each.column(name)) for name in each.column_names})


ITEM_CODES = "item_codes"
_KEY = ("kind", "id", "modified_at")
_CODES = ("activity_code", "task_code", "expense_code")
_SCHEMA = pa.schema(
    {"kind": pa.string(), "id": pa.string(), "modified_at": pa.timestamp("us", "UTC")}
    | dict.fromkeys(_CODES, pa.string())
)


class ItemCodeTable:
    """The table `item_codes` of a mirror."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Mapping[ItemKey, ItemCodes]:
        """Return the stored codes by record and the instant of its last change."""
        rows = self._storage.rows(ITEM_CODES, _SCHEMA)
        return {(row["kind"], row["id"], row["modified_at"]): {name: row[name] for name in _CODES} for row in rows}

    def add(self, codes: Mapping[ItemKey, ItemCodes]) -> None:
        """Store codes; if the mirror can't be written, only warn, because they can be requested again."""
        rows = [dict(zip(_KEY, key, strict=True)) | dict(found) for key, found in codes.items()]
        try:
            self._storage.add_rows(ITEM_CODES, rows, _SCHEMA)
        except MirrorError as error:
            warn(f"The codes of {len(rows):,} items were read but not stored. {error}", BillframesWarning)
