"""One version of the mirror, opened for reading: its tables, and what records show of others."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from billframes.mirror.catalogue import Version
from billframes.mirror.storage import Storage
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Reference, Table

__all__ = ["Snapshot"]


class Snapshot:
    """
    The tables of one version.

    Parameters
    ----------
    storage : Storage
    version : Version
    """

    def __init__(self, storage: Storage, version: Version) -> None:
        self.storage = storage
        self.version = version
        self._lookups: dict[str, pa.Table] = {}

    def read(
        self,
        name: str,
        columns: Sequence[str] | None = None,
        rows: ds.Expression | None = None,
        partitions: Collection[str] | None = None,
    ) -> pa.Table:
        """Read a table's stored columns, in the server's order if that is kept."""
        table = self.storage.read(name, self.version.tables[name], columns, rows, partitions)
        return table.sort_by(POSITION) if POSITION in table.column_names else table

    def columns(self, name: str) -> list[str]:
        """Return the names of a table's stored columns."""
        return list(self.empty(name).column_names)

    def files(self, name: str) -> list[str]:
        """Return the addresses of a table's files, without empty ones."""
        return [part.uri for part in self.storage.parts(name, self.version.tables[name]) if part.rows]

    def sizes(self) -> pd.DataFrame:
        """Return the rows and bytes of each table."""
        parts = {name: self.storage.parts(name, self.version.tables[name]) for name in TABLES}
        return pd.DataFrame(
            {
                "resource": list(parts),
                "rows": [sum(part.rows for part in each) for each in parts.values()],
                "bytes": [sum(part.size for part in each) for each in parts.values()],
            }
        )

    def empty(self, name: str) -> pa.Table:
        """Return a table's stored columns without rows."""
        return self.storage.schema(name, self.version.tables[name]).empty_table()

    def partitions(self, table: Table, start: dt.date | None, end: dt.date | None) -> set[str] | None:
        """Return the partitions that can hold a period's rows; None is all."""
        if not table.partition or not (start or end):
            return None
        cut = 7 if table.partition == "month" else 4
        first, last = (start or dt.date.min).isoformat()[:cut], (end or dt.date.max).isoformat()[:cut]
        parts = self.storage.parts(table.name, self.version.tables[table.name])
        return {part.partition for part in parts if part.partition and first <= part.partition <= last}

    def joined(self, rows: pa.Table, reference: Reference, since: dt.date | None = None) -> dict[str, pa.ChunkedArray]:
        """
        Return what a reference brings, a value for each row.

        Parameters
        ----------
        since : date, optional
            The first day of the rows' period. What they refer to is mostly as new, so it is looked for there first.
        """
        keys = rows.column(reference.key)
        if not pa.types.is_list(keys.type) and (known := self._since(reference.table, since)) is not None:
            places = pc.index_in(keys, value_set=known.column(TABLES[reference.table].id))
            if places.null_count == keys.null_count:
                return {name: known.column(own).take(places) for name, own in reference.columns.items()}
        known = self.lookup(reference.table)
        ids = known.column(TABLES[reference.table].id)
        if pa.types.is_list(keys.type):
            return {name: _of_lists(keys, ids, known.column(own)) for name, own in reference.columns.items()}
        places = pc.index_in(keys, value_set=ids)
        return {name: known.column(own).take(places) for name, own in reference.columns.items()}

    def _since(self, name: str, since: dt.date | None) -> pa.Table | None:
        """Return what others show of the records dated since then; None if that is no less than to read them all."""
        if name in self._lookups:
            return None
        near = self.partitions(TABLES[name], since, None)
        return None if near is None else self.read(name, self._shown(name), partitions=near)

    def lookup(self, name: str) -> pa.Table:
        """Return what other records show of a table's records, those included that are in no list any more."""
        if name not in self._lookups:
            id_, columns = TABLES[name].id, self._shown(name)
            own_rows = self.read(name, columns)
            seen = self.seen(name).rename_columns({"id": id_}).select(columns)
            unlisted = pc.invert(pc.is_in(seen.column(id_), value_set=own_rows.column(id_)))
            self._lookups[name] = pa.concat_tables([own_rows, seen.filter(unlisted)]).combine_chunks()
        return self._lookups[name]

    @staticmethod
    def _shown(name: str) -> list[str]:
        """Return the columns of a table that other records show, its id first."""
        shown = [
            own
            for table in TABLES.values()
            for reference in table.references
            if reference.table == name
            for own in reference.columns.values()
        ]
        return list(dict.fromkeys([TABLES[name].id, *shown]))

    def seen(self, name: str) -> pa.Table:
        """Return what was last seen of a table's records that are, or were, in no list."""
        return self._references.filter(pc.field("table") == name)

    @functools.cached_property
    def _references(self) -> pa.Table:
        return self.read(REFERENCES.name)

    @functools.cached_property
    def balances(self) -> dict[str, dict[str, Any]]:
        """Each client's balances by the client's id."""
        return {row["client_id"]: row for row in self.rows("client_balances")}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return a small table's rows."""
        rows: list[dict[str, Any]] = self.read(name).to_pylist()
        return rows


def _of_lists(keys: pa.ChunkedArray, ids: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Look up each id of lists of ids."""
    lists = keys.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], keys.type)
    flat = pc.list_flatten(lists)
    found = values.take(pc.index_in(flat, value_set=ids)).combine_chunks()
    if isinstance(found, pa.ChunkedArray):
        found = pa.concat_arrays(found.chunks) if found.num_chunks else pa.array([], values.type)
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths).cast(pa.int32())])
    return pa.chunked_array([pa.ListArray.from_arrays(offsets, found, mask=lists.is_null())])
