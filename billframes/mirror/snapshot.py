"""Read the tables of one version of the mirror, and the columns that records show of other records."""

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
from billframes.mirror.tables import POSITION, REFERENCES, TABLES, Reference, Table, shown_columns

__all__ = ["Snapshot"]


class Snapshot:
    """The tables of one version."""

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
        """Return the addresses of a table's files that have rows."""
        return [file.uri for file in self.storage.data_files(name, self.version.tables[name]) if file.rows]

    def sizes(self) -> pd.DataFrame:
        """Return the rows and bytes of each table."""
        files = {name: self.storage.data_files(name, self.version.tables[name]) for name in TABLES}
        return pd.DataFrame(
            {
                "resource": list(files),
                "rows": [sum(file.rows for file in each) for each in files.values()],
                "bytes": [sum(file.size for file in each) for each in files.values()],
            }
        )

    def empty(self, name: str) -> pa.Table:
        """Return an empty table with the stored columns."""
        return self.storage.schema(name, self.version.tables[name]).empty_table()

    def partitions(self, table: Table, start: dt.date | None, end: dt.date | None) -> set[str] | None:
        """Return the partitions that can have rows of a period; None for all."""
        if not table.partition or not (start or end):
            return None
        cut = 7 if table.partition == "month" else 4
        first, last = (start or dt.date.min).isoformat()[:cut], (end or dt.date.max).isoformat()[:cut]
        files = self.storage.data_files(table.name, self.version.tables[table.name])
        return {file.partition for file in files if file.partition and first <= file.partition <= last}

    def reference_columns(
        self, rows: pa.Table, reference: Reference, since: dt.date | None = None
    ) -> dict[str, pa.ChunkedArray]:
        """
        Return the columns of a reference, with a value for each row.

        Parameters
        ----------
        rows : Table
        reference : Reference
        since : date, optional
            The first day of the rows' period. The other records mostly have later dates, so these are read first.
        """
        keys = rows.column(reference.key)
        if not pa.types.is_list(keys.type) and (shown := self._recent_lookup(reference.table, since)) is not None:
            places = pc.index_in(keys, value_set=shown.column(TABLES[reference.table].id))
            if places.null_count == keys.null_count:
                return {name: shown.column(source).take(places) for name, source in reference.columns.items()}
        shown = self.lookup(reference.table)
        ids = shown.column(TABLES[reference.table].id)
        if pa.types.is_list(keys.type):
            return {name: _look_up_lists(keys, ids, shown.column(source)) for name, source in reference.columns.items()}
        places = pc.index_in(keys, value_set=ids)
        return {name: shown.column(source).take(places) for name, source in reference.columns.items()}

    def _recent_lookup(self, name: str, since: dt.date | None) -> pa.Table | None:
        """Return the shown columns of records with a later date; None if all records would have to be read."""
        if name in self._lookups:
            return None
        partitions = self.partitions(TABLES[name], since, None)
        if partitions is None:
            return None
        return self.read(name, [TABLES[name].id, *shown_columns(name)], partitions=partitions)

    def lookup(self, name: str) -> pa.Table:
        """Return the columns of a table that other records show, also for records that are no longer in its list."""
        if name not in self._lookups:
            id_ = TABLES[name].id
            columns = [id_, *shown_columns(name)]
            listed = self.read(name, columns)
            unlisted = self.unlisted(name).rename_columns({"id": id_}).select(columns)
            is_listed = pc.is_in(unlisted.column(id_), value_set=listed.column(id_))
            self._lookups[name] = pa.concat_tables([listed, unlisted.filter(pc.invert(is_listed))]).combine_chunks()
        return self._lookups[name]

    def unlisted(self, name: str) -> pa.Table:
        """Return the last shown values of a table's records that were once missing in its list."""
        return self._unlisted_references.filter(pc.field("table") == name)

    @functools.cached_property
    def _unlisted_references(self) -> pa.Table:
        return self.read(REFERENCES.name)

    @functools.cached_property
    def balances(self) -> dict[str, dict[str, Any]]:
        """The balances of each client by the client's id."""
        return {row["client_id"]: row for row in self.rows("client_balances")}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a small table."""
        rows: list[dict[str, Any]] = self.read(name).to_pylist()
        return rows


def _look_up_lists(keys: pa.ChunkedArray, ids: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Look up the value of each id in a column of lists of ids."""
    lists = keys.combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks) if lists.num_chunks else pa.array([], keys.type)
    flat_keys = pc.list_flatten(lists)
    found = values.take(pc.index_in(flat_keys, value_set=ids)).combine_chunks()
    if isinstance(found, pa.ChunkedArray):
        found = pa.concat_arrays(found.chunks) if found.num_chunks else pa.array([], values.type)
    lengths = pc.fill_null(pc.list_value_length(lists), 0)
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths).cast(pa.int32())])
    return pa.chunked_array([pa.ListArray.from_arrays(offsets, found, mask=lists.is_null())])
