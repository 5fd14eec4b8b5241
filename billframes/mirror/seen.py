"""Keep the last known names of records that are in no list, such as a user who left the firm.

Every row shows its client, matter, user and invoice in short. That is stored only for ids that the list of clients,
matters, users or invoices lacks; all others are joined from those lists, so they never go stale.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from billframes.mirror.changing import Changing
from billframes.mirror.storage import Storage
from billframes.mirror.tables import REFERENCES, TABLES, Table, reference_type

__all__ = ["Seen"]


class Seen:
    """
    References seen during a refresh.

    Parameters
    ----------
    storage : Storage
    version : int, optional
        The version of the table of references before; None if there is none.
    """

    def __init__(self, storage: Storage, version: int | None) -> None:
        self._storage = storage
        self._version = version
        self._found: dict[tuple[str, str], dict[str, Any]] = {}

    def look(self, frame: pa.Table, table: Table) -> None:
        """Note the references of rows as they came."""
        for reference in table.references:
            keys = frame.column(reference.key)
            if pa.types.is_list(keys.type):
                self._look_in_lists(frame, reference.key, reference.table, dict(reference.columns))
                continue
            if not set(reference.columns) <= set(frame.column_names):
                continue
            ids = _plain(keys)
            each = pc.index_in(pc.drop_null(pc.unique(ids)), value_set=ids)
            rows = frame.select([reference.key, *reference.columns]).take(each).to_pylist()
            for row in rows:
                values = {own: row[name] for name, own in reference.columns.items()}
                self._note(reference.table, row[reference.key], values)

    def keep_removed(self, changing: Changing) -> None:
        """Note the rows that a refresh removes from a list, as others may still show them."""
        shown = {
            own
            for table in TABLES.values()
            for reference in table.references
            if reference.table == changing.table.name
            for own in reference.columns.values()
        }
        for rows in changing.removed_rows if shown else ():
            for row in rows.to_pylist():
                self._note(changing.table.name, row[changing.table.id], {name: row[name] for name in shown})

    def commit(self, at: dict[str, int]) -> int:
        """Write what is in no list, if it changed; return the version of the table."""
        rows = {(row["table"], row["id"]): row for row in self._before()}
        for name in {table for table, _ in self._found}:
            listed = set(self._storage.read(name, at[name], [TABLES[name].id]).column(0).to_pylist())
            for (table, id_), values in self._found.items():
                if table == name and id_ not in listed:
                    rows[table, id_] = {"table": table, "id": id_, **values}
        kept = pa.Table.from_pylist([rows[key] for key in sorted(rows)], reference_type())
        changing = Changing(self._storage, REFERENCES, self._version)
        changing.replace_all(kept)
        return changing.at

    def _before(self) -> list[dict[str, Any]]:
        if self._version is None:
            return []
        rows: list[dict[str, Any]] = self._storage.read(REFERENCES.name, self._version).to_pylist()
        return rows

    def _look_in_lists(self, frame: pa.Table, key: str, table: str, columns: dict[str, str]) -> None:
        for name, own in columns.items():
            if name not in frame.column_names:
                continue
            for ids, values in zip(frame.column(key).to_pylist(), frame.column(name).to_pylist(), strict=True):
                if ids and values and len(ids) == len(values):
                    for id_, value in zip(ids, values, strict=True):
                        self._note(table, id_, {own: value})

    def _note(self, table: str, id_: str | None, values: dict[str, Any]) -> None:
        if id_ is not None and any(value is not None for value in values.values()):
            self._found.setdefault((table, id_), {}).update(values)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
